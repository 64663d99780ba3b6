// Finding amplitudes: by running total (sampling) and by probability (the K most probable).
#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr unsigned kAllLanes = 0xffffffffu;

/// One warp serves one run of draws with the same block: it walks the block's amplitudes 32 at a time in the order of
/// `order`, keeps the running total of units, and all lanes resolve the draws that fall inside the 32. Reads each
/// amplitude of a block that has draws once; integers only, so the answer is exact.
template <class Amplitude>
__global__ void locate_kernel(const Amplitude* data, BitList block_bits, BitList order, const Draw* draws,
                              std::uint64_t count, std::uint64_t* out) {
  const std::uint64_t warp = (static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  if (warp >= count) return;
  const std::uint64_t block = draws[warp].block;
  if (warp > 0 && draws[warp - 1].block == block) return;  // the run's first draw has its own warp
  const std::uint64_t base = scatter_bits(block, block_bits);
  const std::uint32_t lane_bits = order.count < 5 ? order.count : 5;
  std::uint64_t lane_part = 0;
  for (std::uint32_t j = 0; j < lane_bits; ++j) lane_part |= static_cast<std::uint64_t>(lane >> j & 1) << order.bits[j];
  const bool active = lane < (1u << lane_bits);
  const std::uint64_t steps = std::uint64_t{1} << (order.count - lane_bits);
  std::uint64_t running = 0;
  std::uint64_t next = warp;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t index = base | lane_part | scatter_bits(step, order, lane_bits);
    std::uint64_t inclusive = active ? units(load_amplitude(data, index)) : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const std::uint64_t below = __shfl_up_sync(kAllLanes, inclusive, offset);
      if (lane >= static_cast<unsigned>(offset)) inclusive += below;
    }
    const std::uint64_t total = __shfl_sync(kAllLanes, inclusive, 31);
    for (;;) {
      const std::uint64_t draw = next + lane;
      const bool ours = draw < count && draws[draw].block == block;
      const std::uint64_t offset = ours ? draws[draw].offset : 0;
      const bool here = ours && offset < running + total;
      int low = 0;  // first lane whose inclusive total exceeds the draw
      for (int half = 16; half > 0; half /= 2) {
        const std::uint64_t before = __shfl_sync(kAllLanes, inclusive, low + half - 1);
        if (here && running + before <= offset) low += half;
      }
      const std::uint64_t found = __shfl_sync(kAllLanes, index, low);
      if (here) out[draw] = found;
      const unsigned matched = __popc(__ballot_sync(kAllLanes, here));
      next += matched;
      if (matched < 32) break;
    }
    running += total;
    const bool more = next < count && draws[next].block == block;
    if (!more) return;
  }
  for (std::uint64_t draw = next + lane; draw < count && draws[draw].block == block; draw += 32) {
    out[draw] = ~std::uint64_t{0};  // beyond the block's total: the caller reports it
  }
}

__device__ std::uint64_t logical_index(const Ranking& ranking, std::uint64_t local) {
  std::uint64_t logical = ranking.rank_logical;
  for (std::uint64_t left = local; left != 0; left &= left - 1) {
    logical |= std::uint64_t{1} << ranking.logical_of[__ffsll(static_cast<long long>(left)) - 1];
  }
  return logical;
}

constexpr int kMaxRadixBits = 12;

