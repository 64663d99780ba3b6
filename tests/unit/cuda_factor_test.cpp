// Rotations with their scale taken out: the product is the matrix, phases are as few as they can be, amplitudes stay in
// range however long a sweep is, and rounding the tangents changes no norm.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "base/bits.h"
#include "base/philox.h"
#include "cuda/factor/gauge.h"
#include "cuda/program/items.h"
#include "cuda/program/lower.h"
#include "cuda_emulator.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

constexpr Rotation kRotations[] = {Rotation::kReal,     Rotation::kRealMinus,     Rotation::kImaginary,
                                   Rotation::kRealSwap, Rotation::kRealSwapMinus, Rotation::kImaginarySwap};

Gauge expect_product(const std::vector<Complex>& matrix) {
  const Gauge gauge = find_gauge(matrix);
  const auto made = product_of(gauge);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_LE(std::abs(made[k] - matrix[k]), 4e-15) << k;
  EXPECT_LE(std::abs(gauge.tangent), 1);
  EXPECT_NEAR(std::abs(gauge.pre), 1, 1e-15);
  EXPECT_NEAR(std::abs(gauge.post), 1, 1e-15);
  return gauge;
}

TEST(CudaGauge, GivesTheMatrixBack) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) expect_product(test::random_unitary(1, seed));
}

// Every form between phases that may be 1: none with more phases than it was made of, and before it none where after it
// does.
TEST(CudaGauge, NeedsNoMorePhasesThanTheMatrixWasMadeOf) {
  for (const Rotation rotation : kRotations) {
    for (const double tangent : {0.0, 1e-3, 0.4, 1 - 1e-9, 1.0, -0.4, -1.0}) {
      for (int phases = 0; phases < 4; ++phases) {
        Gauge built{};
        built.rotation = rotation;
        built.tangent = tangent;
        built.scale = std::polar(1 / std::hypot(1.0, tangent), 0.7);
        built.pre = (phases & 2) != 0 ? std::polar(1.0, 0.3) : Complex(1);
        built.post = (phases & 1) != 0 ? std::polar(1.0, -1.1) : Complex(1);
        ASSERT_EQ(built.phases(), phases);
        const auto matrix = product_of(built);
        SCOPED_TRACE(testing::Message() << static_cast<int>(rotation) << " tangent " << tangent << " phases "
                                        << phases);
        EXPECT_LE(expect_product({matrix.begin(), matrix.end()}).phases(), phases);
      }
    }
  }
}

// What is left of an entry by rounding has a phase, which must not be taken for the matrix's.
TEST(CudaGauge, TakesNoPhaseFromRounding) {
  for (const double small : {0.0, 1e-18, 1e-16, 3e-16}) {
    for (const double angle : {0.0, 0.4, 2.0}) {
      const Complex noise = std::polar(small, 1.9), phase = std::polar(1.0, angle);
      EXPECT_LE(expect_product({1, -std::conj(noise) * phase, noise, phase}).phases(), angle == 0 ? 0 : 2);
      EXPECT_LE(expect_product({noise, phase, 1, -std::conj(noise) * phase}).phases(), 2);
    }
  }
}

/// Turns of every kind on five bits with phases between them, so that nothing merges.
Sweep deep_sweep(std::size_t turns, std::uint64_t seed) {
  PhiloxSequence random(seed);
  Sweep sweep;
  for (Bit bit = 0; bit < 5; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (std::size_t i = 0; i < turns; ++i) {
    PlanOp turn;
    turn.target_count = 1;
    turn.targets[0] = static_cast<Bit>(random.below(5));
    const double tangent = i % 3 == 0 ? 1 : 0.2 + 0.1 * static_cast<double>(random.below(8));
    Gauge gauge{kRotations[random.below(6)], tangent, 1 / std::hypot(1.0, tangent), 1, 1};
    if (i % 4 == 0) gauge.pre = std::polar(1.0, 0.1 * static_cast<double>(random.below(60)));
    const auto matrix = product_of(gauge);
    turn.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    turn.data_count = 4;
    sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    if (i % 11 == 7) turn.control_mask = turn.control_value = Index{1} << (turn.targets[0] + 1) % 5;
    sweep.ops.push_back(turn);
    PlanOp phase;
    phase.form = Form::kPhases;
    phase.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    phase.data_count = 1;
    sweep.phases.push_back({Index{3} << random.below(4), false, 0.3 + 0.1 * static_cast<double>(random.below(20))});
    sweep.ops.push_back(phase);
  }
  return sweep;
}

TEST(CudaItems, GrowthIsBoundedOnEveryCoordinateAndUndoneByTheScale) {
  const std::vector<int> coordinates{0, 1, 2, 3, 4};
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    const double most = precision == Precision::kSingle ? 0x1p5 : 0x1p40;
    std::array<double, 5> growth{1, 1, 1, 1, 1}, largest = growth;
    const ItemList list = make_items(deep_sweep(3000, 5), coordinates, Blocks::kWhole, precision);
    long double total = std::abs(list.scale);
    for (const Item& item : list.items) {
      double own = 1;
      if (item.kind == Item::Kind::kRotate) {
        own = std::hypot(1.0, item.tangent);
      } else if (item.kind == Item::Kind::kMatrix) {
        double norm = 0;
        for (const Complex entry : item.matrix) norm += std::norm(entry);
        own = std::sqrt(norm / 2);
      }
      total *= own;
      if (item.targets.empty()) continue;
      const std::uint8_t at = item.targets[0];
      growth[at] *= own;
      largest[at] = std::max(largest[at], growth[at]);
      EXPECT_LE(growth[at], most);
    }
    EXPECT_NEAR(static_cast<double>(total), 1, 1e-12);
    // It is let grow as far as it may: an item less would be divided for nothing.
    for (const double value : largest) EXPECT_GE(value, most / 2);
  }
}

