// Circuit: operands checked, pools read back, depth, inverse, terminal measurements.
#include "qsim/circuit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/file/source_lines.h"
#include "qsim/error.h"
#include "support/dense.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

using Qubits = std::vector<Qubit>;
using Angles = std::vector<double>;

TEST(Circuit, RefusesBadOperandsAndStaysAsItWas) {
  Circuit circuit(3, 2);
  circuit.h(0);
  EXPECT_THROW(circuit.cx(1, 1), CircuitError);
  EXPECT_THROW(circuit.swap(2, 2), CircuitError);
  EXPECT_THROW(circuit.h(3), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kX, Qubits{0, 1, 0}, Qubits{2}), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kX, {}, Qubits{0, 1}), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kRx, {}, Qubits{0}), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kH, {}, Qubits{0}, Angles{1.0}), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kRx, {}, Qubits{0}, Angles{std::nan("")}), CircuitError);
  EXPECT_THROW(circuit.add_gate(Gate::kRx, {}, Qubits{0}, Angles{std::numeric_limits<double>::infinity()}),
               CircuitError);
  EXPECT_THROW(circuit.add_measure(0, 2), CircuitError);
  EXPECT_THROW(circuit.add_measure(3, 0), CircuitError);
  EXPECT_THROW(circuit.add_reset(5), CircuitError);
  EXPECT_THROW(circuit.add_barrier(Qubits{0, 0}), CircuitError);
  EXPECT_THROW(circuit.add_pauli_rotation(0.1, "XI", Qubits{0, 1}), CircuitError);
  EXPECT_THROW(circuit.add_pauli_rotation(0.1, "X", Qubits{0, 1}), CircuitError);
  EXPECT_THROW((void)circuit.when({1, 0, false}), CircuitError);
  ASSERT_EQ(circuit.operations().size(), 1u);
  circuit.cx(0, 2);
  const auto& op = circuit.operations()[1];
  EXPECT_EQ(circuit.controls(op)[0], 0u);
  EXPECT_EQ(circuit.targets(op)[0], 2u);
}

TEST(Circuit, ControlsOnZeroAreFlippedAroundAllThatIsAppended) {
  Circuit circuit(3);
  const std::vector<ControlQubit> controls = {{0, false}, 2};
  circuit.h(1).between_flips(controls, [&](std::span<const Qubit> qubits) {
    EXPECT_EQ(std::vector<Qubit>(qubits.begin(), qubits.end()), (std::vector<Qubit>{0, 2}));
    circuit.ccx(qubits[0], qubits[1], 1).cz(qubits[1], 1);
  });
  Circuit wanted(3);
  wanted.h(1).x(0).ccx(0, 2, 1).cz(2, 1).x(0);
  ASSERT_EQ(circuit.operations().size(), wanted.operations().size());
  for (std::size_t i = 0; i < wanted.operations().size(); ++i) {
    const Operation &found = circuit.operations()[i], &op = wanted.operations()[i];
    EXPECT_EQ(found.gate, op.gate) << i;
    EXPECT_TRUE(std::ranges::equal(circuit.controls(found), wanted.controls(op))) << i;
    EXPECT_TRUE(std::ranges::equal(circuit.targets(found), wanted.targets(op))) << i;
  }
  const auto stops = [&](std::span<const Qubit>) {
    circuit.h(1);
    throw std::string("not an Error");
  };
  EXPECT_THROW(circuit.between_flips(controls, stops), std::string);
  EXPECT_EQ(circuit.operations().size(), wanted.operations().size()) << "nothing stays of what failed";
  const std::vector<ControlQubit> outside = {{0, false}, {7, false}};
  EXPECT_THROW(circuit.between_flips(outside, [](std::span<const Qubit>) {}), CircuitError);
  EXPECT_EQ(circuit.operations().size(), wanted.operations().size());
}

TEST(Circuit, FindsARepeatedQubitInLongOperandLists) {
  Circuit circuit(40);
  Qubits controls;
  for (Qubit q = 0; q < 30; ++q) controls.push_back(q);
  circuit.add_gate(Gate::kX, controls, Qubits{35});
  EXPECT_THROW(circuit.add_gate(Gate::kX, controls, Qubits{17}), CircuitError);
  controls.push_back(4);
  EXPECT_THROW(circuit.add_gate(Gate::kX, controls, Qubits{35}), CircuitError);
}

