// Checksum of a view: the sum, modulo 2^64, of a hash of every amplitude's bits and place
// (src/device/amplitude_hash.h).
//
// A bounded grid of 256-thread blocks walks the view with the grid's stride; each amplitude of the view is read once.
// Integer sums do not depend on the order, so blocks add theirs atomically.
#include "kernels/cuda/readout_device.cuh"
#include "kernels/cuda/state.h"

namespace qsim::cuda {
namespace {

constexpr int kMaxBlocks = 1056;  // 8 blocks on each of 132 multiprocessors

__device__ std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

__device__ void words_of(const double2& a, std::uint64_t& re, std::uint64_t& im) {
  re = static_cast<std::uint64_t>(__double_as_longlong(a.x));
  im = static_cast<std::uint64_t>(__double_as_longlong(a.y));
}
__device__ void words_of(const float2& a, std::uint64_t& re, std::uint64_t& im) {
  re = __float_as_uint(a.x);
  im = __float_as_uint(a.y);
}

template <class Amplitude>
__global__ void checksum_kernel(const Amplitude* data, const ViewMap map, std::uint64_t count,
                                unsigned long long* out) {
  __shared__ unsigned long long block_total;
  if (threadIdx.x == 0) block_total = 0;
  __syncthreads();
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long total = 0;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    std::uint64_t place = 0;  // without the view's fixed bits
    for (std::uint32_t r = 0; r < map.runs; ++r) place |= (i & map.run_mask[r]) << map.run_shift[r];
    std::uint64_t re, im;
    words_of(data[place | map.value], re, im);
    total += mix_bits(mix_bits((place + 1) * 0x9e3779b97f4a7c15ull ^ re) + im);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffffu, total, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&block_total, total);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, block_total);
}

}  // namespace

void launch_checksum(Shard shard, const ViewMap& map, std::uint64_t count, unsigned long long* out,
                     cudaStream_t stream) {
  const std::uint64_t wanted = (count + kReadThreads - 1) / kReadThreads;
  const int blocks = static_cast<int>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  (void)cudaMemsetAsync(out, 0, sizeof *out, stream);  // an error shows in the launch's status
  if (shard.double_precision) {
    checksum_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data), map, count, out);
  } else {
    checksum_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data), map, count, out);
  }
}

}  // namespace qsim::cuda
