// Sums over a shard: norm, per-bit probabilities, Pauli sums, inner products, single amplitudes.
//
// Every kernel is a bounded grid of 256-thread blocks; a thread walks the shard with the grid's stride, keeps
// compensated sums, a block adds them in a fixed tree and writes them to scratch, and a second kernel adds the blocks.
// Each amplitude is read once (Pauli sums with an X part: each pair once), so the time is the shard over the memory's
// read rate.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr int kMaxBlocks = 1056;  // 8 blocks on each of 132 multiprocessors

int blocks_for(std::uint64_t items) {
  const std::uint64_t wanted = (items + kReadThreads - 1) / kReadThreads;
  return static_cast<int>(wanted < kMaxBlocks ? (wanted > 0 ? wanted : 1) : kMaxBlocks);
}

/// out[m] = sum over blocks of scratch pairs [block][m]; one block of threads an m. A blockIdx.y is a group with
/// scratch pairs and sums of its own.
__global__ void finish_sums(const double* scratch, int blocks, int sums, double* out) {
  scratch +=
      2 * static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(blocks) * static_cast<std::size_t>(sums);
  out += static_cast<std::size_t>(blockIdx.y) * static_cast<std::size_t>(sums);
  __shared__ Compensated shared[kReadWarps];
  const int m = static_cast<int>(blockIdx.x);
  Compensated total;
  for (int block = static_cast<int>(threadIdx.x); block < blocks; block += kReadThreads) {
    Compensated part;
    part.sum = scratch[2 * (static_cast<std::size_t>(block) * sums + m)];
    part.error = scratch[2 * (static_cast<std::size_t>(block) * sums + m) + 1];
    total.add(part);
  }
  total = block_sum(total, shared);
  if (threadIdx.x == 0) out[m] = total.value();
}

template <class Amplitude>
__global__ void norm_kernel(const Amplitude* data, std::uint64_t count, double* scratch) {
  __shared__ Compensated shared[kReadWarps];
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kReadThreads;
  std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kReadThreads + threadIdx.x;
  Compensated total;
  for (; i + 3 * stride < count; i += 4 * stride) {
    const double2 a = load_amplitude(data, i), b = load_amplitude(data, i + stride);
    const double2 c = load_amplitude(data, i + 2 * stride), d = load_amplitude(data, i + 3 * stride);
    total.add((square(a) + square(b)) + (square(c) + square(d)));
  }
  for (; i < count; i += stride) total.add(square(load_amplitude(data, i)));
  total = block_sum(total, shared);
  if (threadIdx.x == 0) store_pair(scratch, 1, 0, total);
}

// ---- probability of each bit
// ------------------------------------------------------------------------------------------- A segment is 4096
// neighbouring amplitudes: thread bits 0..7, four bits inside a thread's 16 loads. A block walks 2^loop_bits
// neighbouring segments; the segment bits above are the block's number, so their sums need only block totals.
constexpr int kSegmentBits = 12, kInThreadBits = 4, kThreadBits = 8, kMaxLoopBits = 16, kMaxBitBlocks = 2048;
constexpr int kBitSums = 1 + kThreadBits + kInThreadBits + kMaxLoopBits;  // total, thread, in-thread and loop bits

template <class Amplitude>
__device__ double weight_of(const Amplitude* data, std::uint64_t i) {
  return square(load_amplitude(data, i));
}
__device__ double weight_of(const double* data, std::uint64_t i) { return data[i]; }

