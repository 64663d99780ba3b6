// A pass: groups of vectors are taken into registers, and micro-operations work on them there.
#pragma once

#include <type_traits>

#include "kernels/cpu/tile_machine.h"

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

/// visit(constant) with the constant equal to `value` < kCount.
template <int kCount, typename Visit>
QSIM_INLINE inline void with_constant(int value, Visit&& visit) {
  if (value == 0) return visit(std::integral_constant<int, 0>{});
  if constexpr (kCount > 3) {
    if (value == 3) return visit(std::integral_constant<int, 3>{});
  }
  if constexpr (kCount > 2) {
    if (value == 2) return visit(std::integral_constant<int, 2>{});
  }
  visit(std::integral_constant<int, 1>{});
}

/// visit(constant, constant) with the operation's two register bits, the lower one first: the only order that is
/// emitted.
template <int kCount, typename Visit>
QSIM_INLINE inline void with_two_bits(const MicroOp& op, Visit&& visit) {
  with_constant<kCount>(op.bit, [&](auto b) QSIM_INLINE {
    with_constant<kCount>(op.other, [&](auto b1) QSIM_INLINE {
      if constexpr (b.value < b1.value) visit(b, b1);
    });
  });
}

template <typename S>
template <typename Wanted, typename Visit>
QSIM_INLINE inline void Machine<S>::each_group(const Walk& walk, std::uint64_t begin, std::uint64_t end,
                                               Wanted&& wanted, Visit&& visit) const {
  for (std::uint64_t g = begin; g < end; ++g) {
    const std::uint64_t first = _pdep_u64(g, walk.others);
    if (!wanted(g, first)) continue;
    T* const at = vector(first);
    Group<S> x;
    x.each([&](int i) QSIM_INLINE {
      x.re[i] = S::load(at + walk.offset[i]);
      x.im[i] = S::load(at + walk.offset[i] + kLanes);
    });
    visit(x, g, first);
    x.each([&](int i) QSIM_INLINE {
      S::store(at + walk.offset[i], x.re[i]);
      S::store(at + walk.offset[i] + kLanes, x.im[i]);
    });
  }
}

/// Micro-operations with so much arithmetic that a walk over the groups of their own pays: the compiler gives it all
/// registers, and nothing is chosen inside it.
constexpr bool walks_alone(Micro kind) {
  return kind == Micro::kMatrix4 || kind == Micro::kMatrix4Masked || kind == Micro::kParity4 ||
         kind == Micro::kLaneMatrix4 || kind == Micro::kLaneParity4;
}

template <typename S>
void Machine<S>::run_pass(std::uint32_t number) const {
  const Pass& pass = program_.passes[number];
  const std::uint64_t first_step = number * groups();
  std::uint32_t count = 0;
  bool alone = false;
  for (std::uint32_t i = pass.op_begin; i < pass.op_end; ++i) {
    const MicroOp& op = program_.ops[i];
    if (!enabled(op)) continue;
    scratch_.enabled[count++] = &op;
    alone = alone || walks_alone(op.kind);
  }
  if (count == 0) return load_ahead(first_step, first_step + groups());
  const MicroOp* const* const ops = scratch_.enabled;
  const Walk walk(pass);
  if (!alone) return walk_together(walk, ops, count, 0, groups(), first_step);
  // By pieces of the tile that stay in the first cache from one walk to the next.
  constexpr std::uint64_t kPiece = 32;
  for (std::uint64_t begin = 0; begin < groups(); begin += kPiece) {
    const std::uint64_t end = begin + kPiece < groups() ? begin + kPiece : groups();
    load_ahead(first_step + begin, first_step + end);
    for (std::uint32_t i = 0; i < count;) {
      std::uint32_t next = i;
      while (next < count && !walks_alone(ops[next]->kind)) ++next;
      if (next > i) {
        walk_together(walk, ops + i, next - i, begin, end, kNowhere);
      } else {
        walk_alone(walk, *ops[next++], begin, end);
      }
      i = next;
    }
  }
}

template <typename S>
void Machine<S>::walk_alone(const Walk& walk, const MicroOp& op, std::uint64_t begin, std::uint64_t end) const {
  const T* const c = program_.coefficients + op.data;
  const std::uint64_t mask = op.group_mask, value = op.group_value;
  const auto each = [&](auto&& act) QSIM_INLINE {
    each_group(
        walk, begin, end, [&](std::uint64_t, std::uint64_t first) QSIM_INLINE { return (first & mask) == value; },
        [&](Group<S>& x, std::uint64_t, std::uint64_t) QSIM_INLINE { act(x); });
  };
  if (op.kind == Micro::kLaneMatrix4 || op.kind == Micro::kLaneParity4) {
    return with_constant<kRegisterBits>(op.bit, [&](auto b) QSIM_INLINE {
      with_constant<S::kLaneBits>(op.other, [&](auto l) QSIM_INLINE {
        if (op.kind == Micro::kLaneMatrix4) {
          each([&](Group<S>& x) QSIM_INLINE { x.template lane_matrix4<b.value, l.value>(op.vectors, c); });
        } else {
          each([&](Group<S>& x) QSIM_INLINE { x.template lane_parity4<b.value, l.value>(op.vectors, c); });
        }
      });
    });
  }
  with_two_bits<kRegisterBits>(op, [&](auto low, auto high) QSIM_INLINE {
    if (op.kind == Micro::kMatrix4) {
      each([&](Group<S>& x) QSIM_INLINE { x.template matrix4<low.value, high.value, false>(op.vectors, op.lanes, c); });
    } else if (op.kind == Micro::kMatrix4Masked) {
      each([&](Group<S>& x) QSIM_INLINE { x.template matrix4<low.value, high.value, true>(op.vectors, op.lanes, c); });
    } else {
      each([&](Group<S>& x) QSIM_INLINE {
        x.template parity_pairs<low.value, high.value>(
            op.vectors, [&](int a, int b, int which) QSIM_INLINE { x.mix(a, b, c + 8 * which); });
      });
    }
  });
}

