// A circuit as the search sees it: on each wire a line of turns (operations that are not diagonal), between them gaps,
// and diagonals that only tie gaps of several wires together.
//
// Every controlled gate becomes turns around a diagonal, so that only turns need a wire to be active. A wire's position
// is the number of its turns that have run; a diagonal between gaps runs once all its wires stand at theirs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/lower/lower.h"

namespace qsim {

/// Product of all merged gates on 1..6 wires; after it each of its wires is one gap further.
struct Turn {
  std::uint8_t target_count = 1;
  bool birth = false;  // of a wire that starts as a known state: the first column of the matrix; no operation
  std::array<Bit, kMaxMatrixTargets> targets{};
  std::array<std::uint32_t, kMaxMatrixTargets> position{};  // of each target before the turn
  Index control_mask = 0, control_value = 0;
  std::vector<std::uint32_t> control_gaps;  // of each wire of control_mask, ascending
  std::uint64_t matrix_begin = 0;           // in Timeline::matrices: 4^targets entries
  std::uint32_t gates = 0;
  std::vector<OpenFactor> open;  // on one target: the factors of the matrix, where one is open
};

/// exp(i angle) where (x & mask) == value and, when `parity` is not 0, an odd number of its bits are 1.
struct Diagonal {
  Index mask = 0, value = 0, parity = 0;
  double angle = 0;
  std::uint64_t gaps_begin = 0;  // in Timeline::gaps: one for each wire of mask | parity, ascending
  std::uint32_t gates = 0;
  std::uint32_t open = 0;  // the angle's sum in Timeline::open; 0: fixed
  OpenAngle whole_angle() const { return {angle, open}; }
  void set_angle(const OpenAngle& to) { angle = to.value, open = to.sum; }
  Index wires() const { return mask | parity; }
};

struct Timeline {
  std::uint32_t wires = 0;
  std::vector<Turn> turns;
  std::vector<Diagonal> diagonals;
  std::vector<Complex> matrices;
  std::vector<std::uint32_t> gaps;
  std::vector<std::vector<std::uint32_t>> line;  // turns of each wire in order
  // Diagonals that have `wire` at `gap`: diagonals_at(wire, gap).
  std::vector<std::vector<std::uint32_t>> gap_begin;  // by wire, by gap: into gap_items
  std::vector<std::uint32_t> gap_items;
  OpenAngle global_phase = 0;
  OpenNumbers open;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> turn_sources, diagonal_sources;  // (operation, turn / diagonal)
  std::vector<std::uint32_t> vanished_sources;
  std::uint64_t refused = 0;  // factorisations that were not what they were made of when put together again

  /// Gap of `wire` in a diagonal that has it.
  std::uint32_t gap_of(const Diagonal& diagonal, std::uint32_t wire) const;
  /// Fills gap_begin and gap_items.
  void index_gaps();
  std::span<const std::uint32_t> diagonals_at(std::uint32_t wire, std::uint32_t gap) const {
    const std::uint32_t begin = gap_begin[wire][gap], end = gap_begin[wire][gap + 1];
    return {gap_items.data() + begin, end - begin};
  }
  std::span<const Complex> matrix(const Turn& turn) const {
    return {matrices.data() + turn.matrix_begin, std::size_t{1} << (2 * turn.target_count)};
  }
};

/// Which part of a lowered circuit becomes a timeline, and what its wires start as.
struct TimelineSource {
  std::size_t first = 0, last = 0;                 // operations [first, last)
  Index unborn = 0;                                // wires whose first turn is a birth
  std::span<const std::array<Complex, 2>> factor;  // by wire: state of the unborn wires
  bool keep_sources = false;                       // fill the three source lists
  // Rewrites that may be left out (tests compare).
  bool merge_runs = true;       // neighbours on a wire become one turn
  bool move_flips = true;       // X moves through diagonals into the next turn
  bool merge_diagonals = true;  // equal diagonals in the same gaps add up
  bool split_controls = true;   // controlled gates become turns around a diagonal
};

/// Rewrites lowered operations; the product of turns and diagonals in any order that respects the gaps is the same
/// unitary (times the births).
Timeline build_timeline(const Lowered& lowered, const TimelineSource& source);

}  // namespace qsim
