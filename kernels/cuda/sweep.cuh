// The sweep interpreter. One block holds one tile of 2^(R + thread_bits) amplitudes, 2^R of them in the registers of
// each thread; a program of words and reals in constant memory says what happens to them. Bytes moved: each amplitude
// of the tile read once (where `reads`) and written once. Registers are only ever indexed by constants.
#pragma once

#include "kernels/cuda/norm.cuh"
#include "kernels/cuda/sweep_machine.cuh"

namespace qsim::cuda {

/// Tile factors exp(i pi sum): one thread each, spread over the warps.
template <class Real>
__device__ __forceinline__ void make_tile_factors(const SweepParams<Real>& p, std::uint64_t base,
                                                  Amplitude<Real>* factors) {
  const std::uint32_t warps = blockDim.x / 32, place = threadIdx.x / 32 + threadIdx.x % 32 * warps;
  for (std::uint32_t f = place; f < p.tile_factors; f += blockDim.x) {
    double sum = 0;
    for (std::uint32_t i = p.angle_begin[f]; i < p.angle_begin[f + 1]; ++i) {
      const TileAngle angle = p.angles[i];
      if ((base & angle.mask) == angle.mask) sum += angle.half_turns;
    }
    double sine, cosine;
    sincospi(sum, &sine, &cosine);
    factors[f] = {static_cast<Real>(cosine), static_cast<Real>(sine)};
  }
}

template <class Real, int R>
__device__ __forceinline__ void start_factors(const SweepParams<Real>& p, std::uint64_t base, Machine<Real, R>& m) {
  using C = Amplitude<Real>;
  C start = {p.start_constant[0], p.start_constant[1]};
  for (std::uint32_t b = 0; b < p.start_tile_count; ++b) {
    const int bit = (base & p.start_tile_bit[b]) != 0 ? 1 : 0;
    start = times(start, C{p.start_tile[b][bit][0], p.start_tile[b][bit][1]});
  }
  if (p.start_table >= 0) {
    start = times(start, __ldg(p.tables + (static_cast<std::uint64_t>(p.start_table) << p.thread_bits) + threadIdx.x));
  }
#pragma unroll
  for (int j = 0; j < Machine<Real, R>::kRegisters; ++j) m.a[j] = times(m.a[j], start);
#pragma unroll
  for (int s = 0; s < R; ++s) {
    if ((p.start_slots >> s & 1) == 0) continue;
#pragma unroll
    for (int j = 0; j < Machine<Real, R>::kRegisters; ++j) {
      m.a[j] = times(m.a[j], C{p.start_register[s][j >> s & 1][0], p.start_register[s][j >> s & 1][1]});
    }
  }
}

/// Columns past the block's bits are 0.
__device__ __forceinline__ std::uint64_t sum_columns(const std::uint64_t* column, std::uint32_t number) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < kMaxThreadBits; ++i) sum ^= column[i] & (0ull - (number >> i & 1u));
  return sum;
}

template <class Real, int R>
__global__ void __launch_bounds__(1 << kMaxThreadBits, 2)
    sweep_kernel(const __grid_constant__ SweepParams<Real> p, std::uint64_t first_tile) {
  using C = Amplitude<Real>;
  extern __shared__ __align__(16) unsigned char shared[];
  C* const tile = reinterpret_cast<C*>(shared);
  __shared__ C factors[kMaxTileFactors];
  __shared__ double norm_scratch[32];
  constexpr int kRegisters = 1 << R;

  const std::uint64_t number = first_tile + blockIdx.x;
  std::uint64_t base = p.base;
  for (std::uint32_t i = 0; i < p.runs; ++i) base |= number << p.run_shift[i] & p.run_mask[i];

  Machine<Real, R> m(p, tile, factors);
  m.base = base;
  if (p.reads && (base & p.zero_tiles) == 0) {
    const std::uint64_t from = base ^ sum_columns(p.load_thread, threadIdx.x);
    const bool dead = (threadIdx.x & p.dead_load_threads) != 0;
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      std::uint64_t offset = 0;
#pragma unroll
      for (int s = 0; s < R; ++s) {
        if (j >> s & 1) offset ^= p.load_slot[s];
      }
      m.a[j] = C{0, 0};
      if (!dead && (p.dead_load_registers >> j & 1) == 0) m.a[j] = fetch_amplitude(p.state + (from ^ offset));
    }
  } else {
    const bool zero = p.reads || (threadIdx.x & p.dead_load_threads) != 0;
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      m.a[j] = C{zero || (p.dead_load_registers >> j & 1) != 0 ? Real(0) : Real(1), Real(0)};
    }
  }
  if (p.tile_factors != 0) {
    make_tile_factors(p, base, factors);
    __syncthreads();
  }
  if (p.start_scaled) start_factors(p, base, m);

  for (bool running = true; running;) {
    switch (static_cast<Code>(m.next())) {
      case Code::kGuard: {
        const std::uint32_t words = m.next(), reals = m.next();
        const std::uint64_t mask = m.next64(), value = m.next64(), parity = m.next64();
        const std::uint32_t odd = m.next();
        if ((base & mask) != value || (parity != 0 && (__popcll(base & parity) & 1u) != odd)) {
          m.word += words;
          m.real += reals;
        }
        break;
      }
      case Code::kRotate:
        m.rotate();
        break;
      case Code::kMatrix1:
        m.matrix1();
        break;
      case Code::kMatrix2:
        m.matrix2();
        break;
      case Code::kDense:
        m.dense();
        break;
      case Code::kSwap:
        m.swap();
        break;
      case Code::kPair:
        m.pair();
        break;
      case Code::kMultiply:
        m.multiply();
        break;
      case Code::kScale:
        m.scale();
        break;
      case Code::kRegroup:
        m.regroup();
        break;
      case Code::kEnd:
        running = false;
        break;
    }
  }

  // Stores go to places that other threads load from.
  if (p.store_wait == 2)
    __syncthreads();
  else if (p.store_wait == 1)
    __syncwarp();

  // The guarded part of the store's offset follows the program's end: count, {mask, value, offset}.
  std::uint64_t to = base ^ sum_columns(p.store_thread, threadIdx.x) ^ p.store_offset;
  const std::uint32_t guards = m.next();
  for (std::uint32_t g = 0; g < guards; ++g) {
    const std::uint64_t mask = m.next64(), value = m.next64(), offset = m.next64();
    if ((base & mask) == value) to ^= offset;
  }
  const bool dead = (threadIdx.x & p.dead_store_threads) != 0;
  double norm = 0;
#pragma unroll
  for (int j = 0; j < kRegisters; ++j) {
    std::uint64_t offset = 0;
#pragma unroll
    for (int s = 0; s < R; ++s) {
      if (j >> s & 1) offset ^= p.store_slot[s];
    }
    if (!dead && (p.dead_store_registers >> j & 1) == 0) {
      p.state[to ^ offset] = m.a[j];
      if (p.norm != nullptr) {
        const double re = m.a[j].x, im = m.a[j].y;
        norm = fma(re, re, fma(im, im, norm));
      }
    }
  }
  if (p.norm != nullptr) add_norm(p.norm, norm, norm_scratch);
}

}  // namespace qsim::cuda
