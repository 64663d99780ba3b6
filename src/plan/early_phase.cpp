// The group of wires is found by local search on how far it gets on its own.
#include "plan/early_phase.h"

#include <bit>
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

// The first wires that `plain` makes active, then swaps of one wire for another as long as they help.
Index choose_group(const SetProblem& problem, const SetSchedule& plain, int size, Positions& at) {
  Index group = 0;
  for (const Index set : plain.sets) {
    for (Index rest = set & ~group; rest != 0 && std::popcount(group) < size; rest &= rest - 1) group |= lowest(rest);
  }
  std::int64_t best = progress(problem, group, at);
  for (bool improved = true; improved;) {
    improved = false;
    for (Index out = group; out != 0 && !improved; out &= out - 1) {
      for (Index in = problem.turning() & ~group; in != 0 && !improved; in &= in - 1) {
        const Index other = (group & ~lowest(out)) | lowest(in);
        Positions then{};
        const std::int64_t reached = progress(problem, other, then);
        if (reached <= best) continue;
        best = reached;
        group = other;
        at = then;
        improved = true;
      }
    }
  }
  return group;
}

}  // namespace

double known_traffic(const SetSchedule& schedule, int local) {
  double total = 0;
  Index born = 0;
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    if (i > 0) total += std::ldexp(1.0, std::popcount(born));
    born |= schedule.sets[i];
    total += std::ldexp(1.0, i + 1 == schedule.sets.size() ? local : std::popcount(born)) + kSweepOverhead;
  }
  return total;
}

SetSchedule plan_early_phase(const Timeline& timeline, const SetProblem& problem, const SetRules& rules,
                             const SetSchedule& plain) {
  const int size = std::popcount(problem.turning()) - (rules.size - rules.low);
  if (size < rules.size) return {};
  Positions at{};
  const Index group = choose_group(problem, plain, size, at);
  std::vector<std::uint32_t> start(timeline.wires, 0), middle(at.begin(), at.begin() + timeline.wires), end;
  for (const auto& line : timeline.line) end.push_back(static_cast<std::uint32_t>(line.size()));
  const SetProblem early(timeline, start, middle), late(timeline, middle, end);
  SetRules early_rules = rules;
  early_rules.segments = {group};
  early_rules.budget = rules.budget / 8;
  SetSchedule schedule = find_sets(early, early_rules);
  if (!schedule.complete || schedule.sets.empty()) return {};
  SetRules late_rules = rules;
  late_rules.before = schedule.sets.back();
  late_rules.budget = rules.budget / 2;
  const SetSchedule rest = find_sets(late, late_rules);
  schedule.sets.insert(schedule.sets.end(), rest.sets.begin(), rest.sets.end());
  schedule.segment.assign(schedule.sets.size(), 0);
  schedule.complete = rest.complete;
  return schedule;
}

}  // namespace qsim
