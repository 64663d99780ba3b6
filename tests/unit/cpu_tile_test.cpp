// Where tiles are loaded from, what they begin with, and which of them are moved together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "cpu/tile/tile_geometry.h"
#include "cpu/tile/tile_translation.h"
#include "device/backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using cpu::TileGeometry;
using cpu::TileProgram;

// Of a bit that stays unborn memory has the 0 half alone: a tile is 0 at its 1 and reads nothing there.
TEST(CpuTile, PlacesOfUnbornBitsStartAsZerosAndAreNotLoaded) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2, 5, 6};
  sweep.unborn = bit_mask(5) | bit_mask(6);
  sweep.births = {{6, {Complex(0.6), Complex(0.8)}}};
  const TileGeometry geometry(sweep, 8);
  ASSERT_EQ(geometry.start.size(), 32u);
  const auto program = cpu::translate_sweep<double>(sweep, 8, 2, 3);
  ASSERT_EQ(program.load, cpu::Load::kUnits);  // of two amplitudes each
  ASSERT_EQ(program.load_offsets.size(), 16u);
  for (Index place = 0; place < 32; ++place) {
    const bool unborn = test_bit(place, 3), born_as_one = test_bit(place, 4);
    EXPECT_EQ(geometry.start[place], unborn ? Complex(0) : Complex(born_as_one ? 0.8 : 0.6)) << place;
    EXPECT_EQ(geometry.load[place], place & 7) << place;
    EXPECT_EQ(program.load_offsets[place / 2], unborn ? cpu::kNowhere : place & 6) << place;
  }
}

// Of a chunk at 1 of a bit that stays unborn there is nothing.
TEST(CpuTile, AChunkOfAnUnbornBitHasNoTiles) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 5};
  sweep.unborn = bit_mask(4) | bit_mask(5) | bit_mask(6);
  sweep.births = {{4, {Complex(0.6), Complex(0.8)}}};
  const TileGeometry geometry(sweep, 8);
  const auto tiles = [&](Index mask, Index value) { return geometry.tiles(ChunkView{mask, value}); };
  EXPECT_EQ(tiles(0, 0), 16u);  // of bits 2, 3, 4 and 7
  for (const Bit bit : {Bit{2}, Bit{3}, Bit{4}, Bit{7}}) {
    EXPECT_EQ(tiles(bit_mask(bit), 0), 8u) << int{bit};
    EXPECT_EQ(tiles(bit_mask(bit), bit_mask(bit)), 8u) << int{bit};
  }
  EXPECT_EQ(tiles(bit_mask(6), 0), 16u);
  EXPECT_EQ(tiles(bit_mask(6), bit_mask(6)), 0u);
  EXPECT_EQ(tiles(bit_mask(6) | bit_mask(7), bit_mask(7)), 8u);
  EXPECT_EQ(tiles(bit_mask(6) | bit_mask(7), bit_mask(6) | bit_mask(7)), 0u);
}

