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

Matrix2 product(const Matrix2& left, const Matrix2& right);
Matrix2 adjoint(const Matrix2& matrix);
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

/// matrix = around diag(1, left) [[cosine, -sine], [sine, cosine]] diag(1, right), the phases of modulus 1 and the sine
/// not negative: the one factoring of a 2x2 unitary, from which devices make their forms. Of what is not unitary the
/// parts do not give it back.
struct RotationParts {
  double cosine = 1, sine = 0;
  Complex around{1}, left{1}, right{1};
};
RotationParts rotation_parts(const Matrix2& matrix);

/// The same in angles: matrix = e^{i phase} diag(1, e^{i left}) rotation diag(1, e^{i right}).
struct Split {
  Matrix2 rotation;
  double phase = 0, left = 0, right = 0;
};
/// Nothing where the parts put together again are not the matrix (one that is not unitary to rounding).
std::optional<Split> split(const Matrix2& matrix);

}  // namespace qsim