template <class Amplitude>
__global__ void radix_kernel(const Amplitude* data, std::uint64_t count, Ranking ranking, RadixStep step,
                             unsigned long long* counts) {
  __shared__ unsigned bins[1 << kMaxRadixBits];
  for (unsigned bin = threadIdx.x; bin < 1u << step.width; bin += blockDim.x) bins[bin] = 0;
  __syncthreads();
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint64_t rounds = (count + stride - 1) / stride;
  std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::uint64_t round = 0; round < rounds; ++round, i += stride) {
    bool takes_part = i < count;
    std::uint64_t value = 0;
    if (takes_part) {
      value = ranking_key(square(load_amplitude(data, i)));
      if (step.by_index) {
        takes_part = value == step.fixed_key;
        if (takes_part) value = ~logical_index(ranking, i) & ranking.logical_mask;
      }
      takes_part = takes_part && (step.shift + step.width >= 64 || value >> (step.shift + step.width) == step.prefix);
    }
    const unsigned bin = static_cast<unsigned>(value >> step.shift) & ((1u << step.width) - 1);
    // Equal probabilities are the common case (uniform states): one addition for a warp that agrees.
    const unsigned voters = __ballot_sync(kAllLanes, takes_part);
    if (voters == 0) continue;
    const int leader = __ffs(static_cast<int>(voters)) - 1;
    const unsigned leader_bin = __shfl_sync(kAllLanes, bin, leader);
    const unsigned agreeing = __ballot_sync(kAllLanes, takes_part && bin == leader_bin);
    if (agreeing == voters) {
      if (static_cast<int>(threadIdx.x % 32) == leader) atomicAdd(&bins[leader_bin], __popc(voters));
    } else if (takes_part) {
      atomicAdd(&bins[bin], 1u);
    }
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < 1u << step.width; bin += blockDim.x) {
    if (bins[bin] != 0) atomicAdd(&counts[bin], static_cast<unsigned long long>(bins[bin]));
  }
}

template <class Amplitude>
__global__ void collect_kernel(const Amplitude* data, std::uint64_t count, Ranking ranking, std::uint64_t key,
                               std::uint64_t last_logical, std::uint64_t* indices, double* probabilities,
                               unsigned long long* found, std::uint64_t capacity) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const double probability = square(load_amplitude(data, i));
    const std::uint64_t own = ranking_key(probability);
    if (own < key || (own == key && logical_index(ranking, i) > last_logical)) continue;
    const unsigned long long place = atomicAdd(found, 1ull);
    if (place < capacity) {
      indices[place] = i;
      probabilities[place] = probability;
    }
  }
}

unsigned grid_for(std::uint64_t count) {
  constexpr std::uint64_t kMaxGrid = 1056;
  const std::uint64_t wanted = (count + kReadThreads - 1) / kReadThreads;
  return static_cast<unsigned>(wanted < kMaxGrid ? wanted : kMaxGrid);
}

}  // namespace

void launch_locate(Shard shard, BitList block_bits, BitList order, const Draw* draws, std::uint64_t count,
                   std::uint64_t* out, cudaStream_t stream) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count * 32 + kReadThreads - 1) / kReadThreads);
  if (shard.double_precision) {
    locate_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data), block_bits, order,
                                                       draws, count, out);
  } else {
    locate_kernel<<<blocks, kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data), block_bits, order, draws,
                                                       count, out);
  }
}

void launch_radix_count(Shard shard, const Ranking& ranking, RadixStep step, unsigned long long* counts,
                        cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, sizeof(unsigned long long) << step.width, stream);
  const std::uint64_t count = std::uint64_t{1} << shard.local_bits;
  if (shard.double_precision) {
    radix_kernel<<<grid_for(count), kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data), count, ranking,
                                                               step, counts);
  } else {
    radix_kernel<<<grid_for(count), kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data), count, ranking,
                                                               step, counts);
  }
}

void launch_collect(Shard shard, const Ranking& ranking, std::uint64_t key, std::uint64_t last_logical,
                    std::uint64_t* indices, double* probabilities, unsigned long long* count, std::uint64_t capacity,
                    cudaStream_t stream) {
  cudaMemsetAsync(count, 0, sizeof *count, stream);
  const std::uint64_t amplitudes = std::uint64_t{1} << shard.local_bits;
  if (shard.double_precision) {
    collect_kernel<<<grid_for(amplitudes), kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data),
                                                                      amplitudes, ranking, key, last_logical, indices,
                                                                      probabilities, count, capacity);
  } else {
    collect_kernel<<<grid_for(amplitudes), kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data),
                                                                      amplitudes, ranking, key, last_logical, indices,
                                                                      probabilities, count, capacity);
  }
}

}  // namespace qsim::cuda
