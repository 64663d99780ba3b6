// Matrices on two targets that keep parity, between phases and basis changes: what is left of them for kernels, and
// that sweeps of them, as programs and as texts, do what they say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/numbers/rounding.h"
#include "base/philox.h"
#include "cuda/factor/light_pair.h"
#include "cuda/factor/side_phases.h"
#include "cuda/program/lower.h"
#include "cuda/tile/shears.h"
#include "cuda/tile/work.h"
#include "cuda_emulator.h"
#include "cuda_host_kernel.h"
#include "cuda_programs.h"
#include "plan/plan.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;
using std::numbers::pi;
using Phases = std::array<double, 4>;

/// diag(rows) (a rotation by x of 00 with 11 and by y of 01 with 10) diag(columns).
std::vector<Complex> pair_of(double x, double y, const Phases& rows = {}, const Phases& columns = {}) {
  std::vector<Complex> matrix(16);
  for (std::size_t r = 0; r < 4; ++r) {
    const double angle = r == 0 || r == 3 ? x : y;
    matrix[r * 4 + r] = std::polar(std::cos(angle), rows[r] + columns[r]);
    matrix[r * 4 + 3 - r] = std::polar(std::sin(angle), rows[r] + columns[3 - r] - pi / 2);
  }
  return matrix;
}

std::vector<Complex> product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  std::vector<Complex> result(16);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t c = 0; c < 4; ++c) result[r * 4 + c] += a[r * 4 + k] * b[k * 4 + c];
    }
  }
  return result;
}

std::vector<Complex> local(const Local& low, const Local& high) {
  std::vector<Complex> result(16);
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) result[r * 4 + c] = low[(r & 1) * 2 + (c & 1)] * high[(r >> 1) * 2 + (c >> 1)];
  }
  return result;
}

const double kHalf = std::sqrt(0.5);
const Local kNone{1, 0, 0, 1}, kHadamard{kHalf, kHalf, kHalf, -kHalf},
    kQuarter{kHalf, {0, -kHalf}, {0, -kHalf}, kHalf};  // RX(pi/2)

/// What is left of the matrix; the parts give it back.
double numbers_of(const std::vector<Complex>& matrix) {
  const std::optional<SidePhases> parts = side_phases(matrix);
  if (!parts) return -1;
  double size = 0;
  for (const Complex entry : matrix) size = std::max(size, std::abs(entry));
  const auto made = product_of(*parts);
  for (std::size_t e = 0; e < 16; ++e) EXPECT_LE(std::abs(made[e] - matrix[e]), 5e-15 * size);
  for (const auto& phases : {parts->rows, parts->columns}) {
    for (const Complex phase : phases) EXPECT_NEAR(std::abs(phase), 1, 1e-15);
  }
  EXPECT_EQ(parts->numbers, matrix_numbers(parts->matrix, 4));
  return parts->numbers;
}

TEST(CudaSidePhases, LeaveOfPairsTheirTangents) {
  EXPECT_EQ(numbers_of(pair_of(0.3, 0.3)), 4) << "RXX: a tangent a row";
  EXPECT_EQ(numbers_of(pair_of(1.2, 1.2, {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 4})), 4) << "or a cotangent, whatever phases";
  EXPECT_EQ(numbers_of(pair_of(0, 0.3)), 3) << "a Givens rotation: three shears";
  EXPECT_EQ(numbers_of(pair_of(0, 2.5, {0.1, 0.2, 0.3, 0.4}, {1, 2, 3, 4})), 3);
  EXPECT_EQ(numbers_of(pair_of(0.2, 0.3)), 6) << "two of different angles";
  EXPECT_EQ(numbers_of(pair_of(0, 0, {0.1, 0.2, 0.3, 0.4})), 0) << "phases alone";
  EXPECT_EQ(numbers_of(pair_of(pi / 2, pi / 2)), 0) << "a permutation";
}

