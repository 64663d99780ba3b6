// Rotations between Clifford gates as rotations about Pauli strings: the same unitary with its phase, whatever gates
// there are, and the strings that a circuit was made of.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bits.h"
#include "optimizer/axes/axis_form.h"
#include "optimizer/strings/affine_state.h"
#include "optimizer/strings/clifford_images.h"
#include "optimizer/strings/gather_strings.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/pair_circuits.h"
#include "support/passes.h"

namespace qsim {
namespace {

using test::beside_special;
using test::pairs_of_every_class;
using test::Random;

constexpr double kPi = std::numbers::pi;

bool gathered(const Circuit& circuit, Rewritten& rewritten) {
  const std::optional<AxisForm> form = axis_form(circuit);
  return form && gather_strings(circuit, *form, rewritten);
}

/// The strings that the circuit turns about, with Z for every letter, and how many gates on two qubits there are but
/// SWAP gates.
struct Count {
  std::vector<std::size_t> strings;
  std::size_t pairs = 0;
};
Count count_of(const Circuit& circuit) {
  Count count;
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kPauliRotation && op.targets > 0) count.strings.push_back(op.targets);
    if (op.kind == OpKind::kGate && op.controls + op.targets == 2 && op.gate != Gate::kSwap) ++count.pairs;
  }
  return count;
}

/// Gates of the Clifford group and turns about any axis of those.
Circuit turns_between_cliffords(std::uint32_t qubits, std::uint64_t seed, std::uint32_t gates, std::uint32_t turns) {
  Random random(seed);
  Circuit circuit(qubits);
  for (std::uint32_t i = 0; i < gates; ++i) {
    const Qubit a = random.below(qubits), b = (a + 1 + random.below(qubits - 1)) % qubits;
    if (random.below(gates) < turns) circuit.rz(random.within(-4, 4), a);
    switch (random.below(5)) {
      case 0:
        circuit.h(a);
        break;
      case 1:
        circuit.s(a).sx(b);
        break;
      case 2:
        circuit.cz(a, b);
        break;
      case 3:
        circuit.swap(a, b).y(a);
        break;
      default:
        circuit.cx(a, b);
    }
  }
  return circuit;
}

TEST(GatherStrings, TheUnitaryIsTheSame) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto number = static_cast<std::uint32_t>(seed);
    const std::uint32_t qubits = 2 + number % 4;
    const Circuit circuit = turns_between_cliffords(qubits, seed, 10 + number % 60, number % 9);
    Rewritten rewritten;
    if (!gathered(circuit, rewritten)) continue;
    ++made;
    test::expect_same(circuit, rewritten);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GE(made, 200);
}

TEST(GatherStrings, OfPairsOfEveryKind) {
  int made = 0;
  for (const auto append : {&pairs_of_every_class, &beside_special}) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      Random random(seed);
      const std::uint32_t qubits = 2 + seed % 4;
      Circuit circuit(qubits);
      for (int i = 0; i < 12; ++i) {
        const Qubit a = random.below(qubits), b = (a + 1 + random.below(qubits - 1)) % qubits;
        circuit.cx(a, b);
        append(circuit, random, a, b);
      }
      Rewritten rewritten;
      if (!gathered(circuit, rewritten)) continue;
      ++made;
      test::expect_same(circuit, rewritten);
      ASSERT_FALSE(HasFailure()) << seed;
    }
  }
  EXPECT_GE(made, 100);
}

TEST(GatherStrings, EqualOnesAddUpAndWholeTurnsAreMinusOne) {
  // Each turn is about the same string, once from either side of a ladder; what lies between commutes with it.
  for (const double angle : {0.3, 1.1, 1.9, kPi - 1e-3, 2.5, -3.0}) {
    for (int times = 1; times <= 7; ++times) {
      Circuit circuit(4);
      for (int i = 0; i < times; ++i) {
        circuit.h(0).cx(0, 1).cx(1, 2).rz(angle, 2).cx(1, 2).cx(0, 1).h(0);
        circuit.cx(2, 1).h(3).cx(3, 0).cx(2, 1).cx(3, 0).h(3);
      }
      Rewritten rewritten;
      ASSERT_TRUE(gathered(circuit, rewritten));
      test::expect_same(circuit, rewritten);
      EXPECT_LE(count_of(rewritten.circuit).strings.size(), 1u);
    }
  }
  Circuit undone(3);
  undone.cx(0, 1).cx(1, 2).rz(0.7, 2).cx(1, 2).cx(0, 1).cx(0, 2).cx(1, 2).rz(-0.7, 2).cx(1, 2).cx(0, 2);
  Rewritten rewritten;
  ASSERT_TRUE(gathered(undone, rewritten));
  EXPECT_TRUE(rewritten.circuit.operations().empty());
  test::expect_same(undone, rewritten);
}

