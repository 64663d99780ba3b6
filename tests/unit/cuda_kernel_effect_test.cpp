// Generated kernels do on the host what their tile programs say, and add up the norm of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/bits.h"
#include "base/philox.h"
#include "circuit/generate/families.h"
#include "cuda/generate/generate.h"
#include "cuda/tile/addresses.h"
#include "cuda_host_kernel.h"
#include "cuda_programs.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;
using test::expect_same_effect;
using test::hadamard;
using test::programs_of;
using test::sweep_of_bits;

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(CudaGenerate, TextsDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  std::uint64_t seed = 0;
  for (const char* const family : {"qft", "random", "qv", "ising"}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Circuit circuit = generate(family, GeneratorOptions{14, 0, 1});
      const std::vector<TileProgram> programs = programs_of(circuit, precision, Start::kRandom);
      ++seed;
      expect_same_effect(programs[seed % programs.size()], 14, seed);
    }
  }
}

TEST(CudaGenerate, TextsOfRandomCircuitsDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  const char* const wanted = std::getenv("QSIM_HOST_TEXTS");  // more of them
  const std::uint64_t circuits = wanted == nullptr ? 4 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= circuits; ++seed) {
    test::RandomCircuitOptions options;
    options.qubits = 9 + 2 * static_cast<unsigned>(seed % 4);
    options.seed = seed;
    const Precision precision = seed % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    const auto programs =
        programs_of(test::random_circuit(options), precision, seed % 3 == 0 ? Start::kRandom : Start::kZero);
    expect_same_effect(programs[seed / 4 % programs.size()], options.qubits, seed);
  }
}

/// Blocks on lanes, exchanges between them, whether parts are split on the way or not.
TEST(CudaGenerate, TextsOfBlocksOnLanesDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  std::size_t whole = 0, split = 0, trades = 0;
  for (const auto& [qubits, depth] : {std::pair{11u, 4u}, {13u, 2u}, {14u, 6u}}) {
    const Circuit circuit = generate("qv", GeneratorOptions{qubits, depth, 3});
    for (const TileProgram& program : programs_of(circuit, Precision::kDouble, Start::kRandom)) {
      const std::string source = generate(program).source;
      // The warp meets between its loads and what takes its threads' amplitudes to other threads.
      EXPECT_LE(source.find("__syncwarp();"), std::min(source.find("\ntrade("), source.find("\nsplit(")));
      whole += occurrences(source, "\nwhole(");
      split += occurrences(source, "\nsplit(");
      trades += occurrences(source, "\ntrade(");
      expect_same_effect(program, qubits, qubits);
    }
  }
  EXPECT_GT(whole, 100u);
  EXPECT_GT(split, 100u);
  EXPECT_GT(trades, 100u);
}

/// Only the first of an epoch's blocks finds what the epoch before has split, and only the last one splits.
TEST(CudaGenerate, TextsOfSeveralBlocksOnLanesInAnEpochDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  for (TileProgram program :
       programs_of(generate("qv", GeneratorOptions{13, 2, 3}), Precision::kDouble, Start::kRandom)) {
    for (Epoch& epoch : program.epochs) {
      if (epoch.ops.empty() || epoch.ops.front().kind != TileOpKind::kLanes) continue;
      const TileOp again = epoch.ops.front();
      epoch.ops.insert(epoch.ops.begin() + 1, 2, again);
    }
    expect_same_effect(program, 13, 13);
  }
}

// Births, unborn bits, any controls, stores to anywhere: what planners write seldom.
TEST(CudaGenerate, TextsOfRandomSweepsDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  const char* const wanted = std::getenv("QSIM_HOST_TEXTS");  // more of them
  const std::uint64_t sweeps = wanted == nullptr ? 10 : std::strtoull(wanted, nullptr, 10);
  PhiloxSequence random(21);
  for (std::uint64_t trial = 0; trial < sweeps; ++trial) {
    test::SweepShape shape;
    shape.bits = 6 + static_cast<std::uint32_t>(random.below(5));
    shape.active = shape.bits - static_cast<std::uint32_t>(random.below(3));
    shape.operations = 4 + static_cast<std::uint32_t>(random.below(12));
    shape.max_targets = 4;
    shape.births = trial % 3 != 2;
    shape.reads = trial % 4 != 3;
    shape.reach = !shape.births && shape.reads;
    const Sweep sweep = test::random_sweep(random, shape);
    LowerOptions options;
    options.precision = trial % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    options.local_bits = shape.bits;
    options.register_bits = trial % 2 == 0 ? 4 : 5;
    options.canonical = trial % 5 < 2;
    options.lookups = trial % 3 != 0;
    options.lanes = trial % 2 == 0;
    options.trials = 1 + static_cast<std::uint32_t>(trial) % 3;
    expect_same_effect(lower_sweep(sweep, options), shape.bits, trial, test::unborn_after(sweep));
  }
}

