// Translation of plan operations to tile items, and the factoring of 2x2 matrices.
#include "cpu/items/tile_items.h"

#include <cmath>
#include <numbers>

#include "base/numbers/bit_products.h"
#include "base/numbers/matrix2.h"
#include "base/numbers/rounding.h"
#include "qsim/error.h"

namespace qsim::cpu {
namespace {

class Translator {
 public:
  Translator(const Sweep& sweep, Index tile_bits_mask) : sweep_(sweep), varying_(tile_bits_mask) {
    for (const Bit bit : sweep.active) active_ |= bit_mask(bit);
    items_.reserve(sweep.ops.size() + sweep.phases.size());
  }

  std::vector<TileItem> run() {
    for (const PlanOp& op : sweep_.ops) {
      switch (op.form) {
        case Form::kMatrix:
        case Form::kFlip:
          add_matrix(op);
          break;
        case Form::kPhases:
          for (std::uint32_t t = 0; t < op.data_count; ++t) add_phase(op, sweep_.phases[op.data_begin + t]);
          break;
      }
    }
    return std::move(items_);
  }

 private:
  /// Controls on the inactive bits; nullopt when no tile has them.
  std::optional<TileCondition> condition(Index mask, Index value) const {
    mask &= ~active_;
    value &= ~active_;
    if ((value & ~varying_) != 0) return std::nullopt;
    TileCondition result;
    result.mask = mask & varying_;
    result.value = value & varying_;
    return result;
  }

  void add_matrix(const PlanOp& op) {
    const std::optional<TileCondition> tiles = condition(op.control_mask, op.control_value);
    if (!tiles) return;
    MatrixItem item;
    item.condition = *tiles;
    for (unsigned j = 0; j < op.target_count; ++j) {
      item.targets.push_back(static_cast<Bit>(count_bits(active_ & low_mask(op.targets[j]))));
    }
    item.control_mask = extract_bits(op.control_mask, active_);
    item.control_value = extract_bits(op.control_value, active_);
    if (op.form == Form::kMatrix) {
      const Complex* const begin = sweep_.matrices.data() + op.data_begin;
      item.matrix.assign(begin, begin + op.data_count);
    }
    if (op.form == Form::kMatrix && op.target_count == 1) return add_two_by_two(std::move(item));
    items_.push_back(std::move(item));
  }

  /// Diagonal and antidiagonal matrices become phases, with a flip where needed.
  void add_two_by_two(MatrixItem item) {
    const Matrix2 m{item.matrix[0], item.matrix[1], item.matrix[2], item.matrix[3]};
    const bool anti = is_flip(m);
    if (!anti && !is_diagonal(m)) {
      items_.push_back(std::move(item));
      return;
    }
    const double zero = std::arg(anti ? m[1] : m[0]), one = std::arg(anti ? m[2] : m[3]);
    const Index target = item.target_mask(), mask = item.control_mask, value = item.control_value;
    const TileCondition tiles = item.condition;
    if (anti) {
      item.matrix.clear();
      items_.push_back(std::move(item));
    }
    if (zero != 0) add_term(mask, value, tiles, zero);
    if (one != zero) add_term(mask | target, value | target, tiles, one - zero);
  }

  /// exp(i angle) where (place & mask) == value, with `parity` in places of odd parity alone.
  void add_term(Index mask, Index value, const TileCondition& tiles, double angle, Index parity = 0) {
    for_each_product(mask, value, [&](Index ones, int sign) {
      Term term;
      term.mask = ones;
      term.condition = tiles;
      term.angle = sign * angle;
      term.parity = parity;
      items_.push_back(term);
    });
  }

  void add_phase(const PlanOp& op, const PhaseTerm& phase) {
    const Index place_mask = extract_bits(op.control_mask, active_);
    const Index place_value = extract_bits(op.control_value, active_);
    if (!phase.parity) {
      const Index ones = phase.mask;
      if (!op.may_meet(ones)) return;
      const auto tiles = condition(op.control_mask | ones, op.control_value | ones);
      const Index places = extract_bits(ones, active_);
      if (tiles) add_term(place_mask | places, place_value | places, *tiles, phase.angle);
      return;
    }
    const auto tiles = condition(op.control_mask, op.control_value);
    if (!tiles) return;
    const Index bits = extract_bits(phase.mask, active_), outside = phase.mask & varying_ & ~active_;
    if (outside == 0) return add_parity(place_mask, place_value, *tiles, bits, phase.angle);
    TileCondition odd = *tiles;
    odd.parity_mask = outside;
    // parity(tile) xor parity(base) = parity(tile) + odd (1 - 2 parity(tile))
    add_parity(place_mask, place_value, *tiles, bits, phase.angle);
    add_parity(place_mask, place_value, odd, bits, -2.0 * phase.angle);
    add_term(place_mask, place_value, odd, phase.angle);
  }

  /// exp(i angle) at odd parity of `bits`. On few bits as a sum of terms with ones alone.
  void add_parity(Index mask, Index value, const TileCondition& tiles, Index bits, double angle) {
    if (odd_parity(bits & value)) {  // what the controls fix of it: the rest must be even
      add_term(mask, value, tiles, angle);
      angle = -angle;
    }
    bits &= ~mask;
    constexpr unsigned kMostExpanded = 3;
    if (count_bits(bits) > kMostExpanded) return add_term(mask, value, tiles, angle, bits);
    for_each_product_of_parity(bits, [&](Index ones, std::int64_t weight) {
      add_term(mask | ones, value | ones, tiles, static_cast<double>(weight) * angle);
    });
  }

