// 2x2 matrices: products, what they are up to rounding, and their split into phases around a real rotation.
#include "base/numbers/matrix2.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/numbers/complex.h"

namespace qsim {
namespace {

constexpr double kRoot = 0.5 * std::numbers::sqrt2;
constexpr Complex kI{0, 1};

}  // namespace

constinit const Matrix2 kIdentity2{1, 0, 0, 1};
constinit const Matrix2 kFlip2{0, 1, 1, 0};
constinit const Matrix2 kHadamard2{kRoot, kRoot, kRoot, -kRoot};
constinit const std::array<Matrix2, 3> kLetterMatrices{{{0, 1, 1, 0}, {0, -kI, kI, 0}, {1, 0, 0, -1}}};

Matrix2 product(const Matrix2& left, const Matrix2& right) {
  return {times(left[0], right[0]) + times(left[1], right[2]), times(left[0], right[1]) + times(left[1], right[3]),
          times(left[2], right[0]) + times(left[3], right[2]), times(left[2], right[1]) + times(left[3], right[3])};
}

Matrix2 adjoint(const Matrix2& matrix) {
  return {std::conj(matrix[0]), std::conj(matrix[2]), std::conj(matrix[1]), std::conj(matrix[3])};
}

Matrix2 scaled(const Matrix2& matrix, Complex by) {
  return {by * matrix[0], by * matrix[1], by * matrix[2], by * matrix[3]};
}

Matrix2 unitary_product(const Matrix2& left, const Matrix2& right) { return nearest_unitary(product(left, right)); }

Matrix2 nearest_unitary(const Matrix2& m) {
  constexpr double kUnit = 4.5e-16;  // two units in the last place of 1
  // What the columns' products lack of 1, 1 and 0.
  const double first = std::norm(m[0]) + std::norm(m[2]) - 1, second = std::norm(m[1]) + std::norm(m[3]) - 1;
  const Complex dot = times(std::conj(m[0]), m[1]) + times(std::conj(m[2]), m[3]);
  const double defect = std::max({std::abs(first), std::abs(second), std::norm(dot) / kUnit});
  if (defect <= kUnit || !(defect <= 4 * kRounding)) return m;
  // Newton's step towards the nearest unitary, M (3 - M' M) / 2: it leaves the defect's square.
  const Complex half = -0.5 * dot, back = std::conj(half);
  const double zero = 1 - 0.5 * first, one = 1 - 0.5 * second;
  return {zero * m[0] + times(m[1], back), one * m[1] + times(m[0], half), zero * m[2] + times(m[3], back),
          one * m[3] + times(m[2], half)};
}

bool is_diagonal(const Matrix2& m) { return is_tiny(m[1]) && is_tiny(m[2]) && is_phase(m[0]) && is_phase(m[3]); }
bool is_flip(const Matrix2& m) { return is_tiny(m[0]) && is_tiny(m[3]) && is_phase(m[1]) && is_phase(m[2]); }
bool is_identity(const Matrix2& m) { return is_tiny(m[1]) && is_tiny(m[2]) && is_one(m[0]) && is_one(m[3]); }
bool is_real(const Matrix2& matrix) {
  return std::ranges::all_of(matrix, [](const Complex& entry) { return entry.imag() == 0; });
}

TurnKind kind_of(std::span<const Complex> matrix) {
  constexpr double kSame = 1e-15;
  const double size = std::abs(matrix[0]);
  bool even = true;
  for (const Complex& entry : matrix) {
    if (entry.imag() != 0) return TurnKind::kGeneral;
    even = even && std::abs(std::abs(entry.real()) - size) < kSame;
  }
  return even ? TurnKind::kButterfly : TurnKind::kReal;
}

double special_phase(const Matrix2& m) { return 0.5 * std::arg(m[0] * m[3] - m[1] * m[2]); }

AxisAngle axis_angle(const Matrix2& m) {
  const double phase = special_phase(m);
  const Complex turn = std::polar(1.0, -phase);
  return {phase,
          0.5 * ((m[0] + m[3]) * turn).real(),
          {(0.5 * kI * (m[1] + m[2]) * turn).real(), (0.5 * (m[2] - m[1]) * turn).real(),
           (0.5 * kI * (m[0] - m[3]) * turn).real()}};
}

namespace {

// Phases as numbers of modulus 1, and as angles: what factoring takes from entries and from one another.
struct AsUnits {
  static constexpr Complex kNone{1};
  static Complex of(Complex z) { return z / std::abs(z); }
  static Complex over(Complex a, Complex b) { return a / b; }
  /// The axis that the phase is on, where an entry of this size cannot tell the two apart.
  static std::optional<Complex> on_axis(Complex phase, double size) {
    const Complex axis = std::abs(phase.real()) >= std::abs(phase.imag()) ? Complex(std::copysign(1, phase.real()))
                                                                          : Complex(0, std::copysign(1, phase.imag()));
    return std::abs(phase - axis) * size <= kRounding ? std::optional(axis) : std::nullopt;
  }
};
struct AsAngles {
  static constexpr double kNone = 0;
  static double of(Complex z) { return std::arg(z); }
  static double over(double a, double b) { return wrap_angle(a - b); }
  static std::optional<double> on_axis(double phase, double size) {
    constexpr double kQuarter = 0.5 * std::numbers::pi;
    const double axis = kQuarter * std::nearbyint(phase / kQuarter);
    return std::abs(phase - axis) * size <= kRounding ? std::optional(axis) : std::nullopt;
  }
};

// A small entry's phase has its rounding for a larger error. What it decides is put right where it is next to an axis
// (those of gates mostly are, and then cost nothing), and taken back where the large entries are.
template <class Phases, class Phase>
RotationFactors<Phase> factors(const Matrix2& m) {
  RotationFactors<Phase> parts{std::abs(m[0]), std::abs(m[2]), Phases::kNone, Phases::kNone, Phases::kNone};
  const double smaller = std::min(parts.cosine, parts.sine);
  if (smaller <= kRounding) {
    if (parts.cosine >= parts.sine) {
      parts.around = Phases::of(m[0]);
      parts.left = Phases::over(Phases::of(m[3]), parts.around);
    } else {
      parts.around = Phases::of(-m[1]);
      parts.left = Phases::over(Phases::of(m[2]), parts.around);
    }
    return parts;
  }
  parts.around = Phases::of(m[0]);
  const Phase lower = Phases::of(m[2]);  // around times left
  if (parts.cosine >= parts.sine) {
    const Phase both = Phases::over(Phases::of(m[3]), parts.around);  // left times right
    parts.left = Phases::over(lower, parts.around);
    parts.right = Phases::over(both, parts.left);
    if (const auto left = Phases::on_axis(parts.left, smaller)) {
      parts.left = *left;
      parts.right = Phases::over(both, *left);
    } else if (const auto right = Phases::on_axis(parts.right, smaller)) {
      parts.right = *right;
      parts.left = Phases::over(both, *right);
    }
  } else {
    const Phase upper = Phases::of(-m[1]);  // around times right
    if (const auto left = Phases::on_axis(Phases::over(lower, parts.around), smaller)) {
      parts.around = Phases::over(lower, *left);
    } else if (const auto right = Phases::on_axis(Phases::over(upper, parts.around), smaller)) {
      parts.around = Phases::over(upper, *right);
    }
    parts.left = Phases::over(lower, parts.around);
    parts.right = Phases::over(upper, parts.around);
  }
  return parts;
}

}  // namespace

RotationParts rotation_parts(const Matrix2& m) { return factors<AsUnits, Complex>(m); }

std::optional<RotationAngles> rotation_angles(const Matrix2& m) {
  const RotationAngles parts = factors<AsAngles, double>(m);
  const Complex around = std::polar(1.0, parts.around), left = around * std::polar(1.0, parts.left);
  const Complex right = std::polar(1.0, parts.right);
  const Matrix2 made{around * parts.cosine, -around * right * parts.sine, left * parts.sine,
                     left * right * parts.cosine};
  return recomposes(made, m) ? std::optional(parts) : std::nullopt;
}

}  // namespace qsim
