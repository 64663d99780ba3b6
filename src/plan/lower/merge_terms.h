// Diagonals as lists of phase terms: what a plan can say in one operation and a circuit cannot.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/lower/lower.h"
#include "plan/plan.h"

namespace qsim {

/// One operation of all `terms` (equal ones added up), its terms appended to `out`; the caller appends the operation.
LoweredOp phases_of(std::vector<PhaseTerm>& terms, std::uint32_t gates, Lowered& out);

/// The operations `ops` of a sweep with the diagonals between two steps on their wires as one, which is appended to
/// `lowered`. `stands_for` gets (operation merged, operation that it is in now).
std::vector<std::uint32_t> merge_terms(Lowered& lowered, std::span<const std::uint32_t> ops,
                                       std::vector<std::pair<std::uint32_t, std::uint32_t>>& stands_for);

}  // namespace qsim
