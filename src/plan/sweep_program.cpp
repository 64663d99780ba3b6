// The order inside a sweep: groups of wires that fit the registers, layers of turns in a group, and before a layer one
// merged diagonal of everything that is due, with everything else that may run by then.
#include "plan/sweep_program.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "plan/basis_change.h"
#include "plan/set_search.h"

namespace qsim {
namespace {

constexpr std::uint64_t kGroupBudget = 600;  // moves of the game to find the register groups of a sweep

}  // namespace

SweepProgrammer::SweepProgrammer(const Timeline& timeline, std::uint32_t register_bits, Lowered& out)
    : timeline_(timeline), register_bits_(static_cast<int>(register_bits)), out_(out) {
  done_.assign(timeline.diagonals.size(), false);
  turn_place_.assign(timeline.turns.size(), kNoOperation);
  diagonal_place_.assign(timeline.diagonals.size(), kNoOperation);
  global_phase_ = timeline.global_phase;
}

std::vector<std::uint32_t> SweepProgrammer::write(const std::vector<std::uint32_t>& from,
                                                  const std::vector<std::uint32_t>& to, bool last) {
  written_.clear();
  position_ = from;
  const SetProblem problem(timeline_, from, to);
  Positions at{};
  for (const Index group : register_groups(problem)) run_group(problem, at, group);
  if (last) {
    bool due = false;
    emit_diagonals(available(due, 0));
    if (global_phase_ != 0) {
      LoweredOp op;
      op.form = Form::kPhases;
      op.data_begin = static_cast<std::uint32_t>(out_.phases.size());
      op.data_count = 1;
      out_.phases.push_back({0, false, global_phase_});
      append(op);
      global_phase_ = 0;
    }
  }
  return written_;
}

std::vector<Index> SweepProgrammer::register_groups(const SetProblem& problem) const {
  const Index turning = problem.turning();
  int size = register_bits_;
  for (std::uint32_t wire = 0; wire < timeline_.wires; ++wire) {
    for (std::uint32_t s = position_[wire]; s < position_[wire] + problem.length(static_cast<int>(wire)); ++s)
      size = std::max<int>(size, timeline_.turns[timeline_.line[wire][s]].target_count);
  }
  if (std::popcount(turning) <= size) return {turning};
  SetRules rules;
  rules.segments = {turning};
  rules.size = size;
  rules.low = 0;
  rules.budget = kGroupBudget;
  return find_sets(problem, rules).sets;
}

// `at` counts from the start of the sweep, position_ from the start of the timeline.
void SweepProgrammer::run_group(const SetProblem& problem, Positions& at, Index group) {
  for (;;) {
    const Index ready = problem.ready(at, group);
    if (ready == 0) return;
    bool due = false;
    const std::vector<std::uint32_t> diagonals = available(due, ready);
    if (due) emit_diagonals(diagonals);
    Index rest = ready;
    while (rest != 0) {
      const auto wire = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t id = timeline_.line[wire][position_[wire]];
      emit_turn(id);
      const Turn& turn = timeline_.turns[id];
      for (std::size_t j = 0; j < turn.target_count; ++j) {
        ++at[turn.targets[j]];
        ++position_[turn.targets[j]];
        rest &= ~bit_mask(turn.targets[j]);
      }
    }
  }
}

bool SweepProgrammer::in_place(const Diagonal& diagonal) const {
  std::uint64_t slot = diagonal.slots_begin;
  for (Index rest = diagonal.wires(); rest != 0; rest &= rest - 1)
    if (timeline_.slots[slot++] != position_[static_cast<std::size_t>(std::countr_zero(rest))]) return false;
  return true;
}

// Diagonals that may run now; `due` when one of them sits on a wire of `turning`.
std::vector<std::uint32_t> SweepProgrammer::available(bool& due, Index turning) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t wire = 0; wire < timeline_.wires; ++wire) {
    for (const std::uint32_t id : timeline_.diagonals_at(wire, position_[wire])) {
      const Diagonal& diagonal = timeline_.diagonals[id];
      const bool first = static_cast<std::uint32_t>(std::countr_zero(diagonal.wires())) == wire;
      if (!first || done_[id] || !in_place(diagonal)) continue;
      found.push_back(id);
      due = due || (diagonal.wires() & turning) != 0;
    }
  }
  return found;
}

