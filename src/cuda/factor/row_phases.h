// A matrix on two targets as few multiplications: what all its entries share goes to a scale, and phases that the
// entries of a row share go behind it.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim::cuda {

/// U = scale diag(rows) matrix.
struct RowPhases {
  Complex scale{1, 0};
  std::array<Complex, 4> rows{1, 1, 1, 1};  // of modulus 1
  std::vector<Complex> matrix;
  double numbers = 0;  // as matrix_numbers() has them, and two for each row's phase
};

/// What rounding leaves of 0 is 0, and of 1 or -1 those: such a part of an entry is no multiplication.
double cleaned_part(double part);

/// None where no numbers are saved, or where the parts do not give `matrix` (4x4) back to rounding.
std::optional<RowPhases> row_phases(std::span<const Complex> matrix);

/// The 4x4 matrix that the parts multiply to.
std::array<Complex, 16> product_of(const RowPhases& parts);

}  // namespace qsim::cuda