template <class Value>
__global__ void bit_kernel(const Value* data, int loop_bits, double* scratch) {
  __shared__ Compensated shared[kReadWarps];
  Compensated total, in_thread[kInThreadBits], loop[kMaxLoopBits];
  const std::uint64_t first = static_cast<std::uint64_t>(blockIdx.x) << (loop_bits + kSegmentBits);
  for (std::uint32_t segment = 0; segment < 1u << loop_bits; ++segment) {
    const std::uint64_t base = first + (static_cast<std::uint64_t>(segment) << kSegmentBits) + threadIdx.x;
    double p[16];
#pragma unroll
    for (int j = 0; j < 16; ++j) p[j] = weight_of(data, base + (static_cast<std::uint64_t>(j) << kThreadBits));
#pragma unroll
    for (int b = 0; b < kInThreadBits; ++b) {  // fold bit b of j: its 1 half is this bit's probability
      double ones = 0;
#pragma unroll
      for (int j = 0; j < 16; ++j) ones += (j >> b & 1) != 0 ? p[j] : 0.0;
      in_thread[b].add(ones);
    }
    double sum = 0;
#pragma unroll
    for (int j = 0; j < 16; ++j) sum += p[j];
    total.add(sum);
#pragma unroll
    for (int b = 0; b < kMaxLoopBits; ++b) {
      if ((segment >> b & 1) != 0) loop[b].add(sum);
    }
  }
  for (int m = 0; m < kBitSums; ++m) {
    Compensated part;
    if (m == 0) part = total;
    if (m >= 1 && m <= kThreadBits && (threadIdx.x >> (m - 1) & 1) != 0) part = total;
#pragma unroll
    for (int b = 0; b < kInThreadBits; ++b) {
      if (m == 1 + kThreadBits + b) part = in_thread[b];
    }
#pragma unroll
    for (int b = 0; b < kMaxLoopBits; ++b) {
      if (m == 1 + kThreadBits + kInThreadBits + b) part = loop[b];
    }
    part = block_sum(part, shared);
    if (threadIdx.x == 0) store_pair(scratch, kBitSums, m, part);
  }
}

/// out[b] for every bit and the total, from the blocks' sums; one block of threads a b.
__global__ void finish_bits(const double* scratch, int blocks, int loop_bits, int local_bits, double* out) {
  __shared__ Compensated shared[kReadWarps];
  const int b = static_cast<int>(blockIdx.x);
  const int inside = kSegmentBits + loop_bits;
  const int m = b == local_bits || b >= inside ? 0 : b + 1;
  Compensated total;
  for (int block = static_cast<int>(threadIdx.x); block < blocks; block += kReadThreads) {
    if (b != local_bits && b >= inside && (block >> (b - inside) & 1) == 0) continue;
    Compensated part;
    part.sum = scratch[2 * (static_cast<std::size_t>(block) * kBitSums + m)];
    part.error = scratch[2 * (static_cast<std::size_t>(block) * kBitSums + m) + 1];
    total.add(part);
  }
  total = block_sum(total, shared);
  if (threadIdx.x == 0) out[b] = total.value();
}

/// Shards below one segment: block b sums bit b's probability (b == local_bits: the total) directly.
template <class Value>
__global__ void small_bit_kernel(const Value* data, int local_bits, double* out) {
  __shared__ Compensated shared[kReadWarps];
  const int b = static_cast<int>(blockIdx.x);
  Compensated total;
  for (std::uint32_t i = threadIdx.x; i < 1u << local_bits; i += kReadThreads) {
    if (b == local_bits || (i >> b & 1) != 0) total.add(weight_of(data, i));
  }
  total = block_sum(total, shared);
  if (threadIdx.x == 0) out[b] = total.value();
}

// ---- Pauli sums
struct PauliGroups {
  PauliMasks group[kPauliGroups];
};
constexpr int kGroupDoubles = 2 * 2 * kPauliBatch;  // of scratch, a block of a group

