// Circuits that are full of what the optimizer's passes look for.
#pragma once

#include <cstdint>

#include "qsim/circuit.h"

namespace qsim::test {

/// A SWAP whose exchanged amplitudes turn by `angle`.
Matrix phased_swap(double angle);

/// A 2x2 matrix controlled by the low (0) or the high (1) bit of the result's index.
Matrix controlled(const Matrix& matrix, int bit);

/// 40 operations on 2 to 5 qubits: CX ladders, runs, equal diagonals, swaps, controls inside matrices.
Circuit busy_circuit(std::uint64_t seed);

}  // namespace qsim::test
