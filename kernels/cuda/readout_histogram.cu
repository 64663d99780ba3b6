// Histograms over chosen bits, in double or in integer units.
//
// A block is 256 threads on the 8 lowest bits; blockIdx.x spells the chosen bits above them, blockIdx.y shares out the
// values of the remaining high bits, which a thread walks in a loop. Afterwards threads that differ in low bits that
// are not chosen are folded together, and the block writes 2^(chosen low bits) entries. With several shares, a second
// kernel adds them in order. Reads are coalesced whatever the chosen bits; each amplitude of the view is read once.
#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr std::uint32_t kLowBits = 8;
constexpr std::uint64_t kWantedBlocks = 2048;

/// How the bits of a histogram fall on threads, blocks and loops.
struct HistogramShape {
  std::uint64_t view_mask = 0, view_value = 0;
  BitList high;                                 // chosen bits from kLowBits up, in list order
  std::uint8_t high_place[kMaxIndexBits] = {};  // their places in the output index
  BitList low;                                  // chosen bits below
  std::uint8_t low_place[kLowBits] = {};
  std::uint64_t rest_high = 0;  // high bits that are neither chosen nor fixed
  std::uint64_t rest_low = 0;
  std::uint32_t shares_log2 = 0;   // the top bits of rest_high that blockIdx.y spells
  std::uint32_t threads_bits = 0;  // low bits of the shard, at most kLowBits
  std::uint32_t out_bits = 0;
};

