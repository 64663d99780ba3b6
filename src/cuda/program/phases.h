// Merges phase terms into the fewest multiplications by per-thread factors.
#pragma once

#include <span>
#include <vector>

#include "cuda/program/items.h"

namespace qsim::cuda {

/// Appends to `epoch.ops` what multiplies by all of `terms`; new tables and tile factors go to `program`, lookups too
/// where the program may have them.
void lower_phases(std::span<const Term> terms, bool may_look_up, TileProgram& program, Epoch& epoch);

}  // namespace qsim::cuda
