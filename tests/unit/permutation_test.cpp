// Programs that say where amplitudes come from, and the words that cores run them on.
#include "cpu/permutation.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "device/permutation/affine.h"
#include "device/permutation/program.h"
#include "kernels/cpu/permute.h"
#include "plan/permuted_places.h"
#include "plan/plan.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

/// What `program` says, for one place.
Index said_source_of(const PermutationProgram& program, Index place) {
  const auto row = [&](std::uint32_t number) {
    return number == program.bits.size() || test_bit(place, program.bits[number]);
  };
  bool all = true;
  for (const std::uint32_t step : program.steps) {
    all = all && row(step >> 8 & 63) != test_bit(step, 14) && row(step >> 16 & 63) != test_bit(step, 22);
    if (!test_bit(step, 6)) continue;
    if (all) place ^= bit_mask(program.bits[step & 63]);
    all = true;
  }
  return place;
}

Sweep random_flips(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations, bool affine = false) {
  test::SweepShape shape;
  shape.bits = bits;
  shape.operations = operations;
  shape.births = random.below(3) == 0;
  shape.permutes = true;
  shape.affine = affine;
  return test::random_sweep(random, shape);
}

TEST(PermutationProgram, TakesBackWhatFlipsDo) {
  PhiloxSequence random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const auto bits = 1 + static_cast<std::uint32_t>(random.below(11));
    const Sweep sweep = random_flips(random, bits, static_cast<std::uint32_t>(random.below(30)));
    const PermutationProgram program = permutation_program(sweep, bits);
    EXPECT_EQ(program.bundle, sweep.bundle);
    EXPECT_EQ(program.bundle & program.fixed, 0u);
    EXPECT_EQ(program.bundle | program.fixed | test::unborn_after(sweep), low_mask(bits));
    for (Index place = 0; place < bit_mask(bits); ++place)
      ASSERT_EQ(said_source_of(program, target_of(sweep, place)), place) << "trial " << trial;
  }
}

// States of more than 2^32 amplitudes too: places are 64 bits wide.
TEST(PermutationProgram, WordsSayTheSameOf512Places) {
  PhiloxSequence random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const auto bits = 9 + static_cast<std::uint32_t>(random.below(30));
    const Sweep sweep = random_flips(random, bits, 1 + static_cast<std::uint32_t>(random.below(40)));
    const PermutationProgram program = permutation_program(sweep, bits);
    const cpu::PermuteProgram words = cpu::words_of(program);
    const Index base = (deposit_bits(random.bits() << 9, program.bundle) | (random.bits() & program.fixed));
    std::vector<cpu::PermuteWords> columns(64);
    std::array<Index, cpu::kPermuteLanes> from{};
    cpu::permuted_places(words, base, columns, from);
    const std::size_t lanes = std::min<std::size_t>(cpu::kPermuteLanes, std::size_t{1} << count_bits(program.bundle));
    for (std::size_t i = 0; i < lanes; ++i)
      ASSERT_EQ(from[i], said_source_of(program, base | words.lane[i])) << "trial " << trial << ", lane " << i;
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

TEST(AffineGather, IsForAtMostOneControl) {
  Sweep sweep;
  sweep.ops.resize(2);
  sweep.ops[1].control_mask = 0b100;
  EXPECT_TRUE(is_affine(sweep));
  sweep.ops[0].control_mask = 0b11;
  EXPECT_FALSE(is_affine(sweep));
}

}  // namespace
}  // namespace qsim
