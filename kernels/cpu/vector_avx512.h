// 512-bit vectors of reals. Lane bit l of a vector is bit l of a value's place in it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace qsim::cpu::avx512 {

struct Floats {
  using Real = float;
  using Register = __m512;
  static constexpr int kLaneBits = 4, kRegisterBits = 3, kLanes = 16;
  static Register load(const float* p) { return _mm512_load_ps(p); }
  static Register load_any(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Register v) { _mm512_store_ps(p, v); }
  static void stream(float* p, Register v) { _mm512_stream_ps(p, v); }
  static Register set1(float v) { return _mm512_set1_ps(v); }
  static Register zero() { return _mm512_setzero_ps(); }
  static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
  static Register fmadd(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
  static Register fnmadd(Register a, Register b, Register c) { return _mm512_fnmadd_ps(a, b, c); }
  static Register fmsub(Register a, Register b, Register c) { return _mm512_fmsub_ps(a, b, c); }
  static Register blend(std::uint32_t lanes, Register off, Register on) {
    return _mm512_mask_blend_ps(static_cast<__mmask16>(lanes), off, on);
  }
  template <int L>
  static Register swap(Register v) {
    if constexpr (L == 0) return _mm512_permute_ps(v, 0b10110001);
    if constexpr (L == 1) return _mm512_permute_ps(v, 0b01001110);
    if constexpr (L == 2) return _mm512_shuffle_f32x4(v, v, 0b10110001);
    if constexpr (L == 3) return _mm512_shuffle_f32x4(v, v, 0b01001110);
  }
  /// swap<L>(on) in the lanes of `lanes`, else `off`: one instruction.
  template <int L>
  static Register swap_into(std::uint32_t lanes, Register off, Register on) {
    const auto mask = static_cast<__mmask16>(lanes);
    if constexpr (L == 0) return _mm512_mask_permute_ps(off, mask, on, 0b10110001);
    if constexpr (L == 1) return _mm512_mask_permute_ps(off, mask, on, 0b01001110);
    if constexpr (L == 2) return _mm512_mask_shuffle_f32x4(off, mask, on, on, 0b10110001);
    if constexpr (L == 3) return _mm512_mask_shuffle_f32x4(off, mask, on, on, 0b01001110);
  }
  /// Exchanges the lanes of `a` where lane bit L is 1 with those of `b` where it is 0.
  template <int L>
  static void exchange(Register& a, Register& b) {
    constexpr std::uint32_t ones[4] = {0xaaaa, 0xcccc, 0xf0f0, 0xff00};
    const Register low = swap_into<L>(ones[L], a, b), high = swap_into<L>(0xffff & ~ones[L], b, a);
    a = low;
    b = high;
  }
  /// Two vectors of (re, im) pairs <-> real parts and imaginary parts.
  static void split(Register a, Register b, Register& re, Register& im) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    re = _mm512_permutex2var_ps(a, even, b);
    im = _mm512_permutex2var_ps(a, odd, b);
  }
  static void join(Register re, Register im, Register& a, Register& b) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    a = _mm512_permutex2var_ps(re, low, im);
    b = _mm512_permutex2var_ps(re, high, im);
  }
  static double sum(Register v) {
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
    return _mm512_reduce_add_pd(_mm512_add_pd(low, high));
  }
};

struct Doubles {
  using Real = double;
  using Register = __m512d;
  static constexpr int kLaneBits = 3, kRegisterBits = 3, kLanes = 8;
  static Register load(const double* p) { return _mm512_load_pd(p); }
  static Register load_any(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, Register v) { _mm512_store_pd(p, v); }
  static void stream(double* p, Register v) { _mm512_stream_pd(p, v); }
  static Register set1(double v) { return _mm512_set1_pd(v); }
  static Register zero() { return _mm512_setzero_pd(); }
  static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_pd(a, b); }
  static Register fmadd(Register a, Register b, Register c) { return _mm512_fmadd_pd(a, b, c); }
  static Register fnmadd(Register a, Register b, Register c) { return _mm512_fnmadd_pd(a, b, c); }
  static Register fmsub(Register a, Register b, Register c) { return _mm512_fmsub_pd(a, b, c); }
  static Register blend(std::uint32_t lanes, Register off, Register on) {
    return _mm512_mask_blend_pd(static_cast<__mmask8>(lanes), off, on);
  }
  template <int L>
  static Register swap(Register v) {
    if constexpr (L == 0) return _mm512_permute_pd(v, 0b01010101);
    if constexpr (L == 1) return _mm512_shuffle_f64x2(v, v, 0b10110001);
    if constexpr (L == 2) return _mm512_shuffle_f64x2(v, v, 0b01001110);
  }
  template <int L>
  static Register swap_into(std::uint32_t lanes, Register off, Register on) {
    const auto mask = static_cast<__mmask8>(lanes);
    if constexpr (L == 0) return _mm512_mask_permute_pd(off, mask, on, 0b01010101);
    if constexpr (L == 1) return _mm512_mask_shuffle_f64x2(off, mask, on, on, 0b10110001);
    if constexpr (L == 2) return _mm512_mask_shuffle_f64x2(off, mask, on, on, 0b01001110);
  }
  template <int L>
  static void exchange(Register& a, Register& b) {
    constexpr std::uint32_t ones[3] = {0xaa, 0xcc, 0xf0};
    const Register low = swap_into<L>(ones[L], a, b), high = swap_into<L>(0xff & ~ones[L], b, a);
    a = low;
    b = high;
  }
  static void split(Register a, Register b, Register& re, Register& im) {
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    re = _mm512_permutex2var_pd(a, even, b);
    im = _mm512_permutex2var_pd(a, odd, b);
  }
  static void join(Register re, Register im, Register& a, Register& b) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    a = _mm512_permutex2var_pd(re, low, im);
    b = _mm512_permutex2var_pd(re, high, im);
  }
  static double sum(Register v) { return _mm512_reduce_add_pd(v); }
};

}  // namespace qsim::cpu::avx512