/// The highest bits' parts of the state lie apart, whether a sweep has those bits in its tiles or not.
TEST(CudaGenerate, TextsLoadWhatHasArrivedFromWhereItIs) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  std::uint64_t seed = 90;
  int inside = 0, outside = 0;
  for (const char* const family : {"qft", "random"}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      std::vector<TileProgram> programs =
          programs_of(generate(family, GeneratorOptions{15, 0, 1}), precision, Start::kRandom);
      programs.resize(2);
      for (TileProgram& program : programs) {
        program.arrivals = ++seed % 3 == 0 ? bit_mask(14) : Index{3} << 13;
        ++((program.tile_bits & program.arrivals) == program.arrivals ? outside : inside);
        expect_same_effect(program, 15, seed);
      }
    }
  }
  EXPECT_GT(inside, 0);
  EXPECT_GT(outside, 0);
}

/// The bits that a thread's own registers stand for tell where each of them has arrived.
TEST(CudaGenerate, TextsLoadEachRegisterFromWhereItIs) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  Sweep sweep = sweep_of_bits(12);
  for (Bit bit = 8; bit < 12; ++bit) sweep.ops.push_back(hadamard(bit, sweep));
  LowerOptions options;
  options.local_bits = 12;
  TileProgram program = lower_sweep(sweep, options);
  ASSERT_EQ(program.epochs.front().reg, (std::vector<std::uint8_t>{8, 9, 10, 11}));
  for (const Index arrivals : {Index{0xf00}, Index{0xc00}}) {
    program.arrivals = arrivals;
    expect_same_effect(program, 12, 5);
  }
}

/// Fewer bits than a thread has registers for, and bits that stay unborn: what is dead is neither read nor written.
TEST(CudaGenerate, TextsOfSmallTilesDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  for (Bit bits = 1; bits <= 4; ++bits) {
    for (const Index unborn : {Index{0}, Index{1} << (bits - 1)}) {
      Sweep sweep = sweep_of_bits(bits);
      sweep.unborn = unborn;
      for (Bit bit = 0; bit < bits; ++bit) {
        if (!test_bit(unborn, bit)) sweep.ops.push_back(hadamard(bit, sweep));
      }
      LowerOptions options;
      options.local_bits = bits;
      expect_same_effect(lower_sweep(sweep, options), bits, bits, unborn);
    }
  }
}

TEST(CudaGenerate, TextsLookAtTheParityOfATilesNumber) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  Sweep sweep = sweep_of_bits(9);
  for (const auto& [mask, controls] : {std::pair<Index, Index>{bit_mask(3) | bit_mask(9) | bit_mask(10), 0},
                                       {bit_mask(9) | bit_mask(10), bit_mask(2) | bit_mask(5)},
                                       {bit_mask(9) | bit_mask(11), bit_mask(8) | bit_mask(10)}}) {
    PlanOp op;
    op.form = Form::kPhases;
    op.control_mask = op.control_value = controls;
    op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    op.data_count = 1;
    sweep.phases.push_back({mask, true, 0.7});
    sweep.ops.push_back(hadamard(4, sweep));
    sweep.ops.push_back(op);
  }
  LowerOptions options;
  options.local_bits = 12;
  const TileProgram program = lower_sweep(sweep, options);
  EXPECT_NE(generate(program).source.find("__popcll(base"), std::string::npos);
  expect_same_effect(program, 12, 7);
}

// What a register that is dead holds is 0: it begins as nothing, read or not.
TEST(CudaGenerate, TextsBeginLiveRegistersAlone) {
  std::size_t some = 0;
  for (const bool reads : {false, true}) {
    for (Bit bits = 1; bits <= 10; ++bits) {
      for (Bit still = 0; still < bits; ++still) {
        Sweep sweep = sweep_of_bits(bits);
        sweep.reads = reads;
        sweep.unborn = reads ? bit_mask(still) : low_mask(bits);
        for (Bit bit = 0; bit < bits; ++bit) {
          if (bit == still) continue;
          if (reads) {
            sweep.ops.push_back(hadamard(bit, sweep));
          } else {
            sweep.births.push_back({bit, {Complex(0.6), Complex(0.8)}});
          }
        }
        LowerOptions options;
        options.local_bits = bits;
        const TileProgram program = lower_sweep(sweep, options);
        const std::string source = generate(program).source;
        const std::uint32_t dead = dead_registers(program, program.epochs.front());
        some += dead != 0 ? 1 : 0;
        for (std::uint32_t j = 0; j < 1u << program.register_bits; ++j) {
          const std::string begin = "a" + std::to_string(j) + (reads ? " = fetch(" : ".x = 1;");
          EXPECT_EQ(source.find(begin) == std::string::npos, (dead >> j & 1) != 0) << begin << " " << int{bits};
        }
      }
    }
  }
  EXPECT_EQ(some, 20u);
}

