// Any flips: a thread has 32 places, 32 apart, and a warp 1,024 that follow one another: a bit of a word for each, so
// that a flip of all of them is one instruction. The words lie in shared memory, a column a thread; what has changed of
// them is turned round in registers, from a word for each bit of a place to a word for each place. Flips with at most
// one control: places are XORs of columns.
#include <algorithm>

#include "kernels/cuda/complex.cuh"
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

/// Sixteenths of a turn of a thread's 32 places: bit k of each in word[k].
struct Sixteenths {
  std::uint32_t word[4] = {};

  /// Where `all` is 1.
  __device__ __forceinline__ void add(std::uint32_t sixteenths, std::uint32_t all) {
    if (sixteenths == 8) {  // most are half turns
      word[3] ^= all;
      return;
    }
    std::uint32_t carry = 0;
#pragma unroll
    for (unsigned bit = 0; bit < 4; ++bit) {
      const std::uint32_t more = (sixteenths >> bit & 1) != 0 ? all : 0, before = word[bit];
      word[bit] = before ^ more ^ carry;
      carry = (before & more) | (carry & (before ^ more));
    }
  }

  template <class Amplitude>
  __device__ __forceinline__ Amplitude turned(Amplitude a, unsigned place) const {
    using Real = decltype(Amplitude::x);
    const Real cosine = static_cast<Real>(0.92387953251128675613), sine = static_cast<Real>(0.38268343236508977173);
    const Real part = static_cast<Real>(0.70710678118654752440);
    if ((word[0] >> place & 1) != 0) a = {cosine * a.x - sine * a.y, cosine * a.y + sine * a.x};
    if ((word[1] >> place & 1) != 0) a = {part * (a.x - a.y), part * (a.x + a.y)};
    if ((word[2] >> place & 1) != 0) a = {-a.y, a.x};
    if ((word[3] >> place & 1) != 0) a = {-a.x, -a.y};
    return a;
  }
};

/// Runs a thread's column of words through all steps, of which there are a multiple of kStepsAtOnce.
template <bool kPhases>
__device__ __forceinline__ void run_steps(const std::uint32_t* steps, std::uint32_t count, std::uint32_t* column,
                                          Sixteenths& sixteenths) {
  std::uint32_t all = ~0u;
  for (std::uint32_t s = 0; s < count; s += kStepsAtOnce) {
    const uint4 four = __ldg(reinterpret_cast<const uint4*>(steps + s));
    for (const std::uint32_t step : {four.x, four.y, four.z, four.w}) {
      all &= column[(step >> 8 & 63) * kBlock] ^ (0u - (step >> 14 & 1));
      all &= column[(step >> 16 & 63) * kBlock] ^ (0u - (step >> 22 & 1));
      if ((step >> 6 & 1) == 0) continue;
      if (kPhases && (step >> 7 & 1) != 0) {
        sixteenths.add(step & 15, all);
      } else {
        column[(step & 63) * kBlock] ^= all;
      }
      all = ~0u;
    }
  }
}

