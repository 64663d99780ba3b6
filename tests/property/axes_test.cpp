// Circuits with their axes made straight: the same unitary with its phase, whatever stands beside what is special, and
// the same gates however the gates on one qubit were spread over them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/axes/axis_form.h"
#include "optimizer/axes/pair_interaction.h"
#include "optimizer/axes/straighten_axes.h"
#include "optimizer/pipeline.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/pair_circuits.h"
#include "support/passes.h"

namespace qsim {
namespace {

using test::any_gate;
using test::beside_special;
using test::on_own_wires;
using test::pairs_of_every_class;
using test::Random;
using test::spread;

constexpr double kPi = std::numbers::pi;

bool straightened(const Circuit& circuit, Rewritten& rewritten) {
  const std::optional<AxisForm> form = axis_form(circuit);
  if (form) straighten_axes(circuit, *form, rewritten);
  return form.has_value();
}

Rewritten straight(const Circuit& circuit) {
  Rewritten rewritten;
  EXPECT_TRUE(straightened(circuit, rewritten));
  rewritten = on_own_wires(std::move(rewritten));
  test::expect_same(circuit, rewritten);
  return rewritten;
}

/// By the gates' names, with angles rounded, how often each stands.
std::map<std::string, int> gates_of(const Circuit& circuit) {
  std::map<std::string, int> count;
  for (const Operation& op : circuit.operations()) {
    if (op.controls + op.targets == 0) continue;  // a phase
    std::string name(gate_spelling(op.gate, static_cast<int>(op.controls)));
    for (const double angle : circuit.params(op)) name += " " + std::to_string(std::lround(std::abs(angle) * 1e6));
    ++count[name];
  }
  return count;
}

using Append = void (*)(Circuit&, Random&, Qubit, Qubit);

/// Turns from 1 down to what rounding leaves, between gates of any kind.
void small_turns(Circuit& circuit, Random& random, Qubit a, Qubit b) {
  const double t = std::pow(10.0, -random.within(0, 17));
  any_gate(circuit, random, a);
  any_gate(circuit, random, b);
  circuit.rxx(t, a, b).ryy(random.within(-1, 1) * t, a, b).rzz(random.below(2) * t, a, b);
}

TEST(Axes, AnglesAreSimplePartsToRounding) {
  for (const int power : {1, 4, 5, 20, 31}) {
    const double part = std::ldexp(std::numbers::pi, -power);
    for (const double off : {0.0, 1.5e-15, -1.5e-15})
      EXPECT_EQ(simple_angle(part + off, 2e-15), simple_angle(part, 1e-16)) << power;
  }
  for (const double other : {0.3, 1.1, -2.0, 1e-10}) EXPECT_EQ(simple_angle(other, 2e-15), other);
  EXPECT_EQ(simple_angle(1e-15, 2e-15), 0);
}

// Sums over paths see through ladders of phases only where they are exactly what was meant.
TEST(StraightenAxes, TurnsOfPairsAreSimplePartsToRounding) {
  for (const int power : {3, 6, 10, 20}) {
    const double part = std::ldexp(kPi, -power);
    for (const double off : {-1.5e-15, 0.0, 5e-16, 1.5e-15}) {
      Circuit circuit(2);
      circuit.ry(0.3, 0).rxx(part + off, 0, 1).ry(-1.1, 1);
      const Rewritten rewritten = straight(circuit);
      const auto& operations = rewritten.circuit.operations();
      const auto turn = std::ranges::find_if(operations, [](const Operation& op) { return op.targets == 2; });
      ASSERT_NE(turn, operations.end());
      EXPECT_EQ(std::abs(rewritten.circuit.params(*turn)[0]), part) << power << " " << off;
    }
  }
}

// Many times a simple part and little more: what passes for rounding may move along a wire, so that all of it moves the
// state by no more than it is itself.
TEST(StraightenAxes, WhatPassesForRoundingIsKept) {
  constexpr Qubit kGates = 2000;
  const dense::State start = dense::random_state(3, 5);
  for (const double part : {kPi / 8, kPi / 1024}) {
    for (const double off : {1e-15, 5e-15, 4e-14, 1e-12}) {
      for (const bool turns : {false, true}) {
        Circuit circuit(3), exact(3);
        for (Qubit i = 0; i < kGates; ++i) {
          const Qubit a = i % 3, b = (i + 1) % 3;
          for (Circuit* const of : {&circuit, &exact}) {
            const double angle = of == &exact ? part : part + off;
            if (turns) of->rzz(angle, a, b).h(a);
            if (!turns) of->rz(angle, a).cz(a, b).h(a);
          }
        }
        Rewritten rewritten;
        ASSERT_TRUE(straightened(circuit, rewritten));
        rewritten = on_own_wires(std::move(rewritten));
        const dense::State made = test::run_rewritten(rewritten, start), wanted = dense::run(circuit, start);
        const double all = dense::max_difference(wanted, dense::run(exact, start));
        EXPECT_LE(dense::max_difference(made, wanted),
                  2 * all + test::rounding_tolerance(Precision::kDouble, 3 * kGates))
            << part << " " << off << " " << turns;
      }
    }
  }
}

TEST(StraightenAxes, TheUnitaryIsTheSame) {
  for (const Append append : {&pairs_of_every_class, &small_turns, &beside_special}) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
      Random random(seed);
      const std::uint32_t qubits = 2 + seed % 4;
      Circuit circuit(qubits);
      for (int i = 0; i < 24; ++i) {
        const Qubit a = random.below(qubits), b = (a + 1 + random.below(qubits - 1)) % qubits;
        append(circuit, random, a, b);
      }
      straight(circuit);
      ASSERT_FALSE(HasFailure()) << seed;
    }
  }
}

