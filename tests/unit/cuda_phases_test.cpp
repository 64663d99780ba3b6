// Many phases between two turns, as rotations chosen by other qubits have them: about parities and products of bits in
// registers, among threads and outside the tile. The program does what the sweep's words say, in the emulator, as text
// and in the interpreter, and multiplies each amplitude few times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/philox.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda_emulator.h"
#include "cuda_host_kernel.h"
#include "plan/plan.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

constexpr Bit kBits = 14;

void add_turn(Bit target, Sweep& sweep) {
  const double c = std::cos(0.4), s = std::sin(0.4);
  PlanOp op;
  op.target_count = 1;
  op.targets[0] = target;
  op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
  op.data_count = 4;
  sweep.matrices.insert(sweep.matrices.end(), {c, -s, s, c});
  sweep.ops.push_back(op);
}

/// A turn, phases about parities, or products, of the target with each set of `others`, and a turn.
Sweep multiplexer(Bit target, const std::vector<Index>& others, bool products, PhiloxSequence& random) {
  Sweep sweep;
  for (Bit bit = 0; bit < 9; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  add_turn(target, sweep);
  PlanOp op;
  op.form = Form::kPhases;
  op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
  for (const Index set : others) {
    const double angle = 6 * random.uniform() - 3;
    sweep.phases.push_back({set | bit_mask(target), !products || random.below(3) != 0, angle});
  }
  op.data_count = static_cast<std::uint32_t>(others.size());
  sweep.ops.push_back(op);
  add_turn(target, sweep);
  return sweep;
}

/// Every set of `bits`, in any order.
std::vector<Index> subsets_of(Index bits, PhiloxSequence& random) {
  std::vector<Index> sets;
  for (Index set = bits;; set = (set - 1) & bits) {
    sets.push_back(set);
    if (set == 0) break;
  }
  for (std::size_t i = sets.size(); i > 1; --i) std::swap(sets[i - 1], sets[random.below(i)]);
  return sets;
}

TileProgram program_of(const Sweep& sweep, Precision precision, std::uint32_t bits = kBits, bool lookups = false,
                       std::size_t angle_share = 1) {
  LowerOptions options;
  options.precision = precision;
  options.local_bits = bits;
  options.register_bits = precision == Precision::kDouble ? 4 : 5;
  options.max_bits = 9;
  options.lookups = lookups;
  options.angle_share = angle_share;
  return lower_sweep(sweep, options);
}

struct Seen {
  std::size_t turned = 0, mirrored = 0, products = 0;  // the last: of registers and factors
  std::size_t lookups = 0;                             // where programs may have them
};

Seen look_at(const TileProgram& program) {
  Seen seen;
  for (const Epoch& epoch : program.epochs) {
    for (const TileOp& op : epoch.ops) {
      if (op.kind != TileOpKind::kMultiply) continue;
      seen.turned += op.factor[0].turned.size();
      seen.mirrored += op.factor[0].mirrored.size();
      seen.products += count_bits(op.set);
    }
  }
  return seen;
}

double difference(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const double here = std::abs(a[i] - b[i]); !(here <= worst)) worst = here;
  }
  return worst;
}

class CudaPhases : public testing::Test {
 protected:
  Seen expect_meaning(const Sweep& sweep, Precision precision, bool as_text, std::uint32_t bits = kBits) {
    const TileProgram program = program_of(sweep, precision, bits);
    const std::vector<Complex> memory = test::random_state(random_, bits);
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, memory);
    std::vector<Complex> state = memory;
    test::emulate(program, state);
    EXPECT_LE(difference(state, expected), 1e-12);
    if (as_text && test::host_compiler_exists()) {
      const double tolerance = precision == Precision::kDouble ? 1e-12 : 1e-4;
      state = memory;
      test::run_generated(program, state);
      EXPECT_LE(difference(state, expected), tolerance);
      state = memory;
      EXPECT_TRUE(test::HostInterpreter(precision).run(program, state));
      EXPECT_LE(difference(state, expected), tolerance);
    }
    const TileProgram with_lookups = program_of(sweep, precision, bits, true);
    state = memory;
    test::emulate(with_lookups, state);
    EXPECT_LE(difference(state, expected), 1e-12);
    if (as_text && test::host_compiler_exists()) {
      state = memory;
      test::run_generated(with_lookups, state);
      EXPECT_LE(difference(state, expected), precision == Precision::kDouble ? 1e-12 : 1e-4);
    }
    Seen seen = look_at(program);
    seen.lookups = with_lookups.lookups.size();
    return seen;
  }

  PhiloxSequence random_{5};
};

