// The known start: what is taken into it, what then need not be run, and that both together are the circuit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/bits.h"
#include "plan/lower/known.h"
#include "plan/lower/lower.h"
#include "qsim/circuit.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/pair_circuits.h"
#include "support/plan_interpreter.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

// The start, over wires.
dense::State state_of(const KnownStart& start, std::uint32_t wires, const std::vector<Qubit>& global) {
  dense::State state(std::size_t{1} << wires);
  for (Index i = 0; i < state.size(); ++i) {
    Index value = 0, local = bit_mask(wires) - 1;
    for (std::size_t j = 0; j < global.size(); ++j) {
      value |= (i >> global[j] & 1) << j;
      local &= ~bit_mask(global[j]);
    }
    state[i] = start.global_start[value];
    for_each_bit(local, [&](Qubit wire) { state[i] *= start.factor[wire][i >> wire & 1]; });
  }
  return state;
}

// Takes what can be taken; `off`, if given, is how far that and what is left are from the circuit.
Lowered absorbed(const Circuit& circuit, const std::vector<Qubit>& global = {}, double* off = nullptr) {
  Lowered lowered = lower(circuit);
  const KnownStart start = absorb_known_start(lowered, global);
  std::uint64_t gates = lowered.removed.size();
  for (const LoweredOp& op : lowered.ops) gates += op.gates;
  EXPECT_EQ(gates, lowered.gates);
  const auto state = test::interpret_ops(lowered, lowered.ops, state_of(start, lowered.qubits, global));
  const double difference = dense::max_difference(state, dense::run(circuit));
  EXPECT_LE(difference, 1e-13);
  if (off != nullptr) *off = difference;
  return lowered;
}

TEST(KnownStart, TheQftOfZeroIsOnlyAFirstWrite) {
  Circuit circuit(5);
  for (Qubit q = 5; q-- > 0;) {
    circuit.h(q);
    for (Qubit p = 0; p < q; ++p) circuit.cp(kPi / static_cast<double>(1u << (q - p)), p, q);
  }
  Lowered lowered = lower(circuit);
  const KnownStart start = absorb_known_start(lowered, {});
  EXPECT_TRUE(lowered.ops.empty());
  EXPECT_EQ(lowered.removed.size(), circuit.operations().size());
  for (Qubit q = 0; q < 5; ++q) EXPECT_NEAR(start.factor[q][1].real(), std::sqrt(0.5), 1e-15);
}

// First writes of real product states take less time; e^{i pi} in doubles has an imaginary part.
TEST(KnownStart, HalfAndQuarterTurnsAreExact) {
  Circuit circuit(3);
  circuit.ry(0.3, 0).z(0).ry(0.4, 1).p(-kPi, 1).p(kPi, 1).h(2).s(2);
  Lowered lowered = lower(circuit);
  const KnownStart start = absorb_known_start(lowered, {});
  ASSERT_TRUE(lowered.ops.empty());
  EXPECT_EQ(start.factor[0][1], Complex(-std::sin(0.15)));
  EXPECT_EQ(start.factor[1][1].imag(), 0);
  EXPECT_GT(start.factor[1][1].real(), 0);
  EXPECT_EQ(start.factor[2][1].real(), 0);
  EXPECT_GT(start.factor[2][1].imag(), 0.7);
}

