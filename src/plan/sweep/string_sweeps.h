// Rotations about Pauli strings, packed into sweeps whose tiles are spanned by the strings.
//
// exp(i a (1 - P) / 2) mixes an index with the one that differs by the X part of P, nothing else. A sweep whose active
// bits reach the X parts of some strings (plan.h, Sweep::reach) does their rotations on one bit each, however many
// wires the strings have: P becomes X or Y on that bit, times a parity.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "plan/lower/lower.h"
#include "plan/lower/pauli_strings.h"

namespace qsim {

/// Where strings may lie.
struct StringTile {
  Layout layout;           // of the wires
  std::uint32_t size = 0;  // active bits at most
  std::uint32_t low = 0;   // lowest bits that are active in every sweep
  std::uint32_t kept = 0;  // lowest bits that no other active bit may reach
};

struct StringSweep {
  std::vector<std::pair<Qubit, Index>> reach;  // (wire, the wires that it reaches)
  std::vector<std::uint32_t> ops;              // indices into Lowered::ops
};

/// How many sweeps rotations take if a sweep's tiles are spanned by strings, and by wires.
struct StringCounts {
  std::size_t by_strings = 0, by_wires = 0;
};
StringCounts count_string_sweeps(std::span<const StringRotation> rotations, const StringTile& tile);

/// Appends the operations of `stretch` without its rests to `out`, its rotations reordered among those that commute.
/// `source` is what operations are to be traced to, by rotation; `placed` gets (member, operation).
std::vector<StringSweep> write_string_sweeps(const StringStretch& stretch, const StringTile& tile,
                                             const Lowered& lowered, Lowered& out,
                                             std::vector<std::pair<std::uint32_t, std::uint32_t>>& placed);

}  // namespace qsim
