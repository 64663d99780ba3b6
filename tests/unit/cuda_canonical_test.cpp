// Canonical forms give their matrices back, and blocks in that form act as the blocks did.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "cuda/factor/canonical.h"
#include "cuda/program/lower.h"
#include "cuda/tile/work.h"
#include "cuda_emulator.h"
#include "plan/plan.h"
#include "support/dense.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

void expect_same(const std::vector<Complex>& matrix) {
  const std::optional<Canonical> parts = canonical_form(matrix);
  ASSERT_TRUE(parts);
  const auto made = product_of(*parts);
  double size = 0;
  for (const Complex entry : matrix) size = std::max(size, std::abs(entry));
  for (std::size_t k = 0; k < 16; ++k) EXPECT_LE(std::abs(made[k] - matrix[k]), 5e-15 * size);
  constexpr double kQuarter = std::numbers::pi / 4 + 1e-14;
  EXPECT_LE(std::max({std::abs(parts->x), std::abs(parts->y), std::abs(parts->z)}), kQuarter);
}

TEST(CudaCanonical, PartsGiveRandomUnitariesBack) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::vector<Complex> matrix = test::random_unitary(2, seed);
    if (seed % 3 == 0) {
      for (Complex& entry : matrix) entry *= Complex(0.1, 2.5);
    }
    expect_same(matrix);
  }
}

TEST(CudaCanonical, PartsGiveUnitariesWithEqualEigenvaluesBack) {
  const double angles[] = {0, std::numbers::pi / 8, std::numbers::pi / 4, std::numbers::pi / 2, 1e-9, 0.3};
  for (const double x : angles) {
    for (const double y : angles) {
      for (const double z : angles) {
        Canonical parts;
        parts.scale = std::polar(1.0, 0.7);
        parts.left = parts.right = {Local{1, 0, 0, 1}, Local{0, -1, 1, 0}};
        parts.x = x;
        parts.y = -y;
        parts.z = z;
        const auto matrix = product_of(parts);
        expect_same({matrix.begin(), matrix.end()});
      }
    }
  }
  expect_same({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0});
  expect_same({1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1});
}

// Zeros where a pivot or a ratio is looked for.
TEST(CudaCanonical, PartsGivePermutationsWithPhasesBack) {
  std::array<std::size_t, 4> row{0, 1, 2, 3};
  const Complex phases[] = {1, Complex(0, 1), -1, std::polar(1.0, 0.3)};
  do {
    for (std::size_t kind = 0; kind < 16; ++kind) {
      std::vector<Complex> matrix(16);
      for (std::size_t column = 0; column < 4; ++column) {
        matrix[4 * row[column] + column] = phases[(kind * (column + 1) + column * column) % 4];
      }
      expect_same(matrix);
    }
  } while (std::next_permutation(row.begin(), row.end()));
}

TEST(CudaCanonical, WhatIsNoUnitaryIsRefused) {
  EXPECT_FALSE(canonical_form({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(canonical_form({1, 0, 0, 0.1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
  EXPECT_FALSE(canonical_form(std::vector<Complex>(16)));
  EXPECT_FALSE(canonical_form({1, 0, 0, 1}));
}

TEST(CudaCanonical, ChainsOfBlocksAreLessWorkAndDoTheSame) {
  Sweep sweep;
  for (Bit bit = 0; bit < 12; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (unsigned layer = 0; layer < 6; ++layer) {
    for (Bit bit = 4; bit < 8; bit += 2) {
      PlanOp op;
      op.target_count = 2;
      op.targets[0] = static_cast<Bit>(4 + (bit + layer) % 4);
      op.targets[1] = static_cast<Bit>(4 + (bit + layer + 1) % 4);
      op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
      op.data_count = 16;
      const std::vector<Complex> matrix = test::random_unitary(2, 100 * layer + bit);
      sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
      sweep.ops.push_back(op);
    }
  }
  // Two of the blocks turn each bit by itself: nothing is left of them but those turns.
  for (const std::size_t block : {3, 7}) {
    const std::vector<Complex> low = test::random_unitary(1, block), high = test::random_unitary(1, 50 + block);
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t c = 0; c < 4; ++c)
        sweep.matrices[16 * block + 4 * r + c] = low[(r & 1) * 2 + (c & 1)] * high[(r >> 1) * 2 + (c >> 1)];
  }
  LowerOptions options;
  options.local_bits = 12;
  const TileProgram blocks = lower_sweep(sweep, options);
  options.canonical = true;
  const TileProgram parts = lower_sweep(sweep, options);
  EXPECT_LT(work_of(parts), work_of(blocks));
  std::vector<Complex> expected = dense::random_state(12, 3), state = expected;
  test::emulate(blocks, expected);
  test::emulate(parts, state);
  for (Index i = 0; i < state.size(); ++i) ASSERT_LE(std::abs(state[i] - expected[i]), 1e-14);
}

}  // namespace
}  // namespace qsim
