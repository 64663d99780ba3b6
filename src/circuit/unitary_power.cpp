// Powers of unitary matrices by their eigenvectors, which plane rotations find.
#include "circuit/unitary_power.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim {
namespace {

std::size_t order_of(const Matrix& matrix) {
  return std::size_t{1} << (static_cast<unsigned>(std::countr_zero(matrix.size())) / 2);
}

/// The dominant eigenvector of a symmetric 3 x 3 matrix, first entry not negative: Jacobi rotations.
std::array<double, 3> dominant(std::array<std::array<double, 3>, 3> m) {
  std::array<std::array<double, 3>, 3> v = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t q = p + 1; q < 3; ++q) {
        if (m[p][q] == 0) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        for (std::size_t k = 0; k < 3; ++k) {
          const double a = m[k][p], b = m[k][q];
          m[k][p] = c * a - s * b;
          m[k][q] = s * a + c * b;
        }
        for (std::size_t k = 0; k < 3; ++k) {
          const double a = m[p][k], b = m[q][k], x = v[k][p], y = v[k][q];
          m[p][k] = c * a - s * b;
          m[q][k] = s * a + c * b;
          v[k][p] = c * x - s * y;
          v[k][q] = s * x + c * y;
        }
      }
    }
  }
  std::size_t best = 0;
  for (std::size_t k = 1; k < 3; ++k) {
    if (m[k][k] > m[best][best]) best = k;
  }
  const double sign = v[0][best] < 0 ? -1 : 1;
  return {sign * v[0][best], sign * v[1][best], sign * v[2][best]};
}

/// A plane rotation of rows and columns p and q, and the same of the columns of `vectors`.
void rotate(Matrix& a, Matrix& vectors, std::size_t order, std::size_t p, std::size_t q, double c, Complex s) {
  for (std::size_t k = 0; k < order; ++k) {
    const Complex x = a[k * order + p], y = a[k * order + q];
    a[k * order + p] = c * x + s * y;
    a[k * order + q] = c * y - std::conj(s) * x;
    const Complex v = vectors[k * order + p], w = vectors[k * order + q];
    vectors[k * order + p] = c * v + s * w;
    vectors[k * order + q] = c * w - std::conj(s) * v;
  }
  for (std::size_t k = 0; k < order; ++k) {
    const Complex x = a[p * order + k], y = a[q * order + k];
    a[p * order + k] = c * x + std::conj(s) * y;
    a[q * order + k] = c * y - s * x;
  }
}

/// Rotates the pair towards diagonal; false when it is there already.
bool turn_pair(Matrix& a, Matrix& vectors, std::size_t order, std::size_t p, std::size_t q) {
  const Complex pq = a[p * order + q], qp = a[q * order + p];
  constexpr double kRounding = 1e-17;
  if (std::norm(pq) + std::norm(qp) <= kRounding * kRounding) return false;
  const std::array<Complex, 3> h = {a[p * order + p] - a[q * order + q], pq + qp, Complex(0, 1) * (qp - pq)};
  std::array<std::array<double, 3>, 3> g{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) g[i][j] = (std::conj(h[i]) * h[j]).real();
  }
  const auto [x, y, z] = dominant(g);
  const double c = std::sqrt((x + 1) / 2);
  if (c == 0) return false;
  const Complex s = Complex(y, -z) / (2 * c);
  if (std::abs(s) < kRounding) return false;
  rotate(a, vectors, order, p, q, c, s);
  return true;
}

double outside_diagonal(const Matrix& a, std::size_t order) {
  double sum = 0;
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) sum += i == j ? 0 : std::norm(a[i * order + j]);
  }
  return std::sqrt(sum);
}

/// Eigenphase in (-pi, pi]; what rounding has put just above -pi is pi.
double principal(Complex value) {
  constexpr double kRounding = 1e-12;
  const double phase = std::arg(value);
  return phase < -std::numbers::pi + kRounding ? phase + 2 * std::numbers::pi : phase;
}

}  // namespace

Matrix adjoint(const Matrix& matrix) {
  const std::size_t order = order_of(matrix);
  Matrix result(matrix.size());
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) result[j * order + i] = std::conj(matrix[i * order + j]);
  }
  return result;
}

Matrix circuit_matrix(const Circuit& circuit, std::span<const Qubit> qubits) {
  const std::size_t order = std::size_t{1} << qubits.size();
  const auto place_of = [&](Qubit qubit) {
    return static_cast<unsigned>(std::ranges::find(qubits, qubit) - qubits.begin());
  };
  Matrix result(order * order);
  for (std::size_t i = 0; i < order; ++i) result[i * order + i] = 1;
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kBarrier) continue;
    const Matrix matrix = circuit.matrix(op);
    Index controls = 0, targets = 0;
    for (const Qubit qubit : circuit.controls(op)) controls |= bit_mask(place_of(qubit));
    std::vector<unsigned> places;
    for (const Qubit qubit : circuit.targets(op)) places.push_back(place_of(qubit));
    for (const unsigned place : places) targets |= bit_mask(place);
    const std::size_t small = std::size_t{1} << places.size();
    std::vector<Complex> before(small);
    const auto row_of = [&](Index rest, std::size_t index) {
      for (std::size_t j = 0; j < places.size(); ++j) rest |= (index >> j & 1) << places[j];
      return rest;
    };
    for (Index rest = 0; rest < order; ++rest) {
      if ((rest & targets) != 0 || (rest & controls) != controls) continue;
      for (std::size_t column = 0; column < order; ++column) {
        for (std::size_t i = 0; i < small; ++i) before[i] = result[row_of(rest, i) * order + column];
        for (std::size_t i = 0; i < small; ++i) {
          Complex sum = 0;
          for (std::size_t j = 0; j < small; ++j) sum += matrix[i * small + j] * before[j];
          result[row_of(rest, i) * order + column] = sum;
        }
      }
    }
  }
  return result;
}

Matrix unitary_power(const Matrix& matrix, double exponent) {
  const std::size_t order = order_of(matrix);
  Matrix a = matrix, vectors(matrix.size());
  for (std::size_t i = 0; i < order; ++i) vectors[i * order + i] = 1;
  constexpr int kRounds = 60;
  constexpr double kAccuracy = 1e-14;
  const double enough = kAccuracy * static_cast<double>(order);
  int round = 0;
  for (bool turned = true; turned && outside_diagonal(a, order) > enough; ++round) {
    if (round == kRounds) throw Error("the eigenvectors of a unitary matrix were not found");
    turned = false;
    for (std::size_t p = 0; p < order; ++p) {
      for (std::size_t q = p + 1; q < order; ++q) turned = turn_pair(a, vectors, order, p, q) || turned;
    }
  }
  std::vector<Complex> values(order);
  for (std::size_t i = 0; i < order; ++i) {
    const double phase = exponent * principal(a[i * order + i]);
    values[i] = {std::cos(phase), std::sin(phase)};
  }
  Matrix result(matrix.size());
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) {
      Complex sum = 0;
      for (std::size_t k = 0; k < order; ++k) {
        sum += vectors[i * order + k] * values[k] * std::conj(vectors[j * order + k]);
      }
      result[i * order + j] = sum;
    }
  }
  return result;
}

}  // namespace qsim
