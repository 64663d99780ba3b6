// Random circuits at the edges of numerical rewrites: values within rounding of special ones, huge and tiny angles.
#pragma once

#include <cstdint>
#include <random>

#include "qsim/circuit.h"

namespace qsim::test {

/// An angle at a distance of 0, 1e-16, .. 1e-6 (by decades, either side) from a multiple of pi/4 up to 4 pi; now and
/// then an ordinary one, a huge one (1e6 to 1e15) or one near the smallest number there is.
double edge_angle(std::mt19937_64& generator);

/// Gates with edge angles, products of them that nearly cancel, and matrices near the identity, flips, diagonals and
/// permutations, between gates that entangle. The same arguments give the same circuit on every machine.
Circuit edge_circuit(unsigned qubits, unsigned operations, std::uint64_t seed);

/// 100 to `most_operations` of h, gates with edge angles and entangling gates between neighbours, or an edge circuit,
/// on 1 to `most_qubits` qubits: what one tile takes in one go.
Circuit deep_circuit(std::uint64_t seed, unsigned most_qubits, unsigned most_operations);

}  // namespace qsim::test
