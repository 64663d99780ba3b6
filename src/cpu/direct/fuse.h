// Neighbouring operations on the same one or two bits, multiplied together before they are applied.
#pragma once

#include "plan/plan.h"

namespace qsim::cpu {

/// A sweep that does the same in fewer operations: each trip over the state is spared that costs more than what it is
/// multiplied into. Linear in the operations.
Sweep fused(const Sweep& sweep);

}  // namespace qsim::cpu
