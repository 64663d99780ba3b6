// Rotations of two rows among themselves as three shears: fewer multiplications than four entries where nothing may be
// divided out, since the rest of a matrix does not rotate.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim::cuda {

/// Rows `row` have entries in columns `column` alone, and those columns in these rows alone:
///   diag(left) [c -s; s c] diag(1, right), c > 0, and left, right of 1, -1, i and -i.
/// [c -s; s c] = [1 -t; 0 1] [1 0; s 1] [1 -t; 0 1], t the tangent of half the angle.
struct Shears {
  std::array<std::size_t, 2> row{}, column{};
  std::array<Complex, 2> left{1, 1};
  Complex right{1, 0};
  double half_tangent = 0, sine = 0;
};

/// Those of a square matrix that take fewer multiplications than its entries do.
std::vector<Shears> shears_of(std::span<const Complex> matrix, std::size_t order);

}  // namespace qsim::cuda
