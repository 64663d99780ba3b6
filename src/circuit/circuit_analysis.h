// What can be said about a circuit as a whole.
#pragma once

#include <optional>

#include "qsim/circuit.h"

namespace qsim {

/// `circuit` without resets of qubits that nothing has touched yet, which are |0> already; nullopt where there are
/// none.
std::optional<Circuit> without_idle_resets(const Circuit& circuit);

/// How far the circuit itself may move the norm of a state: what its matrices lack of being unitary, added up.
double unitarity_defect(const Circuit& circuit);
/// The largest departure of matrix * adjoint from the identity, of a square matrix.
double unitarity_error(std::span<const Complex> matrix, std::size_t order);

}  // namespace qsim
