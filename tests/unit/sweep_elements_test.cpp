// Cheaper forms of single steps: when they are taken, by costs of round numbers, and what stands there then.
#include "plan/element/sweep_elements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/bits.h"
#include "plan/cost/machine.h"
#include "plan/element/split_steps.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;
const double kRoot = std::sqrt(0.5);
const std::vector<Complex> kHadamard{kRoot, kRoot, kRoot, -kRoot}, kReal{0.6, -0.8, 0.8, 0.6},
    kGeneral{0.6, Complex(0, 0.8), Complex(0, 0.8), 0.6};

Element turn(Bit wire, const std::vector<Complex>& matrix) {
  Element element;
  element.act_on(bit_mask(wire));
  element.matrix = matrix;
  element.gates = 1;
  return element;
}

Element diagonal(Index mask, double angle) {
  Element element;
  element.form = Form::kPhases;
  element.diagonal.mask = element.diagonal.value = mask;
  element.diagonal.angle = angle;
  element.gates = 1;
  return element;
}

/// Every cost is another power of 2.
CostTable costs() {
  CostTable cost;
  cost.matrix1_general = 64;
  cost.matrix1_real = 32;
  cost.butterfly = 16;
  cost.flip = 8;
  cost.phases = 4;
  cost.phase_term = 1;
  for (int targets = 0; targets <= kMaxMatrixTargets; ++targets) cost.matrix_dense[targets] = 1000 + targets;
  return cost;
}

TEST(SweepElements, CostWhatTheTableSays) {
  const CostTable cost = costs();
  EXPECT_EQ(element_cost(turn(0, kGeneral), cost), 64);
  EXPECT_EQ(element_cost(turn(0, kReal), cost), 32);
  EXPECT_EQ(element_cost(turn(0, kHadamard), cost), 16);
  EXPECT_EQ(element_cost(turn(0, {1, 0, 0, Complex(0, 1)}), cost), 0);  // joins a merged diagonal
  for (std::size_t entry = 0; entry < 4; ++entry) {
    std::vector<Complex> matrix = kHadamard;
    matrix[entry] *= Complex(0, 1);
    EXPECT_EQ(element_cost(turn(0, matrix), cost), 64) << entry;
    matrix = kHadamard;
    matrix[entry] *= 1.5;
    EXPECT_EQ(element_cost(turn(0, matrix), cost), 32) << entry;
  }
  for (Bit targets = 2; targets <= 6; ++targets) {
    Element dense = turn(0, {});
    dense.act_on(low_mask(targets));
    EXPECT_EQ(element_cost(dense, cost), 1000 + targets);
  }
  Element flip = turn(0, {});
  flip.form = Form::kFlip;
  EXPECT_EQ(element_cost(flip, cost), 8);
  EXPECT_EQ(element_cost(diagonal(bit_mask(3), 0.1), cost), 1);
  EXPECT_EQ(element_cost(diagonal(low_mask(2), 0.1), cost), 3);  // half of what a merged one costs, and its term
  Element end;
  end.ends_group = true;
  EXPECT_EQ(element_cost(end, cost), 0);
}

TEST(SweepElements, AStepIsDiagonalWhereItsOneMatrixIs) {
  EXPECT_TRUE(is_diagonal_step(turn(0, {1, 0, 0, Complex(0, 1)})));
  EXPECT_FALSE(is_diagonal_step(turn(0, kReal)));
  EXPECT_FALSE(is_diagonal_step(diagonal(1, 0.3)));
  Element controlled = turn(0, {1, 0, 0, -1});
  controlled.control_mask = controlled.control_value = 2;
  EXPECT_FALSE(is_diagonal_step(controlled));
}

// ---- Turns between phases

/// A turn between phases on wire 0, with a diagonal before it, and one after it before another turn.
struct Split {
  std::vector<Element> elements;
  bool taken = false;
};

Split split_between(double left, double right, double phase_term, bool before = true, bool after = true) {
  const Complex a = std::polar(1.0, left), b = std::polar(1.0, right);
  CostTable cost = costs();
  cost.phase_term = phase_term;
  Split found;
  if (before) found.elements.push_back(diagonal(low_mask(2), 0.1));
  found.elements.push_back(turn(0, {0.6, -0.8 * b, 0.8 * a, 0.6 * a * b}));
  if (after) found.elements.push_back(diagonal(low_mask(2), 0.2));
  found.elements.push_back(turn(0, kHadamard));
  const std::size_t given = found.elements.size();
  EXPECT_EQ(split_steps(found.elements, cost), 0u);
  found.taken = found.elements.size() > given;
  return found;
}

