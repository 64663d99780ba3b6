// What the plans of a program hold of measurements and resets, and how shots draw among the outcomes.
#include "plan/program/instrument.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "plan/program/forecast.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "runtime/branch/walker.h"
#include "runtime/read_out/sampling.h"
#include "support/outcomes.h"
#include "support/random_dynamic.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

TEST(Instrument, MeasurementsAndResetsKeepEachValueOnce) {
  using Transitions = std::vector<Transition>;
  EXPECT_EQ(transitions(measurement()), (Transitions{{false, false}, {true, true}}));
  EXPECT_EQ(transitions(reset()), (Transitions{{false, false}, {true, false}}));
  EXPECT_TRUE(measurement().records);
  EXPECT_FALSE(reset().records);
  // An outcome's number is not the qubit's value.
  EXPECT_EQ(transitions({"flipped", {{0, 0, 0, 1}, {0, 0, 1, 0}}, {}, true}),
            (Transitions{{true, true}, {false, true}}));
}

TEST(Instrument, OthersAreRefused) {
  const std::vector<Complex> zero{1, 0, 0, 0}, one{0, 0, 0, 1}, identity{1, 0, 0, 1}, flip{0, 1, 1, 0};
  const std::vector<Instrument> others = {
      {"loses 1", {zero}, {}, false},
      {"keeps 0 twice", {zero, zero}, {}, false},
      {"keeps 0 thrice", {zero, one, zero}, {}, false},
      {"nothing", {}, {}, false},
      {"a mixture", {identity, flip}, {0.9, 0.1}, false},
      {"a mixture of projections", {zero, one}, {0.5, 0.5}, false},
      {"two gates", {identity, flip}, {}, false},
      {"less than all", {zero, {0, 0, 0, 0.5}}, {}, false},
      {"another phase", {zero, {0, 0, 0, -1}}, {}, false},
      {"two qubits", {std::vector<Complex>(16, 0), one}, {}, false},
      {"of no size", {{}, one}, {}, false},
  };
  for (const Instrument& other : others) EXPECT_THROW(transitions(other), Error) << other.name;
}

TEST(Instrument, AProgramWithOneThatIsNotRunIsRefusedBeforeItRuns) {
  Circuit circuit(1, 1);
  circuit.h(0);
  circuit.add_reset(0);
  test::RunSetup setup;
  setup.change = [](PlannedCircuit& program) {
    program.instruments[PlannedCircuit::kReset].operators[1] = {0, 0, 1, 0};
  };
  EXPECT_THROW(test::with_run_parts(circuit, setup, [](test::RunParts&) {}), Error);
}

// The operators are what runs: with others the same program does something else.
TEST(Instrument, TheOperatorsOfAProgramAct) {
  Circuit circuit(2, 2);
  for (const Qubit qubit : {0, 1}) {
    circuit.h(qubit);
    circuit.add_reset(qubit);
    circuit.add_measure(qubit, qubit);
  }
  for (const int ranks : {1, 2}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    setup.change = [](PlannedCircuit& program) {
      program.instruments[PlannedCircuit::kReset].operators = {{0, 0, 1, 0}, {0, 0, 0, 1}};  // sets to 1
    };
    test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
      ReadOuts wanted;
      wanted.distribution = true;
      wanted.shots = 100;
      const Answers answers = parts.run->run(wanted);
      EXPECT_NEAR(test::by_text(*answers.distribution).at("11"), 1, 1e-15);
      EXPECT_EQ(test::by_text(*answers.counts).at("11"), 100u);
    });
  }
}

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t count, std::uint64_t step = 1) {
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = first + i * step;
  return all;
}

/// An instrument of so many outcomes, some of them rare and some impossible.
std::vector<std::uint64_t> made_up(std::size_t outcomes, std::uint64_t seed) {
  std::vector<std::uint64_t> units(outcomes);
  for (std::size_t k = 0; k < outcomes; ++k) {
    const std::uint64_t word = shot_word(seed, k, 0);
    units[k] = k % 4 == 3 ? 0 : (word >> 8) / outcomes + 1;
  }
  return units;
}

