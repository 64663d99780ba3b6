// What each word of a sweep program does to the registers of a thread. Registers are only ever indexed by constants.
//
// Words (reals in order of use):
//   kGuard   words and reals to skip, mask lo, hi, value lo, hi, parity mask lo, hi, odd
//   kRotate  forms: 3 bits a slot                                                  reals: 1 a slot that has a form
//   kMatrix1 slot, set, thread mask, thread value                                  reals: 8
//   kMatrix2 slot pair number, set, thread mask, thread value                      reals: 32
//   kSwap    slot, set, thread mask, thread value
//   kDense   targets, first entry of `dense`, control mask, control value, address columns of threads and slots,
//            coordinate columns of threads and slots, addresses of the targets, coordinates of the targets
//   kPair    slot pair number, present bits, factors
//   kMultiply set, factor;  kScale (all registers)                                 kScale reals: 1
//   factor:  table + 1 | tile factor + 1 << 12 | entries << 24, {thread bit | tile factor << 8}...
//            {kTurnedEntry | tile factor << 8 | table << 20}...
//            {kMirroredEntry | tile factor << 8 | bits of the thread << 20}...
//            first {kParityEntry | odd << 8 | bits of the thread << 20, tile bits lo, hi}            reals: 2
//   kRegroup number of its address table | own places << 16 | within warp << 17, write columns of slots, guard count,
//   {mask lo, hi, value lo, hi, offset}...,
//            read columns of slots; the table has (write address | read address << 16) for each thread
#pragma once

#include "kernels/cuda/complex.cuh"
#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

/// A load that lets the second-level cache fetch the 256 bytes around it: a tile's runs are 128 bytes or more, and the
/// tile that needs the other half is under way at the same time, so that DRAM opens a row once for both.
#ifdef __CUDA_ARCH__
__device__ __forceinline__ double2 fetch_amplitude(const double2* from) {
  double2 value;
  asm volatile("ld.global.L2::256B.v2.f64 {%0, %1}, [%2];" : "=d"(value.x), "=d"(value.y) : "l"(from) : "memory");
  return value;
}
__device__ __forceinline__ float2 fetch_amplitude(const float2* from) {
  float2 value;
  asm volatile("ld.global.L2::256B.v2.f32 {%0, %1}, [%2];" : "=f"(value.x), "=f"(value.y) : "l"(from) : "memory");
  return value;
}
#else
template <class C>
__device__ __forceinline__ C fetch_amplitude(const C* from) {
  return *from;
}
#endif

/// Slots of pair number p, in the order (0,1) (0,2) (1,2) (0,3) (1,3) (2,3) (0,4) ...
template <int P>
struct SlotPair {
  static constexpr int high = P < 1 ? 1 : P < 3 ? 2 : P < 6 ? 3 : 4;
  static constexpr int low = P - high * (high - 1) / 2;
};

template <class Real, int R>
struct Machine {
  using C = Amplitude<Real>;
  static constexpr int kRegisters = 1 << R;
  const SweepParams<Real>& p;
  C* tile;           // shared: the tile while it changes registers
  const C* factors;  // shared: tile factors
  std::uint64_t base;
  std::uint32_t word = 0, real = 0;
  bool tile_read = false;    // somebody may still read from `tile`,
  bool others_read = false;  // even from where this thread's amplitudes are placed
  C a[kRegisters];

  __device__ __forceinline__ Machine(const SweepParams<Real>& params, C* shared_tile, const C* shared_factors)
      : p(params), tile(shared_tile), factors(shared_factors) {}

  __device__ __forceinline__ std::uint32_t next() { return p.words[word++]; }
  __device__ __forceinline__ std::uint64_t next64() {
    const std::uint64_t low = next();
    return low | static_cast<std::uint64_t>(next()) << 32;
  }
  __device__ __forceinline__ bool thread_in(std::uint32_t mask, std::uint32_t value) const {
    return (threadIdx.x & mask) == value;
  }

