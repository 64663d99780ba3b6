// The cheapest way from the first gate of an order to the last, by gates and by what stands for several of them.
#include "optimizer/paths/cheapest_way.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "optimizer/weights.h"

namespace qsim {
namespace {

CheapestWay of_gates(std::size_t count, double each) {
  CheapestWay way;
  for (std::size_t i = 0; i < count; ++i) way.append_gate(each);
  return way;
}

Replacement between(std::size_t first, std::size_t end, double weight) { return {first, end, weight, {}, {}, {}}; }

TEST(CheapestWay, IsThatOfTheGatesWhereThereIsNothingElse) {
  const CheapestWay way = of_gates(4, 2.5);
  EXPECT_EQ(way.end(), 4U);
  EXPECT_FALSE(way.has_replacements());
  EXPECT_EQ(way.weight(0), 0);
  EXPECT_EQ(way.weight(4), 10);
  EXPECT_EQ(way.weight_before(3, kNoReplacement), 7.5);
  EXPECT_TRUE(way.taken().empty());
  EXPECT_TRUE(CheapestWay().taken().empty());
}

TEST(CheapestWay, GatesBehindAReplacementCostWhatTheyWeigh) {
  CheapestWay way = of_gates(10, 1);
  const std::int64_t r = way.add(between(2, 7, 1.5));
  EXPECT_EQ(way.weight(6), 6);
  EXPECT_EQ(way.weight(7), 3.5);
  EXPECT_EQ(way.weight(10), 6.5);
  way.append_gate(4);
  EXPECT_EQ(way.weight(11), 10.5);
  ASSERT_EQ(way.taken().size(), 1U);
  EXPECT_EQ(way.taken()[0].replacement, r);
  EXPECT_TRUE(way.taken()[0].turns_after);
}

TEST(CheapestWay, TheBestOfThoseThatOverlapIsTaken) {
  CheapestWay way = of_gates(10, 1);
  way.add(between(0, 5, 1));
  const std::int64_t best = way.add(between(4, 10, 0.5));  // 4.5; the other way is 6
  EXPECT_EQ(way.weight(10), 4.5);
  way.find();
  EXPECT_EQ(way.weight(10), 4.5);
  ASSERT_EQ(way.taken().size(), 1U);
  EXPECT_EQ(way.taken()[0].replacement, best);
}

/// Replacements that are added later for places before: the way to those behind them is found anew.
TEST(CheapestWay, WhatIsFoundBeforeLaterCounts) {
  CheapestWay way = of_gates(10, 1);
  const std::int64_t last = way.add(between(5, 10, 1));
  const std::int64_t first = way.add(between(0, 5, 1));
  way.find();
  EXPECT_EQ(way.weight(10), 2);
  ASSERT_EQ(way.taken().size(), 2U);
  EXPECT_EQ(way.taken()[0].replacement, first);
  EXPECT_EQ(way.taken()[1].replacement, last);
  EXPECT_TRUE(way.taken()[0].turns_after);
}

/// What begins with the Hadamard gates at the end of another one comes behind that one alone, which does not have them
/// then.
TEST(CheapestWay, TurnsBetweenTwoAreNotPaid) {
  CheapestWay way = of_gates(12, 1);
  Replacement turned = between(0, 6, 1 + weight::kRealTurn);
  turned.permutation.turned_after.push_back({3, 0});
  const std::int64_t first = way.add(turned);
  EXPECT_EQ(way.weight(6), 1 + weight::kRealTurn);
  EXPECT_DOUBLE_EQ(way.weight_before(6, first), 1);
  Replacement next = between(6, 12, 2);
  next.after = first;
  const std::int64_t second = way.add(next);
  EXPECT_DOUBLE_EQ(way.weight(12), 3);
  // A way to where the second begins that is no way to the turns before it.
  way.add(between(2, 6, -1));
  way.find();
  EXPECT_DOUBLE_EQ(way.weight(6), 1);
  EXPECT_DOUBLE_EQ(way.weight(12), 3);
  const auto taken = way.taken();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].replacement, first);
  EXPECT_FALSE(taken[0].turns_after);
  EXPECT_EQ(taken[1].replacement, second);
  EXPECT_TRUE(taken[1].turns_after);
  EXPECT_EQ(way[taken[1].replacement].after, first);
}

}  // namespace
}  // namespace qsim