// Terms have no conditions "bit is 0": those are differences of terms without.
void SweepProgrammer::add_terms(const Diagonal& diagonal, std::vector<PhaseTerm>& terms) const {
  if (diagonal.mask == 0) {
    terms.push_back({diagonal.parity, true, diagonal.angle});
    return;
  }
  const Index zeros = diagonal.mask & ~diagonal.value;
  for (Index subset = zeros;; subset = (subset - 1) & zeros) {
    const double angle = std::popcount(subset) % 2 == 0 ? diagonal.angle : -diagonal.angle;
    terms.push_back({diagonal.value | subset, false, angle});
    if (subset == 0) break;
  }
}

void SweepProgrammer::emit_diagonals(const std::vector<std::uint32_t>& list) {
  constexpr int kMaxExpanded = 4;  // conditions on 0 that are written out as terms
  if (list.empty()) return;
  std::vector<PhaseTerm> terms;
  std::uint32_t gates = 0;
  std::vector<std::uint32_t> merged;
  for (const std::uint32_t id : list) {
    const Diagonal& diagonal = timeline_.diagonals[id];
    done_[id] = true;
    const bool mixed = diagonal.parity != 0 && diagonal.mask != 0;
    if (!mixed && std::popcount(diagonal.mask & ~diagonal.value) <= kMaxExpanded) {
      add_terms(diagonal, terms);
      gates += diagonal.gates;
      merged.push_back(id);
      continue;
    }
    LoweredOp op;
    op.form = Form::kPhases;
    op.control_mask = diagonal.mask;
    op.control_value = diagonal.value;
    op.data_begin = static_cast<std::uint32_t>(out_.phases.size());
    op.data_count = 1;
    op.gates = diagonal.gates;
    out_.phases.push_back({diagonal.parity, diagonal.parity != 0, diagonal.angle});
    diagonal_place_[id] = static_cast<std::uint32_t>(out_.ops.size());
    append(op);
  }
  if (global_phase_ != 0 && !terms.empty()) {
    terms.push_back({0, false, global_phase_});
    global_phase_ = 0;
  }
  if (terms.empty()) return;
  const auto before = [](const PhaseTerm& a, const PhaseTerm& b) {
    return a.parity != b.parity ? a.parity < b.parity : a.mask < b.mask;
  };
  std::sort(terms.begin(), terms.end(), before);
  LoweredOp op;
  op.form = Form::kPhases;
  op.data_begin = static_cast<std::uint32_t>(out_.phases.size());
  op.gates = gates;
  for (const PhaseTerm& term : terms) {
    const bool same = out_.phases.size() > op.data_begin && out_.phases.back().mask == term.mask &&
                      out_.phases.back().parity == term.parity;
    if (same) {
      out_.phases.back().angle = wrap_angle(out_.phases.back().angle + term.angle);
    } else {
      out_.phases.push_back(term);
    }
  }
  op.data_count = static_cast<std::uint32_t>(out_.phases.size() - op.data_begin);
  for (const std::uint32_t id : merged) diagonal_place_[id] = static_cast<std::uint32_t>(out_.ops.size());
  append(op);
}

void SweepProgrammer::emit_turn(std::uint32_t id) {
  const Turn& turn = timeline_.turns[id];
  if (turn.birth) return;
  const auto matrix = timeline_.matrix(turn);
  LoweredOp op;
  op.target_count = turn.target_count;
  op.targets = turn.targets;
  op.control_mask = turn.control_mask;
  op.control_value = turn.control_value;
  op.gates = turn.gates;
  const bool flip = turn.target_count == 1 && matrix[0] == Complex(0) && matrix[3] == Complex(0) &&
                    matrix[1] == Complex(1) && matrix[2] == Complex(1);
  if (flip) {
    op.form = Form::kFlip;
  } else {
    op.form = Form::kMatrix;
    op.data_begin = static_cast<std::uint32_t>(out_.matrices.size());
    op.data_count = static_cast<std::uint32_t>(matrix.size());
    out_.matrices.insert(out_.matrices.end(), matrix.begin(), matrix.end());
  }
  turn_place_[id] = static_cast<std::uint32_t>(out_.ops.size());
  append(op);
}

void SweepProgrammer::append(LoweredOp op) {
  written_.push_back(static_cast<std::uint32_t>(out_.ops.size()));
  set_basis_masks(op, op.form == Form::kMatrix ? out_.matrix(op) : std::span<const Complex>(),
                  op.form == Form::kPhases ? out_.terms(op) : std::span<const PhaseTerm>());
  out_.ops.push_back(op);
}

}  // namespace qsim
