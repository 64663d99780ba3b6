// Programs that say where amplitudes come from, and the words that cores run them on.
#include "cpu/permutation.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "device/permutation/program.h"
#include "kernels/cpu/permute.h"
#include "plan/plan.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

/// Where the flips of a sweep take what is at `place`.
Index moved(const Sweep& sweep, Index place) {
  for (const PlanOp& op : sweep.ops)
    if ((place & op.control_mask) == op.control_value) place ^= bit_mask(op.targets[0]);
  return place;
}

/// What `program` says, for one place.
Index source_of(const PermutationProgram& program, Index place) {
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

Sweep random_flips(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations) {
  test::SweepShape shape;
  shape.bits = bits;
  shape.operations = operations;
  shape.births = random.below(3) == 0;
  shape.permutes = true;
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
      ASSERT_EQ(source_of(program, moved(sweep, place)), place) << "trial " << trial;
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
      ASSERT_EQ(from[i], source_of(program, base | words.lane[i])) << "trial " << trial << ", lane " << i;
  }
}

}  // namespace
}  // namespace qsim
