// Circuits for devices that have CZ gates alone, or one matrix for each run of gates on one qubit, become what they
// were written from: the same unitary, its phase included, with the CX gates back.
#include "optimizer/flips/orient_flips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "optimizer/operations.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/passes.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

using test::expect_same;
using test::made;
using test::Texts;

/// u(theta, phi, lambda) but for a phase, in rz and sx.
void append_roots(Circuit& circuit, Qubit q, double theta, double phi, double lambda) {
  circuit.rz(lambda, q).sx(q).rz(theta + kPi, q).sx(q).rz(phi + 3 * kPi, q);
}

/// The same circuit as each compiler has it, gate by gate.
class Compiled {
 public:
  enum class Basis : std::uint8_t { kWritten, kRoots, kMatrices, kSwaps };
  Compiled(Basis basis, std::uint32_t qubits) : circuit(qubits), basis_(basis) {}

  void u(Qubit q, double theta, double phi, double lambda) {
    if (basis_ == Basis::kRoots) {
      append_roots(circuit, q, theta, phi, lambda);
    } else {
      circuit.u(theta, phi, lambda, q);
    }
  }
  void h(Qubit q) { basis_ == Basis::kWritten ? void(circuit.h(q)) : u(q, kPi / 2, 0, kPi); }
  void t(Qubit q, bool back) { back ? circuit.tdg(q) : circuit.t(q); }
  void cx(Qubit c, Qubit q) {
    if (basis_ == Basis::kWritten) {
      circuit.cx(c, q);
      return;
    }
    h(q);
    if (basis_ == Basis::kSwaps) {  // iSWAP = SWAP CZ (S x S), in the CX gates that it is read as
      circuit.s(c).s(q).h(c).cx(c, q).cx(q, c).h(q);
      circuit.sdg(c).sdg(q).cx(c, q).cx(q, c).cx(c, q);
    } else {
      circuit.cz(c, q);
    }
    h(q);
  }
  void toffoli(Qubit a, Qubit b, Qubit q) {
    h(q);
    cx(b, q);
    t(q, true);
    cx(a, q);
    t(q, false);
    cx(b, q);
    t(q, true);
    cx(a, q);
    t(q, false);
    h(q);
    t(b, false);
    cx(a, b);
    t(b, true);
    cx(a, b);
    t(a, false);
  }

  Circuit circuit;

 private:
  Basis basis_;
};

TEST(OrientFlips, FlipsComeBack) {
  Circuit pair(2), between(2), both(2), chain(3);
  pair.h(1).cz(0, 1).h(1);
  EXPECT_EQ(made(orient_flips, pair), Texts{"cx"});
  between.h(1).cz(0, 1).rx(0.3, 1).cz(0, 1).h(1);
  EXPECT_EQ(made(orient_flips, between), (Texts{"cx", "p", "cx"}));
  // One qubit of both can be the target.
  both.h(0).h(1).cz(0, 1).h(0).h(1);
  EXPECT_EQ(made(orient_flips, both), (Texts{"h", "cx", "h"}));
  chain.h(1).cz(0, 1).h(1).h(2).cz(1, 2).h(2);
  EXPECT_EQ(made(orient_flips, chain), (Texts{"cx", "cx"}));
}

// Phases that a compiler moved past a CZ gate's Hadamard gates leave turns about Y between such gates.
TEST(OrientFlips, TurnsAboutYAreThoseOfTargetsToo) {
  Circuit circuit(2);
  circuit.h(1).s(1);
  for (const double angle : {kPi / 8, -kPi / 4, kPi / 8}) circuit.cz(0, 1).sdg(1).rx(angle, 1).s(1);
  circuit.cz(0, 1).sdg(1).h(1);
  EXPECT_EQ(made(orient_flips, circuit), (Texts{"cx", "p", "cx", "p", "cx", "p", "cx"}));
}

