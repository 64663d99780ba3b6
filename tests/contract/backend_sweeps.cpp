// Contract: sweeps do what plan.h says, whatever is active, moved, controlled, born or cut into chunks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "backend_contract.h"
#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "support/campaign.h"
#include "support/sweep_reference.h"

namespace qsim::test {

TEST_P(BackendContract, SweepsMatchTheirDefinition) {
  const auto [first, repeats] = test::Campaign(24);
  PhiloxSequence random(10 + first);
  for (std::uint32_t bits = 1; bits <= 10; ++bits) {
    reserve(bits);
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.active = static_cast<std::uint32_t>(random.below(std::min(bits, 8u) + 1));
      shape.operations = static_cast<std::uint32_t>(random.below(14));
      shape.births = repeat % 3 == 1;
      shape.reads = repeat % 6 != 5;
      shape.reach = repeat % 6 == 2 || repeat % 12 == 0;
      shape.max_targets = repeat % 2 == 0 ? 2 : kMaxMatrixTargets;
      const Sweep sweep = random_sweep(random, shape);
      // Amplitudes of norm 1 states shrink with their number, the tolerance does not: scale it.
      ASSERT_LE(sweep_error(sweep, random.bits()), tolerance(shape.operations))
          << "bits " << bits << ", repeat " << repeat << ": " << describe(sweep);
    }
  }
}

// A flip takes a phase that waits on its target for another one, the next flip that one for two more.
TEST_P(BackendContract, PhasesMatchTheirDefinitionThroughManyFlips) {
  // Some are compiled, each for a third of a second.
  const auto [first, repeats] = test::Campaign(GetParam().options.jit == Jit::kOnly ? 4 : 40);
  PhiloxSequence random(36 + first);
  for (std::uint32_t bits = 3; bits <= 9; ++bits) {
    reserve(bits);
    for (std::uint64_t repeat = 0; repeat < repeats; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.active = repeat % 2 == 0 ? bits : bits - 1;
      shape.operations = 2 + static_cast<std::uint32_t>(random.below(10));
      shape.phases = true;
      const Sweep sweep = random_sweep(random, shape);
      ASSERT_LE(sweep_error(sweep, random.bits()), tolerance(shape.operations))
          << "bits " << bits << ", repeat " << repeat << ": " << describe(sweep);
    }
  }
}

// Of states that one tile holds; a backend may run them without a program.
TEST_P(BackendContract, SweepsThatRunOnceMatchTheirDefinition) {
  PhiloxSequence random(29);
  const int repeats = GetParam().options.jit == Jit::kOnly ? 2 : 24;  // each is compiled for a third of a second
  for (std::uint32_t bits = 1; bits <= 12; ++bits) {
    reserve(bits);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.active = bits;
      shape.operations = static_cast<std::uint32_t>(random.below(bits < 10 ? 24 : 8));
      shape.births = repeat % 3 == 1;
      shape.reads = repeat % 6 != 5;
      shape.reach = repeat % 6 == 2 || repeat % 12 == 0;
      shape.max_targets = repeat % 2 == 0 ? 2 : kMaxMatrixTargets;
      Sweep sweep = random_sweep(random, shape);
      sweep.once = true;
      backend_->clear_sweeps();
      const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
      for (int run = 0; run < 2; ++run) {
        const std::vector<Complex> before = start(random.bits());
        backend_->sweep(handle, ChunkView{}, 0, true);
        const std::vector<Complex> expected = reference_sweep(sweep, ChunkView{}, bits, before), found = read();
        ASSERT_LE(difference(found, expected, unborn_after(sweep)), tolerance(shape.operations))
            << "bits " << bits << ", repeat " << repeat << ", run " << run << ": " << describe(sweep);
        double norm = 0;
        for (Index i = 0; i < found.size(); ++i) norm += (i & unborn_after(sweep)) == 0 ? std::norm(found[i]) : 0;
        ASSERT_NEAR(backend_->take_norm(), norm, norm_tolerance());
      }
    }
  }
}

