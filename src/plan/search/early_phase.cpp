// The group of wires is found by local search on how far it gets on its own.
#include "plan/search/early_phase.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"

namespace qsim {
namespace {

constexpr double kSweepOverhead = 1 << 16;  // amplitudes that a sweep is worth at least

Index lowest(Index mask) { return mask & (~mask + 1); }

std::int64_t progress(const SetProblem& problem, Index group, Positions& at) {
  at = Positions{};
  problem.advance(at, group);
  std::int64_t total = 0;
  for (int w = 0; w < problem.wires(); ++w) total += at[static_cast<std::size_t>(w)];
  return total;
}

// The first wires that the sets make active, in their order or from the last set back.
Index first_wires(const SetSchedule& plain, int size, bool from_end) {
  Index group = 0;
  for (std::size_t i = 0; i < plain.sets.size(); ++i) {
    const Index set = plain.sets[from_end ? plain.sets.size() - 1 - i : i];
    for (Index rest = set & ~group; rest != 0 && popcount(group) < size; rest &= rest - 1) group |= lowest(rest);
  }
  return group;
}

// Swaps of one wire for another as long as they help.
Index climb(const SetProblem& problem, Index group) {
  Positions at{};
  std::int64_t best = progress(problem, group, at);
  for (bool improved = true; improved;) {
    improved = false;
    for (Index out = group; out != 0 && !improved; out &= out - 1) {
      for (Index in = problem.turning() & ~group; in != 0 && !improved; in &= in - 1) {
        const Index other = (group & ~lowest(out)) | lowest(in);
        const std::int64_t reached = progress(problem, other, at);
        if (reached <= best) continue;
        best = reached;
        group = other;
        improved = true;
      }
    }
  }
  return group;
}

// All that `group` can do, then the rest.
SetSchedule plan_phases(const Timeline& timeline, const SetProblem& problem, const SetRules& rules, Index group) {
  Positions at{};
  progress(problem, group, at);
  std::vector<std::uint32_t> start(timeline.wires, 0), middle(at.begin(), at.begin() + timeline.wires);
  const SetProblem early(timeline, start, middle), late(timeline, middle, ends_of(timeline));
  SetRules early_rules = rules;
  early_rules.segments.assign(1, group);  // not = {group}: g++ 14 sees a copy beyond the list's end
  early_rules.budget = std::max<std::uint64_t>(5000, rules.budget / 4);
  SetSchedule schedule = find_sets(early, early_rules);
  if (!schedule.complete || schedule.sets.empty()) return {};
  SetRules late_rules = rules;
  late_rules.before = schedule.sets.back();
  const SetSchedule rest = find_sets(late, late_rules);
  for (const Index set : rest.sets) schedule.sets.push_back(set);  // not insert(): g++ 14
  schedule.segment.assign(schedule.sets.size(), 0);
  schedule.complete = rest.complete;
  return schedule;
}

}  // namespace

double known_traffic(const SetSchedule& schedule, int local) {
  double total = 0;
  Index born = 0;
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    if (i > 0) total += std::ldexp(1.0, popcount(born));
    born |= schedule.sets[i];
    total += std::ldexp(1.0, i + 1 == schedule.sets.size() ? local : popcount(born)) + kSweepOverhead;
  }
  return total;
}

SetSchedule plan_early_phase(const Timeline& timeline, const SetProblem& problem, const SetRules& rules, int local,
                             const SetSchedule& plain) {
  const int size = popcount(problem.turning()) - (rules.size - rules.low);
  if (size < rules.size) return plain;
  SetSchedule best = plain;
  Index tried = 0;
  for (const bool from_end : {false, true}) {
    const Index group = climb(problem, first_wires(plain, size, from_end));
    if (group == tried) break;
    tried = group;
    SetSchedule schedule = plan_phases(timeline, problem, rules, group);
    if (schedule.complete && known_traffic(schedule, local) < known_traffic(best, local)) best = std::move(schedule);
  }
  return best;
}

}  // namespace qsim
