// What is taken for a cheap form is one in every entry, and what is no unitary is taken for none.
#include "plan/matrix_forms.h"

#include <gtest/gtest.h>

#include <numbers>

#include "base/numbers/matrix2.h"
#include "base/numbers/rounding.h"
#include "plan/lower/basis_change.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

const Complex kTurn = std::polar(1.0, 0.7);

/// `holds` for the matrix, and no longer once any of its entries is off or missing.
template <class Matrix, class Test>
void expect_of_every_entry(const Matrix& matrix, const Test& holds) {
  ASSERT_TRUE(holds(matrix));
  for (std::size_t entry = 0; entry < matrix.size(); ++entry) {
    for (const Complex off : {Complex(1e-3), Complex(0, 1e-3), Complex(2)}) {
      Matrix changed = matrix;
      changed[entry] += off;
      EXPECT_FALSE(holds(changed)) << "entry " << entry << " off by " << off;
    }
    if (matrix[entry] == Complex(0)) continue;
    Matrix changed = matrix;
    changed[entry] = 0;
    EXPECT_FALSE(holds(changed)) << "entry " << entry << " missing";
  }
}

TEST(MatrixForms, OfOneQubitLookAtEveryEntry) {
  expect_of_every_entry(Matrix2{1, 0, 0, 1}, is_diagonal);
  expect_of_every_entry(Matrix2{0, 1, 1, 0}, is_flip);
  expect_of_every_entry(Matrix2{1, 0, 0, 1}, is_identity);
  EXPECT_TRUE(is_diagonal({kTurn, 0, 0, -kTurn}));
  EXPECT_TRUE(is_flip({0, kTurn, -kTurn, 0}));
  EXPECT_FALSE(is_identity({1, 0, 0, kTurn}));
  EXPECT_FALSE(is_identity({kTurn, 0, 0, 1}));
}

TEST(MatrixForms, OfSeveralQubitsLookAtEveryEntry) {
  using Entries = std::vector<Complex>;
  const auto diagonal = [](const Entries& m) { return diagonal_angles(m).has_value(); };
  const auto monomial = [](const Entries& m) { return monomial_form(m).has_value(); };
  expect_of_every_entry(Entries{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, diagonal);
  expect_of_every_entry(Entries{0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}, monomial);
  EXPECT_FALSE(monomial(test::random_unitary(2, 1)));
}

TEST(MatrixForms, AFlipMovesTheWholeCubeThatItsControlsName) {
  EXPECT_TRUE(flip_form(std::vector<Index>{0, 1, 3, 2}));
  EXPECT_TRUE(flip_form(std::vector<Index>{1, 0, 3, 2}));
  EXPECT_FALSE(flip_form(std::vector<Index>{0, 1, 2, 3}));
  EXPECT_FALSE(flip_form(std::vector<Index>{0, 2, 1, 3}));
  EXPECT_FALSE(flip_form(std::vector<Index>{1, 0, 2, 3, 4, 5, 7, 6})) << "where the upper two are equal: no pattern";
}

TEST(MatrixForms, AProductFarFromAUnitaryStaysWhatItIs) {
  const Matrix2 left{2, Complex(0, 1), 0.5, 3}, right{1, 0.25, Complex(0, -2), 4};
  EXPECT_EQ(unitary_product(left, right), product(left, right));
  const Matrix2 nearly{1 + 1e-9, 0, 0, 1};
  EXPECT_EQ(unitary_product(nearly, kIdentity2), nearly);
  // What rounding leaves is taken out.
  const Matrix2 rounded{1 + 2e-15, 0, 0, 1};
  EXPECT_LT(std::abs(unitary_product(rounded, kIdentity2)[0] - 1.0), 5e-16);
}

// Columns that are not quite at right angles, or not quite of length 1, as products of many matrices leave them.
TEST(MatrixForms, AProductIsBroughtBackToTheNearestUnitary) {
  const Complex i(0, 1);
  for (const Matrix2& turn : {kIdentity2, Matrix2{0.6, -0.8, 0.8, 0.6}, Matrix2{0.8, 0.6 * i, 0.6 * i, 0.8}}) {
    for (const Complex off : {Complex(1.5e-15), Complex(-1e-15, 1e-15), Complex(0, -1.5e-15)}) {
      for (const Matrix2& lean : {Matrix2{1, off, 0, 1}, Matrix2{1, 0, off, 1}}) {
        const Matrix2 m = unitary_product(turn, lean), as_it_is = product(turn, lean);
        EXPECT_LE(std::abs(std::conj(m[0]) * m[1] + std::conj(m[2]) * m[3]), 4.5e-16) << off;
        for (std::size_t entry = 0; entry < 4; ++entry) EXPECT_LE(std::abs(m[entry] - as_it_is[entry]), 1.5e-15) << off;
      }
    }
  }
}

TEST(MatrixForms, DiagonalsHaveAnEigenbasisInEitherOrder) {
  EXPECT_TRUE(eigenbasis({kTurn, 0, 0, 1}));
  EXPECT_TRUE(eigenbasis({1, 0, 0, kTurn}));
}

TEST(MatrixForms, EveryUnitaryHasAnEigenbasis) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Matrix m = test::random_unitary(1, seed);
    EXPECT_TRUE(eigenbasis({m[0], m[1], m[2], m[3]})) << seed;
  }
}

