// Observables: sums of products of Pauli letters.
#pragma once

#include <string>
#include <vector>

#include "qsim/types.h"

namespace QSIM_PUBLIC qsim {

/// A product of Pauli letters: bit q of x / z is set where qubit q has X or Y / Z or Y.
struct PauliString {
  Index x = 0, z = 0;
  friend bool operator==(const PauliString&, const PauliString&) = default;
};
struct PauliTerm {
  double coefficient = 1;
  PauliString pauli;
};
struct PauliSum {
  std::string name;
  std::vector<PauliTerm> terms;
};
/// "Z0 X3", "0.5 Z0 Z1 + -1 X2 + 3" (a constant) or a dense string "IZX" (qubit 0 right-most), checked against
/// `qubits`; coefficients may be complex with an imaginary part of 0, "(0.5+0j)". Also OpenFermion's
/// str(QubitOperator), "0.5 [Z0 Z1] + 3 []", Qiskit's text of a SparsePauliOp, the list of its terms, and
/// JSON: [["IZ", 0.5]], {"IZ": 0.5} or {"paulis": ["IZ"], "coeffs": [0.5]}. UsageError.
PauliSum parse_pauli_sum(const std::string& text, std::uint32_t qubits);
/// One `coefficient  PAULIS` a line (sparse or dense, # comments), or one of the formats above. FileError, UsageError
/// with the line.
PauliSum read_pauli_file(const std::string& path, std::uint32_t qubits);
/// Sparse text, "Z0 X3"; "I" for the identity.
std::string pauli_text(const PauliString& pauli);

}  // namespace qsim
