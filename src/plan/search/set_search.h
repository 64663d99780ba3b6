// Finds the fewest sets of active wires that play a SetProblem to its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/search/set_problem.h"
#include "qsim/types.h"

namespace qsim {

/// What the sets must obey. Everything is deterministic: the budget counts moves of the game, not time.
struct SetRules {
  std::vector<Index> segments;     // wires that may be active, one mask a segment, in order; each gets one set or more
  int size = 12;                   // wires in a set, where its segment has that many
  int low = 3;                     // wires that a set shares with the one before, where it can
  Index before = 0;                // the set before the first; 0 = free
  Positions start{};               // where the wires stand
  std::vector<Index> born_before;  // by segment: wires whose first turn must run before it; empty = none
  bool late_first_turns = false;   // wires join sets no sooner than they must: their first turns are births
  std::uint64_t budget = 40000;    // how often the search may advance a set
  std::uint64_t more = 0;          // and how often once more, from the best that is found by then
  std::uint64_t seed = 1;
  bool pack = false;  // greedy sets start from what is ready to run, not from what was active before
};

struct SetSchedule {
  std::vector<Index> sets;
  std::vector<std::uint32_t> segment;  // of each set, ascending
  bool complete = false;               // plays the game to its end
  std::uint64_t used = 0;              // of the budget
};

/// The game as the rules have it, from both ends: what searches over sets are made of.
class SetGame {
 protected:
  /// Both outlive it.
  SetGame(const SetProblem& problem, const SetRules& rules);

  /// Where `set`, of that segment, leads; first turns that belong to an earlier segment are too late.
  Positions advanced(const Positions& at, Index set, std::size_t segment);
  /// The same from the end; those turns stay out.
  void go_back(Positions& back, Index set, std::size_t segment);
  /// Wires in a set of the segment.
  int room(std::size_t segment) const;
  /// Wires that a set of the segment shares with the one before it.
  int shared(Index previous, std::size_t segment) const;

  /// Fills before_ and after_.
  void replay(const std::vector<Index>& sets, const std::vector<std::uint32_t>& segment);
  /// Turns that a wire misses between what is reached and what is done from the end.
  int missing(int wire, const Positions& reached, const Positions& back) const {
    const auto w = static_cast<std::size_t>(wire);
    return std::max(0, static_cast<int>(forward_.length(wire)) - reached[w] - back[w]);
  }
  struct Lacking {
    int turns = 0;    // that are missed
    Index wires = 0;  // that miss any
  };
  Lacking lacking(const Positions& reached, const Positions& back) const;

  const SetProblem& forward_;
  const SetProblem backward_;
  const SetRules& rules_;
  std::vector<Index> allowed_;             // by segment
  std::vector<Positions> before_, after_;  // of each set: reached before it, done from the end by it and those after it
  std::uint64_t used_ = 0;                 // how often a set has been advanced
};

/// Greedy starts in both directions, then annealing with one set less for as long as that succeeds.
SetSchedule find_sets(const SetProblem& problem, const SetRules& rules);

/// How soon sets do what they can.
enum class Pace : std::uint8_t {
  kEager,  // at once
  kEven,   // at least what the sets after them cannot do, and as many turns as leave each of them an equal share
};

/// Where the wires stand after each set of a complete schedule that begins at `start`. First turns of `prompt`, which
/// need nothing, never wait.
std::vector<Positions> positions_after(const SetProblem& problem, const SetSchedule& schedule, const Positions& start,
                                       Pace pace, Index prompt = 0);

/// Wires of set i that sets after it use, those that stay longest first.
std::vector<Qubit> wires_that_stay(const SetSchedule& schedule, std::size_t i);

/// Fewest sets that any schedule can have (of one segment): every turning wire must be in one. The first turns of
/// `done` have run already.
int fewest_sets(const SetProblem& problem, const SetRules& rules, Index done = 0);

}  // namespace qsim
