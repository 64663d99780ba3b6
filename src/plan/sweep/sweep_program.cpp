// The order inside a sweep: groups of wires that fit the registers, layers of turns in a group, and before a layer one
// merged diagonal of everything that is due, with everything else that may run by then.
#include "plan/sweep/sweep_program.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/numbers/bit_products.h"
#include "plan/cost/machine.h"
#include "plan/dense/dense_clusters.h"
#include "plan/element/split_steps.h"
#include "plan/lower/basis_change.h"
#include "plan/lower/merge_terms.h"
#include "plan/plan.h"
#include "plan/search/set_search.h"

namespace qsim {
namespace {

constexpr std::uint64_t kGroupBudget = 600;  // moves of the game to find the register groups of a sweep

}  // namespace

SweepProgrammer::SweepProgrammer(const Timeline& timeline, std::uint32_t register_bits, const CostTable& cost,
                                 SweepRewrites rewrites, Lowered& out)
    : timeline_(timeline),
      register_bits_(static_cast<int>(register_bits)),
      cost_(cost),
      rewrites_(rewrites),
      out_(out) {
  done_.assign(timeline.diagonals.size(), false);
  turn_place_.assign(timeline.turns.size(), kNoOperation);
  diagonal_place_.assign(timeline.diagonals.size(), kNoOperation);
  global_phase_ = timeline.global_phase;
}

std::vector<std::uint32_t> SweepProgrammer::write(const std::vector<std::uint32_t>& from,
                                                  const std::vector<std::uint32_t>& to, bool last) {
  written_.clear();
  elements_.clear();
  position_ = from;
  const SetProblem problem(timeline_, from, to);
  Positions at{};
  for (const Index group : register_groups(problem)) {
    order_group(problem, at, group);
    elements_.push_back({});
    elements_.back().ends_group = true;
  }
  if (last) add_available_diagonals();
  if (rewrites_.recombine_flips) recombine_flips(elements_, cost_);
  choose_form();
  emit_all(last);
  return written_;
}

std::vector<Index> SweepProgrammer::register_groups(const SetProblem& problem) const {
  const Index turning = problem.turning();
  int size = register_bits_;
  for (std::uint32_t wire = 0; wire < timeline_.wires; ++wire) {
    for (std::uint32_t s = position_[wire]; s < position_[wire] + problem.length(static_cast<int>(wire)); ++s)
      size = std::max<int>(size, timeline_.turns[timeline_.line[wire][s]].target_count);
  }
  if (popcount(turning) <= size) return {turning};
  SetRules rules;
  rules.segments = {turning};
  rules.size = size;
  rules.low = 0;
  rules.budget = kGroupBudget;
  return find_sets(problem, rules).sets;
}

// With controlled matrices where they would be cheaper, or without: as the whole sweep is cheaper.
void SweepProgrammer::choose_form() {
  std::vector<Element> controlled;
  std::uint64_t refused = 0;
  if (rewrites_.recombine_controls) controlled = recombine_controls(elements_, cost_, refused);
  refused += fuse_and_split(elements_);
  if (!controlled.empty()) {
    refused += fuse_and_split(controlled);
    if (steps_cost(controlled, cost_, register_bits_) < steps_cost(elements_, cost_, register_bits_)) {
      elements_ = std::move(controlled);
    }
  }
  out_.refused += refused;
}

std::uint64_t SweepProgrammer::fuse_and_split(std::vector<Element>& elements) const {
  std::uint64_t refused = rewrites_.fuse_matrices ? fuse_matrices(elements, cost_, register_bits_) : 0;
  if (rewrites_.split_turns) refused += split_steps(elements, cost_);
  return refused;
}

// `at` counts from the start of the sweep, position_ from the start of the timeline.
void SweepProgrammer::order_group(const SetProblem& problem, Positions& at, Index group) {
  for (;;) {
    const Index ready = problem.ready(at, group);
    if (ready == 0) return;
    add_available_diagonals();
    Index rest = ready;
    while (rest != 0) {
      const auto wire = static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint32_t id = timeline_.line[wire][position_[wire]];
      add_turn(id);
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
  std::uint64_t gap = diagonal.gaps_begin;
  for (Index rest = diagonal.wires(); rest != 0; rest &= rest - 1)
    if (timeline_.gaps[gap++] != position_[static_cast<std::size_t>(std::countr_zero(rest))]) return false;
  return true;
}

void SweepProgrammer::add_available_diagonals() {
  for (std::uint32_t wire = 0; wire < timeline_.wires; ++wire) {
    for (const std::uint32_t id : timeline_.diagonals_at(wire, position_[wire])) {
      const Diagonal& diagonal = timeline_.diagonals[id];
      const bool first = static_cast<std::uint32_t>(std::countr_zero(diagonal.wires())) == wire;
      if (!first || done_[id] || !in_place(diagonal)) continue;
      done_[id] = true;
      Element element;
      element.form = Form::kPhases;
      element.diagonal = diagonal;
      element.gates = diagonal.gates;
      element.diagonals = {id};
      elements_.push_back(std::move(element));
    }
  }
}

void SweepProgrammer::add_turn(std::uint32_t id) {
  const Turn& turn = timeline_.turns[id];
  if (turn.birth) return;
  const auto matrix = timeline_.matrix(turn);
  Element element;
  element.target_count = turn.target_count;
  element.targets = turn.targets;
  element.control_mask = turn.control_mask;
  element.control_value = turn.control_value;
  element.matrix.assign(matrix.begin(), matrix.end());
  element.factors = turn.open;
  element.gates = turn.gates;
  element.turns = {id};
  elements_.push_back(std::move(element));
}

// Diagonals wait until a step changes one of their wires; then all that wait become one operation. What still waits at
// the end runs in a later sweep.
void SweepProgrammer::emit_all(bool last) {
  Index waiting_wires = 0;
  for (Element& element : elements_) {
    if (element.gone || element.ends_group) continue;
    if (is_diagonal_step(element)) {
      hold_diagonal_matrix(element);
      if (!waiting_.empty()) waiting_wires |= waiting_.back().wires();
      continue;
    }
    if (element.form == Form::kPhases) {
      if (element.wires() == 0) {
        global_phase_ = out_.open.added(global_phase_, element.diagonal.whole_angle());
        continue;
      }
      waiting_wires |= element.wires();
      waiting_.push_back(std::move(element));
      continue;
    }
    if ((waiting_wires & element.target_mask()) != 0) {
      emit_diagonals();
      waiting_wires = 0;
    }
    emit_matrix(element);
  }
  // Phases of split turns, and diagonals that a step without any effect of its own has passed, cannot be left for
  // later.
  const auto due = [this](const Element& element) {
    return element.diagonals.empty() || !std::ranges::all_of(element.diagonals, [this](std::uint32_t id) {
             return in_place(timeline_.diagonals[id]);
           });
  };
  const bool must = last || std::ranges::any_of(waiting_, due);
  if (must) {
    emit_diagonals();
  } else {
    for (const Element& element : waiting_)
      for (const std::uint32_t id : element.diagonals) done_[id] = false;
  }
  waiting_.clear();
  if (!last || global_phase_.value == 0) return;
  std::vector<PhaseTerm> terms{{0, false, global_phase_}};
  emit_terms(terms, 0);
}

// A product of turns that came out diagonal.
void SweepProgrammer::hold_diagonal_matrix(const Element& element) {
  const double zero = std::arg(element.matrix[0]), one = std::arg(element.matrix[3]);
  global_phase_ = out_.open.added(global_phase_, zero);
  const double angle = wrap_angle(one - zero);
  if (angle == 0) return;
  Element phase = element;
  phase.form = Form::kPhases;
  phase.diagonal.mask = phase.diagonal.value = element.target_mask();
  phase.diagonal.angle = angle;
  phase.act_on(0);
  phase.matrix.clear();
  waiting_.push_back(std::move(phase));
}

// Terms have no conditions "bit is 0": those are differences of terms without.
void SweepProgrammer::add_terms(const Diagonal& diagonal, std::vector<PhaseTerm>& terms) {
  if (diagonal.mask == 0) {
    terms.push_back({diagonal.parity, true, diagonal.whole_angle()});
    return;
  }
  for_each_product(diagonal.mask, diagonal.value, [&](Index ones, int sign) {
    const OpenAngle own = diagonal.whole_angle();
    terms.push_back({ones, false, sign > 0 ? own : out_.open.negated(own)});
  });
}

void SweepProgrammer::emit_diagonals() {
  constexpr int kMaxExpanded = 4;  // conditions on 0 that are written out as terms
  std::vector<PhaseTerm> terms;
  std::uint32_t gates = 0;
  std::vector<const Element*> merged;
  for (const Element& element : waiting_) {
    const Diagonal& diagonal = element.diagonal;
    const bool mixed = diagonal.parity != 0 && diagonal.mask != 0;
    if (!mixed && popcount(diagonal.mask & ~diagonal.value) <= kMaxExpanded) {
      add_terms(diagonal, terms);
      gates += element.gates;
      merged.push_back(&element);
      continue;
    }
    LoweredOp op;
    op.form = Form::kPhases;
    op.control_mask = diagonal.mask;
    op.control_value = diagonal.value;
    op.data_begin = static_cast<std::uint32_t>(out_.phases.size());
    op.data_count = 1;
    op.gates = element.gates;
    out_.phases.push_back({diagonal.parity, diagonal.parity != 0, diagonal.whole_angle()});
    place(element, static_cast<std::uint32_t>(out_.ops.size()));
    append(op);
  }
  if (global_phase_.value != 0 && !terms.empty()) {
    terms.push_back({0, false, global_phase_});
    global_phase_ = 0;
  }
  for (const Element* element : merged) place(*element, static_cast<std::uint32_t>(out_.ops.size()));
  if (!terms.empty()) emit_terms(terms, gates);
  waiting_.clear();
}

void SweepProgrammer::emit_terms(std::vector<PhaseTerm>& terms, std::uint32_t gates) {
  append(phases_of(terms, gates, out_));
}

void SweepProgrammer::emit_matrix(Element& element) {
  LoweredOp op;
  static_cast<PlanOp&>(op) = element;
  const auto& m = element.matrix;
  const bool flip = element.form == Form::kFlip || (!element.is_open() && m.size() == 4 && m[0] == Complex(0) &&
                                                    m[3] == Complex(0) && m[1] == Complex(1) && m[2] == m[1]);
  if (flip) {
    op.form = Form::kFlip;
  } else {
    op.form = Form::kMatrix;
    op.data_begin = static_cast<std::uint32_t>(out_.matrices.size());
    op.data_count = static_cast<std::uint32_t>(m.size());
    out_.matrices.insert(out_.matrices.end(), m.begin(), m.end());
    if (element.is_open()) op.open = out_.open.product(element.factors);
  }
  place(element, static_cast<std::uint32_t>(out_.ops.size()));
  append(op);
}

void SweepProgrammer::place(const Element& element, std::uint32_t op) {
  for (const std::uint32_t id : element.turns) turn_place_[id] = op;
  for (const std::uint32_t id : element.diagonals) diagonal_place_[id] = op;
}

void SweepProgrammer::append(LoweredOp op) {
  written_.push_back(static_cast<std::uint32_t>(out_.ops.size()));
  set_basis_masks(op, op.form == Form::kMatrix ? out_.matrix(op) : std::span<const Complex>(),
                  op.form == Form::kPhases ? out_.terms(op) : std::span<const PhaseTerm>());
  out_.ops.push_back(op);
}

SweepPrograms write_sweeps(const Timeline& timeline, std::span<const Positions> places, std::uint32_t register_bits,
                           const CostTable& cost, SweepRewrites rewrites) {
  SweepPrograms programs;
  programs.pool.qubits = timeline.wires;
  programs.pool.open = timeline.open;
  SweepProgrammer programmer(timeline, register_bits, cost, rewrites, programs.pool);
  const auto of_wires = [&](const Positions& at) {
    return std::vector<std::uint32_t>(at.begin(), at.begin() + timeline.wires);
  };
  for (std::size_t i = 0; i + 1 < places.size(); ++i) {
    const bool last = i + 2 == places.size();
    programs.sweeps.push_back(programmer.write(of_wires(places[i]), of_wires(places[i + 1]), last));
  }
  programs.turn_places = programmer.turn_places();
  programs.diagonal_places = programmer.diagonal_places();
  return programs;
}

std::uint32_t append(Lowered& out, const Lowered& pool) {
  const auto first = static_cast<std::uint32_t>(out.ops.size());
  for (LoweredOp op : pool.ops) {
    const std::size_t before = op.form == Form::kPhases ? out.phases.size() : out.matrices.size();
    if (op.data_count != 0) op.data_begin += static_cast<std::uint32_t>(before);
    out.ops.push_back(op);
  }
  out.phases.insert(out.phases.end(), pool.phases.begin(), pool.phases.end());
  out.matrices.insert(out.matrices.end(), pool.matrices.begin(), pool.matrices.end());
  return first;
}

}  // namespace qsim
