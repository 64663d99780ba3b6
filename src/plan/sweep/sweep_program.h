// Writes the operations of a sweep: which turns and diagonals run in it, in which order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/element/sweep_elements.h"
#include "plan/plan.h"
#include "plan/search/set_problem.h"
#include "plan/timeline/timeline.h"

namespace qsim {

/// Rewrites of a sweep's steps that may be left out (tests compare).
struct SweepRewrites {
  bool recombine_flips = true, recombine_controls = true, fuse_matrices = true, split_turns = true;
};

/// Turns positions of a timeline into lowered operations, sweep after sweep.
class SweepProgrammer {
 public:
  /// Operations are appended to `out`; its pools grow. `cost` decides between forms.
  SweepProgrammer(const Timeline& timeline, std::uint32_t register_bits, const CostTable& cost, SweepRewrites rewrites,
                  Lowered& out);

  /// The operations of a sweep that takes the wires from `from` to `to` (positions of the whole timeline), as indices
  /// into out.ops. `last` also runs every diagonal that is left.
  std::vector<std::uint32_t> write(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
                                   bool last);

  /// Operation of each turn and diagonal, kNoOperation for births and what was cancelled.
  static constexpr std::uint32_t kNoOperation = 0xffffffffu;
  const std::vector<std::uint32_t>& turn_places() const { return turn_place_; }
  const std::vector<std::uint32_t>& diagonal_places() const { return diagonal_place_; }

 private:
  std::vector<Index> register_groups(const SetProblem& problem) const;
  void choose_form();
  std::uint64_t fuse_and_split(std::vector<Element>& elements) const;
  void order_group(const SetProblem& problem, Positions& at, Index group);
  bool in_place(const Diagonal& diagonal) const;
  void add_available_diagonals();
  void add_turn(std::uint32_t id);
  void emit_all(bool last);
  void emit_diagonals();
  void emit_matrix(Element& element);
  void hold_diagonal_matrix(const Element& element);
  void add_terms(const Diagonal& diagonal, std::vector<PhaseTerm>& terms);
  void emit_terms(std::vector<PhaseTerm>& terms, std::uint32_t gates);
  void append(LoweredOp op);
  void place(const Element& element, std::uint32_t op);

  const Timeline& timeline_;
  const int register_bits_;
  const CostTable& cost_;
  const SweepRewrites rewrites_;
  Lowered& out_;
  std::vector<std::uint32_t> position_;  // of every wire, now
  std::vector<bool> done_;               // diagonals that have run
  std::vector<Element> elements_;        // of the sweep being written
  std::vector<Element> waiting_;         // diagonals that come before the next step on one of their wires
  std::vector<std::uint32_t> turn_place_, diagonal_place_, written_;
  OpenAngle global_phase_ = 0;
};

/// What sweeps do, one after the other.
struct SweepPrograms {
  Lowered pool;                                             // their operations
  std::vector<std::vector<std::uint32_t>> sweeps;           // of each, in the pool
  std::vector<std::uint32_t> turn_places, diagonal_places;  // as SweepProgrammer has them
};
/// Of sweeps that take the wires from each of `places` to the next; the last also runs every diagonal that is left.
SweepPrograms write_sweeps(const Timeline& timeline, std::span<const Positions> places, std::uint32_t register_bits,
                           const CostTable& cost, SweepRewrites rewrites);
/// Appends the operations of `pool` to `out`; gives the place of the first.
std::uint32_t append(Lowered& out, const Lowered& pool);

}  // namespace qsim
