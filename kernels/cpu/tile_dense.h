// Dense matrices on 3 to 6 vector bits of a tile: products of small matrices with columns of vectors.
#pragma once

#include "kernels/cpu/tile_machine.h"

namespace qsim::cpu {

/// Order 2^kTargets: its columns are copied out, then rows are made four at a time in registers. In lanes outside
/// op.lanes and at vectors outside the group condition the tile stays as it is.
template <typename S>
template <int kTargets>
void Machine<S>::dense_order(const Pass& pass, const MicroOp& op) const {
  constexpr int kOrder = 1 << kTargets;
  std::uint64_t offset[kOrder];
  std::uint64_t others = ~std::uint64_t{0};
  for (int j = 0; j < kTargets; ++j) others &= ~(std::uint64_t{1} << pass.targets[j]);
  for (int v = 0; v < kOrder; ++v) {
    offset[v] = 0;
    for (int j = 0; j < kTargets; ++j) offset[v] |= std::uint64_t{static_cast<unsigned>(v >> j & 1)} << pass.targets[j];
  }
  T* const columns = reinterpret_cast<T*>(scratch_.dense);
  const T* const matrix = program_.coefficients + op.data;
  for (std::uint64_t g = 0; g < program_.vectors >> kTargets; ++g) {
    const std::uint64_t first = _pdep_u64(g, others);
    if ((first & op.group_mask) != op.group_value) continue;
    for (int v = 0; v < kOrder; ++v) {
      const T* const from = vector(first | offset[v]);
      put(columns + 2 * kLanes * v, S::load(from), S::load(from + kLanes));
    }
    for (int row = 0; row < kOrder; row += 4) {
      V re[4], im[4];
      for (int r = 0; r < 4; ++r) re[r] = im[r] = S::zero();
      for (int column = 0; column < kOrder; ++column) {
        const V xr = S::load(columns + 2 * kLanes * column), xi = S::load(columns + 2 * kLanes * column + kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) {
          const T* const e = matrix + 2 * ((row + r) * kOrder + column);
          const V er = S::set1(e[0]), ei = S::set1(e[1]);
          re[r] = S::fnmadd(ei, xi, S::fmadd(er, xr, re[r]));
          im[r] = S::fmadd(ei, xr, S::fmadd(er, xi, im[r]));
        }
      }
      for (int r = 0; r < 4; ++r) {
        T* const to = vector(first | offset[row + r]);
        put(to, S::blend(op.lanes, S::load(to), re[r]), S::blend(op.lanes, S::load(to + kLanes), im[r]));
      }
    }
  }
}

template <typename S>
void Machine<S>::run_dense(const Pass& pass) const {
  const MicroOp& op = program_.ops[pass.op_begin];
  if (!enabled(op)) return;
  switch (pass.target_count) {
    case 2:
      return dense_order<2>(pass, op);
    case 3:
      return dense_order<3>(pass, op);
    case 4:
      return dense_order<4>(pass, op);
    case 5:
      return dense_order<5>(pass, op);
    case 6:
      return dense_order<6>(pass, op);
    default:
      return;  // the translation emits no other
  }
}

}  // namespace qsim::cpu
