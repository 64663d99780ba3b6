// Circuits of rz, sx, x and cx, as some machines take them, become what they were written from: the same unitary, its
// phase included, in fewer gates, and planned as the circuit they come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "optimizer/pipeline.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

double tolerance(const Circuit& circuit) {
  return test::rounding_tolerance(Precision::kDouble, circuit.operations().size());
}

/// The same, and nothing was refused.
void expect_same(const Circuit& circuit, const Rewritten& rewritten) {
  test::expect_same(circuit, rewritten);
  EXPECT_EQ(rewritten.refused, 0U);
}

/// Spellings of what is left, without phases of everything.
std::vector<std::string> shapes(const Circuit& circuit) {
  std::vector<std::string> all;
  for (const Operation& op : circuit.operations()) {
    if (op.controls + op.targets != 0) all.emplace_back(gate_spelling(op.gate, op.controls));
  }
  return all;
}

/// u(theta, phi, lambda) but for a phase, as compilers write it with two square roots.
void append_general(Circuit& circuit, Qubit q, double theta, double phi, double lambda) {
  circuit.rz(lambda, q).sx(q).rz(theta + kPi, q).sx(q).rz(phi + 3 * kPi, q);
}
/// A Hadamard gate but for a phase.
void append_hadamard(Circuit& circuit, Qubit q) { circuit.rz(kPi / 2, q).sx(q).rz(kPi / 2, q); }

std::vector<std::string> named(const Circuit& circuit) {
  Rewritten rewritten;
  if (!name_turns(circuit, rewritten)) return {"as it was"};
  expect_same(circuit, rewritten);
  return shapes(rewritten.circuit);
}

using Texts = std::vector<std::string>;

TEST(NameTurns, GatesComeBack) {
  Circuit hadamard(1), pair(1), with_t(1), flip(1), ry(1), rx(1), turned(1), root(1);
  append_hadamard(hadamard, 0);
  EXPECT_EQ(named(hadamard), Texts{"h"});
  append_hadamard(pair, 0);
  append_hadamard(pair, 0);
  EXPECT_EQ(named(pair), Texts{});
  append_hadamard(with_t, 0);
  with_t.rz(kPi / 4, 0);
  EXPECT_EQ(named(with_t), (Texts{"h", "t"}));
  EXPECT_EQ(named(std::move(flip.sx(0).sx(0))), Texts{"x"});
  append_general(ry, 0, 0.3, 0, 0);
  EXPECT_EQ(named(ry), Texts{"ry"});
  append_general(rx, 0, 0.3, -kPi / 2, kPi / 2);
  EXPECT_EQ(named(rx), Texts{"rx"});
  append_general(turned, 0, 0.3, 0.4, 0.5);
  EXPECT_EQ(named(turned), (Texts{"p", "ry", "p"}));
  EXPECT_EQ(named(std::move(root.rz(0, 0).sx(0).rz(0, 0))), Texts{"sx"});
}

// Matrices that are given by their angles, where that weighs no more.
TEST(NameTurns, MatricesAreNamed) {
  Circuit hadamard(1), phase(1), turned(1), pair(1), general(1), second(1);
  EXPECT_EQ(named(hadamard.u(kPi / 2, 0, kPi, 0)), Texts{"h"});
  EXPECT_EQ(named(phase.u(0, 0, 0.3, 0)), Texts{"p"});
  EXPECT_EQ(named(turned.u(0.3, 0, 0, 0)), Texts{"ry"});
  EXPECT_EQ(named(second.u2(0, kPi, 0)), Texts{"h"});
  EXPECT_EQ(named(pair.u(kPi / 2, 0, kPi, 0).u(kPi / 2, 0, kPi, 0)), Texts{});
  EXPECT_EQ(named(general.u(0.3, 0.4, 0.5, 0)), Texts{"as it was"});
}

// A Hadamard gate beside a rotation may begin or end a gate with several controls: it is not a part of the rotation.
TEST(NameTurns, HadamardGatesBesideRotationsAreThemselves) {
  Circuit after(1), before(1), both(1), pair(1), gone(1), unlike(1);
  append_general(after, 0, 0.3, 0, 0);
  append_hadamard(after, 0);
  EXPECT_EQ(named(after), (Texts{"ry", "h"}));
  append_hadamard(before, 0);
  append_general(before, 0, 0.3, 0, 0);
  EXPECT_EQ(named(before), (Texts{"h", "ry"}));
  append_hadamard(both, 0);
  append_general(both, 0, 0.3, 0, 0);
  append_hadamard(both, 0);
  EXPECT_EQ(named(both), (Texts{"h", "ry", "h"}));
  append_general(pair, 0, 0.3, 0, 0);
  append_general(pair, 0, 0.5, 0, 0);
  EXPECT_EQ(named(pair), (Texts{"ry", "ry"}));
  append_general(gone, 0, 0.3, 0, 0);
  append_hadamard(gone, 0);
  append_hadamard(gone, 0);
  append_general(gone, 0, 0.5, 0, 0);
  EXPECT_EQ(named(gone), (Texts{"ry", "ry"}));
  append_general(unlike, 0, 0.3, 0.1, 0.2);
  append_hadamard(unlike, 0);
  EXPECT_EQ(named(unlike), (Texts{"p", "ry", "p", "h"}));
}