TEST(GatherStrings, StaysAsItIs) {
  Rewritten rewritten;
  Circuit none(2), local(2), three(3), wide(63);
  EXPECT_FALSE(gathered(none, rewritten));
  EXPECT_FALSE(gathered(local.h(0).rz(0.3, 0).rzz(0.2, 0, 1), rewritten));  // no flip
  EXPECT_FALSE(gathered(three.ccx(0, 1, 2), rewritten));
  for (Qubit q = 0; q + 1 < 63; ++q) wide.cx(q, q + 1);
  EXPECT_FALSE(gathered(wide, rewritten));
  Circuit clifford(3);
  EXPECT_FALSE(gathered(clifford.h(0).cx(0, 1).cx(1, 2).h(2), rewritten));  // no rotation
  // What is left behind one is written with few gates.
  for (int i = 0; i < 50; ++i) clifford.cx(0, 1).h(1).cz(1, 2).s(2).cx(2, 0).sx(0);
  ASSERT_TRUE(gathered(clifford.t(0).cx(0, 1), rewritten));
  test::expect_same(clifford, rewritten);
  EXPECT_LE(count_of(rewritten.circuit).pairs, 9u);
}

/// exp(-i angle/2 P) with ladders of CX gates that go another way each time.
void append_string(Circuit& circuit, Random& random, std::string_view letters, double angle) {
  std::vector<Qubit> wires;
  for (Qubit q = 0; q < letters.size(); ++q) {
    if (letters[q] != 'I') wires.push_back(q);
  }
  for (std::size_t i = wires.size(); i > 1; --i)
    std::swap(wires[i - 1], wires[random.below(static_cast<std::uint32_t>(i))]);
  const auto turns = [&](bool back) {
    for (const Qubit q : wires) {
      if (letters[q] == 'X') circuit.h(q);
      if (letters[q] == 'Y') back ? circuit.sxdg(q) : circuit.sx(q);
    }
  };
  turns(false);
  for (std::size_t i = 0; i + 1 < wires.size(); ++i) circuit.cx(wires[i], wires[i + 1]);
  circuit.rz(angle, wires.back());
  for (std::size_t i = wires.size() - 1; i > 0; --i) circuit.cx(wires[i - 1], wires[i]);
  turns(true);
}

std::string any_letters(std::uint32_t qubits, Random& random) {
  std::string letters(qubits, 'I');
  do {  // shorter ones may be one gate with others of their pair
    for (char& letter : letters) letter = "IXYZ"[random.below(4)];
  } while (qubits - std::ranges::count(letters, 'I') < 4);
  return letters;
}

TEST(GatherStrings, AreThoseThatTheCircuitWasMadeOf) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(seed % 4);
    Circuit circuit(qubits);
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 8; ++i) {
      const std::string letters = any_letters(qubits, random);
      sizes.push_back(qubits - static_cast<std::size_t>(std::ranges::count(letters, 'I')));
      append_string(circuit, random, letters, random.within(0.1, 1.4));
    }
    Rewritten rewritten;
    ASSERT_TRUE(gathered(circuit, rewritten));
    test::expect_same(circuit, rewritten);
    const Count count = count_of(rewritten.circuit);
    EXPECT_EQ(count.pairs, 0u) << seed;
    std::vector<std::size_t> made = count.strings;
    std::ranges::sort(made);
    std::ranges::sort(sizes);
    EXPECT_TRUE(std::ranges::includes(sizes, made)) << seed;  // equal ones add up
  }
}

