// The optimizer's weights, one operation at a time: a pass is dropped where its result weighs more.
#include <gtest/gtest.h>

#include <complex>
#include <functional>
#include <vector>

#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

using Qubits = std::vector<Qubit>;

double cost_of(const std::function<void(Circuit&)>& fill) {
  Circuit circuit(4);
  fill(circuit);
  return circuit_cost(circuit);
}

void add(Circuit& circuit, Gate gate, const Qubits& targets, const std::vector<double>& angles = {},
         const Qubits& controls = {}) {
  circuit.add_gate(gate, controls, targets, angles);
}

TEST(CircuitCost, OfOneQubitsGatesIsByWhatTheirMatricesAre) {
  EXPECT_DOUBLE_EQ(cost_of([](Circuit&) {}), 0);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kU, {0}, {0.3, 0.4, 0.5}); }), 2.5);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kRy, {0}, {0.3}); }), 2);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kY, {0}); }), 1.5);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kX, {0}); }), 1);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kT, {0}); }), 0.1 + 0.4);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kU, {0}, {0, 0.4, 0.5}); }), 0.1 + 0.4);
}

TEST(CircuitCost, OfAMatrixIsByItsEntries) {
  const auto cost = [](const Matrix& matrix) {
    return cost_of([&](Circuit& c) { c.add_unitary(matrix, {}, Qubits{0}); });
  };
  EXPECT_DOUBLE_EQ(cost({1, 0, 0, std::polar(1.0, 0.3)}), 0.1 + 0.4);
  EXPECT_DOUBLE_EQ(cost({0, 1, 1, 0}), 1);
  EXPECT_DOUBLE_EQ(cost({0, 1, std::polar(1.0, 0.3), 0}), 1.5);
  EXPECT_DOUBLE_EQ(cost({0, std::polar(1.0, 0.3), 1, 0}), 1.5);
  EXPECT_DOUBLE_EQ(cost({0.6, -0.8, 0.8, 0.6}), 2);
  EXPECT_DOUBLE_EQ(cost({0.6, Complex(0, 0.8), Complex(0, 0.8), 0.6}), 2.5);
}

TEST(CircuitCost, OfPhasesIsPaidOnceBetweenTwoTurns) {
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {
                     add(c, Gate::kT, {0});
                     add(c, Gate::kS, {0});
                   }),
                   0.2 + 0.4);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {
                     add(c, Gate::kT, {0});
                     c.h(0);
                     add(c, Gate::kS, {0});
                   }),
                   0.5 + 2 + 0.5);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {  // with a diagonal on several qubits they are joined
                     add(c, Gate::kT, {0});
                     c.cp(0.3, 0, 1);
                   }),
                   0.1 + 0.8 + 2 * 0.2);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {  // the control of an x changes nothing
                     add(c, Gate::kT, {0});
                     c.cx(0, 1);
                     c.cp(0.3, 0, 1);
                   }),
                   0.1 + 2 + 0.8 + 2 * 0.2);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {  // its target does
                     add(c, Gate::kT, {1});
                     c.cx(0, 1);
                     c.cp(0.3, 0, 1);
                   }),
                   0.1 + 0.4 + 2 + 0.8 + 2 * 0.2);
}

TEST(CircuitCost, OfSeveralQubitsOperationsIsByTheirKind) {
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.cx(0, 1); }), 2);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.swap(0, 1); }), 6);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { add(c, Gate::kRy, {0}, {0.3}, {1}); }), 2.5);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.add_unitary(test::random_unitary(2, 1), {}, Qubits{0, 1}); }), 16);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.add_unitary(test::random_unitary(3, 1), {}, Qubits{0, 1, 2}); }), 32);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.add_pauli_rotation(0.3, "ZZZ", Qubits{0, 1, 2}); }), 0.8 + 3 * 0.2);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) { c.add_pauli_rotation(0.3, "XZY", Qubits{0, 1, 2}); }), 0.8 + 2 * 2 * 2.5);
  EXPECT_DOUBLE_EQ(cost_of([](Circuit& c) {
                     c.h(0);
                     c.add_barrier(Qubits{0, 1});
                   }),
                   2);
}

/// How many pieces of flips follow what turns qubits.
double pieces_of(const std::function<void(Circuit&)>& fill) {
  Circuit circuit(4);
  fill(circuit);
  return (cost_in_pieces(circuit) - circuit_cost(circuit)) / 20;
}

TEST(CircuitCost, InPiecesCountsFlipsThatTurnsCutOff) {
  EXPECT_EQ(pieces_of([](Circuit&) {}), 0);
  EXPECT_EQ(pieces_of([](Circuit& c) { c.cx(0, 1).ccx(0, 1, 2).x(3).swap(0, 3); }), 0);
  EXPECT_EQ(pieces_of([](Circuit& c) { c.h(0).h(1).cx(0, 1).ccx(0, 1, 2); }), 1);
  EXPECT_EQ(pieces_of([](Circuit& c) { c.cx(0, 1).h(1).h(0).h(1); }), 0);               // nothing behind them
  EXPECT_EQ(pieces_of([](Circuit& c) { c.h(1).cx(0, 1).h(1).cx(0, 1); }), 2);           // of one qubit
  EXPECT_EQ(pieces_of([](Circuit& c) { c.cx(0, 1).h(2).cx(0, 1).cx(2, 3); }), 1);       // beside each other
  EXPECT_EQ(pieces_of([](Circuit& c) { c.h(0).cx(0, 1).cx(1, 2).h(2).cx(2, 3); }), 2);  // by way of others
  EXPECT_EQ(pieces_of([](Circuit& c) { c.cx(0, 1).cp(0.3, 0, 1).t(0).cx(0, 1); }), 0);  // diagonals cut nothing
  EXPECT_EQ(pieces_of([](Circuit& c) { c.h(0).cp(0.3, 0, 1).cx(2, 1); }), 1);           // but stand between
}

}  // namespace
}  // namespace qsim
