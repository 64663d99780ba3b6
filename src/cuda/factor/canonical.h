// Two-qubit unitaries as single-qubit ones around a canonical gate: U = scale (left1 x left0) N (right1 x right0),
// N = exp(i (x XX + y YY + z ZZ)). N and its neighbours need fewer multiplications than 16 entries do.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "qsim/types.h"

namespace qsim::cuda {

using Local = std::array<Complex, 4>;  // 2x2, row by row

struct Canonical {
  Complex scale;
  std::array<Local, 2> left, right;  // [b]: on bit b of the matrix index
  double x = 0, y = 0, z = 0;        // from -pi/4 to pi/4
};

/// None where `matrix` (4x4) is no multiple of a unitary, or where the parts do not give it back to rounding.
std::optional<Canonical> canonical_form(const std::vector<Complex>& matrix);

/// The 4x4 matrix that the parts multiply to.
std::array<Complex, 16> product_of(const Canonical& parts);

}  // namespace qsim::cuda
