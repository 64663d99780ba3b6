// Circuits of which clusters of gates on few qubits can become dense matrices.
#pragma once

#include <cstdint>

#include "qsim/circuit.h"

namespace qsim::test {

/// 4 blocks of many gates on 3 or 4 qubits each: deep Trotter steps, layers of general gates and CX, 3-qubit matrices.
Circuit block_circuit(std::uint32_t qubits, std::uint64_t seed);

}  // namespace qsim::test
