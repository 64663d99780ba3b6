// How many moves the planner's search may take: in proportion to what a sweep takes, within limits.
#include <gtest/gtest.h>

#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/search/budget.h"
#include "plan/search/early_phase.h"

namespace qsim {
namespace {

/// 16 bytes, read and written, take a second for 2^20 of them.
Machine slow_machine() {
  Machine machine;
  machine.cost_double.read_bytes_per_second = machine.cost_double.write_bytes_per_second = 32.0 * (1 << 20);
  machine.cost_single.read_bytes_per_second = machine.cost_single.write_bytes_per_second = 1e30;
  return machine;
}

PlanOptions from(Start start) {
  PlanOptions options;
  options.start = start;
  return options;
}

std::uint64_t budget(std::size_t turns, int local, const PlanOptions& options) {
  return set_search_budget(turns, slow_machine(), options, local);
}

TEST(SearchBudget, GrowsWithTheSweepThatItMaySave) {
  PlanOptions random = from(Start::kRandom);
  // 0.3 of a sweep for the first set and for each 25 turns, in moves of half a microsecond: 600,000 for a second.
  EXPECT_EQ(budget(0, 14, random), static_cast<std::uint64_t>(600'000.0 / 64));
  EXPECT_EQ(budget(100, 14, random), 40'000u + 1200);
  EXPECT_EQ(budget(75, 12, random), static_cast<std::uint64_t>(4 * 600'000.0 / 256));
  EXPECT_EQ(budget(0, 5, random), 3000u);
  EXPECT_EQ(budget(0, 20, random), 40'000u);
  EXPECT_EQ(budget(100, 20, random), 40'000u + 12 * 100);
  EXPECT_EQ(budget(5000, 20, random), 46'000u);
  random.precision = Precision::kSingle;  // whose sweeps take no time here
  EXPECT_EQ(budget(0, 20, random), 3000u);
}

TEST(SearchBudget, IsSharedByTheTwoSearchesFromKnownZeros) {
  PlanOptions zero = from(Start::kZero);
  EXPECT_EQ(budget(100, 20, zero), 15'000u + 6 * 100);
  EXPECT_EQ(budget(5000, 20, zero), 21'000u);
  zero.known_zeros = false;
  EXPECT_EQ(budget(100, 20, zero), 40'000u + 12 * 100);
}

TEST(SearchBudget, HasNoLimitButTheTurnsWhereTheFewestSweepsAreAskedFor) {
  PlanOptions fewest = from(Start::kRandom);
  fewest.tile_bits = 4;
  EXPECT_EQ(budget(5000, 5, fewest), 40'000u + 12 * 5000);
  fewest.start = Start::kZero;
  EXPECT_EQ(budget(5000, 5, fewest), 15'000u + 6 * 5000);
}

TEST(SearchBudget, LeavesMovesForASecondLookWhereSweepsTakeLong) {
  const auto more = [](std::size_t turns, int local, const PlanOptions& options) {
    return set_search_more(turns, slow_machine(), options, local);
  };
  PlanOptions options = from(Start::kRandom);
  EXPECT_EQ(more(0, 14, options), 0u);  // the first look takes all that they are worth
  EXPECT_EQ(more(0, 17, options), 75'000u - 40'000u);
  EXPECT_EQ(more(100, 20, options), 52'000u);
  options.tile_bits = 4;
  EXPECT_EQ(more(100, 20, options), 0u);
  options = from(Start::kZero);
  EXPECT_EQ(more(100, 20, options), 0u);
  options.known_zeros = false;
  EXPECT_EQ(more(100, 20, options), 52'000u);
}

TEST(SearchBudget, OfLaterBirthsIsAShareOfTheRun) {
  Machine cores, gpu;
  cores.kind = BackendKind::kCpu;
  gpu.kind = BackendKind::kCuda;
  EXPECT_EQ(late_birth_budget(1000, 0.0199, gpu).moves, 0u);  // writing another plan takes longer
  EXPECT_EQ(late_birth_budget(100, 0.005, gpu).moves, 15'000u);
  EXPECT_EQ(late_birth_budget(1000, 0.1, gpu).moves, 40'000u);
  EXPECT_EQ(late_birth_budget(1000, 1e9, gpu).moves, 200'000u);
  EXPECT_EQ(late_birth_budget(100, 0.005, gpu).looks, 4u);
  EXPECT_EQ(late_birth_budget(1000, 0.2, gpu).looks, 2u);
  EXPECT_EQ(late_birth_budget(1000, 1e9, gpu).looks, 1u);
  EXPECT_EQ(late_birth_budget(100, 0.005, cores).looks, 1u);
}

// What is unborn costs nothing: a sweep reads what was born before and writes what is born after, the last one all.
TEST(KnownTraffic, IsWhatIsBornBeforeAndAfterEachSweep) {
  const auto traffic = [](std::vector<Index> sets) {
    SetSchedule schedule;
    schedule.sets = std::move(sets);
    return known_traffic(schedule, 6);
  };
  const double overhead = traffic({0b111}) - 64;
  EXPECT_EQ(traffic({0b111, 0b111000}), 8 + (8 + 64) + 2 * overhead);
  EXPECT_EQ(traffic({0b111, 0b1010, 0b110000}), 8 + (8 + 16) + (16 + 64) + 3 * overhead);
}

}  // namespace
}  // namespace qsim
