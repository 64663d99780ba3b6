// Lowering: the form of each kind of gate, wires under SWAP, and that commute() never lies.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "base/bits.h"
#include "base/layout.h"
#include "circuit/gate_table.h"
#include "plan/lower/lower.h"
#include "plan/lower/lower_optimized.h"
#include "plan/lower/merge_terms.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

Lowered lower_gate(Gate gate, std::vector<Qubit> controls, std::vector<Qubit> targets, std::vector<double> params = {},
                   std::uint32_t qubits = 6) {
  Circuit circuit(qubits);
  circuit.add_gate(gate, controls, targets, params);
  return lower(circuit);
}

TEST(Lower, AnOptimizedSwapOnlyMovesQubitsToOtherWires) {
  Circuit circuit(3);
  circuit.swap(0, 2);
  circuit.x(0);
  const Lowered lowered = lower_optimized(circuit, {});
  ASSERT_EQ(lowered.ops.size(), 1u);
  EXPECT_EQ(lowered.ops[0].form, Form::kFlip);
  EXPECT_EQ(lowered.ops[0].targets[0], 2);
  EXPECT_EQ(lowered.wire_of, (std::vector<Qubit>{2, 1, 0}));
  ASSERT_EQ(lowered.removed.size(), 1u);
  EXPECT_STREQ(lowered.removed[0].reason, "relabelled");
  EXPECT_EQ(lowered.removed[0].source, 0u);
  EXPECT_EQ(lowered.sources(lowered.ops[0].source)[0], 1u);
}

TEST(Lower, ASwapThatIsNotRenamedIsThreeFlips) {
  const Lowered lowered = lower_gate(Gate::kSwap, {}, {0, 1});
  ASSERT_EQ(lowered.ops.size(), 3u);
  EXPECT_EQ(lowered.wire_of, (std::vector<Qubit>{0, 1, 2, 3, 4, 5}));
}

TEST(Lower, AControlledSwapIsThreeFlipsAndCountsOnce) {
  const Lowered lowered = lower_gate(Gate::kSwap, {3}, {0, 1});
  ASSERT_EQ(lowered.ops.size(), 3u);
  std::uint32_t gates = 0;
  for (const LoweredOp& op : lowered.ops) {
    EXPECT_EQ(op.form, Form::kFlip);
    gates += op.gates;
  }
  EXPECT_EQ(gates, 1u);
}

TEST(Lower, RzKeepsItsGlobalPhaseAsATermWithoutBits) {
  const Lowered lowered = lower_gate(Gate::kRz, {}, {4}, {0.7});
  ASSERT_EQ(lowered.ops.size(), 1u);
  ASSERT_EQ(lowered.phases.size(), 2u);
  EXPECT_EQ(lowered.phases[0].mask, 0u);
  EXPECT_NEAR(lowered.phases[0].angle, -0.35, 1e-15);
  EXPECT_EQ(lowered.phases[1].mask, bit_mask(4));
  EXPECT_NEAR(lowered.phases[1].angle, 0.7, 1e-15);
}

TEST(Lower, ControlsOfADiagonalJoinItsMasks) {
  const Lowered lowered = lower_gate(Gate::kZ, {1, 2}, {5});
  ASSERT_EQ(lowered.phases.size(), 1u);
  EXPECT_EQ(lowered.phases[0].mask, bit_mask(1) | bit_mask(2) | bit_mask(5));
  EXPECT_NEAR(std::abs(lowered.phases[0].angle), kPi, 1e-15);
  EXPECT_EQ(lowered.ops[0].control_mask, 0u);
}

TEST(Lower, RzzAndZStringsAreOneParityTerm) {
  const Lowered rzz = lower_gate(Gate::kRzz, {}, {1, 3}, {0.5});
  ASSERT_EQ(rzz.phases.size(), 2u);
  EXPECT_TRUE(rzz.phases[1].parity);
  Circuit circuit(6);
  circuit.add_pauli_rotation(0.5, "ZZZZZ", std::vector<Qubit>{0, 1, 2, 3, 5});
  const Lowered string = lower(circuit);
  ASSERT_EQ(string.phases.size(), 2u);
  EXPECT_TRUE(string.phases[1].parity);
  EXPECT_EQ(string.phases[1].mask, Index{0b101111});
}

