// Programs of random dynamic circuits: every branch run through the interpreter gives the reference's distribution.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

struct Branch {
  dense::State state;
  std::uint64_t bits = 0;
  double probability = 1;
};

class ProgramRunner {
 public:
  ProgramRunner(const Circuit& circuit, const PlannedCircuit& program) : circuit_(circuit), program_(program) {}

  std::map<std::uint64_t, double> run() {
    std::vector<Branch> branches{{{}, 0, 1}};
    for (const Step& step : program_.steps) {
      std::vector<Branch> next;
      for (Branch& branch : branches) apply(step, std::move(branch), next);
      branches = std::move(next);
    }
    for (const auto& [qubit, clbit] : program_.terminal_measures) {
      const Step step{Step::Kind::kInstrument, -1, 0, PlannedCircuit::kMeasurement, qubit, clbit};
      std::vector<Branch> next;
      for (Branch& branch : branches) apply(step, std::move(branch), next);
      branches = std::move(next);
    }
    std::map<std::uint64_t, double> distribution;
    for (const Branch& branch : branches) distribution[branch.bits] += branch.probability;
    return distribution;
  }

 private:
  bool holds(std::int32_t condition, std::uint64_t bits) const {
    if (condition < 0) return true;
    const Condition& c = program_.conditions[static_cast<std::size_t>(condition)];
    const Register& r = circuit_.cregs()[c.creg];
    const std::uint64_t value = (bits >> r.first) & ((std::uint64_t{1} << r.size) - 1);
    return (value == c.value) != c.negated;
  }

  void apply(const Step& step, Branch branch, std::vector<Branch>& out) const {
    if (!holds(step.condition, branch.bits)) return out.push_back(std::move(branch));
    if (step.kind == Step::Kind::kPlan) {
      branch.state = test::interpret(program_.plans[step.plan], branch.state);
      return out.push_back(std::move(branch));
    }
    for (const std::uint64_t value : {0u, 1u}) {
      Branch part = branch;
      double probability = 0;
      for (std::size_t i = 0; i < part.state.size(); ++i) {
        if ((i >> step.qubit & 1) != value) part.state[i] = 0;
        probability += std::norm(part.state[i]);
      }
      if (probability < 1e-12) continue;
      part.probability *= probability;
      for (auto& amplitude : part.state) amplitude /= std::sqrt(probability);
      if (program_.records(step)) {
        part.bits = (part.bits & ~(std::uint64_t{1} << step.clbit)) | value << step.clbit;
      } else if (value == 1) {
        for (std::size_t i = 0; i < part.state.size(); ++i) {
          if ((i >> step.qubit & 1) == 0) std::swap(part.state[i], part.state[i | std::size_t{1} << step.qubit]);
        }
      }
      out.push_back(std::move(part));
    }
  }

  const Circuit& circuit_;
  const PlannedCircuit& program_;
};

TEST(MakeProgram, DynamicCircuitsGiveTheReferenceDistribution) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  int dynamic = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 4;
    random.operations = 24;
    random.seed = seed;
    random.dynamic = true;
    random.terminal_measurements = seed % 2 == 0;
    const Circuit circuit = test::random_circuit(random);
    PlanOptions options;
    options.tile_bits = 3;
    options.rank_bits = static_cast<std::uint32_t>(seed % 2);
    options.strategy = seed % 3 == 0 ? Strategy::kNaive : Strategy::kSearch;
    const PlannedCircuit program = plan_circuit(circuit, machine, options);
    dynamic += program.dynamic;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (step.kind != Step::Kind::kPlan || step.plan == 0) continue;
      const Plan& plan = program.plans[step.plan];
      EXPECT_EQ(plan.initial_layout, program.plans[step.plan - 1].final_layout);
      EXPECT_EQ(plan.start, Start::kState);
      if (step.condition >= 0) {
        EXPECT_EQ(plan.final_layout, plan.initial_layout);
      }
    }
    const auto expected = dense::distribution(circuit);
    const auto got = ProgramRunner(circuit, program).run();
    for (const auto& [bits, probability] : expected) {
      const auto found = got.find(bits);
      EXPECT_NEAR(found == got.end() ? 0 : found->second, probability, 1e-10) << "seed " << seed;
    }
    double total = 0;
    for (const auto& [bits, probability] : got) total += probability;
    EXPECT_NEAR(total, 1, 1e-9);
    if (HasFailure()) return;
  }
  EXPECT_GT(dynamic, 100);
}

