// 2x2 matrices: what the passes and the planner multiply, recognise and split.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/numbers/rounding.h"
#include "qsim/types.h"

namespace qsim {

using Matrix2 = std::array<Complex, 4>;  // row-major

extern const Matrix2 kIdentity2, kFlip2, kHadamard2;
extern const std::array<Matrix2, 3> kLetterMatrices;  // X, Y, Z

Matrix2 product(const Matrix2& left, const Matrix2& right);
Matrix2 adjoint(const Matrix2& matrix);
Matrix2 scaled(const Matrix2& matrix, Complex by);
/// A matrix that is unitary to rounding, brought back to the nearest unitary; others as they are.
Matrix2 nearest_unitary(const Matrix2& matrix);
/// product(left, right), brought back to the nearest unitary where both are unitary to rounding: thousands of factors
/// then leave no more of a drift than one.
Matrix2 unitary_product(const Matrix2& left, const Matrix2& right);

/// Up to rounding. The entries of a diagonal and of a flip are phases; others are neither.
bool is_identity(const Matrix2& matrix);
bool is_diagonal(const Matrix2& matrix);
bool is_flip(const Matrix2& matrix);
bool is_real(const Matrix2& matrix);

/// What applying a matrix costs by: its entries are complex; real; real and of one size.
enum class TurnKind : std::uint8_t { kGeneral, kReal, kButterfly };
TurnKind kind_of(std::span<const Complex> matrix);

/// Half the angle of the determinant: e^{-i angle} matrix has determinant 1 where the matrix is unitary.
double special_phase(const Matrix2& matrix);

/// matrix = e^{i phase} (cosine - i (sines[0] X + sines[1] Y + sines[2] Z)), where it is unitary.
struct AxisAngle {
  double phase = 0, cosine = 1;
  std::array<double, 3> sines{};
};
AxisAngle axis_angle(const Matrix2& matrix);

/// matrix = around diag(1, left) [[cosine, -sine], [sine, cosine]] diag(1, right), the sine not negative: the one
/// factoring of a 2x2 unitary. Phases next to an axis are on it.
template <class Phase>
struct RotationFactors {
  double cosine = 1, sine = 0;
  Phase around, left, right;

  Matrix2 rotation() const { return {cosine, -sine, sine, cosine}; }
};

/// The phases as numbers of modulus 1, from which devices make their forms. Of what is not unitary the parts do not
/// give it back.
using RotationParts = RotationFactors<Complex>;
RotationParts rotation_parts(const Matrix2& matrix);

/// The phases as angles between -pi and pi. Nothing where the parts put together again are not the matrix (one that is
/// not unitary to rounding).
using RotationAngles = RotationFactors<double>;
std::optional<RotationAngles> rotation_angles(const Matrix2& matrix);

}  // namespace qsim
