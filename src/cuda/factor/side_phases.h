// A matrix on two targets with at most two entries in a row and a column, as rotations of two rows each between phases
// of rows and of columns. Pairs that keep parity are such: RXX, RYY, Givens rotations, with RZZ, CZ and RZ beside them.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim::cuda {

/// U = scale diag(rows) matrix diag(columns).
struct SidePhases {
  Complex scale{1, 0};
  std::array<Complex, 4> rows{1, 1, 1, 1}, columns{1, 1, 1, 1};  // of modulus 1
  std::vector<Complex> matrix;                                   // parts of its entries are 0 or the entries
  double numbers = 0;                                            // matrix_numbers()
};

/// None where entries are not placed so, or where the parts do not give `matrix` (4x4) back to rounding.
std::optional<SidePhases> side_phases(std::span<const Complex> matrix);

/// The 4x4 matrix that the parts multiply to.
std::array<Complex, 16> product_of(const SidePhases& parts);

}  // namespace qsim::cuda
