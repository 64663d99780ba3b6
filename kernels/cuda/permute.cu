// Any flips: a thread has 32 places, 32 apart, and a warp 1,024 that follow one another: a bit of a word for each, so
// that a flip of all of them is one instruction. The words lie in shared memory, a column a thread; what has changed of
// them is turned round in registers, from a word for each bit of a place to a word for each place. Flips with at most
// one control: places are XORs of columns.
#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/permute.h"

namespace qsim::cuda {
namespace {

constexpr unsigned kBlock = 256, kWarps = kBlock / 32, kEach = 32;

__device__ __forceinline__ std::uint64_t place_of(const ViewMap& map, std::uint64_t packed) {
  std::uint64_t place = map.value;
  for (std::uint32_t r = 0; r < map.runs; ++r) place |= (packed & map.run_mask[r]) << map.run_shift[r];
  return place;
}

/// The bit at `position` of the packed places first + 32 i + lane, i < 32; outside the bundle, that of `base`.
__device__ __forceinline__ std::uint32_t row_word(unsigned position, unsigned bit, std::uint64_t first, unsigned lane,
                                                  std::uint64_t base) {
  if (position >= 10) {
    const std::uint64_t value = position == kNoRow ? base >> bit : first >> position;
    return 0u - static_cast<std::uint32_t>(value & 1);
  }
  if (position < 5) return 0u - (lane >> position & 1u);
  constexpr std::uint32_t kWithin[5] = {0xaaaaaaaau, 0xccccccccu, 0xf0f0f0f0u, 0xff00ff00u, 0xffff0000u};
  return position == 5   ? kWithin[0]
         : position == 6 ? kWithin[1]
         : position == 7 ? kWithin[2]
         : position == 8 ? kWithin[3]
                         : kWithin[4];
}

/// Bit b of word i becomes bit i of word b.
__device__ __forceinline__ void transpose(std::uint32_t (&word)[32]) {
  std::uint32_t mask = 0x0000ffffu;
#pragma unroll
  for (unsigned j = 16; j != 0; j >>= 1, mask ^= mask << j) {
#pragma unroll
    for (unsigned k = 0; k < 32; ++k) {
      if ((k & j) != 0) continue;
      const std::uint32_t t = (word[k] >> j ^ word[k | j]) & mask;
      word[k] ^= t << j;
      word[k | j] ^= t;
    }
  }
}

/// What the steps have changed of a bit of the places.
__device__ __forceinline__ std::uint32_t changed_of(const PermuteArguments& a, unsigned bit,
                                                    const std::uint32_t* column, std::uint64_t first, unsigned lane,
                                                    std::uint64_t base) {
  const unsigned r = a.target_at[bit];
  return r == kNoRow ? 0 : column[r * kBlock] ^ row_word(a.position[r], bit, first, lane, base);
}

/// Bytes moved: each amplitude of the bundle read and written once.
template <class Amplitude>
__global__ void __launch_bounds__(kBlock, 4)
    permute_kernel(const Amplitude* __restrict__ state, Amplitude* __restrict__ gathered, const PermuteArguments a,
                   bool in_place, NormCell* norm) {
  extern __shared__ std::uint32_t columns[];
  __shared__ double norm_scratch[32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t warp = static_cast<std::uint64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const std::uint64_t first = warp << 10, count = 1ull << a.bundle_bits;
  std::uint32_t* const column = columns + threadIdx.x;
  double sum = 0;
  if (first < count) {
    const std::uint64_t base = place_of(a.map, first);
    for (std::uint32_t r = 0; r + 1 < a.rows; ++r)
      column[r * kBlock] = row_word(a.position[r], a.bit[r], first, lane, base);
    column[(a.rows - 1) * kBlock] = ~0u;
    std::uint32_t all = ~0u;
    for (std::uint32_t s = 0; s < a.step_count; s += kStepsAtOnce) {
      const uint4 four = __ldg(reinterpret_cast<const uint4*>(a.steps + s));
      for (const std::uint32_t step : {four.x, four.y, four.z, four.w}) {
        all &= column[(step >> 8 & 63) * kBlock] ^ (0u - (step >> 14 & 1));
        all &= column[(step >> 16 & 63) * kBlock] ^ (0u - (step >> 22 & 1));
        if ((step >> 6 & 1) == 0) continue;
        column[(step & 63) * kBlock] ^= all;
        all = ~0u;
      }
    }
    std::uint32_t changed[kEach];
#pragma unroll
    for (unsigned b = 0; b < 32; ++b) changed[b] = changed_of(a, b, column, first, lane, base);
    transpose(changed);
    // Ten bits or more of a bundle lie below bit 32, or all of the place does.
    const auto mine = static_cast<std::uint32_t>(base | place_of(a.map, lane));
    std::uint32_t apart[5];
#pragma unroll
    for (unsigned b = 0; b < 5; ++b) {
      apart[b] = (32u << b) < count ? static_cast<std::uint32_t>(place_of(a.map, 32ull << b) ^ a.map.value) : 0;
    }
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      std::uint32_t low = mine;
#pragma unroll
      for (unsigned b = 0; b < 5; ++b) {
        if ((i >> b & 1) != 0) low ^= apart[b];
      }
      const std::uint64_t high = base & ~0xffffffffull;
      std::uint64_t place = high | (low ^ changed[i]);
      for (std::uint64_t left = a.high_targets; left != 0; left &= left - 1) {
        const auto b = static_cast<unsigned>(__ffsll(static_cast<long long>(left)) - 1);
        place ^= static_cast<std::uint64_t>(changed_of(a, b, column, first, lane, base) >> i & 1) << b;
      }
      const std::uint64_t packed = first | i * 32 | lane;
      if (packed >= count) continue;
      const Amplitude value = (place & a.unborn) != 0 ? Amplitude{} : __ldg(state + place);
      gathered[in_place ? high | low : packed] = value;
      if (norm != nullptr) {
        const double re = value.x, im = value.y;
        sum = fma(re, re, fma(im, im, sum));
      }
    }
  }
  if (norm != nullptr) add_norm(norm, sum, norm_scratch);
}

/// A thread has 32 amplitudes, eight on their way at a time: those of a line are read one behind the other.
/// Bytes moved: each amplitude of the bundle read and written once.
template <class Amplitude>
__global__ void __launch_bounds__(kBlock, 4)
    affine_kernel(const Amplitude* __restrict__ state, Amplitude* __restrict__ gathered, const AffineArguments a,
                  NormCell* norm) {
  constexpr unsigned kAtOnce = 8, kAtOnceBits = 3;
  __shared__ double norm_scratch[32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t warp = static_cast<std::uint64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const std::uint64_t first = warp << 10, count = 1ull << a.bits;
  double sum = 0;
  if (first < count) {
    std::uint64_t to = 0, from = a.from;
    const std::uint64_t number = first | lane;
    for (unsigned b = 10; b < a.bits; ++b) {
      if ((number >> b & 1) == 0) continue;
      to ^= a.to_column[b];
      from ^= a.from_column[b];
    }
#pragma unroll
    for (unsigned b = 0; b < kAffineLanes; ++b) {
      if ((number >> b & 1) == 0) continue;
      to ^= a.to_column[b];
      from ^= a.from_column[b];
    }
#pragma unroll 1
    for (unsigned part = 0; part < kEach / kAtOnce; ++part) {
      std::uint64_t part_to = to, part_from = from;
#pragma unroll
      for (unsigned b = 0; b < 2; ++b) {
        if ((part >> b & 1) == 0) continue;
        part_to ^= a.to_column[kAffineLanes + kAtOnceBits + b];
        part_from ^= a.from_column[kAffineLanes + kAtOnceBits + b];
      }
      Amplitude value[kAtOnce];
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        std::uint64_t place = part_from;
#pragma unroll
        for (unsigned b = 0; b < kAtOnceBits; ++b) {
          if ((i >> b & 1) != 0) place ^= a.from_column[kAffineLanes + b];
        }
        const bool there = (number | (part * kAtOnce + i) * 32) < count && (place & a.unborn) == 0;
        value[i] = there ? __ldg(state + place) : Amplitude{};
      }
#pragma unroll
      for (unsigned i = 0; i < kAtOnce; ++i) {
        if ((number | (part * kAtOnce + i) * 32) >= count) continue;
        std::uint64_t place = part_to;
#pragma unroll
        for (unsigned b = 0; b < kAtOnceBits; ++b) {
          if ((i >> b & 1) != 0) place ^= a.to_column[kAffineLanes + b];
        }
        gathered[place] = value[i];
        if (norm != nullptr) {
          const double re = value[i].x, im = value[i].y;
          sum = fma(re, re, fma(im, im, sum));
        }
      }
    }
  }
  if (norm != nullptr) add_norm(norm, sum, norm_scratch);
}

unsigned blocks_of(std::uint32_t bundle_bits) {
  const std::uint64_t warps = ((std::uint64_t{1} << bundle_bits) + 1023) / 1024;
  return static_cast<unsigned>((warps + kWarps - 1) / kWarps);
}

}  // namespace

template <class Real>
cudaError_t launch_affine(const std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                          std::conditional_t<sizeof(Real) == 8, double2, float2>* gathered,
                          const AffineArguments& arguments, NormCell* norm, cudaStream_t stream) {
  affine_kernel<<<blocks_of(arguments.bits), kBlock, 0, stream>>>(state, gathered, arguments, norm);
  return cudaGetLastError();
}

template cudaError_t launch_affine<float>(const float2*, float2*, const AffineArguments&, NormCell*, cudaStream_t);
template cudaError_t launch_affine<double>(const double2*, double2*, const AffineArguments&, NormCell*, cudaStream_t);

template <class Real>
cudaError_t launch_permute(const std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                           std::conditional_t<sizeof(Real) == 8, double2, float2>* gathered,
                           const PermuteArguments& arguments, bool in_place, NormCell* norm, cudaStream_t stream) {
  const std::size_t shared = static_cast<std::size_t>(arguments.rows) * kBlock * sizeof(std::uint32_t);
  permute_kernel<<<blocks_of(arguments.bundle_bits), kBlock, shared, stream>>>(state, gathered, arguments, in_place,
                                                                               norm);
  return cudaGetLastError();
}

template cudaError_t launch_permute<float>(const float2*, float2*, const PermuteArguments&, bool, NormCell*,
                                           cudaStream_t);
template cudaError_t launch_permute<double>(const double2*, double2*, const PermuteArguments&, bool, NormCell*,
                                            cudaStream_t);

}  // namespace qsim::cuda
