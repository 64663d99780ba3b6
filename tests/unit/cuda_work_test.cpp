// What each kind of operation counts where programs that do the same are compared.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "cuda/tile/tile_program.h"
#include "cuda/tile/work.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

/// Of a program with these operations in one epoch; 16 registers a thread.
double work(std::vector<TileOp> ops) {
  TileProgram program;
  program.epochs.resize(1);
  program.epochs[0].ops = std::move(ops);
  return work_of(program);
}

TileOp op_of(TileOpKind kind, std::uint32_t set = 0xffff) {
  TileOp op;
  op.kind = kind;
  op.set = set;
  return op;
}

TileOp rotations(std::size_t count) {
  TileOp op = op_of(TileOpKind::kRotate);
  for (std::size_t slot = 0; slot < count; ++slot) op.rotation[slot] = Rotation::kReal;
  return op;
}

/// Its factors are constants, or an entry of a table.
TileOp phases(TileOpKind kind, const std::vector<std::size_t>& present, int table, std::uint32_t set = 0xffff) {
  TileOp op = op_of(kind, set);
  op.slots = {0, 1};
  for (const std::size_t f : present) {
    op.factor[f].present = true;
    op.factor[f].table = table;
    if (table < 0) op.factor[f].constant = Complex(0.6, 0.8);
  }
  return op;
}

TEST(CudaWork, IsTwoInstructionsARotationAndOneAFlip) {
  EXPECT_EQ(work({rotations(3)}), 6);
  EXPECT_EQ(work({op_of(TileOpKind::kSwap)}), 1);
}

TEST(CudaWork, OfAMatrixIsTwoForEachPartThatIsNotZeroLessOneUnitOfARow) {
  TileOp op = op_of(TileOpKind::kMatrix1, 0x5555);
  op.matrix = {0.6, -0.8, 0.8, 0.5};
  EXPECT_EQ(work({op}), 4);
  op.matrix = {1, 0, 0, Complex(0, 1)};
  EXPECT_EQ(work({op}), 0);
  op.matrix = {-1, 1, Complex(0, -1), 0};
  EXPECT_EQ(work({op}), 1) << "two units are added";
  op.matrix = {1, 0, 0, Complex(0.6, 0.8)};
  op.set = 0xffff;
  EXPECT_EQ(work({op}), 4);
  op.kind = TileOpKind::kMatrix2;
  op.matrix = {1, 0, 0, 0, 0, 0.6, 0.8, 0, 0, 0.8, -0.6, 0, 0, 0, 0, Complex(0.6, 0.8)};
  op.set = 0x000f;  // a quarter of the registers heads a group
  EXPECT_EQ(work({op}), 2 * (3 + 2) / 4.0);
}

TEST(CudaWork, OfARotationOfTwoRowsIsThreeShears) {
  TileOp op = op_of(TileOpKind::kMatrix1, 0x5555);
  op.matrix = {0.6, -0.8, 0.8, 0.6};
  EXPECT_EQ(work({op}), 3);
  op.matrix = {0.6, Complex(0, -0.8), Complex(0, -0.8), 0.6};
  EXPECT_EQ(work({op}), 3);
  op.matrix = {1, -0.8, 0.8, 1};
  EXPECT_EQ(work({op}), 2) << "a scale is cheaper where it can be";
}

TEST(CudaWork, OfAPartThatIsAUnitIsNothing) {
  TileOp op = op_of(TileOpKind::kMatrix1);
  op.matrix = {Complex(1, -0.3), 0, 0, Complex(0.3, -1)};
  EXPECT_EQ(work({op}), 4);
}

TEST(CudaWork, OfADenseMatrixIsItsRowsAndTwoTripsThroughSharedMemory) {
  TileOp op = op_of(TileOpKind::kDense);
  op.targets = {0, 1, 2, 3};
  EXPECT_EQ(work({op}), 16 + 32);
}

/// A product that a thread makes of two factors, beside its 16 registers'.
constexpr double kProductOfFactors = 4.0 / 16;

TEST(CudaWork, OfAPairIsThatOfTheQuartersThatMeetAFactor) {
  const auto pair = [](const std::vector<std::size_t>& present) { return phases(TileOpKind::kPair, present, 0); };
  EXPECT_EQ(work({pair({0})}), 4);
  EXPECT_EQ(work({pair({1})}), 2);
  EXPECT_EQ(work({pair({2})}), 2);
  EXPECT_EQ(work({pair({1, 2})}), 3 + kProductOfFactors);
  EXPECT_EQ(work({pair({1, 2, 3})}), 3 + 2 * kProductOfFactors);
  EXPECT_EQ(work({pair({3})}), 1);
  EXPECT_EQ(work({pair({})}), 0);
  TileOp op = pair({3});
  op.factor[3].cross = {{0, 0}, {1, 1}};
  op.factor[1].cross = {{0, 0}};  // of no factor
  EXPECT_EQ(work({op}), 1 + 1);
}

TEST(CudaWork, PhasesAreOneMultiplicationBeforeWhatIsNoPhase) {
  const TileOp quarter = phases(TileOpKind::kMultiply, {0}, -1, 0xf), all = phases(TileOpKind::kMultiply, {0}, -1);
  const TileOp table = phases(TileOpKind::kMultiply, {0}, 0, 0xff);
  EXPECT_EQ(work({quarter, quarter}), 1) << "of the same registers";
  EXPECT_EQ(work({quarter, phases(TileOpKind::kMultiply, {0}, -1, 0xf0)}), 2);
  EXPECT_EQ(work({all, quarter, all}), 4);
  EXPECT_EQ(work({all, rotations(1), all}), 4 + 2 + 4);
  EXPECT_EQ(work({all, table, all}), 4 + kProductOfFactors);
  EXPECT_EQ(work({table, table}), 2 + kProductOfFactors);
  EXPECT_EQ(work({table, rotations(1), table}), 2 + 2 + 2);
  EXPECT_EQ(work({all, phases(TileOpKind::kPair, {3}, 0), all}), 4 + kProductOfFactors);
  EXPECT_EQ(work({all, phases(TileOpKind::kPair, {0, 3}, -1)}), 4);
  TileOp inverse = all, minus = quarter;
  inverse.factor[0].constant = Complex(0.6, -0.8);
  minus.factor[0].constant = -1;
  EXPECT_EQ(work({all, inverse}), 0);
  EXPECT_EQ(work({quarter, inverse, all}), 1);
  EXPECT_EQ(work({minus}), 0.25);
  TileOp guarded = all;
  guarded.guard = {2, 2, 0, false};
  EXPECT_EQ(work({guarded, guarded}), 8);
}

TEST(CudaWork, OfABlockOnLanesIsHalfOfOneInRegisters) {
  TileOp op = op_of(TileOpKind::kLanes);
  op.matrix.assign(16, Complex(0.2, 0.1));
  EXPECT_EQ(work({op}), 8);
  op.kind = TileOpKind::kMatrix2;
  op.set = 0x1111;
  EXPECT_EQ(work({op}), 16);
}

TEST(CudaWork, OfEachTripBetweenEpochsIsThatOfAMove) {
  TileProgram program;
  program.epochs.resize(3);
  EXPECT_EQ(work_of(program), 16);
  program.epochs[1].exchanged = true;
  EXPECT_EQ(work_of(program), 3 + 8);
}

}  // namespace
}  // namespace qsim
