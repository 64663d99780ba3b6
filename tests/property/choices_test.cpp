// Matrices on one qubit that other qubits choose: from any spelling with controlled matrices on that qubit come two
// turns among rotations about parities, and the same unitary, phases included.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

void expect_same(const Circuit& circuit, const Circuit& rewritten) {
  const dense::State start = dense::random_state(circuit.qubits(), 3);
  EXPECT_LE(dense::max_difference(dense::run(circuit, start), dense::run(rewritten, start)),
            test::tolerance(Precision::kDouble, circuit.depth()));
}

/// How many operations turn a qubit.
std::size_t turns(const Circuit& circuit) {
  return static_cast<std::size_t>(std::ranges::count_if(circuit.operations(), [](const Operation& op) {
    return op.kind == OpKind::kUnitary || (op.kind == OpKind::kGate && op.gate != Gate::kRz && op.gate != Gate::kPhase);
  }));
}

std::size_t controlled_flips(const Circuit& circuit) {
  return static_cast<std::size_t>(std::ranges::count_if(circuit.operations(), [](const Operation& op) {
    return op.kind == OpKind::kGate && op.gate == Gate::kX && op.controls > 0;
  }));
}

/// An angle that is special, near to one by a decade of distance, or any.
double edge_angle(std::mt19937_64& random) {
  constexpr std::array<double, 7> kSpecial{0, kPi / 2, kPi, -kPi / 2, -kPi, 2 * kPi, kPi / 4};
  if (random() % 4 == 0) return 1e-3 * static_cast<double>(random() % 6000) - 3;
  const double special = kSpecial[random() % kSpecial.size()];
  if (random() % 3 == 0) return special;
  return special + (random() % 2 == 0 ? 1 : -1) * std::pow(10.0, -6 - static_cast<double>(random() % 12));
}

/// A matrix on the last qubit for each value of those before it, in Gray code's order and without its last CX gate.
template <typename AngleOf>
Circuit choices(unsigned controls, AngleOf angle) {
  Circuit circuit(controls + 1);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << controls; ++i) {
    if (i > 0) circuit.cx(static_cast<Qubit>(std::countr_zero(i)), controls);
    circuit.u(angle(), angle(), angle(), controls);
  }
  return circuit;
}

TEST(Choices, AreRotationsAboutParitiesAroundTwoTurns) {
  for (unsigned controls = 3; controls <= 8; ++controls) {
    std::mt19937_64 random(controls);
    const Circuit circuit = choices(controls, [&] { return 1e-3 * static_cast<double>(random() % 12000) - 6; });
    Rewritten rewritten;
    ASSERT_TRUE(recognise_choices(circuit, rewritten)) << controls;
    EXPECT_EQ(rewritten.refused, 0U);
    for (const std::uint32_t place : rewritten.place) EXPECT_NE(place, kNoPlace);
    EXPECT_TRUE(rewritten.removed.empty());
    expect_same(circuit, rewritten.circuit);
    EXPECT_EQ(turns(rewritten.circuit), 2U);
    EXPECT_EQ(controlled_flips(rewritten.circuit), 0U);
    EXPECT_LE(rewritten.circuit.operations().size(), (std::size_t{4} << controls) + 2);
  }
}

TEST(Choices, OfMatricesNearSpecialOnesAreTheSame) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const Circuit circuit = choices(2 + static_cast<unsigned>(seed % 4), [&] { return edge_angle(random); });
    Rewritten rewritten;
    if (recognise_choices(circuit, rewritten)) expect_same(circuit, rewritten.circuit);
  }
}

TEST(Choices, AreNotEndedByTurnsElsewhere) {
  for (const Qubit target : {0U, 3U}) {
    const Circuit line = choices(3, [x = 0.1]() mutable { return x += 0.37; });
    Circuit circuit(5);
    for (const Operation& op : line.operations()) {
      const auto named = [&](Qubit q) { return q == 3 ? target : q == target ? 3 : q; };
      std::vector<Qubit> controls;
      for (const Qubit c : line.controls(op)) controls.push_back(named(c));
      circuit.add_gate(op.gate, controls, std::vector<Qubit>{target}, line.params(op)).h(4);
    }
    Rewritten rewritten;
    ASSERT_TRUE(recognise_choices(circuit, rewritten)) << target;
    expect_same(circuit, rewritten.circuit);
  }
}

TEST(Choices, OfFewParitiesHaveFewTerms) {
  // The second and third control choose nothing: their CX gates meet their twins with phases alone between them.
  Circuit circuit(4);
  for (int i = 0; i < 4; ++i) circuit.h(3).rz(0.3 + i, 3).cx(0, 3).ry(0.2 + i, 3).cx(1, 3).cx(2, 3).cx(1, 3).cx(2, 3);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_choices(circuit, rewritten));
  expect_same(circuit, rewritten.circuit);
  EXPECT_LE(rewritten.circuit.operations().size(), 11U);
}