TEST(Lower, PauliRotationsTurnOnlyTheirXAndYLetters) {
  Circuit circuit(6);
  circuit.add_pauli_rotation(0.5, "XZYZ", std::vector<Qubit>{0, 1, 2, 3});
  const Lowered lowered = lower(circuit);
  ASSERT_EQ(lowered.ops.size(), 5u);
  std::uint32_t gates = 0;
  for (const LoweredOp& op : lowered.ops) {
    gates += op.gates;
    EXPECT_EQ(op.target_mask() & ~Index{0b101}, 0u) << "a Z letter must not become a target";
  }
  EXPECT_EQ(gates, 1u);
}

TEST(Lower, PermutationsWithPhasesNeedNoMatrix) {
  EXPECT_TRUE(lower_gate(Gate::kY, {0}, {1}).matrices.empty());
  EXPECT_TRUE(lower_gate(Gate::kRccx, {}, {0, 1, 2}).matrices.empty());
  EXPECT_TRUE(lower_gate(Gate::kRc3x, {}, {0, 1, 2, 3}).matrices.empty());
}

TEST(Lower, APermutationWithoutPhasesIsAFlipAlone) {
  Circuit circuit(2);
  circuit.add_unitary(Matrix{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, {}, std::vector<Qubit>{0, 1});
  const Lowered lowered = lower(circuit);
  ASSERT_EQ(lowered.ops.size(), 1u);
  EXPECT_EQ(lowered.ops[0].form, Form::kFlip);
  EXPECT_EQ(lowered.ops[0].gates, 1u);
}

TEST(Lower, IdentitiesVanish) {
  Circuit circuit(2);
  circuit.add_gate(Gate::kId, {}, std::vector<Qubit>{0});
  circuit.add_gate(Gate::kPhase, {}, std::vector<Qubit>{0}, std::vector<double>{2 * kPi});
  circuit.add_pauli_rotation(4 * kPi, "XX", std::vector<Qubit>{0, 1});
  const Lowered lowered = lower(circuit);
  EXPECT_TRUE(lowered.ops.empty());
  EXPECT_EQ(lowered.removed.size(), 3u);
  EXPECT_EQ(lowered.gates, 3u);
}

TEST(Lower, RefusesMatricesOnSevenQubitsAndDynamicCircuits) {
  const Matrix big = test::random_unitary(7, 1);
  Circuit wide(7);
  wide.add_unitary(big, {}, std::vector<Qubit>{0, 1, 2, 3, 4, 5, 6});
  EXPECT_THROW(lower(wide), UnsupportedError);
  Circuit dynamic(2, 1);
  dynamic.add_measure(0, 0);
  dynamic.x(0);
  EXPECT_THROW(lower(dynamic), UnsupportedError);
}

TEST(Lower, EveryGateOfTheTableGivesItsMatrix) {
  for (const GateInfo& info : gate_table()) {
    for (unsigned controls = 0; controls <= 2; ++controls) {
      const std::vector<double> params(static_cast<std::size_t>(info.params), 0.3 + controls);
      std::vector<Qubit> operands{3, 0, 5, 1, 4, 2};
      const std::vector<Qubit> c(operands.begin(), operands.begin() + controls);
      const std::vector<Qubit> t(operands.begin() + controls, operands.begin() + controls + info.targets);
      Circuit circuit(6);
      circuit.add_gate(info.gate, c, t, params);
      const Lowered lowered = lower(circuit);
      const dense::State start = dense::random_state(6, controls + 1);
      EXPECT_LE(dense::max_difference(test::interpret_ops(lowered, lowered.ops, start), dense::run(circuit, start)),
                1e-13)
          << info.name << " with " << controls << " controls";
      if (!info.diagonal) continue;
      for (const LoweredOp& op : lowered.ops) EXPECT_EQ(op.form, Form::kPhases) << info.name;
    }
  }
}

TEST(Commute, IsTrueOnlyForOperationsThatCommute) {
  int commuting = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 4;
    random.operations = 12;
    random.seed = seed;
    const Lowered lowered = lower(test::random_circuit(random));
    const dense::State start = dense::random_state(4, seed);
    for (std::size_t i = 1; i < lowered.ops.size(); ++i) {
      const LoweredOp &a = lowered.ops[i - 1], &b = lowered.ops[i];
      if (!commute(a, b)) continue;
      ++commuting;
      EXPECT_LE(dense::max_difference(test::interpret_ops(lowered, {a, b}, start),
                                      test::interpret_ops(lowered, {b, a}, start)),
                1e-13);
      EXPECT_TRUE(commute(b, a));
    }
  }
  EXPECT_GT(commuting, 100);
}

