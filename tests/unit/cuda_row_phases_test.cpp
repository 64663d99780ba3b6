// Matrices on two targets with what their entries share divided out: the same matrices, fewer numbers, and as right
// after thousands of them as after one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "base/philox.h"
#include "cuda/factor/row_phases.h"
#include "cuda/program/lower.h"
#include "cuda/tile/work.h"
#include "cuda_emulator.h"
#include "plan/plan.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

/// diag(phases) times a rotation by x of 00 with 11 and by y of 01 with 10.
std::vector<Complex> crossed(double x, double y, const std::array<double, 4>& angles) {
  std::vector<Complex> matrix(16);
  for (std::size_t r = 0; r < 4; ++r) {
    const double angle = r == 0 || r == 3 ? x : y;
    matrix[r * 4 + r] = std::polar(1.0, angles[r]) * std::cos(angle);
    matrix[r * 4 + 3 - r] = std::polar(1.0, angles[r]) * Complex(0, -std::sin(angle));
  }
  return matrix;
}

/// The parts, where there are any, are the matrix again, and lighter.
double numbers_of(const std::vector<Complex>& matrix) {
  const std::optional<RowPhases> parts = row_phases(matrix);
  const double before = matrix_numbers(matrix, 4);
  if (!parts) return before;
  double size = 0;
  for (const Complex entry : matrix) size = std::max(size, std::abs(entry));
  const auto made = product_of(*parts);
  for (std::size_t e = 0; e < 16; ++e) EXPECT_LE(std::abs(made[e] - matrix[e]), 5e-15 * size);
  for (const Complex phase : parts->rows) EXPECT_NEAR(std::abs(phase), 1, 1e-15);
  for (const Complex entry : parts->matrix) EXPECT_LE(std::abs(entry), 2.0001);
  EXPECT_LT(parts->numbers, before);
  return parts->numbers;
}

TEST(CudaRowPhases, OfRotationsOfTwoQubitsAreTheirTangents) {
  EXPECT_EQ(numbers_of(crossed(0.3, 0.3, {})), 4) << "RXX: a tangent a row";
  EXPECT_EQ(numbers_of(crossed(1.2, 1.2, {})), 4) << "or a cotangent";
  EXPECT_EQ(numbers_of(crossed(0.3, 0.3, {0.7, 0.7, 0.7, 0.7})), 4) << "a phase of all costs nothing";
  EXPECT_EQ(numbers_of(crossed(0.3, 0.3, {0, 0.7, 0.7, std::numbers::pi})), 4 + 2 * 2) << "a phase of two rows";
  EXPECT_EQ(numbers_of(crossed(0, 0.3, {0, 0.7, 0.7, 0})), 2 * 2 + 2) << "RXX RYY RZZ: two rows, and two of one number";
}

TEST(CudaRowPhases, GiveMatricesBackAtTheEdgesToo) {
  const double angles[] = {
      0, 1e-17, 1e-15, 3e-15, 1e-12, 1e-8, 0.3, std::numbers::pi / 4, std::numbers::pi / 2, 1.57, std::numbers::pi};
  for (const double x : angles) {
    for (const double y : angles) {
      for (const double phase : angles) {
        numbers_of(crossed(x, y, {0, phase, -phase, 0.4}));
        numbers_of(crossed(x, -y, {phase, phase, phase, phase}));
      }
    }
  }
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<Complex> matrix = test::random_unitary(2, seed);
    if (seed % 3 == 0) {
      for (Complex& entry : matrix) entry *= Complex(1e-3, 2e-3);
    }
    numbers_of(matrix);
  }
}

TEST(CudaRowPhases, AreNoneWhereThereIsNothingToDivideBy) {
  EXPECT_FALSE(row_phases(std::vector<Complex>(16)));
  std::vector<Complex> matrix = crossed(0.3, 0.4, {});
  matrix[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(row_phases(matrix));
  EXPECT_FALSE(row_phases(crossed(0, 0, {}))) << "an identity has no numbers";
}

TEST(CudaRowPhases, StayRightOverThousandsInOneTile) {
  constexpr unsigned kMany = 6000;
  PhiloxSequence random(3);
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2, 3, 4};
  for (unsigned i = 0; i < kMany; ++i) {
    const auto low = static_cast<Bit>(i % 4);
    const double x = i % 3 == 0 ? 0.3 : random.uniform(0, 3);
    const std::vector<Complex> matrix = crossed(x, i % 2 == 0 ? x : 0.2, {0, 0.7, 0.7, random.uniform(0, 3)});
    PlanOp op;
    op.target_count = 2;
    op.targets[0] = low;
    op.targets[1] = static_cast<Bit>(low + 1);
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = 16;
    sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    sweep.ops.push_back(op);
  }
  const std::vector<Complex> memory = test::random_state(random, 6);
  const std::vector<Complex> expected = test::reference_sweep(sweep, {}, 6, memory);
  for (const bool canonical : {false, true}) {
    LowerOptions options;
    options.local_bits = 6;
    options.canonical = canonical;
    const TileProgram program = lower_sweep(sweep, options);
    std::vector<Complex> state = memory;
    test::emulate(program, state);
    EXPECT_LE(dense::max_difference(state, expected), 2e-13) << canonical;
    EXPECT_NEAR(dense::norm(state), dense::norm(memory), 1e-12);
  }
}

}  // namespace
}  // namespace qsim
