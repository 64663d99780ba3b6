// From a circuit to its plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/open/open_angles.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"
#include "qsim/target.h"

namespace qsim {

/// Plans the unitary `circuit` (terminal measurements and barriers are skipped; anything else dynamic is an error).
Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

/// The plan of a circuit with open angles as it is at `point`, whose numbers follow Plan::open to other angles. Nothing
/// in it was chosen by a number that may change, where the point is generic (OpenAngles::generic()). By searching.
Plan make_open_plan(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point,
                    const Machine& machine, const PlanOptions& options);

}  // namespace qsim