TEST(Circuit, RefusesMatricesThatAreNotUnitary) {
  Circuit circuit(2);
  const Matrix slightly_off = {1, 0, 0, 1 + 1e-9};
  const Matrix not_finite = {1, 0, 0, std::nan("")};
  EXPECT_THROW(circuit.add_unitary(slightly_off, {}, Qubits{0}), CircuitError);
  EXPECT_THROW(circuit.add_unitary(not_finite, {}, Qubits{0}), CircuitError);
  EXPECT_THROW(circuit.add_unitary(Matrix{1, 0, 0, 1}, {}, Qubits{0, 1}), CircuitError);
  EXPECT_TRUE(circuit.operations().empty());
  circuit.add_unitary(slightly_off, {}, Qubits{0}, false);
  EXPECT_EQ(circuit.matrix(circuit.operations()[0]), slightly_off);
}

TEST(Circuit, MatricesOfAllOperationsEqualTheDenseReference) {
  const Circuit circuit = test::random_circuit({.qubits = 6, .operations = 400, .seed = 11});
  for (const Operation& op : circuit.operations()) {
    const Matrix matrix = circuit.matrix(op);
    const auto reference = dense::operation_matrix(circuit, op);
    ASSERT_EQ(matrix.size(), reference.size());
    for (std::size_t i = 0; i < matrix.size(); ++i) EXPECT_LT(std::abs(matrix[i] - reference[i]), 1e-14);
  }
}

TEST(Circuit, RegistersFollowEachOtherInDeclarationOrder) {
  Circuit circuit;
  EXPECT_EQ(circuit.add_qreg("a", 3), 0u);
  EXPECT_EQ(circuit.add_qreg("b", 2), 1u);
  EXPECT_EQ(circuit.add_creg("c", 4), 0u);
  EXPECT_EQ(circuit.add_creg("d", 1), 1u);
  EXPECT_EQ(circuit.qubits(), 5u);
  EXPECT_EQ(circuit.clbits(), 5u);
  EXPECT_EQ(circuit.qregs()[1], (Register{"b", 3, 2}));
  EXPECT_EQ(circuit.cregs()[1], (Register{"d", 4, 1}));
  EXPECT_THROW(circuit.add_qreg("huge", 0xFFFFFFFFu), CircuitError);
  EXPECT_EQ(circuit.add_creg("", 2), 2u);
  EXPECT_EQ(circuit.shown_cregs().size(), 2u);
  EXPECT_EQ(circuit.clbits(), 7u);
  EXPECT_THROW(circuit.add_creg("late", 1), CircuitError) << "registers without a name come last";
  EXPECT_THROW(circuit.add_qreg("", 1), CircuitError);
}

TEST(Circuit, DepthIsTheLongestChainThroughQubitsBitsAndBarriers) {
  Circuit circuit(3, 1);
  EXPECT_EQ(circuit.depth(), 0u);
  circuit.h(0);
  circuit.h(1);
  EXPECT_EQ(circuit.depth(), 1u);
  circuit.cx(0, 1);
  EXPECT_EQ(circuit.depth(), 2u);
  circuit.h(2);
  EXPECT_EQ(circuit.depth(), 2u);
  circuit.add_barrier(Qubits{0, 2});
  EXPECT_EQ(circuit.depth(), 2u);
  circuit.h(2);  // waits for the cx through the barrier
  EXPECT_EQ(circuit.depth(), 3u);
  circuit.add_measure(2, 0);
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.x(1);  // waits for the classical bit
  }
  EXPECT_EQ(circuit.depth(), 5u);
  EXPECT_EQ(circuit.operation_count(), 7u);
}

TEST(Circuit, InverseUndoesEveryKindOfOperation) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Circuit circuit = test::random_circuit({.qubits = 5, .operations = 60, .seed = seed});
    circuit.add_barrier(Qubits{0, 1});
    const auto start = dense::random_state(5, seed);
    const auto end = dense::run(circuit.inverse(), dense::run(circuit, start));
    EXPECT_LT(dense::max_difference(start, end), 1e-12) << "seed " << seed;
  }
}

TEST(Circuit, InverseOfMeasureResetAndIfIsRefused) {
  Circuit measured(1, 1), reset(1), conditional(1, 1);
  measured.add_measure(0, 0);
  reset.add_reset(0);
  const auto scope = conditional.when({0, 1, false});
  conditional.x(0);
  EXPECT_THROW(measured.inverse(), UnsupportedError);
  EXPECT_THROW(reset.inverse(), UnsupportedError);
  EXPECT_THROW(conditional.inverse(), UnsupportedError);
}