TEST(Choices, AreThoseOfAnyControlledMatrices) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const unsigned qubits = 4 + static_cast<unsigned>(seed % 4);
    const Qubit target = static_cast<Qubit>(random() % qubits);
    Circuit circuit(qubits);
    const auto other = [&] { return static_cast<Qubit>((target + 1 + random() % (qubits - 1)) % qubits); };
    const auto angle = [&] { return edge_angle(random); };
    for (int i = 0; i < 40; ++i) {
      const Qubit a = other();
      Qubit b = other();
      while (b == a) b = other();
      switch (random() % 16) {
        case 0:
          circuit.ccx(a, b, target);
          break;
        case 1:
          circuit.add_gate(Gate::kRy, std::vector{a}, std::vector{target}, std::vector{angle()});
          break;
        case 2:
          circuit.add_gate(Gate::kH, std::vector{a, b}, std::vector{target}, {});
          break;
        case 3:
          circuit.add_gate(Gate::kU, std::vector{a}, std::vector{target}, std::vector{angle(), angle(), angle()});
          break;
        case 4:
          circuit.rz(angle(), target);
          break;
        case 5:
          circuit.cz(a, b).rz(angle(), a);
          break;  // phases of the controls pass
        case 6:
          circuit.x(target);
          break;
        case 7:
          if (random() % 8 == 0) circuit.h(a);  // ends what it has chosen
          break;
        case 8:
          if (random() % 8 == 0) circuit.cx(target, a);
          break;
        case 9:
          if (random() % 8 == 0) circuit.cz(target, a);
          break;
        case 10:
          if (random() % 8 == 0) circuit.swap(target, a);
          break;
        case 11:
          circuit.u(angle(), angle(), angle(), target);
          break;
        default:
          circuit.cx(a, target).u(angle(), angle(), angle(), target);
      }
    }
    Rewritten rewritten;
    if (recognise_choices(circuit, rewritten)) {
      ++taken;
      expect_same(circuit, rewritten.circuit);
    }
    Rewritten all;
    if (optimize(circuit, {}, all) && all.wire_of.empty()) expect_same(circuit, all.circuit);
  }
  EXPECT_GT(taken, 100U);
}

TEST(Choices, OfMoreThanEightQubitsAreSeveral) {
  std::mt19937_64 random(5);
  Circuit circuit(12);
  for (int i = 0; i < 400; ++i) {
    const auto angle = [&] { return 1e-3 * static_cast<double>(random() % 6000); };
    circuit.u(angle(), angle(), angle(), 11).cx(static_cast<Qubit>(i < 200 ? random() % 8 : 4 + random() % 7), 11);
  }
  Rewritten rewritten;
  ASSERT_TRUE(recognise_choices(circuit, rewritten));
  expect_same(circuit, rewritten.circuit);
  EXPECT_GE(turns(rewritten.circuit) - controlled_flips(rewritten.circuit), 4U);

  Circuit wide(11);  // nine controls at once are no choice, whatever is before and after them
  const std::vector<Qubit> nine{0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (int i = 0; i < 40; ++i) {
    wide.u(0.1 + i, 0.2, 0.3, 10).cx(static_cast<Qubit>(i % 3), 10);
    if (i == 20) wide.add_gate(Gate::kH, nine, std::vector<Qubit>{10}, {});
  }
  Rewritten parts;
  ASSERT_TRUE(recognise_choices(wide, parts));
  expect_same(wide, parts.circuit);
}

TEST(Choices, ThatAreShortStayAsTheyAre) {
  Circuit toffoli(3);
  toffoli.h(2).cx(1, 2).tdg(2).cx(0, 2).t(2).cx(1, 2).tdg(2).cx(0, 2).t(2).h(2);
  Circuit pair(2);
  pair.u(0.1, 0.2, 0.3, 1).cx(0, 1).u(0.4, 0.5, 0.6, 1).cx(0, 1).u(0.7, 0.8, 0.9, 1);
  Circuit many(8);  // seven controls for four matrices
  for (Qubit c = 0; c < 7; ++c) many.cx(c, 7).cx(c, 7).cx(c, 7);
  for (Qubit c = 0; c < 4; ++c) many.u(0.1 + c, 0.2, 0.3, 7).cx(c, 7);
  for (const Circuit& circuit : {toffoli, pair, many}) {
    Rewritten rewritten;
    EXPECT_FALSE(recognise_choices(circuit, rewritten));
  }
}

TEST(Choices, AreCheaperByPrediction) {
  std::mt19937_64 random(11);
  Circuit circuit(26);
  for (Qubit target = 1; target < 8; ++target) {
    for (std::uint64_t i = 0; i < std::uint64_t{1} << target; ++i) {
      if (i > 0) circuit.cx(static_cast<Qubit>(std::countr_zero(i)), target);
      const auto angle = [&] { return 1e-3 * static_cast<double>(random() % 6000); };
      circuit.u(angle(), angle(), angle(), target);
    }
  }
  for (const char* device : {"cpu", "h200"}) {
    PlanOptions options;
    options.start = Start::kState;
    const Plan plan = make_plan(circuit, find_machine(device), options);
    options.disabled_passes = {"recognise_choices"};
    const Plan as_written = make_plan(circuit, find_machine(device), options);
    EXPECT_LT(plan_work(plan).total_seconds, 0.5 * plan_work(as_written).total_seconds) << device;
  }
}

}  // namespace
}  // namespace qsim
