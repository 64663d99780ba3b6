// The walk over branches: what it refuses, what it averages, what it reports, and that it can be done again.
#include "runtime/branch/program_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "runtime/read_out/observables.h"
#include "support/outcomes.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

void ry(Circuit& circuit, double angle, Qubit qubit) {
  circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{qubit}, std::vector<double>{angle});
}

constexpr double kFirst = 0.9, kSecond = 0.7;

/// Qubit 0 is 1 with probability sin^2(0.45) and measured; where it was 1, qubit 1 is flipped after its rotation. A
/// third qubit is reset in between.
Circuit branching() {
  Circuit circuit(3, 2);
  ry(circuit, kFirst, 0);
  circuit.h(2);
  circuit.add_measure(0, 0);
  ry(circuit, kSecond, 1);
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.x(1);
  }
  circuit.add_reset(2);
  circuit.cx(0, 2);
  circuit.add_measure(1, 1);
  return circuit;
}

const double kOne = std::pow(std::sin(kFirst / 2), 2), kZero = 1 - kOne, kStays = std::pow(std::cos(kSecond / 2), 2);

void with_branching(const std::function<void(test::RunParts&)>& body, int ranks = 1) {
  test::RunSetup setup;
  setup.ranks = ranks;
  test::with_run_parts(branching(), setup, body);
}

TEST(ProgramRun, AveragesEveryAnswerOverItsBranches) {
  const std::vector<std::vector<Qubit>> lists{{1}, {0, 2}};
  const std::vector<PauliSum> sums{{"", {{1, {0, 2}}, {1, {0, 5}}, {1, {0, 4}}}}};
  for (const int ranks : {1, 2, 4}) {
    with_branching(
        [&](test::RunParts& parts) {
          ReadOuts wanted;
          wanted.distribution = wanted.marginals = true;
          wanted.probabilities = lists;
          wanted.expectation = sums;
          const Answers answers = parts.run->run(wanted);
          EXPECT_EQ(answers.branches, 4u);
          ASSERT_EQ(answers.distribution->size(), 4u);
          EXPECT_NEAR(test::by_text(*answers.distribution).at("00"), kZero * kStays, 1e-12);
          EXPECT_NEAR(test::by_text(*answers.distribution).at("10"), kZero * (1 - kStays), 1e-12);
          EXPECT_NEAR(test::by_text(*answers.distribution).at("01"), kOne * (1 - kStays), 1e-12);
          EXPECT_NEAR(test::by_text(*answers.distribution).at("11"), kOne * kStays, 1e-12);
          const double one_of_1 = kZero * (1 - kStays) + kOne * kStays;
          ASSERT_EQ(answers.marginals->size(), 3u);
          EXPECT_NEAR(answers.marginals.value()[0], kOne, 1e-12);
          EXPECT_NEAR(answers.marginals.value()[1], one_of_1, 1e-12);
          EXPECT_NEAR(answers.marginals.value()[2], kOne, 1e-12);
          EXPECT_NEAR(answers.probabilities.value()[0].values[1], one_of_1, 1e-12);
          EXPECT_NEAR(answers.probabilities.value()[1].values[0], kZero, 1e-12);
          EXPECT_NEAR(answers.probabilities.value()[1].values[1], 0, 1e-12);
          EXPECT_NEAR(answers.probabilities.value()[1].values[3], kOne, 1e-12);
          EXPECT_NEAR(answers.expectation.value()[0].terms[0].value, 1 - 2 * one_of_1, 1e-12);
          EXPECT_NEAR(answers.expectation.value()[0].terms[1].value, 1, 1e-12);
          EXPECT_NEAR(answers.expectation.value()[0].terms[2].value, 1 - 2 * kOne, 1e-12);
        },
        ranks);
  }
}

TEST(ProgramRun, BarriersAreNoPartOfAProgram) {
  const auto planned = [](bool barriers) {
    Circuit circuit(2, 2);
    const auto barrier = [&] {
      if (barriers) circuit.add_barrier(std::vector<Qubit>{0, 1});
    };
    barrier();
    circuit.h(0);
    barrier();
    circuit.add_measure(0, 0);
    barrier();
    circuit.add_measure(0, 1);
    barrier();
    circuit.h(1);
    circuit.add_reset(1);
    barrier();
    std::pair<std::size_t, std::size_t> found;
    test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
      found = {parts.program.plans.size(), parts.program.steps.size()};
    });
    return found;
  };
  EXPECT_EQ(planned(true), planned(false));
}

