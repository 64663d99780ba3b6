// Random circuits, planned in every way, on the GPU against the CPU. QSIM_CUDA_CIRCUITS says how many are interpreted
// in each precision, QSIM_CUDA_COMPILED how many are compiled, QSIM_CUDA_QUBITS how many qubits they have at most,
// QSIM_CUDA_EDGES how many circuits at numerical edges are run each way (of them one in four is deep), QSIM_CUDA_BLOCKS
// how many of two-qubit blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "circuit/generate/families.h"
#include "device/backend.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/campaign.h"
#include "support/edge_circuit.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

std::vector<Complex> run(Backend& backend, const Plan& plan, const std::vector<Sweep>& sweeps, Precision precision) {
  const std::uint32_t bits = plan.local_bits();
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(precision) << bits;
  layout.table_bytes = 8ull << 20;
  layout.scratch_bytes = 17ull << 20;
  backend.reserve(layout, bits);
  if (plan.start == Start::kRandom) backend.fill_random(plan.initial_layout, 0, 5, std::pow(2.0, -0.5 * (bits + 1)));
  const std::uint32_t first = backend.prepare(sweeps, Summing::kNo);
  for (std::uint32_t s = 0; s < sweeps.size(); ++s) backend.sweep(first + s, {}, 0, false);
  std::vector<std::byte> raw(amplitude_bytes(precision) << bits);
  backend.reader().copy_out(0, Index{1} << bits, raw.data());
  std::vector<Complex> state(std::size_t{1} << bits);
  if (precision == Precision::kDouble) {
    std::memcpy(state.data(), raw.data(), raw.size());
  } else {
    std::vector<std::complex<float>> narrow(state.size());
    std::memcpy(narrow.data(), raw.data(), raw.size());
    state.assign(narrow.begin(), narrow.end());
  }
  return state;
}

Circuit random_circuit(std::uint64_t seed) {
  test::RandomCircuitOptions circuit_options;
  // One in fifty has up to 24 qubits.
  const std::uint64_t qubits = 3 + seed * 7 % (seed % 50 == 0 ? 22 : 13);
  circuit_options.qubits = static_cast<unsigned>(std::min(qubits, test::number_from("QSIM_CUDA_QUBITS", 24)));
  circuit_options.operations = 20 + static_cast<unsigned>(seed % 5) * 20;
  circuit_options.seed = seed;
  return test::random_circuit(circuit_options);
}

Circuit edge_circuit(std::uint64_t seed) {
  if (seed % 4 == 0) return test::deep_circuit(seed, 12, 3000);
  return test::edge_circuit(static_cast<unsigned>(3 + seed * 7 % 11), static_cast<unsigned>(10 + seed % 50), seed);
}

/// Two-qubit blocks everywhere, which kernels do on lanes.
Circuit circuit_of_blocks(std::uint64_t seed) {
  return generate("qv",
                  {static_cast<std::uint32_t>(5 + seed * 7 % 12), static_cast<std::uint32_t>(2 + seed % 5), seed});
}

void compare(std::uint64_t seed, const Circuit& circuit, Backend& cuda, Backend& cpu, Precision precision) {
  PlanOptions options;
  options.precision = precision;
  options.strategy = seed % 3 == 0 ? Strategy::kNaive : seed % 3 == 1 ? Strategy::kGreedy : Strategy::kSearch;
  options.start = seed % 2 == 0 ? Start::kRandom : Start::kZero;
  options.known_zeros = seed % 8 != 1;
  if (seed % 4 != 0) options.tile_bits = 3 + static_cast<std::uint32_t>(seed % 10);
  options.rank_bits = std::min(static_cast<std::uint32_t>(seed % 7 / 2), std::max(3u, circuit.qubits()) - 3);
  const Plan plan = make_plan(circuit, find_machine("h200"), options);
  for (std::uint32_t rank = 0; rank < 1u << options.rank_bits; ++rank) {
    // The sweeps of all stages, one after the other: what exchanges would do between them is not asked here.
    std::vector<Sweep> sweeps;
    for (const Stage& stage : plan.stages) {
      for (const Sweep& sweep : stage.sweeps) sweeps.push_back(specialize(sweep, plan, rank));
    }
    const auto got = run(cuda, plan, sweeps, precision), expected = run(cpu, plan, sweeps, Precision::kDouble);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double difference = std::abs(got[i] - expected[i]);
      if (!(difference <= worst)) worst = difference;
    }
    EXPECT_LE(worst, test::tolerance(precision, circuit.depth()))
        << "seed " << seed << ", qubits " << circuit.qubits() << ", rank " << rank << " of "
        << (1u << options.rank_bits);
  }
}

