// Random circuits whose angles are open, and values that such circuits may be surprised by.
#pragma once

#include <cstdint>
#include <vector>

#include "qsim/circuit.h"

namespace qsim::test {

struct OpenCircuitOptions {
  std::uint32_t qubits = 4;
  std::size_t gates = 40;
  std::uint64_t seed = 1;
  std::uint32_t parameters = 5;
  std::uint32_t most_targets = 4;  // of an operation, its controls left out
  unsigned kinds = 0;              // not 0: so many kinds of operation, as random_circuit() has them
};

/// Every gate of the table and Pauli rotations, controlled or not; of two angles one is open, with shared parameters,
/// negative and large factors and constants.
Circuit open_circuit(const OpenCircuitOptions& options);

/// Values for `count` parameters: number 0, 1, ... of a list of ordinary ones, simple parts of a turn, numbers right
/// beside those, equal ones, and huge ones.
std::vector<double> surprising_values(std::size_t count, std::uint64_t number);

}  // namespace qsim::test