std::uint64_t low_mask(std::uint32_t bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

std::uint32_t popcount(std::uint64_t value) { return static_cast<std::uint32_t>(__builtin_popcountll(value)); }

HistogramShape shape_of(Shard shard, View view, const BitList& bits) {
  HistogramShape shape;
  shape.view_mask = view.mask;
  shape.view_value = view.value;
  shape.out_bits = bits.count;
  shape.threads_bits = shard.local_bits < kLowBits ? shard.local_bits : kLowBits;
  std::uint64_t chosen = 0;
  for (std::uint32_t j = 0; j < bits.count; ++j) {
    chosen |= std::uint64_t{1} << bits.bits[j];
    if (bits.bits[j] >= kLowBits) {
      shape.high_place[shape.high.count] = static_cast<std::uint8_t>(j);
      shape.high.bits[shape.high.count++] = bits.bits[j];
    } else {
      shape.low_place[shape.low.count] = static_cast<std::uint8_t>(j);
      shape.low.bits[shape.low.count++] = bits.bits[j];
    }
  }
  const std::uint64_t rest = low_mask(shard.local_bits) & ~chosen & ~view.mask;
  shape.rest_low = rest & low_mask(kLowBits);
  shape.rest_high = rest & ~low_mask(kLowBits);
  while ((std::uint64_t{1} << (shape.high.count + shape.shares_log2)) < kWantedBlocks &&
         shape.shares_log2 < popcount(shape.rest_high)) {
    ++shape.shares_log2;
  }
  return shape;
}

struct DoubleBin {
  Compensated total;
  __device__ void add(double2 a) { total.add(square(a)); }
  __device__ double value() const { return total.value(); }
};
struct UnitBin {
  std::uint64_t total = 0;
  __device__ void add(double2 a) { total += units(a); }
  __device__ std::uint64_t value() const { return total; }
};

template <class Bin, class Value, class Amplitude>
__global__ void histogram_kernel(const Amplitude* data, HistogramShape shape, Value* out) {
  __shared__ Value sums[1 << kLowBits];
  const std::uint64_t thread = threadIdx.x;
  std::uint64_t share_mask = 0;  // the top shares_log2 bits of rest_high
  std::uint64_t loop_mask = shape.rest_high;
  for (std::uint32_t j = 0; j < shape.shares_log2; ++j) {
    const std::uint64_t top = std::uint64_t{1} << (63 - __clzll(static_cast<long long>(loop_mask)));
    share_mask |= top;
    loop_mask &= ~top;
  }
  std::uint64_t base = shape.view_value | scatter_bits(blockIdx.x, shape.high);
  std::uint64_t share = blockIdx.y;
  for (std::uint64_t left = share_mask; left != 0; left &= left - 1, share >>= 1) {
    if ((share & 1) != 0) base |= left & (~left + 1);
  }
  const std::uint64_t low_fixed = shape.view_mask & ((1u << kLowBits) - 1);
  const bool takes_part = thread < (1u << shape.threads_bits) && (thread & low_fixed) == (shape.view_value & low_fixed);
  Bin bin;
  if (takes_part) {
    const std::uint64_t start = base | thread;
    std::uint64_t loop = 0;
    do {
      bin.add(load_amplitude(data, start | loop));
      loop = (loop - loop_mask) & loop_mask;
    } while (loop != 0);
  }
  sums[thread] = bin.value();
  __syncthreads();
  for (std::uint32_t bit = 0; bit < kLowBits; ++bit) {
    if ((shape.rest_low >> bit & 1) != 0) {
      if ((thread >> bit & 1) == 0) sums[thread] += sums[thread ^ (1u << bit)];
      __syncthreads();
    }
  }
  if (takes_part && (thread & shape.rest_low) == 0) {
    std::uint64_t place = static_cast<std::uint64_t>(blockIdx.y) << shape.out_bits;
    for (std::uint32_t j = 0; j < shape.high.count; ++j) {
      place |= (static_cast<std::uint64_t>(blockIdx.x) >> j & 1) << shape.high_place[j];
    }
    for (std::uint32_t j = 0; j < shape.low.count; ++j)
      place |= (thread >> shape.low.bits[j] & 1) << shape.low_place[j];
    out[place] = sums[thread];
  }
}

template <class Value>
__global__ void add_shares(const Value* shares, std::uint64_t entries, std::uint32_t count, Value* out) {
  const std::uint64_t entry = static_cast<std::uint64_t>(blockIdx.x) * kReadThreads + threadIdx.x;
  if (entry >= entries) return;
  Value total{};
  for (std::uint32_t share = 0; share < count; ++share) total += shares[share * entries + entry];
  out[entry] = total;
}

template <class Bin, class Value>
void launch(Shard shard, View view, const BitList& bits, Value* out, void* scratch, cudaStream_t stream) {
  const HistogramShape shape = shape_of(shard, view, bits);
  const dim3 grid(1u << shape.high.count, 1u << shape.shares_log2);
  Value* target = shape.shares_log2 == 0 ? out : static_cast<Value*>(scratch);
  if (shard.double_precision) {
    histogram_kernel<Bin><<<grid, kReadThreads, 0, stream>>>(static_cast<const double2*>(shard.data), shape, target);
  } else {
    histogram_kernel<Bin><<<grid, kReadThreads, 0, stream>>>(static_cast<const float2*>(shard.data), shape, target);
  }
  if (shape.shares_log2 > 0) {
    const std::uint64_t entries = std::uint64_t{1} << bits.count;
    const auto blocks = static_cast<unsigned>((entries + kReadThreads - 1) / kReadThreads);
    add_shares<<<blocks, kReadThreads, 0, stream>>>(target, entries, 1u << shape.shares_log2, out);
  }
}

}  // namespace

std::size_t histogram_scratch_bytes(Shard shard, View view, BitList bits) {
  const HistogramShape shape = shape_of(shard, view, bits);
  return shape.shares_log2 == 0 ? 0 : sizeof(std::uint64_t) << (bits.count + shape.shares_log2);
}

void launch_histogram(Shard shard, View view, BitList bits, double* out, void* scratch, cudaStream_t stream) {
  launch<DoubleBin>(shard, view, bits, out, scratch, stream);
}

void launch_unit_histogram(Shard shard, View view, BitList bits, std::uint64_t* out, void* scratch,
                           cudaStream_t stream) {
  launch<UnitBin>(shard, view, bits, out, scratch, stream);
}

}  // namespace qsim::cuda