TEST(MakeProgram, TerminalMeasurementsLeaveOnePlan) {
  Circuit circuit(3, 3);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.cx(1, 2);  // does not touch what was measured
  circuit.add_measure(2, 1);
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  EXPECT_FALSE(program.dynamic);
  EXPECT_EQ(program.plans.size(), 1u);
  ASSERT_EQ(program.terminal_measures.size(), 2u);
  EXPECT_EQ(program.terminal_measures[0], (std::pair<Qubit, Clbit>{0, 0}));
  EXPECT_EQ(program.terminal_measures[1], (std::pair<Qubit, Clbit>{2, 1}));
}

TEST(MakeProgram, AMeasurementThatAConditionReadsIsAStep) {
  Circuit circuit(2, 1);
  circuit.h(0);
  circuit.add_measure(0, 0);
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.x(1);
    circuit.h(1);
  }
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  EXPECT_TRUE(program.dynamic);
  ASSERT_EQ(program.steps.size(), 3u);
  EXPECT_TRUE(program.records(program.steps[1]));
  EXPECT_EQ(program.steps[2].condition, 0);
  EXPECT_EQ(program.plans[1].gates, 2u) << "operations under one condition are one plan";
}

TEST(MakeProgram, AConditionOnTheFirstOperationIsItsStepsOwn) {
  Circuit circuit(2, 2);
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.x(0);
  }
  circuit.add_measure(0, 0);
  PlanOptions options;
  options.trace = true;
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), options);
  EXPECT_TRUE(program.dynamic);
  ASSERT_EQ(program.steps.size(), 2u);
  EXPECT_EQ(program.steps[0].condition, -1) << "something writes the start state whatever the bits are";
  EXPECT_EQ(program.plans[0].gates, 0u);
  ASSERT_EQ(program.steps[1].condition, 0);
  EXPECT_EQ(program.plans[1].gates, 1u);
  EXPECT_EQ(program.plans[1].start, Start::kState);
  ASSERT_EQ(program.plans[1].trace.size(), 1u);
  EXPECT_EQ(program.plans[1].trace[0].operation, 0u);
}

TEST(MakeProgram, NeighboursShareAPlanOnlyUnderOneCondition) {
  Circuit circuit(1, 2);
  const auto conditional = [&](std::uint64_t value, bool negated) {
    {
      const auto scope = circuit.when({0, value, negated});
      circuit.h(0);
    }
  };
  conditional(1, false);
  conditional(1, false);
  conditional(1, true);
  conditional(2, false);
  circuit.h(0);
  conditional(2, false);
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  std::vector<std::int32_t> conditions;
  for (const Step& step : program.steps) conditions.push_back(step.condition);
  EXPECT_EQ(conditions, (std::vector<std::int32_t>{-1, 0, 1, 2, -1, 2}));
  EXPECT_EQ(program.plans[1].gates, 2u);
  ASSERT_EQ(program.conditions.size(), 3u);
  EXPECT_TRUE(program.conditions[1].negated);
}

TEST(MakeProgram, BlocksShareAPlanOnlyWhereTheyAreEqual) {
  const Circuit circuit =
      parse_qasm(
          "OPENQASM 3.0; include \"stdgates.inc\"; qubit[3] q; bit c = 1;"
          "while (c) { cx q[0], q[2]; reset q[0]; cx q[1], q[2]; reset q[0]; cx q[0], q[2]; reset q[0];"
          "cx q[0], q[1]; reset q[0]; rx(0.3) q[1]; reset q[0]; rx(0.4) q[1]; reset q[0];"
          "ry(0.3) q[1]; reset q[0]; rx(0.3) q[1]; c = measure q[1]; }")
          .circuit;
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  EXPECT_EQ(program.plans.size(), 7u) << "the start, and of eight blocks the six that differ";
}

TEST(MakeProgram, EveryPlanKeepsALayoutThatIsToBeKept) {
  Circuit circuit(3, 1);
  circuit.h(0);
  circuit.swap(0, 1);
  circuit.add_measure(1, 0);
  circuit.swap(1, 2);
  circuit.h(2);
  PlanOptions options;
  options.preserve_layout = true;
  for (const Plan& plan : plan_circuit(circuit, find_machine("cpu"), options).plans) {
    EXPECT_EQ(plan.final_layout, plan.initial_layout);
  }
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  EXPECT_NE(program.plans[1].final_layout, program.plans[1].initial_layout) << "the swap is a renaming";
}

TEST(MakeProgram, SomethingWritesTheStartBeforeALeadingMeasurement) {
  Circuit circuit(1, 1);
  circuit.add_measure(0, 0);
  circuit.x(0);
  const PlannedCircuit program = plan_circuit(circuit, find_machine("cpu"), {});
  ASSERT_EQ(program.steps.size(), 3u);
  EXPECT_EQ(program.steps[0].kind, Step::Kind::kPlan);
  EXPECT_EQ(program.plans[0].start, Start::kZero);
  EXPECT_EQ(program.plans[0].gates, 0u);
}

}  // namespace
}  // namespace qsim
