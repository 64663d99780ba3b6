// Shots: places in the integer distribution, and the amplitudes of given blocks that they fall on.
#include <cub/device/device_radix_sort.cuh>

#include "kernels/cuda/philox.cuh"
#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr int kAheadBits = 3, kAhead = 1 << kAheadBits;  // steps whose amplitudes are loaded together

/// A warp serves a run: it walks the block's amplitudes 32 a step in the order of `order` and keeps the running total
/// of units; where the next 32 draws, one a lane, reach into a step, all lanes look for their amplitudes. Reads each
/// amplitude up to the last draw once; integers only, so the answer is exact.
template <class Amplitude>
__global__ void locate_kernel(const Amplitude* data, BitList block_bits, BitList order, const DrawRun* runs,
                              std::uint64_t run_count, const std::uint64_t* places, std::uint64_t* out) {
  const std::uint64_t warp = (static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (warp >= run_count) return;
  const DrawRun run = runs[warp];
  const std::uint64_t base = scatter_bits(run.block, block_bits);
  const std::uint32_t lane_bits = order.count < 5 ? order.count : 5;
  std::uint64_t lane_part = 0;
  for (std::uint32_t j = 0; j < lane_bits; ++j) lane_part |= static_cast<std::uint64_t>(lane >> j & 1) << order.bits[j];
  const bool active = lane < (1u << lane_bits);
  const std::uint64_t steps = std::uint64_t{1} << (order.count - lane_bits);
  std::uint64_t low_parts[kAheadBits];  // of a step's lowest bits
#pragma unroll
  for (int j = 0; j < kAheadBits; ++j)
    low_parts[j] = lane_bits + j < order.count ? std::uint64_t{1} << order.bits[lane_bits + j] : 0;
  const auto ahead = [&](int k) {
    std::uint64_t part = 0;
#pragma unroll
    for (int j = 0; j < kAheadBits; ++j) part |= (k >> j & 1) != 0 ? low_parts[j] : 0;
    return part;
  };
  std::uint64_t running = 0, next = 0;
  const auto draw_of_lane = [&] {
    return next + lane < run.count ? places[run.first + next + lane] - run.base : kNone;
  };
  std::uint64_t draw = draw_of_lane();
  for (std::uint64_t step = 0; step < steps && next < run.count; step += kAhead) {
    std::uint64_t mine[kAhead], sum = 0;
    const std::uint64_t here = base | lane_part | scatter_bits(step >> kAheadBits, order, lane_bits + kAheadBits);
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const bool there = active && step + k < steps;
      mine[k] = there ? units(load_amplitude(data, here | ahead(k))) : 0;
      sum += mine[k];
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAllLanes, sum, offset);
    if (__ballot_sync(kAllLanes, draw < running + sum) == 0) {
      running += sum;
      continue;
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      std::uint64_t inclusive = mine[k];
      for (int offset = 1; offset < 32; offset *= 2) {
        const std::uint64_t below = __shfl_up_sync(kAllLanes, inclusive, offset);
        if (lane >= static_cast<unsigned>(offset)) inclusive += below;
      }
      const std::uint64_t total = __shfl_sync(kAllLanes, inclusive, 31);
      for (;;) {
        const bool reached = draw < running + total;
        const unsigned matched = __popc(__ballot_sync(kAllLanes, reached));
        if (matched == 0) break;
        int low = 0;  // first lane whose inclusive total exceeds the draw
        for (int half = 16; half > 0; half /= 2) {
          const std::uint64_t before = __shfl_sync(kAllLanes, inclusive, low + half - 1);
          if (reached && running + before <= draw) low += half;
        }
        const std::uint64_t index = __shfl_sync(kAllLanes, here | ahead(k), low);
        if (reached) out[run.first + next + lane] = index;
        next += matched;
        draw = draw_of_lane();
      }
      running += total;
    }
  }
  for (next += lane; next < run.count; next += 32) out[run.first + next] = kNone;
}

__global__ void places_kernel(const std::uint64_t* shots, std::uint64_t first_shot, std::uint64_t count,
                              std::uint64_t seed, std::uint64_t stream_key, std::uint64_t total,
                              std::uint64_t* places) {
  const std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::uint64_t shot = shots == nullptr ? first_shot + i : shots[i];
  places[i] = __umul64hi(philox(shot >> 2, seed, stream_key).x[shot & 3], total);
}

unsigned blocks_for(std::uint64_t threads) {
  return static_cast<unsigned>((threads + kReadThreads - 1) / kReadThreads);
}

}  // namespace

void launch_locate(Shard shard, BitList block_bits, BitList order, const DrawRun* runs, std::uint64_t run_count,
                   const std::uint64_t* places, std::uint64_t* out, cudaStream_t stream) {
  if (run_count == 0) return;
  const unsigned blocks = blocks_for(run_count * 32);
  if (shard.double_precision) {
    locate_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data), block_bits, order, runs,
                                                       run_count, places, out);
  } else {
    locate_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data), block_bits, order, runs,
                                                       run_count, places, out);
  }
}

cudaError_t launch_sorted_places(const std::uint64_t* shots, std::uint64_t first_shot, std::uint64_t count,
                                 std::uint64_t seed, std::uint64_t stream_key, std::uint64_t total,
                                 std::uint64_t* unsorted, std::uint64_t* sorted, void* scratch,
                                 std::size_t scratch_bytes, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  places_kernel<<<blocks_for(count), kReadThreads, 0, stream>>>(shots, first_shot, count, seed, stream_key, total,
                                                                unsorted);
  return cub::DeviceRadixSort::SortKeys(scratch, scratch_bytes, unsorted, sorted, count, 0,
                                        64 - __builtin_clzll(total | 1), stream);
}

cudaError_t sort_scratch_bytes(std::uint64_t count, std::size_t& bytes) {
  const std::uint64_t* in = nullptr;
  std::uint64_t* out = nullptr;
  return cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, count);
}

}  // namespace qsim::cuda
