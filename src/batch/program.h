// A circuit with open angles as the data that batch loops walk.
#pragma once

#include <cstddef>
#include <span>

#include "device/batch/batch_program.h"
#include "qsim/batch.h"
#include "qsim/circuit.h"

namespace qsim {

/// Phases that no measurement of all qubits sees are left out where no states are wanted. UnsupportedError for what no
/// batch can do.
BatchProgram make_batch_program(const Circuit& circuit, bool wants_states);
/// How many sets `values` are; UsageError where they are no whole number of sets. Without parameters: `evaluations`,
/// or 1.
std::size_t count_evaluations(const Circuit& circuit, std::span<const double> values, std::size_t evaluations);

}  // namespace qsim