  // -- two-by-two forms
  template <int S, int F>
  __device__ __forceinline__ void rotate_slot(Real t) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if (j >> S & 1) continue;
      const C u = a[j], v = a[j | 1 << S];
      C& x = a[j];
      C& y = a[j | 1 << S];
      if constexpr (F == 1) {
        x = {fma(-t, v.x, u.x), fma(-t, v.y, u.y)};
        y = {fma(t, u.x, v.x), fma(t, u.y, v.y)};
      } else if constexpr (F == 2) {
        x = {fma(t, v.x, u.x), fma(t, v.y, u.y)};
        y = {fma(t, u.x, -v.x), fma(t, u.y, -v.y)};
      } else if constexpr (F == 3) {
        x = {fma(t, v.y, u.x), fma(-t, v.x, u.y)};
        y = {fma(t, u.y, v.x), fma(-t, u.x, v.y)};
      } else if constexpr (F == 4) {
        x = {fma(t, u.x, -v.x), fma(t, u.y, -v.y)};
        y = {fma(t, v.x, u.x), fma(t, v.y, u.y)};
      } else if constexpr (F == 5) {
        x = {fma(t, u.x, v.x), fma(t, u.y, v.y)};
        y = {fma(-t, v.x, u.x), fma(-t, v.y, u.y)};
      } else {
        x = {fma(t, u.x, v.y), fma(t, u.y, -v.x)};
        y = {fma(t, v.x, u.y), fma(t, v.y, -u.x)};
      }
    }
  }
  template <int S>
  __device__ __forceinline__ void rotate_one(std::uint32_t form) {
    if (form == 0) return;
    const Real t = p.reals[real++];
    switch (form) {
      case 1:
        rotate_slot<S, 1>(t);
        break;
      case 2:
        rotate_slot<S, 2>(t);
        break;
      case 3:
        rotate_slot<S, 3>(t);
        break;
      case 4:
        rotate_slot<S, 4>(t);
        break;
      case 5:
        rotate_slot<S, 5>(t);
        break;
      default:
        rotate_slot<S, 6>(t);
        break;
    }
  }
  __device__ __forceinline__ void rotate() {
    const std::uint32_t forms = next();
    rotate_one<0>(forms & 7);
    rotate_one<1>(forms >> 3 & 7);
    rotate_one<2>(forms >> 6 & 7);
    rotate_one<3>(forms >> 9 & 7);
    if constexpr (R > 4) rotate_one<4>(forms >> 12 & 7);
  }
  template <int S>
  __device__ __forceinline__ void matrix1_slot(std::uint32_t set) {
    const Real* m = p.reals + real;
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if (j >> S & 1) continue;
      if ((set >> j & 1) == 0) continue;
      const C u = a[j], v = a[j | 1 << S];
      a[j] = times_add(C{m[0], m[1]}, u, times(C{m[2], m[3]}, v));
      a[j | 1 << S] = times_add(C{m[4], m[5]}, u, times(C{m[6], m[7]}, v));
    }
  }
  template <int S>
  __device__ __forceinline__ void swap_slot(std::uint32_t set) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if (j >> S & 1) continue;
      if ((set >> j & 1) == 0) continue;
      const C u = a[j];
      a[j] = a[j | 1 << S];
      a[j | 1 << S] = u;
    }
  }
  __device__ __forceinline__ void matrix1() {
    const std::uint32_t slot = next(), set = next(), mask = next(), value = next();
    if (thread_in(mask, value)) {
      switch (slot) {
        case 0:
          matrix1_slot<0>(set);
          break;
        case 1:
          matrix1_slot<1>(set);
          break;
        case 2:
          matrix1_slot<2>(set);
          break;
        case 3:
          matrix1_slot<3>(set);
          break;
        default:
          if constexpr (R > 4) matrix1_slot<4>(set);
          break;
      }
    }
    real += 8;
  }
  __device__ __forceinline__ void swap() {
    const std::uint32_t slot = next(), set = next(), mask = next(), value = next();
    if (!thread_in(mask, value)) return;
    switch (slot) {
      case 0:
        swap_slot<0>(set);
        break;
      case 1:
        swap_slot<1>(set);
        break;
      case 2:
        swap_slot<2>(set);
        break;
      case 3:
        swap_slot<3>(set);
        break;
      default:
        if constexpr (R > 4) swap_slot<4>(set);
        break;
    }
  }
  template <int P>
  __device__ __forceinline__ void matrix2_pair(std::uint32_t set) {
    constexpr int low = 1 << SlotPair<P>::low, high = 1 << SlotPair<P>::high;
    const Real* m = p.reals + real;
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if ((j & (low | high)) != 0) continue;
      if ((set >> j & 1) == 0) continue;
      const C in[4] = {a[j], a[j | low], a[j | high], a[j | low | high]};
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        C sum = times(C{m[r * 8], m[r * 8 + 1]}, in[0]);
#pragma unroll
        for (int c = 1; c < 4; ++c) sum = times_add(C{m[r * 8 + c * 2], m[r * 8 + c * 2 + 1]}, in[c], sum);
        a[j | (r & 1 ? low : 0) | (r & 2 ? high : 0)] = sum;
      }
    }
  }
  __device__ __forceinline__ void matrix2() {
    const std::uint32_t pair = next(), set = next(), mask = next(), value = next();
    if (thread_in(mask, value)) {
      switch (pair) {
        case 0:
          matrix2_pair<0>(set);
          break;
        case 1:
          matrix2_pair<1>(set);
          break;
        case 2:
          matrix2_pair<2>(set);
          break;
        case 3:
          matrix2_pair<3>(set);
          break;
        case 4:
          matrix2_pair<4>(set);
          break;
        case 5:
          matrix2_pair<5>(set);
          break;
        default:
          if constexpr (R > 4) {
            switch (pair) {
              case 6:
                matrix2_pair<6>(set);
                break;
              case 7:
                matrix2_pair<7>(set);
                break;
              case 8:
                matrix2_pair<8>(set);
                break;
              default:
                matrix2_pair<9>(set);
                break;
            }
          }
          break;
      }
    }
    real += 32;
  }

  // -- phases
  __device__ __forceinline__ C factor() {
    C value = {p.reals[real], p.reals[real + 1]};
    real += 2;
    const std::uint32_t head = next(), table = head & 4095, shared_factor = head >> 12 & 4095, entries = head >> 24;
    if (table != 0) value = times(value, table_entry(table - 1));
    if (shared_factor != 0) value = times(value, factors[shared_factor - 1]);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const std::uint32_t entry = next();
      if ((entry & kTurnedEntry) != 0) {
        C turned = table_entry(entry >> 20);
        turned.y *= factors[entry >> 8 & 4095].x;
        value = times(value, turned);
      } else if ((entry & kMirroredEntry) != 0) {
        C mirrored = factors[entry >> 8 & 4095];
        if ((__popc(threadIdx.x & entry >> 20) & 1) != 0) mirrored.y = -mirrored.y;
        value = times(value, mirrored);
      } else if ((entry & kParityEntry) != 0) {
        const std::uint32_t parity = __popcll(base & next64()) ^ __popc(threadIdx.x & entry >> 20);
        if ((parity & 1) != (entry >> 8 & 1)) value = {1, 0};
      } else if (threadIdx.x >> (entry & 255) & 1) {
        value = times(value, factors[entry >> 8]);
      }
    }
    return value;
  }
  __device__ __forceinline__ C table_entry(std::uint32_t table) const {
    return __ldg(p.tables + (static_cast<std::uint64_t>(table) << p.thread_bits) + threadIdx.x);
  }
  template <int P>
  __device__ __forceinline__ void pair_slots(bool everywhere, C f0, bool at_low, C f1, bool at_high, C f2, bool at_both,
                                             C f3) {
    constexpr int low = 1 << SlotPair<P>::low, high = 1 << SlotPair<P>::high;
    if (everywhere) {
#pragma unroll
      for (int j = 0; j < kRegisters; ++j) {
        if ((j & (low | high)) == 0) a[j] = times(a[j], f0);
      }
    }
    if (at_low) {
#pragma unroll
      for (int j = 0; j < kRegisters; ++j) {
        if ((j & (low | high)) == low) a[j] = times(a[j], f1);
      }
    }
    if (at_high) {
#pragma unroll
      for (int j = 0; j < kRegisters; ++j) {
        if ((j & (low | high)) == high) a[j] = times(a[j], f2);
      }
    }
    if (at_both) {
#pragma unroll
      for (int j = 0; j < kRegisters; ++j) {
        if ((j & (low | high)) == (low | high)) a[j] = times(a[j], f3);
      }
    }
  }
  __device__ __forceinline__ void pair() {
    const std::uint32_t number = next(), present = next();
    C f0 = {1, 0}, f1 = {1, 0}, f2 = {1, 0}, f3 = {1, 0};
    if (present & 1) f0 = factor();
    if (present & 2) f1 = factor();
    if (present & 4) f2 = factor();
    if (present & 8) f3 = factor();
    const bool everywhere = present & 1, at_low = present & 3, at_high = present & 5, at_both = present != 0;
    f3 = times(f3, times(f1, f2));
    if (everywhere) {
      f1 = times(f1, f0);
      f2 = times(f2, f0);
      f3 = times(f3, f0);
    }
    switch (number) {
      case 0:
        pair_slots<0>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      case 1:
        pair_slots<1>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      case 2:
        pair_slots<2>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      case 3:
        pair_slots<3>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      case 4:
        pair_slots<4>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      case 5:
        pair_slots<5>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
        break;
      default:
        if constexpr (R > 4) {
          switch (number) {
            case 6:
              pair_slots<6>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
              break;
            case 7:
              pair_slots<7>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
              break;
            case 8:
              pair_slots<8>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
              break;
            default:
              pair_slots<9>(everywhere, f0, at_low, f1, at_high, f2, at_both, f3);
              break;
          }
        }
        break;
    }
  }
  __device__ __forceinline__ void multiply() {
    const std::uint32_t set = next();
    const C f = factor();
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if (set >> j & 1) a[j] = times(a[j], f);
    }
  }
  __device__ __forceinline__ void scale() {
    const Real f = p.reals[real++];
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) a[j] = {a[j].x * f, a[j].y * f};
  }

  // -- through shared memory
  /// XOR of the next words (one a bit) where `number` has a 1; the first `count` of `total` words are used.
  __device__ __forceinline__ std::uint32_t columns(std::uint32_t number, std::uint32_t count) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) sum ^= next() & (0u - (number >> i & 1u));
    return sum;
  }
  __device__ __forceinline__ void write_tile(std::uint32_t thread_address, const std::uint32_t (&slot)[R]) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      std::uint32_t address = thread_address;
