// A group of vectors in registers: what micro-operations do to it.
#pragma once

#include <cstdint>

// What must be inlined for a group to stay in registers.
#define QSIM_INLINE __attribute__((always_inline))

namespace qsim::cpu {

/// The complex vectors of a group and what can be done to them. The arrays are indexed by constants alone, so that they
/// stay in registers.
template <typename S>
struct Group {
  using T = typename S::Real;
  using V = typename S::Register;
  static constexpr int kLanes = S::kLanes, kGroup = 1 << S::kRegisterBits;
  V re[kGroup], im[kGroup];

  template <typename Visit>
  QSIM_INLINE void each(Visit&& visit) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) visit(i);
  }
  /// visit(i0, i1) for the pairs that differ in register bit B and whose x0 is in `vectors`.
  template <int B, typename Visit>
  QSIM_INLINE void pairs(unsigned vectors, Visit&& visit) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) {
      if ((i >> B & 1) == 0 && (vectors >> i & 1) != 0) visit(i, i | 1 << B);
    }
  }

  QSIM_INLINE void multiply(int i, V cr, V ci) {
    const V product = S::fnmadd(im[i], ci, S::mul(re[i], cr));
    im[i] = S::fmadd(im[i], cr, S::mul(re[i], ci));
    re[i] = product;
  }
  QSIM_INLINE void diagonal(unsigned vectors, const T* table) {
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      multiply(i, S::load(table), S::load(table + kLanes));
      table += 2 * kLanes;
    });
  }
  /// The same with a table that has all vectors.
  QSIM_INLINE void tile_diagonal(unsigned vectors, const T* table) {
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      multiply(i, S::load(table + 2 * kLanes * i), S::load(table + 2 * kLanes * i + kLanes));
    });
  }
  QSIM_INLINE void factor(const T* c) {
    const V cr = S::set1(c[0]), ci = S::set1(c[1]);
    each([&](int i) QSIM_INLINE { multiply(i, cr, ci); });
  }

  // ---- 2x2 forms on register bit B; Micro says what each computes

  template <int B>
  QSIM_INLINE void shear_a(unsigned vectors, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]);
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = S::fmadd(c0, re[j], re[i]), m = S::fmadd(c0, im[j], im[i]);
      re[j] = S::fmadd(c1, re[i], re[j]);
      im[j] = S::fmadd(c1, im[i], im[j]);
      re[i] = r;
      im[i] = m;
    });
  }
  template <int B>
  QSIM_INLINE void shear_b(unsigned vectors, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]);
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = S::fmadd(c0, re[i], re[j]), m = S::fmadd(c0, im[i], im[j]);
      re[j] = S::fmadd(c1, re[j], re[i]);
      im[j] = S::fmadd(c1, im[j], im[i]);
      re[i] = r;
      im[i] = m;
    });
  }
  template <int B>
  QSIM_INLINE void shear_c(unsigned vectors, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]);
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = S::fmsub(c0, re[i], re[j]), m = S::fmsub(c0, im[i], im[j]);
      re[j] = S::fmadd(c1, re[j], re[i]);
      im[j] = S::fmadd(c1, im[j], im[i]);
      re[i] = r;
      im[i] = m;
    });
  }
  template <int B>
  QSIM_INLINE void cross_a(unsigned vectors, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]);
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = S::fnmadd(c0, im[j], re[i]), m = S::fmadd(c0, re[j], im[i]);
      const V rj = S::fnmadd(c1, im[i], re[j]);
      im[j] = S::fmadd(c1, re[i], im[j]);
      re[j] = rj;
      re[i] = r;
      im[i] = m;
    });
  }
  template <int B>
  QSIM_INLINE void cross_b(unsigned vectors, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]);
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = S::fnmadd(c0, im[i], re[j]), m = S::fmadd(c0, re[i], im[j]);
      const V rj = S::fnmadd(c1, im[j], re[i]);
      im[j] = S::fmadd(c1, re[j], im[i]);
      re[j] = rj;
      re[i] = r;
      im[i] = m;
    });
  }
  template <int B>
  QSIM_INLINE void real(unsigned vectors, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE { mix_real(i, j, c); });
  }
  template <int B>
  QSIM_INLINE void cross(unsigned vectors, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE { mix_cross(i, j, c); });
  }
  /// a x + b y with complex scalars at a and b.
  QSIM_INLINE static void combine(const T* a, V xr, V xi, const T* b, V yr, V yi, V& out_re, V& out_im) {
    const V ar = S::set1(a[0]), ai = S::set1(a[1]), br = S::set1(b[0]), bi = S::set1(b[1]);
    out_re = S::fmadd(ar, xr, S::fnmadd(ai, xi, S::fnmadd(bi, yi, S::mul(br, yr))));
    out_im = S::fmadd(ar, xi, S::fmadd(ai, xr, S::fmadd(bi, yr, S::mul(br, yi))));
  }
  /// x[i] and x[j] by a complex 2x2.
  QSIM_INLINE void mix(int i, int j, const T* c) {
    V r, m, rj, mj;
    combine(c, re[i], im[i], c + 2, re[j], im[j], r, m);
    combine(c + 4, re[i], im[i], c + 6, re[j], im[j], rj, mj);
    re[i] = r;
    im[i] = m;
    re[j] = rj;
    im[j] = mj;
  }
  template <int B>
  QSIM_INLINE void general(unsigned vectors, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE { mix(i, j, c); });
  }
  /// x[i] and x[j] by a real 2x2.
  QSIM_INLINE void mix_real(int i, int j, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]), c2 = S::set1(c[2]), c3 = S::set1(c[3]);
    const V r = S::fmadd(c0, re[i], S::mul(c1, re[j])), m = S::fmadd(c0, im[i], S::mul(c1, im[j]));
    re[j] = S::fmadd(c2, re[i], S::mul(c3, re[j]));
    im[j] = S::fmadd(c2, im[i], S::mul(c3, im[j]));
    re[i] = r;
    im[i] = m;
  }
  /// x[i] and x[j] by a 2x2 that is real on its diagonal and imaginary beside it.
  QSIM_INLINE void mix_cross(int i, int j, const T* c) {
    const V c0 = S::set1(c[0]), c1 = S::set1(c[1]), c2 = S::set1(c[2]), c3 = S::set1(c[3]);
    const V r = S::fnmadd(c1, im[j], S::mul(c0, re[i])), m = S::fmadd(c1, re[j], S::mul(c0, im[i]));
    const V rj = S::fnmadd(c2, im[i], S::mul(c3, re[j]));
    im[j] = S::fmadd(c2, re[i], S::mul(c3, im[j]));
    re[j] = rj;
    re[i] = r;
    im[i] = m;
  }
  /// visit(i, j, number of their 2x2) for x00 and x11, then for x01 and x10.
  template <int B0, int B1, typename Visit>
  QSIM_INLINE void parity_pairs(unsigned vectors, Visit&& visit) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) {
      if ((i >> B0 & 1) != 0 || (i >> B1 & 1) != 0 || (vectors >> i & 1) == 0) continue;
      visit(i, i | 1 << B0 | 1 << B1, 0);
      visit(i | 1 << B0, i | 1 << B1, 1);
    }
  }
  template <int B>
  QSIM_INLINE void general_masked(unsigned vectors, std::uint32_t lanes, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      V r, m, rj, mj;
      combine(c, re[i], im[i], c + 2, re[j], im[j], r, m);
      combine(c + 4, re[i], im[i], c + 6, re[j], im[j], rj, mj);
      re[i] = S::blend(lanes, re[i], r);
      im[i] = S::blend(lanes, im[i], m);
      re[j] = S::blend(lanes, re[j], rj);
      im[j] = S::blend(lanes, im[j], mj);
    });
  }
  template <int B>
  QSIM_INLINE void flip(unsigned vectors) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = re[i], m = im[i];
      re[i] = re[j];
      im[i] = im[j];
      re[j] = r;
      im[j] = m;
    });
  }
  template <int B>
  QSIM_INLINE void flip_masked(unsigned vectors, std::uint32_t lanes) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      const V r = re[i], m = im[i];
      re[i] = S::blend(lanes, re[i], re[j]);
      im[i] = S::blend(lanes, im[i], im[j]);
      re[j] = S::blend(lanes, re[j], r);
      im[j] = S::blend(lanes, im[j], m);
    });
  }

  // ---- 2x2 forms on lane bit L

  template <int L>
  QSIM_INLINE void lane_shear_a(const T* c) {
    const V c0 = S::load(c);
    each([&](int i) QSIM_INLINE {
      re[i] = S::fmadd(c0, S::template swap<L>(re[i]), re[i]);
      im[i] = S::fmadd(c0, S::template swap<L>(im[i]), im[i]);
    });
  }
  template <int L>
  QSIM_INLINE void lane_shear_b(const T* c) {
    const V c0 = S::load(c);
    each([&](int i) QSIM_INLINE {
      re[i] = S::fmadd(c0, re[i], S::template swap<L>(re[i]));
      im[i] = S::fmadd(c0, im[i], S::template swap<L>(im[i]));
    });
  }
  template <int L>
  QSIM_INLINE void lane_real(unsigned vectors, const T* c) {
    const V c0 = S::load(c), c1 = S::load(c + kLanes);
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      re[i] = S::fmadd(c0, re[i], S::mul(c1, S::template swap<L>(re[i])));
      im[i] = S::fmadd(c0, im[i], S::mul(c1, S::template swap<L>(im[i])));
    });
  }
  template <int L>
  QSIM_INLINE void lane_cross_a(const T* c) {
    const V c0 = S::load(c);
    each([&](int i) QSIM_INLINE {
      const V r = S::template swap<L>(re[i]);
      re[i] = S::fnmadd(c0, S::template swap<L>(im[i]), re[i]);
      im[i] = S::fmadd(c0, r, im[i]);
    });
  }
  template <int L>
  QSIM_INLINE void lane_flip(unsigned vectors, std::uint32_t lanes) {
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      re[i] = S::blend(lanes, re[i], S::template swap<L>(re[i]));
      im[i] = S::blend(lanes, im[i], S::template swap<L>(im[i]));
    });
  }
  template <int L>
  QSIM_INLINE void lane_cross_b(const T* c) {
    const V c0 = S::load(c);
    each([&](int i) QSIM_INLINE {
      const V r = S::fnmadd(c0, im[i], S::template swap<L>(re[i]));
      im[i] = S::fmadd(c0, re[i], S::template swap<L>(im[i]));
      re[i] = r;
    });
  }
  template <int L>
  QSIM_INLINE void lane_cross(unsigned vectors, const T* c) {
    const V c0 = S::load(c), c1 = S::load(c + kLanes);
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      const V r = S::template swap<L>(re[i]);
      re[i] = S::fnmadd(c1, S::template swap<L>(im[i]), S::mul(c0, re[i]));
      im[i] = S::fmadd(c1, r, S::mul(c0, im[i]));
    });
  }
  template <int L>
  QSIM_INLINE void lane_general(unsigned vectors, const T* c) {
    const V c0 = S::load(c), c1 = S::load(c + kLanes), c2 = S::load(c + 2 * kLanes), c3 = S::load(c + 3 * kLanes);
    each([&](int i) QSIM_INLINE {
      if ((vectors >> i & 1) == 0) return;
      const V sr = S::template swap<L>(re[i]), si = S::template swap<L>(im[i]);
      const V r = S::fmadd(c0, re[i], S::fnmadd(c1, im[i], S::fnmadd(c3, si, S::mul(c2, sr))));
      im[i] = S::fmadd(c0, im[i], S::fmadd(c1, re[i], S::fmadd(c3, sr, S::mul(c2, si))));
      re[i] = r;
    });
  }

  template <int L, int B>
  QSIM_INLINE void exchange() {
    pairs<B>(0xff, [&](int i, int j) QSIM_INLINE {
      S::template exchange<L>(re[i], re[j]);
      S::template exchange<L>(im[i], im[j]);
    });
  }

  /// Dense 4x4 on register bits B0 (low bit of the matrix index) and B1.
  template <int B0, int B1, bool kMasked>
  QSIM_INLINE void matrix4(unsigned vectors, std::uint32_t lanes, const T* c) {
#pragma GCC unroll 8
    for (int i = 0; i < kGroup; ++i) {
      if ((i >> B0 & 1) != 0 || (i >> B1 & 1) != 0 || (vectors >> i & 1) == 0) continue;
      const int at[4] = {i, i | 1 << B0, i | 1 << B1, i | 1 << B0 | 1 << B1};
      // By columns: eight sums that do not wait for one another, and no more registers than sixteen.
      V r[4], m[4];
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row) {
        const V er = S::set1(c[8 * row]), ei = S::set1(c[8 * row + 1]);
        r[row] = S::fnmadd(ei, im[i], S::mul(er, re[i]));
        m[row] = S::fmadd(ei, re[i], S::mul(er, im[i]));
      }
#pragma GCC unroll 4
      for (int column = 1; column < 4; ++column) {
        const V real = re[at[column]], imaginary = im[at[column]];
#pragma GCC unroll 4
        for (int row = 0; row < 4; ++row) {
          const V er = S::set1(c[8 * row + 2 * column]), ei = S::set1(c[8 * row + 2 * column + 1]);
          r[row] = S::fnmadd(ei, imaginary, S::fmadd(er, real, r[row]));
          m[row] = S::fmadd(ei, real, S::fmadd(er, imaginary, m[row]));
        }
      }
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row) {
        re[at[row]] = kMasked ? S::blend(lanes, re[at[row]], r[row]) : r[row];
        im[at[row]] = kMasked ? S::blend(lanes, im[at[row]], m[row]) : m[row];
      }
    }
  }

  /// re and im plus, at the beginning set to, a complex vector of coefficients times (xr, xi).
  template <bool kFirst>
  QSIM_INLINE static void take_in(const T* c, V xr, V xi, V& out_re, V& out_im) {
    const V cr = S::load(c), ci = S::load(c + kLanes);
    out_re = S::fnmadd(ci, xi, kFirst ? S::mul(cr, xr) : S::fmadd(cr, xr, out_re));
    out_im = S::fmadd(ci, xr, kFirst ? S::mul(cr, xi) : S::fmadd(cr, xi, out_im));
  }
  /// Dense 4x4 on register bit B and lane bit L.
  template <int B, int L>
  QSIM_INLINE void lane_matrix4(unsigned vectors, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      V r0, m0, r1, m1;
      take_in<true>(c, re[i], im[i], r0, m0);
      take_in<true>(c + 2 * kLanes, re[i], im[i], r1, m1);
      take_in<false>(c + 8 * kLanes, re[j], im[j], r0, m0);
      take_in<false>(c + 10 * kLanes, re[j], im[j], r1, m1);
      V sr = S::template swap<L>(re[i]), si = S::template swap<L>(im[i]);
      take_in<false>(c + 4 * kLanes, sr, si, r0, m0);
      take_in<false>(c + 6 * kLanes, sr, si, r1, m1);
      sr = S::template swap<L>(re[j]), si = S::template swap<L>(im[j]);
      take_in<false>(c + 12 * kLanes, sr, si, r0, m0);
      take_in<false>(c + 14 * kLanes, sr, si, r1, m1);
      re[i] = r0;
      im[i] = m0;
      re[j] = r1;
      im[j] = m1;
    });
  }
  template <int B, int L>
  QSIM_INLINE void lane_parity4(unsigned vectors, const T* c) {
    pairs<B>(vectors, [&](int i, int j) QSIM_INLINE {
      V r0, m0, r1, m1;
      take_in<true>(c, re[i], im[i], r0, m0);
      take_in<false>(c + 6 * kLanes, S::template swap<L>(re[j]), S::template swap<L>(im[j]), r0, m0);
      take_in<true>(c + 4 * kLanes, re[j], im[j], r1, m1);
      take_in<false>(c + 2 * kLanes, S::template swap<L>(re[i]), S::template swap<L>(im[i]), r1, m1);
      re[i] = r0;
      im[i] = m0;
      re[j] = r1;
      im[j] = m1;
    });
  }
};

}  // namespace qsim::cpu