// A gate's own rounding, some 1e-16 of the norm, does not go into the scale: the same gate many times would add it up.
TEST(CudaItems, ATurnAndItsScaleAreOfNormOne) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Sweep sweep;
    sweep.active = sweep.store = {0};
    PlanOp turn;
    turn.target_count = 1;
    turn.data_count = 4;
    sweep.matrices = test::random_unitary(1, seed);
    sweep.ops = {turn};
    const ItemList list = make_items(sweep, {0}, Blocks::kWhole, Precision::kDouble);
    long double norm = std::abs(list.scale);
    for (const Item& item : list.items) norm *= std::hypot(1.0L, static_cast<long double>(item.tangent));
    EXPECT_LE(std::abs(norm - 1), 1e-18L) << seed;
  }
}

TEST(CudaItems, GrowthOfBlocksIsBoundedAsWell) {
  Sweep sweep;
  for (Bit bit = 0; bit < 5; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (unsigned i = 0; i < 200; ++i) {
    PlanOp op;
    op.target_count = 2;
    op.targets[0] = static_cast<Bit>(i % 4);
    op.targets[1] = static_cast<Bit>(i % 4 + 1);
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = 16;
    const std::vector<Complex> matrix = test::random_unitary(2, i + 1);
    sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    sweep.ops.push_back(op);
  }
  const ItemList list = make_items(sweep, {0, 1, 2, 3, 4}, Blocks::kCanonical, Precision::kSingle);
  std::array<double, 5> growth{1, 1, 1, 1, 1}, largest = growth;
  long double total = std::abs(list.scale);
  for (const Item& item : list.items) {
    double own = 1;
    if (item.kind == Item::Kind::kRotate) own = std::hypot(1.0, item.tangent);
    if (item.kind == Item::Kind::kMatrix) {
      double norm = 0;
      for (const Complex entry : item.matrix) norm += std::norm(entry);
      own = std::sqrt(norm / std::exp2(static_cast<double>(item.targets.size())));
    }
    total *= own;
    if (item.targets.empty()) continue;
    const std::uint8_t at = item.targets[0];
    growth[at] *= own;
    largest[at] = std::max(largest[at], growth[at]);
    EXPECT_LE(growth[at], 0x1p5);
  }
  EXPECT_NEAR(static_cast<double>(total), 1, 1e-12);
  EXPECT_GE(*std::max_element(largest.begin(), largest.end()), 0x1p4);
}

TEST(CudaItems, DeepSweepsDoWhatTheirWordsSay) {
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    const Sweep sweep = deep_sweep(3000, 9);
    PhiloxSequence random(2);
    const std::vector<Complex> memory = test::random_state(random, 5);
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, 5, memory);
    LowerOptions options;
    options.precision = precision;
    options.local_bits = 5;
    options.register_bits = precision == Precision::kDouble ? 4 : 5;
    std::vector<Complex> state = memory;
    test::emulate(lower_sweep(sweep, options), state);
    EXPECT_LE(dense::max_difference(state, expected), 1e-12);
  }
}

// A slot without a rotation has no tangent, whatever stands there.
TEST(CudaItems, OnlyTangentsOfRotationsAreRounded) {
  TileProgram program;
  program.epochs.resize(1);
  TileOp op;
  op.kind = TileOpKind::kRotate;
  op.tangent[0] = 0.1;
  program.epochs[0].ops = {op};
  round_tangents(program);
  EXPECT_EQ(program.epochs[0].ops.size(), 1u);
  EXPECT_EQ(program.epochs[0].ops[0].tangent[0], 0.1);
  op.kind = TileOpKind::kMatrix1;
  op.rotation[0] = Rotation::kReal;
  program.epochs[0].ops = {op};
  round_tangents(program);
  EXPECT_EQ(program.epochs[0].ops.size(), 1u);
  op.kind = TileOpKind::kRotate;
  program.epochs[0].ops = {op};
  round_tangents(program);
  ASSERT_EQ(program.epochs[0].ops.size(), 2u);  // the norm that is taken back
  const double rounded = static_cast<double>(0.1f);
  EXPECT_EQ(program.epochs[0].ops[0].tangent[0], rounded);
  EXPECT_NEAR(program.epochs[0].ops[1].factor[0].constant.real(), std::hypot(1, 0.1) / std::hypot(1, rounded), 1e-15);
}