TEST(ProgramRun, GivesTheSameAgain) {
  with_branching([&](test::RunParts& parts) {
    ReadOuts wanted;
    wanted.shots = 300;
    wanted.seed = 5;
    wanted.distribution = wanted.marginals = true;
    const Answers first = parts.run->run(wanted), second = parts.run->run(wanted);
    EXPECT_EQ(first.counts, second.counts);
    EXPECT_EQ(first.distribution, second.distribution);
    EXPECT_EQ(first.marginals, second.marginals);
    EXPECT_EQ(first.branches, second.branches);
    std::uint64_t shots = 0;
    for (const auto& [bits, times] : *second.counts) shots += times;
    EXPECT_EQ(shots, 300u);
  });
}

TEST(ProgramRun, StartsAfreshAfterARunThatWasRefused) {
  Circuit circuit(1, 14);
  for (Clbit flip = 0; flip < 14; ++flip) {
    circuit.h(0);
    circuit.add_measure(0, flip);
  }
  circuit.h(0);
  test::RunSetup setup;
  setup.snapshots = 2;
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    ReadOuts exact;
    exact.marginals = true;
    EXPECT_THROW(parts.run->run(exact), UnsupportedError);
    ReadOuts shots;
    shots.shots = 50;
    std::uint64_t total = 0;
    const Answers drawn = parts.run->run(shots);
    for (const auto& [bits, times] : *drawn.counts) total += times;
    EXPECT_EQ(total, 50u);
  });
}

TEST(ProgramRun, SaysHowManyBranchesAnExactAnswerWouldNeed) {
  Circuit circuit(1, 14);
  for (Clbit flip = 0; flip < 14; ++flip) {
    circuit.h(0);
    circuit.add_measure(0, flip);
  }
  circuit.h(0);
  test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
    ReadOuts exact;
    exact.marginals = true;
    try {
      parts.run->run(exact);
      ADD_FAILURE();
    } catch (const UnsupportedError& error) {
      EXPECT_NE(std::string(error.what()).find("more than 4096 branches (at least 4097, at most 2^14 for 14 "),
                std::string::npos)
          << error.what();
    }
  });
}

TEST(ProgramRun, FollowsTheLikelierOutcomeWhereNothingIsAsked) {
  for (const double angle : {0.9, 2.4}) {
    Circuit circuit(2, 1);
    ry(circuit, angle, 0);
    circuit.add_measure(0, 0);
    circuit.cx(0, 1);
    test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
      EXPECT_EQ(parts.run->run({}).branches, 1u);
      const std::vector<double> found = qubit_probabilities(*parts.state, std::vector<Qubit>{0, 1});
      const bool one = angle > 2;
      EXPECT_GT(found[one ? 3 : 0], 0);
      EXPECT_EQ(found[one ? 0 : 3], 0);
    });
  }
}

TEST(ProgramRun, WhatShotsDoNotReachIsLeftOut) {
  for (const std::uint64_t room : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    test::RunSetup setup;
    setup.walk_bytes = room;
    test::with_run_parts(branching(), setup, [&](test::RunParts& parts) {
      ReadOuts wanted;
      wanted.shots = 1;
      const Answers answers = parts.run->run(wanted);
      EXPECT_EQ(answers.branches, 1u);
      EXPECT_GT(answers.branches_left_out, 0.1);
      EXPECT_NEAR(answers.weight + answers.branches_left_out, 1, 1e-12);
    });
  }
}

TEST(ProgramRun, ReportsTheShareOfProbabilityThatItHasWalked) {
  with_branching([&](test::RunParts& parts) {
    std::vector<double> shares;
    parts.run->on_progress = [&](double share) { shares.push_back(share); };
    ReadOuts exact;
    exact.marginals = true;
    for (int time = 0; time < 2; ++time) {
      shares.clear();
      parts.run->run(exact);
      ASSERT_EQ(shares.size(), 4u);
      EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
      EXPECT_NEAR(shares[0], kZero / 2, 1e-12);  // 0 first; the reset splits each branch evenly
      EXPECT_NEAR(shares[3], 1, 1e-12);
      EXPECT_LE(shares[3], 1);
    }
  });
}

// Each branch counts as often as shots took it, whatever its state is scaled to.
TEST(ProgramRun, MarginalsOfShotsAreThoseOfTheBranchesThatWereTaken) {
  for (const double angle : {0.5, 1.2, 2.0}) {
    Circuit circuit(2, 1);
    ry(circuit, angle, 0);
    circuit.add_measure(0, 0);
    circuit.cx(0, 1);
    for (const std::uint64_t room : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
      test::RunSetup setup;
      setup.walk_bytes = room;
      test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
        ReadOuts wanted;
        wanted.shots = 1000;
        wanted.seed = 3;
        wanted.shot_marginals = true;
        const Answers answers = parts.run->run(wanted);
        const double ones = static_cast<double>(test::by_text(*answers.counts).at("1")) / 1000;
        ASSERT_EQ(answers.shot_marginals.size(), 2u);
        EXPECT_NEAR(answers.shot_marginals[0], ones, 1e-12);
        EXPECT_NEAR(answers.shot_marginals[1], ones, 1e-12);
      });
    }
  }
}

