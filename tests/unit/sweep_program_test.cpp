// The operations of sweeps from timelines that are put together by hand: what is written, and what may wait.
#include "plan/sweep/sweep_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/timeline/timeline.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

constexpr std::uint32_t kWires = 6;

Timeline empty_timeline() {
  Timeline timeline;
  timeline.wires = kWires;
  timeline.line.resize(kWires);
  return timeline;
}

void add_turn(Timeline& timeline, Bit wire, const std::vector<Complex>& matrix) {
  Turn turn;
  turn.targets[0] = wire;
  turn.position[0] = static_cast<std::uint32_t>(timeline.line[wire].size());
  turn.matrix_begin = timeline.matrices.size();
  turn.gates = 1;
  timeline.matrices.insert(timeline.matrices.end(), matrix.begin(), matrix.end());
  timeline.line[wire].push_back(static_cast<std::uint32_t>(timeline.turns.size()));
  timeline.turns.push_back(turn);
}

/// In the gaps where its wires stand now.
void add_diagonal(Timeline& timeline, Index mask, Index value, Index parity, double angle) {
  Diagonal diagonal{mask, value, parity, angle, timeline.gaps.size(), 1};
  for_each_bit(diagonal.wires(),
               [&](unsigned wire) { timeline.gaps.push_back(static_cast<std::uint32_t>(timeline.line[wire].size())); });
  timeline.diagonals.push_back(diagonal);
}

/// What the operations of all of `sweeps` do to a state.
dense::State effect(const Lowered& lowered, const std::vector<std::vector<std::uint32_t>>& sweeps,
                    const dense::State& start) {
  Sweep sweep;
  for (Bit bit = 0; bit < kWires; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  const Layout wires = Layout::identity(static_cast<int>(kWires));
  for (const auto& ops : sweeps) {
    for (const std::uint32_t op : ops) append_to_sweep(sweep, lowered, lowered.ops[op], wires);
  }
  return test::reference_sweep(sweep, {}, kWires, start);
}

// A turn without an effect of its own lets a diagonal before it wait, but takes its wire past it: in a later sweep
// the diagonal would never be in place.
TEST(SweepProgram, ADiagonalThatAnEmptyTurnHasPassedIsNotLeftForLater) {
  Timeline timeline = empty_timeline();
  add_diagonal(timeline, 0b11, 0b11, 0, 0.7);
  add_turn(timeline, 0, {1, 0, 0, 1});
  add_turn(timeline, 2, {0, 1, 1, 0});
  timeline.index_gaps();
  Lowered out;
  out.qubits = kWires;
  const Machine machine = find_machine("cpu");
  SweepProgrammer programmer(timeline, 3, machine.cost_double, {}, out);
  const std::vector<std::uint32_t> begin(kWires, 0), middle{1, 0, 0, 0, 0, 0}, end{1, 0, 1, 0, 0, 0};
  std::vector<std::vector<std::uint32_t>> sweeps;
  sweeps.push_back(programmer.write(begin, middle, false));
  sweeps.push_back(programmer.write(middle, end, true));
  EXPECT_NE(programmer.diagonal_places()[0], SweepProgrammer::kNoOperation);
  const dense::State start = dense::random_state(kWires, 2);
  dense::State expected = start;
  for (Index i = 0; i < expected.size(); ++i) {
    expected[i] = start[i ^ 0b100] * ((i & 0b11) == 0b11 ? std::polar(1.0, 0.7) : Complex(1));
  }
  EXPECT_LE(dense::max_difference(effect(out, sweeps, start), expected), 1e-15);
}

// A diagonal that no step of the sweep needs waits for the sweep that does.
TEST(SweepProgram, ADiagonalInPlaceIsLeftForLater) {
  Timeline timeline = empty_timeline();
  add_diagonal(timeline, 0b11, 0b11, 0, 0.7);
  add_turn(timeline, 2, {0, 1, 1, 0});
  add_turn(timeline, 0, {0, 1, 1, 0});
  timeline.index_gaps();
  Lowered out;
  out.qubits = kWires;
  const Machine machine = find_machine("cpu");
  SweepProgrammer programmer(timeline, 3, machine.cost_double, {}, out);
  const std::vector<std::uint32_t> begin(kWires, 0), middle{0, 0, 1, 0, 0, 0}, end{1, 0, 1, 0, 0, 0};
  EXPECT_EQ(programmer.write(begin, middle, false).size(), 1u);
  EXPECT_EQ(programmer.diagonal_places()[0], SweepProgrammer::kNoOperation);
  EXPECT_EQ(programmer.write(middle, end, true).size(), 2u);
  EXPECT_EQ(programmer.diagonal_places()[0], 1u);
}

// Many conditions that bits are 0 stay controls; few become terms. With a parity beside them and without.
TEST(SweepProgram, DiagonalsWithConditionsOnZeroDoWhatTheySay) {
  for (const Index value : {Index{0}, Index{0b10}, Index{0b11000}, Index{0b11111}}) {
    for (const Index parity : {Index{0}, Index{1}, Index{0b100000}, Index{0b100001}}) {
      const Index mask = 0b11111 & ~parity;
      Timeline timeline = empty_timeline();
      add_diagonal(timeline, mask, value & mask, parity, 0.9);
      timeline.index_gaps();
      Lowered out;
      out.qubits = kWires;
      const Machine machine = find_machine("cpu");
      SweepProgrammer programmer(timeline, 3, machine.cost_double, {}, out);
      const std::vector<std::uint32_t> place(kWires, 0);
      const auto ops = programmer.write(place, place, true);
      const dense::State start = dense::random_state(kWires, 3);
      dense::State expected = start;
      for (Index i = 0; i < expected.size(); ++i) {
        const bool on = (i & mask) == (value & mask) && (parity == 0 || odd_parity(i & parity));
        if (on) expected[i] *= std::polar(1.0, 0.9);
      }
      EXPECT_LE(dense::max_difference(effect(out, {ops}, start), expected), 1e-15) << value << " " << parity;
    }
  }
}

// Turns that come out diagonal leave the phase of their 0 to the whole state, each of them its own.
TEST(SweepProgram, DiagonalTurnsKeepTheirGlobalPhases) {
  const Complex a = std::polar(1.0, 0.3), b = std::polar(1.0, 1.9), c = std::polar(1.0, -2.5);
  Timeline timeline = empty_timeline();
  add_turn(timeline, 0, {a, 0, 0, b});
  add_turn(timeline, 1, {b, 0, 0, b});
  add_turn(timeline, 3, {c, 0, 0, a});
  timeline.global_phase = 0.4;
  timeline.index_gaps();
  Lowered out;
  out.qubits = kWires;
  const Machine machine = find_machine("cpu");
  SweepProgrammer programmer(timeline, 3, machine.cost_double, {}, out);
  const std::vector<std::uint32_t> begin(kWires, 0), end{1, 1, 0, 1, 0, 0};
  const auto ops = programmer.write(begin, end, true);
  const dense::State start = dense::random_state(kWires, 5);
  dense::State expected = start;
  for (Index i = 0; i < expected.size(); ++i) {
    expected[i] *= std::polar(1.0, 0.4) * (test_bit(i, 0) ? b : a) * b * (test_bit(i, 3) ? a : c);
  }
  EXPECT_LE(dense::max_difference(effect(out, {ops}, start), expected), 1e-15);
}

}  // namespace
}  // namespace qsim
