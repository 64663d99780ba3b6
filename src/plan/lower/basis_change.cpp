// Eigenbases and the basis changes that turn a gate into a diagonal.
#include "plan/lower/basis_change.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "base/numbers/phase.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

constexpr double kRoot = 0.5 * std::numbers::sqrt2;

std::size_t order_of(std::span<const Complex> matrix) {
  std::size_t order = 1;
  while (order * order < matrix.size()) order *= 2;
  return order;
}

}  // namespace

constinit const Matrix2 kFromY{kRoot, Complex(0, -kRoot), kRoot, Complex(0, kRoot)};
constinit const Matrix2 kToY{kRoot, kRoot, Complex(0, kRoot), Complex(0, -kRoot)};

std::optional<Eigenbasis> eigenbasis(const Matrix2& unitary) {
  const auto [phase, cosine, sines] = axis_angle(unitary);
  const auto [x, y, z] = sines;
  const double sine = std::sqrt(x * x + y * y + z * z);
  const double angle = std::atan2(sine, cosine);
  const double plane = std::hypot(x, y);
  const double half = 0.5 * std::atan2(plane, z);
  const Complex around = plane > 0 ? Complex(x / plane, y / plane) : Complex(1);
  const double c = std::cos(half), s = std::sin(half);
  const Eigenbasis basis{{c, -std::conj(around) * s, around * s, c}, {phase - angle, phase + angle}};
  const Matrix2 phases{phase_by(basis.angle[0]), 0, 0, phase_by(basis.angle[1])};
  const Matrix2 made = product(basis.vectors, product(phases, adjoint(basis.vectors)));
  return recomposes(made, unitary) ? std::optional(basis) : std::nullopt;
}

std::optional<BasisChange> diagonalize(const LoweredOp& op, std::span<const Complex> matrix) {
  BasisChange change;
  std::vector<Complex> total(matrix.begin(), matrix.end());
  for (std::size_t j = 0; j < op.target_count; ++j) {
    const Index wire = Index{1} << op.targets[j];
    if ((op.z_mask & wire) != 0) {
      change.vectors.push_back(kIdentity2);
    } else if ((op.x_mask & wire) != 0) {
      change.vectors.push_back(kHadamard2);
    } else if ((op.y_mask & wire) != 0) {
      change.vectors.push_back(kToY);
    } else {
      return std::nullopt;
    }
    multiply_right(total, j, change.vectors[j]);
    multiply_left(total, j, adjoint(change.vectors[j]));
  }
  const std::size_t order = std::size_t{1} << op.target_count;
  std::vector<double> angles(order);
  std::vector<Complex> made(order * order);
  for (std::size_t row = 0; row < order; ++row) {
    angles[row] = std::arg(total[row * order + row]);
    made[row * order + row] = phase_by(angles[row]);
  }
  if (!recomposes(made, total)) return std::nullopt;
  change.terms = phase_terms(std::move(angles), std::span(op.targets.data(), op.target_count), 0);
  return change;
}

void multiply_right(std::span<Complex> matrix, std::size_t j, const Matrix2& before) {
  const std::size_t order = order_of(matrix), bit = std::size_t{1} << j;
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t column = 0; column < order; ++column) {
      if ((column & bit) != 0) continue;
      Complex& zero = matrix[row * order + column];
      Complex& one = matrix[row * order + column + bit];
      const Complex first = zero * before[0] + one * before[2];
      one = zero * before[1] + one * before[3];
      zero = first;
    }
  }
}

void multiply_left(std::span<Complex> matrix, std::size_t j, const Matrix2& after) {
  const std::size_t order = order_of(matrix), bit = std::size_t{1} << j;
  for (std::size_t row = 0; row < order; ++row) {
    if ((row & bit) != 0) continue;
    for (std::size_t column = 0; column < order; ++column) {
      Complex& zero = matrix[row * order + column];
      Complex& one = matrix[(row + bit) * order + column];
      const Complex first = after[0] * zero + after[1] * one;
      one = after[2] * zero + after[3] * one;
      zero = first;
    }
  }
}

}  // namespace qsim
