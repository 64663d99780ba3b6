// Generated kernels compile, without spills, to few texts; the cache on disk gives back what it was given.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <string>

#include "base/bits.h"
#include "base/philox.h"
#include "circuit/generate/families.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda/run/encode.h"
#include "cuda/run/jit.h"
#include "cuda/tile/addresses.h"
#include "cuda_host_kernel.h"
#include "cuda_programs.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;
using test::programs_of;

std::optional<RuntimeCompiler> compiler() {
  try {
    return RuntimeCompiler::load();
  } catch (const DeviceError&) {
    return std::nullopt;
  }
}

void expect_compiles(const RuntimeCompiler& nvrtc, const TileProgram& program) {
  const GeneratedSweep generated = generate(program);
  const CompiledKernel kernel = nvrtc.compile(generated.source, 90, true);
  EXPECT_FALSE(kernel.cubin.empty()) << kernel.log;
  EXPECT_NE(kernel.log.find(" 0 bytes spill stores"), std::string::npos) << kernel.log;
}

TEST(CudaGenerate, SweepsOfTheFamiliesCompileWithoutSpills) {
  const auto nvrtc = compiler();
  if (!nvrtc) GTEST_SKIP() << "no libnvrtc";
  for (const char* const family : {"qft", "random"}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Circuit circuit = generate(family, GeneratorOptions{26, 0, 1});
      const std::vector<TileProgram> programs = programs_of(circuit, precision, Start::kRandom);
      expect_compiles(*nvrtc, programs.front());
    }
  }
}

TEST(CudaGenerate, RandomSweepsCompile) {
  const auto nvrtc = compiler();
  if (!nvrtc) GTEST_SKIP() << "no libnvrtc";
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    test::RandomCircuitOptions options;
    options.qubits = 4 + static_cast<unsigned>(seed) * 3;
    options.seed = seed;
    const Precision precision = seed % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    const Circuit circuit = test::random_circuit(options);
    const auto programs = programs_of(circuit, precision, seed % 3 == 0 ? Start::kRandom : Start::kZero);
    const CompiledKernel kernel = nvrtc->compile(generate(programs.back()).source, 90);
    EXPECT_FALSE(kernel.cubin.empty()) << kernel.log;
  }
}

Sweep random_permutation(PhiloxSequence& random, std::uint32_t bits, std::uint32_t operations, bool reads,
                         std::uint32_t global_bits = 0) {
  test::SweepShape shape;
  shape.bits = bits;
  shape.operations = operations;
  shape.permutes = shape.phases = true;
  shape.births = random.below(3) == 0;
  shape.reads = reads;
  shape.global_bits = reads ? 0 : global_bits;
  return test::random_sweep(random, shape);
}

TEST(CudaGenerate, PermutationsCompileWithoutSpills) {
  const auto nvrtc = compiler();
  if (!nvrtc) GTEST_SKIP() << "no libnvrtc";
  PhiloxSequence random(11);
  for (const bool reads : {true, false}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      Sweep sweep = random_permutation(random, 30, 0, reads);
      sweep.bundle = low_mask(30);
      sweep.unborn = reads ? 0 : sweep.bundle;
      if (reads) sweep.births.clear();
      for (int i = 0; i < 60; ++i) {
        PlanOp flip;
        flip.form = Form::kFlip;
        flip.target_count = 1;
        flip.targets[0] = static_cast<Bit>(random.below(30));
        flip.control_mask =
            (bit_mask(static_cast<unsigned>(random.below(30))) | bit_mask(static_cast<unsigned>(random.below(30)))) &
            ~bit_mask(flip.targets[0]);
        flip.control_value = flip.control_mask;
        sweep.ops.push_back(flip);
      }
      const CompiledKernel kernel = nvrtc->compile(generate_permutation(sweep, 30, precision).source, 90, true);
      EXPECT_FALSE(kernel.cubin.empty()) << kernel.log;
      EXPECT_NE(kernel.log.find(" 0 bytes spill stores"), std::string::npos) << kernel.log;
    }
  }
}

// ptxas 13.0 joins a lop3 of equal operands wrongly with what uses its result, which a host compiler does not show:
// phases of compiled permutations were wrong. It makes them itself where they are right.
TEST(CudaGenerate, NoTernaryLogicIsWrittenOut) {
  PhiloxSequence random(17);
  for (const bool reads : {true, false}) {
    const std::string text =
        generate_permutation(random_permutation(random, 12, 25, reads), 12, Precision::kDouble).source;
    EXPECT_EQ(text.find("lop3"), std::string::npos);
    EXPECT_NE(text.find("FULL_ADD"), std::string::npos);
  }
}

// Beyond some length ptxas keeps conditions in memory that few optimisations make anew.
TEST(CudaGenerate, LongPermutationsAreAssembledSimply) {
  PhiloxSequence random(19);
  for (const bool reads : {true, false}) {
    const auto text = [&](std::uint32_t operations) {
      return generate_permutation(random_permutation(random, 12, operations, reads), 12, Precision::kDouble).source;
    };
    EXPECT_FALSE(text(100).starts_with(kAssembledSimply));
    EXPECT_TRUE(text(3000).starts_with(kAssembledSimply));
  }
}