TEST(SplitShots, EveryShotFallsOnTheOutcomeThatItsWordNames) {
  for (std::size_t outcomes = 1; outcomes <= 16; ++outcomes) {
    const std::vector<std::uint64_t> units = made_up(outcomes, outcomes);
    const std::uint64_t total = std::accumulate(units.begin(), units.end(), std::uint64_t{0});
    const std::vector<ShotLists> split = split_shots({{5, numbers(0, 2000)}}, units, 3);
    ASSERT_EQ(split.size(), outcomes);
    std::uint64_t begin = 0, fallen = 0;
    for (std::size_t k = 0; k < outcomes; ++k) {
      std::vector<std::uint64_t> expected;
      for (std::uint64_t shot = 0; shot < 2000; ++shot) {
        const std::uint64_t place = scale_word(shot_word(3, shot, 5), total);
        if (place >= begin && place < begin + units[k]) expected.push_back(shot);
      }
      begin += units[k];
      fallen += expected.size();
      ASSERT_EQ(split[k].size(), expected.empty() ? 0u : 1u) << k << " of " << outcomes;
      if (expected.empty()) continue;
      EXPECT_EQ(split[k][0].shots, expected) << k << " of " << outcomes;
      EXPECT_EQ(split[k][0].draws, 6u);
    }
    EXPECT_EQ(fallen, 2000u);
  }
}

TEST(SplitShots, SharesAreTheProbabilities) {
  const std::vector<std::uint64_t> units = made_up(7, 2);
  const auto total = static_cast<double>(std::accumulate(units.begin(), units.end(), std::uint64_t{0}));
  const std::uint64_t shots = 200'000;
  const std::vector<ShotLists> split = split_shots({{0, numbers(0, shots)}}, units, 11);
  double chi_square = 0;
  int outcomes = 0;
  for (std::size_t k = 0; k < units.size(); ++k) {
    const double expected = static_cast<double>(units[k]) / total * static_cast<double>(shots);
    if (units[k] == 0) {
      EXPECT_TRUE(split[k].empty());
      continue;
    }
    const double off = static_cast<double>(split[k].at(0).size()) - expected;
    chi_square += off * off / expected;
    ++outcomes;
  }
  EXPECT_EQ(outcomes, 6);
  EXPECT_LT(chi_square, 25.7);  // one in 10,000 of 5 degrees of freedom
}

// What a shot draws depends on its number and its own history, not on the shots that are with it.
TEST(SplitShots, ListsAreSplitAsIfEachWereAlone) {
  const std::vector<std::uint64_t> units = made_up(3, 9);
  const ShotLists all = {{2, numbers(0, 300, 3)}, {7, numbers(1, 300, 3)}, {0, numbers(2, 300, 3)}};
  const std::vector<ShotLists> together = split_shots(all, units, 4);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<ShotLists> alone = split_shots({all[i]}, units, 4);
    for (std::size_t k = 0; k < units.size(); ++k) {
      ASSERT_EQ(together[k].size(), 3u);
      EXPECT_EQ(together[k][i].shots, alone[k].at(0).shots);
      EXPECT_EQ(together[k][i].draws, all[i].draws + 1);
    }
  }
}

TEST(SplitShots, AHistoryOfMoreDrawsThanThereAreWordsIsRefused) {
  const auto last = static_cast<std::uint32_t>(kMaxDraws - 1);
  const std::vector<std::uint64_t> units = {1, 1, 1};
  EXPECT_NO_THROW(split_shots({{last, {0}}}, units, 1));
  EXPECT_THROW(split_shots({{last + 1, {0}}}, units, 1), UnsupportedError);
}

/// Half of the shots measure qubit 1 on their way, where `measures`; then qubit 2 is measured.
Circuit skipping(bool measures) {
  Circuit circuit(3, 3);
  for (Qubit qubit = 0; qubit < 3; ++qubit) circuit.h(qubit);
  circuit.add_measure(0, 0);
  if (measures) {
    const auto scope = circuit.when({0, 1, false});
    circuit.add_measure(1, 1);
  }
  circuit.h(0);
  circuit.h(0);
  circuit.add_measure(2, 2);
  circuit.add_reset(2);
  return circuit;
}