/// Tiles at 1 of a bit that is born outside of them begin as zeros, whatever lies in memory.
TEST(CudaGenerate, TextsBeginBornTilesAsZeros) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  for (const Index unborn : {Index{0}, Index{1} << 2}) {  // inside, where it stays so
    Sweep sweep = sweep_of_bits(9);
    sweep.births = {{9, {Complex(1), Complex(0)}}};
    sweep.unborn = unborn | Index{1} << 9;
    sweep.ops = {hadamard(8, sweep)};
    LowerOptions options;
    options.local_bits = 10;
    const TileProgram program = lower_sweep(sweep, options);
    EXPECT_EQ(program.zero_tiles, Index{1} << 9);
    expect_same_effect(program, 10, 6, unborn);
  }
}

/// A tile of which at least 127 of 128 amplitudes are born asks for what a later one loads.
TEST(CudaGenerate, TilesThatAreBornForTheMostPartAskAhead) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    for (const Bit born : {Bit{6}, Bit{7}, Bit{9}}) {
      for (const bool outside : {false, true}) {  // a tile behind the last one that loads is asked for nothing
        Sweep sweep = sweep_of_bits(12);
        for (auto bit = static_cast<Bit>(12 - born); bit < 12; ++bit)
          sweep.births.push_back({bit, {Complex(0.6), Complex(0.8)}});
        if (outside) sweep.births.push_back({13, {Complex(1), Complex(0)}});
        for (const Birth& birth : sweep.births) sweep.unborn |= bit_mask(birth.bit);
        for (const Bit bit : {Bit{0}, Bit{5}, Bit{11}}) sweep.ops.push_back(hadamard(bit, sweep));
        const TileProgram program = lower_sweep(sweep, lower_options(14, precision));
        EXPECT_EQ(program.zero_tiles != 0, outside);
        const std::string source = generate(program).source;
        const std::size_t ahead = occurrences(source, "prefetch(ahead + ");
        EXPECT_EQ(ahead, born < 7 ? 0 : occurrences(source, " = fetch(")) << int{born};
        EXPECT_EQ(occurrences(source, "if ((later & "), ahead > 0 && outside ? 1u : 0u) << int{born};
        expect_same_effect(program, 14, 80u + born);
      }
    }
  }
}

TEST(CudaGenerate, TextsThatSumBitsGiveTheirProbabilities) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  std::uint64_t seed = 70;
  for (const char* const family : {"qft", "random", "ghz"}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Circuit circuit = generate(family, GeneratorOptions{14, 0, 1});
      PlanOptions options;
      options.start = Start::kRandom;
      options.precision = precision;
      const Plan plan = make_plan(circuit, find_machine("h200"), options);
      Sweep last = specialize(plan.stages.back().sweeps.back(), plan, 0);
      LowerOptions lower = lower_options(plan.local_bits(), precision);
      lower.sums_bits = true;
      const TileProgram program = lower_sweep(last, lower);
      std::vector<Complex> state = dense::random_state(14, ++seed);
      const std::vector<double> sums = test::run_summing(program, state);
      ASSERT_EQ(sums.size(), 15u);
      std::vector<double> expected(15);
      for (Index i = 0; i < state.size(); ++i) {
        for_each_bit(i, [&](unsigned bit) { expected[bit] += std::norm(state[i]); });
        expected.back() += std::norm(state[i]);
      }
      for (std::size_t bit = 0; bit < sums.size(); ++bit) {
        EXPECT_NEAR(sums[bit], expected[bit], precision == Precision::kDouble ? 1e-14 : 1e-7) << family << bit;
      }
    }
  }
}

