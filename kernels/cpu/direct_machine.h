// Applies the operations of a sweep to one tile in the plan's own words, a vector at a time: nothing is translated, so
// that a sweep which runs once costs no more than its arithmetic. A file for each instruction set instantiates it.
//
// The tile is in double precision whatever the state has, as vectors of V real parts and V imaginary parts each; bits
// of the plan are bits of a place in it: the lowest choose the lane, the others the vector.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cpu {

struct DirectMachine {
  int lane_bits = 0;
  /// Runs the operations of a sweep that has every bit active; the tile has at least one vector.
  void (*run)(const Sweep& sweep, double* tile, std::uint64_t vectors) = nullptr;
};
DirectMachine direct_machine_avx2();
DirectMachine direct_machine_avx512();

#ifdef QSIM_DIRECT_MACHINE_BODY
namespace {

/// Where an operation with controls acts: on vectors (v & mask) == value, in `lanes`.
struct Controls {
  Index mask = 0, value = 0;
  std::uint32_t lanes = 0;
  bool all_lanes = true;
};

template <typename S>
class DirectSweep {
 public:
  static void run(const Sweep& sweep, double* tile, std::uint64_t vectors) {
    DirectSweep machine(tile, vectors);
    for (const PlanOp& op : sweep.ops) {
      switch (op.form) {
        case Form::kMatrix:
          machine.matrix(op, sweep.matrices.data() + op.data_begin);
          break;
        case Form::kFlip:
          machine.flip(op);
          break;
        case Form::kPhases:
          for (std::uint32_t t = 0; t < op.data_count; ++t) machine.phase(op, sweep.phases[op.data_begin + t]);
          break;
      }
    }
  }

 private:
  using V = typename S::Register;
  static constexpr int kLanes = S::kLanes, kLaneBits = S::kLaneBits, kMostLanes = 16;
  static constexpr Index kLaneMask = kLanes - 1;

  /// A complex number a lane.
  struct Vector {
    V re, im;
  };
  struct LaneTable {
    alignas(64) double re[kMostLanes], im[kMostLanes];
    Vector factor() const { return {S::load(re), S::load(im)}; }
  };

  DirectSweep(double* tile, std::uint64_t vectors) : tile_(tile), vectors_(vectors) {}

  Vector get(Index v) const { return {S::load(tile_ + v * 2 * kLanes), S::load(tile_ + v * 2 * kLanes + kLanes)}; }
  void put(Index v, const Vector& x) {
    S::store(tile_ + v * 2 * kLanes, x.re);
    S::store(tile_ + v * 2 * kLanes + kLanes, x.im);
  }
  /// Where the lanes are controlled; the others keep what is `old`.
  void put(const Controls& where, Index v, const Vector& old, const Vector& x) {
    put(v, where.all_lanes ? x : Vector{S::blend(where.lanes, old.re, x.re), S::blend(where.lanes, old.im, x.im)});
  }

  static Vector broadcast(Complex c) { return {S::set1(c.real()), S::set1(c.imag())}; }
  static Vector product(const Vector& c, const Vector& x) {
    return {S::fnmadd(c.im, x.im, S::mul(c.re, x.re)), S::fmadd(c.im, x.re, S::mul(c.re, x.im))};
  }
  static Vector sum_of(const Vector& c, const Vector& x, const Vector& add) {
    return {S::fnmadd(c.im, x.im, S::fmadd(c.re, x.re, add.re)), S::fmadd(c.im, x.re, S::fmadd(c.re, x.im, add.im))};
  }
  static Vector scaled(V c, const Vector& x) { return {S::mul(c, x.re), S::mul(c, x.im)}; }
  static Vector scaled_sum(V c, const Vector& x, const Vector& add) {
    return {S::fmadd(c, x.re, add.re), S::fmadd(c, x.im, add.im)};
  }
  template <int L>
  static Vector swapped(const Vector& x) {
    return {S::template swap<L>(x.re), S::template swap<L>(x.im)};
  }

  static Controls controls(Index mask, Index value) {
    Controls made;
    made.mask = mask >> kLaneBits;
    made.value = value >> kLaneBits;
    const Index lane_mask = mask & kLaneMask, lane_value = value & kLaneMask;
    made.all_lanes = lane_mask == 0;
    for (Index lane = 0; lane < kLanes; ++lane) {
      if ((lane & lane_mask) == lane_value) made.lanes |= 1u << lane;
    }
    return made;
  }