/// Whether a phase that waits on the target of a flip is applied before it, instead of after it as what it is then.
bool comes_first(Index mask, bool parity, Index controls, std::size_t terms = 1) {
  Sweep sweep;
  for (Bit bit = 0; bit < 9; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (std::size_t term = 0; term < terms; ++term) {
    PlanOp phases;
    phases.form = Form::kPhases;
    phases.control_mask = phases.control_value = controls | (term == 0 ? 0 : bit_mask(static_cast<Bit>(term)));
    phases.data_begin = static_cast<std::uint32_t>(term);
    phases.data_count = 1;
    sweep.ops.push_back(phases);
    sweep.phases.push_back({mask, parity, 0.3});
  }
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.targets[0] = 8;
  sweep.ops.push_back(flip);
  const auto program = cpu::translate_sweep<double>(sweep, 9, 2, 3);
  EXPECT_GE(program.ops.size(), 2u);
  return program.ops.front().kind == cpu::Micro::kDiagonal;
}

// What a flip makes of a term is two terms on as many bits: few terms on few bits.
TEST(CpuTile, AFlipLetsFewTermsOnFewBitsWait) {
  const Index target = bit_mask(8);
  EXPECT_FALSE(comes_first(target | low_mask(1), false, 0));
  EXPECT_FALSE(comes_first(target | low_mask(2), false, 0));
  EXPECT_TRUE(comes_first(target | low_mask(3), false, 0));
  // Of a parity with the target only even and odd change places; with the target as a control it is a larger term.
  EXPECT_FALSE(comes_first(target | low_mask(5), true, 0));
  EXPECT_FALSE(comes_first(target | low_mask(5), true, bit_mask(6) | bit_mask(7) | bit_mask(5)));
  EXPECT_TRUE(comes_first(target | low_mask(4), true, bit_mask(4) | bit_mask(5) | bit_mask(6) | bit_mask(7)));
  EXPECT_TRUE(comes_first(low_mask(4), true, target));
  EXPECT_TRUE(comes_first(low_mask(5), true, target));
  for (const std::size_t terms : {1u, 2u, 3u, 4u}) EXPECT_FALSE(comes_first(target | bit_mask(0), false, 0, terms));
  EXPECT_TRUE(comes_first(target | bit_mask(0), false, 0, 5));
}

// Only whole units are loaded before their turn, and only where there is work meanwhile.
TEST(CpuTile, TilesAreLoadedAheadWhereTheyAreUnitsAndWorkedOn) {
  const auto ahead = [](std::vector<Bit> active, bool works, bool reads = true) {
    Sweep sweep;
    sweep.active = sweep.store = std::move(active);
    sweep.reads = reads;
    if (!reads) {
      sweep.unborn = low_mask(10);
      for (Bit bit = 0; bit < 10; ++bit) sweep.births.push_back({bit, {Complex(1), Complex(0)}});
    }
    PlanOp op;
    op.target_count = 1;
    op.targets[0] = 4;
    op.data_count = 4;
    sweep.matrices = {0.6, -0.8, 0.8, 0.6};
    if (works) sweep.ops = {op};
    const auto program = cpu::translate_sweep<double>(sweep, 10, 2, 3);
    return program.view().ahead;
  };
  EXPECT_TRUE(ahead({0, 1, 2, 3, 4, 5}, true));
  EXPECT_FALSE(ahead({0, 1, 2, 3, 4, 5}, false));
  EXPECT_FALSE(ahead({1, 2, 3, 4, 5, 6}, true));  // amplitude by amplitude
  EXPECT_FALSE(ahead({0, 1, 2, 3, 4, 5}, true, false));
}

// Rounded entries move the norm of what they act on; the sweep's scale takes it back.
TEST(CpuTile, TheScaleTakesBackWhatRoundedMatricesDoToTheNorm) {
  const auto scale_of = [](const std::vector<Bit>& targets, const std::vector<Complex>& matrix, Index controls) {
    Sweep sweep;
    for (Bit bit = 0; bit < 8; ++bit) sweep.active.push_back(bit);
    sweep.store = sweep.active;
    PlanOp op;
    op.target_count = static_cast<std::uint8_t>(targets.size());
    std::copy(targets.begin(), targets.end(), op.targets.begin());
    op.control_mask = op.control_value = controls;
    op.data_count = static_cast<std::uint32_t>(matrix.size());
    sweep.matrices = matrix;
    sweep.ops = {op};
    return std::complex<double>(cpu::translate_sweep<float>(sweep, 10, 2, 3).scale);
  };
  const auto expected = [](const std::vector<Complex>& matrix, double share) {
    double rounded = 0, exact = 0;
    for (const Complex entry : matrix) {
      rounded += std::norm(Complex(std::complex<float>(entry)));
      exact += std::norm(entry);
    }
    return std::pow(rounded / exact, -0.5 * share);
  };
  const std::vector<Complex> real{0.6, -0.8, 0.8, 0.6};
  ASSERT_GT(std::abs(expected(real, 0.25) - 1), 1e-9);
  EXPECT_NEAR(std::abs(scale_of({2}, real, bit_mask(0)) - expected(real, 0.5)), 0, 1e-13);
  EXPECT_NEAR(std::abs(scale_of({2}, real, bit_mask(0) | bit_mask(9)) - expected(real, 0.25)), 0, 1e-13);
  std::vector<Complex> dense(64);
  for (std::size_t r = 0; r < 8; ++r) {  // a rotation of each pair of neighbours
    dense[9 * r] = 0.6;
    dense[8 * r + (r ^ 1)] = r % 2 == 0 ? -0.8 : 0.8;
  }
  EXPECT_NEAR(std::abs(scale_of({1, 3, 5}, dense, 0) - expected(dense, 1)), 0, 1e-13);
}

/// Short runs far apart: neighbouring tiles are loaded and stored together.
Sweep scattered() {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2, 13, 14, 15, 16, 17, 18, 19};
  PlanOp op;
  op.target_count = 1;
  op.targets[0] = 14;
  op.data_count = 4;
  sweep.matrices = {0.6, -0.8, 0.8, 0.6};
  sweep.ops = {op};
  return sweep;
}

