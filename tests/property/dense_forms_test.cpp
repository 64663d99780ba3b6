// Clusters of gates on few qubits: dense matrices where the cost table says so, the same state, never dearer.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/layout.h"
#include "circuit/generate/families.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/matrix_forms.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/block_circuit.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"
#include "support/virtual_ranks.h"

namespace qsim {
namespace {

int widest(const Plan& plan) {
  int most = 0;
  for (const Stage& stage : plan.stages)
    for (const Sweep& sweep : stage.sweeps)
      for (const PlanOp& op : sweep.ops)
        if (op.form == Form::kMatrix) most = std::max<int>(most, op.target_count);
  return most;
}

// The machine with dense matrices so cheap that sizes up to `size` pay at once.
Machine eager_machine(int size) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  for (CostTable* cost : {&machine.cost_single, &machine.cost_double})
    for (int t = 2; t <= kMaxMatrixTargets; ++t) cost->matrix_dense[t] = t <= size ? 1000 : 1e12;
  return machine;
}

TEST(DenseForms, EveryTileAndRankCountGivesTheReferenceState) {
  int dense = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::uint32_t qubits = 7 + static_cast<std::uint32_t>(seed % 2);
    const Circuit circuit = test::block_circuit(qubits, seed);
    const dense::State start = dense::random_state(qubits, seed), expected = dense::run(circuit, start);
    const Machine machine = seed % 3 == 0 ? find_machine("h200") : eager_machine(3 + static_cast<int>(seed % 4));
    for (std::uint32_t k = 3; k <= 5; ++k) {
      for (std::uint32_t rank_bits = 0; rank_bits <= 3; ++rank_bits) {
        PlanOptions options;
        options.tile_bits = k;
        options.rank_bits = rank_bits;
        options.start = Start::kState;
        options.initial_layout = Layout::identity(static_cast<int>(qubits));
        const Plan plan = make_plan(circuit, machine, options);
        dense += widest(plan) >= 3;
        const auto name =
            "seed " + std::to_string(seed) + ", k " + std::to_string(k) + ", rank bits " + std::to_string(rank_bits);
        const double tolerance = test::tolerance(Precision::kDouble, circuit.depth());
        ASSERT_LE(dense::max_difference(test::interpret(plan, start), expected), tolerance) << name;
        test::VirtualRanks ranks(Precision::kDouble, qubits, rank_bits);
        ASSERT_LE(dense::max_difference(ranks.run(plan, start), expected), tolerance) << name;
      }
    }
  }
  EXPECT_GT(dense, 400);
}

TEST(DenseForms, DeepTrotterStepsOnFewQubitsAreOneMatrix) {
  for (const char* device : {"cpu", "h200"}) {
    const Machine machine = find_machine(device);
    for (std::uint32_t qubits = 3; qubits <= 5; ++qubits) {
      const Circuit circuit = generate("heisenberg", {qubits, 20, 1});
      PlanOptions options;
      options.start = Start::kRandom;
      const Plan plan = make_plan(circuit, machine, options);
      EXPECT_EQ(widest(plan), static_cast<int>(qubits)) << device;
      EXPECT_LE(plan.stages[0].sweeps[0].ops.size(), 3U) << device;
      EXPECT_EQ(plan.gates, circuit.operation_count());
    }
  }
  PlanOptions options;
  options.start = Start::kRandom;
  const Plan deep = make_plan(generate("heisenberg", {6, 200, 1}), find_machine("h200"), options);
  EXPECT_EQ(widest(deep), 6);
}

TEST(DenseForms, RewritesThatAreLeftOutAreNotMade) {
  // The turn of the target may go through the control's flip, which costs less; only where it is asked for.
  std::vector<std::string> left_out{"fuse_matrices", "split_turns"};
  const auto widest_without = [&](const Circuit& circuit) {
    PlanOptions options;
    options.start = Start::kRandom;
    options.disabled_passes = left_out;
    return widest(make_plan(circuit, find_machine("h200"), options));
  };
  EXPECT_LE(widest_without(generate("heisenberg", {4, 20, 1})), 2);  // as wide as the circuit's own gates
}

// The gates of a block on two qubits may be in several register groups of a sweep, with other blocks' between them.
TEST(DenseForms, PairsThatRegisterGroupsCutApartBecomeOneMatrix) {
  PlanOptions options;
  options.start = Start::kRandom;
  options.disabled_passes = {"straighten_axes"};  // which writes pairs as turns
  int pairs = 0, single = 0;
  const Plan plan = make_plan(generate("qv", {20, 8, 1}), find_machine("h200"), options);
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      for (const PlanOp& op : sweep.ops) {
        pairs += op.form == Form::kMatrix && op.target_count == 2;
        single += op.form == Form::kMatrix && op.target_count == 1;
      }
    }
  }
  EXPECT_GE(pairs, 70);
  EXPECT_LE(single, 8);
}