  /// f of every vector that is 0 in the bits of `zeros` and is controlled.
  template <typename F>
  void each(Index zeros, const Controls& where, const F& f) {
    const Index free = (vectors_ - 1) & ~(zeros | where.mask);
    Index v = 0;
    do {
      f(v | where.value);
      v = (v - free) & free;
    } while (v != 0);
  }
  /// Two vectors that differ in `bit` become first(a, b) and second(a, b).
  template <typename First, typename Second>
  void each_pair(Index bit, const Controls& where, const First& first, const Second& second) {
    each(bit, where, [&](Index v) {
      const Vector a = get(v), b = get(v | bit);
      put(where, v, a, first(a, b));
      put(where, v | bit, b, second(a, b));
    });
  }
  /// F<L>() for the lane bit.
  template <typename F>
  static void with_lane(int lane_bit, const F& f) {
    if (lane_bit == 0) return f(std::integral_constant<int, 0>());
    if constexpr (kLaneBits > 1) {
      if (lane_bit == 1) return f(std::integral_constant<int, 1>());
    }
    if constexpr (kLaneBits > 2) {
      if (lane_bit == 2) return f(std::integral_constant<int, 2>());
    }
    static_assert(kLaneBits <= 3);
  }

  void matrix(const PlanOp& op, const Complex* m) {
    if (op.target_count == 1) {
      const Controls where = controls(op.control_mask, op.control_value);
      op.targets[0] < kLaneBits ? on_lane(op.targets[0], where, m) : on_vectors(op.targets[0] - kLaneBits, where, m);
    } else {
      on_many(op, m);
    }
  }

  void on_vectors(int vector_bit, const Controls& where, const Complex* m) {
    const Index bit = Index{1} << vector_bit;
    const bool real = m[0].imag() == 0 && m[1].imag() == 0 && m[2].imag() == 0 && m[3].imag() == 0;
    const Vector c[4] = {broadcast(m[0]), broadcast(m[1]), broadcast(m[2]), broadcast(m[3])};
    if (real) {
      each_pair(
          bit, where, [&](const Vector& a, const Vector& b) { return scaled_sum(c[1].re, b, scaled(c[0].re, a)); },
          [&](const Vector& a, const Vector& b) { return scaled_sum(c[3].re, b, scaled(c[2].re, a)); });
    } else {
      each_pair(
          bit, where, [&](const Vector& a, const Vector& b) { return sum_of(c[1], b, product(c[0], a)); },
          [&](const Vector& a, const Vector& b) { return sum_of(c[3], b, product(c[2], a)); });
    }
  }

  /// An amplitude's own coefficient and its partner's, by its lane.
  void on_lane(int lane_bit, const Controls& where, const Complex* m) {
    LaneTable own, other;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned row = lane >> lane_bit & 1;
      const bool on = (where.lanes >> lane & 1) != 0;
      const Complex mine = on ? m[3 * row] : Complex(1), partner = on ? m[row == 0 ? 1 : 2] : Complex(0);
      own.re[lane] = mine.real(), own.im[lane] = mine.imag();
      other.re[lane] = partner.real(), other.im[lane] = partner.imag();
    }
    const Vector a = own.factor(), b = other.factor();
    with_lane(lane_bit, [&](auto constant) {
      constexpr int L = decltype(constant)::value;
      each(0, where, [&](Index v) {
        const Vector x = get(v);
        put(v, sum_of(b, swapped<L>(x), product(a, x)));
      });
    });
  }

  // ---- several targets

  static Index bits_swapped(Index mask, unsigned a, unsigned b) {
    const Index differ = (mask >> a ^ mask >> b) & 1;
    return mask ^ (differ << a | differ << b);
  }

  /// Every amplitude goes to the place with the two bits exchanged.
  void exchange(unsigned lane_bit, unsigned bit) {
    const Index vector_bit = Index{1} << (bit - kLaneBits);
    with_lane(static_cast<int>(lane_bit), [&](auto constant) {
      constexpr int L = decltype(constant)::value;
      each(vector_bit, {}, [&](Index v) {
        Vector a = get(v), b = get(v | vector_bit);
        S::template exchange<L>(a.re, b.re);
        S::template exchange<L>(a.im, b.im);
        put(v, a);
        put(v | vector_bit, b);
      });
    });
  }

  void on_many(const PlanOp& op, const Complex* m) {
    Index target_mask = op.target_mask(), mask = op.control_mask, value = op.control_value;
    const Index high = (vectors_ - 1) << kLaneBits;
    if (count_bits(target_mask & kLaneMask) > count_bits(high & ~target_mask)) return one_by_one(op, m, target_mask);
    // Targets among the lanes trade places with other bits, and go back afterwards.
    std::array<Bit, kMaxMatrixTargets> targets = op.targets;
    std::array<std::pair<unsigned, unsigned>, kLaneBits> moved;
    unsigned moves = 0;
    for (unsigned j = 0; j < op.target_count; ++j) {
      if (targets[j] >= kLaneBits) continue;
      const unsigned lane = targets[j], bit = static_cast<unsigned>(std::countr_zero(high & ~target_mask));
      exchange(lane, bit);
      target_mask = bits_swapped(target_mask, lane, bit);
      mask = bits_swapped(mask, lane, bit);
      value = bits_swapped(value, lane, bit);
      targets[j] = static_cast<Bit>(bit);
      moved[moves++] = {lane, bit};
    }
    const Index order = bit_mask(op.target_count);
    std::array<Index, bit_mask(kMaxMatrixTargets)> offset{};
    for (Index i = 0; i < order; ++i) {
      for (unsigned j = 0; j < op.target_count; ++j) offset[i] |= (i >> j & 1) << (targets[j] - kLaneBits);
    }
    const Controls where = controls(mask, value);
    order == 4 ? multiply<4>(offset.data(), where, m, 4) : multiply<0>(offset.data(), where, m, order);
    while (moves > 0) {
      --moves;
      exchange(moved[moves].first, moved[moves].second);
    }
  }

