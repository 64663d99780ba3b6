// The optimizer in front of lowering, and the names of everything that can be left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "optimizer/pipeline.h"
#include "plan/lower/lower.h"
#include "qsim/circuit.h"

namespace qsim {

/// Every pass that PlanOptions::disabled_passes may name: those of the optimizer and the planner's own rewrites.
std::vector<std::string_view> pass_names();

/// Whether `name` is not among the names that are left out.
bool pass_enabled(const std::vector<std::string>& disabled, std::string_view name);

/// The circuit after the passes, lowered; sources and gate counts are those of the circuit before. UsageError with the
/// known names when `disabled` has another. `choice`: Optimizer::run()'s.
Lowered lower_optimized(Optimizer& optimizer, const std::vector<std::string>& disabled, std::size_t choice = 0);
Lowered lower_optimized(const Circuit& circuit, const std::vector<std::string>& disabled);

}  // namespace qsim
