// Schedules of sets of wires, played once more by the rules alone.
#include "plan/search/set_search.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

/// The whole of `lowered` with every wire unborn.
Timeline timeline_of(const Lowered& lowered) {
  const KnownStart start = plain_start(lowered, 0);
  return build_timeline(lowered, {0, lowered.ops.size(), low_mask(lowered.qubits), start.factor});
}

SetProblem whole(const Timeline& timeline) {
  std::vector<std::uint32_t> ends;
  for (const auto& line : timeline.line) ends.push_back(static_cast<std::uint32_t>(line.size()));
  return SetProblem(timeline, std::vector<std::uint32_t>(timeline.wires, 0), ends);
}

/// By segment: wires that some segment before it had and the next one not.
std::vector<Index> that_left_before(const std::vector<Index>& segments) {
  std::vector<Index> left(segments.size(), 0);
  for (std::size_t s = 1; s < segments.size(); ++s) left[s] = left[s - 1] | (segments[s - 1] & ~segments[s]);
  return left;
}

/// Whether the sets do every turn, where a wire that has left unborn never starts.
bool plays_to_the_end(const SetProblem& problem, const SetRules& rules, const SetSchedule& schedule) {
  Positions at{};
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    Index set = schedule.sets[i];
    EXPECT_EQ(set & ~rules.segments[schedule.segment[i]], 0u);
    for_each_bit(set & rules.born_before[schedule.segment[i]], [&](unsigned wire) {
      if (at[wire] == 0) set &= ~bit_mask(wire);
    });
    problem.advance(at, set);
  }
  return problem.finished(at);
}

/// The schedule that is found for a circuit of `qubits` qubits, each pair of which meets now and then.
SetRules rules_for(std::uint32_t qubits, int size, int low, std::uint64_t seed) {
  SetRules rules;
  rules.segments.assign(1, low_mask(qubits));
  rules.born_before.assign(1, 0);
  rules.size = size;
  rules.low = low;
  rules.budget = 2000;
  rules.seed = seed;
  return rules;
}

Timeline random_timeline(std::uint32_t qubits, std::uint32_t operations, std::uint64_t seed) {
  test::RandomCircuitOptions shape;
  shape.qubits = qubits;
  shape.operations = operations;
  shape.max_unitary_targets = 2;
  shape.seed = seed;
  return timeline_of(lower_optimized(test::random_circuit(shape), {}));
}

// More moves begin where the first ones have ended: what those found stands, or fewer sets take its place.
TEST(SetSearch, ASecondLookOnlyFindsFewerSets) {
  int fewer = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Timeline timeline = random_timeline(12, 90, seed);
    const SetProblem problem = whole(timeline);
    SetRules rules = rules_for(12, 5, 2, seed);
    const SetSchedule first = find_sets(problem, rules);
    rules.more = 6000;
    const SetSchedule second = find_sets(problem, rules);
    ASSERT_TRUE(first.complete && second.complete) << "seed " << seed;
    EXPECT_TRUE(plays_to_the_end(problem, rules, second)) << "seed " << seed;
    EXPECT_LE(second.used, rules.budget + rules.more + 500) << "seed " << seed;
    if (second.sets.size() < first.sets.size()) {
      ++fewer;
    } else {
      EXPECT_EQ(second.sets, first.sets) << "seed " << seed;
    }
  }
  EXPECT_GT(fewer, 10);
}

// A wire that an exchange has made global is no zero any more: a schedule that bears it in a later segment is none.
TEST(SetSearch, NoWireIsBornAfterTheSegmentsThatMustBearIt) {
  PhiloxSequence random(17);
  int complete = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    test::RandomCircuitOptions shape;
    shape.qubits = 9;
    shape.operations = 40;
    shape.max_unitary_targets = 2;
    shape.seed = seed;
    const Timeline timeline = timeline_of(lower_optimized(test::random_circuit(shape), {}));
    const SetProblem problem = whole(timeline);
    SetRules rules;
    for (int segment = 0; segment < 5; ++segment) {
      Index wires = 0;
      while (std::popcount(wires) < 6) wires |= bit_mask(static_cast<unsigned>(random.below(shape.qubits)));
      rules.segments.push_back(wires);
    }
    rules.born_before = that_left_before(rules.segments);
    rules.size = 3;
    rules.low = 0;
    rules.budget = 3000;
    rules.seed = seed;
    rules.late_first_turns = seed % 2 == 0;
    const SetSchedule schedule = find_sets(problem, rules);
    if (!schedule.complete) continue;
    ++complete;
    EXPECT_TRUE(plays_to_the_end(problem, rules, schedule)) << "seed " << seed;
  }
  EXPECT_GT(complete, 30);
}

// Three wires leave after the first segment, so that it takes two sets of two; one of them comes back in the last.
TEST(SetSearch, AWireThatComesBackHasBeenBornBeforeItLeft) {
  const Timeline timeline = timeline_of(lower(Circuit(6)));
  const SetProblem problem = whole(timeline);
  for (Bit back = 0; back < 3; ++back) {
    SetRules rules;
    rules.segments = {0b000111, 0b111000, 0b110000 | bit_mask(back)};
    rules.born_before = that_left_before(rules.segments);
    rules.size = 2;
    rules.low = 0;
    rules.budget = 20000;
    ASSERT_EQ(fewest_sets(problem, rules), 3);
    const SetSchedule schedule = find_sets(problem, rules);
    EXPECT_TRUE(schedule.complete);
    EXPECT_EQ(schedule.sets.size(), 4u);
    EXPECT_TRUE(plays_to_the_end(problem, rules, schedule)) << "wire " << int{back};
  }
}

}  // namespace
}  // namespace qsim