TEST(Circuit, MeasurementsAreTerminalUntilTheirQubitOrBitIsUsedAgain) {
  Circuit circuit(2, 2);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.h(1);
  circuit.add_barrier(Qubits{0, 1});
  circuit.add_measure(1, 1);
  EXPECT_TRUE(circuit.measurements_are_terminal());

  Circuit qubit_again = circuit;
  qubit_again.h(0);
  EXPECT_FALSE(qubit_again.measurements_are_terminal());
  Circuit as_control(2, 1);
  as_control.add_measure(0, 0);
  as_control.cx(0, 1);
  EXPECT_FALSE(as_control.measurements_are_terminal());
  Circuit bit_again(2, 1);
  bit_again.add_measure(0, 0);
  bit_again.add_measure(1, 0);
  EXPECT_FALSE(bit_again.measurements_are_terminal());
  Circuit with_reset(1);
  with_reset.add_reset(0);
  EXPECT_FALSE(with_reset.measurements_are_terminal());
  Circuit with_if(1, 1);
  const auto scope = with_if.when({0, 0, false});
  with_if.x(0);
  EXPECT_FALSE(with_if.measurements_are_terminal());
}

TEST(Circuit, AppendCopiesOperandsConditionsAndLines) {
  test::RandomCircuitOptions options{.qubits = 5, .operations = 300, .seed = 5};
  options.dynamic = true;
  const Circuit original = test::random_circuit(options);
  Circuit copy(5, 5);
  SourceLines::set(copy, 77);
  for (const Operation& op : original.operations()) copy.append(original, op);
  ASSERT_EQ(copy.operations().size(), original.operations().size());
  for (std::size_t i = 0; i < copy.operations().size(); ++i) {
    const Operation &a = original.operations()[i], &b = copy.operations()[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.gate, b.gate);
    EXPECT_EQ(a.line, b.line);
    EXPECT_TRUE(std::ranges::equal(original.controls(a), copy.controls(b)));
    EXPECT_TRUE(std::ranges::equal(original.targets(a), copy.targets(b)));
    EXPECT_TRUE(std::ranges::equal(original.params(a), copy.params(b)));
    EXPECT_TRUE(std::ranges::equal(original.letters(a), copy.letters(b)));
    if (a.kind == OpKind::kMeasure) {
      EXPECT_EQ(original.clbit(a), copy.clbit(b));
    }
    ASSERT_EQ(a.condition < 0, b.condition < 0);
    if (a.condition < 0) continue;
    EXPECT_EQ(original.conditions()[static_cast<std::size_t>(a.condition)],
              copy.conditions()[static_cast<std::size_t>(b.condition)]);
  }
}

TEST(Circuit, AppendsItsOwnOperations) {
  Circuit circuit(3);
  circuit.add_pauli_rotation(0.3, "XYZ", Qubits{2, 0, 1});
  for (int i = 0; i < 6; ++i) circuit.append(circuit, Operation(circuit.operations()[0]));
  for (const Operation& op : circuit.operations()) {
    EXPECT_EQ(circuit.params(op)[0], 0.3);
    EXPECT_EQ(circuit.targets(op)[0], 2u);
    EXPECT_EQ(circuit.letters(op)[2], 3u);
  }
}

TEST(Circuit, AMillionGatesTakeUnderAHundredMegabytes) { EXPECT_LE(sizeof(Operation), 40u); }

TEST(Circuit, AnglesBeyondTheirPeriodAreReducedExactly) {
  Circuit circuit(1);
  const Qubit q = 0;
  for (const double angle : {1.0, 12.5, -12.6, 1e6, 1e8, -1e15, 1e300}) {
    circuit.add_gate(Gate::kRx, {}, {&q, 1}, {&angle, 1});
    const double kept = circuit.params(circuit.operations().back())[0];
    EXPECT_LE(std::abs(kept), 4 * std::numbers::pi);
    if (std::abs(angle) <= 12.5) {
      EXPECT_EQ(angle, kept);
    }
    EXPECT_NEAR(std::cos(angle / 2), std::cos(kept / 2), 1e-15) << angle;
    EXPECT_NEAR(std::sin(angle / 2), std::sin(kept / 2), 1e-15) << angle;
  }
  const std::vector<double> large{1e8, 0.54, -1e8};
  circuit.add_gate(Gate::kU, {}, {&q, 1}, large);
  const Matrix m = circuit.matrix(circuit.operations().back());
  EXPECT_NEAR(std::abs(std::conj(m[0]) * m[1] + std::conj(m[2]) * m[3]), 0, 1e-16);
}

}  // namespace
}  // namespace qsim
