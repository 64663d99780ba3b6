// Phases of whole sixteenths of a turn: what sweeps that permute do beside flips, counted for many places at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/sums/path_sum.h"
#include "plan/plan.h"

namespace qsim {

/// The angle in sixteenths of a turn, 0 to 15; nothing where it is no whole number of them, to rounding.
inline std::optional<std::uint32_t> sixteenths_of(double angle) {
  const std::uint64_t turns = turns_of(angle);
  if (turns << 4 != 0 || !is_part_of_turn(angle)) return {};
  return static_cast<std::uint32_t>(turns >> 60);
}

/// Between -pi and pi.
inline double angle_of_sixteenths(std::uint32_t sixteenths) { return angle_of_turns(std::uint64_t{sixteenths} << 60); }

/// Whether it is a phase of every amplitude.
inline bool is_of_all(const PlanOp& op, const PhaseTerm& term) {
  return (term.mask | op.control_mask) == 0 && !term.parity;
}

/// Whether an operation, of these terms where it is diagonal, is one that a sweep that permutes can do.
inline bool may_permute(const PlanOp& op, std::span<const PhaseTerm> terms) {
  if (op.form == Form::kFlip) return true;
  return op.form == Form::kPhases && std::ranges::all_of(terms, [&](const PhaseTerm& term) {
           return term.open == 0 && (is_of_all(op, term) || sixteenths_of(term.angle).has_value());
         });
}

}  // namespace qsim
