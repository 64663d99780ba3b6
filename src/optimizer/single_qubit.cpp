// 2x2 matrices: products, what they are up to rounding, and their split into phases around a real rotation.
#include "optimizer/single_qubit.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace qsim {
namespace {

constexpr double kRoot = 0.5 * std::numbers::sqrt2;
// A product of a few hundred rounded 2x2 matrices is this close to what it stands for.
constexpr double kNoise = 1e-14;

bool small(Complex value) { return std::abs(value) <= kNoise; }

}  // namespace

const Matrix2 kIdentity2{1, 0, 0, 1};
const Matrix2 kFlip2{0, 1, 1, 0};
const Matrix2 kHadamard2{kRoot, kRoot, kRoot, -kRoot};

Matrix2 product(const Matrix2& left, const Matrix2& right) {
  return {left[0] * right[0] + left[1] * right[2], left[0] * right[1] + left[1] * right[3],
          left[2] * right[0] + left[3] * right[2], left[2] * right[1] + left[3] * right[3]};
}

Matrix2 adjoint(const Matrix2& matrix) {
  return {std::conj(matrix[0]), std::conj(matrix[2]), std::conj(matrix[1]), std::conj(matrix[3])};
}

bool is_diagonal(const Matrix2& matrix) { return small(matrix[1]) && small(matrix[2]); }
bool is_flip(const Matrix2& matrix) { return small(matrix[0]) && small(matrix[3]); }
bool is_identity(const Matrix2& matrix) {
  return is_diagonal(matrix) && small(matrix[0] - 1.0) && small(matrix[3] - 1.0);
}
bool is_real(const Matrix2& matrix) {
  return std::ranges::all_of(matrix, [](const Complex& entry) { return entry.imag() == 0; });
}

double wrap_angle(double angle) {
  constexpr double kTwoPi = 6.283185307179586476925;
  const double wrapped = std::remainder(angle, kTwoPi);
  return std::abs(wrapped) < 4e-16 ? 0 : wrapped;
}

Split split(const Matrix2& m) {
  const double cosine = std::abs(m[0]), sine = std::abs(m[2]), phase = std::arg(m[0]);
  return {
      {cosine, -sine, sine, cosine}, phase, wrap_angle(std::arg(m[2]) - phase), wrap_angle(std::arg(-m[1]) - phase)};
}

}  // namespace qsim
