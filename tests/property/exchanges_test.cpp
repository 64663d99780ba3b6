// Turns about XX, YY and ZZ of a pair, in every spelling: the same controlled rotation between CX gates, the same
// unitary with its phase, and the same plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "optimizer/pairs/pauli_pair.h"
#include "optimizer/pipeline.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/passes.h"

namespace qsim {
namespace {

using test::expect_same;
using test::made;
using test::Texts;

constexpr double kPi = std::numbers::pi;

const Texts kExchange{"cx", "crx", "cx"};

using Spelling = std::function<void(Circuit&, double, Qubit, Qubit)>;

void twice_xx(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.rxx(angle, a, b).sdg(a).sdg(b).rxx(angle, a, b).s(a).s(b);
}

void phases_between(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.h(a).h(b).cx(a, b).rz(angle, b).cx(a, b).h(a).h(b);
  circuit.rx(kPi / 2, a).rx(kPi / 2, b).rzz(angle, a, b).rx(-kPi / 2, a).rx(-kPi / 2, b);
}

/// As Qiskit writes its xx_plus_yy.
void rotations_between(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.rz(-kPi / 2, b).sx(b).rz(kPi / 2, b).s(a).cx(b, a).ry(-angle, b).ry(-angle, a).cx(b, a).sdg(a);
  circuit.rz(-kPi / 2, b).sxdg(b).rz(kPi / 2, b);
}

const std::array<Spelling, 5> kSpellings{
    [](Circuit& c, double angle, Qubit a, Qubit b) { c.xx_plus_yy(2 * angle, 0, a, b); },
    [](Circuit& c, double angle, Qubit a, Qubit b) { c.ryy(angle, b, a).rxx(angle, a, b); }, twice_xx, phases_between,
    rotations_between};

TEST(RecogniseExchanges, EverySpellingIsTheSame) {
  for (std::size_t i = 0; i < kSpellings.size(); ++i) {
    for (const double angle : {0.3, -1.2, 5.0, kPi / 2, 1e-9}) {
      Circuit circuit(2);
      kSpellings[i](circuit, angle, 0, 1);
      EXPECT_EQ(made(recognise_exchanges, circuit), kExchange) << i << " " << angle;
    }
  }
}

TEST(RecogniseExchanges, TurnsBetweenTheOtherStatesAndUnequalOnes) {
  Circuit minus(2), unequal(2), three(2), rotated(2);
  EXPECT_EQ(made(recognise_exchanges, minus.xx_minus_yy(0.4, 0, 0, 1)), (Texts{"x", "cx", "crx", "cx", "x"}));
  EXPECT_EQ(made(recognise_exchanges, unequal.rxx(0.4, 0, 1).ryy(0.1, 0, 1)), (Texts{"cx", "rx", "crx", "cx"}));
  EXPECT_EQ(made(recognise_exchanges, three.rzz(0.4, 0, 1).ryy(0.4, 0, 1).rxx(0.4, 0, 1)),
            (Texts{"cx", "crx", "cx", "rzz"}));
  // About XY and YX: between 01 and 10, or between 00 and 11.
  EXPECT_EQ(made(recognise_exchanges, rotated.s(0).rxx(0.4, 0, 1).ryy(0.4, 0, 1).sdg(0)),
            (Texts{"s", "cx", "crx", "cx", "sdg"}));
}

TEST(RecogniseExchanges, StaysWhatItIs) {
  Circuit is(2), one(2), other(3), phase(2), product(2), far(2);
  EXPECT_EQ(made(recognise_exchanges, is.cx(0, 1).crx(0.3, 1, 0).cx(0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_exchanges, one.rxx(0.3, 0, 1).h(0).h(0).rxx(0.2, 0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_exchanges, other.rxx(0.3, 0, 1).rxx(0.1, 1, 2).ryy(0.3, 0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_exchanges, phase.rxx(0.3, 0, 1).t(0).ryy(0.3, 0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_exchanges, product.rxx(0.3, 0, 1).rzx(0.3, 0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(recognise_exchanges, far.rxx(0.3, 0, 1).rz(kPi / 2 + 1e-12, 0).rxx(0.3, 0, 1)), Texts{"as it was"});
}

// What stands on one of the qubits may come before what ends the other's part.
TEST(RecogniseExchanges, TheQubitsEndApart) {
  Circuit circuit(3);
  circuit.rz(-kPi / 2, 1).sx(1).rz(kPi / 2, 1).s(0).cx(1, 0).ry(-0.4, 1).ry(-0.4, 0).cx(1, 0).sdg(0);
  circuit.t(0).cx(0, 2).rz(-kPi / 2, 1).sxdg(1).rz(kPi / 2, 1).t(1);
  EXPECT_EQ(made(recognise_exchanges, circuit), (Texts{"cx", "crx", "cx", "t", "cx", "t"}));
}

TEST(RecogniseExchanges, AnglesBesideEachOther) {
  for (const double off : {0.0, 1e-16, -1e-15, 3e-15, 1e-13, 1e-9}) {
    for (const double angle : {0.7, kPi, 2 * kPi, 1e-8, 3e-15, 1e3}) {
      Circuit circuit(2);
      circuit.rxx(angle, 0, 1).ryy(angle + off, 0, 1).rzz(-angle, 0, 1);
      Rewritten rewritten;
      if (recognise_exchanges(circuit, rewritten)) expect_same(circuit, rewritten);
      EXPECT_EQ(rewritten.refused, 0U);
      ASSERT_FALSE(HasFailure()) << angle << " " << off;
    }
  }
}

void append(Circuit& circuit, const CliffordGate& gate, Qubit q) {
  for (const Gate each : gate.gates) circuit.add_gate(each, {}, {&q, 1});
}

TEST(RecogniseExchanges, InEveryFrame) {
  std::mt19937_64 random(5);
  int found = 0;
  for (const CliffordGate& first : clifford_gates()) {
    for (const CliffordGate& second : clifford_gates()) {
      Circuit circuit(2);
      append(circuit, first, 0);
      append(circuit, second, 1);
      circuit.rxx(0.3, 0, 1).ryy(random() % 2 == 0 ? 0.3 : -0.3, 0, 1);
      append(circuit, clifford_gates()[random() % 24], 0);
      append(circuit, clifford_gates()[random() % 24], 1);
      Rewritten rewritten;
      ASSERT_TRUE(recognise_exchanges(circuit, rewritten));
      expect_same(circuit, rewritten);
      EXPECT_EQ(rewritten.refused, 0U);
      for (const Operation& op : rewritten.circuit.operations()) found += op.controls == 1 ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 3 * 24 * 24);
}

/// Gates of all kinds on few qubits, with turns that come in twos.
Circuit turns(std::uint64_t seed, std::uint32_t qubits, int gates) {
  std::mt19937_64 random(seed);
  Circuit circuit(qubits);
  const auto angle = [&] {
    return random() % 4 == 0 ? kPi / 2 * static_cast<double>(random() % 5)
                             : 1e-3 * static_cast<double>(random() % 6283);
  };
  for (int i = 0; i < gates; ++i) {
    const auto a = static_cast<Qubit>(random() % qubits),
               b = static_cast<Qubit>((a + 1 + random() % (qubits - 1)) % qubits);
    const double turn = angle();
    switch (random() % 14) {
      case 0:
        circuit.rxx(turn, a, b).ryy(random() % 3 == 0 ? angle() : turn, b, a);
        break;
      case 1:
        circuit.rzz(turn, a, b);
        break;
      case 2:
        append(circuit, clifford_gates()[random() % 24], a);
        break;
      case 3:
        circuit.cx(a, b).ry(turn, a).ry(-turn, b).cx(a, b);
        break;
      case 4:
        random() % 2 == 0 ? circuit.xx_plus_yy(turn, 0, a, b)
                          : circuit.xx_minus_yy(turn, random() % 2 == 0 ? 0.0 : 0.4, a, b);
        break;
      case 5:
        circuit.cx(a, b).h(a);
        break;
      case 6:
        circuit.rz(turn, a);
        break;
      case 7:
        circuit.cx(a, b).crx(turn, b, a).cx(a, b);
        break;
      case 8:
        twice_xx(circuit, turn, a, b);
        break;
      case 9:
        circuit.rzx(turn, a, b).cp(turn, a, b);
        break;
      case 10:
        circuit.cy(a, b).csx(a, b).cs(b, a);
        break;
      case 11:
        circuit.sx(a).sxdg(b).y(a);
        break;
      case 12:
        circuit.crz(turn, a, b).cry(turn, a, b);
        break;
      default: {
        const std::array<Qubit, 2> pair{a, b};
        circuit.add_pauli_rotation(turn, random() % 2 == 0 ? "XY" : "ZY", pair);
      }
    }
  }
  return circuit;
}

TEST(RecogniseExchanges, RandomOnesAreTheSame) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const Circuit circuit = turns(seed, 2 + static_cast<std::uint32_t>(seed % 3), 4 + static_cast<int>(seed % 20));
    Rewritten rewritten;
    if (!recognise_exchanges(circuit, rewritten)) continue;
    ++changed;
    expect_same(circuit, rewritten);
    EXPECT_EQ(rewritten.refused, 0U);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(changed, 2500);
}

TEST(RecogniseExchanges, ThousandsOnOnePair) {
  Circuit circuit(2);
  for (int i = 0; i < 5000; ++i) twice_xx(circuit, 1e-3 * (i % 11), 0, 1);
  EXPECT_EQ(made(recognise_exchanges, circuit), kExchange);
}

/// A chain of neighbours, by one spelling.
Circuit chain(const Spelling& spelling) {
  Circuit circuit(20);
  for (int layer = 0; layer < 10; ++layer) {
    for (Qubit q = static_cast<Qubit>(layer % 2); q + 1 < circuit.qubits(); q += 2) {
      spelling(circuit, 0.1 + 0.01 * q + 0.03 * layer, q, q + 1);
      circuit.cp(0.2 + 0.01 * layer, q, q + 1);
    }
  }
  return circuit;
}

TEST(RecogniseExchanges, SpellingsArePlannedAlike) {
  const Machine machine = find_machine("h200");
  PlanOptions options;
  options.start = Start::kRandom;
  std::set<double> seconds;
  for (const Spelling& spelling : kSpellings) {
    seconds.insert(plan_work(make_plan(chain(spelling), machine, options)).total_seconds);
  }
  EXPECT_LE(*seconds.rbegin(), 1.05 * *seconds.begin());
}

// What one pair leaves on a qubit the next ones take in, so that few Hadamard gates stay between them.
TEST(RecogniseExchanges, RandomPairsInOtherGatesWeighTheSame) {
  const auto weight_of = [](std::uint64_t seed, bool in_basis) {
    std::mt19937_64 random(seed);
    Circuit circuit(9);
    for (Qubit q = 0; q < 9; q += 2) circuit.x(q);
    for (int i = 0; i < 60; ++i) {
      const auto a = static_cast<Qubit>(random() % 9), b = static_cast<Qubit>((a + 1 + random() % 8) % 9);
      if (in_basis) {
        phases_between(circuit, 0.3, a, b);
        circuit.rzz(0.3, a, b);
      } else {
        circuit.rxx(0.3, a, b).ryy(0.3, a, b).rzz(0.3, a, b);
      }
      if (random() % 4 == 0) circuit.rz(0.1, a);
    }
    Rewritten made;
    optimize(circuit, {}, made);
    return made.cost;
  };
  double is = 0, other = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    is += weight_of(seed, false);
    other += weight_of(seed, true);
  }
  EXPECT_LE(other, 1.001 * is);
}

/// G P G^-1 by matrices.
TEST(PauliPairs, CliffordGatesAreWhatTheirMatricesAre) {
  const std::array<Gate, 3> letters{Gate::kX, Gate::kY, Gate::kZ};
  std::set<std::array<std::pair<unsigned, int>, 3>> different;
  for (const CliffordGate& gate : clifford_gates()) {
    std::array<std::pair<unsigned, int>, 3> images{};
    for (unsigned letter = 1; letter <= 3; ++letter) {
      const auto [was, sign] = gate.before[letter - 1];
      images[letter - 1] = {was, sign};
      Circuit before(1), after(1);
      const Qubit q = 0;
      append(before, gate, 0);
      before.add_gate(letters[letter - 1], {}, {&q, 1});
      after.add_gate(letters[was - 1], {}, {&q, 1});
      append(after, gate, 0);
      const dense::State start = dense::random_state(1, 3);
      dense::State expected = dense::run(after, start);
      for (Complex& value : expected) value *= sign;
      EXPECT_LE(dense::max_difference(dense::run(before, start), expected), 1e-15);
      EXPECT_EQ(gate.after(was), (CliffordGate::Image{letter, sign}));
    }
    different.insert(images);
  }
  EXPECT_EQ(different.size(), 24U);
  for (const CliffordGate& a : clifford_gates()) {
    for (const CliffordGate& b : clifford_gates()) {
      EXPECT_LE(product(a, b).weight, a.weight + b.weight);
      if (&a == &CliffordGate::identity()) {
        EXPECT_EQ(&product(a, b), &b);
      }
    }
  }
}

}  // namespace
}  // namespace qsim
