// Pauli strings with their sign, as numbers that can be multiplied.
#pragma once

#include <array>

#include "base/bits.h"
#include "qsim/types.h"

namespace qsim {

/// i^quarters times X on the wires of `x`, behind Z on those of `z` (Y = i X Z).
struct SignedString {
  Index x = 0, z = 0;
  unsigned quarters = 0;  // modulo 4

  Index wires() const { return x | z; }
  /// Of a Hermitian one: whether it is minus the product of its letters.
  bool is_negative() const { return ((quarters - count_bits(x & z)) & 2) != 0; }
  bool commutes_with(const SignedString& other) const { return !odd_parity((x & other.z) ^ (z & other.x)); }
};

inline SignedString product(const SignedString& left, const SignedString& right) {
  return {left.x ^ right.x, left.z ^ right.z, (left.quarters + right.quarters + 2 * count_bits(left.z & right.x)) & 3u};
}

/// A gate of those that all Clifford gates are made of.
struct CliffordGate {
  enum class Kind : std::uint8_t { kH, kS, kInverseS, kX, kZ, kCx, kCz, kSwap } kind = Kind::kH;
  std::array<Qubit, 2> wires{};  // kCx: the control first
};

}  // namespace qsim
