// Products of Pauli matrices on two qubits, and what Clifford gates make of them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "qsim/gate.h"

namespace qsim {

/// i^quarters X^x Z^z: bit q of `x` and `z` is for qubit q of the pair.
struct PauliPair {
  unsigned x = 0, z = 0, quarters = 0;
  friend bool operator==(const PauliPair&, const PauliPair&) = default;
};
PauliPair operator*(const PauliPair& a, const PauliPair& b);
bool commute(const PauliPair& a, const PauliPair& b);
/// The product of two letters, 0 .. 3 = 1, X, Y, Z.
PauliPair pauli_pair(unsigned first, unsigned second);
unsigned letter_of(const PauliPair& pauli, unsigned qubit);
/// 1 or -1: of a Hermitian product, which is that times its letters.
int sign_of(const PauliPair& pauli);

/// Clifford gates on two qubits, C: which products each X and each Z was before them, C^-1 P C.
class CliffordPair {
 public:
  /// C^-1 P C.
  PauliPair before(const PauliPair& pauli) const;
  bool is_local() const;  // a gate on each qubit

  /// Gates that come after: a turn about `axis`, which is Hermitian, by quarters of pi.
  void turn(const PauliPair& axis, int quarters);
  void hadamard(unsigned qubit);
  void flip(unsigned control, unsigned target);  // CX

 private:
  void then(const std::array<PauliPair, 4>& made_of);

  std::array<PauliPair, 4> made_of_{{{1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {0, 2, 0}}};  // X, X, Z, Z
};

/// A Clifford gate on one qubit, G: as the fewest gates of the table, and what X, Y and Z were before it, G^-1 P G.
struct CliffordGate {
  struct Image {
    unsigned letter = 0;
    int sign = 1;
    friend bool operator==(const Image&, const Image&) = default;
  };
  std::vector<Gate> gates;
  std::array<Image, 3> before;
  double weight = 0;
  /// G P G^-1.
  Image after(unsigned letter) const;
  static const CliffordGate& identity();
};
/// All 24, without phases.
std::span<const CliffordGate> clifford_gates();
/// `second` after `first`.
const CliffordGate& product(const CliffordGate& second, const CliffordGate& first);

}  // namespace qsim
