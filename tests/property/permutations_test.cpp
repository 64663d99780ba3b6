// Gates with several controls, in the decompositions that people use, become flips and phases again: the same unitary,
// to rounding, and nothing where an angle is another one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "optimizer/pipeline.h"
#include "optimizer/sums/path_sum.h"
#include "qsim/circuit.h"
#include "support/ancilla_circuit.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using test::append_margolus;
using test::append_toffoli;
using test::expect_same;
using test::recognise_lightest;

constexpr double kPi = std::numbers::pi;

/// Of operations that do something.
std::vector<std::string> shapes(const Circuit& circuit) {
  std::vector<std::string> all;
  for (const Operation& op : circuit.operations()) {
    if (op.controls + op.targets == 0) continue;
    all.push_back(std::string(gate_spelling(op.gate, 0)) + std::to_string(op.controls));
  }
  return all;
}

/// What the pass makes, with phases that stood before it added up.
Circuit made(const Rewritten& rewritten) {
  Rewritten merged;
  return merge_diagonals(rewritten.circuit, merged) ? merged.circuit : rewritten.circuit;
}

/// Phase of half a turn where all qubits are 1, in linear depth: ladders of controlled rotations (a counter that is
/// raised and lowered).
void append_ladders(Circuit& circuit, const std::vector<Qubit>& q, bool flips = false, double error = 0) {
  const auto top = static_cast<int>(q.size()) - 1;
  const auto turn = [&](int control, int target, double sign, bool phase) {
    const int distance = control == 0 ? target - 1 : target - control;
    const double angle = sign * kPi / std::ldexp(1.0, distance) + error;
    if (phase && target == top && !flips) {
      circuit.cp(angle, q[static_cast<std::size_t>(control)], q[static_cast<std::size_t>(target)]);
    } else {
      circuit.crx(angle, q[static_cast<std::size_t>(control)], q[static_cast<std::size_t>(target)]);
    }
  };
  for (int last = top; last >= top - 1; --last) {
    for (int target = last; target >= 2; --target) {
      for (int control = target - 1; control >= 0; --control) {
        turn(control, target, last < top && control == 0 ? -1 : 1, last == top);
      }
    }
    turn(0, 1, last == top ? 1 : -1, last == top);
    for (int control = 1; control < last; ++control) {
      for (int target = control + 1; target <= last; ++target) turn(control, target, -1, last == top);
    }
  }
}

/// Up to phases, three controls.
void append_relative_c3x(Circuit& c, Qubit a, Qubit b, Qubit d, Qubit t) {
  c.h(t).t(t).cx(d, t).tdg(t).h(t).cx(a, t).t(t).cx(b, t).tdg(t).cx(a, t).t(t).cx(b, t).tdg(t);
  c.h(t).t(t).cx(d, t).tdg(t).h(t);
}
void append_square_roots(Circuit& c, Qubit a, Qubit b, Qubit t) {
  c.csx(b, t).cx(a, b);
  const Qubit operands[] = {b, t};
  c.add_gate(Gate::kSxdg, std::span(operands).first(1), std::span(operands).last(1));
  c.cx(a, b).csx(a, t);
}
std::vector<Qubit> first_qubits(unsigned count) {
  std::vector<Qubit> qubits(count);
  for (Qubit q = 0; q < count; ++q) qubits[q] = q;
  return qubits;
}

