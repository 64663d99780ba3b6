// Programs that say where amplitudes come from, and the words that cores run them on.
#include "cpu/permutation.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "device/permutation/affine.h"
#include "device/permutation/product.h"
#include "device/permutation/program.h"
#include "kernels/cpu/permute.h"
#include "plan/cost/pool_layout.h"
#include "plan/permuted_places.h"
#include "plan/plan.h"
#include "plan/product_lookups.h"
#include "plan/sixteenths.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

/// What `program` says, for one place; its phase in sixteenths of a turn.
struct Said {
  Index source = 0;
  std::uint32_t sixteenths = 0;
  friend bool operator==(const Said&, const Said&) = default;
};
Said said_of(const PermutationProgram& program, Index place) {
  std::uint32_t sixteenths = 0;
  const auto row = [&](std::uint32_t number) {
    return number == program.bits.size() || test_bit(place, program.bits[number]);
  };
  bool all = true;
  for (const std::uint32_t step : program.steps) {
    all = all && row(step >> 8 & 63) != test_bit(step, 14) && row(step >> 16 & 63) != test_bit(step, 22);
    if (!test_bit(step, 6)) continue;
    if (all && test_bit(step, 7)) sixteenths += step & 63;
    if (all && !test_bit(step, 7)) place ^= bit_mask(program.bits[step & 63]);
    all = true;
  }
  return {place, sixteenths % 16};
}

/// What `sweep` does with the amplitude at `place`: where it is taken, and its phase in sixteenths of a turn, beside
/// that of all.
Said done_to(const Sweep& sweep, Index place) {
  double angle = 0;
  for (const PlanOp& op : sweep.ops) {
    const bool meant = (place & op.control_mask) == op.control_value;
    for (const PhaseTerm& term : terms_of(sweep, op)) {
      const Index ones = place & term.mask;
      if (is_of_all(op, term)) continue;
      if (meant && (term.parity ? count_bits(ones) % 2 == 1 : ones == term.mask)) angle += term.angle;
    }
    place = flipped(op, place);
  }
  return {place, static_cast<std::uint32_t>(std::llround(angle / std::numbers::pi * 8)) & 15};
}

Sweep random_flips(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations, bool affine = false,
                   bool phases = false) {
  test::SweepShape shape;
  shape.bits = bits;
  shape.operations = operations;
  shape.births = random.below(3) == 0;
  shape.permutes = true;
  shape.affine = affine;
  shape.phases = phases;
  return test::random_sweep(random, shape);
}

TEST(PermutationProgram, TakesBackWhatFlipsDo) {
  PhiloxSequence random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const auto bits = 1 + static_cast<std::uint32_t>(random.below(11));
    const Sweep sweep = random_flips(random, bits, static_cast<std::uint32_t>(random.below(30)), false, trial % 2 == 0);
    const PermutationProgram program = permutation_program(sweep, bits);
    EXPECT_EQ(program.bundle, sweep.bundle);
    EXPECT_EQ(program.bundle & program.fixed, 0u);
    EXPECT_EQ(program.bundle | program.fixed | test::unborn_after(sweep), low_mask(bits));
    std::uint64_t steps = 0;
    for (const PlanOp& op : sweep.ops) steps += permutation_steps(op, terms_of(sweep, op));
    EXPECT_LE(program.steps.size(), steps);
    for (Index place = 0; place < bit_mask(bits); ++place) {
      const auto [target, sixteenths] = done_to(sweep, place);
      ASSERT_EQ(target, target_of(sweep, place));
      ASSERT_EQ(said_of(program, target), (Said{place, sixteenths})) << "trial " << trial;
    }
  }
}

// States of more than 2^32 amplitudes too: places are 64 bits wide.
TEST(PermutationProgram, WordsSayTheSameOf512Places) {
  PhiloxSequence random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const auto bits = 9 + static_cast<std::uint32_t>(random.below(30));
    const bool phases = trial % 3 != 0;
    const Sweep sweep = random_flips(random, bits, 1 + static_cast<std::uint32_t>(random.below(40)), false, phases);
    const PermutationProgram program = permutation_program(sweep, bits);
    const cpu::PermuteProgram words = cpu::words_of(program);
    const Index base = (deposit_bits(random.bits() << 9, program.bundle) | (random.bits() & program.fixed));
    std::vector<cpu::PermuteWords> columns(64);
    std::array<Index, cpu::kPermuteLanes> from{};
    cpu::PermuteSixteenths sixteenths{};
    cpu::permuted_places(words, base, columns, from, sixteenths);
    const std::size_t lanes = std::min<std::size_t>(cpu::kPermuteLanes, std::size_t{1} << count_bits(program.bundle));
    for (std::size_t i = 0; i < lanes; ++i) {
      std::uint32_t turned = 0;
      for (std::size_t k = 0; k < sixteenths.size(); ++k)
        turned |= static_cast<std::uint32_t>(sixteenths[k][i / 64] >> (i % 64) & 1) << k;
      ASSERT_EQ((Said{from[i], turned}), said_of(program, base | words.lane[i])) << "trial " << trial << ", lane " << i;
    }
  }
}

