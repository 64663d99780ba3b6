// The product's planner: the fewest sweeps and exchanges that a bounded, deterministic search finds.
#pragma once

#include <cstdint>

#include "plan/cost/machine.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"

namespace qsim {

/// Where a search begins.
struct SearchBeginning {
  std::uint64_t seed = 1;
  bool pack = false;       // SetRules::pack
  double at_hand = 1e300;  // seconds that a plan takes which is there already: what is hopeless is not worth more time
};

/// Plans a lowered unitary; the same circuit, machine, options and beginning give the same plan everywhere. The caller
/// checks the options and verifies the plan.
Plan searched_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options,
                   const SearchBeginning& beginning);

}  // namespace qsim