// The turn costs 64, its rotation 32 and a term for each phase that is not 0.
TEST(SweepElements, ATurnGivesItsPhasesAwayWhereThatIsCheaper) {
  EXPECT_TRUE(split_between(0.3, 0, 31).taken);
  EXPECT_FALSE(split_between(0.3, 0, 32).taken);
  EXPECT_TRUE(split_between(0, 0.3, 31).taken);
  EXPECT_FALSE(split_between(0, 0.3, 32).taken);
  EXPECT_TRUE(split_between(0.3, 0.5, 15).taken);
  EXPECT_FALSE(split_between(0.3, 0.5, 16).taken);
  EXPECT_FALSE(split_between(0, 0, 0).taken);  // it is real
}

TEST(SweepElements, APhaseGoesToADiagonalThatIsThere) {
  EXPECT_FALSE(split_between(0, 0.3, 1, false, true).taken);
  EXPECT_TRUE(split_between(0, 0.3, 1, true, false).taken);
  EXPECT_FALSE(split_between(0.3, 0, 1, true, false).taken);
  EXPECT_TRUE(split_between(0.3, 0, 1, false, true).taken);
  EXPECT_FALSE(split_between(0.3, 0.5, 1, false, true).taken);
  EXPECT_FALSE(split_between(0.3, 0.5, 1, true, false).taken);
}

// What follows on another wire is not what follows.
TEST(SweepElements, ATurnThatNothingFollowsKeepsItsPhase) {
  const std::vector<Complex> phased{0.6, -0.8, std::polar(0.8, 0.3), std::polar(0.6, 0.3)};
  for (const Bit other : {Bit{1}, Bit{5}}) {
    std::vector<Element> elements{turn(0, phased), diagonal(bit_mask(other) | bit_mask(6), 0.2),
                                  turn(other, kHadamard)};
    EXPECT_EQ(split_steps(elements, costs()), 0u);
    EXPECT_EQ(elements.size(), 3u);
    std::vector<Element> before{diagonal(bit_mask(other) | bit_mask(6), 0.2), turn(other, kHadamard),
                                turn(0, {0.6, std::polar(-0.8, 0.3), 0.8, std::polar(0.6, 0.3)})};
    EXPECT_EQ(split_steps(before, costs()), 0u);
    EXPECT_EQ(before.size(), 3u);
  }
}

// Costs are sums of powers of 2: equal to the last bit.
TEST(SweepElements, AreWeighedAsSplitWithoutBeingSplit) {
  std::mt19937 random(5);
  int splits = 0;
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<Element> elements;
    for (int i = 0; i < 24; ++i) {
      const auto wire = static_cast<Bit>(random() % 4);
      const double left = static_cast<double>(random() % 3), right = static_cast<double>(random() % 3);
      switch (random() % 5) {
        case 0:
          elements.push_back(diagonal(bit_mask(wire) | bit_mask(random() % 4), 0.2));
          break;
        case 1:
          elements.push_back(turn(wire, kHadamard));
          elements.back().gone = random() % 2 == 0;
          break;
        default:
          elements.push_back(
              turn(wire, {0.6, std::polar(-0.8, right), std::polar(0.8, left), std::polar(0.6, left + right)}));
      }
    }
    TurnParts parts(elements.size());
    const double weighed = cost_when_split(elements, costs(), 3, parts);
    EXPECT_EQ(cost_when_split(elements, costs(), 3, parts), weighed);
    const double whole = steps_cost(elements, costs(), 3);
    EXPECT_EQ(split_steps(elements, costs()), 0u);
    EXPECT_EQ(steps_cost(elements, costs(), 3), weighed) << trial;
    splits += weighed != whole;
  }
  EXPECT_GT(splits, 100);
}

TEST(SweepElements, APhaseStandsOnItsOwnSideOfTheTurn) {
  const auto angle_at = [](const Element& element) {
    EXPECT_EQ(element.form, Form::kPhases);
    EXPECT_EQ(element.diagonal.mask, 1u);
    EXPECT_EQ(element.diagonal.value, 1u);
    return element.diagonal.angle;
  };
  const auto real = [](const Element& element) {
    for (const Complex entry : element.matrix) EXPECT_EQ(entry.imag(), 0);
    return element.matrix[2].real() / element.matrix[0].real();
  };
  const std::vector<Element> right = split_between(0, 0.3, 1).elements;
  ASSERT_EQ(right.size(), 5u);
  EXPECT_NEAR(angle_at(right[1]), 0.3, 1e-15);
  EXPECT_NEAR(real(right[2]), 0.8 / 0.6, 1e-15);
  const std::vector<Element> left = split_between(0.3, 0, 1).elements;
  ASSERT_EQ(left.size(), 5u);
  EXPECT_NEAR(real(left[1]), 0.8 / 0.6, 1e-15);
  EXPECT_NEAR(angle_at(left[2]), 0.3, 1e-15);
  const std::vector<Element> both = split_between(0.3, 0.5, 1).elements;
  ASSERT_EQ(both.size(), 6u);
  EXPECT_NEAR(angle_at(both[1]), 0.5, 1e-15);
  EXPECT_NEAR(real(both[2]), 0.8 / 0.6, 1e-15);
  EXPECT_NEAR(angle_at(both[3]), 0.3, 1e-15);
}