TEST(NameTurns, OthersStayAsTheyAre) {
  Circuit alone(2), between(2), controlled(2), phases(1), open(1);
  EXPECT_EQ(named(std::move(alone.sx(0).cx(0, 1).rz(0.3, 0))), Texts{"as it was"});
  EXPECT_EQ(named(std::move(between.rz(0.1, 0).cx(0, 1).sx(0).cx(0, 1).rz(0.3, 0))), Texts{"as it was"});
  EXPECT_EQ(named(std::move(controlled.csx(0, 1).csx(0, 1))), Texts{"as it was"});
  EXPECT_EQ(named(std::move(phases.rz(0.1, 0).rz(0.2, 0).h(0))), Texts{"as it was"});
  const Parameter a{"a"};
  open.rz(kPi / 2, 0).sx(0).rz(a, 0).sx(0).rz(a, 0);
  Rewritten rewritten;
  ASSERT_TRUE(name_turns(open, rewritten));  // what stands before the first open angle
  EXPECT_EQ(shapes(rewritten.circuit), (Texts{"h", "sdg", "rz", "sx", "rz"}));
  for (const double value : {0.3, kPi}) {
    const std::vector<double> values{value};
    EXPECT_LE(dense::max_difference(dense::run(open.bind(values)), dense::run(rewritten.circuit.bind(values))),
              tolerance(open));
  }
}

// Small angles beside large ones keep all their digits, as far as they are given.
TEST(NameTurns, SmallAnglesAreWhatTheyWere) {
  for (int digit = 3; digit < 60; ++digit) {
    for (const double times : {1.0, 3.0, 0.7}) {
      const double angle = times * std::ldexp(kPi, -digit);
      Circuit circuit(1);
      append_hadamard(circuit, 0);
      circuit.rz(angle, 0);
      Rewritten rewritten;
      ASSERT_TRUE(name_turns(circuit, rewritten));
      ASSERT_EQ(shapes(rewritten.circuit), (Texts{"h", "p"}));
      const double found = rewritten.circuit.params(rewritten.circuit.operations()[1])[0];
      EXPECT_LE(std::abs(found - angle), times == 0.7 ? 4e-19 + 1e-15 * angle : 1e-15 * angle) << digit;
    }
  }
}

// What is nearly a Hadamard gate or a flip is a rotation, and no digit of it is lost.
TEST(NameTurns, AnglesBesideSimpleOnesStayThemselves) {
  for (int decade = 3; decade <= 16; ++decade) {
    for (const double part : {0.0, kPi / 2, kPi, -kPi / 2, 1.5 * kPi}) {
      for (const double error : {std::pow(10.0, -decade), -std::pow(10.0, -decade)}) {
        Circuit circuit(1);
        append_general(circuit, 0, part + error, part - error, error);
        append_hadamard(circuit, 0);
        Rewritten rewritten;
        if (name_turns(circuit, rewritten)) expect_same(circuit, rewritten);
      }
    }
  }
}

TEST(NameTurns, RandomRunsAreTheSame) {
  const test::Campaign campaign(400);
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
    const auto angle = [&] {
      if (pick(4) == 0) return 0.001 * pick(6000) - 3;
      if (pick(6) == 0) return std::ldexp(kPi, -static_cast<int>(pick(60)));
      return kPi / 4 * (static_cast<double>(pick(33)) - 16) + (pick(9) == 0 ? 1e-14 : 0);
    };
    Circuit circuit(3);
    for (int i = 0; i < 60; ++i) {
      const Qubit q = pick(3), other = (q + 1 + pick(2)) % 3;
      switch (pick(12)) {
        case 0:
        case 1:
        case 2:
          circuit.rz(angle(), q);
          break;
        case 3:
        case 4:
        case 5:
          circuit.sx(q);
          break;
        case 6:
          circuit.cx(q, other);
          break;
        case 7:
          circuit.add_gate(std::array{Gate::kSxdg, Gate::kH, Gate::kX, Gate::kY}[pick(4)], {}, {&q, 1});
          break;
        case 8:
          circuit.add_gate(std::array{Gate::kS, Gate::kSdg, Gate::kT, Gate::kTdg, Gate::kZ}[pick(5)], {}, {&q, 1});
          break;
        case 9:
          circuit.rx(angle(), q);
          break;
        case 10:
          circuit.ry(angle(), q);
          break;
        default:
          circuit.p(angle(), q);
      }
    }
    Rewritten rewritten;
    if (!name_turns(circuit, rewritten)) continue;
    SCOPED_TRACE(seed);
    expect_same(circuit, rewritten);
    EXPECT_LE(circuit_cost(rewritten.circuit), circuit_cost(circuit) + 1e-9);
    if (HasFailure()) return;
  }
}

