// What runs batches: a function for each kind of device, which takes memory of its own. values[e * parameters + p].
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "device/backend.h"
#include "device/batch/batch_program.h"
#include "qsim/types.h"

namespace qsim {

/// Told on the way, by the calling thread, what share is done. What it throws ends the batch. May be empty.
using BatchWatch = std::function<void(double)>;

/// On all cores that the process may use where the options leave the threads open.
void run_batch_on_cpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const BackendOptions& options, const BatchWatch& watch);
/// DeviceError where there is no such GPU.
void run_batch_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const BackendOptions& options, const BatchWatch& watch);

struct BatchGramTimes {
  double prepare_seconds = 0, product_seconds = 0;
};
/// gram[i * evaluations + j] = <i|j> of the batch's states, with products in double precision.
BatchGramTimes run_gram_on_cpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                               std::span<Complex> gram, const BackendOptions& options);
/// The states stay on the GPU; DeviceError, CapacityError.
BatchGramTimes run_gram_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                               std::span<Complex> gram, const BackendOptions& options);

}  // namespace qsim