// CZ H = H CX: what ends a pair of Hadamard gates is seen further away from what begins it.
TEST(OrientFlips, HadamardGatesMoveOutOfWhatTheyStandAround) {
  Circuit before(3), behind(3);
  before.cz(0, 1).h(1).t(1).h(1).cz(2, 1).h(1).t(1).h(1).cz(2, 1);
  EXPECT_EQ(made(orient_flips, before), (Texts{"h", "cx", "t", "cx", "t", "cx", "h"}));
  behind.cz(0, 1).h(1).t(1).h(1).cz(2, 1).h(1).tdg(1).h(1).cz(0, 1).h(1).t(1).h(1).cz(2, 1);
  EXPECT_EQ(made(orient_flips, behind), (Texts{"h", "cx", "t", "cx", "tdg", "cx", "t", "cx", "h"}));
}

// The carry of an adder: between two Toffoli gates it is read by a wire that ends there. Fewer gates are left where
// that wire is the control, but for a Hadamard gate at its end that no other takes away.
TEST(OrientFlips, TheLastHadamardGateOfAWireIsTakenFirst) {
  Compiled made(Compiled::Basis::kMatrices, 4);
  made.u(3, 0.3, 0, 0);
  made.toffoli(0, 2, 1);
  made.cx(1, 3);
  made.toffoli(0, 2, 1);
  Rewritten rewritten;
  ASSERT_TRUE(orient_flips(made.circuit, rewritten));
  expect_same(made.circuit, rewritten);
  const auto reads_the_carry = [&](const Operation& op) {
    return is_cx(op) && rewritten.circuit.controls(op)[0] == 1 && rewritten.circuit.targets(op)[0] == 3;
  };
  EXPECT_EQ(std::ranges::count_if(rewritten.circuit.operations(), reads_the_carry), 1);
}

TEST(OrientFlips, HalfTurnsBetweenHadamardGatesAreFlips) {
  Circuit circuit(3);
  circuit.cz(0, 2).h(1).z(1).h(1).t(1).h(1).rzz(0.3, 0, 1);
  EXPECT_EQ(made(orient_flips, circuit), (Texts{"cz", "tdg", "h", "z", "rzz"}));
}

// Angles that a compiler added up are off by more than their own last digits.
TEST(OrientFlips, AnglesAreSimplePartsToRounding) {
  Circuit circuit(2);
  const double small = kPi / 4096;
  circuit.h(1).cz(0, 1).rx(small + 6e-16, 1).cz(0, 1).rx(-small + 5e-16, 1).h(1);
  Rewritten rewritten;
  ASSERT_TRUE(orient_flips(circuit, rewritten));
  for (const Operation& op : rewritten.circuit.operations()) {
    if (op.targets == 0) continue;  // a phase of everything
    for (const double angle : rewritten.circuit.params(op)) EXPECT_EQ(std::abs(angle), small);
  }
  expect_same(circuit, rewritten);
}

TEST(OrientFlips, RunsAreNamed) {
  Circuit matrices(2), roots(2);
  matrices.u(kPi / 2, 0, kPi, 1).cz(0, 1).u(kPi / 2, kPi / 4, kPi, 1);
  EXPECT_EQ(made(orient_flips, matrices), (Texts{"cx", "t"}));
  roots.rz(kPi / 2, 1).sx(1).rz(kPi / 2, 1).cz(0, 1).rz(kPi / 2, 1).sx(1).rz(kPi / 2, 1);
  EXPECT_EQ(made(orient_flips, roots), Texts{"cx"});
}

// Small turns hardly tell their axis, nor do those that are nearly flips: compilers get it wrong by 1e-11 in places.
TEST(OrientFlips, AxesAreLettersToRounding) {
  for (const double off : {1e-12, -1e-11, 6e-11}) {
    for (const double small : {2e-5, -1e-9, 0.0}) {
      Circuit turn(2), flip(2), wider(2);
      turn.h(1).cz(0, 1).rz(off, 1).rx(small, 1).rz(-off, 1).cz(0, 1).h(1);
      flip.h(1).cz(0, 1).rz(off, 1).rx(kPi - small, 1).rz(off, 1).cz(0, 1).h(1);
      wider.h(1).cz(0, 1).rz(1e-6, 1).rx(2e-5, 1).rz(-1e-6, 1).cz(0, 1).h(1);  // more than rounding
      EXPECT_EQ(made(orient_flips, turn), small == 0 ? (Texts{"cx", "cx"}) : (Texts{"cx", "p", "cx"}));
      EXPECT_EQ(made(orient_flips, flip), (Texts{"cx", small == 0 ? "z" : "p", "cx"}));
      EXPECT_GT(made(orient_flips, wider).size(), 3U);
    }
  }
}