TEST(GatherStrings, PlansAreAsOfTheStrings) {
  const Machine machine = without_births_and_norm(find_machine("h200"));
  Random random(4);
  constexpr std::uint32_t kQubits = 28;
  Circuit strings(kQubits), ladders(kQubits);
  for (int i = 0; i < 20; ++i) {
    const std::string letters = any_letters(kQubits, random);
    const double angle = random.within(-1.5, 1.5);
    std::string some;
    std::vector<Qubit> wires;
    for (Qubit q = 0; q < kQubits; ++q) {
      if (letters[q] == 'I') continue;
      some += letters[q];
      wires.push_back(q);
    }
    strings.add_pauli_rotation(angle, some, wires);
    append_string(ladders, random, letters, angle);
  }
  const auto seconds = [&](const Circuit& of, std::string_view left_out = {}) {
    PlanOptions options;
    options.start = Start::kRandom;
    if (!left_out.empty()) options.disabled_passes.emplace_back(left_out);
    return plan_work(make_plan(of, machine, options)).total_seconds;
  };
  EXPECT_LE(seconds(ladders), 1.02 * seconds(strings));
  const Circuit hidden = test::spread(ladders, random);
  EXPECT_LE(seconds(hidden), 1.02 * seconds(strings));
  EXPECT_GE(seconds(hidden, kGatherStrings), 1.5 * seconds(strings));
}

TEST(CliffordImages, TheCircuitIsTheFlipsButForAPhaseThatIsFound) {
  using Kind = CliffordGate::Kind;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::uint32_t wires = 2 + static_cast<std::uint32_t>(seed % 4);
    CliffordImages images(wires);
    AffineState state(wires);
    Circuit flips(wires), again(wires);
    for (std::uint64_t i = 0; i < seed % 40; ++i) {
      const Qubit a = random.below(wires), b = (a + 1 + random.below(wires - 1)) % wires;
      const std::array<unsigned, 2> letters{1 + random.below(3), 1 + random.below(3)};
      images.append_flip({a, b}, letters);
      const auto look = [&](bool back) {
        for (unsigned k = 0; k < 2; ++k) {
          const Qubit q = k == 0 ? a : b;
          if (letters[k] == 2 && !back) flips.sdg(q), state.apply({Kind::kInverseS, {q, q}});
          if (letters[k] != 3) flips.h(q), state.apply({Kind::kH, {q, q}});
          if (letters[k] == 2 && back) flips.s(q), state.apply({Kind::kS, {q, q}});
        }
      };
      look(false);
      flips.cz(a, b);
      state.apply({Kind::kCz, {a, b}});
      look(true);
    }
    const std::vector<CliffordGate> made = images.circuit();
    for (const CliffordGate& gate : made) append_gate(again, gate);
    for (auto gate = made.rbegin(); gate != made.rend(); ++gate) state.apply_inverse(*gate);
    const std::optional<unsigned> eighths = state.phase_of_zero();
    ASSERT_TRUE(eighths) << seed;
    const std::vector<Complex> is = dense::circuit_matrix(flips), as = dense::circuit_matrix(again);
    const Complex phase = std::polar(1.0, kPi / 4 * *eighths);
    for (std::size_t i = 0; i < is.size(); ++i) ASSERT_LE(std::abs(is[i] - phase * as[i]), 1e-13) << seed;
  }
}

TEST(AffineState, IsTheState) {
  using Kind = CliffordGate::Kind;
  constexpr std::array kKinds{Kind::kH, Kind::kS,  Kind::kInverseS, Kind::kX,
                              Kind::kZ, Kind::kCx, Kind::kCz,       Kind::kSwap};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const std::uint32_t wires = 1 + static_cast<std::uint32_t>(seed % 6);
    std::vector<CliffordGate> gates;
    AffineState state(wires);
    for (std::uint64_t i = 0; i < seed % 90; ++i) {
      const Qubit a = random.below(wires), b = wires == 1 ? a : (a + 1 + random.below(wires - 1)) % wires;
      gates.push_back({kKinds[random.below(wires == 1 ? 5 : 8)], {a, b}});
      state.apply(gates.back());
    }
    const bool is_zero = state.phase_of_zero().has_value();
    // What undoes it leads back.
    for (auto gate = gates.rbegin(); gate != gates.rend(); ++gate) state.apply_inverse(*gate);
    ASSERT_EQ(state.phase_of_zero(), 0u) << seed;
    EXPECT_TRUE(is_zero || !gates.empty());
  }
  // (S H)^3 is an eighth of a turn.
  AffineState state(1);
  for (int i = 0; i < 3; ++i) {
    state.apply({Kind::kH, {0, 0}});
    state.apply({Kind::kS, {0, 0}});
  }
  EXPECT_EQ(state.phase_of_zero(), 1u);
}

}  // namespace
}  // namespace qsim
