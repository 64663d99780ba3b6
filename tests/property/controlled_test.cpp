// Controlled gates, Toffoli gates and controlled phases that are written with CX gates, phases and turns come back: the
// same unitary, its phase included, at any angle, and planned as the circuit that they come from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "optimizer/pipeline.h"
#include "optimizer/sums/path_sum.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

constexpr std::array<Qubit, 2> kPair{0, 1};
constexpr std::array<Qubit, 1> kLast{2};

using test::expect_same;
using test::made;
using test::PassFunction;
using test::Texts;

/// As libraries write them.
void append_toffoli(Circuit& circuit, Qubit a, Qubit b, Qubit c) {
  circuit.h(c).cx(b, c).tdg(c).cx(a, c).t(c).cx(b, c).tdg(c).cx(a, c).t(b).t(c).h(c).cx(a, b).t(a).tdg(b).cx(a, b);
}
void append_controlled_phase(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.rz(angle / 2, a).cx(a, b).rz(-angle / 2, b).cx(a, b).rz(angle / 2, b);
}
void append_cry(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.ry(angle / 2, b).cx(a, b).ry(-angle / 2, b).cx(a, b);
}
void append_cu(Circuit& circuit, double theta, double phi, double lambda, Qubit a, Qubit b) {
  circuit.p((lambda + phi) / 2, a).p((lambda - phi) / 2, b).cx(a, b);
  circuit.u(-theta / 2, 0, -(phi + lambda) / 2, b).cx(a, b).u(theta / 2, phi, 0, b);
}

TEST(GatherProducts, WhatCxGatesAndPhasesStandForComesBack) {
  Circuit toffoli(3), twice(3), phase(2), shared(4);
  append_toffoli(toffoli, 0, 1, 2);
  EXPECT_EQ(made(gather_products, toffoli), (Texts{"h", "ccp", "h"}));
  append_toffoli(twice, 0, 1, 2);
  twice.ry(0.3, 2);
  append_toffoli(twice, 0, 1, 2);
  EXPECT_EQ(made(gather_products, twice), (Texts{"h", "ccp", "h", "ry", "h", "ccp", "h"}));
  append_controlled_phase(phase, 0.7, 0, 1);
  EXPECT_EQ(made(gather_products, phase), Texts{"cp"});
  for (Qubit q = 1; q < 4; ++q) append_controlled_phase(shared, 0.7 * q, 0, q);
  const Texts found = made(gather_products, shared);
  EXPECT_EQ(std::ranges::count(found, "cp") + std::ranges::count(found, "z2"), 3);
  EXPECT_EQ(std::ranges::count(found, "cx"), 0);
}

/// Every factor of the terms' total keeps its digits where angles are nearly equal, tiny, or no parts of a turn.
TEST(GatherProducts, AnglesKeepTheirDigits) {
  const auto angles = std::to_array<double>({0, 1e-300, 1e-16, 1.9e-15, 2.1e-15, 1e-12, 1e-9, kPi / 1024, kPi / 4, 0.3,
                                             kPi / 2, kPi, 2 * kPi, 4 * kPi, -kPi, 1e3, 1e6, kPi * 3 / 1048576});
  for (const double angle : angles) {
    for (const double off : {0.0, 1e-16, -4e-16, 1e-15, 3e-15, -1e-14, 1e-10}) {
      Circuit circuit(3);
      circuit.h(0).h(1).h(2);
      append_controlled_phase(circuit, angle + off, 0, 1);
      circuit.rz(angle, 1).rz(-angle + off, 1).p(angle + off, 2).p(angle, 2);
      append_controlled_phase(circuit, angle - off, 1, 2);
      circuit.cx(0, 2).rz(kPi / 4 + off, 2).cx(0, 2).h(1).h(2);
      Rewritten rewritten;
      if (gather_products(circuit, rewritten)) expect_same(circuit, rewritten);
      ASSERT_FALSE(HasFailure()) << angle << " + " << off;
    }
  }
}