TEST_P(BackendContract, WhatIsNotBornYetIsNotRead) {
  PhiloxSequence random(23);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::size_t read_sweeps = 0;
  for (const std::uint32_t bits : {4u, 9u, 13u}) {
    reserve(bits);
    for (int repeat = 0; repeat < 12; ++repeat) {
      SweepShape shape;
      shape.bits = bits;
      shape.active = std::min(bits, 8u);
      shape.operations = 5;
      shape.births = true;
      const Sweep sweep = random_sweep(random, shape);
      if (!sweep.reads || sweep.unborn == 0) continue;
      ++read_sweeps;
      std::vector<Complex> before = start(random.bits());
      for (Index i = 0; i < before.size(); ++i) {
        if ((i & sweep.unborn) != 0) before[i] = {nan, nan};
      }
      const std::vector<std::complex<float>> narrow(before.begin(), before.end());
      const bool is_double = GetParam().options.precision == Precision::kDouble;
      const void* const data = is_double ? static_cast<const void*>(before.data()) : narrow.data();
      backend_->copy_in(0, before.size(), static_cast<const std::byte*>(data));
      backend_->clear_sweeps();
      backend_->sweep(backend_->prepare(std::span(&sweep, 1), Summing::kNo), ChunkView{}, 0, false);
      ASSERT_LE(difference(read(), reference_sweep(sweep, ChunkView{}, bits, before), unborn_after(sweep)),
                tolerance(5))
          << describe(sweep);
    }
  }
  EXPECT_GT(read_sweeps, 6u);
}

TEST_P(BackendContract, LargeTilesMatchTheirDefinition) {
  PhiloxSequence random(13);
  reserve(14);
  for (std::uint32_t active = 9; active <= 14; ++active) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      SweepShape shape;
      shape.bits = 14;
      shape.active = active;
      shape.operations = 30;
      shape.births = repeat == 2;
      shape.reach = repeat == 1;
      const Sweep sweep = random_sweep(random, shape);
      backend_->clear_sweeps();
      std::uint32_t handle = 0;
      try {
        handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
      } catch (const UsageError&) {
        ASSERT_GT(active, 12u) << "every backend takes tiles of 12 bits";
        return;
      }
      const std::vector<Complex> before = start(random.bits());
      backend_->sweep(handle, ChunkView{}, 0, false);
      ASSERT_LE(difference(read(), reference_sweep(sweep, ChunkView{}, 14, before), unborn_after(sweep)),
                tolerance(shape.operations))
          << describe(sweep);
    }
  }
}

TEST_P(BackendContract, LowActiveBitsMatchTheirDefinition) {
  PhiloxSequence random(17);
  reserve(12);
  for (int repeat = 0; repeat < 30; ++repeat) {
    SweepShape shape;
    shape.bits = 12;
    shape.active = 8;
    shape.operations = 25;
    shape.max_targets = 2;
    Sweep sweep = random_sweep(random, shape);
    // The usual shape of a plan: the lowest bits are active, the others anywhere; sometimes nothing moves.
    std::vector<Bit> wanted = {0, 1, 2, 3};
    for (const Bit bit : sweep.active) {
      if (bit > 3 && wanted.size() < 8) wanted.push_back(bit);
    }
    if (wanted.size() < 8) continue;
    std::vector<Bit> to(12, 255);
    std::size_t next = 0;
    for (const Bit bit : sweep.active) to[bit] = wanted[next++];
    std::vector<Bit> rest;
    for (Bit bit = 0; bit < 12; ++bit) {
      if (std::find(wanted.begin(), wanted.end(), bit) == wanted.end()) rest.push_back(bit);
    }
    next = 0;
    for (Bit& bit : to) {
      if (bit == 255) bit = rest[next++];
    }
    auto map = [&](Index mask) {
      Index mapped = 0;
      for_each_bit(mask, [&](unsigned bit) { mapped |= bit_mask(to[bit]); });
      return mapped;
    };
    for (PlanOp& op : sweep.ops) {
      for (int j = 0; j < op.target_count; ++j)
        op.targets[static_cast<std::size_t>(j)] = to[op.targets[static_cast<std::size_t>(j)]];
      op.control_mask = map(op.control_mask);
      op.control_value = map(op.control_value);
    }
    for (PhaseTerm& term : sweep.phases) term.mask = map(term.mask);
    for (Bit& bit : sweep.store) bit = to[bit];
    sweep.active = wanted;
    if (repeat % 2 == 0) sweep.store = wanted;
    ASSERT_LE(sweep_error(sweep, random.bits()), tolerance(shape.operations)) << describe(sweep);
  }
}

