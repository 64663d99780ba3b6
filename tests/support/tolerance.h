// The one place that says how far a simulated amplitude may be from the reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "qsim/types.h"

namespace qsim::test {

/// 1e-12 x depth in double, 1e-5 x sqrt(depth) in single.
inline double tolerance(Precision precision, std::uint64_t depth = 1) {
  const double levels = static_cast<double>(std::max<std::uint64_t>(depth, 1));
  return precision == Precision::kDouble ? 1e-12 * levels : 1e-5 * std::sqrt(levels);
}

}  // namespace qsim::test
