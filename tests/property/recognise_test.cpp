// Structure that circuits hide behind CX gates: rotations chosen by other qubits, and products of qubits. What comes
// out is as small as the structure, and the same unitary, exact angles or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/rounding.h"
#include "optimizer/axes/straighten_axes.h"
#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/make/planners.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

std::size_t count(const Circuit& circuit, Gate gate, std::size_t controls) {
  return static_cast<std::size_t>(std::ranges::count_if(circuit.operations(), [&](const Operation& op) {
    return op.kind == OpKind::kGate && op.gate == gate && op.controls == controls;
  }));
}

/// Without phases everywhere.
std::size_t size_of(const Circuit& circuit) {
  return static_cast<std::size_t>(
      std::ranges::count_if(circuit.operations(), [](const Operation& op) { return op.controls + op.targets > 0; }));
}

void expect_same(const Circuit& circuit, const Rewritten& rewritten) {
  ASSERT_TRUE(rewritten.wire_of.empty());
  const dense::State start = dense::random_state(circuit.qubits(), 3);
  EXPECT_LE(dense::max_difference(dense::run(circuit, start), dense::run(rewritten.circuit, start)),
            test::tolerance(Precision::kDouble, circuit.depth()));
}

/// RY of qubit `controls` by an angle for each value of the qubits before it, in Gray code's order.
Circuit multiplexer(unsigned controls, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Circuit circuit(controls + 1);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << controls; ++i) {
    circuit.ry(1e-3 * static_cast<double>(random() % 6000), controls);
    const auto changed = std::min<unsigned>(static_cast<unsigned>(std::countr_one(i)), controls - 1);
    circuit.cx(changed, controls);
  }
  return circuit;
}

TEST(Recognise, MultiplexersAreRotationsAboutParitiesBetweenTwoTurns) {
  for (unsigned controls = 1; controls <= 6; ++controls) {
    const Circuit circuit = multiplexer(controls, controls);
    Rewritten rewritten;
    ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(count(rewritten.circuit, Gate::kX, 1), 0U);
    EXPECT_EQ(count(rewritten.circuit, Gate::kRy, 0), 0U);
    EXPECT_EQ(count(rewritten.circuit, Gate::kRx, 0), 2U);
    EXPECT_EQ(rewritten.circuit.operations().size(), (std::size_t{1} << controls) + 2);
  }
}

TEST(Recognise, AnyGateThatIsARotationAboutYCounts) {
  Circuit circuit(3);
  for (int i = 0; i < 4; ++i) circuit.u(0.3 + i, 0, 0, 2).cx(static_cast<Qubit>(i % 2), 2);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(count(rewritten.circuit, Gate::kX, 1), 0U);
}

TEST(Recognise, SeveralPhasesMayStandBetweenFlipsOfSeveralControls) {
  Circuit circuit(4);
  circuit.ccx(0, 1, 2).rz(0.3, 2).rz(0.5, 2).ccx(0, 1, 2);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(count(rewritten.circuit, Gate::kX, 2), 0U);
}

// Where the flip happens all of its controls are 1: a rotation about them alone is a phase there.
TEST(Recognise, AFlippedQubitMayControlRotationsOfWhatFlipsIt) {
  for (const std::vector<Qubit>& about : std::vector<std::vector<Qubit>>{{1}, {2}, {1, 2}, {3}, {1, 3}, {1, 2, 3}}) {
    for (const std::vector<Qubit>& controls : std::vector<std::vector<Qubit>>{{0}, {0, 4}}) {
      Circuit circuit(5);
      circuit.ccx(1, 2, 0).add_pauli_rotation(0.7, std::string(about.size(), 'Z'), about, controls);
      circuit.ccx(1, 2, 0);
      Rewritten rewritten;
      ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
      expect_same(circuit, rewritten);
    }
  }
}

