// A pass: groups of vectors are taken into registers, and micro-operations work on them there.
#pragma once

#include <type_traits>

#include "kernels/cpu/tile_group.h"
#include "kernels/cpu/tile_machine.h"

namespace qsim::cpu {

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
