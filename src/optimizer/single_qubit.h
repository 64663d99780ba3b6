// 2x2 matrices: what the passes and the planner multiply, recognise and split.
#pragma once

#include <array>

#include "qsim/types.h"

namespace qsim {

using Matrix2 = std::array<Complex, 4>;  // row-major

extern const Matrix2 kIdentity2, kFlip2, kHadamard2;

Matrix2 product(const Matrix2& left, const Matrix2& right);
Matrix2 adjoint(const Matrix2& matrix);
/// Up to rounding; a diagonal or flip keeps phases.
bool is_identity(const Matrix2& matrix);
bool is_diagonal(const Matrix2& matrix);
bool is_flip(const Matrix2& matrix);
bool is_real(const Matrix2& matrix);

/// Reduces an angle to (-pi, pi]; 0 for multiples of 2 pi up to rounding.
double wrap_angle(double angle);

/// matrix = e^{i phase} diag(1, e^{i left}) rotation diag(1, e^{i right}), the rotation real.
struct Split {
  Matrix2 rotation;
  double phase = 0, left = 0, right = 0;
};
/// For a unitary matrix that is neither diagonal nor a flip.
Split split(const Matrix2& matrix);

}  // namespace qsim