// Items change places where neither moves what the other looks at, nor what it moves; flips of one bit all the same.
TEST(CudaItems, ChangePlacesWhereNeitherSeesTheOther) {
  const auto item = [](Item::Kind kind, Coordinate moves, Coordinate looks) {
    Item found;
    found.kind = kind;
    found.moves = moves;
    found.looks = looks;
    return found;
  };
  const auto both = [](const Item& a, const Item& b) {
    EXPECT_EQ(commute(a, b), commute(b, a));
    return commute(a, b);
  };
  using Kind = Item::Kind;
  for (const Kind kind : {Kind::kRotate, Kind::kMatrix, Kind::kFlip}) {
    EXPECT_TRUE(both(item(kind, 1, 2), item(kind, 4, 2)));
    EXPECT_FALSE(both(item(kind, 1, 0), item(kind, 2, 1)));
    EXPECT_FALSE(both(item(kind, 1, 0), item(Kind::kTerm, 0, 3)));
    EXPECT_TRUE(both(item(kind, 1, 2), item(Kind::kTerm, 0, 2)));
    EXPECT_EQ(both(item(kind, 1, 2), item(kind, 1, 4)), kind == Kind::kFlip);
    EXPECT_EQ(both(item(kind, 1, 0), item(Kind::kFlip, 1, 0)), kind == Kind::kFlip);
  }
}

TEST(CudaItems, OnlyFlipsUnderOneControlAtMostFold) {
  Item flip;
  flip.kind = Item::Kind::kFlip;
  EXPECT_TRUE(flip.foldable());
  flip.guard.mask = flip.guard.value = 1;
  EXPECT_TRUE(flip.foldable());
  flip.control_mask = 2;
  EXPECT_FALSE(flip.foldable());
  flip.guard = {};
  EXPECT_TRUE(flip.foldable());
  flip.control_mask = 6;
  EXPECT_FALSE(flip.foldable());
  flip.kind = Item::Kind::kTerm;
  flip.control_mask = 0;
  EXPECT_FALSE(flip.foldable());
}

/// How many items a phase at this pattern of controls becomes.
std::size_t items_of_phase(Index mask, Index value) {
  Sweep sweep;
  for (Bit bit = 0; bit < 6; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  PlanOp phase;
  phase.form = Form::kPhases;
  phase.control_mask = mask;
  phase.control_value = value;
  phase.data_count = 1;
  sweep.phases = {{bit_mask(5), false, 0.3}};
  sweep.ops = {phase};
  return make_items(sweep, {0, 1, 2, 3, 4, 5}, Blocks::kWhole, Precision::kDouble).items.size();
}

// Terms on ones merge best; each 0 doubles them.
TEST(CudaItems, PhasesAtUpToThreeZerosAreTermsOnOnesAlone) {
  EXPECT_EQ(items_of_phase(0, 0), 1u);
  EXPECT_EQ(items_of_phase(low_mask(2), low_mask(2)), 1u);
  EXPECT_EQ(items_of_phase(low_mask(1), 0), 2u);
  EXPECT_EQ(items_of_phase(low_mask(3), 1), 4u);
  EXPECT_EQ(items_of_phase(low_mask(3), 0), 8u);
  EXPECT_EQ(items_of_phase(low_mask(4), 8), 8u);
  EXPECT_EQ(items_of_phase(low_mask(4), 0), 1u);
}

TEST(CudaItems, RoundedTangentsChangeTheStateByTheirRoundingAndNoNorm) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Sweep sweep = deep_sweep(60, seed);
    LowerOptions options;
    options.precision = Precision::kSingle;
    options.local_bits = 5;
    options.register_bits = 3;
    TileProgram program = lower_sweep(sweep, options);
    PhiloxSequence random(seed);
    const std::vector<Complex> memory = test::random_state(random, 5);
    std::vector<Complex> exact = memory, rounded = memory;
    test::emulate(program, exact);
    round_tangents(program);
    test::emulate(program, rounded);
    const double difference = dense::max_difference(rounded, exact);
    EXPECT_LE(difference, 1e-6);
    EXPECT_GT(difference, 0);
    EXPECT_NEAR(dense::norm(rounded), 1, 1e-13);
    for (const Epoch& epoch : program.epochs) {
      for (const TileOp& op : epoch.ops) {
        if (op.kind != TileOpKind::kRotate) continue;
        for (std::size_t slot = 0; slot < op.tangent.size(); ++slot) {
          if (op.rotation[slot] == Rotation::kNone) continue;
          EXPECT_EQ(op.tangent[slot], static_cast<double>(static_cast<float>(op.tangent[slot])));
        }
      }
    }
  }
}

}  // namespace
}  // namespace qsim
