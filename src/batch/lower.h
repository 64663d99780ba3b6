// A circuit with open angles as the data that batch loops walk.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device/batch_program.h"
#include "qsim/batch.h"
#include "qsim/circuit.h"

namespace qsim {

struct LoweredBatch {
  BatchProgram program;  // its parameters: the circuit's, then the sums
  std::vector<std::vector<Circuit::OpenTerm>> sums;
};

/// UnsupportedError for what no batch can do.
LoweredBatch lower_batch(const Circuit& circuit);
/// `values` of the circuit's parameters with the values of the sums behind each set.
std::vector<double> with_sums(const LoweredBatch& batch, std::span<const double> values, std::size_t evaluations);
/// How many sets `values` are; UsageError where they are no whole number of sets. Without parameters: `evaluations`,
/// or 1.
std::size_t count_evaluations(const Circuit& circuit, std::span<const double> values, std::size_t evaluations);
/// kCpu or kCuda; UsageError for a target that is not one device.
BackendKind choose_batch_backend(const BatchProgram& program, std::size_t evaluations, const Target& target);

}  // namespace qsim
