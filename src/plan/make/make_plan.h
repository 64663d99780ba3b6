// From a circuit to its plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"
#include "qsim/target.h"

namespace qsim {

/// Plans the unitary `circuit` (terminal measurements and barriers are skipped; anything else dynamic is an error).
Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

}  // namespace qsim
