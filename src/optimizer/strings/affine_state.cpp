#include "optimizer/strings/affine_state.h"

#include <bit>
#include <utility>

namespace qsim {
namespace {

using Kind = CliffordGate::Kind;

}  // namespace

void AffineState::apply(const CliffordGate& gate) {
  const auto [a, b] = gate.wires;
  const auto phase = [&](unsigned quarters) { add_phase(value_[a], (flipped_ >> a & 1) != 0, quarters); };
  switch (gate.kind) {
    case Kind::kH:
      return turn(a);
    case Kind::kS:
      return phase(1);
    case Kind::kInverseS:
      return phase(3);
    case Kind::kZ:
      return phase(2);
    case Kind::kX:
      flipped_ ^= bit_mask(a);
      return;
    case Kind::kCx:
      return flip(b, a);
    case Kind::kCz:
      return add_product(a, b);
    case Kind::kSwap:
      for (const auto& [target, control] : {std::pair{a, b}, {b, a}, {a, b}}) flip(target, control);
      return;
  }
}

void AffineState::apply_inverse(CliffordGate gate) {
  if (gate.kind == Kind::kS || gate.kind == Kind::kInverseS) {
    gate.kind = gate.kind == Kind::kS ? Kind::kInverseS : Kind::kS;
  }
  apply(gate);
}

std::optional<unsigned> AffineState::phase_of_zero() const {
  if (used_ != 0 || flipped_ != 0) return std::nullopt;
  return eighths_;
}

void AffineState::toggle_pair(unsigned a, unsigned b) {
  beside_[a] ^= bit_mask(b);
  beside_[b] ^= bit_mask(a);
}

void AffineState::add_phase(Index variables, bool flipped, unsigned quarters) {
  if (flipped) {  // of 1 - y
    eighths_ = (eighths_ + 2 * quarters) & 7;
    quarters = (4 - quarters) & 3;
  }
  // As a number the sum modulo 2 is the sum less twice the products of two, and so on, of which i^4 sees no more.
  for_each_bit(variables, [&](unsigned v) {
    quarters_[v] = (quarters_[v] + quarters) & 3;
    if ((quarters & 1) != 0) beside_[v] ^= variables & ~bit_mask(v);
  });
}

void AffineState::add_product(Qubit a, Qubit b) {
  const bool flipped_a = (flipped_ >> a & 1) != 0, flipped_b = (flipped_ >> b & 1) != 0;
  for_each_bit(value_[a], [&](unsigned v) {
    for_each_bit(value_[b], [&](unsigned w) {
      if (v == w) {
        quarters_[v] ^= 2;
      } else {
        toggle_pair(v, w);
      }
    });
  });
  if (flipped_a) add_phase(value_[b], false, 2);
  if (flipped_b) add_phase(value_[a], false, 2);
  if (flipped_a && flipped_b) eighths_ ^= 4;
}

std::pair<unsigned, Index> AffineState::take_out(unsigned v) {
  const Index beside = std::exchange(beside_[v], 0);
  for_each_bit(beside, [&](unsigned w) { beside_[w] &= ~bit_mask(v); });
  return {std::exchange(quarters_[v], 0), beside};
}

void AffineState::substitute(unsigned v, Index variables, bool flipped) {
  const auto [quarters, beside] = take_out(v);
  for (Qubit wire = 0; wire < value_.size(); ++wire) {
    if ((value_[wire] >> v & 1) == 0) continue;
    value_[wire] ^= bit_mask(v) ^ variables;
    if (flipped) flipped_ ^= bit_mask(wire);
  }
  add_phase(variables, flipped, quarters);
  for_each_bit(beside, [&](unsigned w) {
    if (flipped) quarters_[w] ^= 2;
    for_each_bit(variables, [&](unsigned u) {
      if (u == w) {
        quarters_[w] ^= 2;
      } else {
        toggle_pair(u, w);
      }
    });
  });
}

void AffineState::settle(unsigned v, Qubit wire) {
  wire_of_[v] = wire;
  const bool flipped = (flipped_ >> wire & 1) != 0;
  if (value_[wire] != bit_mask(v)) substitute(v, value_[wire], flipped);
}

std::optional<unsigned> AffineState::own_of(Qubit wire) const {
  for (Index left = used_; left != 0; left &= left - 1) {
    const auto v = static_cast<unsigned>(std::countr_zero(left));
    if (wire_of_[v] == wire) return v;
  }
  return std::nullopt;
}

void AffineState::flip(Qubit target, Qubit control) {
  const std::optional<unsigned> own = own_of(target);
  value_[target] ^= value_[control];
  if ((flipped_ >> control & 1) != 0) flipped_ ^= bit_mask(target);
  if (own) settle(*own, (value_[target] >> *own & 1) != 0 ? target : control);
}

void AffineState::turn(Qubit wire) {
  std::optional<unsigned> own = own_of(wire);
  if (own) {
    // The variable becomes another wire's own if one has it.
    for (Qubit other = 0; other < value_.size(); ++other) {
      if (other == wire || (value_[other] >> *own & 1) == 0) continue;
      settle(*own, other);
      own.reset();
      break;
    }
  }
  const Index old = value_[wire];
  const bool flipped = (flipped_ >> wire & 1) != 0;
  const auto fresh = static_cast<unsigned>(std::countr_one(used_));
  used_ |= bit_mask(fresh);
  wire_of_[fresh] = wire;
  value_[wire] = bit_mask(fresh);
  flipped_ &= ~bit_mask(wire);
  for_each_bit(old, [&](unsigned v) { toggle_pair(v, fresh); });
  if (flipped) quarters_[fresh] ^= 2;
  if (!own) return;
  // No wire has it any more: the sum over it is taken.
  const auto [quarters, beside] = take_out(*own);
  used_ &= ~bit_mask(*own);
  wire_of_[*own] = kNone;
  if ((quarters & 1) != 0) {  // 1 + i (-1)^L = sqrt(2) e^(i pi/4) (-i)^L, or its conjugate
    eighths_ = (eighths_ + quarters) & 7;
    if (quarters == 3) eighths_ = (eighths_ + 4) & 7;
    add_phase(beside, false, 4 - quarters);
    return;
  }
  // 2 where the sum of those beside it is 0, or 1, of which the fresh one is one; else 0.
  used_ &= ~bit_mask(fresh);
  wire_of_[fresh] = kNone;
  substitute(fresh, beside & ~bit_mask(fresh), quarters == 2);
}

}  // namespace qsim