  const Sweep& sweep_;
  const Index varying_;
  Index active_ = 0;
  std::vector<TileItem> items_;
};

bool near(double a, double b) { return is_tiny(a - b); }

/// Angle in (-pi, pi], with rounding noise around 0 and pi removed.
double clean_angle(double angle) {
  constexpr double kPi = std::numbers::pi;
  angle = wrap_angle(angle);
  if (near(angle, 0)) return 0;
  return near(std::abs(angle), kPi) ? kPi : angle;
}

/// The form's own 2x2 matrix.
FewNumbers form_matrix(const Factored& parts) {
  const FewNumbers& c = parts.coefficients;
  const Complex i(0, 1);
  switch (parts.form) {
    case Factored::Form::kShearA:
      return {1, c[0], c[1], 1};
    case Factored::Form::kShearB:
      return {c[0], 1, 1, c[1]};
    case Factored::Form::kShearC:
      return {c[0], -1, 1, c[1]};
    case Factored::Form::kCrossA:
      return {1, i * c[0], i * c[1], 1};
    case Factored::Form::kCrossB:
      return {i * c[0], 1, 1, i * c[1]};
    case Factored::Form::kReal:
    case Factored::Form::kCross:
    case Factored::Form::kGeneral:
      return c;
    case Factored::Form::kFlip:
      return {0, 1, 1, 0};
  }
  throw Error("unknown form of a 2x2 matrix");
}

/// scale * after * form * before.
FewNumbers product_of(const Factored& parts) {
  FewNumbers made = form_matrix(parts);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 2; ++column)
      made.begin()[2 * row + column] *= parts.scale * std::polar(1.0, parts.after[row] + parts.before[column]);
  }
  return made;
}

/// A matrix that is real up to a phase.
bool factor_real(const std::vector<Complex>& m, Complex pivot, Factored& result) {
  double r[4];
  for (int j = 0; j < 4; ++j) {
    const Complex entry = m[static_cast<std::size_t>(j)] / pivot;
    if (!is_tiny(entry.imag())) return false;
    r[j] = entry.real();
  }
  result.scale = pivot;
  if (near(r[0], 1) && near(r[3], 1)) {
    result.form = Factored::Form::kShearA;
    result.coefficients = {r[1], r[2]};
  } else if (near(r[1], 1) && near(r[2], 1)) {
    result.form = Factored::Form::kShearB;
    result.coefficients = {r[0], r[3]};
  } else if (near(r[1], 1) && near(r[2], -1)) {
    result.form = Factored::Form::kShearC;
    result.scale = -pivot;
    result.coefficients = {-r[0], -r[3]};
  } else {
    result.form = Factored::Form::kReal;
    result.coefficients = {r[0], r[1], r[2], r[3]};
  }
  return true;
}

/// A real rotation or an RX between phases.
Factored factor_rotation(const std::vector<Complex>& m, bool swapped) {
  Factored result;
  const RotationParts parts = rotation_parts({m[0], m[1], m[2], m[3]});
  // With the columns swapped where the second is the larger: m / pivot = [[1, t e^(i beta)], [.., e^(i delta)]] and, as
  // m is unitary, the entry below 1 is -t e^(i (delta - beta)): a real rotation or an RX between phases. It is delta
  // that decides the phase after: beta may be the angle of mere noise.
  const double t = swapped ? parts.cosine / parts.sine : parts.sine / parts.cosine;
  const double beta = std::arg(swapped ? -std::conj(parts.right) : -parts.right);
  const double delta = std::arg(swapped ? -parts.left * std::conj(parts.right) : parts.left * parts.right);
  constexpr double kPi = std::numbers::pi;
  result.scale = swapped ? m[1] : m[0];
  // Signs of t are chosen so that the phase before, which cannot wait, is trivial where it can be.
  const double from_cross = clean_angle(beta - kPi / 2), from_shear = clean_angle(beta);
  double before = 0;
  if (from_cross == 0 || from_cross == kPi) {
    const double sign = from_cross == 0 ? 1 : -1;
    result.form = swapped ? Factored::Form::kCrossB : Factored::Form::kCrossA;
    result.coefficients = {sign * t, sign * t};
  } else {
    const double sign = from_shear == 0 ? 1 : -1;
    result.form = swapped ? Factored::Form::kShearB : Factored::Form::kShearA;
    result.coefficients = {sign * t, -sign * t};
    before = from_shear == 0 ? 0 : clean_angle(beta + kPi);
  }
  result.before[swapped ? 0 : 1] = before;
  result.after[1] = clean_angle(delta - before);
  return result;
}

}  // namespace

std::vector<TileItem> tile_items(const Sweep& sweep, Index tile_bits_mask) {
  return Translator(sweep, tile_bits_mask).run();
}

ItemShape shape_of(const TileItem& item) {
  if (const auto* term = std::get_if<Term>(&item)) return {0, term->bits(), 0};
  const auto& matrix = std::get<MatrixItem>(item);
  return {matrix.targets.size(), matrix.target_mask(), matrix.control_mask};
}

Factored factor_matrix(const std::vector<Complex>& m) {
  Factored general;
  if (m.empty()) {
    general.form = Factored::Form::kFlip;
    return general;
  }
  general.coefficients = FewNumbers(m);
  const bool swapped = std::abs(m[1]) > std::abs(m[0]) * (1 - 1e-12);
  Factored result;
  if (!factor_real(m, swapped ? m[1] : m[0], result)) result = factor_rotation(m, swapped);
  // What is not unitary to rounding has no such factors.
  return recomposes(product_of(result), m) ? result : general;
}

}  // namespace qsim::cpu