TEST(Recognise, ACxWithoutItsTwinStaysAtTheEnd) {
  Circuit circuit = multiplexer(3, 9);
  circuit.truncate(circuit.operations().size() - 1);
  circuit.x(3).ry(0.4, 3);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(count(rewritten.circuit, Gate::kX, 1), 1U);
  EXPECT_EQ(count(rewritten.circuit, Gate::kX, 0), 1U);
}

TEST(Recognise, AControlThatChangesEndsTheRun) {
  for (const int at : {1, 5, 9, 14}) {
    const Circuit whole = multiplexer(3, 4);
    Circuit circuit(4);
    for (int i = 0; const Operation& op : whole.operations()) {
      if (i++ == at) circuit.h(1).rz(0.3, 2).ry(0.2, 0);
      circuit.append(whole, op);
    }
    Rewritten rewritten;
    if (recognise_multiplexers(circuit, rewritten)) expect_same(circuit, rewritten);
  }
}

TEST(Recognise, OtherGatesOnTheTargetOrAControlEndTheRun) {
  const auto others = std::to_array<void (*)(Circuit&)>({
      [](Circuit& c) { c.ccx(0, 1, 3); },
      [](Circuit& c) {
        c.add_gate(Gate::kX, std::vector<Qubit>{0, 1, 2}, std::vector<Qubit>{3}, {});
      },
      [](Circuit& c) {
        c.add_gate(Gate::kRy, std::vector<Qubit>{0, 1}, std::vector<Qubit>{3}, std::vector<double>{0.6});
      },
      [](Circuit& c) { c.swap(1, 3); },
      [](Circuit& c) { c.swap(0, 2); },
      [](Circuit& c) { c.rx(0.4, 3); },
      [](Circuit& c) { c.rz(0.4, 3); },
      [](Circuit& c) { c.h(3); },
      [](Circuit& c) { c.cz(1, 3); },
      [](Circuit& c) { c.cx(3, 1); },
      [](Circuit& c) { c.x(1); },
      [](Circuit& c) { c.ry(0.2, 0); },
      [](Circuit& c) { c.rxx(0.7, 1, 3); },
      [](Circuit& c) { c.cswap(0, 1, 3); },
  });
  for (std::size_t which = 0; which < others.size(); ++which) {
    const Circuit whole = multiplexer(3, 7);
    for (const std::size_t at : {3U, 8U, 13U}) {
      Circuit circuit(4);
      for (std::size_t i = 0; i < whole.operations().size(); ++i) {
        if (i == at) others[which](circuit);
        circuit.append(whole, whole.operations()[i]);
      }
      Rewritten rewritten;
      if (recognise_multiplexers(circuit, rewritten)) expect_same(circuit, rewritten);
      ASSERT_FALSE(HasFailure()) << which << " at " << at;
    }
  }
}

TEST(Recognise, ControlledRotationsAreNoDearerThanTheyWere) {
  Circuit circuit(3);
  const double angle = 0.8;
  const Qubit control = 0, target = 2;
  circuit.add_gate(Gate::kRy, std::span(&control, 1), std::span(&target, 1), std::span(&angle, 1));
  Rewritten rewritten;
  EXPECT_FALSE(recognise_multiplexers(circuit, rewritten));
  circuit.cx(1, 2).ry(-0.3, 2).cx(1, 2).ry(0.1, 2);
  circuit.add_gate(Gate::kRy, std::span(&control, 1), std::span(&target, 1), std::span(&angle, 1));
  ASSERT_TRUE(recognise_multiplexers(circuit, rewritten));
  EXPECT_LT(circuit_cost(rewritten.circuit), circuit_cost(circuit));
  expect_same(circuit, rewritten);
}

/// About the parity of the qubit and another one; of others, where the qubit is 1.
void add_rotation_with(Circuit& circuit, Qubit qubit, std::uint64_t kind, Qubit other, double angle) {
  const std::array<Qubit, 1> control{qubit};
  const std::array<Qubit, 2> others{other, (other + 1) % 4};
  switch (kind) {
    case 0:
      circuit.add_pauli_rotation(angle, "ZZ", std::array<Qubit, 2>{other, qubit});
      break;
    case 1:
      circuit.add_gate(Gate::kRz, control, {&other, 1}, {&angle, 1});
      break;
    default:
      circuit.add_pauli_rotation(angle, "ZZ", others, control);
  }
}