TEST(AffineGather, NumbersEachAmplitudeOnceAndSaysWhereItComesFrom) {
  PhiloxSequence random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const auto bits = 1 + static_cast<std::uint32_t>(random.below(12));
    const Sweep sweep = random_flips(random, bits, static_cast<std::uint32_t>(random.below(40)), true);
    ASSERT_TRUE(is_affine(sweep));
    const std::uint32_t lanes = static_cast<std::uint32_t>(random.below(6));
    const Index fixed_bits = permutation_program(sweep, bits).fixed;
    const AffineGather gather =
        affine_gather(sweep, bits, fixed_bits, lanes, static_cast<std::uint32_t>(random.below(5)));
    const std::uint32_t bundle_bits = count_bits(sweep.bundle);
    ASSERT_EQ(gather.to.size(), bundle_bits);
    ASSERT_EQ(gather.from.size(), bundle_bits);
    const Index fixed = random.bits() & low_mask(bits) & ~sweep.bundle;
    const Index number = random.bits() & low_mask(count_bits(fixed_bits));
    EXPECT_EQ(gather.source(number), source_of(sweep, deposit_bits(number, fixed_bits)));
    const auto packed = [&](Index to) { return is_one_bundle(sweep, bits) ? extract_bits(to, sweep.bundle) : to; };
    std::vector<bool> seen(std::size_t{1} << bundle_bits);
    for (Index k = 0; k < bit_mask(bundle_bits); ++k) {
      Index to = 0, from = source_of(sweep, fixed);
      for_each_bit(k, [&](unsigned bit) {
        to ^= gather.to[bit];
        from ^= gather.from[bit];
      });
      to = packed(to);
      ASSERT_FALSE(seen.at(to)) << "trial " << trial;
      seen[to] = true;
      ASSERT_EQ(target_of(sweep, from), deposit_bits(to, sweep.bundle) | fixed) << "trial " << trial;
    }
    for (std::uint32_t lane = 0; lane < std::min(lanes, bundle_bits); ++lane)
      EXPECT_EQ(packed(gather.to[lane]), bit_mask(lane));
  }
}

// A ladder of CX takes neighbours far from each other: a thread reads both.
TEST(AffineGather, ReadsWholeLines) {
  constexpr std::uint32_t kBits = 20;
  Sweep ladder;
  ladder.bundle = low_mask(kBits);
  for (std::uint32_t bit = 0; bit + 1 < kBits; ++bit) {
    PlanOp op;
    op.form = Form::kFlip;
    op.target_count = 1;
    op.targets[0] = static_cast<Bit>(bit + 1);
    op.control_mask = op.control_value = bit_mask(bit);
    ladder.ops.push_back(op);
  }
  const AffineGather gather = affine_gather(ladder, kBits, 0, 5, 3);
  std::vector<bool> read(8);  // of the first line, by what one thread and its lanes read first
  for (Index k = 0; k < 256; ++k) {
    Index from = 0;
    for_each_bit(k, [&](unsigned bit) { from ^= gather.from[bit]; });
    if (from < 8) read[from] = true;
  }
  EXPECT_EQ(read, std::vector<bool>(8, true));
}

/// Of any bits that are born.
Complex product_at(const Sweep& sweep, Index place) {
  Complex product = sweep.start_scale;
  for (const Birth& birth : sweep.births) product *= birth.factor[test_bit(place, birth.bit) ? 1 : 0];
  return product;
}

TEST(BirthProducts, AreTheProductsOfTheFactors) {
  PhiloxSequence random(6);
  for (int trial = 0; trial < 100; ++trial) {
    test::SweepShape shape;
    shape.bits = 1 + static_cast<std::uint32_t>(random.below(12));
    shape.permutes = true;
    shape.reads = false;
    const Sweep sweep = test::random_sweep(random, shape);
    const Index all = low_mask(shape.bits), some = random.bits() & all;
    const std::vector<Complex> of_some = birth_products(sweep, some), of_others = birth_products(sweep, all & ~some);
    const ProductStart start = product_start(sweep);
    EXPECT_EQ(start.varying & start.checked, 0u);
    EXPECT_EQ(count_bits(start.varying), product_lookups(sweep).indexed);
    const std::vector<Complex> varying = birth_products(sweep, start.varying);
    for (Index place = 0; place <= all; ++place) {
      const Complex wanted = product_at(sweep, place);
      const Complex parts = of_some[extract_bits(place, some)] * of_others[extract_bits(place, all & ~some)];
      ASSERT_LE(std::abs(parts * sweep.start_scale - wanted), 1e-15);
      const Complex by_kind = (place & start.checked) == start.wanted
                                  ? start.scale * varying[extract_bits(place, start.varying)]
                                  : Complex();
      ASSERT_LE(std::abs(by_kind - wanted), 1e-15);
    }
  }
}