template <typename S>
void Machine<S>::walk_together(const Walk& walk, const MicroOp* const* ops, std::uint32_t count, std::uint64_t begin,
                               std::uint64_t end, std::uint64_t first_step) const {
  constexpr int kR = kRegisterBits, kL = S::kLaneBits;
  const auto wanted = [&](std::uint64_t g, std::uint64_t) QSIM_INLINE {
    if (first_step != kNowhere) load_ahead(first_step + g, first_step + g + 1);
    return true;
  };
  each_group(walk, begin, end, wanted, [&](Group<S>& x, std::uint64_t g, std::uint64_t first) QSIM_INLINE {
    for (std::uint32_t i = 0; i < count; ++i) {
      const MicroOp& op = *ops[i];
      const T* const c = program_.coefficients + op.data;
      if (op.kind != Micro::kDiagonal && (first & op.group_mask) != op.group_value) continue;
      switch (op.kind) {
        case Micro::kDiagonal:
          x.diagonal(op.vectors, c + _pext_u64(first, op.group_mask) * op.table_stride);
          break;
        case Micro::kTileDiagonal:
          x.tile_diagonal(op.vectors, scratch_.tables + op.data * table_reals());
          break;
        case Micro::kGroupFactor:
          x.factor(scratch_.tables + op.data * table_reals() + 2 * kLanes * kGroup + 2 * g);
          break;
        case Micro::kShearA:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template shear_a<b.value>(op.vectors, c); });
          break;
        case Micro::kShearB:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template shear_b<b.value>(op.vectors, c); });
          break;
        case Micro::kShearC:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template shear_c<b.value>(op.vectors, c); });
          break;
        case Micro::kCrossA:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template cross_a<b.value>(op.vectors, c); });
          break;
        case Micro::kCrossB:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template cross_b<b.value>(op.vectors, c); });
          break;
        case Micro::kReal:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template real<b.value>(op.vectors, c); });
          break;
        case Micro::kCross:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template cross<b.value>(op.vectors, c); });
          break;
        case Micro::kGeneral:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template general<b.value>(op.vectors, c); });
          break;
        case Micro::kGeneralMasked:
          with_constant<kR>(op.bit,
                            [&](auto b) QSIM_INLINE { x.template general_masked<b.value>(op.vectors, op.lanes, c); });
          break;
        case Micro::kFlip:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template flip<b.value>(op.vectors); });
          break;
        case Micro::kFlipMasked:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE { x.template flip_masked<b.value>(op.vectors, op.lanes); });
          break;
        case Micro::kLaneShearA:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_shear_a<l.value>(c); });
          break;
        case Micro::kLaneShearB:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_shear_b<l.value>(c); });
          break;
        case Micro::kLaneReal:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_real<l.value>(op.vectors, c); });
          break;
        case Micro::kLaneCrossA:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_cross_a<l.value>(c); });
          break;
        case Micro::kLaneFlip:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_flip<l.value>(op.vectors, op.lanes); });
          break;
        case Micro::kLaneCrossB:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_cross_b<l.value>(c); });
          break;
        case Micro::kLaneCross:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_cross<l.value>(op.vectors, c); });
          break;
        case Micro::kLaneGeneral:
          with_constant<kL>(op.bit, [&](auto l) QSIM_INLINE { x.template lane_general<l.value>(op.vectors, c); });
          break;
        case Micro::kExchange:
          with_constant<kR>(op.bit, [&](auto b) QSIM_INLINE {
            with_constant<kL>(op.other, [&](auto l) QSIM_INLINE { x.template exchange<l.value, b.value>(); });
          });
          break;
        case Micro::kParityReal:
          with_two_bits<kR>(op, [&](auto low, auto high) QSIM_INLINE {
            x.template parity_pairs<low.value, high.value>(
                op.vectors, [&](int a, int b, int which) QSIM_INLINE { x.mix_real(a, b, c + 4 * which); });
          });
          break;
        case Micro::kParityCross:
          with_two_bits<kR>(op, [&](auto low, auto high) QSIM_INLINE {
            x.template parity_pairs<low.value, high.value>(
                op.vectors, [&](int a, int b, int which) QSIM_INLINE { x.mix_cross(a, b, c + 4 * which); });
          });
          break;
        case Micro::kMatrix4:
        case Micro::kMatrix4Masked:
        case Micro::kParity4:
        case Micro::kLaneMatrix4:
        case Micro::kLaneParity4:
          break;  // walk alone
      }
    }
  });
}

}  // namespace qsim::cpu
