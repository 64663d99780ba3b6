// Long circuits, which go through the optimizer in parts: what is found on one side of a cut holds on the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/busy_circuit.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

constexpr std::size_t kPart = 250, kLong = 2 * kPart;

bool optimize_in_parts(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& rewritten,
                       bool from_zero = false) {
  return Optimizer(circuit, from_zero, nullptr, kPart).run(disabled, rewritten);
}

std::vector<std::string> all_but(std::string_view wanted) {
  std::vector<std::string> others;
  for (const Pass& pass : optimizer_passes()) {
    if (pass.name != wanted) others.emplace_back(pass.name);
  }
  return others;
}

void append_all(Circuit& circuit, const Circuit& other) {
  for (const Operation& op : other.operations()) {
    if (op.kind != OpKind::kMeasure && op.kind != OpKind::kBarrier) circuit.append(other, op);
  }
}

/// Circuits on few qubits, full of what passes look for, one behind the other: `operations` of them.
Circuit long_circuit(std::size_t operations, std::uint64_t seed) {
  Circuit circuit(6);
  for (; circuit.operations().size() < operations; ++seed) {
    append_all(circuit, seed % 2 == 0 ? test::busy_circuit(seed)
                                      : test::random_circuit({.qubits = 5, .operations = 60, .seed = seed}));
  }
  circuit.truncate(operations);
  return circuit;
}

TEST(OptimizerParts, ALongCircuitKeepsItsStateAndEveryOperationItsPlace) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Circuit circuit = long_circuit(kLong + seed * seed % 2000, 100 * seed);
    Rewritten rewritten;
    ASSERT_TRUE(optimize_in_parts(circuit, {}, rewritten));
    test::expect_same(circuit, rewritten);
    EXPECT_LT(rewritten.circuit.operations().size(), circuit.operations().size());
    EXPECT_NEAR(rewritten.cost, circuit_cost(rewritten.circuit), 0.02 * rewritten.cost);
    const std::set<std::string_view> names(rewritten.recognised.begin(), rewritten.recognised.end());
    EXPECT_EQ(names.size(), rewritten.recognised.size());
    if (HasFailure()) return;
  }
}

// Only the first part begins with all qubits 0.
TEST(OptimizerParts, FromZeroTheStateIsTheSame) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Circuit circuit = long_circuit(kLong + seed % 7, 100 * seed);
    Rewritten rewritten;
    ASSERT_TRUE(optimize_in_parts(circuit, {}, rewritten, true));
    dense::State zero(std::size_t{1} << circuit.qubits());
    zero[0] = 1;
    EXPECT_LE(dense::max_difference(dense::run(circuit, zero), test::run_rewritten(rewritten, zero)),
              test::rounding_tolerance(Precision::kDouble, circuit.operations().size()));
    if (HasFailure()) return;
  }
}

// What is shorter than two parts, by one operation, is seen as a whole: gates that undo each other across what would be
// the cut are gone; with one more they stay.
TEST(OptimizerParts, TwoPartsAreCutInTheMiddle) {
  for (const bool cut : {false, true}) {
    Circuit circuit(3);
    while (circuit.operations().size() < kPart - 1) circuit.t(0);
    circuit.ch(1, 2).ch(1, 2);
    while (circuit.operations().size() < (cut ? kLong : kLong - 1)) circuit.t(0);
    Rewritten rewritten;
    EXPECT_EQ(optimize_in_parts(circuit, all_but("cancel_inverses"), rewritten), !cut);
  }
}

// What a part renames holds for those behind it, whether anything else changes there or not.
TEST(OptimizerParts, SwapsRenameThePartsBehind) {
  Circuit circuit(5);
  unsigned turns = 1;
  const auto add_part = [&](bool swaps) {
    const std::size_t end = circuit.operations().size() + kPart;
    if (swaps) circuit.swap(0, 3).swap(1, 3);
    for (; circuit.operations().size() < end; ++turns) circuit.ry(0.1 * turns, turns % 5).cx(turns % 4, 4);
    circuit.truncate(end);
  };
  for (const bool swaps : {false, true, false, true}) add_part(swaps);
  Rewritten rewritten;
  ASSERT_TRUE(optimize_in_parts(circuit, all_but("relabel_swaps"), rewritten));
  EXPECT_EQ(rewritten.removed.size(), 4U);
  test::expect_same(circuit, rewritten);
}

TEST(OptimizerParts, WhatNothingIsFoundInStaysAsItIs) {
  Circuit circuit(5);
  for (Qubit i = 0; i < kLong; ++i) circuit.cx(i % 5, (i + 1) % 5);
  Rewritten rewritten;
  EXPECT_FALSE(optimize_in_parts(circuit, all_but("relabel_swaps"), rewritten));
  EXPECT_NEAR(rewritten.cost, circuit_cost(circuit), 1e-9 * rewritten.cost);
}

TEST(OptimizerParts, OpenAnglesAndSourceLinesAreThoseOfTheirOperations) {
  Circuit circuit(4);
  const std::array<std::string, 2> names{"a", "b"};
  circuit.name_parameters(names);
  while (circuit.operations().size() < kLong) {
    const std::size_t i = circuit.operations().size();
    circuit.swap(0, 1).ry(0.5 + static_cast<double>(i % 7) * Angle(Parameter{names[i / 4 % 2]}), 2).h(3).cx(3, 1);
  }
  Rewritten rewritten;
  ASSERT_TRUE(optimize_in_parts(circuit, all_but("relabel_swaps"), rewritten));
  EXPECT_EQ(rewritten.circuit.parameters(), circuit.parameters());
  const std::array<double, 2> values{0.3, -1.2};
  Rewritten bound = rewritten;
  bound.circuit = rewritten.circuit.bind(values);
  test::expect_same(circuit.bind(values), bound);
}

// A circuit that was rewritten before: places are those of the circuit that was written.
TEST(OptimizerParts, GoesOnFromAForm) {
  const Circuit circuit = long_circuit(3 * kPart, 11);
  Rewritten form, rewritten;
  ASSERT_TRUE(relabel_swaps(circuit, form));
  ASSERT_GE(form.circuit.operations().size(), kLong);
  ASSERT_TRUE(Optimizer(circuit, false, &form, kPart).run({}, rewritten));
  EXPECT_LT(rewritten.circuit.operations().size(), form.circuit.operations().size());
  test::expect_same(circuit, rewritten);
}

TEST(OptimizerParts, AnotherSetOfPassesTakesTheSameParts) {
  const Circuit circuit = long_circuit(kLong + 100, 5);
  Optimizer optimizer(circuit, false, nullptr, kPart);
  for (const std::vector<std::string>& disabled : {std::vector<std::string>{}, all_but("merge_runs"), {}}) {
    Rewritten again, alone;
    ASSERT_TRUE(optimizer.run(disabled, again));
    ASSERT_TRUE(optimize_in_parts(circuit, disabled, alone));
    EXPECT_EQ(again.place, alone.place);
    test::expect_same(circuit, again);
  }
}

}  // namespace
}  // namespace qsim
