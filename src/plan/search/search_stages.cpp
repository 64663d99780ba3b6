// Stages are sets of a SetProblem as large as a shard: the same search as for sweeps, one level up.
#include "plan/search/search_stages.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/bits.h"

namespace qsim {
namespace {

Index all_wires(const SetProblem& problem) { return low_mask(static_cast<unsigned>(problem.wires())); }

// Fills a set up to `local` wires, first with those that are local already, so that little is exchanged.
Index fill(Index set, Index already, int local, Index all) {
  for (const Index candidates : {already & all, all}) {
    for (Index rest = candidates & ~set; rest != 0 && popcount(set) < local; rest &= rest - 1)
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

// An advance over all wires takes time in proportion to the turns, so long circuits are widened less.
std::uint64_t widening_budget(const SetProblem& problem, std::uint64_t budget) {
  constexpr std::uint64_t kTurns = 1'500'000;
  return std::clamp<std::uint64_t>(kTurns / std::max<std::uint64_t>(1, problem.turns()), budget / 8, budget);
}

// Moves the borders between stages as far apart as they go: a stage that needs little of what comes before it and
// leaves little to what comes after it lets sweeps fill up on either side of its exchanges.
class Widening {
 public:
  Widening(const SetProblem& problem, std::vector<Index>& stages, std::uint64_t budget)
      : forward_(problem), backward_(problem.reversed()), stages_(stages), left_(static_cast<std::int64_t>(budget)) {}

  // Swaps one local against one global wire, in stages from `first` on, for as long as it helps.
  void run(std::size_t first) {
    slack_ = slack();
    moved_ = moved();
    for (bool improved = true; improved && left_ > 0;) {
      improved = false;
      for (std::size_t stage = first; stage < stages_.size(); ++stage) {
        for (Index in = all_wires(forward_) & ~stages_[stage]; in != 0; in &= in - 1) {
          improved = swap_best(stages_[stage], in & (~in + 1)) || improved;
        }
      }
    }
  }

 private:
  // Turns that may run on either side of a border, of all borders; below 0 where the stages do not suffice.
  std::int64_t slack() {
    left_ -= static_cast<std::int64_t>(2 * stages_.size());
    Positions reached{}, back{};
    std::int64_t total = 0;
    const auto add = [&](const Positions& at, int sign) {
      for (std::size_t w = 0; w < static_cast<std::size_t>(forward_.wires()); ++w) total += sign * at[w];
    };
    for (const Index stage : stages_) {
      forward_.advance(reached, stage);
      add(reached, 1);
    }
    if (!forward_.finished(reached)) return -1;
    for (std::size_t stage = stages_.size(); stage-- > 0;) {
      add(back, 1);
      total -= static_cast<std::int64_t>(forward_.turns());
      backward_.advance(back, stages_[stage]);
    }
    return total;
  }

  // Shares of the state that the exchanges move, added up.
  double moved() const {
    double total = 0;
    for (std::size_t stage = 1; stage < stages_.size(); ++stage)
      total += 1 - std::exp2(-popcount(stages_[stage - 1] & ~stages_[stage]));
    return total;
  }

  // Makes wire `in` local for the wire whose leaving gives most slack.
  bool swap_best(Index& stage, Index in) {
    const Index before = stage;
    Index best = before;
    for (Index rest = before; rest != 0 && left_ > 0; rest &= rest - 1) {
      stage = (before & ~(rest & (~rest + 1))) | in;
      const double moves = moved();
      if (moves > moved_) continue;
      const std::int64_t slack_then = slack();
      if (slack_then < slack_ || (slack_then == slack_ && moves == moved_)) continue;
      best = stage;
      slack_ = slack_then;
      moved_ = moves;
    }
    stage = best;
    return best != before;
  }

  const SetProblem& forward_;
  const SetProblem backward_;
  std::vector<Index>& stages_;
  std::int64_t left_;  // of the budget, in advances
  std::int64_t slack_ = 0;
  double moved_ = 0;
};

std::vector<Index> continue_stages(const SetProblem& problem, int local, Index first, const Positions& at,
                                   std::uint64_t budget, std::uint64_t seed) {
  std::vector<Index> stages{first};
  if (problem.finished(at)) return stages;
  SetRules rules;
  rules.segments = {all_wires(problem)};
  rules.size = local;
  rules.low = 0;
  rules.start = at;
  rules.budget = budget;
  rules.seed = seed;
  for (const Index set : find_sets(problem, rules).sets)
    stages.push_back(fill(set, stages.back(), local, all_wires(problem)));
  Widening(problem, stages, widening_budget(problem, budget)).run(1);
  return stages;
}

}  // namespace

std::vector<Index> choose_stages(const SetProblem& problem, int local, Index first, std::uint64_t budget,
                                 std::uint64_t seed) {
  const Index all = all_wires(problem);
  if (first != 0) {
    Positions at{};
    problem.advance(at, first);
    return continue_stages(problem, local, first, at, budget, seed);
  }
  SetRules rules;
  rules.segments = {all};
  rules.size = local;
  rules.low = 0;
  rules.budget = budget;
  rules.seed = seed;
  std::vector<Index> stages;
  for (const Index set : find_sets(problem, rules).sets)
    stages.push_back(fill(set, stages.empty() ? Index{0} : stages.back(), local, all));
  if (stages.empty()) stages.push_back(fill(0, 0, local, all));
  if (stages.size() > 1) Widening(problem, stages, widening_budget(problem, budget)).run(0);
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

std::vector<Index> births_before_exchanges(const std::vector<Index>& stages, Index unborn) {
  std::vector<Index> before(stages.size(), 0);
  for (std::size_t s = 1; s < stages.size(); ++s) before[s] = before[s - 1] | (unborn & stages[s - 1] & ~stages[s]);
  return before;
}

}  // namespace qsim
