// Read-only loops over one block of amplitudes: sums in double whatever the state's precision. A block is short enough
// for plain sums; callers add blocks up with compensation, in an order that does not depend on threads.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "device/numbers/probability.h"
#include "qsim/types.h"
#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace qsim::cpu {

constexpr int kBlockBits = 12;  // amplitudes of a block: 2^kBlockBits, or fewer in small states
constexpr Index kBlock = Index{1} << kBlockBits;

template <typename T>
constexpr Index kLineAmplitudes = 64 / sizeof(std::complex<T>);  // of a cache line

/// Asks for the line that a walk over memory needs some way behind `a`: processors that do not see the walk themselves
/// wait for every line. It may lie beyond the state.
template <typename T>
__attribute__((always_inline)) inline void ask_ahead(const std::complex<T>* a) {
  constexpr std::uintptr_t kBytes = 2048;
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(a) + kBytes), 0, 3);
}

/// Sum of |a|^2 over `count` amplitudes, in eight interleaved partial sums.
template <typename T>
double norm_block(const std::complex<T>* a, Index count) {
  double partial[8] = {};
  Index i = 0;
  for (; i + 8 <= count; i += 8) {
    for (Index lane = 0; lane < 8; lane += kLineAmplitudes<T>) ask_ahead(a + i + lane);
    for (Index lane = 0; lane < 8; ++lane) partial[lane] += probability(a[i + lane]);
  }
  for (; i < count; ++i) partial[0] += probability(a[i]);
  return ((partial[0] + partial[4]) + (partial[2] + partial[6])) +
         ((partial[1] + partial[5]) + (partial[3] + partial[7]));
}

/// probability_units of two amplitudes.
struct PairUnits {
  std::uint64_t even = 0, odd = 0;
};
#if defined(__SSE2__) && defined(__x86_64__)
/// Takes the real and imaginary part of each; rounds as probability() and probability_units() do, without their call.
inline PairUnits pair_units(__m128d even, __m128d odd) {
  even = _mm_mul_pd(even, even);
  odd = _mm_mul_pd(odd, odd);
  const __m128d both = _mm_add_pd(_mm_unpacklo_pd(even, odd), _mm_unpackhi_pd(even, odd));
  const __m128d units = _mm_mul_pd(both, _mm_set1_pd(0x1p62));
  return {static_cast<std::uint64_t>(_mm_cvtsd_si64(units)),
          static_cast<std::uint64_t>(_mm_cvtsd_si64(_mm_unpackhi_pd(units, units)))};
}
inline PairUnits pair_units(const std::complex<double>* a) {
  const auto* const parts = reinterpret_cast<const double*>(a);
  return pair_units(_mm_loadu_pd(parts), _mm_loadu_pd(parts + 2));
}
inline PairUnits pair_units(const std::complex<float>* a) {
  const __m128 parts = _mm_loadu_ps(reinterpret_cast<const float*>(a));
  return pair_units(_mm_cvtps_pd(parts), _mm_cvtps_pd(_mm_movehl_ps(parts, parts)));
}
#else
template <typename T>
PairUnits pair_units(const std::complex<T>* a) {
  return {probability_units(probability(a[0])), probability_units(probability(a[1]))};
}
#endif

/// out[j] = sum of |a|^2 where bit j of the place in the block is 1, j < bits; out[bits] = sum of all. `work` holds
/// 2^bits doubles.
template <typename T>
void bit_block(const std::complex<T>* a, int bits, double* out, double* work) {
  Index size = Index{1} << bits;
  for (Index i = 0; i < size; ++i) {
    if (i % kLineAmplitudes<T> == 0) ask_ahead(a + i);
    work[i] = probability(a[i]);
  }
  for (int bit = bits; bit-- > 0;) {
    size /= 2;
    double partial[4] = {};
    for (Index i = 0; i < size; ++i) {
      partial[i & 3] += work[size + i];
      work[i] += work[size + i];
    }
    out[bit] = (partial[0] + partial[2]) + (partial[1] + partial[3]);
  }
  out[bits] = work[0];
}

/// re + i im [j] = conj(partner[j ^ flip]) a[j], for `count` amplitudes.
template <typename T>
void product_block(const std::complex<T>* a, const std::complex<T>* partner, Index flip, Index count, double* re,
                   double* im) {
  for (Index j = 0; j < count; ++j) {
    const std::complex<T> p = partner[j ^ flip];
    const double ar = a[j].real(), ai = a[j].imag(), pr = p.real(), pi = p.imag();
    re[j] = ar * pr + ai * pi;
    im[j] = ai * pr - ar * pi;
  }
}

/// Sums pairs that differ in a bit outside `used`, then takes the Walsh-Hadamard transform over the used bits:
/// afterwards values[extract_bits(z, used)] = sum of values[j] (-1)^popcount(j & z) for every z inside `used`.
inline void signed_sums(double* values, int bits, Index used) {
  for (int bit = bits; bit-- > 0;) {
    if (used >> bit & 1) continue;
    const Index step = Index{1} << bit, size = Index{1} << bits;
    Index to = 0;
    for (Index block = 0; block < size; block += 2 * step) {
      for (Index i = block; i < block + step; ++i) values[to++] = values[i] + values[i + step];
    }
    --bits;
  }
  for (Index step = 1; step < Index{1} << bits; step *= 2) {
    for (Index block = 0; block < Index{1} << bits; block += 2 * step) {
      for (Index i = block; i < block + step; ++i) {
        const double zero = values[i], one = values[i + step];
        values[i] = zero + one;
        values[i + step] = zero - one;
      }
    }
  }
}

}  // namespace qsim::cpu
