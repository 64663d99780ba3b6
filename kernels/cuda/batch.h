// Many small circuits of one shape on the device: one launch for all of them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "device/batch/batch_program.h"
#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

/// A BatchProgram on the device.
struct BatchArrays {
  const BatchOp* ops = nullptr;
  const BatchFactor* factors = nullptr;
  const BatchSum* sums = nullptr;
  const BatchTerm* terms = nullptr;
  const double2* matrices = nullptr;
  double2 start = {1, 0};
  std::uint32_t qubits = 0, parameters = 0, op_count = 0, start_sum = 0;
};

/// Amplitudes of Real; values, matrices and answers are in double. Device pointers; null outputs are not wanted. Sizes
/// are those of BatchProgram and BatchOutputs for `evaluations`.
template <typename Real>
struct BatchWork {
  BatchArrays program;
  const double* values = nullptr;
  double* marginals = nullptr;
  std::uint32_t* outcomes = nullptr;
  double2* states = nullptr;
  Amplitude<Real>* scratch = nullptr;  // batch_scratch_amplitudes() of them
  std::uint32_t shots = 0;
  std::uint64_t seed = 0, first = 0, evaluations = 0;  // `first`: number of the first evaluation, for its draws
};

/// Amplitudes of device memory that a batch of this size works in: 0 where states live in shared memory.
std::size_t batch_scratch_amplitudes(std::uint32_t qubits);
/// For float and double.
template <typename Real>
cudaError_t launch_batch(const BatchWork<Real>& work, cudaStream_t stream);

}  // namespace qsim::cuda