  /// `kOrder`: the order where it is known when this is compiled, else 0.
  template <Index kOrder>
  void multiply(const Index* offset, const Controls& where, const Complex* m, Index any_order) {
    const Index order = kOrder == 0 ? any_order : kOrder;
    std::array<Vector, kOrder == 0 ? bit_mask(kMaxMatrixTargets) : kOrder> in;
    each(offset[order - 1], where, [&](Index v) {
      for (Index i = 0; i < order; ++i) in[i] = get(v | offset[i]);
      for (Index row = 0; row < order; ++row) {
        Vector out = product(broadcast(m[row * order]), in[0]);
        for (Index i = 1; i < order; ++i) out = sum_of(broadcast(m[row * order + i]), in[i], out);
        put(where, v | offset[row], in[row], out);
      }
    });
  }

  /// For tiles with too few vectors for that.
  void one_by_one(const PlanOp& op, const Complex* m, Index target_mask) {
    const Index order = bit_mask(op.target_count);
    std::array<Index, bit_mask(kMaxMatrixTargets)> offset{};
    for (Index i = 0; i < order; ++i) {
      for (unsigned j = 0; j < op.target_count; ++j) offset[i] |= (i >> j & 1) << op.targets[j];
    }
    const auto real_part = [&](Index place) { return tile_ + place / kLanes * 2 * kLanes + place % kLanes; };
    std::array<Complex, bit_mask(kMaxMatrixTargets)> in;
    for (Index place = 0; place < vectors_ * kLanes; ++place) {
      if ((place & target_mask) != 0 || (place & op.control_mask) != op.control_value) continue;
      for (Index i = 0; i < order; ++i) {
        const double* const at = real_part(place | offset[i]);
        in[i] = {at[0], at[kLanes]};
      }
      for (Index row = 0; row < order; ++row) {
        Complex out = 0;
        for (Index i = 0; i < order; ++i) out += m[row * order + i] * in[i];
        double* const at = real_part(place | offset[row]);
        at[0] = out.real();
        at[kLanes] = out.imag();
      }
    }
  }

  // ---- what permutes and what is diagonal

  void flip(const PlanOp& op) {
    const Controls where = controls(op.control_mask, op.control_value);
    if (op.targets[0] < kLaneBits) {
      with_lane(op.targets[0], [&](auto constant) {
        constexpr int L = decltype(constant)::value;
        each(0, where, [&](Index v) {
          const Vector x = get(v);
          put(where, v, x, swapped<L>(x));
        });
      });
      return;
    }
    each_pair(
        Index{1} << (op.targets[0] - kLaneBits), where, [](const Vector&, const Vector& b) { return b; },
        [](const Vector& a, const Vector&) { return a; });
  }

  void phase(const PlanOp& op, const PhaseTerm& term) {
    if (term.angle == 0) return;
    Index mask = op.control_mask, value = op.control_value;
    if (!term.parity) {
      // A phase that needs a 1 where the controls want a 0 happens nowhere.
      if ((term.mask & mask & ~value) != 0) return;
      mask |= term.mask;
      value |= term.mask;
    }
    const Controls where = controls(mask, value);
    const Index parity = term.parity ? term.mask : 0;
    const Complex turn = std::polar(1.0, term.angle);
    // By the parity of the vector's own bits; of a phase without parity the first is what acts.
    LaneTable table[2];
    for (unsigned odd = 0; odd < 2; ++odd) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const bool acts = !term.parity || odd_parity(lane & parity) != (odd != 0);
        const Complex c = acts && (where.lanes >> lane & 1) != 0 ? turn : Complex(1);
        table[odd].re[lane] = c.real();
        table[odd].im[lane] = c.imag();
      }
    }
    const Vector factors[2] = {table[0].factor(), table[1].factor()};
    each(0, where, [&](Index v) { put(v, product(factors[odd_parity(v & parity >> kLaneBits) ? 1 : 0], get(v))); });
  }

  double* tile_;
  std::uint64_t vectors_;
};

}  // namespace
#endif

}  // namespace qsim::cpu