TEST(OrientFlips, RotationsAboutPairsStay) {
  Circuit between(2), alone(2);
  between.h(1).cz(0, 1).h(1).rzz(0.3, 0, 1).h(1).cz(1, 0).h(1);
  EXPECT_EQ(made(orient_flips, between), (Texts{"cx", "rzz", "cx"}));
  EXPECT_EQ(made(orient_flips, alone.h(1).rzz(0.3, 0, 1).h(1)), Texts{"as it was"});
}

// However a compiler writes a gate on one qubit, it is one where circuits are called short.
TEST(OrientFlips, RunsAreCountedOnce) {
  Circuit circuit(3);
  circuit.h(0).t(0).h(1).cz(0, 1).sx(1).rz(0.3, 1).sx(1).h(2).x(2).cz(0, 1);
  EXPECT_EQ(count_runs(circuit), 6U);
  Circuit longer(2);
  for (std::size_t i = 0; i < kFewOperations / 3; ++i) longer.cz(0, 1).rz(0.1, 0).sx(0).rz(0.2, 0).sx(1).rz(0.3, 1);
  EXPECT_GT(longer.operations().size(), kFewOperations);
  EXPECT_TRUE(Optimizer(longer, false).is_short());
  for (int i = 0; i < 3; ++i) longer.cz(0, 1);
  EXPECT_FALSE(Optimizer(longer, false).is_short());
}

