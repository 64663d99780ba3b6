// Gates on one qubit as Hadamard gates with phases between them. Angles are kept exactly, as in sums over paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers/matrix2.h"
#include "optimizer/sums/path_sum.h"
#include "qsim/circuit.h"

namespace qsim {

constexpr std::uint64_t kQuarterTurn = kHalfTurn >> 1, kEighthTurn = kQuarterTurn >> 1;

/// e^{i common} P(angles.back()) H ... H P(angles[0]), P the phase of |1>.
struct TurnRun {
  std::vector<std::uint64_t> angles{0};
  std::uint64_t common = 0;

  void turn() { angles.push_back(0); }
  void phase(std::uint64_t by) { angles.back() += by; }
  /// The gate, behind what there is. False for what is not of this kind, which changes nothing.
  bool multiply(const Circuit& circuit, const Operation& op);
  /// The same to rounding, with quarter turns beside small turns and beside what is nearly a flip: those hardly tell
  /// what axis they are about, so that it may as well be that of a letter.
  TurnRun settled() const;
  /// settled(), with as few Hadamard gates as quarter turns between them allow.
  TurnRun shortened() const;
};

/// Appends Hadamard gates, flips, rotations and phases that are the run, settled, but for a phase of everything, which
/// it gives. Two Hadamard gates around a phase that is no quarter turn are a rotation.
std::uint64_t write_turns(Circuit& out, Qubit qubit, const TurnRun& run);
/// Appends a phase of everything, but none of 0.
void append_common(Circuit& out, std::uint64_t turns);
/// Whether the gates of `named` from `first` on, times the phase, are the matrix, which is a product of `factors`.
bool stand_for(const Circuit& named, std::size_t first, std::uint64_t phase, const Matrix2& wanted,
               std::size_t factors);

}  // namespace qsim