TEST(Permutations, LaddersAreOnePhase) {
  for (unsigned qubits = 4; qubits <= 9; ++qubits) {
    Circuit circuit(qubits);
    append_ladders(circuit, first_qubits(qubits));
    Rewritten rewritten;
    ASSERT_TRUE(recognise_lightest(circuit, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(shapes(made(rewritten)), std::vector<std::string>{"p" + std::to_string(qubits - 1)});
  }
}

TEST(Permutations, ManyQubitsAreStillOnePhase) {
  for (const unsigned qubits : {20U, 30U, 34U}) {
    Circuit circuit(qubits);
    append_ladders(circuit, first_qubits(qubits));
    Rewritten rewritten;
    ASSERT_TRUE(recognise_lightest(circuit, rewritten));
    EXPECT_EQ(shapes(made(rewritten)), std::vector<std::string>{"p" + std::to_string(qubits - 1)});
  }
}

TEST(Permutations, LaddersThatTurnTheLastQubitAreAFlipUpToPhases) {
  for (unsigned qubits = 3; qubits <= 7; ++qubits) {
    Circuit circuit(qubits);
    append_ladders(circuit, first_qubits(qubits), true);
    Rewritten rewritten;
    ASSERT_TRUE(recognise_lightest(circuit, rewritten));
    expect_same(circuit, rewritten);
    EXPECT_EQ(std::ranges::count(shapes(rewritten.circuit), "x" + std::to_string(qubits - 1)), 1);
    EXPECT_LT(rewritten.circuit.operations().size(), 2 * qubits);
  }
}

TEST(Permutations, DecompositionsOfToffoliGatesAreFlips) {
  const std::vector<std::function<void(Circuit&, Qubit, Qubit, Qubit)>> toffolis{append_toffoli, append_margolus,
                                                                                 append_square_roots};
  for (std::size_t which = 0; which < toffolis.size(); ++which) {
    for (const std::vector<Qubit>& q : {std::vector<Qubit>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}) {
      Circuit circuit(3);
      toffolis[which](circuit, q[0], q[1], q[2]);
      Rewritten rewritten;
      ASSERT_TRUE(recognise_lightest(circuit, rewritten)) << which;
      expect_same(circuit, rewritten);
      EXPECT_EQ(std::ranges::count(shapes(rewritten.circuit), "x2"), 1);
      EXPECT_EQ(std::ranges::count(shapes(rewritten.circuit), "h0"), 0);
      EXPECT_LE(rewritten.circuit.operations().size(), which == 1 ? 3U : 1U);
    }
  }
  Circuit circuit(4);
  append_relative_c3x(circuit, 0, 1, 2, 3);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_lightest(circuit, rewritten));
  expect_same(circuit, rewritten);
  EXPECT_EQ(std::ranges::count(shapes(rewritten.circuit), "x3"), 1);
}

// What the last Hadamard gate of one has cancelled against the first of the next, with phases and CX gates left
// between.
TEST(Permutations, GatesThatHaveMetAreSeenThrough) {
  std::mt19937_64 random(29);
  std::size_t recognised = 0, met = 0;
  for (int round = 0; round < 400; ++round) {
    Circuit circuit(5);
    for (std::uint64_t i = 2 + random() % 5; i > 0; --i) {
      std::vector<Qubit> q = first_qubits(5);
      std::ranges::shuffle(q, random);
      if (random() % 3 != 0) std::swap(*std::ranges::find(q, 4U), q[2]);  // mostly onto the same qubit
      if (random() % 3 == 0) circuit.x(q[3]);
      (random() % 2 == 0 ? append_toffoli : append_margolus)(circuit, q[0], q[1], q[2]);
    }
    Rewritten cancelled, rewritten;
    met += cancel_inverses(circuit, cancelled) ? 1 : 0;
    const Circuit& before = cancelled.circuit.qubits() == 0 ? circuit : cancelled.circuit;
    std::vector<Rewritten> found = recognise_permutations(before, false);
    recognised += found.empty() ? 0 : 1;
    for (const Rewritten& each : found) expect_same(before, each);
    ASSERT_FALSE(HasFailure()) << round;
  }
  EXPECT_GT(met, 100U);
  EXPECT_GT(recognised, 300U);
}

TEST(Permutations, AncillasThatAreGivenBackAreLeftOut) {
  for (unsigned controls = 3; controls <= 5; ++controls) {
    for (const bool relative : {false, true}) {
      Circuit circuit(2 * controls - 1);
      test::append_chain(circuit, controls, relative ? append_margolus : append_toffoli, append_toffoli);
      Rewritten rewritten;
      ASSERT_TRUE(recognise_lightest(circuit, rewritten));
      expect_same(circuit, rewritten);
      // The ancillas may have been anything: each adds a flip of the target.
      EXPECT_EQ(rewritten.circuit.operations().size(), controls - 1) << relative;
    }
  }
}

TEST(Permutations, AnglesThatAreNotQuiteTheseStayThemselves) {
  const std::size_t gates = [] {
    Circuit circuit(5);
    append_ladders(circuit, first_qubits(5));
    return circuit.operations().size();
  }();
  for (const double error : {1e-3, 1e-9, 1e-12, 1e-15, -1e-9, -1e-15}) {
    for (std::size_t which = 0; which < gates; ++which) {
      Circuit whole(5), circuit(5);
      append_ladders(whole, first_qubits(5));
      for (std::size_t i = 0; i < gates; ++i) {
        const Operation& op = whole.operations()[i];
        const double angle = whole.params(op)[0] + (i == which ? error : 0);
        circuit.add_gate(op.gate, whole.controls(op), whole.targets(op), std::span(&angle, 1));
      }
      Rewritten rewritten;
      if (recognise_lightest(circuit, rewritten)) expect_same(circuit, rewritten);
      ASSERT_FALSE(HasFailure()) << error << " at " << which;
    }
    Circuit circuit(6);
    append_ladders(circuit, first_qubits(6), false, error);
    Rewritten rewritten;
    if (recognise_lightest(circuit, rewritten)) expect_same(circuit, rewritten);
    ASSERT_FALSE(HasFailure()) << error << " everywhere";
  }
}

TEST(Permutations, AnglesArePartsOfATurnOnlyToRounding) {
  for (int k = 0; k <= 40; ++k) {
    const double angle = kPi / std::ldexp(1.0, k);
    EXPECT_EQ(turns_of(angle), std::uint64_t{1} << (63 - k));
    EXPECT_EQ(turns_of(-angle), -(std::uint64_t{1} << (63 - k)));
    EXPECT_EQ(turns_of(3 * angle), 3 * (std::uint64_t{1} << (63 - k)));
    EXPECT_DOUBLE_EQ(std::abs(angle_of_turns(turns_of(angle))), angle);
    EXPECT_TRUE(is_part_of_turn(angle));
    EXPECT_FALSE(is_part_of_turn(angle * (1 + 1e-14)));
    EXPECT_FALSE(is_part_of_turn(angle * (1 - 1e-9)));
  }
  EXPECT_EQ(turns_of(0), 0U);
  EXPECT_EQ(turns_of(4 * kPi), 0U);
  EXPECT_FALSE(is_part_of_turn(0.3));
  for (const double angle : {0.3, -1.7, 3.1, 1e-9, -2e-7}) {
    EXPECT_NEAR(angle_of_turns(turns_of(angle)), angle, 1e-15 * std::abs(angle) + 1e-18);
  }
}

TEST(Permutations, OtherGatesBetweenThemAreKept) {
  const auto others = std::to_array<void (*)(Circuit&)>({
      [](Circuit& c) { c.h(0); },
      [](Circuit& c) { c.h(4); },
      [](Circuit& c) { c.ry(0.3, 2); },
      [](Circuit& c) { c.ry(0.3, 5); },
      [](Circuit& c) { c.rz(0.7, 3); },
      [](Circuit& c) { c.x(1); },
      [](Circuit& c) { c.sx(1); },
      [](Circuit& c) { c.cx(5, 2); },
      [](Circuit& c) { c.cx(2, 5); },
      [](Circuit& c) { c.rxx(0.4, 3, 5); },
      [](Circuit& c) { c.cp(0.4, 3, 5); },
      [](Circuit& c) { c.u(0.1, 0.2, 0.3, 4); },
      [](Circuit& c) { c.swap(1, 4); },
      [](Circuit& c) { c.y(2).ch(0, 5); },
      [](Circuit& c) {
        c.add_pauli_rotation(0.3, "XZ", std::vector<Qubit>{1, 5});
      },
  });
  Circuit whole(6);
  append_ladders(whole, first_qubits(5));
  append_toffoli(whole, 3, 5, 0);
  append_margolus(whole, 1, 2, 5);
  append_toffoli(whole, 5, 4, 3);
  append_margolus(whole, 1, 2, 5);
  std::size_t recognised = 0;
  for (std::size_t which = 0; which < others.size(); ++which) {
    for (std::size_t at = 0; at < whole.operations().size(); at += 3) {
      Circuit circuit(6);
      for (std::size_t i = 0; i < whole.operations().size(); ++i) {
        if (i == at) others[which](circuit);
        circuit.append(whole, whole.operations()[i]);
      }
      Rewritten rewritten;
      if (recognise_lightest(circuit, rewritten)) {
        ++recognised;
        expect_same(circuit, rewritten);
      }
      ASSERT_FALSE(HasFailure()) << which << " at " << at;
    }
  }
  EXPECT_GT(recognised, 100U);
}

/// The same gates in another order that their qubits allow.
Circuit shuffled(const Circuit& circuit, std::mt19937_64& random) {
  std::vector<std::size_t> left(circuit.operations().size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  Circuit result(circuit.qubits());
  while (!left.empty()) {
    std::vector<std::size_t> free;
    Index met = 0;
    for (std::size_t place = 0; place < left.size(); ++place) {
      Index mine = 0;
      const Operation& op = circuit.operations()[left[place]];
      for (const Qubit q : circuit.controls(op)) mine |= bit_mask(q);
      for (const Qubit q : circuit.targets(op)) mine |= bit_mask(q);
      if ((met & mine) == 0) free.push_back(place);
      met |= mine;
    }
    const std::size_t place = free[random() % free.size()];
    result.append(circuit, circuit.operations()[left[place]]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return result;
}

TEST(Permutations, TheOrderOfGatesOnOtherQubitsDoesNotMatter) {
  std::mt19937_64 random(17);
  for (int round = 0; round < 30; ++round) {
    std::vector<Qubit> q = first_qubits(7);
    std::ranges::shuffle(q, random);
    Circuit circuit(7);
    for (Qubit each = 0; each < 7; ++each) circuit.h(each);
    if (round % 3 != 1) append_ladders(circuit, {q.begin(), q.begin() + 5});
    for (Qubit each = 0; each < 7; ++each) circuit.h(each).x(each);
    if (round % 3 != 0) {
      append_margolus(circuit, q[0], q[1], q[5]);
      append_toffoli(circuit, q[2], q[5], q[6]);
      append_margolus(circuit, q[0], q[1], q[5]);
    }
    const Circuit other = shuffled(circuit, random);
    Rewritten rewritten;
    ASSERT_TRUE(recognise_lightest(other, rewritten));
    expect_same(other, rewritten);
    const std::vector<std::string> found = shapes(made(rewritten));
    if (round % 3 == 1) {
      EXPECT_EQ(std::ranges::count(found, "x3"), 1) << testing::PrintToString(found);
    }
  }
}

/// Gates that a sum over paths knows, and some that it does not, on few qubits.
void append_random(Circuit& c, std::mt19937_64& random, bool any) {
  const auto n = c.qubits();
  std::vector<Qubit> q = first_qubits(n);
  std::ranges::shuffle(q, random);
  const double part = kPi / static_cast<double>(1 << random() % 5) * (random() % 2 == 0 ? 1 : -1);
  switch (random() % (any ? 24 : 22)) {
    case 0:
    case 1:
    case 2:
      c.h(q[0]);
      break;
    case 3:
      c.t(q[0]);
      break;
    case 4:
      c.sdg(q[0]);
      break;
    case 5:
      c.cx(q[0], q[1]);
      break;
    case 6:
      c.ccx(q[0], q[1], q[2]);
      break;
    case 7:
      c.cp(part, q[0], q[1]);
      break;
    case 8:
      c.crx(part, q[0], q[1]);
      break;
    case 9:
      c.cry(part, q[0], q[1]);
      break;
    case 10:
      c.crz(part, q[0], q[1]);
      break;
    case 11:
      c.sx(q[0]);
      break;
    case 12:
      c.rzz(part, q[0], q[1]);
      break;
    case 13:
      c.apply("rccx", std::vector<Qubit>{q[0], q[1], q[2]});
      break;
    case 14:
      c.apply("rc3x", std::vector<Qubit>{q[0], q[1], q[2], q[3]});
      break;
    case 15:
      c.apply("rc3xdg", std::vector<Qubit>{q[0], q[1], q[2], q[3]});
      break;
    case 16:
      c.cy(q[0], q[1]).y(q[2]);
      break;
    case 17:
      c.cswap(q[0], q[1], q[2]);
      break;
    case 18:
      c.u(kPi / 2, part, 0.3, q[0]);
      break;
    case 19:
      c.u2(part, -part, q[0]);
      break;
    case 20:
      c.csx(q[0], q[1]);
      break;
    case 21:
      c.x(q[0]).rz(0.4, q[1]);
      break;
    case 22:
      c.ry(0.3, q[0]);
      break;
    default:
      c.rxx(0.4, q[0], q[1]);
      break;
  }
}

TEST(Permutations, WhatIsComputedAndTakenBackIsSeenThrough) {
  std::mt19937_64 random(23);
  std::size_t recognised = 0;
  for (int round = 0; round < 400; ++round) {
    Circuit computed(5), circuit(5);
    const std::size_t length = 3 + random() % 12;
    for (std::size_t i = 0; i < length; ++i) append_random(computed, random, round % 4 == 0);
    const Circuit back = computed.inverse();
    for (const Operation& op : computed.operations()) circuit.append(computed, op);
    for (std::size_t i = random() % 4; i > 0; --i) append_random(circuit, random, round % 4 == 0);
    for (const Operation& op : back.operations()) circuit.append(back, op);
    for (std::size_t i = random() % 4; i > 0; --i) append_random(circuit, random, false);
    const Circuit other = round % 2 == 0 ? shuffled(circuit, random) : circuit;
    Rewritten rewritten;
    if (recognise_lightest(other, rewritten)) {
      ++recognised;
      expect_same(other, rewritten);
    }
    ASSERT_FALSE(HasFailure()) << round;
  }
  EXPECT_GT(recognised, 60U);
}

TEST(Permutations, OpenAnglesAreNeverSeenThrough) {
  Circuit circuit(4);
  append_margolus(circuit, 0, 1, 2);
  circuit.rz(Angle(0.5 * kPi) + Parameter("a"), 2);
  append_margolus(circuit, 0, 1, 2);
  circuit.crx(Parameter("a"), 0, 3).crx(kPi, 0, 3);
  Rewritten rewritten;
  if (recognise_lightest(circuit, rewritten)) {
    EXPECT_EQ(rewritten.circuit.parameters().size(), 1U);
    for (const double value : {0.0, 0.4, kPi, -0.5 * kPi}) {
      const dense::State start = dense::random_state(4, 8);
      EXPECT_LE(dense::max_difference(dense::run(circuit.bind({&value, 1}), start),
                                      dense::run(rewritten.circuit.bind({&value, 1}), start)),
                test::rounding_tolerance(Precision::kDouble, circuit.operations().size()));
    }
  }
}

TEST(Permutations, PlainGatesAreLeftAsTheyAre) {
  // Clifford circuits and rotations by any angle: the planner sees these itself.
  Circuit circuit(4);
  circuit.h(0).cx(1, 0).h(0).s(0).cz(0, 1).h(1).cx(2, 3).h(2).rz(0.3, 2).h(2).sx(3).cx(0, 3).sx(3).ccx(0, 1, 2);
  Rewritten rewritten;
  EXPECT_FALSE(recognise_lightest(circuit, rewritten));
}

}  // namespace
}  // namespace qsim