TEST(Commute, SeesSharedAxes) {
  const LoweredOp cx = lower_gate(Gate::kX, {0}, {1}).ops[0];
  const LoweredOp cx_same_target = lower_gate(Gate::kX, {2}, {1}).ops[0];
  const LoweredOp cx_reversed = lower_gate(Gate::kX, {1}, {0}).ops[0];
  const LoweredOp rx = lower_gate(Gate::kRx, {}, {1}, {0.4}).ops[0];
  const LoweredOp rz = lower_gate(Gate::kRz, {}, {0}, {0.4}).ops[0];
  const LoweredOp h = lower_gate(Gate::kH, {}, {0}).ops[0];
  EXPECT_TRUE(commute(cx, cx_same_target));
  EXPECT_TRUE(commute(cx, rx));
  EXPECT_TRUE(commute(cx, rz));
  EXPECT_FALSE(commute(cx, cx_reversed));
  EXPECT_FALSE(commute(cx, h));
}

TEST(MergeTerms, DiagonalsBetweenTwoStepsOnTheirWiresAreOneOperation) {
  Circuit circuit(3);
  circuit.cp(0.3, 0, 1);
  circuit.cp(0.5, 1, 2);
  circuit.h(0);
  circuit.cp(0.2, 1, 2);
  circuit.cp(0.4, 0, 1);
  Lowered lowered = lower(circuit);
  const Lowered before = lowered;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stands_for;
  const auto ops = merge_terms(lowered, std::vector<std::uint32_t>{0, 1, 2, 3, 4}, stands_for);
  ASSERT_EQ(ops, (std::vector<std::uint32_t>{5, 2, 6}));
  EXPECT_EQ(lowered.ops[5].gates, 2u);
  EXPECT_EQ(lowered.terms(lowered.ops[6]).size(), 2u);
  EXPECT_EQ(stands_for.size(), 4u);
  const dense::State start = dense::random_state(3, 1);
  const std::vector<LoweredOp> merged{lowered.ops[5], lowered.ops[2], lowered.ops[6]};
  EXPECT_LE(dense::max_difference(test::interpret_ops(lowered, merged, start),
                                  test::interpret_ops(before, before.ops, start)),
            1e-14);
}

