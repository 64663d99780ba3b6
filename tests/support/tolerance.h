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

/// What rounding alone does to an amplitude in `operations` operations: far tighter, for tests of what a rewrite may
/// drop. Errors add up as a random walk does; in double also the drift of rounded matrices (1e-17 an operation where
/// each of them is multiplied in by itself) shows from 10,000 operations on.
inline double rounding_tolerance(Precision precision, std::uint64_t operations) {
  const auto count = static_cast<double>(operations);
  const double steps = 3 + std::sqrt(count);
  return precision == Precision::kDouble ? 3e-15 * steps + 2e-17 * count : 6e-8 * steps;
}

/// Relative, of a norm that a kernel adds up, beside what is stored: in single precision eight squares are added before
/// they are turned into double, which rounds by less than six units.
inline double kernel_norm_tolerance(Precision precision) { return precision == Precision::kDouble ? 1e-13 : 6 * 6e-8; }

}  // namespace qsim::test
