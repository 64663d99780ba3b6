// The product's planner: the fewest sweeps and exchanges that a bounded, deterministic search finds.
#pragma once

#include "qsim/plan.h"

namespace qsim {

/// Plans the unitary `circuit`; the same circuit, machine and options give the same plan everywhere. The caller checks
/// the options and verifies the plan.
Plan search_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

}  // namespace qsim