TEST(CudaSidePhases, AreTheFewest) {
  const auto count = [](const std::array<Complex, 4>& phases) {
    return std::ranges::count_if(phases, [](Complex phase) { return !is_one(phase); });
  };
  std::optional<SidePhases> parts = side_phases(pair_of(0.3, 0.3, {0.7, 0.7, 0.7, 0.7}));
  EXPECT_EQ(count(parts->rows) + count(parts->columns), 0) << "a phase of all";
  parts = side_phases(pair_of(0.3, 0.3, {0, 0.7, 0.7, 0}));
  EXPECT_EQ(count(parts->rows) + count(parts->columns), 2) << "RZZ";
  parts = side_phases(pair_of(0.3, 0.3, {}, {0, 0.7, 0, 0.7}));
  EXPECT_EQ(count(parts->columns), 2) << "RZ of a target";
  EXPECT_TRUE(is_one(parts->columns[2] / parts->columns[0]) && is_one(parts->columns[3] / parts->columns[1]));
  parts = side_phases(pair_of(0.3, 0.3, {0, pi / 2, 0, pi}, {0, pi / 2, pi / 2, pi}));
  EXPECT_EQ(count(parts->rows) + count(parts->columns), 0) << "S and CZ turn entries";
}

TEST(CudaSidePhases, GiveMatricesBackAtTheEdgesToo) {
  const double angles[] = {0, 1e-17, 1e-15, 3e-15, 1e-12, 1e-8, 0.3, pi / 4, pi / 2, 1.57, pi, -1e-9, 4};
  for (const double x : angles) {
    for (const double y : angles) {
      for (const double phase : angles) {
        numbers_of(pair_of(x, y, {0, phase, -phase, 0.4}, {phase, 0.3, 0, -phase}));
        numbers_of(pair_of(x, -y, {phase, phase, phase, phase}));
      }
    }
  }
  for (std::uint64_t seed = 1; seed <= 50; ++seed) EXPECT_FALSE(side_phases(test::random_unitary(2, seed)));
}