TEST(OrientFlips, OthersStayAsTheyAre) {
  const Parameter a{"a"};
  Circuit flips(2), none(1), wide(3), open(2);
  EXPECT_EQ(made(orient_flips, flips.h(1).cx(0, 1).cz(0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(orient_flips, none.h(0)), Texts{"as it was"});
  EXPECT_EQ(made(orient_flips, wide.cz(0, 1).ccz(0, 1, 2)), Texts{"as it was"});
  Circuit open_pair(2);
  Rewritten rewritten;
  EXPECT_FALSE(orient_flips(open.h(1).cz(0, 1).rz(a, 1).cz(0, 1).h(1), rewritten));
  EXPECT_FALSE(orient_flips(open_pair.h(1).cz(0, 1).h(1).rzz(a, 0, 1), rewritten));
}

TEST(OrientFlips, RandomOnesAreTheSame) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const auto angle = [&]() -> double {
      switch (random() % 4) {
        case 0:
          return 1e-3 * static_cast<double>(random() % 6283);
        case 1:
          return std::ldexp(kPi, -static_cast<int>(random() % 60));
        default:
          return kPi / 4 * (static_cast<double>(random() % 17) - 8) + (random() % 9 == 0 ? 1e-14 : 0);
      }
    };
    Circuit circuit(4);
    circuit.cz(0, 1);
    for (int i = 0; i < 60; ++i) {
      const auto a = static_cast<Qubit>(random() % 4), b = static_cast<Qubit>((a + 1 + random() % 3) % 4);
      switch (random() % 10) {
        case 0:
        case 1:
        case 2:
          circuit.cz(a, b);
          break;
        case 3:
        case 4:
          append_roots(circuit, a, angle(), angle(), angle());
          break;
        case 5:
          circuit.u(angle(), angle(), angle(), a);
          break;
        case 6:
          random() % 2 == 0 ? circuit.rx(angle(), a) : circuit.u2(angle(), angle(), a);
          break;
        case 7:
          random() % 4 == 0 ? circuit.rzz(angle(), b, a) : circuit.sx(a);
          break;
        case 8: {  // about an axis that is off by more or less than the angle tells
          const double off = std::ldexp(1.0, -static_cast<int>(random() % 50)), near = random() % 2 == 0 ? kPi : 0;
          circuit.rz(off + kPi / 2 * static_cast<double>(random() % 4), a);
          circuit.rx(near + std::ldexp(1.0, -static_cast<int>(random() % 50)), a).r(off, off, a);
          break;
        }
        default:
          random() % 2 == 0 ? circuit.h(a) : circuit.rz(angle(), a);
      }
    }
    Rewritten rewritten;
    ASSERT_TRUE(orient_flips(circuit, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(rewritten.refused, 0U);
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

// One qubit's targets depend on another's, so that some are no longer those of the circuit; few more gates are left.
TEST(OrientFlips, RandomFlipsComeBack) {
  double written = 0, found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto compile = [&](Compiled::Basis basis) {
      std::mt19937_64 random(seed);
      Compiled compiled(basis, 6);
      for (int i = 0; i < 120; ++i) {
        const auto a = static_cast<Qubit>(random() % 6), b = static_cast<Qubit>((a + 1 + random() % 5) % 6);
        switch (random() % 5) {
          case 0:
            compiled.h(a);
            break;
          case 1:
            compiled.t(a, random() % 2 == 0);
            break;
          default:
            compiled.cx(a, b);
        }
      }
      return compiled.circuit;
    };
    Rewritten rewritten;
    ASSERT_TRUE(orient_flips(compile(Compiled::Basis::kRoots), rewritten));
    written += circuit_cost(compile(Compiled::Basis::kWritten));
    found += circuit_cost(rewritten.circuit);
  }
  EXPECT_LE(found, 0.88 * written) << found / written;
}

Circuit adder(Compiled::Basis basis) {
  Compiled made(basis, 20);
  for (Qubit q = 0; q < 20; ++q) made.u(q, 0.1 + 0.05 * q, 0, 0);
  for (Qubit q = 0; q + 2 < 20; ++q) {
    made.cx(q + 1, q + 2);
    made.cx(q + 1, q);
    made.toffoli(q, q + 2, q + 1);
  }
  return made.circuit;
}

// Weights of forms are no plans: a quarter more is what choices of targets differ by.
TEST(OrientFlips, PlansAreThoseOfTheCircuit) {
  const Machine machine = find_machine("h200");
  for (const Start start : {Start::kRandom, Start::kZero}) {
    PlanOptions options;
    options.start = start;
    const auto seconds = [&](Compiled::Basis basis) {
      return plan_work(make_plan(adder(basis), machine, options)).total_seconds;
    };
    const double written = seconds(Compiled::Basis::kWritten);
    EXPECT_LE(seconds(Compiled::Basis::kRoots), 1.25 * written);
    EXPECT_LE(seconds(Compiled::Basis::kMatrices), 1.25 * written);
    EXPECT_LE(seconds(Compiled::Basis::kSwaps), 1.25 * written);
  }
}

// Deutsch and Jozsa: somebody chose the targets, and Hadamard gates around all of them say that the controls are.
TEST(OrientFlips, TargetsOfCxGatesAreChosenAnewWhereThatIsHalf) {
  constexpr Qubit kQubits = 26, kLast = kQubits - 1;
  Circuit circuit(kQubits);
  for (Qubit q = 0; q < kQubits; ++q) circuit.h(q);
  for (Qubit q = 0; q < kLast; q += 2) circuit.x(q);
  for (Qubit q = 0; q < kLast; ++q) circuit.cx(q, kLast);
  for (Qubit q = 0; q < kLast; q += 2) circuit.x(q);
  for (Qubit q = 0; q < kLast; ++q) circuit.h(q);
  PlanOptions options;
  options.start = Start::kState;
  const auto seconds = [&] { return plan_work(make_plan(circuit, find_machine("h200"), options)).total_seconds; };
  const double found = seconds();
  options.disabled_passes = {std::string(kOrientFlips)};
  EXPECT_LT(found, 0.9 * seconds());
}

TEST(OrientFlips, FlipsAreCzGatesBetweenHadamardGates) {
  Circuit circuit(3);
  circuit.h(0).cx(0, 1).t(1).cz(1, 2).cx(2, 1).ccx(0, 1, 2);
  Rewritten rewritten;
  flips_between_hadamards(circuit, rewritten);
  EXPECT_EQ(rewritten.circuit.operations().size(), 10U);
  EXPECT_EQ(std::ranges::count_if(rewritten.circuit.operations(), is_cx), 0);
  expect_same(circuit, rewritten);
}

}  // namespace
}  // namespace qsim
