// Diagonal operations as passes add them up: one phase where some qubits are 1, or about a parity.
#pragma once

#include <optional>
#include <vector>

#include "qsim/circuit.h"
#include "qsim/types.h"

namespace qsim {

/// exp(i angle) where all of `ones` are 1; with a parity: exp(-i angle/2 Z...Z) of its qubits there.
struct DiagonalTerm {
  Index ones = 0, parity = 0;
  double angle = 0;
};

/// The operation, which is diagonal, as one term where it is one whose angle is not open.
std::optional<DiagonalTerm> term_of(const Circuit& circuit, const Operation& op);

/// Within one period, which is 4 pi for rotations: sums of many angles stay as exact as each.
double wrapped(const DiagonalTerm& term);

void append(Circuit& circuit, const DiagonalTerm& term);

/// Those of a mask, lowest first.
std::vector<Qubit> qubits_of(Index mask);

}  // namespace qsim