// ---- Turns around controlled Zs

/// H, these diagonals, H on wire 0.
std::vector<Element> around(const std::vector<Element>& between, const CostTable& cost) {
  std::vector<Element> elements{turn(0, kHadamard)};
  elements.insert(elements.end(), between.begin(), between.end());
  elements.push_back(turn(0, kHadamard));
  recombine_flips(elements, cost);
  return elements;
}

std::size_t flips(const std::vector<Element>& elements) {
  std::size_t found = 0;
  for (const Element& element : elements) found += element.form == Form::kFlip ? 1 : 0;
  return found;
}

TEST(SweepElements, UpToThreeControlledZsBetweenTurnsBecomeFlips) {
  for (std::size_t count = 0; count <= 5; ++count) {
    std::vector<Element> between;
    for (std::size_t i = 0; i < count; ++i) {
      between.push_back(diagonal(bit_mask(0) | bit_mask(static_cast<Bit>(i + 1)), i % 2 == 0 ? kPi : -kPi));
    }
    const std::vector<Element> found = around(between, costs());
    EXPECT_EQ(flips(found), count <= 3 ? count : 0u) << count;
    if (count == 0 || count > 3) continue;
    EXPECT_TRUE(found.front().gone != found.back().gone);
    const Element& kept = found.front().gone ? found.back() : found.front();
    EXPECT_EQ(kept.gates, 2u);
    EXPECT_TRUE(is_diagonal_step(kept));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(found[i + 1].target_mask(), bit_mask(0));
      EXPECT_EQ(found[i + 1].control_mask, bit_mask(static_cast<Bit>(i + 1)));
      EXPECT_EQ(found[i + 1].control_value, bit_mask(static_cast<Bit>(i + 1)));
    }
  }
}

TEST(SweepElements, OnlyAControlledZBecomesAFlip) {
  EXPECT_EQ(flips(around({diagonal(low_mask(3), kPi)}, costs())), 1u);
  EXPECT_EQ(flips(around({diagonal(low_mask(2), kPi - 1e-9)}, costs())), 0u);
  EXPECT_EQ(flips(around({diagonal(low_mask(1), kPi)}, costs())), 0u);
  Element other = diagonal(low_mask(2), kPi);
  other.diagonal.value = 1;
  EXPECT_EQ(flips(around({other}, costs())), 0u);
  other = diagonal(0, kPi);
  other.diagonal.parity = low_mask(2);
  EXPECT_EQ(flips(around({other}, costs())), 0u);
}

// Two turns of 16 and a diagonal of 3 each, against flips.
TEST(SweepElements, FlipsAreTakenWhereTheyAreCheaper) {
  const Element z = diagonal(low_mask(2), kPi);
  CostTable cost = costs();
  cost.flip = 34;
  EXPECT_EQ(flips(around({z}, cost)), 1u);
  cost.flip = 35;
  EXPECT_EQ(flips(around({z}, cost)), 0u);
  cost.flip = 18;
  EXPECT_EQ(flips(around({z, diagonal(bit_mask(0) | bit_mask(2), kPi)}, cost)), 2u);
  cost.flip = 19;
  EXPECT_EQ(flips(around({z, diagonal(bit_mask(0) | bit_mask(2), kPi)}, cost)), 0u);
}

// Whatever acts on a wire between the turns ends its pattern.
TEST(SweepElements, AStepBetweenEndsThePattern) {
  const Element z = diagonal(low_mask(2), kPi);
  EXPECT_EQ(flips(around({z, diagonal(bit_mask(0) | bit_mask(3), 0.3)}, costs())), 0u);
  EXPECT_EQ(flips(around({z, diagonal(bit_mask(2) | bit_mask(3), 0.3)}, costs())), 1u);
  EXPECT_EQ(flips(around({z, turn(1, kHadamard)}, costs())), 1u);
  Element dense = turn(0, {});
  dense.act_on(0b101);
  EXPECT_EQ(flips(around({z, dense}, costs())), 0u);
  EXPECT_EQ(flips(around({dense, z}, costs())), 0u);
  dense.act_on(0b110);
  EXPECT_EQ(flips(around({z, dense}, costs())), 1u);
}

}  // namespace
}  // namespace qsim
