// Operations with many controls, some of which ask for 0, and where every operation of a circuit went.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/layout.h"
#include "base/numbers/matrix2.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/make/search.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/busy_circuit.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

Circuit layer_of_turns(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q)
    circuit.add_gate(Gate::kRy, {}, std::span(&q, 1), std::vector<double>{0.4 + 0.1 * q});
  // Flips that follow do not join the turns.
  for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cp(0.2, q, q + 1);
  return circuit;
}

/// A phase, a flip, a turn and two rotations about Z under controls, of which those in `zeros` ask for 0.
Circuit controlled_circuit(std::uint32_t controls, Index zeros) {
  const std::uint32_t qubits = controls + 2;
  Circuit circuit = layer_of_turns(qubits);
  std::vector<Qubit> on;
  for (Qubit q = 0; q < controls; ++q) on.push_back(q);
  const auto flip = [&] {
    for (Qubit q = 0; q < qubits; ++q)
      if ((zeros >> q & 1) != 0) circuit.x(q);
  };
  const auto turn = [&](Qubit q) { circuit.add_gate(Gate::kRx, {}, std::span(&q, 1), std::vector<double>{0.7}); };
  const Qubit target = controls, other = controls + 1;
  flip();
  circuit.add_gate(Gate::kPhase, on, std::span(&target, 1), std::vector<double>{0.9});
  circuit.add_pauli_rotation(0.8, "ZZ", std::vector<Qubit>{target, other}, on);
  flip();
  turn(target);
  flip();
  circuit.add_gate(Gate::kX, on, std::span(&target, 1));
  circuit.add_gate(Gate::kU, on, std::span(&other, 1), std::vector<double>{0.3, 0.5, 0.7});
  circuit.add_pauli_rotation(0.6, "Z", std::vector<Qubit>{other}, on);
  flip();
  turn(0);
  turn(other);
  return circuit;
}

TEST(PlanControls, ThatAskForZeroGiveTheReferenceState) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  for (std::uint32_t controls = 1; controls <= 6; ++controls) {
    for (Index zeros = 0; zeros < Index{1} << (controls + 1); zeros += controls < 4 ? 1 : 5) {
      const Circuit circuit = controlled_circuit(controls, zeros);
      const dense::State start = dense::random_state(circuit.qubits(), zeros + 1),
                         expected = dense::run(circuit, start);
      for (const Strategy strategy : {Strategy::kGreedy, Strategy::kSearch}) {
        PlanOptions options;
        options.strategy = strategy;
        options.start = Start::kState;
        options.tile_bits = 3;
        options.rank_bits = controls % 2;
        options.initial_layout = Layout::identity(static_cast<int>(circuit.qubits()));
        if (zeros % 3 == 2) options.disabled_passes = {"split_controls"};
        if (zeros % 3 == 1) options.disabled_passes = {"merge_runs", "cancel_inverses"};
        const Plan plan = make_plan(circuit, machine, options);
        ASSERT_LE(dense::max_difference(test::interpret(plan, start), expected), 1e-13)
            << controls << " controls, zeros " << zeros << ", strategy " << static_cast<int>(strategy);
      }
    }
  }
}

TEST(PlanControls, WholeOnesGiveTheReferenceState) {
  Machine machine = find_machine("h200");
  machine.min_tile_bits = 2;
  const test::Campaign campaign(80);
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    const Circuit circuit =
        seed % 2 == 0 ? test::busy_circuit(seed) : test::random_circuit({.qubits = 6, .operations = 50, .seed = seed});
    const bool zero = seed % 3 == 0;
    const dense::State start = zero ? dense::zero_state(circuit.qubits()) : dense::random_state(circuit.qubits(), seed);
    PlanOptions options;
    options.start = zero ? Start::kZero : Start::kState;
    options.tile_bits = 3;
    options.rank_bits = seed % 2;
    options.initial_layout = Layout::identity(static_cast<int>(circuit.qubits()));
    options.disabled_passes = {"split_controls"};
    const Plan plan = make_plan(circuit, machine, options);
    ASSERT_LE(dense::max_difference(test::interpret(plan, start), dense::run(circuit, start)), 1e-12) << seed;
  }
}

/// A spin chain's evolution under the control of other qubits.
Circuit controlled_evolution(std::uint32_t chain, std::uint32_t controls, bool as_matrices) {
  Circuit circuit(chain + controls);
  for (Qubit q = 0; q < circuit.qubits(); ++q) circuit.ry(0.3 + 0.1 * q, q);
  for (Qubit control = 0; control < controls; ++control) {
    const double angle = 0.1 * (control + 1);
    for (Qubit a = controls; a + 1 < circuit.qubits(); ++a) {
      circuit.cx(a, a + 1);
      const double c = std::cos(angle / 2), s = std::sin(angle / 2);
      if (as_matrices) {  // with what rounding leaves where nothing should be
        const Matrix2 matrix{c, Complex(3e-17, -s), Complex(-2e-17, -s), Complex(c, 1e-17)};
        circuit.add_unitary(matrix, std::span(&control, 1), std::span(&a, 1));
      } else {
        circuit.add_gate(Gate::kRx, std::span(&control, 1), std::span(&a, 1), std::vector<double>{angle});
      }
      circuit.cp(angle, control, a + 1);
      circuit.cx(a, a + 1);
    }
  }
  return circuit;
}