#pragma unroll
      for (int s = 0; s < R; ++s) {
        if (j >> s & 1) address ^= slot[s];
      }
      tile[address] = a[j];
    }
  }
  __device__ __forceinline__ void regroup() {
    const std::uint32_t head = next();
    const std::uint32_t both =
        __ldg(p.addresses + (static_cast<std::uint64_t>(head & 0xffffu) << p.thread_bits) + threadIdx.x);
    std::uint32_t thread_address = both & 0xffffu;
    std::uint32_t slot[R];
#pragma unroll
    for (int s = 0; s < R; ++s) slot[s] = next();
    const std::uint32_t guards = next();
    for (std::uint32_t g = 0; g < guards; ++g) {
      const std::uint64_t mask = next64(), value = next64();
      const std::uint32_t offset = next();
      if ((base & mask) == value) thread_address ^= offset;
    }
    if (tile_read && (others_read || (head >> 16 & 1) == 0)) __syncthreads();
    write_tile(thread_address, slot);
    thread_address = both >> 16;
#pragma unroll
    for (int s = 0; s < R; ++s) slot[s] = next();
    if (head >> 17 & 1)
      __syncwarp();
    else
      __syncthreads();
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      std::uint32_t address = thread_address;
#pragma unroll
      for (int s = 0; s < R; ++s) {
        if (j >> s & 1) address ^= slot[s];
      }
      a[j] = tile[address];
    }
    tile_read = true;
    others_read = false;
  }
  /// Matrix on any coordinates: each thread makes its own amplitudes from the whole group's in shared memory.
  __device__ __forceinline__ void dense();
};

