// Pairs of equal flips are taken away over what lies between them, which is done once more beside it: the same unitary,
// never for more gates, for ancillas that hold anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "optimizer/pipeline.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/passes.h"

namespace qsim {
namespace {

using test::expect_same;
using test::made;
using test::Texts;

/// X on qubit `controls` where all before it are 1, by a chain of Toffoli gates through the qubits after it.
Circuit chain(Qubit controls) {
  Circuit circuit(2 * controls - 1);
  const Qubit target = controls, first = controls + 1;
  const auto link = [&](Qubit i) {
    const Qubit from = i == 1 ? 0 : first + i - 2;
    circuit.ccx(i, from, i + 1 == controls ? target : first + i - 1);
  };
  for (Qubit i = 1; i < controls; ++i) link(i);
  for (Qubit i = controls - 2; i >= 1; --i) link(i);
  return circuit;
}

TEST(CancelFlips, WhatTheyDoIsDoneBesideWhatIsBetween) {
  Circuit reads(5), writes(5), phase(5), kept(5);
  EXPECT_EQ(made(cancel_flips, reads.ccx(0, 1, 2).ccx(2, 3, 4).ccx(0, 1, 2)), (Texts{"ccx", "c3x"}));
  EXPECT_EQ(made(cancel_flips, writes.cx(2, 4).ccx(0, 1, 2).cx(2, 4)), (Texts{"ccx", "ccx"}));
  EXPECT_EQ(made(cancel_flips, phase.ccx(0, 1, 2).cz(2, 3).ccx(0, 1, 2)), (Texts{"cz", "ccp"}));
  // What shares a control of both is controlled by it once.
  EXPECT_EQ(made(cancel_flips, kept.ccx(0, 1, 2).ccx(2, 1, 4).ccx(0, 1, 2)), (Texts{"ccx", "ccx"}));
}

TEST(CancelFlips, NothingIsBetween) {
  Circuit commutes(5), controls(5), turned(5);
  EXPECT_EQ(made(cancel_flips, commutes.ccx(0, 1, 2).ccx(1, 3, 2).rx(0.3, 2).t(0).ccx(0, 1, 2)),
            (Texts{"ccx", "rx", "t"}));
  EXPECT_EQ(made(cancel_flips, controls.cx(0, 1).cz(0, 3).cx(0, 4).cx(0, 1)), (Texts{"cz", "cx"}));
  EXPECT_EQ(made(cancel_flips, turned.ccx(0, 1, 2).sx(2).sxdg(2).crx(0.2, 3, 2).ccx(0, 1, 2)),
            (Texts{"sx", "sxdg", "crx"}));
}

TEST(CancelFlips, StaysWhereItIsOfNoUse) {
  Circuit alone(5), turned(5), both(5), two(5), general(5), angle(5), control(5);
  EXPECT_EQ(made(cancel_flips, alone.x(2).cx(2, 4).x(2)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, turned.ccx(0, 1, 2).h(2).ccx(0, 1, 2)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, both.cx(2, 4).cx(4, 2).cx(2, 4)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, two.ccx(0, 1, 2).cx(2, 3).cx(2, 4).ccx(0, 1, 2)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, general.ccx(0, 1, 2).crx(0.3, 2, 4).ccx(0, 1, 2)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, angle.ccx(0, 1, 2).cp(3.1415926535, 2, 4).ccx(0, 1, 2)), Texts{"as it was"});
  EXPECT_EQ(made(cancel_flips, control.ccx(0, 1, 2).h(1).ccx(0, 1, 2)), Texts{"as it was"});
}

// An operator of 62 controls has 61 products; each pair of the chain gives way in one look.
TEST(CancelFlips, ChainsBecomeFlipsOfOneQubit) {
  for (const Qubit controls : {3U, 4U, 5U, 32U}) {
    const Circuit circuit = chain(controls);
    Rewritten rewritten;
    ASSERT_TRUE(cancel_flips(circuit, rewritten));
    ASSERT_EQ(rewritten.circuit.operations().size(), controls - 1U);
    std::vector<std::uint32_t> sizes;
    for (const Operation& op : rewritten.circuit.operations()) {
      EXPECT_EQ(rewritten.circuit.targets(op)[0], controls);
      sizes.push_back(op.controls);
    }
    std::ranges::sort(sizes);
    for (Qubit i = 0; i + 1 < controls; ++i) EXPECT_EQ(sizes[i], i + 2);
    if (controls <= 5) expect_same(circuit, rewritten);
  }
}

/// Flips that meet their like again, among gates of every kind.
Circuit flips(std::uint64_t seed, int gates) {
  std::mt19937_64 random(seed);
  Circuit circuit(6);
  const auto angle = [&] { return 1e-3 * static_cast<double>(random() % 6283); };
  std::vector<std::array<Qubit, 4>> done;
  for (int i = 0; i < gates; ++i) {
    std::array<Qubit, 6> q{0, 1, 2, 3, 4, 5};
    std::ranges::shuffle(q, random);
    const auto put = [&](const std::array<Qubit, 4>& flip) {
      const auto controls = std::span(flip).first(flip[3] - 10U);
      circuit.add_gate(Gate::kX, controls, {&flip[2], 1});
    };
    switch (random() % 12) {
      case 0:
        circuit.rx(angle(), q[0]);
        break;
      case 1:
        circuit.add_gate(Gate::kZ, std::span(q).first(2), std::span(q).subspan(2, 1));
        break;
      case 2:
        circuit.cp(angle(), q[0], q[1]);
        break;
      case 3:
        random() % 3 == 0 ? circuit.h(q[0]) : circuit.x(q[0]);
        break;
      case 4:
        circuit.z(q[0]).crx(angle(), q[1], q[2]);
        break;
      case 5:
      case 6:
      case 7:
        done.push_back({q[0], q[1], q[2], static_cast<Qubit>(11 + random() % 2)});
        put(done.back());
        break;
      default:
        if (!done.empty()) put(done[done.size() - 1 - random() % std::min<std::size_t>(done.size(), 4)]);
        break;
    }
  }
  return circuit;
}

TEST(CancelFlips, RandomOnesAreTheSame) {
  int changed = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Circuit circuit = flips(seed, 12 + static_cast<int>(seed % 30));
    Rewritten rewritten;
    if (!cancel_flips(circuit, rewritten)) continue;
    ++changed;
    expect_same(circuit, rewritten);
    EXPECT_LE(circuit_cost(rewritten.circuit), circuit_cost(circuit) + 1e-9);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(changed, 2000);
}

TEST(CancelFlips, NoPlanIsDearer) {
  const Machine machine = find_machine("h200");
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Circuit circuit = flips(seed, 60);
    PlanOptions options;
    options.start = Start::kRandom;
    const double all = plan_work(make_plan(circuit, machine, options)).total_seconds;
    options.disabled_passes = {"cancel_flips"};
    EXPECT_LE(all, 1.02 * plan_work(make_plan(circuit, machine, options)).total_seconds) << seed;
  }
}

TEST(CancelFlips, ThousandsInOneWindow) {
  Circuit fan(64), nested(4);
  fan.cx(0, 1);
  for (int i = 0; i < 4000; ++i) fan.cx(0, 2 + static_cast<Qubit>(i) % 61);  // commute, and meet their like
  fan.cx(0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(cancel_flips(fan, rewritten));
  EXPECT_LE(rewritten.circuit.operations().size(), 61U);
  for (int i = 0; i < 2000; ++i) nested.ccx(0, 1, 2).ccx(1, 2, 3);
  Rewritten half;
  ASSERT_TRUE(cancel_flips(nested, half));
  expect_same(nested, half);
}

}  // namespace
}  // namespace qsim
