// How long a search is worth.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/cost/machine.h"
#include "plan/plan_options.h"

namespace qsim {

/// Moves of the set search that are worth making for `turns` turns on shards of 2^local amplitudes: a fraction of the
/// time that the sweeps will take, and never more than a bound that keeps planning within tens of milliseconds.
std::uint64_t set_search_budget(std::size_t turns, const Machine& machine, const PlanOptions& options, int local);

/// Moves beyond these that are worth making once more, where the sweeps take long enough for both.
std::uint64_t set_search_more(std::size_t turns, const Machine& machine, const PlanOptions& options, int local);

/// Moves that are worth making for later births, where a schedule of `turns` turns takes `seconds` of all ranks
/// together; 0: none, since a second plan would take longer to write than it may save.
std::uint64_t late_birth_budget(std::size_t turns, double seconds);

}  // namespace qsim