/// What is dead, in registers and in threads, adds nothing.
TEST(CudaGenerate, TextsThatSumBitsOfSmallTilesGiveTheirProbabilities) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr Bit kBits = 3;
  Sweep sweep = sweep_of_bits(kBits);
  sweep.ops = {hadamard(1, sweep)};
  LowerOptions options;
  options.local_bits = kBits;
  options.sums_bits = true;
  std::vector<Complex> state = dense::random_state(kBits, 8);
  const std::vector<double> sums = test::run_summing(lower_sweep(sweep, options), state);
  ASSERT_EQ(sums.size(), kBits + 1u);
  for (Bit bit = 0; bit < kBits; ++bit) {
    double expected = 0;
    for (Index i = 0; i < state.size(); ++i) expected += test_bit(i, bit) ? std::norm(state[i]) : 0;
    EXPECT_NEAR(sums[bit], expected, 1e-14) << "bit " << int{bit};
  }
  EXPECT_NEAR(sums.back(), 1, 1e-14);
}

TEST(CudaGenerate, TextsOfDenseMatricesDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr unsigned kQubits = 11;
  for (unsigned targets = 3; targets <= 6; ++targets) {
    Sweep sweep;
    for (Bit bit = 0; bit < kQubits; ++bit) sweep.active.push_back(bit);
    sweep.store = sweep.active;
    for (unsigned step : {1u, 3u}) {
      PlanOp op;
      op.target_count = static_cast<std::uint8_t>(targets);
      for (unsigned t = 0; t < targets; ++t) op.targets[t] = static_cast<Bit>((t * step + targets) % kQubits);
      op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
      const std::vector<Complex> matrix = test::random_unitary(targets, targets + step);
      op.data_count = static_cast<std::uint32_t>(matrix.size());
      sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
      if (step == 3) {  // controls of both values, on registers and on threads
        for (Bit control = 0; control < kQubits && count_bits(op.control_mask) < targets - 2; ++control) {
          const auto end = op.targets.begin() + targets;
          if (std::find(op.targets.begin(), end, control) == end) op.control_mask |= bit_mask(control);
        }
        op.control_value = op.control_mask & (targets == 5 ? 0x2aa : 0x555);
      }
      sweep.ops.push_back(op);
    }
    if (targets == 4) {  // all bits but the targets controls, each of either value
      PlanOp op = sweep.ops.back();
      op.control_mask = low_mask(kQubits);
      for (unsigned t = 0; t < targets; ++t) op.control_mask &= ~bit_mask(op.targets[t]);
      for (const Index value : {Index{0x555}, Index{0x2aa}}) {
        op.control_value = op.control_mask & value;
        sweep.ops.push_back(op);
      }
    }
    LowerOptions options;
    options.local_bits = kQubits;
    for (const test::HostGpu gpu : {test::HostGpu::kHopper, test::HostGpu::kOlder}) {
      options.lanes = gpu == test::HostGpu::kHopper;
      const TileProgram program = lower_sweep(sweep, options);
      const bool wide = generate(program).source.find("m16n8k16") != std::string::npos;
      EXPECT_EQ(wide, targets > 3 || options.lanes);
      expect_same_effect(program, kQubits, targets, 0, gpu);
    }
    // Without tensor cores: threads add up rows.
    expect_same_effect(lower_sweep(sweep, lower_options(kQubits, Precision::kSingle)), kQubits, targets);
  }
}

// Flips of one bit, which hold by tile, by thread, by register, always, and twice, and factors of so many angles that
// threads share them.
TEST(CudaGenerate, TextsOfFlipsOfOneBitAndOfManyAnglesDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr Bit kActive = 11, kQubits = 16;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    PhiloxSequence random(seed);
    Sweep sweep = sweep_of_bits(kActive);
    for (int layer = 0; layer < 6; ++layer) {
      const auto target = static_cast<Bit>(random.below(kActive));
      sweep.ops.push_back(hadamard(target, sweep));
      for (std::uint64_t flips = 1 + random.below(5); flips > 0; --flips) {
        PlanOp flip;
        flip.form = Form::kFlip;
        flip.target_count = 1;
        flip.targets[0] = target;
        for (std::uint64_t controls = random.below(4); controls > 0; --controls) {
          const auto control = static_cast<Bit>(random.below(kQubits));
          if (control != target) flip.control_mask |= bit_mask(control);
        }
        flip.control_value = flip.control_mask & random.below(bit_mask(kQubits));
        sweep.ops.push_back(flip);
        if (random.below(4) == 0) sweep.ops.push_back(flip);
      }
      sweep.ops.push_back(hadamard(target, sweep));
      PlanOp phases;
      phases.form = Form::kPhases;
      phases.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
      phases.data_count = layer == 0 ? 100 : 2;
      for (std::uint32_t term = 0; term < phases.data_count; ++term) {
        const Index inside = random.below(2) == 0 ? bit_mask(static_cast<unsigned>(target)) : 0;
        sweep.phases.push_back({inside | (random.below(31) + 1) << kActive, layer != 2, random.uniform(-3, 3)});
      }
      sweep.ops.push_back(phases);
    }
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      LowerOptions options = lower_options(kQubits, precision);
      options.angle_share = std::size_t{1} << kWarpBits;
      const TileProgram program = lower_sweep(sweep, options);
      EXPECT_TRUE(std::ranges::any_of(program.tile_factors, [](const auto& terms) { return terms.size() > 8; }));
      const std::string source = generate(program).source;
      EXPECT_NE(source.find("sum += __shfl_xor_sync"), std::string::npos);
      EXPECT_NE(source.find(") != ("), std::string::npos);
      expect_same_effect(program, kQubits, seed);
    }
  }
}

