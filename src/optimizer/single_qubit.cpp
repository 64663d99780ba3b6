// 2x2 matrices: products, what they are up to rounding, and their split into phases around a real rotation.
#include "optimizer/single_qubit.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace qsim {
namespace {

constexpr double kRoot = 0.5 * std::numbers::sqrt2;

// Newton's step towards the nearest unitary: M (3 - M' M) / 2. From a defect d it leaves d^2.
Matrix2 polished(const Matrix2& m) {
  const Matrix2 square = product(adjoint(m), m);
  return product(m, {1.5 - 0.5 * square[0], -0.5 * square[1], -0.5 * square[2], 1.5 - 0.5 * square[3]});
}

bool is_unitary_to_rounding(const Matrix2& m) { return is_identity(product(adjoint(m), m)); }

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

Matrix2 unitary_product(const Matrix2& left, const Matrix2& right) {
  const Matrix2 result = product(left, right);
  return is_unitary_to_rounding(result) ? polished(result) : result;
}

bool is_diagonal(const Matrix2& m) { return is_tiny(m[1]) && is_tiny(m[2]) && is_phase(m[0]) && is_phase(m[3]); }
bool is_flip(const Matrix2& m) { return is_tiny(m[0]) && is_tiny(m[3]) && is_phase(m[1]) && is_phase(m[2]); }
bool is_identity(const Matrix2& m) { return is_tiny(m[1]) && is_tiny(m[2]) && is_one(m[0]) && is_one(m[3]); }
bool is_real(const Matrix2& matrix) {
  return std::ranges::all_of(matrix, [](const Complex& entry) { return entry.imag() == 0; });
}

std::optional<Split> split(const Matrix2& m) {
  const double cosine = std::abs(m[0]), sine = std::abs(m[2]), phase = std::arg(m[0]);
  Split parts{{cosine, -sine, sine, cosine}, phase, wrap_angle(std::arg(m[2]) - phase), 0};
  // A small entry's angle is that of its rounding. What it decides is taken back where the large entries are.
  parts.right = wrap_angle(cosine >= sine ? std::arg(m[3]) - phase - parts.left : std::arg(-m[1]) - phase);
  const Complex around = std::polar(1.0, phase), left = around * std::polar(1.0, parts.left);
  const Complex right = std::polar(1.0, parts.right);
  const Matrix2 made{around * cosine, -around * right * sine, left * sine, left * right * cosine};
  return recomposes(made, m) ? std::optional(parts) : std::nullopt;
}

}  // namespace qsim
