// How long a search is worth, and in sets of which size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/cost/machine.h"
#include "plan/plan_options.h"
#include "plan/search/set_search.h"
#include "plan/timeline/timeline.h"

namespace qsim {

/// Moves of the set search that are worth making for `turns` turns on shards of 2^local amplitudes: a fraction of the
/// time that the sweeps will take, and never more than a bound that keeps planning within tens of milliseconds.
std::uint64_t set_search_budget(std::size_t turns, const Machine& machine, const PlanOptions& options, int local);

/// Moves beyond these that are worth making once more, where the sweeps take long enough for both.
std::uint64_t set_search_more(std::size_t turns, const Machine& machine, const PlanOptions& options, int local);

/// How large the sets of a circuit are.
void set_tile(const Timeline& timeline, const Machine& machine, const PlanOptions& options, int local, SetRules& rules);

/// Moves of each of the looks for later births that are worth making, where a schedule of `turns` turns takes `seconds`
/// of all ranks together: none, since a second plan would take longer to write than it may save.
struct LateBirthBudget {
  std::uint64_t moves = 0;
  std::uint32_t looks = 0;  // of either kind (with_later_births)
};
LateBirthBudget late_birth_budget(std::size_t turns, double seconds, const Machine& machine);

}  // namespace qsim
