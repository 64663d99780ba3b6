// Matrices of small circuits and their powers.
#pragma once

#include <span>

#include "qsim/circuit.h"

namespace qsim {

Matrix adjoint(const Matrix& matrix);

/// Matrix of the unitary operations of `circuit` on `qubits`, which are all that they act on; bit j of an index is
/// qubits[j].
Matrix circuit_matrix(const Circuit& circuit, std::span<const Qubit> qubits);

/// `matrix`^`exponent` for a unitary matrix: every eigenphase, taken in (-pi, pi], times the exponent. Joint Jacobi
/// rotations (Cardoso and Souloumiac, SIAM J. Matrix Anal. 17, 161 (1996)), to rounding.
Matrix unitary_power(const Matrix& matrix, double exponent);

}  // namespace qsim
