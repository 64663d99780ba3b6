// Powers of unitary matrices put together again.
#include "circuit/unitary_power.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "qsim/circuit.h"

namespace qsim {
namespace {

Matrix product(const Matrix& a, const Matrix& b, std::size_t order) {
  Matrix result(order * order);
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = 0; k < order; ++k) result[i * order + j] += a[i * order + k] * b[k * order + j];
    }
  }
  return result;
}

double difference(const Matrix& a, const Matrix& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST(UnitaryPower, HalfOfADiagonalTakesThePrincipalPhase) {
  const Matrix z = {1, 0, 0, -1};
  EXPECT_LT(difference(unitary_power(z, 0.5), {1, 0, 0, Complex(0, 1)}), 1e-15);
  const Matrix minus = {-1, 0, 0, -1};
  EXPECT_LT(difference(unitary_power(minus, 0.5), {Complex(0, 1), 0, 0, Complex(0, 1)}), 1e-15);
}

TEST(UnitaryPower, RootsMultiplyToTheMatrix) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> turn(-3, 3);
  for (std::uint32_t qubits = 1; qubits <= 5; ++qubits) {
    Circuit circuit(qubits);
    for (int layer = 0; layer < 3; ++layer) {
      for (Qubit q = 0; q < qubits; ++q) {
        const std::array<double, 3> angles = {turn(random), turn(random), turn(random)};
        circuit.add_gate(Gate::kU, {}, {&q, 1}, angles);
        if (q > 0) circuit.cx(q - 1, q);
      }
    }
    std::vector<Qubit> all(qubits);
    for (Qubit q = 0; q < qubits; ++q) all[q] = q;
    const Matrix matrix = circuit_matrix(circuit, all), third = unitary_power(matrix, 1.0 / 3);
    const std::size_t order = std::size_t{1} << qubits;
    EXPECT_LT(difference(product(product(third, third, order), third, order), matrix), 1e-12) << qubits;
    EXPECT_LT(difference(product(unitary_power(matrix, -1), matrix, order), unitary_power(matrix, 0)), 1e-12) << qubits;
  }
}

TEST(UnitaryPower, DegenerateEigenvaluesAreNoProblem) {
  Circuit circuit(3);
  circuit.swap(0, 2);
  circuit.cx(1, 2);
  const std::array<Qubit, 3> all = {0, 1, 2};
  const Matrix matrix = circuit_matrix(circuit, all), half = unitary_power(matrix, 0.5);
  EXPECT_LT(difference(product(half, half, 8), matrix), 1e-13);
  EXPECT_LT(difference(unitary_power(unitary_power(matrix, 0), 0.3), unitary_power(matrix, 0)), 1e-15);
}

}  // namespace
}  // namespace qsim
