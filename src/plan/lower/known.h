// What is known of a state that starts as |0...0>: gates on it are done here, once, instead of on every amplitude.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/lower/lower.h"

namespace qsim {

/// The start state after all gates that could be absorbed: a product of one factor a local wire and one vector over the
/// global wires.
struct KnownStart {
  std::vector<std::array<Complex, 2>> factor;  // by wire
  std::vector<std::uint32_t> open;             // by wire: the product that the factor is of; empty: all are fixed
  std::vector<Complex> global_start;           // by value of the global wires, in the order given
  Index zero_wires = 0;                        // local wires that are exactly |0> before the first remaining operation
};

/// The start |0...0> with nothing absorbed.
KnownStart plain_start(const Lowered& lowered, std::size_t global_wires);

/// Whether what acts on two local wires that are alone is dropped where they are a product again behind it.
enum class Pairs : std::uint8_t { kFollowed, kLeft };

/// Absorbs leading gates into the start state, drops operations whose controls are never met and controls that always
/// are. `global_wires[j]` is the wire on the j-th global bit.
KnownStart absorb_known_start(Lowered& lowered, std::span<const Qubit> global_wires, Pairs pairs = Pairs::kFollowed);

}  // namespace qsim