/// Givens rotations between neighbours, layer after layer, each followed by a phase.
Circuit givens_fabric(std::uint32_t qubits, std::uint32_t layers) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; q += 2) circuit.x(q);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    for (Qubit a = layer % 2; a + 1 < qubits; a += 2) {
      const double angle = 0.3 + 0.1 * a + 0.07 * layer;
      const Qubit b = a + 1;
      circuit.cx(a, b);
      circuit.add_gate(Gate::kRy, std::span(&b, 1), std::span(&a, 1), std::vector<double>{angle});
      circuit.cx(a, b);
      circuit.rz(angle / 2, b);
    }
  }
  return circuit;
}

TEST(PlanControls, StayWholeWhereThatTakesLess) {
  const Machine machine = find_machine("h200");
  const Circuit circuit = givens_fabric(26, 20);
  for (const Start start : {Start::kRandom, Start::kZero}) {
    PlanOptions options;
    options.start = start;
    const Lowered lowered = lower_optimized(circuit, {"split_turns"});
    double split = 1e300;
    for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
      const Plan plan = searched_plan(lowered, machine, options, {.seed = seed, .pack = seed == 2});
      split = std::min(split, plan_work(plan).total_seconds);
    }
    const double seconds = plan_work(make_plan(circuit, machine, options)).total_seconds;
    EXPECT_LT(seconds, 0.95 * split) << "start " << static_cast<int>(start) << ", ms " << 1e3 * seconds << " for "
                                     << 1e3 * split;
  }
}

TEST(PlanControls, RoundingInAMatrixCostsNothing) {
  const Machine machine = find_machine("h200");
  for (const Strategy strategy : {Strategy::kGreedy, Strategy::kSearch}) {
    PlanOptions options;
    options.start = Start::kRandom;
    options.strategy = strategy;
    const auto seconds = [&](bool as_matrices) {
      return plan_work(make_plan(controlled_evolution(17, 6, as_matrices), machine, options)).total_seconds;
    };
    EXPECT_NEAR(seconds(true), seconds(false), 1e-3 * seconds(false)) << static_cast<int>(strategy);
  }
}

TEST(PlanTrace, SaysWhereEveryOperationWentWhateverIsLeftOut) {
  Machine machine = find_machine("h200");
  machine.min_tile_bits = 2;
  const auto passes = pass_names();
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    const Circuit circuit =
        seed % 2 == 0 ? test::busy_circuit(seed) : test::random_circuit({.qubits = 5, .operations = 30, .seed = seed});
    PlanOptions options;
    constexpr Strategy kStrategies[] = {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch};
    options.strategy = kStrategies[seed % 3];
    options.trace = true;
    options.tile_bits = 3;
    options.start = seed % 5 == 0 ? Start::kRandom : Start::kZero;
    if (seed % 4 == 0) options.disabled_passes = {std::string(passes[seed / 4 % passes.size()])};
    const Plan plan = make_plan(circuit, machine, options);
    std::vector<int> named(circuit.operations().size(), 0);
    std::uint32_t before = 0;
    for (const TraceEntry& entry : plan.trace) {
      EXPECT_GE(entry.operation, before) << "seed " << seed;
      before = entry.operation;
      ++named[entry.operation];
      EXPECT_EQ(entry.note.empty(), entry.stage >= 0) << "seed " << seed;
      if (entry.stage < 0) continue;
      const Sweep& sweep =
          plan.stages[static_cast<std::size_t>(entry.stage)].sweeps[static_cast<std::size_t>(entry.sweep)];
      EXPECT_GT(sweep.ops[static_cast<std::size_t>(entry.op)].gates, 0u) << "seed " << seed << ", " << entry.operation;
    }
    for (std::size_t i = 0; i < named.size(); ++i) EXPECT_EQ(named[i], 1) << "seed " << seed << ", operation " << i;
    if (HasFailure()) return;
  }
}

TEST(PlanControls, AFlipMovesThroughADiagonalUnlessThatIsLeftOut) {
  Circuit circuit(3);
  circuit.rzz(0.3, 0, 1).x(0).rzz(0.4, 0, 2).ry(0.5, 0);
  PlanOptions options;
  options.start = Start::kState;
  const auto turns = [&] {
    std::size_t count = 0;
    for (const Stage& stage : make_plan(circuit, find_machine("cpu"), options).stages)
      for (const Sweep& sweep : stage.sweeps)
        count += static_cast<std::size_t>(
            std::ranges::count_if(sweep.ops, [](const PlanOp& op) { return op.form != Form::kPhases; }));
    return count;
  };
  EXPECT_EQ(turns(), 1U);
  options.disabled_passes = {"absorb_flips"};
  EXPECT_EQ(turns(), 1U);
  options.disabled_passes = {"absorb_flips", "move_flips"};
  EXPECT_EQ(turns(), 2U);
}

}  // namespace
}  // namespace qsim