TEST(KnownStart, GatesAmongGlobalWiresBecomeTheStartOfTheRanks) {
  Circuit circuit(4);
  circuit.h(2);
  circuit.cx(2, 3);
  circuit.cx(3, 0);
  Lowered lowered = lower(circuit);
  const std::vector<Qubit> global{2, 3};
  const KnownStart start = absorb_known_start(lowered, global);
  ASSERT_EQ(lowered.ops.size(), 1u);  // the last cx reaches a local wire
  EXPECT_NEAR(start.global_start[0].real(), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(start.global_start[3].real(), std::sqrt(0.5), 1e-15);
  EXPECT_EQ(start.global_start[1], Complex(0));
  EXPECT_EQ(start.zero_wires, Index{0b0011});
}

// What Qiskit makes of a gate that keeps the number of ones: three CX gates and turns by no special angle.
void keep_excitations(Circuit& circuit, double angle, Qubit a, Qubit b) {
  circuit.s(a).sdg(b).h(b).cx(b, a).ry(angle / 2, b).ry(angle / 2, a).cx(b, a).h(b).s(b).sdg(a);
}

TEST(KnownPairs, AreDroppedWhereTheyAreAProductAgain) {
  for (const std::vector<Qubit>& global : std::vector<std::vector<Qubit>>{{}, {3}, {4, 1}, {0, 2, 3}}) {
    Circuit circuit(5);
    for (Qubit a = 0; a < 5; ++a) {
      for (Qubit b = a + 1; b < 5; ++b) keep_excitations(circuit, 0.3 + a + 0.17 * b, a, b);
    }
    EXPECT_TRUE(absorbed(circuit, global).ops.empty());
    circuit.x(1);
    keep_excitations(circuit, 0.7, 1, 3);  // of |01>, which it entangles
    const bool both_global = std::ranges::count(global, 1u) + std::ranges::count(global, 3u) == 2;
    EXPECT_EQ(absorbed(circuit, global).ops.empty(), both_global);
    keep_excitations(circuit, -0.7, 1, 3);
    EXPECT_TRUE(absorbed(circuit, global).ops.empty());
  }
}

// What acts on other global wires meanwhile is taken into the start, of the pair too; what acts on one that has gone is
// none of the pair's, nor what acts on it and one of the pair.
TEST(KnownPairs, MayHoldTheGlobalWires) {
  const std::vector<Qubit> global{2, 3, 4};
  const auto begun = [] {
    Circuit circuit(6);
    for (Qubit q = 0; q < 6; ++q) circuit.ry(0.4 + 0.2 * q, q);
    return circuit;
  };
  Circuit beside = begun();
  beside.cx(0, 2).ry(0.3, 3).cx(3, 4).cz(2, 3).p(0.4, 4).cz(2, 3).cx(0, 2);
  EXPECT_TRUE(absorbed(beside, global).ops.empty());
  Circuit gone = begun();
  gone.cx(1, 4).cx(5, 1).cx(0, 2).cx(0, 2);
  EXPECT_EQ(absorbed(gone, global).ops.size(), 2u);
  Circuit met = begun();
  met.cx(1, 4).cx(5, 1).cx(0, 2).cx(4, 3).cx(0, 2);
  EXPECT_EQ(absorbed(met, global).ops.size(), 5u);
  Circuit after = begun();  // of wires that have come back
  after.cx(0, 2).cx(0, 2).cx(2, 3).cx(1, 3).cx(1, 3).h(3);
  EXPECT_TRUE(absorbed(after, global).ops.empty());
}

TEST(KnownPairs, StayWhereAThirdWireHasSeenThem) {
  for (const Qubit global : {2u, 4u}) {  // a wire of another rank, or of none
    Circuit circuit(5);
    for (Qubit q = 0; q < 5; ++q) circuit.ry(0.4 + 0.2 * q, q);
    circuit.cx(0, 1).cx(1, 2).cx(1, 2).cx(0, 1);
    EXPECT_EQ(absorbed(circuit, {global}).ops.size(), 4u);
    Circuit behind(5);
    for (Qubit q = 0; q < 5; ++q) behind.ry(0.4 + 0.2 * q, q);
    behind.cx(0, 1).cx(0, 1).cx(1, 2).cx(0, 1).cx(0, 1);
    EXPECT_EQ(absorbed(behind, {global}).ops.size(), 3u);
  }
}

TEST(KnownPairs, TakeTheirPartOfAnOperationOfSeveral) {
  Circuit circuit(6);
  for (Qubit q = 0; q < 6; ++q) circuit.ry(0.4 + 0.2 * q, q);
  circuit.rzz(0.3, 0, 1).rzz(0.4, 2, 3).rzz(0.5, 4, 5).rzz(-0.3, 0, 1).h(2).h(2).rzz(-0.5, 4, 5);
  Lowered lowered = lower(circuit);
  // One operation of the three phases in a row, as where diagonal gates are merged.
  std::vector<LoweredOp*> phases;
  for (LoweredOp& op : lowered.ops) {
    if (op.form == Form::kPhases && op.support != 0) phases.push_back(&op);
  }
  ASSERT_EQ(phases.size(), 5u);
  const std::size_t before = lowered.ops.size();
  LoweredOp& first = *phases[0];
  const auto begin = static_cast<std::uint32_t>(lowered.phases.size());
  for (std::size_t i = 0; i < 3; ++i) {
    for (const PhaseTerm& term :
         std::vector<PhaseTerm>(lowered.terms(*phases[i]).begin(), lowered.terms(*phases[i]).end()))
      lowered.phases.push_back(term);
  }
  first.data_begin = begin;
  first.data_count = static_cast<std::uint32_t>(lowered.phases.size()) - begin;
  set_basis_masks(first, {}, lowered.terms(first));
  const auto merged = [&](const LoweredOp& op) { return &op == phases[1] || &op == phases[2]; };
  std::vector<LoweredOp> ops;
  for (const LoweredOp& op : lowered.ops) {
    if (!merged(op)) ops.push_back(op);
  }
  lowered.ops = ops;
  ASSERT_EQ(lowered.ops.size(), before - 2);
  const KnownStart start = absorb_known_start(lowered, {});
  ASSERT_FALSE(lowered.ops.empty());
  EXPECT_EQ(lowered.ops[0].support, Index{0b1100});
  for (const LoweredOp& op : lowered.ops) EXPECT_EQ(op.support & ~Index{0b1100}, 0u);
  const auto state = test::interpret_ops(lowered, lowered.ops, state_of(start, 6, {}));
  EXPECT_LE(dense::max_difference(state, dense::run(circuit)), 1e-14);
}

// A phase of one wire under a control of the other, and what makes it a turn of the first alone.
TEST(KnownPairs, KnowWhereAControlIsMet) {
  for (const Index met : {Index{0b00}, Index{0b01}}) {
    Circuit circuit(2);
    circuit.ry(0.4, 0).ry(1.1, 1).p(0.7, 1).cp(met == 0 ? 0.7 : -0.7, 0, 1);
    Lowered lowered = lower(circuit);
    ASSERT_EQ(lowered.ops.size(), 4u);
    LoweredOp& phase = lowered.ops[2];
    phase.control_mask = 0b01;
    phase.control_value = met;
    phase.support = 0b11;
    const KnownStart start = absorb_known_start(lowered, {});
    EXPECT_TRUE(lowered.ops.empty());
    EXPECT_NEAR(std::abs(start.factor[1][1]), std::sin(0.55), 1e-15);
    EXPECT_NEAR(std::arg(start.factor[1][1] / start.factor[1][0]), met == 0 ? 0.7 : 0, 1e-15);
  }
}

// What is open may be put in anew, and acts on whatever the pair holds.
TEST(KnownPairs, EndAtOpenAngles) {
  Circuit circuit(2);
  circuit.ry(0.4, 0).ry(1.1, 1).cx(0, 1).cp(0.7, 0, 1).cx(0, 1);
  Lowered lowered = lower(circuit);
  ASSERT_EQ(lowered.ops.size(), 5u);
  lowered.phases[lowered.ops[3].data_begin].open = 1;
  absorb_known_start(lowered, {});
  EXPECT_EQ(lowered.ops.size(), 3u);
}

// Where a pair is entangled by little more than rounding, it stays; by less, nothing is seen of it.
TEST(KnownPairs, AreDroppedWithinRoundingAlone) {
  for (const double angle : {1e-17, 1e-16, 5e-16, 1e-15, 3e-15, 1e-14, 3e-14, 1e-13, 1e-12, 1e-9}) {
    for (const bool zeros : {false, true}) {
      Circuit circuit(3);
      circuit.ry(zeros ? 1e-9 : 0.9, 0).ry(zeros ? 2e-9 : 1.3, 2);
      circuit.cx(0, 2).ry(angle, 2).cx(0, 2);
      double off = 0;
      const Lowered lowered = absorbed(circuit, {}, &off);
      EXPECT_LE(off, 6e-15) << angle;
      const bool stays = !zeros && angle >= 3e-14, goes = angle <= 1e-15;
      EXPECT_TRUE(lowered.ops.empty() ? !stays : !goes) << angle;
    }
  }
}

void append(Circuit& circuit, const Circuit& other) {
  for (const Operation& op : other.operations()) circuit.append(other, op);
}

// Blocks and their inverses on pairs, one within the other, beside gates on any wires, of one rank and of four.
TEST(KnownPairs, AreTheCircuitWhateverElseActs) {
  std::size_t dropped = 0, kept = 0;
  const test::Campaign campaign(300);
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    test::Random random(seed);
    constexpr Qubit kQubits = 6;
    Circuit circuit(kQubits);
    if (random.below(2) == 0) {
      for (Qubit q = 0; q < kQubits; ++q) test::any_gate(circuit, random, q);
    }
    for (int block = 0; block < 5; ++block) {
      const Qubit a = random.below(kQubits), b = (a + 1 + random.below(kQubits - 1)) % kQubits;
      Circuit some(kQubits);
      test::pairs_of_every_class(some, random, a, b);
      if (random.below(3) == 0) test::beside_special(some, random, a, b);
      append(circuit, some);
      if (random.below(4) == 0) circuit.cx(a, random.below(2) == 0 ? b : (a + 1) % kQubits);
      if (random.below(4) == 0) circuit.cp(random.within(-3, 3), b, (b + 1) % kQubits);
      if (random.below(2) == 0) test::any_gate(circuit, random, (a + 2) % kQubits);
      append(circuit, some.inverse());
    }
    const std::size_t before = lower(circuit).ops.size();
    const std::array<std::vector<Qubit>, 4> globals{{{}, {4}, {1, 4}, {5, 0, 2}}};
    const std::vector<Qubit>& global = globals[random.below(4)];
    const std::size_t left = absorbed(circuit, global).ops.size();
    (left < before / 2 ? dropped : kept) += 1;
  }
  EXPECT_GT(dropped, 0u);
  EXPECT_GT(kept, 0u);
}

}  // namespace
}  // namespace qsim
