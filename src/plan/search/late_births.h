// From a known start: sets of wires that leave memory young for as long as they can.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/search/budget.h"
#include "plan/search/set_search.h"
#include "qsim/types.h"

namespace qsim {

/// What sweeps cost a rank of 2^local amplitudes beside arithmetic, in seconds.
struct MemoryCosts {
  int local = 0;
  double read = 0, write = 0;  // an amplitude
  double sweep = 0;            // a sweep, however small
  double exchange = 0;         // an amplitude that is traded
  double overlap_power = 1;    // CostTable::overlap_power
};
MemoryCosts memory_costs(const CostTable& table, Precision precision, int local);

/// Complete schedules like `schedule`, which is one from no wire on, whose sets cost less when wires are born as they
/// become active and turns run as soon as they can; none where next to nothing is saved. Which of them is best only
/// their plans tell. Between segments is an exchange. What a turn costs follows from `seconds`, which `schedule` takes.
/// Deterministic, with any number of threads.
std::vector<SetSchedule> with_later_births(const SetProblem& problem, const SetRules& rules,
                                           const SetSchedule& schedule, const MemoryCosts& costs, double seconds,
                                           const LateBirthBudget& budget, int threads = 1);

}  // namespace qsim
