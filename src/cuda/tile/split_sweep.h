// Sweeps that are too long for the device's tables.
#pragma once

#include <utility>

#include "plan/plan.h"

namespace qsim::cuda {

/// A sweep cut in two that do the same one after the other; CapacityError where it is one operation.
std::pair<Sweep, Sweep> split_sweep(const Sweep& sweep);

}  // namespace qsim::cuda
