// The product's planner: the fewest sweeps and exchanges that a bounded, deterministic search finds.
#pragma once

#include <cstdint>
#include <functional>

#include "plan/cost/machine.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"

namespace qsim {

/// Where a search begins.
struct SearchBeginning {
  std::uint64_t seed = 1;
  bool pack = false;  // SetRules::pack
  /// By whose costs plans are chosen from, where that is not the machine by whose costs schedules are looked for.
  const Machine* priced = nullptr;
  /// Seconds that a plan takes which others make, and waits for them; asked where more time is to be spent, which what
  /// is hopeless beside it is not worth. None: there is no such plan.
  std::function<double()> at_hand = nullptr;
};

/// Plans a lowered unitary; the same circuit, machine, options and beginning give the same plan everywhere. The caller
/// checks the options and verifies the plan.
Plan searched_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options,
                   const SearchBeginning& beginning);

}  // namespace qsim
