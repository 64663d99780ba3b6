// Schedules from a known start whose wires are born later, played once more by the rules alone.
#include "plan/search/late_births.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "plan/lower/lower_optimized.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"
#include "support/random_circuit.h"
#include "support/set_schedules.h"

namespace qsim {
namespace {

SetRules rules_for(std::uint32_t qubits, int size, int low, std::uint64_t seed) {
  SetRules rules = test::rules_of_one_segment(qubits, size, low, seed);
  rules.late_first_turns = true;
  return rules;
}

void expect_valid(const SetProblem& problem, const SetRules& rules, const SetSchedule& schedule) {
  ASSERT_TRUE(schedule.complete);
  ASSERT_EQ(schedule.segment.size(), schedule.sets.size());
  Index previous = rules.before;
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    const std::uint32_t segment = schedule.segment[i];
    if (i > 0) {
      EXPECT_LE(schedule.segment[i - 1], segment);
    }
    const Index set = schedule.sets[i], allowed = rules.segments[segment] & problem.turning();
    EXPECT_EQ(set & ~allowed, 0u);
    EXPECT_LE(popcount(set), rules.size);
    if (previous != 0) {
      EXPECT_GE(popcount(set & previous), std::min(rules.low, popcount(previous & allowed)));
    }
    previous = set;
  }
  EXPECT_TRUE(test::plays_to_the_end(problem, rules, schedule));
}

/// Seconds of sweeps that only move memory, a second an amplitude each way.
constexpr double kSweep = 0.25;
MemoryCosts memory_of(int local) { return {local, 1, 1, kSweep}; }
double seconds_of(const SetSchedule& schedule, int local) {
  double total = 0;
  Index born = 0;
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    total += i > 0 ? std::ldexp(1.0, popcount(born)) : 0;
    born |= schedule.sets[i];
    total += std::ldexp(1.0, i + 1 == schedule.sets.size() ? local : popcount(born)) + kSweep;
  }
  return total;
}

TEST(LateBirths, AreOfCompleteSchedulesThatTouchNoMoreMemory) {
  int less = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const Timeline timeline = test::random_timeline(11, 20 + static_cast<std::uint32_t>(seed), seed);
    const SetProblem problem(timeline);
    SetRules rules = rules_for(11, 4 + static_cast<int>(seed % 3), static_cast<int>(seed % 4), seed);
    if (seed % 5 == 0) rules.before = 0b111;
    const SetSchedule plain = find_sets(problem, rules);
    ASSERT_TRUE(plain.complete) << "seed " << seed;
    if (plain.sets.size() < 2) continue;
    const double before = seconds_of(plain, 11);
    SCOPED_TRACE("seed " + std::to_string(seed));
    double after = before;
    for (const SetSchedule& later : with_later_births(problem, rules, plain, memory_of(11), before, {5000, 1})) {
      expect_valid(problem, rules, later);
      EXPECT_NE(later.sets, plain.sets);
      after = std::min(after, seconds_of(later, 11));
    }
    less += after < 0.9 * before;
  }
  EXPECT_GT(less, 30);
}

// Nothing that wires 3 to 8 do needs another's turn: what the others do comes first, while there is least memory.
TEST(LateBirths, WiresThatHaveLeastToDoAreBornLast) {
  Circuit circuit(9);
  for (int layer = 0; layer < 6; ++layer) {
    for (Qubit q = 0; q < 3; ++q) circuit.ry(0.3 + 0.1 * q, q);
    circuit.cz(0, 1).cz(1, 2);
  }
  for (Qubit q = 3; q < 9; ++q) circuit.ry(0.2 * q, q);
  const Timeline timeline = test::unborn_timeline(lower_optimized(circuit, {}));
  const SetProblem problem(timeline);
  const SetRules rules = rules_for(9, 4, 1, 1);
  SetSchedule schedule;  // as early as they go: what the busy three do comes last
  schedule.sets = {0b001111000, 0b110001000 | 1, 0b000000111};
  schedule.segment.assign(3, 0);
  schedule.complete = true;
  expect_valid(problem, rules, schedule);
  const std::vector<SetSchedule> found =
      with_later_births(problem, rules, schedule, memory_of(9), 2 * seconds_of(schedule, 9), {20000, 1});
  ASSERT_FALSE(found.empty());
  const SetSchedule& later = found.front();
  expect_valid(problem, rules, later);
  EXPECT_DOUBLE_EQ(seconds_of(later, 9), 8 + 8 + 64 + 64 + 512 + 3 * kSweep);  // 3, 6 and 9 wires: the least
  Positions at{};
  for (std::size_t i = 0; i + 1 < later.sets.size(); ++i) problem.advance(at, later.sets[i]);
  for (std::size_t wire = 0; wire < 3; ++wire) EXPECT_EQ(at[wire], problem.length(static_cast<int>(wire)));
}

// Between segments is an exchange: what it takes along is born before, and every segment keeps a set.
TEST(LateBirths, KeepToTheSegmentsThatMustBearThem) {
  PhiloxSequence random(23);
  int complete = 0, changed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    test::RandomCircuitOptions shape;
    shape.qubits = 10;
    shape.operations = 40;
    shape.seed = seed;
    const Timeline timeline = test::unborn_timeline(lower_optimized(test::random_circuit(shape), {}));
    const SetProblem problem(timeline);
    SetRules rules = rules_for(10, 3 + static_cast<int>(seed % 2), static_cast<int>(seed % 3), seed);
    rules.segments.clear();
    for (std::uint64_t segment = 0; segment < 2 + seed % 3; ++segment) {
      Index wires = 0;
      while (popcount(wires) < 8) wires |= bit_mask(static_cast<unsigned>(random.below(shape.qubits)));
      rules.segments.push_back(wires);
    }
    rules.born_before = test::that_left_before(rules.segments);
    const SetSchedule plain = find_sets(problem, rules);
    if (!plain.complete) continue;
    ++complete;
    MemoryCosts costs = memory_of(8);
    costs.exchange = 4;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<SetSchedule> found = with_later_births(problem, rules, plain, costs, 1e4, {4000, 1});
    for (const SetSchedule& later : found) {
      expect_valid(problem, rules, later);
      std::set<std::uint32_t> segments(later.segment.begin(), later.segment.end());
      EXPECT_EQ(segments.size(), rules.segments.size());
    }
    changed += found.empty() ? 0 : 1;
  }
  EXPECT_GT(complete, 40);
  EXPECT_GT(changed, 20);
}

TEST(LateBirths, AreTheSameWheneverTheyAreLookedFor) {
  Circuit circuit(10);
  for (Qubit q = 0; q < 10; ++q) circuit.ry(0.1 + q, q);
  for (Qubit q = 0; q + 1 < 10; ++q) circuit.cx(q, q + 1);
  for (Qubit q = 0; q < 10; ++q) circuit.rx(0.2 + q, q);
  const Timeline timeline = test::unborn_timeline(lower_optimized(circuit, {}));
  const SetProblem problem(timeline);
  const SetRules rules = rules_for(10, 4, 2, 3);
  const SetSchedule plain = find_sets(problem, rules);
  const auto once = with_later_births(problem, rules, plain, memory_of(10), 1e4, {4000, 3});
  EXPECT_GT(once.size(), 2u);
  for (const int threads : {1, 2, 3, 7}) {
    const auto again = with_later_births(problem, rules, plain, memory_of(10), 1e4, {4000, 3}, threads);
    EXPECT_TRUE(std::ranges::equal(once, again, {}, &SetSchedule::sets, &SetSchedule::sets)) << threads;
  }
}

}  // namespace
}  // namespace qsim
