// A sweep's operations over the bits of a tile: matrices to be applied in order, and phases, which wait until a matrix
// touches their bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cpu {

/// Whether a tile takes part, by the inactive bits of its base.
struct TileCondition {
  Index mask = 0, value = 0;
  Index parity_mask = 0;
  bool always() const { return mask == 0 && parity_mask == 0; }
  /// Of all tiles, those that take part.
  double share() const { return std::ldexp(parity_mask == 0 ? 1 : 0.5, -static_cast<int>(count_bits(mask))); }
  bool holds(Index base) const {
    return (base & mask) == value && (parity_mask == 0 || odd_parity(base & parity_mask));
  }
  Index bits() const { return mask | parity_mask; }
  friend bool operator==(const TileCondition&, const TileCondition&) = default;
};

/// Multiplies by exp(i angle) where every tile bit of `mask` is 1 and, with `parity`, an odd number of its tile bits,
/// in tiles where `condition` holds.
struct Term {
  Index mask = 0;
  TileCondition condition;
  double angle = 0;
  Index parity = 0;
  Index bits() const { return mask | parity; }
};

/// A matrix on tile bits (bit j of its index is targets[j]) where (place & control_mask) == control_value.
struct MatrixItem {
  std::vector<Bit> targets;
  std::vector<Complex> matrix;  // row-major; empty: a flip of the one target
  Index control_mask = 0, control_value = 0;
  TileCondition condition;
  Index target_mask() const {
    Index mask = 0;
    for (const Bit bit : targets) mask |= bit_mask(bit);
    return mask;
  }
  /// Of all amplitudes, those that it changes.
  double share() const { return std::ldexp(condition.share(), -static_cast<int>(count_bits(control_mask))); }
};

using TileItem = std::variant<MatrixItem, Term>;

/// What decides about the passes of a sweep: an item's bits.
struct ItemShape {
  std::size_t targets = 0;  // of a matrix; 0: a term
  Index target_mask = 0, control_mask = 0;
  friend bool operator==(const ItemShape&, const ItemShape&) = default;
};
ItemShape shape_of(const TileItem& item);

/// The operations in order. `tile_bits_mask`: the inactive bits that vary among tiles (the others are 0).
std::vector<TileItem> tile_items(const Sweep& sweep, Index tile_bits_mask);

/// Up to four numbers, in place: translations make them by the thousand.
class FewNumbers {
 public:
  FewNumbers() = default;
  FewNumbers(std::initializer_list<Complex> numbers) : size_(numbers.size()) {
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());
  }
  explicit FewNumbers(std::span<const Complex> numbers) : size_(numbers.size()) {
    std::copy(numbers.begin(), numbers.end(), numbers_.begin());
  }
  std::size_t size() const { return size_; }
  Complex* begin() { return numbers_.data(); }
  Complex* end() { return numbers_.data() + size_; }
  const Complex* begin() const { return numbers_.data(); }
  const Complex* end() const { return numbers_.data() + size_; }
  const Complex& operator[](std::size_t i) const { return numbers_[i]; }

 private:
  std::array<Complex, 4> numbers_{};
  std::size_t size_ = 0;
};

/// How one 2x2 unitary without controls becomes scale * after * form * before: `before` and `after` are phases on the
/// target at 0 and 1, the form costs one multiplication and addition a real number.
struct Factored {
  enum class Form { kShearA, kShearB, kShearC, kCrossA, kCrossB, kReal, kCross, kGeneral, kFlip } form = Form::kGeneral;
  FewNumbers coefficients;  // of the form: two shears, or four entries
  Complex scale{1};
  double before[2] = {}, after[2] = {};
};
Factored factor_matrix(const std::vector<Complex>& matrix);

}  // namespace qsim::cpu
