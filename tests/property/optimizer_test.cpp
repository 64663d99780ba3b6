// The optimizer's passes over circuits that are full of what they look for: same state, never more operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <tuple>

#include "circuit/gate_table.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/busy_circuit.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using test::busy_circuit;
using test::controlled;
using test::expect_same;
using test::phased_swap;

bool has_few_kinds(std::uint64_t seed) { return seed % 2 == 1 && seed / 2 % 2 == 1; }

Circuit random_circuit_of(std::uint64_t seed) {
  test::RandomCircuitOptions options;
  options.qubits = 2 + static_cast<unsigned>(seed % 4);
  options.operations = 20 + static_cast<unsigned>(seed % 3) * 20;
  options.seed = seed;
  options.max_controls = static_cast<unsigned>(seed % 3);
  if (has_few_kinds(seed)) options.kinds = 2 + static_cast<unsigned>(seed / 4 % 5);
  return test::random_circuit(options);
}

TEST(Optimizer, EachPassKeepsTheStateAndNeverCostsMore) {
  const auto [first, count] = test::Campaign(4000);
  for (const Pass& pass : optimizer_passes()) {
    SCOPED_TRACE(std::string(pass.name));
    int changed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      const Circuit circuit = seed % 2 == 0 ? busy_circuit(seed) : random_circuit_of(seed);
      const std::vector<Rewritten> found = pass.run(circuit, false);
      if (found.empty()) continue;
      ++changed;
      for (const Rewritten& rewritten : found) expect_same(circuit, rewritten, seed);
      // Where its gates are most of the circuit a pass may misjudge phases beside them, and two leave what is beside
      // gates to the pipeline, which weighs each result.
      const bool leaves = pass.name == "join_controlled" || pass.name == "absorb_flips";
      if (!pass.weighs_itself && !has_few_kinds(seed) && !leaves) {
        for (const Rewritten& rewritten : found) {
          EXPECT_LE(circuit_cost(rewritten.circuit), circuit_cost(circuit) + 1e-9) << "seed " << seed;
        }
      }
      if (HasFailure()) return;
    }
    // Two of them need the same controls twice, or one of two gates beside another.
    // Half turns under controls, gates beside CX gates that undo each other, turns of both qubits behind an RXX: their
    // own tests have them.
    if (pass.name == "recognise_flips" || pass.name == "recognise_controlled" || pass.name == "split_pairs") continue;
    if (pass.name == "join_controlled" || pass.name == "absorb_flips") continue;
    const bool rare = pass.name == "merge_controlled" || pass.name == "recognise_exchanges";
    EXPECT_GT(changed, rare ? 50 : pass.name == "name_turns" ? 200 : 300) << pass.name;
  }
}

// All passes, all but one, one alone.
TEST(Optimizer, AnySelectionOfPassesKeepsTheStateAndNeverCostsMore) {
  const auto passes = optimizer_passes();
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Circuit circuit = seed % 2 == 0 ? busy_circuit(seed) : random_circuit_of(seed);
    std::vector<std::string> disabled;
    for (std::size_t i = 0; i < passes.size(); ++i) {
      const bool chosen = seed / 3 % passes.size() == i;
      if (seed % 3 != 0 && chosen == (seed % 3 == 1)) disabled.emplace_back(passes[i].name);
    }
    Rewritten rewritten;
    if (!optimize(circuit, disabled, rewritten)) continue;
    expect_same(circuit, rewritten, seed);
    if (std::ranges::find(rewritten.recognised, "recognise_choices") == rewritten.recognised.end()) {
      EXPECT_LE(circuit_cost(rewritten.circuit), circuit_cost(circuit) + 1e-9) << "seed " << seed;
    }
    if (HasFailure()) return;
  }
}

