// One amplitude a thread and step; grid-stride loops. Philox4x64-10 as in Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3" (2011), in the form that the host's generator has.
#include <type_traits>

#include "kernels/cuda/philox.cuh"
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

constexpr unsigned kSwapBlock = 512, kSwapBatch = 8;  // 64 KiB of each side under way a block
constexpr unsigned kSwapBlocks = 16;                  // fill a link; the sweeps beside keep the other multiprocessors

/// Bytes moved: each element of both views read and written once.
template <class Element>
__global__ void __launch_bounds__(kSwapBlock)
    swap_kernel(Element* mine, Element* theirs, const ViewMap map, std::uint64_t their_value, std::uint64_t begin,
                std::uint64_t end) {
  constexpr std::uint64_t kSegment = kSwapBlock * kSwapBatch;
  for (std::uint64_t first = begin + blockIdx.x * kSegment; first < end; first += gridDim.x * kSegment) {
    Element a[kSwapBatch], b[kSwapBatch];
    std::uint64_t place[kSwapBatch];
#pragma unroll
    for (unsigned u = 0; u < kSwapBatch; ++u) {
      const std::uint64_t i = first + u * kSwapBlock + threadIdx.x;
      place[u] = 0;
      for (std::uint32_t r = 0; r < map.runs; ++r) place[u] |= (i & map.run_mask[r]) << map.run_shift[r];
      if (i >= end) continue;
      b[u] = __ldcs(theirs + (place[u] | their_value));
      a[u] = __ldcs(mine + (place[u] | map.value));
    }
#pragma unroll
    for (unsigned u = 0; u < kSwapBatch; ++u) {
      if (first + u * kSwapBlock + threadIdx.x >= end) continue;
      __stcs(theirs + (place[u] | their_value), a[u]);
      __stcs(mine + (place[u] | map.value), b[u]);
    }
  }
}

/// First in line: the blocks of a sweep that was launched before would keep the link idle until the last of them
/// starts.
template <class Element>
cudaError_t launch_swap_of(Element* mine, Element* theirs, const ViewMap& map, std::uint64_t their_value,
                           std::uint64_t begin, std::uint64_t end, unsigned blocks, cudaStream_t stream) {
  int least = 0, greatest = 0;
  const cudaError_t status = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute priority{};
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = greatest;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kSwapBlock);
  config.stream = stream;
  config.attrs = &priority;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, swap_kernel<Element>, mine, theirs, map, their_value, begin, end);
}

template <class Real>
__global__ void fill_kernel(Pair<Real>* state, const LogicalMap map, std::uint64_t seed, double scale) {
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x, count = 1ull << map.bits;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    std::uint64_t logical = map.rank_part;
    for (std::uint32_t b = 0; b < map.bits; ++b) logical |= (i >> b & 1) << map.logical_of[b];
    const PhiloxWords w = philox(logical, seed, 0);
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

cudaError_t launch_swap(void* mine, void* theirs, std::size_t element_bytes, const ViewMap& map,
                        std::uint64_t their_value, std::uint64_t begin, std::uint64_t end, cudaStream_t stream) {
  if (begin == end) return cudaSuccess;
  const std::uint64_t segments = (end - begin + kSwapBlock * kSwapBatch - 1) / (kSwapBlock * kSwapBatch);
  const auto blocks = static_cast<unsigned>(segments < kSwapBlocks ? segments : kSwapBlocks);
  if (element_bytes == sizeof(uint4)) {
    return launch_swap_of(static_cast<uint4*>(mine), static_cast<uint4*>(theirs), map, their_value, begin, end, blocks,
                          stream);
  }
  return launch_swap_of(static_cast<uint2*>(mine), static_cast<uint2*>(theirs), map, their_value, begin, end, blocks,
                        stream);
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