/// A group is a blockIdx.x, so that groups read the same amplitudes at about the same time. Walks pairs (i, i ^ x) with
/// i's lowest bit of x 0; where x is 0 every amplitude is its own partner. A pair's two terms are c and its conjugate,
/// with signs that agree when z meets x in an even number of bits: the sum is then real, otherwise imaginary, so one
/// running sum a mask is enough. Partners of another rank are walked one by one: that rank has each pair's other term.
template <class Amplitude>
__global__ void pauli_kernel(const Amplitude* data, const Amplitude* partners, std::uint64_t first, std::uint64_t count,
                             const __grid_constant__ PauliGroups groups, double* scratch) {
  __shared__ Compensated shared[kReadWarps];
  const PauliMasks& masks = groups.group[blockIdx.x];
  double* const mine = scratch + (static_cast<std::size_t>(blockIdx.x) * gridDim.y + blockIdx.y) * kGroupDoubles;
  Compensated sums[kPauliBatch];
  std::uint64_t z[kPauliBatch];
  std::uint32_t imaginary = 0;  // masks that meet x in an odd number of bits
#pragma unroll
  for (int j = 0; j < kPauliBatch; ++j) {
    z[j] = masks.z[j];
    imaginary |= odd_parity(masks.x & z[j]) << j;
  }
  const std::uint64_t x = masks.x & (count - 1);
  const std::uint64_t pivot = data == partners ? x & (~x + 1) : 0, below = pivot - 1;  // without it: all bits are below
  const int present = masks.count;
  const std::uint64_t pairs = pivot == 0 ? count : count / 2;
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.y) * kReadThreads;
  const double weight = pivot == 0 ? 1 : 2;
  std::uint64_t k = static_cast<std::uint64_t>(blockIdx.y) * kReadThreads + threadIdx.x;
  constexpr int kTogether = 4;  // loads under way; their few terms are added before they meet the long sum
  for (; k < pairs; k += kTogether * stride) {
    double2 c[kTogether];
    std::uint64_t at[kTogether];
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      const std::uint64_t pair = k + t * stride;
      at[t] = (pair & below) | (pair & ~below) << 1;
      c[t] = {0, 0};
      if (pair < pairs) c[t] = conjugate_product(load_amplitude(partners, at[t] ^ x), load_amplitude(data, at[t]));
    }
#pragma unroll
    for (int j = 0; j < kPauliBatch; ++j) {
      if (j < present) {
        double few = 0;
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const double value = (imaginary >> j & 1) != 0 ? c[t].y : c[t].x;
          few += odd_parity((first | at[t]) & z[j]) != 0 ? -value : value;
        }
        sums[j].add(weight * few);
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kPauliBatch; ++j) {
    double* const pair = mine + 4 * j;
    if (j < masks.count) {
      const Compensated part = block_sum(sums[j], shared);
      const std::uint32_t place = imaginary >> j & 1;
      if (threadIdx.x == 0) {
        pair[2 * place] = part.sum;
        pair[2 * place + 1] = part.error;
        pair[2 - 2 * place] = pair[3 - 2 * place] = 0;
      }
    } else if (threadIdx.x < 4) {
      pair[threadIdx.x] = 0;
    }
  }
}

