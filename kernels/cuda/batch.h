// Many small circuits of one shape on the device: one launch for all of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "device/batch_program.h"

namespace qsim::cuda {

/// Device pointers; null outputs are not wanted. Sizes are those of BatchProgram and BatchOutputs for `evaluations`.
struct BatchWork {
  const BatchOp* ops = nullptr;
  const BatchAngle* angles = nullptr;
  const double2* matrices = nullptr;
  const double* values = nullptr;
  double* marginals = nullptr;
  std::uint32_t* outcomes = nullptr;
  double2* states = nullptr;
  double2* scratch = nullptr;  // batch_scratch_amplitudes() of them
  std::uint32_t qubits = 0, parameters = 0, op_count = 0, shots = 0;
  std::uint64_t seed = 0, first = 0, evaluations = 0;  // `first`: number of the first evaluation, for its draws
};

/// Amplitudes of device memory that a batch of this size works in: 0 where states live in shared memory.
std::size_t batch_scratch_amplitudes(std::uint32_t qubits);
cudaError_t launch_batch(const BatchWork& work, cudaStream_t stream);

}  // namespace qsim::cuda
