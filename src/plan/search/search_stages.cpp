// Stages are sets of a SetProblem as large as a shard: the same search as for sweeps, one level up.
#include "plan/search/search_stages.h"

#include <bit>

#include "base/bits.h"

namespace qsim {
namespace {

Index all_wires(const SetProblem& problem) { return low_mask(static_cast<unsigned>(problem.wires())); }

// Fills a set up to `local` wires, first with those that are local already, so that little is exchanged.
Index fill(Index set, Index already, int local, Index all) {
  for (const Index candidates : {already & all, all}) {
    for (Index rest = candidates & ~set; rest != 0 && std::popcount(set) < local; rest &= rest - 1)
      set |= rest & (~rest + 1);
  }
  return set;
}

// Progress of a known start whose global wires are all but `local_wires`.
std::int64_t known_value(const SetProblem& problem, Index local_wires, const Positions& start) {
  Positions at = start;
  problem.advance(at, all_wires(problem) & ~local_wires);
  problem.advance(at, local_wires);
  std::int64_t total = 0;
  for (int w = 0; w < problem.wires(); ++w) total += at[static_cast<std::size_t>(w)];
  return total;
}

// Swaps of one local against one global wire for as long as they help.
Index climb(const SetProblem& problem, Index set, const Positions& start) {
  const Index all = all_wires(problem);
  std::int64_t value = known_value(problem, set, start);
  for (bool improved = true; improved;) {
    improved = false;
    for (Index out = set; out != 0 && !improved; out &= out - 1) {
      for (Index in = all & ~set; in != 0 && !improved; in &= in - 1) {
        const Index other = (set & ~(out & (~out + 1))) | (in & (~in + 1));
        const std::int64_t reached = known_value(problem, other, start);
        if (reached <= value) continue;
        value = reached;
        set = other;
        improved = true;
      }
    }
  }
  return set;
}

std::vector<Index> continue_stages(const SetProblem& problem, int local, Index first, const Positions& at,
                                   std::uint64_t budget) {
  std::vector<Index> stages{first};
  if (problem.finished(at)) return stages;
  SetRules rules;
  rules.segments = {all_wires(problem)};
  rules.size = local;
  rules.low = 0;
  rules.start = at;
  rules.budget = budget;
  for (const Index set : find_sets(problem, rules).sets)
    stages.push_back(fill(set, stages.back(), local, all_wires(problem)));
  return stages;
}

}  // namespace

std::vector<Index> choose_stages(const SetProblem& problem, int local, Index first, std::uint64_t budget) {
  const Index all = all_wires(problem);
  if (std::popcount(all) == local) return {all};
  if (first != 0) {
    Positions at{};
    problem.advance(at, first);
    return continue_stages(problem, local, first, at, budget);
  }
  SetRules rules;
  rules.segments = {all};
  rules.size = local;
  rules.low = 0;
  rules.budget = budget;
  std::vector<Index> stages;
  for (const Index set : find_sets(problem, rules).sets)
    stages.push_back(fill(set, stages.empty() ? Index{0} : stages.back(), local, all));
  if (stages.empty()) stages.push_back(fill(0, 0, local, all));
  return stages;
}

std::vector<Index> known_first_stages(const SetProblem& problem, int local, const Positions& start) {
  const Index all = all_wires(problem);
  const Index low = low_mask(static_cast<unsigned>(local));
  const Index high = all & ~low_mask(static_cast<unsigned>(problem.wires() - local));
  return {climb(problem, low, start), climb(problem, high, start), low, high};
}

bool stages_suffice(const SetProblem& problem, const std::vector<Index>& stages) {
  Positions at{};
  for (const Index stage : stages) problem.advance(at, stage);
  return problem.finished(at);
}

}  // namespace qsim