TEST(Optimizer, ALadderOfCxBecomesOneRotationAboutItsParity) {
  Circuit circuit(4);
  for (Qubit q = 0; q < 3; ++q) circuit.cx(q, q + 1);
  const Qubit last = 3;
  const double angle = 0.7;
  circuit.add_gate(Gate::kRz, {}, std::span(&last, 1), std::span(&angle, 1));
  for (Qubit q = 3; q > 0; --q) circuit.cx(q - 1, q);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_rotations(circuit, rewritten));
  ASSERT_EQ(rewritten.circuit.operations().size(), 1U);
  const Operation& op = rewritten.circuit.operations()[0];
  EXPECT_EQ(op.kind, OpKind::kPauliRotation);
  EXPECT_EQ(rewritten.circuit.targets(op).size(), 4U);
  EXPECT_EQ(rewritten.removed.size(), 6U);
  expect_same(circuit, rewritten, 1);
}

TEST(Optimizer, ACxIsNotMovedPastWhatDoesNotCommute) {
  Circuit circuit(2);
  circuit.cx(0, 1);
  circuit.h(0);
  circuit.cx(0, 1);
  Rewritten rewritten;
  EXPECT_FALSE(recognise_rotations(circuit, rewritten));
  EXPECT_FALSE(cancel_inverses(circuit, rewritten));
}

// A compiler writes RY(a) as RZ(a + pi) between other gates, and its inverse with what is left of that.
TEST(Optimizer, GatesThatUndoEachOtherButForRoundingAreGone) {
  for (const auto& [angle, off, goes] : {std::tuple{2.08, 4.4e-16, true}, std::tuple{-0.3, -1.5e-15, true},
                                         std::tuple{2.08, 4e-15, false}, std::tuple{1e-16, 1e-14, false}}) {
    Circuit circuit(2);
    circuit.ry(angle, 0).cx(0, 1).cx(0, 1).ry(off - angle, 0);
    Rewritten rewritten;
    ASSERT_TRUE(cancel_inverses(circuit, rewritten));
    EXPECT_EQ(rewritten.circuit.operations().size(), goes ? 0U : 2U) << angle << " " << off;
    expect_same(circuit, rewritten, 1);
  }
}

// Layers of rotations with the CX of every pair between them, as transpilers write them: each gate as soon as it may
// be.
// Whatever stands on the target between a CX and its twin: rotations are moved past it, what has controls is none.
TEST(Optimizer, OnlyRotationsWithoutControlsStandBetweenTwins) {
  for (int number = 0; number < kGateCount; ++number) {
    const auto gate = static_cast<Gate>(number);
    const GateInfo& info = gate_info(gate);
    if (info.targets > 2) continue;
    std::vector<double> params;
    for (int p = 0; p < info.params; ++p) params.push_back(0.3 + 0.4 * p);
    for (const std::size_t controls : {0u, 1u, 2u}) {
      for (const bool behind : {false, true}) {
        Circuit circuit(5);
        circuit.cx(0, 1);
        const std::vector<Qubit> other{behind ? Qubit{0} : Qubit{2}, 3};
        std::vector<Qubit> targets{1, 4};
        targets.resize(static_cast<std::size_t>(info.targets));
        circuit.add_gate(gate, std::span(other).first(controls), targets, params);
        circuit.cx(0, 1);
        for (const Pass& pass : optimizer_passes()) {
          for (const Rewritten& rewritten : pass.run(circuit, false)) expect_same(circuit, rewritten, 5);
        }
        if (HasFailure()) FAIL() << info.name << " " << controls;
      }
    }
  }
}