TEST(GatherProducts, RoundingIsTakenFromSumsAndNothingElse) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 24;  // 2^-40 turns
  const double unit = std::ldexp(kPi, -63);                // of 2^-64 turns
  for (const std::uint64_t part : {std::uint64_t{0}, kStep, 5 * kStep, std::uint64_t{1} << 63, 0 - kStep}) {
    for (const double angle : {1e-16, 1e-15, 1.9e-15}) {
      const auto off = static_cast<std::uint64_t>(angle / unit);
      EXPECT_EQ(rounded_turns(part + off), part);
      EXPECT_EQ(rounded_turns(part - off), part);
    }
    for (const double angle : {2.1e-15, 1e-14, 1e-12}) {
      const auto off = static_cast<std::uint64_t>(angle / unit);
      EXPECT_EQ(rounded_turns(part + off), part + off);
      EXPECT_EQ(rounded_turns(part - off), part - off);
    }
  }
  // A ladder whose angles have been added up by others, to rounding: a part of a turn again.
  Circuit circuit(2);
  double sum = 0;
  for (int k = 2; k < 32; ++k) sum += std::ldexp(kPi, -k);
  const double rest = std::ldexp(kPi, -31);
  circuit.rz(-sum, 0).rz(kPi / 2 + 4e-16, 0).h(0);
  append_controlled_phase(circuit, 0.3, 0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(gather_products(circuit, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(rewritten.circuit.params(rewritten.circuit.operations()[0])[0], rest);
  // One that nothing is added to, as a compiler writes pi/128, and a product's rest.
  Circuit alone(2), product(2);
  alone.rz(0.024543692606170175, 0).h(0);
  append_controlled_phase(alone, 0.3, 0, 1);
  Rewritten single;
  ASSERT_TRUE(gather_products(alone, single));
  EXPECT_EQ(single.circuit.params(single.circuit.operations()[0])[0], kPi / 128);
  product.rz(kPi / 4 + kPi / 1048576, 0).cx(0, 1).rz(-kPi / 4, 1).cx(0, 1).rz(kPi / 4, 1);
  Rewritten left;
  ASSERT_TRUE(gather_products(product, left));
  expect_same(product, left);
  const auto& operations = left.circuit.operations();
  EXPECT_TRUE(std::ranges::all_of(operations, [&](const Operation& op) {
    return op.controls + op.targets == 0 || is_part_of_turn(left.circuit.params(op)[0]);
  }));
}

Circuit around_phase(double angle) {
  Circuit circuit(3);
  circuit.h(2).add_gate(Gate::kPhase, kPair, kLast, {&angle, 1});
  return circuit.h(2);
}

TEST(RecogniseFlips, HadamardGatesAroundHalfTurns) {
  Circuit pair(2), toffoli(3), two(3), alone(3), both(3), others(3), unlike(3), many(6);
  EXPECT_EQ(made(recognise_flips, pair.h(1).cz(0, 1).h(1)), Texts{"as it was"});  // a CX gate is seen anyway
  EXPECT_EQ(made(recognise_flips, toffoli.h(2).add_gate(Gate::kZ, kPair, kLast).h(2)), Texts{"ccx"});
  EXPECT_EQ(made(recognise_flips, two.h(2).add_gate(Gate::kZ, kPair, kLast).cz(0, 2).h(2)), (Texts{"ccx", "cx"}));
  EXPECT_EQ(made(recognise_flips, alone.h(2).z(2).add_gate(Gate::kZ, kPair, kLast).h(2)), (Texts{"x", "ccx"}));
  // The half turn is one pair's alone.
  EXPECT_EQ(made(recognise_flips, both.h(0).h(2).add_gate(Gate::kZ, kPair, kLast).h(2).h(0)), (Texts{"h", "ccx", "h"}));
  EXPECT_EQ(made(recognise_flips, others.h(2).add_gate(Gate::kZ, kPair, kLast).t(2).h(2)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_flips, unlike.h(2).add_gate(Gate::kZ, kPair, kLast).cx(2, 0).h(2)), Texts{"as it was"});
  for (Qubit q = 0; q < 5; ++q) many.cz(q, 5);
  EXPECT_EQ(made(recognise_flips, many), Texts{"as it was"});
  for (const double off : {1e-14, -1e-12, 1e-6}) {
    EXPECT_EQ(made(recognise_flips, around_phase(kPi + off)), Texts{"as it was"}) << off;
  }
  EXPECT_EQ(made(recognise_flips, around_phase(std::nextafter(kPi, 4.0))), Texts{"ccx"});
}

// H P(pi/2) H is one Hadamard gate between phases: it stands before the flips, or behind them where flips of the same
// controls are before the pair.
TEST(RecogniseFlips, QuarterTurnsBetweenThemLeaveOne) {
  Circuit first(3), last(3), flipped(3), eighth(3);
  EXPECT_EQ(made(recognise_flips, first.h(2).add_gate(Gate::kZ, kPair, kLast).s(2).h(2)),
            (Texts{"sdg", "h", "sdg", "ccx"}));
  EXPECT_EQ(made(recognise_flips, last.ccx(0, 1, 2).p(0.3, 2).h(2).add_gate(Gate::kZ, kPair, kLast).sdg(2).h(2)),
            (Texts{"ccx", "p", "ccx", "s", "h", "s"}));
  EXPECT_EQ(made(recognise_flips, flipped.h(2).cx(0, 2).add_gate(Gate::kZ, kPair, kLast).rz(kPi / 2, 2).h(2)),
            (Texts{"cz", "ccx", "sdg", "h", "sdg"}));
  EXPECT_EQ(made(recognise_flips, eighth.h(2).add_gate(Gate::kZ, kPair, kLast).s(2).t(2).h(2)), Texts{"as it was"});
}

TEST(RecogniseFlips, FlipsBetweenThemBecomeHalfTurns) {
  Circuit flip(3), before(3), rotation(3), undone(3), left(3), across(3);
  EXPECT_EQ(made(recognise_flips, flip.h(2).add_gate(Gate::kZ, kPair, kLast).cx(0, 2).h(2)), (Texts{"ccx", "cz"}));
  EXPECT_EQ(made(recognise_flips, before.h(2).cx(1, 2).add_gate(Gate::kZ, kPair, kLast).h(2)), (Texts{"cz", "ccx"}));
  EXPECT_EQ(made(recognise_flips, rotation.ry(0.3, 2).z(2).add_gate(Gate::kZ, kPair, kLast).cx(0, 2).h(2)),
            Texts{"as it was"});
  // Phases of the qubit that take each other away, but for a phase of everything.
  EXPECT_EQ(made(recognise_flips, undone.h(2).t(2).add_gate(Gate::kZ, kPair, kLast).rz(-kPi / 4, 2).cx(0, 2).h(2)),
            (Texts{"ccx", "cz"}));
  EXPECT_EQ(made(recognise_flips, left.h(2).t(2).add_gate(Gate::kZ, kPair, kLast).h(2)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_flips, across.h(2).t(2).add_gate(Gate::kZ, kPair, kLast).cx(0, 2).tdg(2).h(2)),
            Texts{"as it was"});
  int found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    Circuit circuit(5);
    for (int i = 0; i < 40; ++i) {
      const auto a = static_cast<Qubit>(random() % 5), b = static_cast<Qubit>((a + 1 + random() % 4) % 5);
      const std::array<Qubit, 2> others{static_cast<Qubit>((a + 1) % 5), static_cast<Qubit>((a + 2) % 5)};
      switch (random() % 8) {
        case 0:
        case 1:
          circuit.h(a);
          break;
        case 2:
        case 3:
          circuit.add_gate(Gate::kZ, others, std::span(&a, 1));
          break;
        case 4:
          circuit.cx(b, a);
          break;
        case 5:
          circuit.cz(a, b);
          break;
        case 6:
          circuit.p(kPi / 4, a).rz(-kPi / 4, a);
          break;
        default:
          random() % 2 == 0 ? circuit.z(a) : circuit.s(a);
      }
    }
    Rewritten rewritten;
    if (!recognise_flips(circuit, rewritten)) continue;
    ++found;
    expect_same(circuit, rewritten);
    if (HasFailure()) return;
  }
  EXPECT_GE(found, 100);
}

// Compilers multiply a Hadamard gate and the rotation beside it: a rotation and a Z.
TEST(RecogniseFlips, RotationsBesideZStandForHadamardGates) {
  for (const double angle : {-1.5738, 0.3, kPi / 2, -kPi / 2, 1e-9, 3 * kPi + 1e-3}) {
    Circuit before(3), after(3), without(3), twice(3);
    EXPECT_EQ(made(recognise_flips, before.ry(angle, 2).z(2).add_gate(Gate::kZ, kPair, kLast).h(2)),
              (Texts{"ry", "ccx"}));
    EXPECT_EQ(made(recognise_flips, after.h(2).add_gate(Gate::kZ, kPair, kLast).z(2).ry(angle, 2)),
              (Texts{"ccx", "ry"}));
    EXPECT_EQ(made(recognise_flips, without.ry(angle, 2).add_gate(Gate::kZ, kPair, kLast).h(2)), Texts{"as it was"});
    EXPECT_EQ(made(recognise_flips, twice.ry(angle, 2).z(2).add_gate(Gate::kZ, kPair, kLast).ry(angle, 2)),
              Texts{"as it was"});
  }
}

TEST(RecogniseControlled, GatesBetweenCxGatesOfOneControl) {
  Circuit ry(2), u(2), rx(2), product(2), behind(2);
  append_cry(ry, 0.7, 0, 1);
  EXPECT_EQ(made(recognise_controlled, ry), Texts{"cry"});
  append_cu(u, 0.7, 0.3, -1.1, 0, 1);
  const Texts found = made(recognise_controlled, u);
  EXPECT_EQ(std::ranges::count(found, "cu"), 1);
  EXPECT_EQ(std::ranges::count(found, "cx") + std::ranges::count(found, "u"), 0);
  rx.h(1).p(0.7, 1).rzz(-0.7, 0, 1).h(1);
  EXPECT_EQ(made(recognise_controlled, rx), Texts{"cu"});
  append_cry(product, 0.7, 0, 1);
  append_cry(product, -0.4, 0, 1);
  EXPECT_EQ(made(recognise_controlled, product), (Texts{"cry", "cry"}));
  Circuit phased(2);
  append_cry(phased, 0.7, 0, 1);
  phased.cp(0.4, 0, 1).cx(0, 1).cp(0.4, 0, 1).cx(0, 1);
  EXPECT_EQ(made(recognise_controlled, phased), (Texts{"p", "cry"}));
  behind.u(0.1, 0.2, 0.3, 1);
  append_cry(behind, 0.7, 0, 1);
  EXPECT_EQ(made(recognise_controlled, behind), (Texts{"u", "cry"}));
  // Nothing stands before the first CX gate.
  Circuit first(2);
  EXPECT_EQ(made(recognise_controlled, first.cx(0, 1).ry(0.35, 1).cx(0, 1).ry(-0.35, 1)), Texts{"cry"});
}

TEST(JoinControlled, TurnsAroundOneCxGateAreAReflectionUnderItsControl) {
  Circuit turns(2), phased(2), between(2), twice(2), others(2), wide(3), phases(2);
  EXPECT_EQ(made(join_controlled, turns.ry(-0.35, 1).cx(0, 1).ry(0.35, 1)), Texts{"cu"});
  EXPECT_EQ(made(recognise_controlled, twice.ry(-0.35, 1).cx(0, 1).ry(0.35, 1)), Texts{"as it was"});
  EXPECT_EQ(made(join_controlled, phased.p(0.7, 1).ry(-0.35, 1).cx(0, 1).ry(0.35, 1)), (Texts{"p", "cu"}));
  EXPECT_EQ(made(join_controlled, between.cx(0, 1).ry(0.3, 1).cx(0, 1).ry(0.4, 1).cx(0, 1).ry(-0.7, 1)), Texts{"cu"});
  // Something else is left where the control is 0, another qubit stands between, or there is less in what it is.
  EXPECT_EQ(made(join_controlled, others.ry(-0.35, 1).cx(0, 1).ry(0.3, 1)), Texts{"as it was"});
  EXPECT_EQ(made(join_controlled, wide.ry(-0.35, 1).cx(0, 1).rzz(0.2, 1, 2).ry(0.35, 1)), Texts{"as it was"});
  EXPECT_EQ(made(join_controlled, phases.p(0.7, 1).cx(0, 1).p(-0.7, 1)), Texts{"as it was"});
}

TEST(RecogniseControlled, OthersStay) {
  Circuit between(3), control(2), wide(3), turns(2), single(2), other(3);
  EXPECT_EQ(made(recognise_controlled, between.ry(0.3, 1).cx(0, 1).ry(-0.3, 1).cx(2, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_controlled, control.ry(0.3, 1).cx(0, 1).h(0).ry(-0.3, 1).cx(0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_controlled, wide.ry(0.3, 1).cx(0, 1).rzz(0.2, 1, 2).ry(-0.3, 1).cx(0, 1)),
            Texts{"as it was"});
  // A diagonal between turns is one: no gate under a control.
  EXPECT_EQ(made(recognise_controlled, turns.rx(0.4, 1).rzz(0.3, 0, 1).rx(0.5, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_controlled, single.ry(0.4, 1).cx(0, 1).ry(0.3, 1)), Texts{"as it was"});
  append_cry(other, 0.7, 0, 1);
  other.cx(1, 2);
  append_cry(other, 0.4, 2, 1);
  EXPECT_EQ(made(recognise_controlled, other), (Texts{"cry", "cx", "cry"}));
}

/// Blocks of a few kinds, on qubits of their own and others', at angles that are special to rounding or not.
Circuit blocks(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<Qubit>(random() % n); };
  const auto angle = [&] {
    const std::array<double, 8> special{0, kPi / 4, kPi / 2, kPi, 2 * kPi, -kPi / 2, kPi / 65536, 3 * kPi / 8};
    const std::array<double, 8> off{0, 0, 0, 1e-16, -1e-15, 4e-15, 1e-12, 1e-7};
    return random() % 2 == 0 ? special[random() % 8] + off[random() % 8] : 1e-3 * static_cast<double>(random() % 6283);
  };
  Circuit circuit(4);
  for (int i = 0; i < 16; ++i) {
    const Qubit a = below(4), b = (a + 1 + below(3)) % 4;
    Qubit c = below(4);
    while (c == a || c == b) c = (c + 1) % 4;
    switch (random() % 12) {
      case 0:
        append_toffoli(circuit, a, b, c);
        break;
      case 1:
        append_controlled_phase(circuit, angle(), a, b);
        break;
      case 2:
        append_cry(circuit, angle(), a, b);
        break;
      case 3:
        append_cu(circuit, angle(), angle(), angle(), a, b);
        break;
      case 4:
        circuit.h(a).add_gate(Gate::kZ, std::array<Qubit, 2>{a, b}, std::array<Qubit, 1>{c}).h(a);
        break;
      case 5:
        circuit.ry(angle(), a).z(a).cz(a, b).h(a);
        break;
      case 6:
        circuit.h(a).cz(a, c).z(a).ry(angle(), a);
        break;
      case 7:
        circuit.h(b).p(angle(), b).rzz(angle(), a, b).h(b);
        break;
      case 8:
        circuit.cx(a, b);
        break;
      case 9:
        circuit.u(angle(), angle(), angle(), a);
        break;
      case 10:
        circuit.cx(a, b).h(b).cx(a, b).h(b);
        break;
      default:
        circuit.cp(angle(), a, b).h(random() % 2 == 0 ? a : c);
        break;
    }
  }
  return circuit;
}

TEST(RecogniseControlled, RandomBlocksAreTheSame) {
  std::array<int, 3> changed{};
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Circuit circuit = blocks(seed);
    const std::array<PassFunction, 3> passes{gather_products, recognise_flips, recognise_controlled};
    for (std::size_t p = 0; p < passes.size(); ++p) {
      Rewritten rewritten;
      if (!passes[p](circuit, rewritten)) continue;
      ++changed[p];
      EXPECT_TRUE(p != 2 || rewritten.refused == 0);
      expect_same(circuit, rewritten);
      EXPECT_LE(circuit_cost(rewritten.circuit), circuit_cost(circuit) + 1e-9);
      ASSERT_FALSE(HasFailure()) << seed << " pass " << p;
    }
  }
  for (const int times : changed) EXPECT_GT(times, 1000);
}

TEST(RecogniseControlled, NoPlanIsDearerForAnyOfThem) {
  const Machine machine = find_machine("h200");
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Circuit circuit = blocks(seed);
    PlanOptions options;
    options.start = Start::kRandom;
    const double all = plan_work(make_plan(circuit, machine, options)).total_seconds;
    for (const char* pass : {"gather_products", "recognise_flips"}) {
      options.disabled_passes = {pass};
      EXPECT_LE(all, plan_work(make_plan(circuit, machine, options)).total_seconds * (1 + 1e-9)) << seed << " " << pass;
    }
  }
}

TEST(RecogniseControlled, LongRunsStayExactAndNothingIsNothing) {
  Circuit empty(3), repeated(2), back(2);
  EXPECT_EQ(made(recognise_controlled, empty), Texts{"as it was"});
  EXPECT_EQ(made(recognise_flips, empty), Texts{"as it was"});
  EXPECT_EQ(made(gather_products, empty), Texts{"as it was"});
  for (int i = 0; i < 5000; ++i) append_cry(repeated, 1e-3 * (i % 7), 0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_controlled(repeated, rewritten));
  expect_same(repeated, rewritten);
  EXPECT_LE(rewritten.circuit.operations().size(), 5000U);
  back.ry(0.35, 1).cx(0, 1).ry(0.2, 1).cx(0, 1).cx(0, 1).ry(-0.2, 1).cx(0, 1).ry(-0.35, 1);
  EXPECT_EQ(made(recognise_controlled, back), Texts{});
}

/// Adders of Toffoli gates, controlled rotations: in other gates, predicted as they are written.
TEST(RecogniseControlled, FormsArePlannedAsWhatTheyComeFrom) {
  Circuit written(24), form(24);
  std::mt19937_64 random(3);
  for (int i = 0; i < 150; ++i) {
    const Qubit a = static_cast<Qubit>(random() % 24), b = (a + 1 + static_cast<Qubit>(random() % 11)) % 24,
                c = (b + 1 + static_cast<Qubit>(random() % 11)) % 24;
    if (c == a) continue;
    const double angle = 0.1 + 1e-3 * static_cast<double>(random() % 1000);
    written.ccx(a, b, c).cry(angle, a, c);
    append_toffoli(form, a, b, c);
    append_cry(form, angle, a, c);
  }
  const Machine machine = find_machine("h200");
  for (const Start start : {Start::kRandom, Start::kZero}) {
    PlanOptions options;
    options.start = start;
    const double is = plan_work(make_plan(form, machine, options)).total_seconds;
    const double was = plan_work(make_plan(written, machine, options)).total_seconds;
    EXPECT_LE(is, 1.05 * was);
  }
}

}  // namespace
}  // namespace qsim
