// From a known start: do as much as possible while most wires are unborn, when a sweep costs next to nothing.
#pragma once

#include <cstdint>

#include "plan/search/set_search.h"

namespace qsim {

/// Amplitudes that the sets read and write on a rank of `local` bits when wires are born as they become active.
double known_traffic(const SetSchedule& schedule, int local);

/// The best of `plain` and of schedules in two phases: any number of sets inside a group of wires that one sweep can
/// complete, then the rest.
SetSchedule plan_early_phase(const Timeline& timeline, const SetProblem& problem, const SetRules& rules, int local,
                             const SetSchedule& plain);

}  // namespace qsim
