// Branches that wait at one place: which are made one, what becomes of their shots, weights and counts.
#include "runtime/branch/meeting.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "device/numbers/likeness.h"
#include "runtime/accuracy.h"

namespace qsim {
namespace {

using State = std::vector<std::complex<double>>;

const State kState{{0.6, 0}, {0, 0.8}}, kOther{{0.8, 0}, {0, 0.6}};
const double kEpsilon = std::numeric_limits<double>::epsilon();

/// A branch that waits with this state, two classical bits and these shots.
WaitingBranch waiting(const State& state, double weight, ShotLists shots = {}) {
  WaitingBranch found;
  found.branch.bits = ClassicalBits(2);
  found.branch.bits.set(1, true);
  found.branch.weight = weight;
  found.branch.shots = std::move(shots);
  const auto bytes = std::as_bytes(std::span(state));
  found.amplitudes.assign(bytes.begin(), bytes.end());
  found.likeness = likeness(bytes, probe(state.size()), Precision::kDouble);
  return found;
}

/// The state with a part at a right angle to it, so that it is at this distance.
State moved(const State& state, double by) {
  State found = state;
  found[0] += by * std::conj(state[1]);
  found[1] -= by * std::conj(state[0]);
  return found;
}

struct Place {
  Meeting meeting;
  MergeBudget budget{Precision::kDouble};
  std::size_t bytes = 0;
  void add(WaitingBranch branch) { bytes += meeting.add(std::move(branch), Precision::kDouble, budget); }
  std::size_t waiting_bytes() const {
    std::size_t all = 0;
    for (const WaitingBranch& each : meeting.branches()) all += each.bytes();
    return all;
  }
};

TEST(Meeting, MakesBranchesOneThatHaveTheSameStateAndValues) {
  Place place;
  place.add(waiting(kState, 0.1));
  State turned = kState;
  for (auto& entry : turned) entry *= std::polar(1.3, 2.0);
  place.add(waiting(turned, 0.2));
  EXPECT_EQ(place.meeting.branches().size(), 1u);
  EXPECT_EQ(place.meeting.merged(), 1u);
  EXPECT_NEAR(place.meeting.branches()[0].branch.weight, 0.3, 1e-15);
  place.add(waiting(kOther, 0.3));
  WaitingBranch other = waiting(kState, 0.4);
  other.branch.bits.set(0, true);
  place.add(std::move(other));
  EXPECT_EQ(place.meeting.branches().size(), 3u);
  EXPECT_EQ(place.meeting.merged(), 1u);
  place.add(waiting(kOther, 0.1));
  EXPECT_EQ(place.meeting.merged(), 2u);
  EXPECT_NEAR(place.meeting.branches()[1].branch.weight, 0.4, 1e-15);
  EXPECT_EQ(place.bytes, place.waiting_bytes());
}

TEST(Meeting, ComparesTheVariablesOfTheControl) {
  const std::vector<ScalarType> types{{ScalarKind::kInt, 64}, {ScalarKind::kInt, 64}};
  const auto with = [&](std::uint32_t variable, std::int64_t value) {
    WaitingBranch found = waiting(kState, 0.1);
    found.branch.memory = Variables(types);
    found.branch.memory.set(variable, make_word(types[variable], static_cast<std::uint64_t>(value)));
    return found;
  };
  Place place;
  place.add(with(0, 3));
  place.add(with(1, 3));
  place.add(with(0, 4));
  EXPECT_EQ(place.meeting.merged(), 0u);
  place.add(with(0, 3));
  place.add(with(1, 3));
  EXPECT_EQ(place.meeting.merged(), 2u);
  EXPECT_EQ(place.bytes, place.waiting_bytes());
}

TEST(Meeting, KeepsTheStateOfTheLikelierBranch) {
  for (const bool second : {false, true}) {
    Place place;
    State scaled = kState;
    for (auto& entry : scaled) entry *= 0.5;
    WaitingBranch a = waiting(kState, second ? 0.1 : 0.2), b = waiting(scaled, second ? 0.2 : 0.1);
    a.branch.norm = 1;
    b.branch.norm = 0.25;
    place.add(std::move(a));
    place.add(std::move(b));
    const WaitingBranch& kept = place.meeting.branches().at(0);
    EXPECT_EQ(place.meeting.merged(), 1u);
    EXPECT_EQ(kept.branch.norm, second ? 0.25 : 1);
    std::complex<double> first;
    std::memcpy(&first, kept.amplitudes.data(), sizeof(first));
    EXPECT_EQ(first, second ? scaled[0] : kState[0]);
  }
}

// Whatever refuses one of them for its length refuses both; a qubit is known where both know the same of it.
TEST(Meeting, TakesTheMostThatEitherHasDone) {
  for (const bool first : {false, true}) {
    WaitingBranch few = waiting(kState, 0.1), many = waiting(kState, 0.1);
    many.branch.taken = 7;
    many.branch.iterations = 6;
    many.branch.gates = 5;
    many.branch.defect = 4;
    few.branch.known = 0b1110;
    few.branch.known_one = 0b0110;
    many.branch.known = 0b0111;
    many.branch.known_one = 0b0011;
    Place place;
    place.add(first ? many : few);
    place.add(first ? few : many);
    const Branch& found = place.meeting.branches().at(0).branch;
    EXPECT_EQ(found.taken, 7u);
    EXPECT_EQ(found.iterations, 6u);
    EXPECT_EQ(found.gates, 5u);
    EXPECT_EQ(found.defect, 4);
    EXPECT_EQ(found.known, 0b0010u);
    EXPECT_EQ(found.known_one, 0b0010u);
  }
}

TEST(Meeting, ListsShotsByTheirDrawsInOrder) {
  Place place;
  place.add(waiting(kState, 0.1, {{2, {1, 5, 9}}, {3, {0}}}));
  place.add(waiting(kState, 0.1, {{4, {8}}, {2, {2, 7, 11}}}));
  place.add(waiting(kState, 0.1, {{2, {0}}, {3, {4}}}));
  ASSERT_EQ(place.meeting.branches().size(), 1u);
  const ShotLists& shots = place.meeting.branches()[0].branch.shots;
  ASSERT_EQ(shots.size(), 3u);
  EXPECT_EQ(shots[0].draws, 2u);
  EXPECT_EQ(shots[0].shots, (std::vector<std::uint64_t>{0, 1, 2, 5, 7, 9, 11}));
  EXPECT_EQ(shots[1].draws, 3u);
  EXPECT_EQ(shots[1].shots, (std::vector<std::uint64_t>{0, 4}));
  EXPECT_EQ(shots[2].draws, 4u);
  EXPECT_EQ(shots[2].shots, (std::vector<std::uint64_t>{8}));
  EXPECT_EQ(place.meeting.branches()[0].branch.drawn(), 10u);
  EXPECT_EQ(place.bytes, place.waiting_bytes());
}

TEST(Meeting, CountsTheBytesThatABranchHolds) {
  const WaitingBranch empty;
  WaitingBranch branch = waiting(kState, 0.1);
  EXPECT_EQ(branch.bytes(), empty.bytes() + 32 + 8);
  branch.branch.bits = ClassicalBits(160);
  EXPECT_EQ(branch.bytes(), empty.bytes() + 32 + 24);
  branch.branch.shots = {{0, {1, 2, 3}}, {1, {4}}};
  EXPECT_EQ(branch.bytes(), empty.bytes() + 56 + 2 * sizeof(ShotList) + 4 * 8);
}

// States are one up to 32 units in the last place; on either side of a border between two likenesses that are looked
// up.
TEST(Meeting, TakesStatesForOneThatRoundingMakesDiffer) {
  for (double angle = 0.1; angle < 1.5; angle += 0.01) {
    const State state{{std::cos(angle), 0}, {0, std::sin(angle)}};
    for (const double by : {-20 * kEpsilon, 20 * kEpsilon}) {
      Place place;
      place.add(waiting(state, 1e-6));
      place.add(waiting(moved(state, by), 1e-6));
      EXPECT_EQ(place.meeting.merged(), 1u) << angle;
    }
    Place place;
    place.add(waiting(state, 1e-6));
    place.add(waiting(moved(state, 60 * kEpsilon), 1e-6));
    EXPECT_EQ(place.meeting.merged(), 0u) << angle;
  }
  // Just beside a border of buckets of 2^-30.
  for (const double likeness : {0x1p-30, 1000 * 0x1p-30, 0.25}) {
    for (const double by : {-4 * kEpsilon, 4 * kEpsilon}) {
      Place place;
      WaitingBranch a = waiting(kState, 0.1), b = a;
      a.likeness = likeness;
      b.likeness = likeness + by;
      place.add(std::move(a));
      place.add(std::move(b));
      EXPECT_EQ(place.meeting.merged(), 1u) << likeness;
    }
  }
}

TEST(MergeBudget, IsSpentByDistanceTimesWeight) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    const double epsilon =
        precision == Precision::kDouble ? kEpsilon : static_cast<double>(std::numeric_limits<float>::epsilon());
    const double all = amplitude_tolerance(precision, 1), most = 32 * epsilon;
    MergeBudget budget(precision);
    EXPECT_EQ(budget.alike(), most);
    EXPECT_TRUE(budget.allows(most, 0));
    EXPECT_FALSE(budget.allows(most * 1.001, 0));
    EXPECT_FALSE(budget.allows(std::nan(""), 0));
    const auto times = static_cast<int>(all / most);  // of weight 1
    for (int time = 0; time < times; ++time) EXPECT_TRUE(budget.allows(most, 1)) << time;
    EXPECT_FALSE(budget.allows(most, 1));
    EXPECT_TRUE(budget.allows(most, 1e-3 * (all / most - times)));
    EXPECT_TRUE(budget.allows(0, 1));
  }
}

}  // namespace
}  // namespace qsim
