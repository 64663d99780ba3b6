// Hadamard gates around half turns as flips, and around flips as half turns: so that stretches of a circuit that only
// permute amplitudes and turn them are seen as such (flip_stretches.h).
#pragma once

#include <optional>

#include "plan/lower/lower.h"

namespace qsim {

/// `lowered` without the pairs of Hadamard gates between which their wire has only half turns of products and flips of
/// it (H Z H = X, whatever the other wires are doing beside), and with flips and phases for the matrices on one wire
/// that are no more than that; nothing where there is neither.
std::optional<Lowered> as_permutations(const Lowered& lowered);

}  // namespace qsim