TEST(Optimizer, FullEntanglementBetweenRotationsBecomesChains) {
  constexpr Qubit kQubits = 6;
  Circuit circuit(kQubits);
  for (int layer = 0; layer < 3; ++layer) {
    for (Qubit b = 0; b < kQubits; ++b) {
      const double angle = 0.3 + 0.1 * b + layer;
      circuit.add_gate(Gate::kRy, {}, std::span(&b, 1), std::span(&angle, 1));
      for (Qubit a = 0; layer < 2 && a < b; ++a) circuit.cx(a, b);
    }
  }
  Rewritten rewritten;
  ASSERT_TRUE(shorten_cx_networks(circuit, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 3 * kQubits + 2 * (kQubits - 1));
  EXPECT_EQ(rewritten.removed.size(), 2 * (15 - (kQubits - 1)));
  expect_same(circuit, rewritten, 2);
}

// The same, where one gate between the CX of one pair keeps them apart.
TEST(Optimizer, CxNetworksEndWhereAnotherGateStands) {
  Circuit circuit(3);
  circuit.cx(0, 1);
  circuit.h(1);
  circuit.cx(0, 1);
  circuit.cx(1, 2);
  Rewritten rewritten;
  EXPECT_FALSE(shorten_cx_networks(circuit, rewritten));
}

TEST(Optimizer, BarriersStandInNothingsWay) {
  Circuit circuit(3);
  const auto barrier = [&] { circuit.add_barrier(std::vector<Qubit>{0, 1, 2}); };
  circuit.cx(0, 1);
  barrier();
  circuit.cx(1, 0);
  barrier();
  circuit.cx(0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(shorten_cx_networks(circuit, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 0U);
  Circuit twice(3);
  twice.h(0);
  twice.add_barrier(std::vector<Qubit>{0, 1, 2});
  twice.h(0);
  Rewritten cancelled, merged;
  ASSERT_TRUE(cancel_inverses(twice, cancelled));
  EXPECT_EQ(cancelled.circuit.operations().size(), 0U);
  ASSERT_TRUE(merge_runs(twice, merged));
  EXPECT_LE(merged.circuit.operations().size(), 1U);
}

// Whatever a pass does, it does the same with barriers among the operations and measurements after them, and drops
// both.
TEST(Optimizer, BarriersAndTerminalMeasurementsChangeNoPass) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Circuit plain = busy_circuit(seed);
    Circuit barred(plain.qubits(), plain.qubits());
    std::vector<Qubit> all(plain.qubits());
    std::iota(all.begin(), all.end(), Qubit{0});
    for (const Operation& op : plain.operations()) {
      barred.append(plain, op);
      barred.add_barrier(all);
    }
    for (const Qubit qubit : all) barred.add_measure(qubit, qubit);
    for (const Pass& pass : optimizer_passes()) {
      const std::vector<Rewritten> wanted = pass.run(plain, false), found = pass.run(barred, false);
      ASSERT_EQ(found.size(), wanted.size()) << pass.name << " seed " << seed;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_EQ(found[k].circuit.operations().size(), wanted[k].circuit.operations().size())
            << pass.name << " seed " << seed;
        EXPECT_EQ(found[k].removed.size(), wanted[k].removed.size()) << pass.name << " seed " << seed;
        for (std::size_t i = 0; i < wanted[k].place.size(); ++i) {
          EXPECT_EQ(found[k].place[2 * i], wanted[k].place[i]) << pass.name << " seed " << seed;
          EXPECT_EQ(found[k].place[2 * i + 1], kNoPlace) << pass.name << " seed " << seed;
        }
      }
    }
  }
}

// A CX looks for its twin among the 48 latest operations on its target, and past as many on its control.
TEST(Optimizer, ACxFindsItsTwinPastAtMost47Operations) {
  for (const Qubit on : {Qubit{0}, Qubit{1}}) {
    for (const int between : {1, 46, 47, 48, 60}) {
      Circuit circuit(3);
      const auto rotate = [&](Qubit qubit) {
        circuit.add_gate(Gate::kRz, {}, std::span(&qubit, 1), std::vector<double>{0.3});
      };
      circuit.cx(0, 1);
      if (on == 0) rotate(1);
      for (int i = 0; i < between; ++i) rotate(on);
      circuit.cx(0, 1);
      Rewritten rewritten;
      EXPECT_EQ(recognise_rotations(circuit, rewritten), between < 48) << on << ' ' << between;
    }
  }
}

