// Writes the operations of a sweep: which turns and diagonals run in it, in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/set_problem.h"
#include "plan/timeline.h"

namespace qsim {

/// Turns positions of a timeline into lowered operations, sweep after sweep.
class SweepProgrammer {
 public:
  /// Operations are appended to `out`; its pools grow.
  SweepProgrammer(const Timeline& timeline, std::uint32_t register_bits, Lowered& out);

  /// The operations of a sweep that takes the wires of `active` from `from` to `to` (positions of the whole timeline),
  /// as indices into out.ops. `last` also runs every diagonal that is left.
  std::vector<std::uint32_t> write(const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
                                   bool last);

  /// Operation of each turn and diagonal, kNoOperation for births.
  static constexpr std::uint32_t kNoOperation = 0xffffffffu;
  const std::vector<std::uint32_t>& turn_places() const { return turn_place_; }
  const std::vector<std::uint32_t>& diagonal_places() const { return diagonal_place_; }

 private:
  std::vector<Index> register_groups(const SetProblem& problem) const;
  void run_group(const SetProblem& problem, Positions& at, Index group);
  bool in_place(const Diagonal& diagonal) const;
  std::vector<std::uint32_t> available(bool& due, Index turning) const;
  void emit_diagonals(const std::vector<std::uint32_t>& list);
  void emit_turn(std::uint32_t id);
  void add_terms(const Diagonal& diagonal, std::vector<PhaseTerm>& terms) const;
  void append(LoweredOp op);

  const Timeline& timeline_;
  const int register_bits_;
  Lowered& out_;
  std::vector<std::uint32_t> position_;  // of every wire, now
  std::vector<bool> done_;               // diagonals that have run
  std::vector<std::uint32_t> turn_place_, diagonal_place_, written_;
  double global_phase_ = 0;
};

}  // namespace qsim
