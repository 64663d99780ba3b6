// Phases as numbers of modulus 1.
#pragma once

#include <cmath>
#include <complex>

#include "qsim/types.h"

namespace qsim {

/// e^{i angle}; of a multiple of a quarter turn, as a double holds it, exactly 1, i, -1 or -i: what is real stays so,
/// and devices do less with it.
inline Complex phase_by(double angle) {
  constexpr double kQuarter = 1.5707963267948966192;
  const double quarters = std::nearbyint(angle / kQuarter);
  if (std::abs(quarters) > 4 || angle != quarters * kQuarter) return std::polar(1.0, angle);
  const int turns = static_cast<int>(quarters) & 3;
  const double part = turns < 2 ? 1 : -1;
  return turns % 2 == 0 ? Complex(part, 0) : Complex(0, part);
}

}  // namespace qsim