TEST(MergeTerms, ADiagonalAloneStaysTheOperationThatItIs) {
  Circuit circuit(3);
  circuit.cp(0.3, 0, 1);
  circuit.h(0);
  circuit.cp(0.4, 1, 2);
  Lowered lowered = lower(circuit);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stands_for;
  EXPECT_EQ(merge_terms(lowered, std::vector<std::uint32_t>{0, 1, 2}, stands_for),
            (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(lowered.ops.size(), 3u);
  EXPECT_TRUE(stands_for.empty());
}

TEST(Lower, AMergedOperationStandsForAllItsGates) {
  Circuit circuit(2);
  for (const Gate gate : {Gate::kH, Gate::kT, Gate::kH}) circuit.add_gate(gate, {}, std::vector<Qubit>{0});
  circuit.h(1);
  circuit.h(1);
  const Lowered lowered = lower_optimized(circuit, {});
  ASSERT_EQ(lowered.ops.size(), 1u);
  EXPECT_EQ(lowered.ops[0].gates, 3u);
  const auto sources = lowered.sources(lowered.ops[0].source);
  EXPECT_EQ(std::vector<std::uint32_t>(sources.begin(), sources.end()), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(lowered.removed.size(), 2u);
  EXPECT_EQ(lowered.gates, 5u);
}

// Planners move operations past each other by these masks alone; one that is missing costs sweeps and says nothing.
TEST(Lower, SaysInWhichBasesAnOperationIsBlockDiagonal) {
  using Bases = std::array<Index, 3>;  // Z, X, Y
  const auto bases = [](const Matrix& matrix, std::vector<Qubit> targets, std::vector<Qubit> controls = {}) {
    Circuit circuit(6);
    circuit.add_unitary(matrix, controls, targets);
    const Lowered lowered = lower(circuit);
    EXPECT_EQ(lowered.ops.size(), 1u);
    return Bases{lowered.ops.at(0).z_mask, lowered.ops.at(0).x_mask, lowered.ops.at(0).y_mask};
  };
  const double c = std::cos(0.3), s = std::sin(0.3);
  const Matrix about_x{c, Complex(0, -s), Complex(0, -s), c}, about_y{c, -s, s, c},
      general = test::random_unitary(1, 5);
  EXPECT_EQ(bases(about_x, {3}), (Bases{0, bit_mask(3), 0}));
  EXPECT_EQ(bases(about_y, {3}), (Bases{0, 0, bit_mask(3)}));
  EXPECT_EQ(bases(general, {3}), (Bases{0, 0, 0}));
  EXPECT_EQ(bases(about_y, {3}, {5}), (Bases{bit_mask(5), 0, bit_mask(3)}));
  // `low` on the low target where the high one is 0, `other` where it is 1; and the same with the targets exchanged.
  const auto blocks = [](const Matrix& low, const Matrix& other, bool exchanged) {
    Matrix matrix(16);
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t block = i / 4, row = i / 2 % 2, column = i % 2;
      const std::size_t r = exchanged ? 2 * row + block : 2 * block + row;
      const std::size_t k = exchanged ? 2 * column + block : 2 * block + column;
      matrix[4 * r + k] = (block == 0 ? low : other)[2 * row + column];
    }
    return matrix;
  };
  const Matrix other_x{s, Complex(0, -c), Complex(0, -c), s}, other_y{s, -c, c, s};
  EXPECT_EQ(bases(blocks(general, test::random_unitary(1, 6), false), {2, 4}), (Bases{bit_mask(4), 0, 0}));
  EXPECT_EQ(bases(blocks(general, test::random_unitary(1, 6), true), {2, 4}), (Bases{bit_mask(2), 0, 0}));
  EXPECT_EQ(bases(blocks(about_x, other_x, false), {2, 4}), (Bases{bit_mask(4), bit_mask(2), 0}));
  EXPECT_EQ(bases(blocks(about_x, other_x, true), {2, 4}), (Bases{bit_mask(2), bit_mask(4), 0}));
  EXPECT_EQ(bases(blocks(about_y, other_y, false), {2, 4}), (Bases{bit_mask(4), 0, bit_mask(2)}));
  EXPECT_EQ(bases(blocks(about_y, other_y, true), {2, 4}), (Bases{bit_mask(2), 0, bit_mask(4)}));
  EXPECT_EQ(bases(test::random_unitary(2, 7), {2, 4}), (Bases{0, 0, 0}));
  Circuit circuit(6);
  circuit.cx(1, 5);
  circuit.cp(0.4, 2, 4);
  const Lowered lowered = lower(circuit);
  EXPECT_EQ((Bases{lowered.ops[0].z_mask, lowered.ops[0].x_mask, lowered.ops[0].y_mask}),
            (Bases{bit_mask(1), bit_mask(5), 0}));
  EXPECT_EQ(lowered.ops[0].support, bit_mask(1) | bit_mask(5));
  EXPECT_EQ((Bases{lowered.ops[1].z_mask, lowered.ops[1].x_mask, lowered.ops[1].y_mask}),
            (Bases{bit_mask(2) | bit_mask(4), 0, 0}));
  EXPECT_EQ(lowered.ops[1].support, bit_mask(2) | bit_mask(4));
}

}  // namespace
}  // namespace qsim
