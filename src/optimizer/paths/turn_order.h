// The order in which sums over paths see operations.
#pragma once

#include <cstdint>
#include <vector>

#include "qsim/circuit.h"

namespace qsim {

/// The operations from `first` to `end`, each gate that turns one qubit as early as what it needs lets it be, all else
/// as late as that. Those that have no effect are left out.
std::vector<std::uint32_t> turns_early(const Circuit& circuit, std::uint32_t first, std::uint32_t end);

}  // namespace qsim
