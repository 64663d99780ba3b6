// One amplitude a thread and step; grid-stride loops. Philox4x64-10 as in Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3" (2011), in the form that the host's generator has.
#include <type_traits>

#include "kernels/cuda/state.h"

namespace qsim::cuda {
namespace {

template <class Real>
using Pair = std::conditional_t<sizeof(Real) == 8, double2, float2>;

constexpr unsigned kBlock = 256;
unsigned grid_for(std::uint64_t count) {
  const std::uint64_t blocks = (count + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < (1u << 20) ? blocks : 1u << 20);
}

/// Bytes moved: each amplitude of the view read and written once.
template <class Amplitude>
__global__ void pack_kernel(Amplitude* state, Amplitude* packed, const ViewMap map, std::uint64_t count, bool unpack) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    std::uint64_t place = map.value;
    for (std::uint32_t r = 0; r < map.runs; ++r) place |= (i & map.run_mask[r]) << map.run_shift[r];
    if (unpack)
      state[place] = packed[i];
    else
      packed[i] = state[place];
  }
}

struct Words {
  std::uint64_t x[4];
};

__device__ Words philox(std::uint64_t counter, std::uint64_t key0, std::uint64_t key1) {
  Words w = {{counter, 0, 0, 0}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2E7470EE14C6C93ull, b = 0xCA5A826395121157ull;
    const std::uint64_t high0 = __umul64hi(a, w.x[0]), low0 = a * w.x[0];
    const std::uint64_t high1 = __umul64hi(b, w.x[2]), low1 = b * w.x[2];
    w = {{high1 ^ w.x[1] ^ key0, low1, high0 ^ w.x[3] ^ key1, low0}};
    key0 += 0x9E3779B97F4A7C15ull;
    key1 += 0xBB67AE8584CAA73Bull;
  }
  return w;
}

template <class Real>
__global__ void fill_kernel(Pair<Real>* state, const LogicalMap map, std::uint64_t seed, double scale) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x, count = 1ull << map.bits;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    std::uint64_t logical = map.rank_part;
    for (std::uint32_t b = 0; b < map.bits; ++b) logical |= (i >> b & 1) << map.logical_of[b];
    const Words w = philox(logical, seed, 0);
    const double u = static_cast<double>(w.x[0] >> 11) * 0x1p-53, v = static_cast<double>(w.x[1] >> 11) * 0x1p-53;
    const double radius = sqrt(-2.0 * log(1.0 - u)) * scale;
    double sine, cosine;
    sincospi(2.0 * v, &sine, &cosine);
    state[i] = {static_cast<Real>(radius * cosine), static_cast<Real>(radius * sine)};
  }
}

}  // namespace

template <class Real>
cudaError_t launch_pack(Pair<Real>* state, Pair<Real>* packed, const ViewMap& map, std::uint64_t count, bool unpack,
                        cudaStream_t stream) {
  pack_kernel<<<grid_for(count), kBlock, 0, stream>>>(state, packed, map, count, unpack);
  return cudaGetLastError();
}

template <class Real>
cudaError_t launch_fill_random(Pair<Real>* state, const LogicalMap& map, std::uint64_t seed, double scale,
                               cudaStream_t stream) {
  fill_kernel<Real><<<grid_for(1ull << map.bits), kBlock, 0, stream>>>(state, map, seed, scale);
  return cudaGetLastError();
}

template cudaError_t launch_pack<float>(float2*, float2*, const ViewMap&, std::uint64_t, bool, cudaStream_t);
template cudaError_t launch_pack<double>(double2*, double2*, const ViewMap&, std::uint64_t, bool, cudaStream_t);
template cudaError_t launch_fill_random<float>(float2*, const LogicalMap&, std::uint64_t, double, cudaStream_t);
template cudaError_t launch_fill_random<double>(double2*, const LogicalMap&, std::uint64_t, double, cudaStream_t);

}  // namespace qsim::cuda