TEST(StraightenAxes, ManyGatesOnOnePairAndOne) {
  Random random(3);
  Circuit circuit(3), alone(2), none(2);
  for (int i = 0; i < 3000; ++i) {
    circuit.rz(0.1, 0).cx(0, 1).sx(1).t(1).cx(0, 1);
    if (i % 500 == 499) circuit.cx(1, 2);
  }
  straight(circuit);
  any_gate(alone, random, 1);
  straight(alone);
  straight(none);
  straight(none.cx(0, 1).cx(0, 1));
  EXPECT_TRUE(straight(none).circuit.operations().empty());
}

/// Adders and rotations chosen by other qubits, with their gates in CX gates and phases.
Circuit structured(std::uint32_t qubits, std::uint64_t seed) {
  Random random(seed);
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.h(q);
  for (std::uint32_t i = 0; i < 4 * qubits; ++i) {
    const Qubit a = random.below(qubits), b = (a + 1 + random.below(qubits - 2)) % qubits, c = (b + 1) % qubits;
    if (i % 3 == 0 && c != a) {
      circuit.h(c).cx(b, c).tdg(c).cx(a, c).t(c).cx(b, c).tdg(c).cx(a, c).t(b).t(c).h(c).cx(a, b).t(a).tdg(b).cx(a, b);
    } else if (i % 3 == 1) {
      circuit.ry(random.within(-3, 3), b).cx(a, b).ry(random.within(-3, 3), b).cx(a, b);
    } else {
      circuit.cx(a, b).rz(random.within(-3, 3), b).cx(a, b).h(b);
    }
  }
  return circuit;
}

TEST(StraightenAxes, HoweverGatesOnOneQubitAreSpread) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    const Circuit circuit = structured(6, seed), other = spread(circuit, random);
    EXPECT_EQ(axes_of(circuit), Axes::kOfOneBasis);
    EXPECT_EQ(axes_of(other), Axes::kBent);
    std::map<std::string, int> is = gates_of(straight(circuit).circuit), as = gates_of(straight(other).circuit);
    const auto turns = [](const std::map<std::string, int>& gates) {
      int count = 0;
      for (const auto& [name, times] : gates) count += name[1] != 'z' || name[2] == 'z' ? 0 : times;
      return count;
    };
    // What is left behind the last pair of a qubit is one gate, which is written in one way or another.
    EXPECT_NEAR(turns(is), turns(as), 6) << seed;
    EXPECT_NEAR(is["h"], as["h"], 6) << seed;
    for (auto* gates : {&is, &as}) {
      std::erase_if(*gates, [](const auto& each) { return each.first[0] != 'c' && each.first.substr(0, 3) != "rzz"; });
    }
    EXPECT_EQ(is, as) << seed;
  }
}