// Each is added in its place: kept for later, the conditions of so many are in memory (3 KB a thread) and slow.
TEST(CudaGenerate, ManyPhasesOfAPermutationCompileWithoutSpills) {
  const auto nvrtc = compiler();
  if (!nvrtc) GTEST_SKIP() << "no libnvrtc";
  PhiloxSequence random(13);
  Sweep sweep;
  sweep.bundle = low_mask(30);
  const auto any_bit = [&] { return static_cast<Bit>(random.below(30)); };
  for (int i = 0; i < 300; ++i) {
    PlanOp flip, phase;
    flip.form = Form::kFlip;
    flip.target_count = 1;
    flip.targets[0] = any_bit();
    flip.control_mask = flip.control_value = (bit_mask(any_bit()) | bit_mask(any_bit())) & ~bit_mask(flip.targets[0]);
    phase.form = Form::kPhases;
    phase.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    phase.data_count = 1;
    sweep.phases.push_back({bit_mask(any_bit()) | bit_mask(any_bit()), i % 2 == 0,
                            OpenAngle{std::numbers::pi / 8 * (1 + static_cast<double>(random.below(15))), 0}});
    sweep.ops.push_back(flip);
    sweep.ops.push_back(phase);
  }
  const CompiledKernel kernel = nvrtc->compile(generate_permutation(sweep, 30, Precision::kDouble).source, 90, true);
  EXPECT_FALSE(kernel.cubin.empty()) << kernel.log;
  const std::size_t at = kernel.log.find(" bytes spill stores");
  ASSERT_NE(at, std::string::npos) << kernel.log;
  const std::size_t begin = kernel.log.rfind(' ', at - 1) + 1;
  EXPECT_LE(std::stoi(kernel.log.substr(begin, at - begin)), 64) << kernel.log;
}

TEST(CudaGenerate, PermutationsDoOnTheHostWhatTheyMean) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  PhiloxSequence random(12);
  int trial = 0;
  for (const std::uint32_t bits : {1u, 4u, 9u, 10u, 13u, 14u, 15u}) {
    for (const bool reads : {true, false}) {
      const Precision precision = ++trial % 3 == 0 ? Precision::kSingle : Precision::kDouble;
      Sweep sweep = random_permutation(random, bits, 25, reads, static_cast<std::uint32_t>(trial) % 4);
      if (!reads && trial % 4 == 0) {  // real numbers in the tables
        for (Birth& birth : sweep.births) birth.factor = {Complex(0.6), Complex(0.8)};
      }
      std::vector<Complex> state = dense::random_state(bits, random.bits());
      const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, state);
      test::run_permutation(sweep, bits, precision, state);
      const Index still = test::unborn_after(sweep);
      for (Index i = 0; i < state.size(); ++i) {
        if ((i & still) != 0) continue;
        ASSERT_LE(std::abs(state[i] - expected[i]), precision == Precision::kDouble ? 1e-14 : 1e-5)
            << "bits " << bits << ", reads " << reads << ", amplitude " << i;
      }
    }
  }
}

TEST(CudaGenerate, AnglesAndBitPositionsAreArguments) {
  Sweep sweep;
  sweep.active = {0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  sweep.store = sweep.active;
  const auto with_angle = [&](double angle, Bit control) {
    Sweep one = sweep;
    PlanOp rotation;
    rotation.target_count = 1;
    rotation.targets[0] = 9;
    const double c = std::cos(angle), s = std::sin(angle);
    one.matrices = {c, -s, s, c};
    rotation.data_count = 4;
    PlanOp phase;
    phase.form = Form::kPhases;
    phase.data_count = 1;
    one.phases = {{Index{1} << 9 | Index{1} << control, false, angle}};
    one.ops = {rotation, phase};
    LowerOptions options;
    options.local_bits = 26;
    return generate(lower_sweep(one, options));
  };
  const GeneratedSweep a = with_angle(0.3, 20), b = with_angle(0.4, 24);
  EXPECT_EQ(a.source, b.source);
  EXPECT_NE(a.reals, b.reals);
}

TEST(CudaGenerate, TheBlockMeetsBetweenLoadsAndStoresThatGoElsewhere) {
  // A sweep that only moves amplitudes, through the addresses that they are stored to.
  Sweep sweep;
  for (Bit bit = 0; bit < 12; ++bit) sweep.active.push_back(bit < 3 ? bit : static_cast<Bit>(bit + 15));
  sweep.store = sweep.active;
  std::rotate(sweep.store.begin() + 3, sweep.store.begin() + 4, sweep.store.end());
  Plan plan;
  plan.qubits = 30;
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    const TileProgram program = lower_sweep(sweep, lower_options(plan.local_bits(), precision));
    EXPECT_EQ(program.epochs.size(), 1u);
    EXPECT_EQ(store_wait(program), StoreWait::kBlock);
    const std::string source = generate(program).source;
    const std::size_t load = source.rfind("= fetch("), store = source.find("(p.state + (to"),
                      barrier = source.find("__syncthreads()", load);
    ASSERT_NE(load, std::string::npos);
    EXPECT_LT(load, barrier);
    EXPECT_LT(barrier, store);
    const auto encoded = encode<double>(program);
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->params.store_wait, 2);
  }
}

TEST(CudaGenerate, TheCacheReturnsOnlyWhatItWasGiven) {
  const std::string folder = testing::TempDir() + "/qsim_cache_" + std::to_string(getpid());
  const KernelCache cache(folder, 90, 1300), other(folder, 80, 1300);
  const std::vector<char> cubin = {'a', 'b', 'c', 0, 'd'};
  EXPECT_TRUE(cache.read("text").empty());
  cache.write("text", cubin);
  EXPECT_EQ(cache.read("text"), cubin);
  EXPECT_TRUE(cache.read("other text").empty());
  EXPECT_TRUE(other.read("text").empty());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('x');
  }
  EXPECT_TRUE(cache.read("text").empty()) << "a damaged file was believed";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace qsim