// Flips of several controls, with rotations about Y or phases between them, in any order; controls that change.
TEST(Recognise, FlipsOfSeveralControlsMayStandAnywhere) {
  int taken = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const Qubit target = 4;
    const auto some = [&](std::size_t most) {
      std::vector<Qubit> controls;
      for (Qubit q = 0; q < 4 && controls.size() < most; ++q) {
        if (random() % 2 == 0) controls.push_back(q);
      }
      return controls;
    };
    const bool phases = seed % 2 == 1;
    Circuit circuit(5);
    for (int i = 0; i < 14; ++i) {
      const double angle = seed % 7 == 0 ? kPi : 1e-3 * static_cast<double>(random() % 6283);
      const std::vector<Qubit> controls = some(1 + random() % 3);
      switch (random() % 12) {
        case 0:
          circuit.h(static_cast<Qubit>(random() % 4));
          break;
        case 1:
          circuit.add_gate(phases ? Gate::kRy : Gate::kRz, controls, {&target, 1}, {&angle, 1});
          break;
        case 2:
          circuit.add_gate(Gate::kX, {}, {&target, 1});
          break;
        case 3:
        case 4:
        case 5:
        case 6:
          circuit.add_gate(Gate::kX, controls, {&target, 1});
          break;
        case 7:
          if (phases) add_rotation_with(circuit, target, random() % 3, static_cast<Qubit>(random() % 4), angle);
          break;
        default:
          circuit.add_gate(phases ? (random() % 2 == 0 ? Gate::kRz : Gate::kPhase) : Gate::kRy, controls, {&target, 1},
                           {&angle, 1});
      }
    }
    Rewritten rewritten;
    if (!recognise_multiplexers(circuit, rewritten)) continue;
    ++taken;
    expect_same(circuit, rewritten);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(taken, 60);
}

