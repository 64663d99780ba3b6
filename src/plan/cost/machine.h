// The machine descriptions that are part of the library (src/plan/cost/machines/*.json, embedded by
// cmake/embed_costs.cmake).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "qsim/plan.h"

namespace qsim::detail {

struct BuiltInMachine {
  std::string_view name, json;
};
std::span<const BuiltInMachine> built_in_machines();

/// Parses a qsim.machine/1 document; UsageError naming the key that is missing, unknown or out of range. `source` is
/// what messages call it.
Machine parse_machine(std::string_view json, const std::string& source);

}  // namespace qsim::detail
