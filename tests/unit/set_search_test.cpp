// Schedules of sets of wires, played once more by the rules alone.
#include "plan/search/set_search.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "plan/lower/lower.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"
#include "support/set_schedules.h"

namespace qsim {
namespace {

// More moves begin where the first ones have ended: what those found stands, or fewer sets take its place.
TEST(SetSearch, ASecondLookOnlyFindsFewerSets) {
  int fewer = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Timeline timeline = test::random_timeline(12, 90, seed);
    const SetProblem problem(timeline);
    SetRules rules = test::rules_of_one_segment(12, 5, 2, seed);
    const SetSchedule first = find_sets(problem, rules);
    rules.more = 6000;
    const SetSchedule second = find_sets(problem, rules);
    ASSERT_TRUE(first.complete && second.complete) << "seed " << seed;
    EXPECT_TRUE(test::plays_to_the_end(problem, rules, second)) << "seed " << seed;
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
    const Timeline timeline = test::random_timeline(9, 40, seed);
    const SetProblem problem(timeline);
    SetRules rules;
    for (int segment = 0; segment < 5; ++segment) {
      Index wires = 0;
      while (std::popcount(wires) < 6) wires |= bit_mask(static_cast<unsigned>(random.below(9)));
      rules.segments.push_back(wires);
    }
    rules.born_before = test::that_left_before(rules.segments);
    rules.size = 3;
    rules.low = 0;
    rules.budget = 3000;
    rules.seed = seed;
    rules.late_first_turns = seed % 2 == 0;
    const SetSchedule schedule = find_sets(problem, rules);
    if (!schedule.complete) continue;
    ++complete;
    EXPECT_TRUE(test::plays_to_the_end(problem, rules, schedule)) << "seed " << seed;
  }
  EXPECT_GT(complete, 30);
}

// Three wires leave after the first segment, so that it takes two sets of two; one of them comes back in the last.
TEST(SetSearch, AWireThatComesBackHasBeenBornBeforeItLeft) {
  const Timeline timeline = test::unborn_timeline(lower(Circuit(6)));
  const SetProblem problem(timeline);
  for (Bit back = 0; back < 3; ++back) {
    SetRules rules;
    rules.segments = {0b000111, 0b111000, 0b110000 | bit_mask(back)};
    rules.born_before = test::that_left_before(rules.segments);
    rules.size = 2;
    rules.low = 0;
    rules.budget = 20000;
    ASSERT_EQ(fewest_sets(problem, rules), 3);
    const SetSchedule schedule = find_sets(problem, rules);
    EXPECT_TRUE(schedule.complete);
    EXPECT_EQ(schedule.sets.size(), 4u);
    EXPECT_TRUE(test::plays_to_the_end(problem, rules, schedule)) << "wire " << int{back};
  }
}

}  // namespace
}  // namespace qsim
