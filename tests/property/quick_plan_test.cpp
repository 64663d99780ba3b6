// Plans that are not looked for: small circuits that run once run as they are written.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/make/planners.h"
#include "plan/once.h"
#include "plan/plan.h"
#include "qsim/session.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

std::uint64_t rounds() { return test::number_from("QSIM_QUICK", 60); }

TEST(QuickPlan, IsOneSweepOfTheGatesAsTheyAreWritten) {
  const Machine machine = find_machine("cpu");
  std::uint64_t made = 0;
  for (std::uint64_t seed = 1; seed <= rounds(); ++seed) {
    const auto qubits = static_cast<unsigned>(1 + seed % 7);
    const Circuit circuit = test::random_circuit({.qubits = qubits, .seed = seed, .further_gates = true});
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Start start : {Start::kZero, Start::kState}) {
      PlanOptions options;
      options.start = start;
      options.known_zeros = start == Start::kZero;
      if (start == Start::kState) options.initial_layout = Layout::identity(static_cast<int>(qubits));
      const std::optional<Plan> plan = quick_plan(circuit, machine, options);
      if (!plan) continue;
      ++made;
      EXPECT_EQ(plan_work(*plan).sweeps, 1u);
      dense::State from = dense::zero_state(qubits);
      if (start == Start::kState) from = dense::random_state(qubits, seed);
      const std::vector<Complex> found = start == Start::kZero ? test::interpret(*plan) : test::interpret(*plan, from);
      EXPECT_LE(dense::max_difference(dense::run(circuit, from), found),
                test::tolerance(Precision::kDouble, circuit.depth()));
    }
  }
  EXPECT_GT(made, rounds());  // of twice as many
}

TEST(QuickPlan, IsForOneRankAndForWhatTakesLittle) {
  const Machine machine = find_machine("cpu");
  const Circuit small = test::random_circuit({.qubits = 6});
  ASSERT_TRUE(quick_plan(small, machine, {}));
  PlanOptions ranks, tile, naive;
  ranks.rank_bits = 1;
  tile.tile_bits = 4;
  naive.strategy = Strategy::kNaive;
  for (const PlanOptions& options : {ranks, tile, naive}) EXPECT_FALSE(quick_plan(small, machine, options));
  EXPECT_FALSE(quick_plan(test::random_circuit({.qubits = kMostOnceBits + 1}), machine, {}));
  EXPECT_FALSE(quick_plan(test::random_circuit({.qubits = 3, .operations = kMostOnceOperations + 1}), machine, {}));
  // Each is written as three operations.
  Circuit swaps(3);
  while (swaps.operations().size() < kMostOnceOperations) swaps.cswap(0, 1, 2);
  EXPECT_FALSE(quick_plan(swaps, machine, {}));
  // A gate on a tile costs more than planning of it would: 2^13 amplitudes, each multiplied by a row of 64.
  Circuit wide(13);
  const auto matrix = test::random_unitary(6, 1);
  const std::vector<Qubit> targets{0, 1, 2, 3, 4, 5};
  for (int i = 0; i < 8; ++i) wide.add_unitary(matrix, {}, targets);
  EXPECT_FALSE(quick_plan(wide, machine, {}));
}

// The first run and the second one of a program are planned apart, and so are its counts and what it is said to do.
TEST(QuickPlan, LaterRunsOfAProgramGiveTheSame) {
  Target target;
  target.backend = BackendKind::kCpu;
  Session session(target);
  for (std::uint64_t seed = 1; seed <= rounds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto qubits = static_cast<unsigned>(1 + seed % 9);
    Circuit circuit = test::random_circuit({.qubits = qubits, .operations = 60, .seed = seed});
    const std::vector<Complex> wanted = dense::run(circuit);
    circuit.add_creg("c", qubits);
    for (Qubit q = 0; q < qubits; ++q) circuit.add_measure(q, q);
    const Program program = session.compile(circuit), other = session.compile(circuit);
    const double allowed = test::tolerance(Precision::kDouble, circuit.depth());
    const std::uint64_t sweeps = other.work().sweeps;
    for (int run = 0; run < 3; ++run) {
      State state = session.run(program);
      EXPECT_LE(dense::max_difference(wanted, state.amplitudes(0, Index{1} << qubits)), allowed) << "run " << run;
    }
    const Questions questions{.shots = 500, .seed = seed};
    const auto first = session.answer(session.compile(circuit), questions).counts;
    EXPECT_EQ(session.answer(program, questions).counts, first);
    EXPECT_EQ(session.answer(other, questions).counts, first);
    EXPECT_EQ(program.work().sweeps, sweeps);
  }
}

// The most gates that run so, all of one kind; in single precision the state is rounded once.
TEST(QuickPlan, AGateThousandsOfTimesKeepsTheNorm) {
  const std::vector<Complex> unitary = test::random_unitary(1, 3), pair = test::random_unitary(2, 4);
  const auto adjoint = [](const std::vector<Complex>& m, std::size_t order) {
    std::vector<Complex> made(m.size());
    for (std::size_t i = 0; i < m.size(); ++i) made[i] = std::conj(m[i % order * order + i / order]);
    return made;
  };
  using Block = std::function<void(Circuit&)>;
  const std::vector<Block> identities = {[](Circuit& c) { c.h(0).h(0).h(4).h(4); },
                                         [](Circuit& c) { c.ry(0.3, 4).ry(-0.3, 4).rx(1e-9, 0).rx(-1e-9, 0); },
                                         [&](Circuit& c) {
                                           for (const Qubit q : {0u, 4u}) {
                                             c.add_unitary(unitary, {}, std::vector<Qubit>{q});
                                             c.add_unitary(adjoint(unitary, 2), {}, std::vector<Qubit>{q});
                                           }
                                         },
                                         [&](Circuit& c) {
                                           c.add_unitary(pair, {}, std::vector<Qubit>{1, 3});
                                           c.add_unitary(adjoint(pair, 4), {}, std::vector<Qubit>{1, 3});
                                         }};
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    Target target;
    target.backend = BackendKind::kCpu;
    target.precision = precision;
    Session session(target);
    for (std::size_t i = 0; i < identities.size(); ++i) {
      Circuit circuit(5);
      circuit.ry(0.7, 0).cx(0, 4).ry(1.1, 3).cx(3, 1);
      const std::vector<Complex> wanted = dense::run(circuit);
      while (circuit.operations().size() < 4000) identities[i](circuit);
      PlanOptions options;
      options.precision = precision;
      options.known_zeros = true;
      const std::optional<Plan> plan = quick_plan(circuit, find_machine("cpu"), options);
      ASSERT_TRUE(plan && plan->stages.back().sweeps.front().once) << i;
      State state = session.run(session.compile(circuit));
      const bool is_double = precision == Precision::kDouble;
      EXPECT_LE(dense::max_difference(wanted, state.amplitudes(0, 32)), is_double ? 1e-12 : 1e-7) << i;
      EXPECT_NEAR(state.norm(), 1, is_double ? 5e-13 : 1e-7) << i;
    }
  }
}

}  // namespace
}  // namespace qsim
