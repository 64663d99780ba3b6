// The second walk agrees with a right program and refuses one that is wrong anywhere.
#include "simulator/run/second_walk.h"

#include <gtest/gtest.h>

#include <array>

#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "support/random_dynamic.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

/// Conditions first and last, a measurement that a condition reads, a reset, and terminal measurements.
Circuit example() {
  Circuit circuit(3, 3);
  {
    const auto scope = circuit.when({0, 2, false});
    circuit.x(2);
  }
  circuit.h(0);
  circuit.cx(0, 1);
  circuit.add_measure(1, 0);
  const double angle[] = {0.3};
  {
    const auto scope = circuit.when({0, 1, false});
    const Qubit target[] = {2};
    circuit.add_gate(Gate::kRy, {}, target, angle);
  }
  circuit.add_reset(0);
  circuit.add_gate(Gate::kRy, {}, std::array<Qubit, 1>{0}, angle);
  circuit.add_measure(0, 1);
  circuit.add_measure(2, 2);
  return circuit;
}

ReadOuts everything() {
  ReadOuts wanted;
  wanted.shots = 500;
  wanted.seed = 4;
  wanted.distribution = wanted.marginals = wanted.shot_marginals = true;
  return wanted;
}

ReadOuts shots_only() {
  ReadOuts wanted;
  wanted.shots = 500;
  wanted.seed = 4;
  wanted.shot_marginals = true;
  return wanted;
}

/// Walks `circuit` twice, the first time as `change` has left the program.
void walk_twice(
    const Circuit& circuit, const ReadOuts& wanted, int ranks,
    const std::function<void(PlannedCircuit&)>& change = [](PlannedCircuit&) {}) {
  test::RunSetup setup;
  setup.ranks = ranks;
  setup.snapshots = 3;
  setup.change = change;
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    const Answers first = parts.run->run(wanted);
    PlanOptions options;
    options.rank_bits = parts.state->rank_bits;
    SecondWalk second(circuit, parts.program, find_machine("cpu"), options);
    ProgramRun run(second.program(), circuit, *parts.state, *parts.exchanges, *parts.executor, 3);
    run.prepare(false);
    second.compare(first, run, wanted);
  });
}

TEST(SecondWalk, AgreesWithARightProgram) {
  for (const int ranks : {1, 2, 4}) {
    EXPECT_NO_THROW(walk_twice(example(), everything(), ranks));
    EXPECT_NO_THROW(walk_twice(example(), shots_only(), ranks));
  }
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Circuit circuit = test::random_dynamic({.seed = seed});
    ReadOuts wanted = everything();
    wanted.distribution = circuit.clbits() > 0;
    EXPECT_NO_THROW(walk_twice(circuit, wanted, 1)) << seed;
  }
}

TEST(SecondWalk, MakesAStepOfEveryOperation) {
  const Circuit circuit = example();
  const Machine machine = find_machine("cpu");
  const PlannedCircuit first = plan_circuit(circuit, machine, {});
  const PlannedCircuit second = SecondWalk(circuit, first, machine, {}).program();
  EXPECT_EQ(second.plans.size(), 6u) << "the start and five gates";
  EXPECT_EQ(second.steps.size(), 8u);
  EXPECT_EQ(second.collapses(), first.collapses());
  EXPECT_EQ(second.steps[1].condition, 0);
  EXPECT_EQ(second.steps[2].condition, -1);
}

TEST(SecondWalk, WalksProgramsThatMeasurementsDecide) {
  const Circuit circuit = parse_qasm(
                              "OPENQASM 3.0; include \"stdgates.inc\"; qubit[2] q; bit c = 1; int[8] k = 0;"
                              "while (c) { reset q[0]; h q[0]; ry(0.4) q[1]; c = measure q[0]; k += 2; }"
                              "bit d = measure q[1];")
                              .circuit;
  for (const int ranks : {1, 2}) {
    EXPECT_NO_THROW(walk_twice(circuit, everything(), ranks));
    EXPECT_NO_THROW(walk_twice(circuit, shots_only(), ranks));
  }
  ReadOuts wanted;
  wanted.distribution = true;
  const std::vector<std::pair<std::string, std::function<void(PlannedCircuit&)>>> changes = {
      {"a variable counts in other steps",
       [](PlannedCircuit& program) {
         for (Scalar& constant : program.control->constants) {
           if (constant == make_word({ScalarKind::kInt, 64}, 2)) constant.word = 3;
         }
       }},
      {"a block loses its gates",
       [](PlannedCircuit& program) { program.plans.back().stages.back().sweeps.back().ops.clear(); }},
      {"a branch goes the other way", [](PlannedCircuit& program) {
         for (Step& step : program.steps) {
           if (step.flow.kind == FlowStep::Kind::kBranch) step.flow.b += 1;
         }
       }}};
  for (const auto& [name, change] : changes) {
    EXPECT_THROW(walk_twice(circuit, wanted, 1, change), VerificationError) << name;
  }
}

TEST(SecondWalk, RefusesAProgramThatIsWrongAnywhere) {
  const std::vector<std::pair<std::string, std::function<void(PlannedCircuit&)>>> changes = {
      {"the first condition is lost", [](PlannedCircuit& program) { program.steps[1].condition = -1; }},
      {"a condition holds the other way round",
       [](PlannedCircuit& program) { program.conditions[1].negated = !program.conditions[1].negated; }},
      {"the measurement reads another qubit",
       [](PlannedCircuit& program) {
         for (Step& step : program.steps) {
           if (program.records(step)) step.qubit = 2;
         }
       }},
      {"the measurement writes another bit",
       [](PlannedCircuit& program) {
         for (Step& step : program.steps) {
           if (program.records(step)) step.clbit = 2;
         }
       }},
      {"the reset only measures",
       [](PlannedCircuit& program) {
         for (Step& step : program.steps) {
           if (step.kind != Step::Kind::kInstrument || program.records(step)) continue;
           step.instrument = PlannedCircuit::kMeasurement;
           step.clbit = 2;
         }
       }},
      {"the terminal measurements change places",
       [](PlannedCircuit& program) {
         std::swap(program.terminal_measures[0].second, program.terminal_measures[1].second);
       }},
      {"a gate is lost",
       [](PlannedCircuit& program) {
         Plan& last = program.plans.back();
         for (Stage& stage : last.stages) {
           for (Sweep& sweep : stage.sweeps) sweep.ops.clear();
         }
       }},
  };
  for (const auto& [what, change] : changes) {
    for (const ReadOuts& wanted : {everything(), shots_only()}) {
      EXPECT_THROW(walk_twice(example(), wanted, 1, change), VerificationError)
          << what << (wanted.distribution ? "" : ", shots only");
    }
  }
}

// Even one that changes no answer: a measurement of what is known.
TEST(SecondWalk, RefusesAProgramThatHasLostAMeasurement) {
  Circuit circuit(1, 1);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.add_measure(0, 0);
  circuit.h(0);
  const Machine machine = find_machine("cpu");
  PlannedCircuit program = plan_circuit(circuit, machine, {});
  EXPECT_NO_THROW(SecondWalk(circuit, program, machine, {}));
  program.steps.erase(program.steps.begin() + 1);
  EXPECT_THROW(SecondWalk(circuit, program, machine, {}), VerificationError);
}

}  // namespace
}  // namespace qsim