template <class Real, int R>
__device__ __forceinline__ void Machine<Real, R>::dense() {
  const std::uint32_t targets = next(), first = next(), control_mask = next(), control_value = next();
  const std::uint32_t thread_address = columns(threadIdx.x, p.thread_bits);
  std::uint32_t slot[R], slot_coordinate[R];
#pragma unroll
  for (int s = 0; s < R; ++s) slot[s] = next();
  const std::uint32_t thread_coordinate = columns(threadIdx.x, p.thread_bits);
#pragma unroll
  for (int s = 0; s < R; ++s) slot_coordinate[s] = next();
  const std::uint32_t target_words = word;
  word += 2 * targets;
  if (tile_read) __syncthreads();
  write_tile(thread_address, slot);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kRegisters; ++j) {
    std::uint32_t address = thread_address, coordinate = thread_coordinate;
#pragma unroll
    for (int s = 0; s < R; ++s) {
      if (j >> s & 1) {
        address ^= slot[s];
        coordinate ^= slot_coordinate[s];
      }
    }
    if ((coordinate & control_mask) != control_value) continue;
    std::uint32_t row = 0;
    for (std::uint32_t t = 0; t < targets; ++t) {
      const std::uint32_t bit = (coordinate & p.words[target_words + targets + t]) != 0 ? 1u : 0u;
      row |= bit << t;
      if (bit) address ^= p.words[target_words + t];
    }
    C sum = {0, 0};
    std::uint32_t source = address;
    // Columns in Gray-code order: one address bit changes a step.
    for (std::uint32_t i = 0; i < 1u << targets; ++i) {
      const std::uint32_t column = i ^ i >> 1;
      sum = times_add(__ldg(p.dense + first + (row << targets) + column), tile[source], sum);
      const std::uint32_t turn = static_cast<std::uint32_t>(__ffs(static_cast<int>(i + 1))) - 1;
      if (turn < targets) source ^= p.words[target_words + turn];
    }
    a[j] = sum;
  }
  tile_read = others_read = true;
}

}  // namespace qsim::cuda
