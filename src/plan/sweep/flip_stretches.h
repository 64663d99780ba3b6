// Stretches of flips, and of phases of whole sixteenths of a turn between them: parts of a circuit that only permute
// amplitudes and turn them, and that one sweep can do, however many they are.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lower/lower.h"

namespace qsim {

/// A part of a circuit: operations that are done before those of the parts that follow.
struct CircuitPart {
  bool permutes = false;           // nothing but what may_permute(), which is worth a sweep of its own
  std::vector<std::uint32_t> ops;  // indices into Lowered::ops
};

/// What a sweep of flips replaces, by its time, and what it takes.
struct FlipPrices {
  double permuting = 0;  // seconds of a sweep that permutes, and of one of its steps
  double step = 0;
  double first = 0;  // of one that makes the first write as well; 0: none does
  double sweep = 0;  // of a sweep of tiles that does nothing, and of one flip's arithmetic in one
  double flip = 0;
  std::uint32_t tile = 0;  // active bits of one, and those that no flip chooses
  std::uint32_t low = 0;
};

/// The operations of `lowered` in parts, each before all that it does not commute with among those after it.
/// One part that does not permute where no stretch of flips is worth a sweep. Takes time that is linear in the
/// operations.
std::vector<CircuitPart> flip_parts(const Lowered& lowered, const FlipPrices& prices);

}  // namespace qsim
