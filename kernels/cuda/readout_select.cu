// Finding amplitudes by probability: the K most probable.
#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

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