TEST_P(BackendContract, AChunkIsAllThatASweepTouches) {
  PhiloxSequence random(19);
  reserve(9);
  for (int repeat = 0; repeat < 30; ++repeat) {
    SweepShape shape;
    shape.bits = 9;
    shape.active = 1 + static_cast<std::uint32_t>(random.below(7));
    shape.operations = 6;
    shape.births = repeat % 2 == 1;
    const Sweep sweep = random_sweep(random, shape);
    Index inactive = low_mask(9);
    for (const Bit bit : sweep.active) inactive &= ~bit_mask(bit);
    ChunkView chunk;
    chunk.mask = inactive & random.bits();
    chunk.value = chunk.mask & random.bits();
    backend_->clear_sweeps();
    const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
    const std::vector<Complex> before = start(random.bits());
    backend_->sweep(handle, chunk, 0, false);
    const std::vector<Complex> after = read();
    ASSERT_LE(difference(after, reference_sweep(sweep, chunk, 9, before), unborn_after(sweep)), tolerance(6))
        << "chunk " << chunk.mask << " = " << chunk.value << ": " << describe(sweep);
    for (Index i = 0; i < after.size(); ++i) {
      if ((i & chunk.mask) == chunk.value) continue;
      ASSERT_EQ(after[i], before[i]) << "touched outside the chunk";
    }
  }
}

// Parts of a chunk as an exchange leaves them: those of other ranks in slots, what is in their places of no meaning.
TEST_P(BackendContract, SweepsFindInSlotsWhatHasArrived) {
  constexpr std::uint32_t kBits = 11;
  ArrivalSweeps* const sweeps = backend_->abilities().arrivals;
  if (sweeps == nullptr) GTEST_SKIP() << "this backend's sweeps load from the shard alone";
  PhiloxSequence random(21);
  reserve(kBits);
  for (int repeat = 0; repeat < 12; ++repeat) {
    const auto part_bits = static_cast<std::uint32_t>(1 + repeat % 2),
               chunk_bits = static_cast<std::uint32_t>(random.below(3));
    const Index arrivals = low_mask(kBits) & ~low_mask(kBits - part_bits);
    ChunkView chunk;
    chunk.mask = low_mask(kBits - part_bits) & ~low_mask(kBits - part_bits - chunk_bits);
    chunk.value = chunk.mask & random.bits();
    SweepShape shape;
    shape.bits = kBits;
    shape.active = static_cast<std::uint32_t>(2 + random.below(6));
    shape.operations = 6;
    Sweep sweep;
    Index active = 0;
    do {
      sweep = random_sweep(random, shape);
      active = 0;
      for (const Bit bit : sweep.active) active |= bit_mask(bit);
    } while ((active & chunk.mask) != 0 || sweep.unborn != 0);
    backend_->clear_sweeps();
    const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
    backend_->expect_chunks(handle, chunk.mask, arrivals);
    const std::vector<Complex> sent = start(random.bits());
    const Index own = arrivals & random.bits();
    std::vector<Trade> arrived;
    for (Index part = 0, left = bit_mask(part_bits); left > 0; --left, part = next_under_mask(part, arrivals)) {
      if (part == own) continue;
      const ChunkView view{chunk.mask | arrivals, chunk.value | part};
      const auto slot = static_cast<std::uint32_t>(2 - arrived.size());
      backend_->pack(view, slot, 0);
      arrived.push_back({view, {}, 0, slot});
    }
    const std::vector<Complex> before = start(random.bits());
    std::vector<Complex> together = before;
    for (Index i = 0; i < together.size(); ++i) {
      if ((i & chunk.mask) == chunk.value && (i & arrivals) != own) together[i] = sent[i];
    }
    const bool loads = sweeps->loads_arrived(handle, chunk.mask, arrivals);
    EXPECT_EQ(loads, GetParam().options.jit == Jit::kOnly);
    if (!loads) continue;
    sweeps->sweep_arrived(handle, chunk, 0, false, arrivals, arrived);
    const std::vector<Complex> expected = reference_sweep(sweep, chunk, kBits, together), after = read();
    for (Index i = 0; i < after.size(); ++i) {
      const bool inside = (i & chunk.mask) == chunk.value;
      ASSERT_LE(std::abs(after[i] - (inside ? expected[i] : before[i])), inside ? tolerance(6) : 0)
          << "amplitude " << i << ", repeat " << repeat << ": " << describe(sweep);
    }
  }
}

