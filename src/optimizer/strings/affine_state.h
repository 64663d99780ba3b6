// The phase of a Clifford circuit, which what it makes of Pauli letters does not tell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bits.h"
#include "optimizer/strings/signed_string.h"

namespace qsim {

/// A state that Clifford gates make of |0...0>: the sum over all values of some variables, which are bits, of
/// i^(sum of numbers of variables) (-1)^(sum of products of two), of basis states in which each wire is a sum modulo 2
/// of variables, times a phase. Each variable is the value of one wire by itself, but for a flip.
class AffineState {
 public:
  static constexpr std::uint32_t kMostWires = 62;

  explicit AffineState(std::uint32_t wires) : value_(wires, 0) { wire_of_.fill(kNone); }

  void apply(const CliffordGate& gate);
  void apply_inverse(CliffordGate gate);

  /// Where the state is |0...0> again: its phase in eighths of a turn.
  std::optional<unsigned> phase_of_zero() const;

 private:
  static constexpr Qubit kNone = ~Qubit{0};

  void turn(Qubit wire);
  void flip(Qubit target, Qubit control);
  void add_product(Qubit a, Qubit b);
  /// i^(quarters * (sum modulo 2 of `variables`, and of 1 if `flipped`)).
  void add_phase(Index variables, bool flipped, unsigned quarters);
  void toggle_pair(unsigned a, unsigned b);
  /// The phases of variable `v`, which are taken out: quarters and the variables beside which it is in a product.
  std::pair<unsigned, Index> take_out(unsigned v);
  /// Variable `v` is now the sum modulo 2 of `variables`, and of 1 if `flipped`; v itself may be among them.
  void substitute(unsigned v, Index variables, bool flipped);
  /// Makes `v` the value of `wire` by itself.
  void settle(unsigned v, Qubit wire);
  std::optional<unsigned> own_of(Qubit wire) const;

  std::vector<Index> value_;  // by wire: variables
  Index flipped_ = 0;         // wires
  Index used_ = 0;            // variables
  std::array<Qubit, 64> wire_of_{};
  std::array<unsigned, 64> quarters_{};
  std::array<Index, 64> beside_{};
  unsigned eighths_ = 0;
};

}  // namespace qsim
