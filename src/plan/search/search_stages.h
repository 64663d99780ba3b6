// Which wires are local when: the fewest exchanges.
#pragma once

#include <vector>

#include "plan/search/set_search.h"

namespace qsim {

/// Local wires of the stages that play `problem` from `start`, the first of them `first` where it is not 0. Every mask
/// has `local` wires. One mask when no exchange is needed.
std::vector<Index> choose_stages(const SetProblem& problem, int local, Index first, std::uint64_t budget,
                                 std::uint64_t seed);

/// First stages worth trying from |0...0>, where gates among the wires that start global run before the first write:
/// each a mask of `local` wires. `start` is where the wires of the problem stand.
std::vector<Index> known_first_stages(const SetProblem& problem, int local, const Positions& start);

/// True when stages with these local wires play `problem` to its end.
bool stages_suffice(const SetProblem& problem, const std::vector<Index>& stages);

/// By stage: wires of `unborn` that an exchange before it has made global.
std::vector<Index> births_before_exchanges(const std::vector<Index>& stages, Index unborn);

}  // namespace qsim