// As Grover's iterates in amplitude estimation have it: every gate of a rotation by flips was given a control.
TEST(Recognise, RotationsUnderTwoControlsAreTermsBetweenTwoTurns) {
  const double angle = 0.8, back = -0.8, quarter = kPi / 2;
  const std::array<double, 4> u{angle, -kPi / 2, 0, 0};  // RY and a phase that the next gate takes back
  for (const bool about_y : {true, false}) {
    Circuit circuit(4);
    const std::vector<Qubit> control{0}, target{3};
    for (const Qubit other : {1U, 2U}) {
      const std::vector<Qubit> both{0, other};
      circuit.add_gate(Gate::kX, both, target);
      circuit.add_gate(about_y ? Gate::kRy : Gate::kRz, control, target, {&back, 1});
      circuit.add_gate(Gate::kX, both, target);
      if (about_y) {
        circuit.add_gate(Gate::kUPhase, control, target, u);
        circuit.add_gate(Gate::kPhase, control, target, {&quarter, 1});
      } else {
        circuit.add_gate(Gate::kRz, control, target, {&angle, 1});
      }
    }
    Rewritten rewritten;
    ASSERT_TRUE(optimize(circuit, {}, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(size_of(rewritten.circuit), about_y ? 4U : 2U);
  }
}

TEST(Recognise, NeighboursUnderTheSameControlsAreOne) {
  const std::vector<Qubit> control{0}, other{1}, target{2};
  const double a = 0.7, b = 0.4, back = -0.7;
  const auto merged = [&](const std::function<void(Circuit&)>& between, const std::vector<Qubit>& second, double angle,
                          Gate gate) {
    Circuit circuit(3);
    circuit.add_gate(Gate::kRx, control, target, {&a, 1});
    between(circuit);
    circuit.add_gate(gate, second, target, {&angle, 1});
    Rewritten rewritten;
    if (!merge_controlled(circuit, rewritten)) return circuit.operations().size();
    expect_same(circuit, rewritten);
    return rewritten.circuit.operations().size();
  };
  const auto nothing = [](Circuit&) {};
  EXPECT_EQ(merged(nothing, control, b, Gate::kRy), 1U);
  EXPECT_EQ(merged(nothing, control, b, Gate::kRz), 1U);
  EXPECT_EQ(merged(nothing, control, back, Gate::kRx), 0U);
  EXPECT_EQ(merged(nothing, other, b, Gate::kRy), 2U);
  EXPECT_EQ(merged([](Circuit& c) { c.cz(0, 1).rz(0.3, 0); }, control, b, Gate::kRy), 3U);  // phases of the control
  EXPECT_EQ(merged([](Circuit& c) { c.h(0); }, control, b, Gate::kRy), 3U);
  EXPECT_EQ(merged([](Circuit& c) { c.cx(1, 0); }, control, b, Gate::kRy), 3U);
  EXPECT_EQ(merged([](Circuit& c) { c.rz(0.1, 2); }, control, b, Gate::kRy), 3U);
  EXPECT_EQ(merged([](Circuit& c) { c.cx(2, 1); }, control, b, Gate::kRy), 3U);
  EXPECT_EQ(merged([](Circuit& c) { c.cx(0, 2); }, control, b, Gate::kRy), 3U);
}

/// exp(i pi product) of `qubits` qubits by rotations about all their parities, written with CX gates.
Circuit product_by_parities(unsigned qubits, double pi) {
  Circuit circuit(qubits);
  for (Index set = 1; set < Index{1} << qubits; ++set) {
    std::vector<Qubit> members;
    for (Qubit q = 0; q < qubits; ++q) {
      if ((set >> q & 1) != 0) members.push_back(q);
    }
    for (std::size_t j = 0; j + 1 < members.size(); ++j) circuit.cx(members[j], members.back());
    const double sign = members.size() % 2 == 1 ? 1 : -1;
    circuit.p(sign * std::ldexp(pi, 1 - static_cast<int>(qubits)), members.back());
    for (std::size_t j = members.size() - 1; j-- > 0;) circuit.cx(members[j], members.back());
  }
  return circuit;
}

TEST(Recognise, ParitiesThatAreAProductBecomeIt) {
  for (unsigned qubits = 2; qubits <= 5; ++qubits) {
    const Circuit circuit = product_by_parities(qubits, kPi);
    Rewritten rewritten;
    ASSERT_TRUE(optimize(circuit, {}, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(rewritten.recognised, std::vector<std::string_view>{"gather_products"});
    EXPECT_EQ(count(rewritten.circuit, Gate::kPhase, qubits - 1), 1U) << qubits;
    EXPECT_EQ(size_of(rewritten.circuit), 1U) << qubits;
  }
}

TEST(Recognise, AToffoliGateIsAPhaseOfThreeQubitsBetweenTwoTurns) {
  Circuit circuit(3);
  const double t = kPi / 4;
  circuit.h(2).cx(1, 2).p(-t, 2).cx(0, 2).p(t, 2).cx(1, 2).p(-t, 2).cx(0, 2).p(t, 1).p(t, 2).h(2);
  circuit.cx(0, 1).p(t, 0).p(-t, 1).cx(0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(optimize(circuit, {"recognise_permutations", "recognise_flips"}, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(count(rewritten.circuit, Gate::kPhase, 2), 1U);
  EXPECT_EQ(size_of(rewritten.circuit), 3U);
  Rewritten flip;
  ASSERT_TRUE(optimize(circuit, {"recognise_permutations"}, flip));
  expect_same(circuit, flip);
  EXPECT_EQ(count(flip.circuit, Gate::kX, 2), 1U);
  EXPECT_EQ(size_of(flip.circuit), 1U);
}

// Toffoli gates as compilers for rotations write them: the phases of everything that their products leave add up to
// exactly a part of a turn, or to nothing.
TEST(Recognise, PhasesOfEverythingAddUpExactly) {
  Circuit circuit(8);
  const double t = kPi / 4;
  for (Qubit i = 0; i < 60; ++i) {
    const Qubit a = i % 8, b = (i + 1 + i / 8 % 3) % 8, c = (i + 4 + i / 24 % 3) % 8;
    circuit.h(c).cx(b, c).rz(-t, c).cx(a, c).rz(t, c).cx(b, c).rz(-t, c).cx(a, c).rz(t, b).rz(t, c).h(c);
    circuit.cx(a, b).rz(t, a).rz(-t, b).cx(a, b);
  }
  Rewritten rewritten;
  ASSERT_TRUE(gather_products(circuit, rewritten));
  expect_same(circuit, rewritten);
  for (const Operation& op : rewritten.circuit.operations()) {
    if (op.controls + op.targets != 0) continue;
    const double angle = wrap_angle(0.5 * rewritten.circuit.params(op)[0]);
    EXPECT_EQ(angle, std::round(angle / (kPi / 8)) * (kPi / 8));
  }
}

// Angles that are nearly those of a product: what is left of them is kept, however small, down to rounding.
TEST(Recognise, WhatAnglesLackOfAProductStays) {
  for (double off = 1e-16; off < 1e-3; off *= 10) {
    Circuit circuit = product_by_parities(3, kPi);
    circuit.cx(0, 2).p(off, 2).cx(0, 2).p(-3 * off, 1);
    Rewritten rewritten;
    ASSERT_TRUE(optimize(circuit, {}, rewritten));
    const dense::State start = dense::random_state(3, 3);
    EXPECT_LE(dense::max_difference(dense::run(circuit, start), dense::run(rewritten.circuit, start)), 4e-15) << off;
  }
}

// A phase between the parts of a product that does not commute with it keeps them apart.
TEST(Recognise, PhasesOnEitherSideOfATurnAreNotOne) {
  const Circuit whole = product_by_parities(3, kPi);
  for (std::size_t at = 1; at < whole.operations().size(); ++at) {
    Circuit circuit(3);
    for (std::size_t i = 0; i < whole.operations().size(); ++i) {
      if (i == at) circuit.h(static_cast<Qubit>(at % 3));
      circuit.append(whole, whole.operations()[i]);
    }
    Rewritten rewritten;
    ASSERT_TRUE(optimize(circuit, {}, rewritten));
    const dense::State start = dense::random_state(3, 3);
    dense::State state = dense::run(rewritten.circuit, start), expected = dense::run(circuit, start);
    if (!rewritten.wire_of.empty()) continue;
    EXPECT_LE(dense::max_difference(state, expected), 1e-13) << at;
  }
}

TEST(Recognise, NoPlanIsDearerForIt) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    std::mt19937_64 random(seed);
    Circuit circuit(9);
    for (int part = 0; part < 12; ++part) {
      const auto pick = [&] { return static_cast<Qubit>(random() % 9); };
      const Qubit a = pick(), b = (a + 1 + static_cast<Qubit>(random() % 8)) % 9;
      const double angle = 0.001 * static_cast<double>(random() % 3000);
      circuit.h(a).cx(a, b).ry(angle, b).cx(a, b).ry(-angle, b).p(kPi / 4, b).cx(a, b).p(-kPi / 4, b).cx(a, b);
      circuit.p(kPi / 4, a);
    }
    PlanOptions options;
    options.tile_bits = 6;
    options.start = Start::kState;
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    options.disabled_passes.assign(recognising_passes().begin(), recognising_passes().end());
    options.disabled_passes.emplace_back(kStraightenAxes);
    const Plan as_written = make_plan(circuit, find_machine("h200"), options);
    EXPECT_FALSE(cheaper(as_written, plan, options)) << seed;
    const dense::State start = dense::random_state(9, seed);
    EXPECT_LE(dense::max_difference(test::interpret(plan, start), dense::run(circuit, start)), 1e-12) << seed;
  }
}

}  // namespace
}  // namespace qsim