/// Bytes moved: each amplitude of the bundle read and written once.
template <class Amplitude, bool kPhases>
__global__ void __launch_bounds__(kBlock, 4)
    permute_kernel(const Amplitude* __restrict__ state, Amplitude* __restrict__ gathered, const PermuteArguments a,
                   bool in_place, NormCell* norm) {
  extern __shared__ std::uint32_t columns[];
  __shared__ double norm_scratch[32];
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t warp = static_cast<std::uint64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const std::uint64_t first = warp << 10, count = 1ull << a.bundle_bits;
  std::uint32_t* const column = columns + threadIdx.x;
  using Real = decltype(Amplitude::x);
  const Amplitude phase{static_cast<Real>(a.phase[0]), static_cast<Real>(a.phase[1])};
  double sum = 0;
  if (first < count) {
    const std::uint64_t base = place_of(a.map, first);
    for (std::uint32_t r = 0; r + 1 < a.rows; ++r)
      column[r * kBlock] = row_word(a.position[r], a.bit[r], first, lane, base);
    column[(a.rows - 1) * kBlock] = ~0u;
    Sixteenths sixteenths;
    run_steps<kPhases>(a.steps, a.step_count, column, sixteenths);
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
      Amplitude value = (place & a.unborn) != 0 ? Amplitude{} : __ldg(state + place);
      if (kPhases) value = times(sixteenths.turned(value, i), phase);
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
    using Real = decltype(Amplitude::x);
    const Amplitude phase{static_cast<Real>(a.phase[0]), static_cast<Real>(a.phase[1])};
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
      if (a.turns) {
#pragma unroll
        for (unsigned i = 0; i < kAtOnce; ++i) value[i] = times(value[i], phase);
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

/// Bytes moved: each amplitude written once. Tables are copied to shared memory; a block makes many amplitudes by them.
template <class Amplitude, bool kPhases>
__global__ void __launch_bounds__(kBlock, 2)
    product_kernel(Amplitude* __restrict__ state, const ProductArguments a, NormCell* norm) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ double norm_scratch[32];
  using Real = decltype(Amplitude::x);
  auto* const table = reinterpret_cast<Amplitude*>(shared);
  const std::uint32_t indexed = a.table_count << a.width, entries = indexed + 2 * a.left;
  for (std::uint32_t i = threadIdx.x; i < entries; i += kBlock) table[i] = static_cast<const Amplitude*>(a.tables)[i];
  auto* const column = reinterpret_cast<std::uint32_t*>(table + entries) + threadIdx.x;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t count = 1ull << a.bits, stride = static_cast<std::uint64_t>(gridDim.x) * kBlock * kEach;
  double sum = 0;
  for (std::uint64_t first = (static_cast<std::uint64_t>(blockIdx.x) * kWarps + threadIdx.x / 32) << 10; first < count;
       first += stride) {
    const auto initial = [&](unsigned bit) { return row_word(bit < a.bits ? bit : kNoRow, bit, first, lane, a.above); };
    for (std::uint32_t r = 0; r + 1 < a.rows; ++r) column[r * kBlock] = initial(a.bit[r]);
    column[(a.rows - 1) * kBlock] = ~0u;
    Sixteenths sixteenths;
    run_steps<kPhases>(a.steps, a.step_count, column, sixteenths);
    const auto word = [&](unsigned bit) {
      const unsigned r = a.row_of[bit];
      return r == kNoRow ? initial(bit) : column[r * kBlock];
    };
    std::uint32_t there = ~0u;
    for (std::uint64_t left = a.checked; left != 0; left &= left - 1) {
      const auto bit = static_cast<unsigned>(__ffsll(static_cast<long long>(left)) - 1);
      there &= word(bit) ^ ((a.wanted >> bit & 1) != 0 ? 0u : ~0u);
    }
    std::uint32_t index[kEach];
#pragma unroll
    for (unsigned b = 0; b < kEach; ++b) index[b] = b < a.indexed ? word(a.varying[b]) : 0;
    transpose(index);
#pragma unroll
    for (unsigned i = 0; i < kEach; ++i) {
      Amplitude value{};
      if ((there >> i & 1) != 0) {
        value = {static_cast<Real>(a.scale[0]), static_cast<Real>(a.scale[1])};
        std::uint32_t rest = index[i];
        const auto multiply = [&](const Amplitude by) { value = times(value, by); };
        for (std::uint32_t t = 0; t < a.table_count; ++t) {
          multiply(table[(t << a.width) + (rest & ((1u << a.width) - 1))]);
          rest >>= a.width;
        }
        for (std::uint32_t b = 0; b < a.left; ++b)
          multiply(table[indexed + 2 * b + (word(a.varying[kEach + b]) >> i & 1)]);
        if (kPhases) value = sixteenths.turned(value, i);
      }
      const std::uint64_t place = first | i * 32 | lane;
      if (place >= count) continue;
      state[place] = value;
      if (norm != nullptr) {
        const double re = value.x, im = value.y;
        sum = fma(re, re, fma(im, im, sum));
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
  using Amplitude = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  const auto kernel = arguments.phases ? permute_kernel<Amplitude, true> : permute_kernel<Amplitude, false>;
  kernel<<<blocks_of(arguments.bundle_bits), kBlock, shared, stream>>>(state, gathered, arguments, in_place, norm);
  return cudaGetLastError();
}

template cudaError_t launch_permute<float>(const float2*, float2*, const PermuteArguments&, bool, NormCell*,
                                           cudaStream_t);
template cudaError_t launch_permute<double>(const double2*, double2*, const PermuteArguments&, bool, NormCell*,
                                            cudaStream_t);

template <class Real>
cudaError_t launch_product(std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                           const ProductArguments& arguments, NormCell* norm, cudaStream_t stream) {
  using Amplitude = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  const std::size_t entries = (std::size_t{arguments.table_count} << arguments.width) + 2 * arguments.left;
  const std::size_t shared = entries * sizeof(Amplitude) + arguments.rows * kBlock * sizeof(std::uint32_t);
  const auto kernel = arguments.phases ? product_kernel<Amplitude, true> : product_kernel<Amplitude, false>;
  int device = 0, processors = 0, resident = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(kBlock), shared);
  if (error != cudaSuccess) return error;
  const auto most = static_cast<unsigned>(std::max(1, processors * resident));
  kernel<<<std::min(blocks_of(arguments.bits), most), kBlock, shared, stream>>>(state, arguments, norm);
  return cudaGetLastError();
}

template cudaError_t launch_product<float>(float2*, const ProductArguments&, NormCell*, cudaStream_t);
template cudaError_t launch_product<double>(double2*, const ProductArguments&, NormCell*, cudaStream_t);

}  // namespace qsim::cuda
