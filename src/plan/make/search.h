// The product's planner: the fewest sweeps and exchanges that a bounded, deterministic search finds.
#pragma once

#include <cstdint>
#include <future>

#include "plan/cost/machine.h"
#include "plan/lower/known.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"

namespace qsim {

/// Where a search begins.
struct SearchBeginning {
  std::uint64_t seed = 1;
  bool pack = false;  // SetRules::pack
  Pairs pairs = Pairs::kFollowed;
  /// By whose costs plans are chosen from, where that is not the machine by whose costs schedules are looked for.
  const Machine* priced = nullptr;
  /// Seconds of a plan of another kind, which may be in the making; what is hopeless beside it is not worth more time.
  std::shared_future<double> at_hand = {};
};

/// Plans a lowered unitary; the same circuit, machine, options and beginning give the same plan everywhere. The caller
/// checks the options and verifies the plan.
Plan searched_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options,
                   const SearchBeginning& beginning);

}  // namespace qsim