/// A block walks tiles: amplitudes into shared memory, then string after string every pair that it joins. A warp adds a
/// tile's pairs to one running sum a string.
template <class Amplitude>
__global__ void __launch_bounds__(kReadThreads)
    span_kernel(const Amplitude* data, std::uint64_t tiles, const __grid_constant__ PauliSpan span, double* scratch) {
  constexpr int kThreadCoordinates = 8, kRegisters = 1 << (kSpanBits - kThreadCoordinates);
  extern __shared__ __align__(16) unsigned char memory[];
  Amplitude* const tile = reinterpret_cast<Amplitude*>(memory);
  __shared__ Compensated sums[kSpanStrings][kReadWarps];
  const std::uint32_t t = threadIdx.x;
  for (std::uint32_t i = t; i < kSpanStrings * kReadWarps; i += kReadThreads)
    sums[i / kReadWarps][i % kReadWarps] = Compensated();
  std::uint64_t own = 0;
#pragma unroll
  for (int j = 0; j < kThreadCoordinates; ++j) own ^= (t >> j & 1) != 0 ? span.reach[j] : 0;
  for (std::uint64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    std::uint64_t base = 0;
    for (int r = 0; r < span.runs; ++r) base |= number << span.run_shift[r] & span.run_mask[r];
    const std::uint64_t at = base ^ own;
    Amplitude loaded[kRegisters];
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) {
      std::uint64_t reach = 0;
#pragma unroll
      for (int s = 0; s < kSpanBits - kThreadCoordinates; ++s)
        reach ^= (r >> s & 1) != 0 ? span.reach[kThreadCoordinates + s] : 0;
      loaded[r] = data[at ^ reach];
    }
    __syncthreads();  // the tile before has been read
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) tile[t + kReadThreads * r] = loaded[r];
    __syncthreads();
    for (int j = 0; j < span.count; ++j) {
      // The highest bit of x, so that neighbouring threads have neighbouring pairs.
      const std::uint32_t x = span.x[j], z = span.z[j], below = (1u << (31 - __clz(x))) - 1;
      const bool imaginary = (span.imaginary >> j & 1) != 0;
      double few = 0;
#pragma unroll
      for (int q = 0; q < kRegisters / 2; ++q) {
        const std::uint32_t pair = t + kReadThreads * q, v = (pair & below) | (pair & ~below) << 1;
        const double2 c = conjugate_product(load_amplitude(tile, v ^ x), load_amplitude(tile, v));
        const double value = imaginary ? c.y : c.x;
        few += (__popc(v & z) & 1) != 0 ? -value : value;
      }
      if (odd_parity(base & span.z_base[j]) != 0) few = -few;
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) few += __shfl_down_sync(kAllLanes, few, offset);
      if (t % 32 == 0) sums[j][t / 32].add(2 * few);
    }
  }
  __syncthreads();
  if (t >= kSpanStrings) return;
  Compensated total;
  for (int warp = 0; warp < kReadWarps; ++warp) total.add(sums[t][warp]);
  store_pair(scratch, kSpanStrings, static_cast<int>(t), total);
}

template <class Amplitude>
__global__ void inner_kernel(const Amplitude* left, const Amplitude* right, std::uint64_t count, double* scratch) {
  __shared__ Compensated shared[kReadWarps];
  Compensated re, im;
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kReadThreads;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kReadThreads + threadIdx.x; i < count; i += stride) {
    const double2 c = conjugate_product(load_amplitude(left, i), load_amplitude(right, i));
    re.add(c.x);
    im.add(c.y);
  }
  re = block_sum(re, shared);
  im = block_sum(im, shared);
  if (threadIdx.x == 0) {
    store_pair(scratch, 2, 0, re);
    store_pair(scratch, 2, 1, im);
  }
}

template <class Amplitude>
__global__ void read_kernel(const Amplitude* data, const std::uint64_t* indices, std::uint64_t count, double* out) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * kReadThreads;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * kReadThreads + threadIdx.x; i < count; i += stride) {
    const double2 a = load_amplitude(data, indices[i]);
    out[2 * i] = a.x;
    out[2 * i + 1] = a.y;
  }
}

template <class Value>
void launch_bits(const Value* data, int bits, double* out, double* scratch, cudaStream_t stream) {
  if (bits < kSegmentBits) {
    small_bit_kernel<<<bits + 1, kReadThreads, 0, stream>>>(data, bits, out);
    return;
  }
  int loop_bits = 0;
  while ((std::uint64_t{1} << (bits - kSegmentBits - loop_bits)) > kMaxBitBlocks) ++loop_bits;
  const int blocks = 1 << (bits - kSegmentBits - loop_bits);
  bit_kernel<<<blocks, kReadThreads, 0, stream>>>(data, loop_bits, scratch);
  finish_bits<<<bits + 1, kReadThreads, 0, stream>>>(scratch, blocks, loop_bits, bits, out);
}

}  // namespace

void launch_finish_sums(const double* scratch, int blocks, int sums, int groups, double* out, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(sums), static_cast<unsigned>(groups));
  finish_sums<<<grid, kReadThreads, 0, stream>>>(scratch, blocks, sums, out);
}

