// Random circuits that measure, reset and branch, with the edges more often than chance has them.
#pragma once

#include <cstdint>

#include "qsim/circuit.h"

namespace qsim::test {

struct RandomDynamicOptions {
  std::uint64_t seed = 1;
  unsigned max_qubits = 5;
  unsigned max_operations = 30;
  unsigned max_collapses = 7;  // measurements and resets in mid-circuit, terminal measurements besides
  bool blocks = false;         // runs of few kinds of operation among the others, as random_circuit() has them
  bool negated = true;         // conditions that hold where the register differs; OpenQASM 2 has none
};

/// Several registers; conditions first, last, in rows of equal and of different ones, on gates, measurements and
/// resets, on registers that are written between; programs without a gate; rotations that make an outcome of
/// probability 1e-15 to 1 - 1e-15, by decades. The same options give the same circuit on every machine.
Circuit random_dynamic(const RandomDynamicOptions& options);

}  // namespace qsim::test
