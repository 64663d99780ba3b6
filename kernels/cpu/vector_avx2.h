// 256-bit vectors of reals. Lane bit l of a vector is bit l of a value's place in it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace qsim::cpu::avx2 {

struct Floats {
  using Real = float;
  using Register = __m256;
  static constexpr int kLaneBits = 3, kRegisterBits = 2, kLanes = 8;
  static Register load(const float* p) { return _mm256_load_ps(p); }
  static Register load_any(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Register v) { _mm256_store_ps(p, v); }
  static void stream(float* p, Register v) { _mm256_stream_ps(p, v); }
  static Register set1(float v) { return _mm256_set1_ps(v); }
  static Register zero() { return _mm256_setzero_ps(); }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register fmadd(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  static Register fnmadd(Register a, Register b, Register c) { return _mm256_fnmadd_ps(a, b, c); }
  static Register fmsub(Register a, Register b, Register c) { return _mm256_fmsub_ps(a, b, c); }
  static Register blend(std::uint32_t lanes, Register off, Register on) {
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i chosen = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(lanes)), bits);
    return _mm256_blendv_ps(off, on, _mm256_castsi256_ps(_mm256_cmpeq_epi32(chosen, bits)));
  }
  template <int L>
  static Register swap(Register v) {
    if constexpr (L == 0) return _mm256_permute_ps(v, 0b10110001);
    if constexpr (L == 1) return _mm256_permute_ps(v, 0b01001110);
    if constexpr (L == 2) return _mm256_permute2f128_ps(v, v, 1);
  }
  /// Exchanges the lanes of `a` where lane bit L is 1 with those of `b` where it is 0.
  template <int L>
  static void exchange(Register& a, Register& b) {
    constexpr int ones[3] = {0xaa, 0xcc, 0xf0};
    const Register low = _mm256_blend_ps(a, swap<L>(b), ones[L]), high = _mm256_blend_ps(swap<L>(a), b, ones[L]);
    a = low;
    b = high;
  }
  /// Two vectors of (re, im) pairs <-> real parts and imaginary parts.
  static void split(Register a, Register b, Register& re, Register& im) {
    const Register low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    re = _mm256_shuffle_ps(low, high, 0b10001000);
    im = _mm256_shuffle_ps(low, high, 0b11011101);
  }
  static void join(Register re, Register im, Register& a, Register& b) {
    const Register low = _mm256_unpacklo_ps(re, im), high = _mm256_unpackhi_ps(re, im);
    a = _mm256_permute2f128_ps(low, high, 0x20);
    b = _mm256_permute2f128_ps(low, high, 0x31);
  }
  static double sum(Register v) {
    const __m256d all =
        _mm256_add_pd(_mm256_cvtps_pd(_mm256_castps256_ps128(v)), _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1)));
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd(all, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }
};

struct Doubles {
  using Real = double;
  using Register = __m256d;
  static constexpr int kLaneBits = 2, kRegisterBits = 2, kLanes = 4;
  static Register load(const double* p) { return _mm256_load_pd(p); }
  static Register load_any(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, Register v) { _mm256_store_pd(p, v); }
  static void stream(double* p, Register v) { _mm256_stream_pd(p, v); }
  static Register set1(double v) { return _mm256_set1_pd(v); }
  static Register zero() { return _mm256_setzero_pd(); }
  static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_pd(a, b); }
  static Register fmadd(Register a, Register b, Register c) { return _mm256_fmadd_pd(a, b, c); }
  static Register fnmadd(Register a, Register b, Register c) { return _mm256_fnmadd_pd(a, b, c); }
  static Register fmsub(Register a, Register b, Register c) { return _mm256_fmsub_pd(a, b, c); }
  static Register blend(std::uint32_t lanes, Register off, Register on) {
    const __m256i bits = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i chosen = _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(lanes)), bits);
    return _mm256_blendv_pd(off, on, _mm256_castsi256_pd(_mm256_cmpeq_epi64(chosen, bits)));
  }
  template <int L>
  static Register swap(Register v) {
    if constexpr (L == 0) return _mm256_permute_pd(v, 0b0101);
    if constexpr (L == 1) return _mm256_permute2f128_pd(v, v, 1);
  }
  template <int L>
  static void exchange(Register& a, Register& b) {
    constexpr int ones[2] = {0xa, 0xc};
    const Register low = _mm256_blend_pd(a, swap<L>(b), ones[L]), high = _mm256_blend_pd(swap<L>(a), b, ones[L]);
    a = low;
    b = high;
  }
  static void split(Register a, Register b, Register& re, Register& im) {
    const Register low = _mm256_permute2f128_pd(a, b, 0x20), high = _mm256_permute2f128_pd(a, b, 0x31);
    // low = a0 b0 (pairs), high = a1 b1: unpacking gives a0 a1 b0 b1.
    re = _mm256_unpacklo_pd(low, high);
    im = _mm256_unpackhi_pd(low, high);
  }
  static void join(Register re, Register im, Register& a, Register& b) {
    const Register low = _mm256_unpacklo_pd(re, im), high = _mm256_unpackhi_pd(re, im);
    a = _mm256_permute2f128_pd(low, high, 0x20);
    b = _mm256_permute2f128_pd(low, high, 0x31);
  }
  static double sum(Register v) {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
  }
};

}  // namespace qsim::cpu::avx2