// A batch has one factor for all of its tiles, so that those that begin as zeros are in none.
TEST(CpuTile, TilesThatBeginAsZerosAreNotMovedTogetherWithOthers) {
  Sweep sweep = scattered();
  const auto batch_bits = [&] { return cpu::translate_sweep<float>(sweep, 20, 4, 3).batch_bits; };
  const int plain = batch_bits();
  ASSERT_GT(plain, 0);
  for (Bit bit = 3; bit < 13; ++bit) {
    sweep.unborn = bit_mask(bit);
    sweep.births = {{bit, {Complex(1), Complex(0)}}};
    EXPECT_EQ(batch_bits(), bit < 3 + plain ? 0 : plain) << "bit " << int{bit};
  }
}

// A first write has a factor for each tile.
TEST(CpuTile, TilesOfAFirstWriteAreNotMovedTogether) {
  Sweep sweep = scattered();
  sweep.reads = false;
  sweep.unborn = low_mask(20);
  for (Bit bit = 0; bit < 20; ++bit) sweep.births.push_back({bit, {Complex(0.6), Complex(0.8)}});
  EXPECT_EQ(cpu::translate_sweep<float>(sweep, 20, 4, 3).batch_bits, 0);
}

/// A sweep from a random state, with every set of instructions, against its words.
template <typename T = float>
void expect_reference(const Sweep& sweep, std::uint32_t bits = 20) {
  for (const InstructionSet set : {InstructionSet::kAuto, InstructionSet::kScalar}) {
    BackendOptions options;
    options.precision = sizeof(T) == 4 ? Precision::kSingle : Precision::kDouble;
    options.instruction_set = set;
    const std::unique_ptr<Backend> backend = make_cpu_backend(options);
    PoolLayout layout;
    layout.state_bytes = 2 * sizeof(T) << bits;
    backend->reserve(layout, bits);
    backend->fill_random(Layout::identity(static_cast<int>(bits)), 0, 6, 1);
    std::vector<std::complex<T>> before(std::size_t{1} << bits), after(before.size());
    backend->reader().copy_out(0, before.size(), reinterpret_cast<std::byte*>(before.data()));
    backend->sweep(backend->prepare(std::span(&sweep, 1), Summing::kNo), {}, 0, false);
    backend->reader().copy_out(0, after.size(), reinterpret_cast<std::byte*>(after.data()));
    const std::vector<Complex> start(before.begin(), before.end());
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, start);
    double worst = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double difference = std::abs(Complex(after[i]) - expected[i]);
      if (!(difference <= worst)) worst = difference;
    }
    EXPECT_LE(worst, sizeof(T) == 4 ? 1e-5 : 1e-13) << name_of(set);
  }
}

// A thread's share of a large shard is several batches, one after the other.
TEST(CpuBackend, BatchesFollowOneAnother) {
  Sweep sweep = scattered();
  sweep.active = sweep.store = {0, 1, 2, 13, 14, 15, 16};
  const auto program = cpu::translate_sweep<float>(sweep, 20, 4, 3);
  ASSERT_GT(program.batch_bits, 0);
  ASSERT_GE(program.geometry.tiles({}) >> program.batch_bits, 1024u);
  expect_reference(sweep);
  sweep.active = sweep.store = {0, 1, 13, 14, 15, 16};
  ASSERT_GT(cpu::translate_sweep<double>(sweep, 20, 3, 3).batch_bits, 0);
  expect_reference<double>(sweep);
  // Neighbouring tiles stay neighbours where active bits reach the bits that tell them apart.
  sweep.active = sweep.store = {0, 1, 12, 13, 14, 15, 16, 17};
  for (const Bit bit : sweep.active) sweep.reach.push_back(bit_mask(bit));
  sweep.reach[3] |= 0x1cu;
  sweep.reach[5] |= 0x18e24u;
  ASSERT_GT(cpu::translate_sweep<double>(sweep, 20, 3, 3).batch_bits, 0);
  expect_reference<double>(sweep);
}