TEST_F(CudaPhases, ParitiesOfFewBitsInsideAreMirroredTileFactors) {
  // Two bits inside, four outside: four parities inside, sixteen outside.
  const Sweep sweep = multiplexer(3, subsets_of(0b11'1100'0001'0010, random_), false, random_);
  const Seen seen = expect_meaning(sweep, Precision::kDouble, true);
  EXPECT_EQ(seen.turned, 0U);
  EXPECT_GT(seen.mirrored, 0U);
  EXPECT_LE(seen.products, 2 * 16U);  // one bit inside is in a register
}

TEST_F(CudaPhases, ParitiesOfFewBitsOutsideAreTurnedTables) {
  const Sweep sweep = multiplexer(3, subsets_of(0b10'0001'0110'0010, random_), false, random_);
  const Seen seen = expect_meaning(sweep, Precision::kDouble, true);
  EXPECT_GT(seen.turned, 0U);
  EXPECT_EQ(seen.mirrored, 0U);
  EXPECT_LE(seen.products, 5 * 16U);  // two of them; and what depends on nothing outside
}

TEST_F(CudaPhases, OneOfThreadsAndTilesNeedsNoTable) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    const Sweep sweep = multiplexer(3, {0b11'1101'0111'0010}, false, random_);
    const Seen seen = expect_meaning(sweep, precision, true);
    EXPECT_EQ(seen.turned + seen.mirrored, 0U);
    EXPECT_TRUE(program_of(sweep, precision).tables.empty());
    EXPECT_TRUE(program_of(sweep, precision).tile_factors.empty());
  }
}

TEST_F(CudaPhases, InsideTheTileTheyAreOneTable) {
  const Sweep sweep = multiplexer(0, subsets_of(0b1'0111'0110, random_), false, random_);
  const Seen seen = expect_meaning(sweep, Precision::kSingle, true);
  EXPECT_EQ(seen.turned + seen.mirrored, 0U);
  EXPECT_LE(seen.products, 32U);
}

TEST_F(CudaPhases, OfAnySetsTheyAreWhatTheWordsSay) {
  std::size_t turned = 0, mirrored = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Index> sets = subsets_of(random_.below(Index{1} << kBits) & random_.below(Index{1} << kBits), random_);
    sets.resize(std::min<std::size_t>(sets.size(), 1 + random_.below(40)));
    const auto target = static_cast<Bit>(random_.below(9));
    const Sweep sweep = multiplexer(target, sets, trial % 3 == 0, random_);
    const Seen seen = expect_meaning(sweep, trial % 2 == 0 ? Precision::kDouble : Precision::kSingle, false);
    turned += seen.turned;
    mirrored += seen.mirrored;
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
  EXPECT_GT(turned, 20U);
  EXPECT_GT(mirrored, 20U);
}

// Bits in registers, among the threads and outside; then so many that several tables are needed.
TEST_F(CudaPhases, ManySetsOfFewBitsAreLookedUp) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    for (const Bit target : {Bit{0}, Bit{3}, Bit{8}}) {
      for (const bool products : {false, true}) {
        const Sweep sweep =
            multiplexer(target, subsets_of(0b11'1100'1010'0010 & ~bit_mask(target), random_), products, random_);
        EXPECT_EQ(expect_meaning(sweep, precision, target == 3).lookups, 1U) << "target " << int{target};
        const TileProgram program = program_of(sweep, precision, kBits, true);
        std::size_t entries = 0, others = 0;
        for (const Epoch& epoch : program.epochs) {
          for (const TileOp& op : epoch.ops) {
            if (op.kind != TileOpKind::kMultiply) continue;
            (op.factor[0].lookup ? entries : others) += count_bits(op.set);
          }
        }
        EXPECT_EQ(entries, std::size_t{1} << program.register_bits);  // each amplitude is multiplied once
        EXPECT_LE(others, products ? 64U : 32U);
      }
    }
  }
  Sweep two = multiplexer(2, subsets_of(0b10'0000'1111'0000, random_), false, random_);
  const Sweep other = multiplexer(2, subsets_of(0b01'1110'0000'0011, random_), false, random_);
  PlanOp op = other.ops[1];
  op.data_begin = static_cast<std::uint32_t>(two.phases.size());
  two.phases.insert(two.phases.end(), other.phases.begin(), other.phases.end());
  two.ops.insert(two.ops.begin() + 1, op);
  EXPECT_EQ(expect_meaning(two, Precision::kDouble, true).lookups, 2U);
}

TEST_F(CudaPhases, FewSetsOrSetsOfManyBitsAreNotLookedUp) {
  EXPECT_EQ(expect_meaning(multiplexer(3, {0b11'0000'0000'0010, 0b01'0000'0000'0110}, false, random_),
                           Precision::kDouble, false)
                .lookups,
            0U);
  std::vector<Index> sets;
  for (unsigned bit = 0; bit < 14; ++bit) sets.push_back((bit_mask(14) - 1) & ~bit_mask(bit) & ~bit_mask(3));
  EXPECT_EQ(expect_meaning(multiplexer(3, sets, false, random_), Precision::kDouble, false).lookups, 0U);
}

// More sets than a factor has entries for, inside and outside.
TEST_F(CudaPhases, OfVeryManySetsTheyAreWhatTheWordsSay) {
  for (const std::size_t count : {63U, 65U, 130U, 300U, 700U}) {
    std::vector<Index> sets = subsets_of(0b11'1110'1101'1101, random_);
    sets.resize(count);
    expect_meaning(multiplexer(1, sets, false, random_), Precision::kDouble, false);
  }
  constexpr std::uint32_t kWide = 18;  // nine bits outside: too many for products of them
  for (const std::size_t count : {50U, 120U, 300U, 512U}) {
    std::vector<Index> sets = subsets_of(0b11'1111'1110'0000'0000, random_);
    sets.resize(count);
    const Sweep sweep = multiplexer(1, sets, false, random_);
    for (const Epoch& epoch : program_of(sweep, Precision::kDouble, kWide).epochs) {
      for (const TileOp& op : epoch.ops) {
        for (const Factor& factor : op.factor) EXPECT_LE(factor.turned.size() + factor.mirrored.size(), 64U) << count;
      }
    }
    const Seen seen = expect_meaning(sweep, Precision::kDouble, false, kWide);
    EXPECT_EQ(seen.turned > 0, count <= 64) << count;
  }
}

// Phases of all pairs of 18 qubits: one factor of a tile has 36 angles, its piece few, and all pieces are one product.
TEST_F(CudaPhases, FactorsOfManyAnglesAreMadeInPieces) {
  constexpr std::uint32_t kWide = 18;
  Sweep sweep;
  for (Bit bit = 0; bit < 9; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  PlanOp op;
  op.form = Form::kPhases;
  for (unsigned a = 0; a < kWide; ++a) {
    for (unsigned b = 0; b < a; ++b) sweep.phases.push_back({bit_mask(a) | bit_mask(b), false, random_.uniform(-3, 3)});
  }
  op.data_count = static_cast<std::uint32_t>(sweep.phases.size());
  sweep.ops.push_back(op);
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    for (const std::size_t share : {std::size_t{1}, std::size_t{32}}) {
      const TileProgram program = program_of(sweep, precision, kWide, false, share);
      std::size_t most = 0, all = 0;
      for (const auto& terms : program.tile_factors) {
        most = std::max(most, terms.size());
        all += terms.size();
      }
      EXPECT_EQ(all, 36U + 81U);
      EXPECT_LE(most, 12U);
      const std::vector<Complex> memory = test::random_state(random_, kWide);
      std::vector<Complex> state = memory;
      test::emulate(program, state);
      EXPECT_LE(difference(state, test::reference_sweep(sweep, {}, kWide, memory)), 1e-12);
    }
    expect_meaning(sweep, precision, true, kWide);
  }
}

}  // namespace
}  // namespace qsim
