// What rounding may do to a state: the one place that says when a difference is an error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "qsim/types.h"

namespace qsim {

/// How far the norm of a state of `gates` gates may be from what it should be.
///
/// A gate's coefficients are rounded by at most half a unit each, which moves the norm by at most one such unit where
/// the same rounding meets all of the state; that times the gates is the bound. Sums and start states add a floor.
/// `defect`: what the circuit's own matrices lack of being unitary, added up.
inline double norm_tolerance(Precision precision, std::uint64_t gates, double defect) {
  const bool is_double = precision == Precision::kDouble;
  const double unit = is_double ? 1e-16 : 6e-8, floor = is_double ? 1e-12 : 5e-6;
  return floor + unit * static_cast<double>(gates) + defect;
}

/// How far an amplitude may be from another computation's after a circuit of this depth.
inline double amplitude_tolerance(Precision precision, std::uint64_t depth) {
  const auto levels = static_cast<double>(std::max<std::uint64_t>(1, depth));
  return precision == Precision::kDouble ? 1e-12 * levels : 1e-5 * std::sqrt(levels);
}

/// How far a vendor's library may be from our sums over a shard of norm 1: it adds in the state's precision.
inline double library_tolerance(Precision precision) { return precision == Precision::kDouble ? 1e-12 : 1e-4; }

}  // namespace qsim
