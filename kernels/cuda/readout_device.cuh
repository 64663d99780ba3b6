// Device helpers of the read-out kernels: loads, compensated sums, block reductions, bit scattering.
#pragma once

#include <cstdint>

#include "kernels/cuda/readout.h"

namespace qsim::cuda {

constexpr int kReadThreads = 256;
constexpr int kReadWarps = kReadThreads / 32;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ inline double2 load_amplitude(const double2* data, std::uint64_t index) { return data[index]; }
__device__ inline double2 load_amplitude(const float2* data, std::uint64_t index) {
  const float2 amplitude = data[index];
  return {static_cast<double>(amplitude.x), static_cast<double>(amplitude.y)};
}

/// |a|^2 rounded as the host rounds it (no fused multiply-add): units and rankings are then the same on every backend.
__device__ inline double square(double2 a) { return __dadd_rn(__dmul_rn(a.x, a.x), __dmul_rn(a.y, a.y)); }

/// |a|^2 in units of 2^-62, rounded to nearest.
__device__ inline std::uint64_t units(double2 a) { return __double2ull_rn(square(a) * 4611686018427387904.0); }

/// The key that ranks probabilities (as probability_key on the host).
__device__ inline std::uint64_t ranking_key(double probability) {
  return probability <= 0 ? 0 : static_cast<std::uint64_t>(__double_as_longlong(probability));
}

/// A sum with the rounding error that it left behind.
struct Compensated {
  double sum = 0, error = 0;

  __device__ void add(double value) {
    const double total = sum + value;
    const double back = total - sum;
    error += (sum - (total - back)) + (value - back);
    sum = total;
  }
  __device__ void add(const Compensated& other) {
    add(other.sum);
    error += other.error;
  }
  __device__ double value() const { return sum + error; }
};

__device__ inline Compensated warp_sum(Compensated c) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    Compensated other;
    other.sum = __shfl_down_sync(kAllLanes, c.sum, offset);
    other.error = __shfl_down_sync(kAllLanes, c.error, offset);
    c.add(other);
  }
  return c;
}

/// Sum over a block of kReadThreads; valid in thread 0. `shared` has kReadWarps entries; ends with a barrier.
__device__ inline Compensated block_sum(Compensated c, Compensated* shared) {
  c = warp_sum(c);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = c;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kReadWarps; ++warp) c.add(shared[warp]);
  }
  __syncthreads();
  return c;
}

/// Bit j of `value` to position list.bits[first + j].
__device__ inline std::uint64_t scatter_bits(std::uint64_t value, const BitList& list, std::uint32_t first = 0) {
  std::uint64_t index = 0;
  for (std::uint32_t j = first; j < list.count; ++j) index |= (value >> (j - first) & 1) << list.bits[j];
  return index;
}

__device__ inline std::uint32_t odd_parity(std::uint64_t bits) {
  return __popc(static_cast<std::uint32_t>(bits) ^ static_cast<std::uint32_t>(bits >> 32)) & 1;
}

__device__ inline double2 conjugate_product(double2 left, double2 right) {  // conj(left) right
  return {left.x * right.x + left.y * right.y, left.x * right.y - left.y * right.x};
}

/// Sum m of `sums` of this block.
__device__ inline void store_pair(double* scratch, int sums, int m, const Compensated& c) {
  scratch[2 * (static_cast<std::size_t>(blockIdx.x) * sums + m)] = c.sum;
  scratch[2 * (static_cast<std::size_t>(blockIdx.x) * sums + m) + 1] = c.error;
}
/// out[g * sums + m], m < sums: what store_pair has left, over all blocks, of group g after group in scratch and out.
void launch_finish_sums(const double* scratch, int blocks, int sums, int groups, double* out, cudaStream_t stream);

/// Calls body with the shard's data in its precision.
template <class Body>
void with_amplitudes(const Shard& shard, Body body) {
  if (shard.double_precision) {
    body(static_cast<const double2*>(shard.data));
  } else {
    body(static_cast<const float2*>(shard.data));
  }
}

}  // namespace qsim::cuda