// In single precision, where a tile is loaded whole: its factors' angles before its amplitudes, if each thread has few
// of them, and the tables of the first phases before all threads wait for the factors.
TEST(CudaGenerate, WhatTheFirstPhasesAreMadeOfIsAskedForBeforeItIsWaitedFor) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr Bit kActive = 11, kQubits = 16;
  for (const std::uint32_t terms : {1u, 6u, 40u, 400u}) {
    for (const bool born : {false, true}) {
      PhiloxSequence random(terms);
      Sweep sweep = sweep_of_bits(kActive);
      if (born) {
        sweep.births = {{3, {Complex(0.6), Complex(0.8)}}};
        sweep.unborn = bit_mask(3);
      }
      for (int layer = 0; layer < 2; ++layer) {
        PlanOp phases;
        phases.form = Form::kPhases;
        phases.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
        for (std::uint32_t term = 0; term < terms; ++term)
          sweep.phases.push_back({bit_mask(0) | (random.below(31) + 1) << kActive, false, random.uniform(-3, 3)});
        for (unsigned bit = 1; bit < kActive; ++bit)
          sweep.phases.push_back({bit_mask(0) | bit_mask(bit), false, random.uniform(-3, 3)});
        phases.data_count = static_cast<std::uint32_t>(sweep.phases.size()) - phases.data_begin;
        sweep.ops.push_back(phases);
        sweep.ops.push_back(hadamard(static_cast<Bit>(10 * layer), sweep));
      }
      for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
        const TileProgram program = lower_sweep(sweep, lower_options(kQubits, precision));
        const std::string source = generate(program).source;
        const bool asked = precision == Precision::kSingle && !born && terms < 400;
        const std::size_t angles = source.find("p.angles[t"), load = source.find("fetch(from");
        const std::size_t table = source.find("early(p.tables"), factors = source.find("sincospi(sum");
        EXPECT_EQ(angles != std::string::npos, asked) << terms;
        EXPECT_EQ(table != std::string::npos, asked) << terms;
        EXPECT_EQ(angles < load && load < table && table < factors, asked) << terms;
        expect_same_effect(program, kQubits, terms);
      }
    }
  }
}

// A matrix of zeros and ones on two targets has no number that a kernel could hold.
TEST(CudaGenerate, TextsOfPermutationsOfTwoTargetsDoOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr unsigned kQubits = 8;
  Sweep sweep;
  for (Bit bit = 0; bit < kQubits; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  PlanOp op;
  op.target_count = 2;
  op.targets[0] = 1;
  op.targets[1] = 4;
  op.data_count = 16;
  sweep.matrices.assign(16, 0);
  for (const std::size_t entry : {0U, 6U, 11U, 13U}) sweep.matrices[entry] = 1;
  sweep.ops.push_back(op);
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    expect_same_effect(lower_sweep(sweep, lower_options(kQubits, precision)), kQubits, 2);
  }
}

// Constants wait for each other, and registers that wait for different ones are multiplied by their own: here by the
// factor of two slots, or by that of the operation after it, whose number is one more.
TEST(CudaGenerate, ConstantsOfDifferentOperationsStayApart) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  LowerOptions options;
  options.local_bits = 9;
  TileProgram program = lower_sweep(sweep_of_bits(9), options);
  TileOp both;
  both.kind = TileOpKind::kPair;
  both.slots = {0, 1};
  both.factor[3].present = true;
  both.factor[3].constant = std::polar(1.0, 0.3);
  TileOp neither;
  neither.kind = TileOpKind::kMultiply;
  neither.set = 0x1111;
  neither.factor[0].present = true;
  neither.factor[0].constant = std::polar(1.0, 0.7);
  program.epochs.front().ops = {both, neither};
  expect_same_effect(program, 9, 1);
}

}  // namespace
}  // namespace qsim
