// Where a sweep that permutes takes amplitudes, one place at a time.
#pragma once

#include <ranges>

#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

inline Index flipped(const PlanOp& op, Index place) {
  return op.form == Form::kFlip && (place & op.control_mask) == op.control_value ? place ^ bit_mask(op.targets[0])
                                                                                 : place;
}

/// Where `sweep` takes what is at `place`.
inline Index target_of(const Sweep& sweep, Index place) {
  for (const PlanOp& op : sweep.ops) place = flipped(op, place);
  return place;
}

/// Where `sweep` takes from what goes to `place`.
inline Index source_of(const Sweep& sweep, Index place) {
  for (const PlanOp& op : std::views::reverse(sweep.ops)) place = flipped(op, place);
  return place;
}

}  // namespace qsim