TEST(ProductTables, HoldAllOfAProduct) {
  Sweep sweep;
  for (Bit bit = 0; bit < 35; ++bit) {
    const double angle = 0.3 + 0.02 * bit;
    sweep.births.push_back({bit, {Complex(std::cos(angle)), std::polar(std::sin(angle), 0.1 * bit)}});
  }
  const ProductLookups lookups = product_lookups(sweep);
  const std::vector<Complex> tables = product_tables(sweep);
  ASSERT_EQ(tables.size(), lookups.entries());
  PhiloxSequence random(7);
  for (int trial = 0; trial < 100; ++trial) {
    const Index place = random.bits() & low_mask(35);
    Complex product = 1;
    for (std::uint32_t t = 0; t < lookups.tables; ++t)
      product *= tables[(t << lookups.width) + (place >> (t * lookups.width) & low_mask(lookups.width))];
    for (std::uint32_t b = 0; b < lookups.left; ++b)
      product *= tables[(lookups.tables << lookups.width) + 2 * b + (place >> (32 + b) & 1)];
    EXPECT_LE(std::abs(product - product_at(sweep, place)), 1e-14 * std::abs(product));
  }
  EXPECT_FALSE(has_real_products(sweep));
}

TEST(ProductLookups, AreFewAndOfOneWidth) {
  const auto lookups = [](std::uint32_t varying) {
    Sweep sweep;
    for (Bit bit = 0; bit < varying; ++bit) sweep.births.push_back({bit, {Complex(0.6), Complex(0.8)}});
    sweep.births.push_back({60});
    return product_lookups(sweep);
  };
  EXPECT_EQ(lookups(0).entries(), 0u);
  EXPECT_EQ(lookups(1).entries(), 2u);
  EXPECT_EQ(lookups(10).tables, 1u);
  EXPECT_EQ(lookups(11).width, 6u);
  EXPECT_EQ(lookups(30).entries(), 3u << 10);
  EXPECT_EQ(lookups(32).tables, 4u);
  EXPECT_EQ(lookups(32).width, 8u);
  EXPECT_EQ(lookups(33).indexed, 32u);
  EXPECT_EQ(lookups(35).entries(), (4u << 8) + 6);
}

TEST(Sixteenths, AreWholeToRoundingOnly) {
  for (std::uint32_t k = 0; k < 16; ++k) {
    EXPECT_EQ(sixteenths_of(angle_of_sixteenths(k)), k);
    EXPECT_EQ(sixteenths_of(std::numbers::pi / 8 * (k + 16.0)), k);
    EXPECT_EQ(sixteenths_of(std::numbers::pi / 8 * (k - 16.0)), k);
    for (const double error : {1e-3, 1e-9, 1e-12, 1e-14}) {
      EXPECT_FALSE(sixteenths_of(angle_of_sixteenths(k) + error)) << k;
      EXPECT_FALSE(sixteenths_of(angle_of_sixteenths(k) - error)) << k;
    }
  }
  EXPECT_FALSE(sixteenths_of(std::numbers::pi / 16));
  EXPECT_FALSE(sixteenths_of(3.1416));
}

TEST(AffineGather, IsForAtMostOneControl) {
  Sweep sweep;
  sweep.ops.resize(2);
  for (PlanOp& op : sweep.ops) op.form = Form::kFlip;
  sweep.ops[1].control_mask = 0b100;
  EXPECT_TRUE(is_affine(sweep));
  sweep.ops[0].control_mask = 0b11;
  EXPECT_FALSE(is_affine(sweep));
  sweep.ops[0].control_mask = 0;
  sweep.ops[0].form = Form::kPhases;
  sweep.ops[0].data_count = 1;
  sweep.phases.push_back({0, false, OpenAngle{std::numbers::pi, 0}});
  EXPECT_TRUE(is_affine(sweep));
  EXPECT_EQ(phase_of_all(sweep), -1.0);
  sweep.ops[0].control_mask = sweep.ops[0].control_value = 0b1;
  EXPECT_FALSE(is_affine(sweep));
  sweep.ops[0].control_mask = sweep.ops[0].control_value = 0;
  sweep.phases[0].mask = 0b1;
  EXPECT_FALSE(is_affine(sweep));
}

}  // namespace
}  // namespace qsim