/// Rotations about Y, flips, Toffoli gates, controlled phases and strings: as they are, and in rz, sx and cx.
Circuit mixed(bool roots, std::uint32_t qubits) {
  Circuit circuit(qubits);
  const auto hadamard = [&](Qubit q) { roots ? append_hadamard(circuit, q) : void(circuit.h(q)); };
  const auto ry = [&](double angle, Qubit q) {
    roots ? append_general(circuit, q, angle, 0, 0) : void(circuit.ry(angle, q));
  };
  for (Qubit q = 0; q < qubits; ++q) hadamard(q);
  for (Qubit q = 0; q + 2 < qubits; ++q) {
    ry(0.1 + 0.05 * q, q);
    circuit.cx(q, q + 1);
    ry(0.2 + 0.05 * q, q + 1);
    circuit.cx(q, q + 1);
    hadamard(q + 2);
    circuit.cx(q + 1, q + 2).rz(-kPi / 4, q + 2).cx(q, q + 2).rz(kPi / 4, q + 2).cx(q + 1, q + 2);
    circuit.rz(-kPi / 4, q + 2).cx(q, q + 2).rz(kPi / 4, q + 1).rz(kPi / 4, q + 2);
    hadamard(q + 2);
    circuit.cx(q, q + 1).rz(kPi / 4, q).rz(-kPi / 4, q + 1).cx(q, q + 1);
  }
  return circuit;
}

TEST(NameTurns, PlansAreThoseOfTheCircuitBefore) {
  const Machine machine = find_machine("h200");
  for (const Start start : {Start::kZero, Start::kRandom}) {
    PlanOptions options;
    options.start = start;
    const PlanWork with = plan_work(make_plan(mixed(true, 24), machine, options));
    const PlanWork without = plan_work(make_plan(mixed(false, 24), machine, options));
    EXPECT_EQ(with.sweeps, without.sweeps);
    EXPECT_NEAR(with.total_seconds / without.total_seconds, 1, 1e-3);
  }
}

TEST(SplitPairs, RotationsAboutXxInFrontOfTurnsAreTurnsAroundAPhase) {
  Circuit circuit(4);
  circuit.h(3).rxx(0.3, 0, 1).rx(kPi / 2, 0).rzz(0.4, 1, 2).rxx(0.7, 1, 2).p(0.2, 3).rxx(Parameter("a"), 2, 3);
  circuit.p(0.1, 2).ry(0.4, 3).sx(2);
  Rewritten rewritten;
  ASSERT_TRUE(split_pairs(circuit, rewritten));
  const double value = -1.3;
  const Circuit bound = circuit.bind({&value, 1});
  Rewritten there = rewritten;
  there.circuit = rewritten.circuit.bind({&value, 1});
  expect_same(bound, there);
  // Where one qubit or none is turned behind them they stay.
  EXPECT_EQ(
      std::ranges::count_if(rewritten.circuit.operations(), [](const Operation& op) { return op.gate == Gate::kRxx; }),
      2);
}

TEST(SplitPairs, SpellingsOfALatticeAreOnePlan) {
  Circuit named(22), written(22);
  for (Qubit q = 0; q + 1 < 22; ++q) {
    named.rxx(0.3, q, q + 1);
    written.h(q).h(q + 1).rzz(0.3, q, q + 1).h(q).h(q + 1);
    for (Circuit* circuit : {&named, &written}) {
      circuit->rx(kPi / 2, q).rx(kPi / 2, q + 1).rzz(0.3, q, q + 1).rx(-kPi / 2, q).rx(-kPi / 2, q + 1);
      circuit->rzz(0.3, q, q + 1);
    }
  }
  const Machine machine = find_machine("h200");
  PlanOptions options;
  options.start = Start::kRandom;
  const double one = plan_work(make_plan(named, machine, options)).total_seconds;
  EXPECT_NEAR(one / plan_work(make_plan(written, machine, options)).total_seconds, 1, 1e-2);
}

}  // namespace
}  // namespace qsim
