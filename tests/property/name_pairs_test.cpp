// Circuits for devices whose gates on pairs are turns about products of letters, or ECR gates: the same unitary, its
// phase included, with CZ gates; and plans that are those of the circuits with CX gates.
#include "optimizer/pairs/name_pairs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

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

TEST(NamePairs, QuarterTurnsAreFlips) {
  Circuit zz(2), inverse(2), xx(2), yy(2), zx(2), ecr(2);
  EXPECT_EQ(made(name_pairs, zz.rzz(kPi / 2, 0, 1)), (Texts{"cz", "s", "s"}));
  EXPECT_EQ(made(name_pairs, inverse.rzz(-kPi / 2, 0, 1)), (Texts{"cz", "sdg", "sdg"}));
  EXPECT_EQ(made(name_pairs, xx.rxx(kPi / 2, 0, 1)), (Texts{"h", "h", "cz", "s", "h", "s", "h"}));
  EXPECT_EQ(made(name_pairs, yy.ryy(kPi / 2, 0, 1)),
            (Texts{"sdg", "h", "sdg", "h", "cz", "s", "h", "s", "s", "h", "s"}));
  EXPECT_EQ(made(name_pairs, zx.rzx(kPi / 2, 0, 1)), (Texts{"h", "cz", "s", "s", "h"}));
  EXPECT_EQ(made(name_pairs, ecr.ecr(1, 0)), (Texts{"h", "cz", "s", "s", "h", "x"}));
}

// By three quarters and whole turns more an angle is a quarter turn, or its inverse, and a sign.
TEST(NamePairs, WholeTurnsAreSigns) {
  for (int quarters = -9; quarters <= 9; ++quarters) {
    Circuit circuit(2);
    circuit.cz(0, 1).rxx(quarters * kPi / 2, 0, 1).rzx(quarters * kPi / 2, 1, 0);
    Rewritten rewritten;
    ASSERT_TRUE(name_pairs(circuit, rewritten));
    expect_same(circuit, rewritten);
    const bool odd = quarters % 2 != 0;
    int flips = 0;
    for (const Operation& op : rewritten.circuit.operations()) flips += op.gate == Gate::kZ ? 1 : 0;
    EXPECT_EQ(flips, odd ? 3 : 1) << quarters;
  }
}

TEST(NamePairs, OtherAnglesAreTurnsAboutZ) {
  Circuit turns(3), near(2);
  EXPECT_EQ(made(name_pairs, turns.rxx(kPi / 2, 0, 1).rzx(0.3, 1, 2)),
            (Texts{"h", "h", "cz", "s", "h", "s", "h", "h", "rzz", "h"}));
  near.cz(0, 1).rzz(kPi / 2 + 1e-9, 0, 1);  // more than rounding
  EXPECT_EQ(made(name_pairs, near), (Texts{"cz", "rzz"}));
}