TEST(StraightenAxes, StaysAsItIs) {
  Circuit three(3), open(2), swaps(2), angles(2), two(3), one(1);
  Rewritten rewritten;
  EXPECT_FALSE(straightened(three.ccx(0, 1, 2), rewritten));
  EXPECT_FALSE(straightened(open.rz(Parameter{"a"}, 0).cx(0, 1), rewritten));
  // Matrices that are not unitary to rounding mean what they are.
  for (const double scale : {1 + 1e-11, 1 - 1e-13, 0.5, std::nan("")}) {
    Circuit lone(2), pair(2);
    const std::vector<Complex> diagonal{scale, 0, 0, 1}, all{scale, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    constexpr std::array<Qubit, 2> kBoth{0, 1};
    lone.add_unitary(diagonal, {}, std::span(kBoth).first(1), false).cx(0, 1);
    pair.add_unitary(all, {}, kBoth, false).cx(0, 1);
    EXPECT_FALSE(straightened(lone, rewritten)) << scale;
    EXPECT_FALSE(straightened(pair, rewritten)) << scale;
  }
  for (const Circuit* circuit :
       {&three, &open, &swaps.swap(0, 1), &angles.cp(0.3, 0, 1), &two.cx(0, 1).cz(1, 2), &one.h(0)}) {
    EXPECT_EQ(axes_of(*circuit), Axes::kAsWritten);
  }
}

TEST(StraightenAxes, PlansAreAsOfTheCircuit) {
  const Machine machine =
      without_births_and_norm(find_machine("h200"));  // plans with whole lines come upon other schedules
  for (const Start start : {Start::kZero, Start::kRandom}) {
    PlanOptions options;
    options.start = start;
    Random random(5);
    // Rotations of qubits chosen by six others, as CX gates and rotations.
    Circuit circuit(30);
    for (Qubit q = 0; q < 6; ++q) circuit.h(q);
    for (Qubit target = 6; target < 30; ++target) {
      for (unsigned i = 1; i <= 64; ++i) {
        circuit.ry(random.within(-3, 3), target).cx(static_cast<Qubit>(std::min(5, std::countr_zero(i))), target);
      }
    }
    const auto seconds = [&](const Circuit& of, bool left_out = false) {
      PlanOptions chosen = options;
      if (left_out) chosen.disabled_passes.emplace_back(kStraightenAxes);
      return plan_work(make_plan(of, machine, chosen)).total_seconds;
    };
    const Circuit other = spread(circuit, random);
    EXPECT_LE(seconds(other), 1.05 * seconds(circuit));
    EXPECT_GE(seconds(other, true), 1.3 * seconds(circuit));
  }
}

TEST(PairInteraction, IsTheUnitary) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    Circuit circuit(2);
    for (int i = 0; i < 3; ++i) {
      if (seed % 3 == 0) small_turns(circuit, random, 0, 1);
      if (seed % 3 == 1) pairs_of_every_class(circuit, random, 0, 1);
      if (seed % 3 == 2) beside_special(circuit, random, 0, 1);
    }
    const std::vector<Complex> unitary = dense::circuit_matrix(circuit);
    const auto interaction = pair_interaction(unitary);
    ASSERT_TRUE(interaction) << seed;
    Circuit again(2);
    for (Qubit q = 0; q < 2; ++q) again.add_unitary(interaction->before[q], {}, {&q, 1}, false);
    again.rxx(-2 * interaction->angles[0], 0, 1).ryy(-2 * interaction->angles[1], 0, 1);
    again.rzz(-2 * interaction->angles[2], 0, 1);
    for (Qubit q = 0; q < 2; ++q) again.add_unitary(interaction->after[q], {}, {&q, 1}, false);
    const std::vector<Complex> made = dense::circuit_matrix(again);
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_LE(std::abs(made[i] - unitary[i]), 1e-14) << seed;
    for (const double angle : interaction->angles) EXPECT_LE(std::abs(angle), kPi / 4 + 1e-15);
  }
  Matrix none(16);
  EXPECT_FALSE(pair_interaction(none));
  none[0] = NAN;
  EXPECT_FALSE(pair_interaction(none));
}

}  // namespace
}  // namespace qsim