TEST(Optimizer, ThreeCxRenameTheQubitsOfWhatFollows) {
  Circuit circuit(3);
  circuit.h(2);
  circuit.cx(0, 1);
  circuit.cx(1, 0);
  circuit.cx(0, 1);
  circuit.cx(2, 1);
  circuit.h(0);
  Rewritten rewritten;
  ASSERT_TRUE(shorten_cx_networks(circuit, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 3U);
  expect_same(circuit, rewritten, 3);
}

std::vector<Gate> gates_of(const Circuit& circuit) {
  std::vector<Gate> gates;
  for (const Operation& op : circuit.operations()) gates.push_back(op.gate);
  return gates;
}

TEST(Optimizer, SwapsOnlyRenameWhatFollows) {
  Circuit circuit(3);
  circuit.swap(0, 2);
  circuit.x(0);
  circuit.swap(0, 1);
  circuit.cx(0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(relabel_swaps(circuit, rewritten));
  ASSERT_EQ(gates_of(rewritten.circuit), (std::vector<Gate>{Gate::kX, Gate::kX}));
  EXPECT_EQ(rewritten.circuit.targets(rewritten.circuit.operations()[0])[0], 2U);
  EXPECT_EQ(rewritten.wire_of, (std::vector<Qubit>{1, 2, 0}));
  EXPECT_EQ(rewritten.removed.size(), 2U);
  expect_same(circuit, rewritten, 3);
}

TEST(Optimizer, ASwapGivenAsAMatrixLeavesNothing) {
  Circuit circuit(2);
  circuit.add_unitary(phased_swap(0), {}, std::vector<Qubit>{0, 1});
  Rewritten rewritten;
  ASSERT_TRUE(relabel_swaps(circuit, rewritten));
  EXPECT_TRUE(rewritten.circuit.operations().empty());
  expect_same(circuit, rewritten, 1);
}

TEST(Optimizer, APhasedSwapLeavesItsPhases) {
  Circuit circuit(2);
  circuit.add_unitary(phased_swap(0.5), {}, std::vector<Qubit>{0, 1});
  Rewritten rewritten;
  ASSERT_TRUE(relabel_swaps(circuit, rewritten));
  ASSERT_EQ(rewritten.circuit.operations().size(), 1U);
  EXPECT_EQ(rewritten.place, std::vector<std::uint32_t>{0});
  expect_same(circuit, rewritten, 4);
}

// What a matrix has beside a SWAP is far above rounding at 1e-9; modulus 1 within 1e-13 does not show it.
TEST(Optimizer, AMatrixThatIsNearlyASwapIsNotOne) {
  for (const double angle : {1e-9, 3e-8, 1e-3}) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        if (i == j) continue;
        Matrix matrix(16);
        const Matrix swap = phased_swap(0.5);
        for (std::size_t row = 0; row < 4; ++row) {
          for (std::size_t k = 0; k < 4; ++k) {
            double turn = row == k ? 1 : 0;
            if (row == k && (row == i || row == j)) turn = std::cos(angle);
            if (row == i && k == j) turn = -std::sin(angle);
            if (row == j && k == i) turn = std::sin(angle);
            for (std::size_t column = 0; column < 4; ++column) matrix[4 * row + column] += turn * swap[4 * k + column];
          }
        }
        Circuit circuit(2);
        circuit.add_unitary(matrix, {}, std::vector<Qubit>{0, 1});
        Rewritten rewritten;
        EXPECT_FALSE(relabel_swaps(circuit, rewritten)) << i << ' ' << j << ' ' << angle;
      }
    }
  }
}

TEST(Optimizer, AControlledXGivenAsAMatrixBecomesACx) {
  Circuit circuit(3);
  circuit.add_unitary(controlled({0, 1, 1, 0}, 1), {}, std::vector<Qubit>{0, 2});
  Rewritten rewritten;
  ASSERT_TRUE(extract_controls(circuit, rewritten));
  const Operation& op = rewritten.circuit.operations()[0];
  EXPECT_EQ(op.kind, OpKind::kGate);
  EXPECT_EQ(op.gate, Gate::kX);
  EXPECT_EQ(rewritten.circuit.controls(op)[0], 2U);
  EXPECT_EQ(rewritten.circuit.targets(op)[0], 0U);
}