// The words of a shot: 1 for qubit 0, then 2 for qubit 1 or for qubit 2, then 3 for qubit 2.
TEST(History, ASkippedMeasurementTakesNoWord) {
  test::with_run_parts(skipping(true), {}, [](test::RunParts& parts) {
    ReadOuts wanted;
    wanted.shots = 500;
    wanted.seed = 8;
    std::map<std::string, std::uint64_t> expected;
    for (std::uint64_t shot = 0; shot < 500; ++shot) {
      const auto bit = [&](std::uint64_t draw) { return shot_word(8, shot, draw) >> 63 == 1 ? '1' : '0'; };
      const char first = bit(1);
      ++expected[{bit(first == '1' ? 3 : 2), first == '1' ? bit(2) : '0', first}];
    }
    EXPECT_EQ(test::by_text(*parts.run->run(wanted).counts), expected);
  });
}

// Shots that skip a block fall as they fall without it.
TEST(History, ABlockThatIsSkippedShiftsNothing) {
  const auto counts_of = [](bool measures) {
    std::map<std::string, std::uint64_t> skipped;
    test::with_run_parts(skipping(measures), {}, [&](test::RunParts& parts) {
      ReadOuts wanted;
      wanted.shots = 500;
      wanted.seed = 8;
      const Answers answers = parts.run->run(wanted);
      for (const auto& [bits, times] : test::by_text(*answers.counts)) {
        if (bits.back() == '0') skipped[bits] += times;
      }
    });
    return skipped;
  };
  const auto without = counts_of(false);
  EXPECT_EQ(without.size(), 2u);
  EXPECT_EQ(counts_of(true), without);
}

// One branch, and shots in it that have drawn twice and three times: the terminal measurements are their next draw.
TEST(History, ShotsWhoseBranchesHaveMetKeepTheirNumbers) {
  Circuit circuit(2, 2);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.add_reset(0);
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.add_reset(0);
  }
  circuit.add_measure(0, 0);
  circuit.h(1);
  circuit.add_measure(1, 1);
  test::RunSetup setup;
  setup.walk_bytes = std::uint64_t{1} << 20;
  test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
    ReadOuts wanted;
    wanted.shots = 500;
    wanted.seed = 8;
    const Answers answers = parts.run->run(wanted);
    EXPECT_EQ(answers.branches, 1u);
    std::map<std::string, std::uint64_t> expected;
    for (std::uint64_t shot = 0; shot < 500; ++shot) {
      const std::uint64_t draw = shot_word(8, shot, 1) >> 63 == 1 ? 4 : 3;
      ++expected[shot_word(8, shot, draw) >> 63 == 1 ? "10" : "00"];
    }
    EXPECT_EQ(test::by_text(*answers.counts), expected);
  });
}

// Side by side, depth first with and without room for states, in parts, and on several ranks.
TEST(History, EveryWayToWalkGivesTheSameCounts) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Circuit circuit = test::random_dynamic({.seed = seed});
    ReadOuts wanted;
    wanted.shots = 400;
    wanted.seed = seed;
    std::map<std::string, std::uint64_t> first;
    const auto expect_same = [&](int ranks, std::uint32_t snapshots, std::uint64_t walk_bytes) {
      test::RunSetup setup;
      setup.ranks = ranks;
      setup.snapshots = snapshots;
      setup.walk_bytes = walk_bytes;
      test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
        const auto counts = test::by_text(*parts.run->run(wanted).counts);
        if (first.empty()) first = counts;
        EXPECT_EQ(counts, first) << seed << ": " << ranks << " ranks, room for " << snapshots << " states";
      });
    };
    expect_same(1, 0, 0);
    expect_same(1, 3, 0);
    expect_same(1, 0, std::uint64_t{1} << 24);
    expect_same(1, 0, 64 * (std::uint64_t{16} << circuit.qubits()));
    if (circuit.qubits() >= 1 + needed_local_bits(circuit)) expect_same(2, 1, 0);
    if (circuit.qubits() >= 2 + needed_local_bits(circuit)) expect_same(4, 0, 0);
  }
}

}  // namespace
}  // namespace qsim