void launch_norm(Shard shard, double* out, double* scratch, cudaStream_t stream) {
  const std::uint64_t count = std::uint64_t{1} << shard.local_bits;
  const int blocks = blocks_for(count);
  with_amplitudes(shard, [&](auto* data) { norm_kernel<<<blocks, kReadThreads, 0, stream>>>(data, count, scratch); });
  launch_finish_sums(scratch, blocks, 1, 1, out, stream);
}

void launch_bit_probabilities(Shard shard, double* out, double* scratch, cudaStream_t stream) {
  with_amplitudes(shard,
                  [&](auto* data) { launch_bits(data, static_cast<int>(shard.local_bits), out, scratch, stream); });
}

void launch_bit_sums(const double* values, std::uint32_t bits, double* out, double* scratch, cudaStream_t stream) {
  launch_bits(values, static_cast<int>(bits), out, scratch, stream);
}

void launch_pauli_sums(Shard shard, PauliPartners partners, const PauliMasks* masks, int count, double* out,
                       double* scratch, cudaStream_t stream) {
  // A small shard is shared by few blocks a group, and many groups; their number depends on nothing else, so sums do
  // not depend on what is summed beside them.
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 22;
  constexpr int kBlocksOfSmall = 128;
  const std::uint64_t amplitudes = std::uint64_t{1} << shard.local_bits;
  const int blocks = amplitudes <= kSmall ? std::min(blocks_for(amplitudes), kBlocksOfSmall) : blocks_for(amplitudes);
  const int room =
      std::max(1, static_cast<int>(kSumScratchDoubles / (static_cast<std::size_t>(blocks) * kGroupDoubles)));
  for (int first = 0; first < count; first += std::min(room, kPauliGroups)) {
    PauliGroups groups{};
    const int now = std::min({room, kPauliGroups, count - first});
    std::copy_n(masks + first, now, groups.group);
    const dim3 grid(static_cast<unsigned>(now), static_cast<unsigned>(blocks));
    with_amplitudes(shard, [&](auto* data) {
      auto* const others = partners.data == nullptr ? data : static_cast<decltype(data)>(partners.data);
      pauli_kernel<<<grid, kReadThreads, 0, stream>>>(data, others, partners.first, amplitudes, groups, scratch);
    });
    launch_finish_sums(scratch, blocks, 2 * kPauliBatch, now, out + static_cast<std::size_t>(first) * 2 * kPauliBatch,
                       stream);
  }
}

void launch_spanned_sums(Shard shard, const PauliSpan& span, double* out, double* scratch, cudaStream_t stream) {
  const std::uint64_t tiles = std::uint64_t{1} << (shard.local_bits - kSpanBits);
  const int blocks = static_cast<int>(std::min<std::uint64_t>(tiles, kMaxBlocks));
  with_amplitudes(shard, [&](auto* data) {
    constexpr int kBytes = static_cast<int>(sizeof(*data) << kSpanBits);
    auto* const kernel = span_kernel<std::remove_cvref_t<decltype(*data)>>;
    // Where this is refused the launch is too, and is asked about.
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    kernel<<<blocks, kReadThreads, kBytes, stream>>>(data, tiles, span, scratch);
  });
  launch_finish_sums(scratch, blocks, kSpanStrings, 1, out, stream);
}

void launch_inner_product(Shard left, Shard right, double* out, double* scratch, cudaStream_t stream) {
  const std::uint64_t count = std::uint64_t{1} << left.local_bits;
  const int blocks = blocks_for(count);
  with_amplitudes(left, [&](auto* data) {
    inner_kernel<<<blocks, kReadThreads, 0, stream>>>(data, static_cast<decltype(data)>(right.data), count, scratch);
  });
  launch_finish_sums(scratch, blocks, 2, 1, out, stream);
}

void launch_read_amplitudes(Shard shard, const std::uint64_t* indices, std::uint64_t count, double* out,
                            cudaStream_t stream) {
  const int blocks = blocks_for(count);
  with_amplitudes(shard,
                  [&](auto* data) { read_kernel<<<blocks, kReadThreads, 0, stream>>>(data, indices, count, out); });
}

}  // namespace qsim::cuda