TEST(Optimizer, AControlledPhaseGivenAsAMatrixBecomesOne) {
  Circuit circuit(3);
  circuit.add_unitary(controlled({1, 0, 0, std::polar(1.0, 0.3)}, 1), {}, std::vector<Qubit>{0, 2});
  Rewritten rewritten;
  ASSERT_TRUE(extract_controls(circuit, rewritten));
  const Operation& op = rewritten.circuit.operations()[0];
  ASSERT_EQ(op.kind, OpKind::kGate);
  EXPECT_EQ(op.gate, Gate::kPhase);
  EXPECT_NEAR(rewritten.circuit.params(op)[0], 0.3, 1e-15);
  expect_same(circuit, rewritten, 9);
}

// A plan holds matrices on 6 qubits; controls make room for more.
// What is left of a matrix once its controls are out keeps every entry.
TEST(Optimizer, AControlledMatrixKeepsEveryEntry) {
  const Complex a = std::polar(1.0, 0.3), b = std::polar(1.0, 0.7);
  for (const std::vector<Complex>& block : {std::vector<Complex>{a, 0, 0, b},
                                            {a, 0, 0, 1},
                                            {1, 0, 0, b},
                                            {a, 0, 0, a},
                                            {-1, 0, 0, 1},
                                            {0, a, b, 0},
                                            {0, 1, b, 0},
                                            {0, a, 1, 0},
                                            {0, 1, 1, 0},
                                            {0.6, -0.8, 0.8, 0.6}}) {
    for (const bool high : {false, true}) {  // the control's place in the matrix
      std::vector<Complex> matrix(16);
      for (std::size_t k = 0; k < 4; ++k) matrix[5 * k] = 1;
      for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t c = 0; c < 2; ++c) {
          matrix[(high ? 2 + r : 2 * r + 1) * 4 + (high ? 2 + c : 2 * c + 1)] = block[2 * r + c];
        }
      }
      Circuit circuit(3);
      circuit.add_unitary(matrix, {}, std::vector<Qubit>{2, 0});
      for (const Pass& pass : optimizer_passes()) {
        for (const Rewritten& rewritten : pass.run(circuit, false)) expect_same(circuit, rewritten, 3);
      }
      Rewritten rewritten;
      if (optimize(circuit, {}, rewritten)) expect_same(circuit, rewritten, 3);
    }
  }
}

TEST(Optimizer, AControlledMatrixOnSevenQubitsIsOneOnSix) {
  const Matrix inner = test::random_unitary(6, 1);
  Matrix matrix(std::size_t{1} << 14);
  for (std::size_t row = 0; row < 128; ++row) {
    for (std::size_t column = 0; column < 128; ++column) {
      const bool inside = row >= 64 && column >= 64;
      matrix[128 * row + column] = inside ? inner[64 * (row - 64) + column - 64] : Complex(row == column ? 1 : 0);
    }
  }
  Circuit circuit(7);
  circuit.add_unitary(matrix, {}, std::vector<Qubit>{0, 1, 2, 3, 4, 5, 6});
  Rewritten rewritten;
  ASSERT_TRUE(extract_controls(circuit, rewritten));
  EXPECT_EQ(rewritten.circuit.operations()[0].targets, 6U);
  EXPECT_EQ(rewritten.circuit.controls(rewritten.circuit.operations()[0])[0], 6U);
  expect_same(circuit, rewritten, 8);
}

