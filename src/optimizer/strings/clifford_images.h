// A Clifford circuit by what it makes of Pauli letters: what a rotation behind it is before it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "optimizer/strings/signed_string.h"
#include "qsim/circuit.h"

namespace qsim {

void append_gate(Circuit& out, const CliffordGate& gate);

class CliffordImages {
 public:
  explicit CliffordImages(std::uint32_t wires);

  /// C^-1 P C of a letter (1, 2, 3 = X, Y, Z) on a wire, where C is the circuit so far.
  SignedString image(Qubit wire, unsigned letter) const;

  /// Appends (1 + P + Q - PQ) / 2 with a letter on each of two wires: of ZX a CX gate, of ZZ a CZ gate.
  void append_flip(const std::array<Qubit, 2>& wires, const std::array<unsigned, 2>& letters);

  /// A circuit of few gates that is the same but for a phase, in order. SWAP gates are taken to cost nothing.
  std::vector<CliffordGate> circuit() const;

 private:
  std::vector<SignedString> x_, z_;  // by wire
};

}  // namespace qsim