TEST(NamePairs, OthersStayAsTheyAre) {
  const Parameter a{"a"};
  Circuit none(2), flips(2), mixed(2), wide(3), alone(2);
  EXPECT_EQ(made(name_pairs, none.rzz(0.3, 0, 1).rxx(0.2, 0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(name_pairs, flips.cz(0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(name_pairs, mixed.rzz(kPi / 2, 0, 1).cx(0, 1)), Texts{"as it was"});
  EXPECT_EQ(made(name_pairs, wide.rzz(kPi / 2, 0, 1).ccz(0, 1, 2)), Texts{"as it was"});
  EXPECT_EQ(made(name_pairs, alone.h(0)), Texts{"as it was"});
  Circuit open(2);
  Rewritten rewritten;
  EXPECT_FALSE(name_pairs(open.rzz(kPi / 2, 0, 1).rzz(a, 0, 1), rewritten));
}

TEST(NamePairs, RandomOnesAreTheSame) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::mt19937_64 random(seed);
    const auto angle = [&]() -> double {
      if (random() % 3 == 0) return 1e-3 * static_cast<double>(random() % 6283);
      return kPi / 4 * (static_cast<double>(random() % 33) - 16) + (random() % 5 == 0 ? 1e-14 : 0);
    };
    Circuit circuit(4);
    circuit.ecr(0, 1);
    for (int i = 0; i < 40; ++i) {
      const auto a = static_cast<Qubit>(random() % 4), b = static_cast<Qubit>((a + 1 + random() % 3) % 4);
      switch (random() % 8) {
        case 0:
          circuit.rxx(angle(), a, b);
          break;
        case 1:
          circuit.ryy(angle(), a, b);
          break;
        case 2:
          circuit.rzz(angle(), a, b);
          break;
        case 3:
          circuit.rzx(angle(), a, b);
          break;
        case 4:
          circuit.ecr(a, b);
          break;
        case 5:
          circuit.cz(a, b);
          break;
        default:
          random() % 2 == 0 ? circuit.u(angle(), angle(), angle(), a) : circuit.r(angle(), angle(), a);
      }
    }
    Rewritten rewritten;
    ASSERT_TRUE(name_pairs(circuit, rewritten));
    expect_same(circuit, rewritten);
    ASSERT_FALSE(HasFailure()) << seed;
  }
}

enum class Device : std::uint8_t { kWritten, kZz, kXx, kEcr };

/// A CX gate but for a phase, as the device has it.
void append_cx(Circuit& circuit, Device device, Qubit c, Qubit t) {
  switch (device) {
    case Device::kWritten:
      circuit.cx(c, t);
      return;
    case Device::kZz:
      circuit.h(t).rzz(kPi / 2, c, t).sdg(c).sdg(t).h(t);
      return;
    case Device::kXx:
      circuit.ry(kPi / 2, c).rxx(kPi / 2, c, t).rx(-kPi / 2, c).rx(-kPi / 2, t).ry(-kPi / 2, c);
      return;
    case Device::kEcr:
      circuit.ecr(c, t).x(c).sdg(c).sxdg(t);
      return;
  }
}

/// Rotations about strings of all letters, with a ladder of CX gates each.
Circuit strings(Device device, std::uint32_t qubits, int count) {
  std::mt19937_64 random(5);
  Circuit circuit(qubits);
  for (int i = 0; i < count; ++i) {
    std::vector<Qubit> wires;
    std::vector<int> letters;
    for (Qubit q = 0; q < qubits; ++q) {
      const int letter = static_cast<int>(random() % 4);
      if (letter == 0) continue;
      wires.push_back(q);
      letters.push_back(letter);
    }
    const auto turn = [&](bool back) {
      for (std::size_t k = 0; k < wires.size(); ++k) {
        if (letters[k] == 1) circuit.h(wires[k]);
        if (letters[k] == 2) circuit.rx(back ? -kPi / 2 : kPi / 2, wires[k]);
      }
    };
    turn(false);
    for (std::size_t k = 0; k + 1 < wires.size(); ++k) append_cx(circuit, device, wires[k], wires[k + 1]);
    if (!wires.empty()) circuit.rz(0.1 + 0.01 * i, wires.back());
    for (std::size_t k = wires.size(); k-- > 1;) append_cx(circuit, device, wires[k - 1], wires[k]);
    turn(true);
  }
  return circuit;
}

TEST(NamePairs, DevicesHaveCxGates) {
  const dense::State start = dense::random_state(2, 3);
  Circuit cx(2);
  const dense::State wanted = dense::run(cx.cx(0, 1), start);
  for (const Device device : {Device::kZz, Device::kXx, Device::kEcr}) {
    Circuit made(2);
    append_cx(made, device, 0, 1);
    const dense::State state = dense::run(made, start);
    Complex overlap = 0;
    for (std::size_t i = 0; i < state.size(); ++i) overlap += std::conj(wanted[i]) * Complex(state[i]);
    EXPECT_NEAR(std::abs(overlap), 1, 1e-14) << static_cast<int>(device);
  }
}

// Strings are seen whatever a device's gate on pairs is. Without naming ZZ and XX it takes 13 times as long.
TEST(NamePairs, StringsAreSeenBehindAnyGate) {
  const Machine machine = find_machine("h200");
  PlanOptions options;
  options.start = Start::kRandom;
  const auto seconds = [&](Device device) {
    return plan_work(make_plan(strings(device, 24, 12), machine, options)).total_seconds;
  };
  const double written = seconds(Device::kWritten);
  for (const Device device : {Device::kZz, Device::kXx, Device::kEcr}) {
    EXPECT_LE(seconds(device), 1.1 * written) << static_cast<int>(device);
  }
}

}  // namespace
}  // namespace qsim
