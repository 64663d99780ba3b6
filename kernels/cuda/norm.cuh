// The running total of a norm, of what kernels store.
#pragma once

#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

/// Adds a block's sum to its cell as fixed point with 64 fraction bits.
__device__ __forceinline__ void add_norm(NormCell* cells, double sum, double* scratch) {
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (std::uint32_t w = 1; w < blockDim.x / 32; ++w) sum += scratch[w];
  const double whole = floor(sum);
  const double fraction = rint((sum - whole) * 0x1p63);
  NormCell& cell = cells[blockIdx.x % kNormCells];
  unsigned long long add = static_cast<unsigned long long>(fraction) << 1;
  unsigned long long carry = fraction >= 0x1p63 ? 1 : 0;
  if (carry) add = 0;
  const unsigned long long before = atomicAdd(&cell.fraction, add);
  if (before + add < before) ++carry;
  carry += static_cast<unsigned long long>(whole);
  if (carry != 0) atomicAdd(&cell.whole, carry);
}

}  // namespace qsim::cuda
