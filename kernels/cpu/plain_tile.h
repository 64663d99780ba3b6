// The operations of a sweep on one tile, one at a time and in the plan's own words: slow, obviously right, and all that
// the "scalar" instruction set has.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <span>

#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cpu {

/// The operation over places of a tile: `targets` in places, controls split into places and the tile's base.
struct PlainOp {
  const PlanOp* op = nullptr;
  std::array<Bit, kMaxMatrixTargets> targets{};
  Index place_mask = 0, place_value = 0;  // controls among the active bits
  Index base_mask = 0, base_value = 0;    // controls among the inactive bits
};

template <typename T>
void plain_matrix(const PlainOp& plain, const Complex* matrix, std::complex<T>* tile, Index size) {
  const unsigned targets = plain.op->target_count;
  const Index order = bit_mask(targets);
  Index target_mask = 0;
  std::array<Index, bit_mask(kMaxMatrixTargets)> offset{};
  for (Index v = 0; v < order; ++v) {
    for (unsigned j = 0; j < targets; ++j) offset[v] |= (v >> j & 1) << plain.targets[j];
  }
  target_mask = offset[order - 1];
  std::array<std::complex<double>, bit_mask(kMaxMatrixTargets)> in;
  for (Index place = 0; place < size; ++place) {
    if ((place & target_mask) != 0 || (place & plain.place_mask) != plain.place_value) continue;
    for (Index v = 0; v < order; ++v) in[v] = tile[place | offset[v]];
    for (Index row = 0; row < order; ++row) {
      Complex sum = 0;
      for (Index column = 0; column < order; ++column) sum += matrix[row * order + column] * in[column];
      tile[place | offset[row]] = std::complex<T>(sum);
    }
  }
}

template <typename T>
void plain_flip(const PlainOp& plain, std::complex<T>* tile, Index size) {
  const Index target = bit_mask(plain.targets[0]);
  for (Index place = 0; place < size; ++place) {
    if ((place & target) != 0 || (place & plain.place_mask) != plain.place_value) continue;
    std::swap(tile[place], tile[place | target]);
  }
}

template <typename T>
void plain_phases(const PlainOp& plain, std::span<const PhaseTerm> terms, std::span<const Index> active_offsets,
                  Index base, std::complex<T>* tile, Index size) {
  for (Index place = 0; place < size; ++place) {
    if ((place & plain.place_mask) != plain.place_value) continue;
    const Index index = base | active_offsets[place];
    double angle = 0;
    for (const PhaseTerm& term : terms) {
      const bool on = term.parity ? odd_parity(index & term.mask) : (index & term.mask) == term.mask;
      if (on) angle += term.angle;
    }
    tile[place] = std::complex<T>(Complex(tile[place]) * std::polar(1.0, angle));
  }
}

}  // namespace qsim::cpu