TEST(MatrixForms, EveryUnitaryTurnsAboutAnAxis) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Matrix m = test::random_unitary(1, seed);
    const AxisAngle parts = axis_angle({m[0], m[1], m[2], m[3]});
    Matrix2 made = scaled(kIdentity2, parts.cosine);
    for (std::size_t letter = 0; letter < 3; ++letter) {
      for (std::size_t entry = 0; entry < 4; ++entry)
        made[entry] -= Complex(0, parts.sines[letter]) * kLetterMatrices[letter][entry];
    }
    EXPECT_TRUE(recomposes(scaled(made, std::polar(1.0, parts.phase)), m)) << seed;
  }
}

TEST(MatrixForms, FactorsAreTheSameAsNumbersAndAsAngles) {
  constexpr double kQuarter = 0.5 * std::numbers::pi;
  // Sines from nothing to all, next to what counts as nothing, and phases on an axis, within rounding of it and off it.
  for (const double turn : {0.0, 1e-16, 1e-15, 3e-15, 1e-9, 0.3, 0.25 * std::numbers::pi, 1.2, kQuarter - 1e-9,
                            kQuarter - 3e-15, kQuarter - 1e-15, kQuarter}) {
    for (const double around : {0.0, 0.4, kQuarter, 3.0}) {
      for (const double left : {0.0, 2e-16, -5e-16, kQuarter + 3e-16, -2 * kQuarter, 1.1, 1e-9}) {
        for (const double right : {0.0, 4e-16, kQuarter, 2 * kQuarter - 4e-16, -2.2}) {
          const Complex all = std::polar(1.0, around), below = std::polar(1.0, left), before = std::polar(1.0, right);
          const double c = std::cos(turn), s = std::sin(turn);
          const Matrix2 m{all * c, -all * before * s, all * below * s, all * below * before * c};
          const RotationParts parts = rotation_parts(m);
          const auto angles = rotation_angles(m);
          ASSERT_TRUE(angles) << turn << ' ' << around << ' ' << left << ' ' << right;
          const Matrix2 made{parts.around * parts.cosine, -parts.around * parts.right * parts.sine,
                             parts.around * parts.left * parts.sine,
                             parts.around * parts.left * parts.right * parts.cosine};
          EXPECT_TRUE(recomposes(made, m)) << turn << ' ' << around << ' ' << left << ' ' << right;
          EXPECT_NEAR(std::abs(parts.around - std::polar(1.0, angles->around)), 0, 1e-15);
          EXPECT_NEAR(std::abs(parts.left - std::polar(1.0, angles->left)), 0, 1e-15);
          EXPECT_NEAR(std::abs(parts.right - std::polar(1.0, angles->right)), 0, 1e-15);
        }
      }
    }
  }
}

TEST(MatrixForms, PhasesNextToAnAxisAreOnIt) {
  const Complex off = std::polar(1.0, 3e-16), i(0, 1);
  const auto angles = rotation_angles({0.6, -0.8 * i * off, 0.8 * off, 0.6 * i});
  ASSERT_TRUE(angles);
  EXPECT_EQ(angles->left, 0);
  EXPECT_NEAR(angles->right, 0.5 * std::numbers::pi, 1e-15);
  // Diagonals and flips have one phase beside that of all.
  const auto diagonal = rotation_angles({kTurn, 0, 0, i}), flip = rotation_angles({0, kTurn, i, 0});
  ASSERT_TRUE(diagonal && flip);
  EXPECT_EQ(diagonal->right, 0);
  EXPECT_EQ(flip->right, 0);
}

TEST(MatrixForms, NoUnitaryNoFactors) {
  EXPECT_FALSE(rotation_angles({1, 0.5, 0, 1}));
  EXPECT_FALSE(eigenbasis({1, 1, 0, 1}));
  EXPECT_FALSE(eigenbasis({1, 0, 0, 3}));
  EXPECT_TRUE(rotation_angles({0.6, 0.8, -0.8, 0.6}));
  EXPECT_TRUE(eigenbasis({0.6, 0.8, -0.8, 0.6}));
  LoweredOp op;
  op.target_count = 1;
  op.x_mask = 1;
  EXPECT_TRUE(diagonalize(op, std::vector<Complex>{0, 1, 1, 0}));
  EXPECT_FALSE(diagonalize(op, std::vector<Complex>{0, 1, 0.5, 0}));
}

}  // namespace
}  // namespace qsim