/// `count` circuits, or what QSIM_CUDA_CIRCUITS and QSIM_CUDA_COMPILED say.
void compare_all(Precision precision, Jit jit, Circuit (*make)(std::uint64_t) = random_circuit,
                 std::uint64_t count = 0) {
  BackendOptions options;
  options.precision = precision;
  options.jit = jit;
  std::unique_ptr<Backend> cuda;
  try {
    cuda = make_cuda_backend(options);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  BackendOptions cpu_options;
  const auto cpu = make_cpu_backend(cpu_options);
  const std::uint64_t interpreted = test::number_from("QSIM_CUDA_CIRCUITS", 160);
  // Compiling takes its time: an eighth of the circuits.
  const std::uint64_t compiled = test::number_from("QSIM_CUDA_COMPILED", (interpreted + 7) / 8);
  const std::uint64_t circuits = count != 0 ? count : options.jit == Jit::kOnly ? compiled : interpreted;
  for (std::uint64_t seed = 1; seed <= circuits && !testing::Test::HasFailure(); ++seed) {
    compare(seed, make(seed), *cuda, *cpu, precision);
  }
}

TEST(CudaRandom, InterpretedDoubleMatchesTheCpu) { compare_all(Precision::kDouble, Jit::kOff); }
TEST(CudaRandom, InterpretedSingleMatchesTheCpu) { compare_all(Precision::kSingle, Jit::kOff); }
TEST(CudaRandom, CompiledDoubleMatchesTheCpu) { compare_all(Precision::kDouble, Jit::kOnly); }
TEST(CudaRandom, CompiledSingleMatchesTheCpu) { compare_all(Precision::kSingle, Jit::kOnly); }

TEST(CudaBlocks, InterpretedDoubleMatchesTheCpu) {
  compare_all(Precision::kDouble, Jit::kOff, circuit_of_blocks, test::number_from("QSIM_CUDA_BLOCKS", 24));
}
TEST(CudaBlocks, CompiledDoubleMatchesTheCpu) {
  compare_all(Precision::kDouble, Jit::kOnly, circuit_of_blocks, test::number_from("QSIM_CUDA_BLOCKS", 24));
}
TEST(CudaBlocks, CompiledSingleMatchesTheCpu) {
  compare_all(Precision::kSingle, Jit::kOnly, circuit_of_blocks, test::number_from("QSIM_CUDA_BLOCKS", 24));
}

TEST(CudaEdges, InterpretedDoubleMatchesTheCpu) {
  compare_all(Precision::kDouble, Jit::kOff, edge_circuit, test::number_from("QSIM_CUDA_EDGES", 24));
}
TEST(CudaEdges, InterpretedSingleMatchesTheCpu) {
  compare_all(Precision::kSingle, Jit::kOff, edge_circuit, test::number_from("QSIM_CUDA_EDGES", 24));
}
TEST(CudaEdges, CompiledDoubleMatchesTheCpu) {
  compare_all(Precision::kDouble, Jit::kOnly, edge_circuit, test::number_from("QSIM_CUDA_EDGES", 24));
}
TEST(CudaEdges, CompiledSingleMatchesTheCpu) {
  compare_all(Precision::kSingle, Jit::kOnly, edge_circuit, test::number_from("QSIM_CUDA_EDGES", 24));
}

}  // namespace
}  // namespace qsim
