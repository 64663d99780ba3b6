// Dense matrices for clusters of a sweep's steps on few wires.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/element/sweep_elements.h"

namespace qsim {

/// Clusters of steps on 2 to 6 wires become one dense matrix each, where all steps together are then cheaper by the
/// table; as they were, where no choice of clusters is, or where a matrix does not do to a vector what its steps do.
/// Returns how many matrices did not.
std::uint64_t fuse_matrices(std::vector<Element>& elements, const CostTable& cost, int register_bits);

}  // namespace qsim
