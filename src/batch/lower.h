// A parametric circuit as the data that batch loops walk.
#pragma once

#include <string>

#include "device/batch_program.h"
#include "qsim/batch.h"

namespace qsim {

BatchProgram batch_program(const ParametricCircuit& circuit);
/// How many sets `values` are; UsageError where they are no whole number of sets. Without parameters: `evaluations`,
/// or 1.
std::size_t count_evaluations(const ParametricCircuit& circuit, std::span<const double> values,
                              std::size_t evaluations);
/// "cpu" or "cuda".
std::string choose_batch_backend(const BatchProgram& program, std::size_t evaluations, const std::string& wanted);

}  // namespace qsim
