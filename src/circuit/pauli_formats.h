// Pauli sums as other programs write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qsim {

/// Real and imaginary part of a number as Python prints it: "0.5", "(0.5+0j)", "-2j", and numpy's "0.5 +0.j"; nullopt
/// for anything else.
std::optional<std::pair<double, double>> parse_python_complex(std::string_view text);

/// A term of a sum: letters with qubits ("Z0 X3"), or one letter a qubit, qubit 0 right-most ("IZX"); "" is the
/// identity.
struct ForeignTerm {
  std::pair<double, double> coefficient;
  std::string pauli;
};

/// The terms of `text` where it is OpenFermion's str(QubitOperator), a SparsePauliOp of Qiskit as text or as the list
/// of its terms, or JSON; nullopt where it is none of these. UsageError, which shows nothing of the text.
std::optional<std::vector<ForeignTerm>> foreign_pauli_terms(const std::string& text);

}  // namespace qsim
