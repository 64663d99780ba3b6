// Where tiles are loaded from, what they begin with, and which of them are moved together.
#include <gtest/gtest.h>

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

/// A sweep over 20 bits from a random state, with every set of instructions, against its words.
void expect_reference(const Sweep& sweep) {
  constexpr std::uint32_t kBits = 20;
  for (const char* const set : {"", "scalar"}) {
    BackendOptions options;
    options.precision = Precision::kSingle;
    options.instruction_set = set;
    const std::unique_ptr<Backend> backend = make_cpu_backend(options);
    PoolLayout layout;
    layout.state_bytes = 8 << kBits;
    backend->reserve(layout, kBits);
    backend->fill_random(Layout::identity(kBits), 0, 6, 1);
    std::vector<std::complex<float>> before(std::size_t{1} << kBits), after(before.size());
    backend->reader().copy_out(0, before.size(), reinterpret_cast<std::byte*>(before.data()));
    backend->sweep(backend->prepare(std::span(&sweep, 1), Summing::kNo), {}, 0, false);
    backend->reader().copy_out(0, after.size(), reinterpret_cast<std::byte*>(after.data()));
    const std::vector<Complex> start(before.begin(), before.end());
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, kBits, start);
    double worst = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double difference = std::abs(Complex(after[i]) - expected[i]);
      if (!(difference <= worst)) worst = difference;
    }
    EXPECT_LE(worst, 1e-5) << set;
  }
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

TEST(CpuBackend, AFirstWriteGivesEachTileItsFactor) {
  Sweep sweep = scattered();
  sweep.reads = false;
  sweep.unborn = low_mask(20);
  for (Bit bit = 0; bit < 20; ++bit) sweep.births.push_back({bit, {Complex(0.6), Complex(0, 0.8)}});
  expect_reference(sweep);
}

}  // namespace
}  // namespace qsim
