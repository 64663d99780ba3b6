// The running total of a norm, of what kernels store.
#pragma once

#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

/// Adds a block's sum to its cell. Nothing waits for an answer: a block ends as soon as it has asked for both
/// additions.
__device__ __forceinline__ void add_norm(NormCell* cells, double sum, double* scratch) {
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (std::uint32_t w = 1; w < blockDim.x / 32; ++w) sum += scratch[w];
  const double scaled = sum * kNormCoarse, coarse = floor(scaled);
  NormCell& cell = cells[blockIdx.x % kNormCells];
  atomicAdd(&cell.coarse, static_cast<unsigned long long>(coarse));
  atomicAdd(&cell.fine, static_cast<unsigned long long>(rint((scaled - coarse) * kNormFine)));
}

}  // namespace qsim::cuda