TEST(CudaSidePhases, AreNoneOfOtherMatrices) {
  EXPECT_FALSE(side_phases(std::vector<Complex>(16)));
  std::vector<Complex> matrix = pair_of(0.3, 0.4);
  matrix[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(side_phases(matrix));
  EXPECT_FALSE(side_phases(local(kHadamard, kHadamard))) << "four entries a row";
  EXPECT_EQ(numbers_of(local(kHadamard, kNone)), 4) << "a sum a row, whatever it pairs";
}

TEST(CudaShears, AreTheRotationOfEverySignAndDirection) {
  const Complex units[] = {1, {0, 1}, -1, {0, -1}};
  for (const double angle : {0.3, -0.3, 1.2, -1.2, 1e-6, pi / 4}) {
    for (const Complex first : units) {
      for (const Complex second : units) {
        for (const Complex right : units) {
          const double c = std::cos(angle), s = std::sin(angle);
          const std::vector<Complex> matrix{first * c, -first * s * right, second * s, second * c * right};
          const std::vector<Shears> all = shears_of(matrix, 2);
          ASSERT_EQ(all.size(), 1u) << angle;
          EXPECT_LE(std::abs(all[0].half_tangent), 1);
          EXPECT_EQ(matrix_numbers(matrix, 2), 3);
        }
      }
    }
  }
  EXPECT_TRUE(shears_of(std::vector<Complex>{1, -0.3, 0.3, 1}, 2).empty()) << "two numbers, where a scale is out";
  EXPECT_TRUE(shears_of(std::vector<Complex>{0.6, -0.8, 0.8, 0.61}, 2).empty()) << "no rotation";
  EXPECT_TRUE(shears_of(std::vector<Complex>{0.6, 0.8, 0.8, 0.6}, 2).empty());
}

TEST(CudaTurnedPair, FindsPairsBetweenBasisChanges) {
  const Local bases[] = {kNone, kHadamard, kQuarter};
  const std::vector<Complex> pair = pair_of(0.3, 0.3, {0.1, 0.2, 0.3, 0.5}, {0, 0.4, 0.5, 0.6});
  for (std::size_t choice = 0; choice < 81; ++choice) {
    const std::vector<Complex> matrix = product(local(bases[choice % 3], bases[choice / 3 % 3]),
                                                product(pair, local(bases[choice / 9 % 3], bases[choice / 27])));
    const TurnedPair turned = turned_pair(matrix);
    EXPECT_LE(matrix_numbers(side_phases(turned.matrix)->matrix, 4), 4) << choice;
    const auto of = [](const std::optional<Local>& turn) { return turn.value_or(kNone); };
    const std::vector<Complex> made = product(local(of(turned.left[0]), of(turned.left[1])),
                                              product(turned.matrix, local(of(turned.right[0]), of(turned.right[1]))));
    for (std::size_t e = 0; e < 16; ++e) EXPECT_LE(std::abs(made[e] - matrix[e]), 5e-15) << choice;
  }
  const TurnedPair other = turned_pair(test::random_unitary(2, 3));
  EXPECT_FALSE(other.left[0] || other.left[1] || other.right[0] || other.right[1]);
}

/// Of pairs, single targets, with and without controls, and phases, in no order.
Sweep random_pairs(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations) {
  Sweep sweep;
  for (std::uint32_t bit = 0; bit < bits; ++bit) sweep.active.push_back(static_cast<Bit>(bit));
  sweep.store = sweep.active;
  const auto angle = [&] {
    return random.below(3) == 0 ? pi / 4 * static_cast<double>(random.below(8)) : random.uniform(-4, 4);
  };
  const auto phases = [&]() -> Phases {
    return random.below(2) == 0 ? Phases{} : Phases{angle(), angle(), angle(), angle()};
  };
  const Local bases[] = {kNone, kNone, kHadamard, kQuarter};
  const auto locals = [&] { return local(bases[random.below(4)], bases[random.below(4)]); };
  for (std::uint32_t i = 0; i < operations; ++i) {
    PlanOp op;
    const auto first = static_cast<Bit>(random.below(bits));
    const auto second = static_cast<Bit>((first + 1 + random.below(bits - 1)) % bits);
    const std::uint64_t kind = random.below(6);
    std::vector<Complex> matrix;
    if (kind < 3) {
      const double x = kind == 0 ? 0 : angle();
      matrix = pair_of(x, kind == 1 ? x : angle(), phases(), phases());
      if (kind == 2) matrix = product(locals(), product(matrix, locals()));
      op.target_count = 2;
      op.targets = {first, second};
    } else if (kind < 5) {
      const double turn = angle(), c = std::cos(turn), s = std::sin(turn);
      matrix = random.below(2) == 0 ? std::vector<Complex>{c, -s, s, c} : std::vector<Complex>{c, {0, s}, {0, s}, c};
      op.target_count = 1;
      op.targets = {first};
      if (kind == 4) op.control_mask = op.control_value = Index{1} << second;
    } else {
      op.form = Form::kPhases;
      op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
      op.data_count = 1;
      sweep.phases.push_back({Index{1} << first | Index{random.below(2)} << second, random.below(2) == 0, angle()});
    }
    if (!matrix.empty()) {
      op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
      op.data_count = static_cast<std::uint32_t>(matrix.size());
      sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    }
    sweep.ops.push_back(op);
  }
  return sweep;
}

LowerOptions options_of(std::uint32_t bits, Precision precision) {
  LowerOptions options = cuda::lower_options(bits, precision);
  options.canonical = true;
  return options;
}

TEST(CudaLightPairs, RandomSweepsMatchTheirWords) {
  const auto [first, count] = test::Campaign(300);
  PhiloxSequence random(70 + first);
  for (std::uint64_t trial = 0; trial < count; ++trial) {
    const auto bits = 3 + static_cast<std::uint32_t>(random.below(7));
    const auto operations = 1 + static_cast<std::uint32_t>(random.below(trial % 3 == 0 ? 60 : 8));
    const Sweep sweep = random_pairs(random, bits, operations);
    const std::vector<Complex> memory = test::random_state(random, bits);
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, memory);
    LowerOptions options = options_of(bits, trial % 2 == 0 ? Precision::kDouble : Precision::kSingle);
    options.lanes = trial % 4 == 0;
    options.trials = 1 + static_cast<std::uint32_t>(trial % 3);
    std::vector<Complex> state = memory;
    test::emulate(lower_sweep(sweep, options), state);
    ASSERT_LE(dense::max_difference(state, expected), 1e-14 * (10 + operations)) << "trial " << trial;
  }
}

TEST(CudaLightPairs, TextsDoOnTheHostWhatSweepsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  const auto [first, count] = test::Campaign(6);
  PhiloxSequence random(90 + first);
  for (std::uint64_t trial = 0; trial < count; ++trial) {
    const Precision precision = trial % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    const auto bits = precision == Precision::kDouble ? 9u : 10u;
    const Sweep sweep = random_pairs(random, bits, 40);
    std::vector<Complex> state = test::random_state(random, bits);
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, state);
    TileProgram program = lower_sweep(sweep, options_of(bits, precision));
    if (precision == Precision::kSingle) round_tangents(program);
    test::run_generated(program, state);
    ASSERT_LE(dense::max_difference(state, expected), precision == Precision::kDouble ? 1e-14 : 2e-6) << trial;
  }
}

}  // namespace
}  // namespace qsim
