// Sweeps that permute (plan/plan.h): where amplitudes come from, as a program that each device runs for many places at
// once, a bit of 64 (32) places in each word.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// One step of a PermutationProgram, packed: `all` becomes `all` and the words of up to two rows, each inverted or not;
/// a step that applies flips row `target` by it, or where it is a phase adds `target` to the sixteenths of a turn of
/// the places where it is 1, and `all` is 1 again.
struct PermutationStep {
  static constexpr std::uint32_t kApplies = 1 << 6, kPhase = 1 << 7;
  static std::uint32_t packed(std::uint32_t target, std::uint32_t kind, std::uint32_t first, bool first_inverted,
                              std::uint32_t second, bool second_inverted) {
    return target | kind | first << 8 | static_cast<std::uint32_t>(first_inverted) << 14 | second << 16 |
           static_cast<std::uint32_t>(second_inverted) << 22;
  }
};

/// What makes of a place the place whose amplitude goes there: the flips of a sweep, backwards. What is added to its
/// sixteenths of a turn is the amplitude's phase.
struct PermutationProgram {
  Index bundle = 0;                // the bits that tell a bundle's places apart: bundles are moved one after the other
  Index fixed = 0;                 // the bits that tell bundles apart
  Index above = 0;                 // of every place: bits that are not local
  Index unborn = 0;                // before the sweep: amplitudes from where one of these bits is 1 are 0
  std::vector<std::uint8_t> bits;  // row r of a program's words is this bit of the place; one row more is all ones
  std::uint32_t targets = 0;       // the first rows are the bits that are flipped
  std::vector<std::uint32_t> steps;  // PermutationStep::packed
  bool phases = false;               // whether any of them is one
  Complex phase{1};                  // of every amplitude, beside them

  std::uint32_t rows() const { return static_cast<std::uint32_t>(bits.size()) + 1; }
};

/// CapacityError where less memory is `there` beside the state than a sweep that permutes has `needed`. Bytes.
void require_beside_state(std::uint64_t needed, std::uint64_t there);

/// What `sweep`, which permutes, multiplies every amplitude by.
Complex phase_of_all(const Sweep& sweep);

/// `sweep` of a shard of 2^local_bits, specialised.
PermutationProgram permutation_program(const Sweep& sweep, std::uint32_t local_bits);

}  // namespace qsim