// What lists of outcomes leave out counts in what is left of 1, with the branch's own weight.
TEST(ProgramRun, AddsUpWhatItsListsLeaveOut) {
  Circuit circuit(2, 2);
  circuit.h(0);
  circuit.add_measure(0, 0);
  ry(circuit, 2 * std::asin(0x1p-31), 1);
  circuit.add_measure(1, 1);
  for (const int ranks : {1, 2}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
      ReadOuts wanted;
      wanted.distribution = true;
      const Answers answers = parts.run->run(wanted);
      EXPECT_EQ(answers.distribution->size(), 2u);
      EXPECT_NEAR(answers.outcomes_left_out, 0x1p-62, 0x1p-68);
    });
  }
}

TEST(ProgramRun, DoesNotCountTheExchangesOfReadOuts) {
  test::RunSetup setup;
  setup.ranks = 4;
  Circuit circuit(6);
  for (Qubit qubit = 0; qubit < 6; ++qubit) ry(circuit, 0.3, qubit);
  for (Qubit qubit = 0; qubit < 5; ++qubit) circuit.cx(qubit, qubit + 1);
  for (Qubit qubit = 0; qubit < 6; ++qubit) ry(circuit, 0.3, qubit);
  const std::vector<PauliSum> sums{{"", {{1, {63, 0}}, {1, {63, 51}}}}};
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    const std::uint64_t planned = plan_work(parts.program.plans.at(0)).bytes_exchanged_per_rank;
    ReadOuts wanted;
    wanted.expectation = sums;
    wanted.shots = 10;
    const std::uint64_t before = parts.exchanges->bytes_sent();
    const Answers answers = parts.run->run(wanted);
    EXPECT_EQ(answers.exchange_bytes, planned);
    EXPECT_GT(parts.exchanges->bytes_sent() - before, planned);
    EXPECT_GT(planned, 0u);
    EXPECT_GT(answers.exchange_seconds, 0);
    EXPECT_LT(answers.exchange_seconds, parts.exchanges->seconds());
    EXPECT_GT(answers.read_seconds, 0);
    EXPECT_LT(answers.read_seconds, 60);
  });
}

TEST(ProgramRun, GoesBackNoFurtherThanToTheNearestSavedState) {
  Circuit circuit(2, 6);
  for (Clbit flip = 0; flip < 6; ++flip) {
    circuit.h(0);
    circuit.add_measure(0, flip);
  }
  circuit.h(0);
  std::vector<std::uint64_t> sweeps;
  for (const std::uint32_t snapshots : {0u, 1u, 2u, 4u}) {
    test::RunSetup setup;
    setup.snapshots = snapshots;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      ReadOuts exact;
      exact.marginals = true;
      EXPECT_EQ(parts.run->run(exact).branches, 64u);
      sweeps.push_back(parts.executor->counts().sweeps);
    });
  }
  const std::vector<std::uint64_t> reached{832, 655, 457, 271};
  for (std::size_t i = 0; i < reached.size(); ++i) EXPECT_LE(sweeps[i], reached[i]) << i;
}

TEST(ProgramRun, RefusesAProgramThatDoesNotBeginWithItsStart) {
  const std::vector<std::function<void(PlannedCircuit&)>> spoilers{
      [](PlannedCircuit& program) { program.steps.clear(); },
      [](PlannedCircuit& program) { program.steps.erase(program.steps.begin()); },
      [](PlannedCircuit& program) { program.steps.front().condition = 0; },
      [](PlannedCircuit& program) { program.plans.front().start = Start::kState; },
  };
  for (const auto& spoil : spoilers) {
    test::RunSetup setup;
    setup.change = spoil;
    EXPECT_THROW(test::with_run_parts(branching(), setup, [](test::RunParts&) {}), Error);
  }
  EXPECT_NO_THROW(with_branching([](test::RunParts&) {}));
}

TEST(ProgramRun, RefusesAConditionalPlanThatMovesQubits) {
  test::RunSetup setup;
  setup.change = [](PlannedCircuit& program) {
    for (const Step& step : program.steps) {
      if (step.kind != Step::Kind::kPlan || step.condition < 0) continue;
      Plan& plan = program.plans.at(step.plan);
      std::swap(plan.final_layout.bit_of[0], plan.final_layout.bit_of[1]);
    }
  };
  EXPECT_THROW(test::with_run_parts(branching(), setup, [](test::RunParts&) {}), Error);
}

}  // namespace
}  // namespace qsim
