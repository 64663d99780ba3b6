// Contract: sweeps that permute do what plan.h says, with phases, of all bits or of few, in one chunk or in several.
#include <cmath>
#include <numbers>

#include "backend_contract.h"
#include "base/bits.h"
#include "plan/plan.h"
#include "support/campaign.h"
#include "support/sweep_reference.h"

namespace qsim::test {
namespace {

/// Flips with up to two controls, phases where up to three bits are 1 (most of them half turns) among all of them.
Sweep long_permutation(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations, bool reads) {
  SweepShape shape;
  shape.bits = bits;
  shape.permutes = true;
  shape.reads = reads;
  Sweep sweep = random_sweep(random, shape);
  sweep.bundle = low_mask(bits);
  if (reads) sweep.unborn = 0, sweep.births.clear();
  // Sums of phases have as many digits as these ask for.
  const std::uint64_t step = std::uint64_t{1} << random.below(3);
  const auto some_bits = [&](std::uint64_t count) {
    Index mask = 0;
    for (std::uint64_t k = 0; k < count; ++k) mask |= bit_mask(static_cast<unsigned>(random.below(bits)));
    return mask;
  };
  for (std::uint32_t j = 0; j < operations; ++j) {
    PlanOp op;
    op.gates = 1;
    if (random.below(4) != 0) {
      op.form = Form::kFlip;
      op.target_count = 1;
      op.targets[0] = static_cast<Bit>(random.below(bits));
      op.control_mask = some_bits(random.below(3)) & ~bit_mask(op.targets[0]);
      op.control_value = op.control_mask & ~some_bits(random.below(2));
    } else {
      op.form = Form::kPhases;
      op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
      op.data_count = 1;
      PhaseTerm term;
      term.mask = some_bits(1 + random.below(3));
      const std::uint64_t sixteenths = random.below(6) != 0 ? 8 : step * random.below(16 / step);
      term.angle = std::numbers::pi / 8 * static_cast<double>(sixteenths);
      sweep.phases.push_back(term);
    }
    sweep.ops.push_back(op);
  }
  return sweep;
}

}  // namespace

// In one chunk and in several; bits that few flips choose, and all of them.
TEST_P(BackendContract, PermutationsMatchTheirDefinition) {
  PhiloxSequence random(37);
  for (const std::uint32_t bits : {1u, 2u, 5u, 6u, 9u, 10u, 11u, 14u, 15u, 17u}) {
    reserve(bits);
    const bool compiles = GetParam().options.jit == Jit::kOnly;  // each for a third of a second
    const auto repeats = static_cast<std::uint64_t>(bits < 12 && !compiles ? 24 : 4);
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.operations = static_cast<std::uint32_t>(random.below(bits < 12 ? 40 : 12));
      shape.births = repeat % 3 == 1;
      shape.permutes = true;
      shape.affine = repeat % 2 == 1;
      shape.phases = repeat % 4 >= 2;
      const Sweep sweep = random_sweep(random, shape);
      ASSERT_LE(sweep_error(sweep, random.bits()), shape.phases ? tolerance(shape.operations) : 0)
          << "bits " << bits << ", repeat " << repeat << ": " << describe(sweep);
    }
  }
}

// Some of whose bits are fixed, some alike at 0 and 1; none, a table's and several tables' that are neither.
TEST_P(BackendContract, FirstWritesThatPermuteMatchTheirDefinition) {
  PhiloxSequence random(39);
  for (const std::uint32_t bits : {1u, 2u, 5u, 9u, 10u, 11u, 14u, 15u, 17u, 21u}) {
    reserve(bits);
    const int repeats = bits < 12 && GetParam().options.jit != Jit::kOnly ? 24 : 4;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.operations = static_cast<std::uint32_t>(random.below(bits < 12 ? 40 : 12));
      shape.permutes = true;
      shape.phases = repeat % 2 == 0;
      shape.reads = false;
      shape.global_bits = repeat % 3 == 2 ? 1 + static_cast<std::uint32_t>(random.below(3)) : 0;
      Sweep sweep = random_sweep(random, shape);
      if (repeat % 4 == 0) {  // all of them vary
        for (Birth& birth : sweep.births) birth.factor = {Complex(0.6), Complex(0, 0.8)};
      }
      if (repeat % 4 == 1) {  // none does
        for (Birth& birth : sweep.births) birth.factor = {Complex(std::sqrt(0.5)), Complex(std::sqrt(0.5))};
      }
      ASSERT_LE(sweep_error(sweep, random.bits()), tolerance(bits + shape.operations))
          << "bits " << bits << ", repeat " << repeat << ": " << describe(sweep);
    }
  }
}

// A compiler of kernels has added the phases of such sweeps wrongly. What is short has its own tests.
TEST_P(BackendContract, LongPermutationsWithPhasesMatchTheirDefinition) {
  constexpr std::uint32_t kBits = 13;
  reserve(kBits);
  // Where they are compiled each takes a second or two.
  const auto [first, repeats] = test::Campaign(12);
  for (std::uint64_t seed = first; seed < first + repeats; ++seed) {
    PhiloxSequence random(41, seed);
    const auto operations = static_cast<std::uint32_t>(20 + random.below(seed % 3 == 0 ? 2400 : 400));
    const Sweep sweep = long_permutation(random, kBits, operations, seed % 2 == 0);
    ASSERT_LE(sweep_error(sweep, random.bits()), tolerance(kBits + operations))
        << "seed " << seed << ", " << operations << " operations";
  }
}

// What a device's caches hold is a part of them.
TEST_P(BackendContract, PermutationsOfManyChunksMatchTheirDefinition) {
  constexpr std::uint32_t kBits = 22;
  reserve(kBits);
  PhiloxSequence random(38);
  SweepShape shape;
  shape.bits = kBits;
  shape.operations = 6;
  shape.permutes = true;
  for (int repeat = 0; repeat < 4; ++repeat) {
    shape.affine = repeat >= 2;
    const Sweep sweep = random_sweep(random, shape);
    ASSERT_EQ(sweep_error(sweep, random.bits()), 0) << "repeat " << repeat << ": " << describe(sweep);
  }
}

}  // namespace qsim::test