// The pairs of `circuit` on one rank of an H200, by the numbers in them that are paid for. The plan does what the
// circuit does, its global phase included.
std::vector<double> pairs_of(const Circuit& circuit) {
  PlanOptions options;
  options.start = Start::kState;
  options.initial_layout = Layout::identity(static_cast<int>(circuit.qubits()));
  const Plan plan = make_plan(circuit, find_machine("h200"), options);
  const dense::State start = dense::random_state(circuit.qubits(), 5);
  EXPECT_LE(dense::max_difference(test::interpret(plan, start), dense::run(circuit, start)),
            test::tolerance(Precision::kDouble, circuit.depth()));
  std::vector<double> found;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      for (const PlanOp& op : sweep.ops) {
        if (op.form != Form::kMatrix || op.target_count != 2) continue;
        found.push_back(pair_entries(std::span(sweep.matrices).subspan(op.data_begin, op.data_count)));
      }
    }
  }
  return found;
}

// RXX keeps parity: so it does with diagonals, and where all of its numbers share a phase.
TEST(DenseForms, PairsLeaveDiagonalsAndTheirOwnPhaseOut) {
  Circuit circuit(13);
  for (const Qubit first : {0u, 2u, 1u}) {
    circuit.rzz(0.7 + first, first, first + 1);
    circuit.rxx(0.3, first, first + 1);
    circuit.cz(first, first + 1);
  }
  EXPECT_EQ(pairs_of(circuit), std::vector<double>(3, kParityPairEntries));
  Circuit shared(13);  // RXX up to e^(0.35 i)
  shared.h(4);
  shared.h(5);
  shared.cx(4, 5);
  shared.p(0.7, 5);
  shared.cx(4, 5);
  shared.h(4);
  shared.h(5);
  EXPECT_EQ(pairs_of(shared), std::vector<double>(1, kParityPairEntries));
}

// A turn in front of RXX would fill it, and turns behind it belong to the next one: each keeps parity.
TEST(DenseForms, PairsAreCutWhereTheyCostLeast) {
  constexpr Qubit kQubits = 6;
  Circuit circuit(13);
  std::size_t pairs = 0;
  for (Qubit layer = 0; layer < kQubits; ++layer) {
    for (Qubit q = layer % 2; q + 1 < kQubits; q += 2, ++pairs) {
      if (layer == 0) circuit.h(q);
      circuit.rzz(0.7 + 0.1 * q + layer, q, q + 1);
      circuit.rxx(0.3, q, q + 1);
      circuit.cz(q, q + 1);
    }
  }
  EXPECT_EQ(pairs_of(circuit), std::vector<double>(pairs, kParityPairEntries));
}

TEST(DenseForms, FewGatesOnManyQubitsStayGates) {
  const Circuit circuit = generate("qft", {12, 0, 1});
  PlanOptions options;
  options.start = Start::kRandom;
  EXPECT_EQ(widest(make_plan(circuit, find_machine("h200"), options)), 1);
}

void expect_not_dearer(const Circuit& circuit, Machine machine, const std::string& name) {
  machine.cost_single.cached_instructions = machine.cost_double.cached_instructions =
      0;  // no sweep is written as several
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    PlanOptions options;
    options.start = Start::kRandom;
    options.precision = precision;
    const PlanWork fused = plan_work(make_plan(circuit, machine, options));
    options.disabled_passes = {"fuse_matrices"};
    const PlanWork apart = plan_work(make_plan(circuit, machine, options));
    EXPECT_EQ(fused.sweeps, apart.sweeps) << name;
    EXPECT_LE(fused.sweep_seconds, apart.sweep_seconds * (1 + 1e-12)) << name;
  }
}

TEST(DenseForms, TheChoiceNeverRaisesThePredictedTime) {
  for (const char* device : {"cpu", "h200"}) {
    const Machine machine = find_machine(device);
    for (const GeneratorInfo& family : generators())
      expect_not_dearer(generate(family.name, {22, std::min(family.default_depth, 6U), 1}), machine,
                        std::string(device) + " " + std::string(family.name));
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
      expect_not_dearer(test::block_circuit(8 + static_cast<std::uint32_t>(seed % 12), seed), machine,
                        std::string(device) + ", seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace qsim