TEST(Optimizer, ControlsAreExtractedFromMatricesOnUpToEightQubits) {
  for (const unsigned qubits : {8u, 9u}) {
    const std::size_t order = std::size_t{1} << qubits, inside = order - 64;
    const Matrix inner = test::random_unitary(6, 1);
    Matrix matrix(order * order);
    for (std::size_t i = 0; i < order; ++i) matrix[i * order + i] = 1;
    for (std::size_t row = 0; row < 64; ++row)
      std::copy_n(inner.begin() + static_cast<std::ptrdiff_t>(64 * row), 64,
                  matrix.begin() + static_cast<std::ptrdiff_t>((inside + row) * order + inside));
    std::vector<Qubit> all(qubits);
    std::iota(all.begin(), all.end(), Qubit{0});
    Circuit circuit(qubits);
    circuit.add_unitary(matrix, {}, all, false);
    Rewritten rewritten;
    ASSERT_EQ(extract_controls(circuit, rewritten), qubits == 8) << qubits;
    if (qubits == 8) {
      EXPECT_EQ(rewritten.circuit.operations()[0].targets, 6U);
    }
  }
}

TEST(Optimizer, ARunIsOneMatrixThatAllItsGatesCountOn) {
  Circuit circuit(2);
  for (const Gate gate : {Gate::kH, Gate::kT, Gate::kH}) circuit.add_gate(gate, {}, std::vector<Qubit>{0});
  circuit.cx(0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(merge_runs(circuit, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 2U);
  EXPECT_EQ(rewritten.place, (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

TEST(Optimizer, PhasesStayApartFromARunWhereADiagonalTakesThem) {
  Circuit circuit(2);
  circuit.cp(0.3, 0, 1);
  for (const Gate gate : {Gate::kT, Gate::kS, Gate::kH, Gate::kRy, Gate::kT}) {
    const std::vector<double> angles(gate == Gate::kRy ? 1 : 0, 0.4);
    circuit.add_gate(gate, {}, std::vector<Qubit>{0}, angles);
  }
  circuit.cp(0.4, 0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(merge_runs(circuit, rewritten));
  EXPECT_EQ(rewritten.place, (std::vector<std::uint32_t>{0, 1, 1, 2, 2, 3, 4}));
  expect_same(circuit, rewritten, 5);
}

TEST(Optimizer, EqualDiagonalsAddUpThroughDiagonalsAndControlsOnly) {
  Circuit circuit(3);
  circuit.cp(0.3, 0, 1);
  circuit.cp(0.2, 1, 2);
  circuit.cx(0, 2);
  circuit.cp(0.4, 1, 0);
  circuit.cp(0.2, 1, 2);  // the cx stands between
  circuit.h(0);
  circuit.cp(0.4, 1, 0);  // and the h here
  Rewritten rewritten;
  ASSERT_TRUE(merge_diagonals(circuit, rewritten));
  EXPECT_EQ(rewritten.place, (std::vector<std::uint32_t>{0, 1, 2, 0, 3, 4, 5}));
  EXPECT_NEAR(rewritten.circuit.params(rewritten.circuit.operations()[0])[0], 0.7, 1e-15);
  expect_same(circuit, rewritten, 6);
}

TEST(Optimizer, AGeneralGateBetweenDiagonalsBecomesAPhasedRotation) {
  Circuit circuit(2);
  circuit.cp(0.3, 0, 1);
  circuit.add_gate(Gate::kU, {}, std::vector<Qubit>{0}, std::vector<double>{0.3, 0.4, 0.5});
  circuit.cp(0.4, 0, 1);
  Rewritten rewritten;
  ASSERT_TRUE(split_turns(circuit, rewritten));
  EXPECT_LT(circuit_cost(rewritten.circuit), circuit_cost(circuit));
  expect_same(circuit, rewritten, 7);
  Circuit alone(1);
  alone.add_gate(Gate::kU, {}, std::vector<Qubit>{0}, std::vector<double>{0.3, 0.4, 0.5});
  EXPECT_FALSE(split_turns(alone, rewritten));
}

TEST(Optimizer, DisabledPassesDoNotRun) {
  Circuit circuit(1);
  circuit.h(0);
  circuit.h(0);
  Rewritten rewritten;
  EXPECT_TRUE(optimize(circuit, {}, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 0U);
  EXPECT_FALSE(optimize(circuit, {"cancel_inverses", "merge_runs"}, rewritten));
}

}  // namespace
}  // namespace qsim
