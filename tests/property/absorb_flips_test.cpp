// Flips move to where a gate takes them in or another flip undoes them: the same state, for no more gates that count.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>

#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/passes.h"

namespace qsim {
namespace {

using test::expect_same;
using test::made;
using test::Texts;

// What compilers leave that write pairs of qubits anew: flips around one CX gate of two.
TEST(AbsorbFlips, PairsAroundOneFlipOfTwoGo) {
  Circuit pair(2), behind(2), odd(2), several(3);
  pair.h(1).t(0).x(0).cx(0, 1).rz(0.4, 0).x(0).rz(0.3, 1).cx(0, 1).h(1);
  EXPECT_EQ(made(absorb_flips, pair), (Texts{"h", "t", "cx", "rz", "rz", "cx", "x", "h"}));
  behind.t(0).x(0).cx(0, 1).x(0).t(1).x(1).cx(0, 1);  // the flip that is made meets one
  EXPECT_EQ(made(absorb_flips, behind), (Texts{"t", "cx", "p", "cx"}));
  odd.ry(0.3, 0).cx(0, 1).rz(0.2, 1).x(0).cx(0, 1).h(1);  // back to the rotation, which takes it in
  EXPECT_EQ(made(absorb_flips, odd), (Texts{"ry", "x", "cx", "rz", "cx", "x", "h"}));
  several.t(0).x(0).cx(0, 1).cx(0, 2).x(0).h(1).h(2).t(0);
  EXPECT_EQ(made(absorb_flips, several), (Texts{"t", "cx", "cx", "x", "h", "x", "h", "t"}));
}

TEST(AbsorbFlips, DiagonalsAreTurnedOver) {
  Circuit phase(2), product(3), parity(2), both(2);
  EXPECT_EQ(made(absorb_flips, phase.t(0).x(0).p(0.3, 0).cx(0, 1).t(1).cx(0, 1).p(0.1, 0)), Texts{"as it was"});
  EXPECT_EQ(made(absorb_flips, parity.t(0).x(0).rzz(0.3, 0, 1).x(0)), (Texts{"t", "z2"}));
  EXPECT_EQ(made(absorb_flips, product.t(0).x(0).cp(0.3, 0, 1).x(0)), (Texts{"t", "p", "cp"}));
  EXPECT_EQ(made(absorb_flips, both.t(0).t(1).x(0).x(1).cp(0.3, 0, 1).x(0).x(1)), (Texts{"t", "t", "p", "p", "cp"}));
}

// Gates that are controlled on 0, flips that a gate on their qubit takes in as they are, and those behind what does not
// commute with them.
TEST(AbsorbFlips, OthersStayAsTheyAre) {
  Circuit zero(2), beside(2), wide(4), none(2), open(2), general(3);
  EXPECT_EQ(made(absorb_flips, zero.h(1).t(0).x(0).cx(0, 1).t(1).cx(0, 1).x(0).t(0).h(1)), Texts{"as it was"});
  EXPECT_EQ(made(absorb_flips, beside.h(0).x(0).cx(0, 1).t(0).x(0).h(0)), Texts{"as it was"});
  EXPECT_EQ(made(absorb_flips, wide.t(0).x(0).ccx(0, 1, 2).x(0)), Texts{"as it was"});
  EXPECT_EQ(made(absorb_flips, none.h(0).cx(0, 1)), Texts{"as it was"});
  const Parameter a{"a"};
  EXPECT_EQ(made(absorb_flips, general.t(0).x(0).crx(0.3, 0, 1).x(0)), Texts{"as it was"});
  open.t(0).x(0).rz(a, 0).x(0);
  Rewritten rewritten;
  EXPECT_FALSE(absorb_flips(open, rewritten));
}

Circuit flips(std::uint64_t seed, int gates) {
  std::mt19937_64 random(seed);
  Circuit circuit(5);
  const auto angle = [&] { return 1e-3 * static_cast<double>(random() % 6283); };
  for (int i = 0; i < gates; ++i) {
    const auto a = static_cast<Qubit>(random() % 5), b = static_cast<Qubit>((a + 1 + random() % 4) % 5);
    const std::array<Qubit, 2> others{static_cast<Qubit>((a + 1) % 5), static_cast<Qubit>((a + 2) % 5)};
    switch (random() % 14) {
      case 0:
      case 1:
      case 2:
      case 3:
        circuit.x(a);
        break;
      case 4:
      case 5:
      case 6:
        circuit.cx(a, b);
        break;
      case 7:
        circuit.rz(angle(), a);
        break;
      case 8:
        random() % 2 == 0 ? circuit.p(angle(), a) : circuit.cp(angle(), a, b);
        break;
      case 9:
        random() % 2 == 0 ? circuit.rzz(angle(), a, b) : circuit.crz(angle(), a, b);
        break;
      case 10:
        random() % 2 == 0 ? circuit.ccx(others[0], others[1], a) : circuit.add_gate(Gate::kZ, others, std::span(&a, 1));
        break;
      case 11:
        random() % 3 == 0 ? circuit.crx(angle(), a, b) : circuit.swap(a, b);
        break;
      default:
        random() % 2 == 0 ? circuit.h(a) : circuit.ry(angle(), a);
    }
  }
  return circuit;
}

TEST(AbsorbFlips, RandomOnesAreTheSame) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Circuit circuit = flips(seed, 12 + static_cast<int>(seed % 60));
    Rewritten rewritten;
    if (!absorb_flips(circuit, rewritten)) continue;
    ++changed;
    expect_same(circuit, rewritten);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(changed, 2000);
}

TEST(AbsorbFlips, ThousandsOnOneQubit) {
  Circuit circuit(4);
  circuit.h(0);
  for (int i = 0; i < 4000; ++i) {
    circuit.t(0).x(0).cx(0, 1 + static_cast<Qubit>(i) % 3).rz(1e-3 * i, 0).x(0).rz(1e-9, 1).h(1);
  }
  Rewritten rewritten;
  ASSERT_TRUE(absorb_flips(circuit, rewritten));
  expect_same(circuit, rewritten);
}

}  // namespace
}  // namespace qsim
