// 2x2 unitaries as a scaled rotation between phases.
#pragma once

#include <array>
#include <vector>

#include "base/numbers/rounding.h"
#include "cuda/tile/tile_program.h"

namespace qsim::cuda {

/// U = scale diag(1, post) form diag(1, pre).
struct Gauge {
  Rotation rotation;
  double tangent;
  Complex scale, pre, post;
  int phases() const { return (is_one(pre) ? 0 : 2) + (is_one(post) ? 0 : 1); }
};

/// The form with the fewest phases beside it; of those, the one that needs none before it.
Gauge find_gauge(const std::vector<Complex>& matrix);

/// The rotation's own matrix, of norm sqrt(1 + tangent^2).
std::array<Complex, 4> rotation_matrix(Rotation rotation, double tangent);
/// scale diag(1, post) form diag(1, pre), multiplied.
std::array<Complex, 4> product_of(const Gauge& gauge);

}  // namespace qsim::cuda
