// What a plan is to be like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/layout.h"
#include "plan/plan.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {

struct PlanOptions {
  std::uint32_t rank_bits = 0;
  Precision precision = Precision::kDouble;
  Start start = Start::kZero;
  bool known_zeros = true;
  std::optional<std::uint32_t> tile_bits;  // fixes k; then the fewest sweeps come before the least time
  Strategy strategy = Strategy::kSearch;
  std::vector<std::string> disabled_passes;  // names of optimizer passes to leave out (tests)
  std::optional<Layout> initial_layout;      // fixed start layout (kState)
  bool preserve_layout = false;              // final layout must equal the initial one
  bool trace = false;

  /// Whether the plan may take it that every qubit is 0 before it.
  bool knows_zero() const { return start == Start::kZero && known_zeros; }
  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

}  // namespace qsim