// A tile's number is looked at in pieces of 6 bits, conditions on several pieces by themselves. So many bits are active
// that the engine adds none, and the number has three pieces.
TEST(CpuBackend, PhasesLookAtEveryPieceOfTheTilesNumber) {
  Sweep sweep;
  for (Bit bit = 0; bit < 8; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  const std::vector<Bit> number{8, 13, 14, 15, 19, 20};
  for (std::size_t a = 0; a < number.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const double angle = 0.1 + 0.05 * static_cast<double>(sweep.phases.size());
      sweep.phases.push_back(
          {bit_mask(number[a]) | bit_mask(number[b]) | bit_mask(static_cast<Bit>(a % 6)), false, angle});
    }
  }
  PlanOp op;
  op.form = Form::kPhases;
  op.data_count = static_cast<std::uint32_t>(sweep.phases.size());
  sweep.ops = {op};
  expect_reference<double>(sweep, 21);
}

TEST(CpuBackend, ABirthBesideTheTilesLeavesZerosWhateverLiesInMemory) {
  for (const Bit bit : {Bit{3}, Bit{7}, Bit{12}}) {
    SCOPED_TRACE(int{bit});
    Sweep sweep = scattered();
    sweep.unborn = bit_mask(bit);
    sweep.births = {{bit, {Complex(1), Complex(0)}}};
    expect_reference(sweep);
  }
}

// Nothing is worked on meanwhile, so that no tile can be loaded before its turn.
TEST(CpuBackend, SweepsWithoutOperationsMoveAmplitudes) {
  Sweep sweep;
  for (Bit bit = 0; bit < 10; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  std::swap(sweep.store[8], sweep.store[9]);
  expect_reference(sweep);
}

// Off the diagonal, or on it, such a matrix is so small that it is unitary whatever the phase of one other entry.
TEST(CpuBackend, EveryEntryOfAControlledMatrixDecidesItsForm) {
  const double s = 1e-9;
  const Complex i(0, 1), turned = std::polar(1.0, 1e-7);
  const std::vector<std::vector<Complex>> matrices{
      {turned, s, -s, 1},           {1, s, -s, turned},        {s, turned, 1, -s},         {s, 1, turned, -s},
      {turned, i * s, i * s, 1},    {1, i * s, i * s, turned}, {s, i * turned, i, s},      {s, i, i * turned, s},
      {i * turned, s, s, i},        {i, s, s, i * turned},     {i * s, turned, -1, i * s}, {i * s, 1, -turned, i * s},
      {0.6, 0.8 * i, 0.8 * i, 0.6}, {0.6, -0.8, 0.8, 0.6}};
  for (const auto& matrix : matrices) {
    for (const Bit control : {Bit{0}, Bit{3}, Bit{7}}) {  // a lane, a register, the tile's number
      SCOPED_TRACE(testing::Message() << matrix[0] << matrix[1] << matrix[2] << matrix[3] << " " << int{control});
      for (const Bit target : {Bit{1}, Bit{4}}) {
        Sweep sweep;
        for (Bit bit = 0; bit < 6; ++bit) sweep.active.push_back(bit);
        sweep.store = sweep.active;
        PlanOp op;
        op.target_count = 1;
        op.targets[0] = target;
        op.control_mask = op.control_value = bit_mask(control);
        op.data_count = 4;
        sweep.matrices = matrix;
        sweep.ops = {op};
        expect_reference<double>(sweep, 8);
      }
    }
  }
}

TEST(CpuBackend, AFirstWriteGivesEachTileItsFactor) {
  Sweep sweep = scattered();
  sweep.reads = false;
  sweep.unborn = low_mask(20);
  for (Bit bit = 0; bit < 20; ++bit) sweep.births.push_back({bit, {Complex(0.6), Complex(0, 0.8)}});
  expect_reference(sweep);
}

}  // namespace
}  // namespace qsim
