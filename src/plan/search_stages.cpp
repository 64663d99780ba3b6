// Stages are sets of a SetProblem as large as a shard: the same search as for sweeps, one level up.
#include "plan/search_stages.h"

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
std::int64_t known_value(const SetProblem& problem, Index local_wires, Positions& at) {
  at = Positions{};
  problem.advance(at, all_wires(problem) & ~local_wires);
  problem.advance(at, local_wires);
  std::int64_t total = 0;
  for (int w = 0; w < problem.wires(); ++w) total += at[static_cast<std::size_t>(w)];
  return total;
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

std::vector<Index> choose_known_stages(const SetProblem& problem, int local, std::uint64_t budget) {
  const Index all = all_wires(problem);
  if (std::popcount(all) == local) return {all};
  // Swaps of one global against one local wire as long as they help, from the two natural starts.
  Index best = 0;
  std::int64_t best_value = -1;
  Positions best_at{};
  for (const bool low_first : {true, false}) {
    Index set = low_first ? low_mask(static_cast<unsigned>(local))
                          : all & ~low_mask(static_cast<unsigned>(problem.wires() - local));
    Positions at{};
    std::int64_t value = known_value(problem, set, at);
    for (bool improved = true; improved && !problem.finished(at);) {
      improved = false;
      for (Index out = set; out != 0 && !improved; out &= out - 1) {
        for (Index in = all & ~set; in != 0 && !improved; in &= in - 1) {
          const Index other = (set & ~(out & (~out + 1))) | (in & (~in + 1));
          Positions then{};
          const std::int64_t reached = known_value(problem, other, then);
          if (reached <= value) continue;
          value = reached;
          set = other;
          at = then;
          improved = true;
        }
      }
    }
    if (value <= best_value) continue;
    best_value = value;
    best = set;
    best_at = at;
  }
  return continue_stages(problem, local, best, best_at, budget);
}

bool stages_suffice(const SetProblem& problem, const std::vector<Index>& stages) {
  Positions at{};
  for (const Index stage : stages) problem.advance(at, stage);
  return problem.finished(at);
}

}  // namespace qsim