TEST_P(BackendContract, MatricesOfEveryOrderMatchTheirDefinition) {
  PhiloxSequence random(23);
  reserve(10);
  for (int targets = 1; targets <= kMaxMatrixTargets; ++targets) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      Sweep sweep = random_sweep(random, {.bits = 10, .active = 8, .operations = 0});
      PlanOp op;
      op.target_count = static_cast<std::uint8_t>(targets);
      std::vector<Bit> bits = sweep.active;
      for (int j = 0; j < targets; ++j) {
        const std::size_t place = static_cast<std::size_t>(j);
        std::swap(bits[place], bits[place + random.below(bits.size() - place)]);
        op.targets[place] = bits[place];
      }
      if (repeat > 2 && targets < kMaxMatrixTargets) {
        op.control_mask = bit_mask(bits.back());
        op.control_value = repeat % 2 == 0 ? op.control_mask : 0;
      }
      const std::size_t order = std::size_t{1} << targets;
      sweep.matrices = random_unitary(random, order);
      // Not every matrix is unitary: a backend must not lean on it.
      if (repeat == 5) std::fill(sweep.matrices.begin(), sweep.matrices.begin() + 1, Complex(0.25, -0.5));
      op.data_count = static_cast<std::uint32_t>(order * order);
      sweep.ops = {op, op};
      backend_->clear_sweeps();
      const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
      const std::vector<Complex> before = start(random.bits());
      backend_->sweep(handle, ChunkView{}, 0, false);
      ASSERT_LE(difference(read(), reference_sweep(sweep, ChunkView{}, 10, before), 0), tolerance(8))
          << targets << " targets: " << describe(sweep);
    }
  }
}

TEST_P(BackendContract, ManySweepsInARowStayExact) {
  PhiloxSequence random(29);
  reserve(8);
  std::vector<Sweep> sweeps;
  for (int j = 0; j < 12; ++j) sweeps.push_back(random_sweep(random, {.bits = 8, .active = 6, .operations = 8}));
  const std::uint32_t first = backend_->prepare(std::span(sweeps).first(5), Summing::kNo);
  const std::uint32_t second = backend_->prepare(std::span(sweeps).subspan(5), Summing::kNo);
  ASSERT_EQ(second, first + 5) << "handles follow each other";
  std::vector<Complex> expected = start(31);
  for (std::uint32_t j = 0; j < sweeps.size(); ++j) {
    backend_->sweep(first + j, ChunkView{}, 0, false);
    expected = reference_sweep(sweeps[j], ChunkView{}, 8, expected);
  }
  EXPECT_LE(difference(read(), expected, 0), tolerance(96));
}

TEST_P(BackendContract, TheNormOfWhatIsWrittenAddsUpOverChunks) {
  PhiloxSequence random(37);
  reserve(10);
  Sweep sweep = random_sweep(random, {.bits = 10, .active = 6, .operations = 9});
  const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
  const std::vector<Complex> before = start(38);
  double expected = 0;
  for (const Complex& a : before) expected += std::norm(a);
  Index chunk_bit = 1;
  while (std::any_of(sweep.active.begin(), sweep.active.end(), [&](Bit bit) { return bit_mask(bit) == chunk_bit; })) {
    chunk_bit <<= 1;
  }
  backend_->sweep(handle, ChunkView{chunk_bit, 0}, 0, true);
  backend_->sweep(handle, ChunkView{chunk_bit, chunk_bit}, 0, true);
  EXPECT_NEAR(backend_->take_norm(), expected, single() ? 1e-5 : 1e-13);
  EXPECT_EQ(backend_->take_norm(), 0.0) << "taking the norm clears it";
}

TEST_P(BackendContract, SweepsMaySumTheProbabilitiesOfBits) {
  PhiloxSequence random(39);
  for (const std::uint32_t bits : {5u, 10u, 14u}) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      reserve(bits);
      Sweep sweep = random_sweep(random, {.bits = bits, .active = 5, .operations = 9});
      const std::uint32_t without = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
      const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kBits);
      start(40);
      backend_->sweep(handle, ChunkView{}, 0, false);
      std::vector<double> out(bits + 1, -1.0), expected(bits + 1);
      BitSums* const sums = backend_->abilities().bit_sums;
      const bool taken = sums != nullptr && sums->take_bit_probabilities(out);
      EXPECT_EQ(taken, backend_->info().name == "cuda" && GetParam().options.jit == Jit::kOnly);
      const std::vector<Complex> a = read();
      for (Index i = 0; i < a.size(); ++i) {
        for_each_bit(i, [&](unsigned bit) { expected[bit] += std::norm(a[i]); });
        expected[bits] += std::norm(a[i]);
      }
      for (std::uint32_t bit = 0; bit <= bits; ++bit) {
        EXPECT_NEAR(out[bit], taken ? expected[bit] : -1.0, 1e-13) << "bit " << bit << " of " << bits;
      }
      backend_->sweep(without, ChunkView{}, 0, false);
      EXPECT_FALSE(sums != nullptr && sums->take_bit_probabilities(out)) << "the latest sweep did not sum";
    }
  }
}

}  // namespace qsim::test
