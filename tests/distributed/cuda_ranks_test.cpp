// GPU ranks of one process against the CPU: every transport, 2, 4 and 8 ranks, both precisions. Ranks share GPUs where
// there are too few; skipped where there are none. QSIM_TEST_RANDOM_CIRCUITS says how many circuits a case tries.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>

#include "circuit/generate/families.h"
#include "device/gpu_parts.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/random_circuit.h"
#include "support/simulate.h"

namespace qsim {
namespace {

unsigned circuits_per_case() {
  const char* text = std::getenv("QSIM_TEST_RANDOM_CIRCUITS");
  return text == nullptr ? 40 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

RunOptions all_amplitudes(const Circuit& circuit) {
  RunOptions options;
  options.shots = 0;
  options.seed = 1;
  options.amplitudes_requested = true;
  options.marginals = true;
  options.top = 4;
  for (Index index = 0; index < Index{1} << circuit.qubits(); ++index) options.amplitude_indices.push_back(index);
  return options;
}

using Case = std::tuple<ExchangeKind, int, Precision>;

class GpuRanks : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const GpuSurvey survey = survey_gpus(std::get<1>(GetParam()));
    const auto wanted = static_cast<std::size_t>(std::get<1>(GetParam()));
    if (survey.devices.empty()) GTEST_SKIP() << survey.reason;
    shared_gpus_ = survey.devices.size() < wanted;
    if (shared_gpus_ && std::get<0>(GetParam()) == ExchangeKind::kNccl) {
      GTEST_SKIP() << "NCCL wants a GPU of its own for each of " << wanted << " ranks, " << survey.devices.size()
                   << " are here";
    }
  }

  /// One GPU a rank, or ranks that share what there is.
  void choose_gpus(RunOptions& options, int ranks) const {
    options.oversubscribe_gpus = shared_gpus_;
    for (int gpu = 0; gpu < ranks && !shared_gpus_; ++gpu) options.gpu_ids.push_back(gpu);
  }

  void expect_like_cpu(const Circuit& circuit, std::optional<std::uint32_t> tile_bits) const {
    const auto [kind, ranks, precision] = GetParam();
    RunOptions options = all_amplitudes(circuit);
    options.backend = BackendKind::kCpu;
    const Result expected = simulate(circuit, options, 1);
    options.backend = BackendKind::kCuda;
    options.precision = precision;
    options.exchange = kind;
    options.tile_bits = tile_bits;
    choose_gpus(options, ranks);
    const Result result = simulate(circuit, options, ranks);
    const double depth = static_cast<double>(circuit.depth()) + 1;
    const double tolerance = precision == Precision::kDouble ? 1e-12 * depth : 1e-5 * std::sqrt(depth);
    // The most probable come after the amplitudes asked for, and equal ones in any order: only their probabilities
    // count.
    double worst = 0;
    for (std::size_t i = 0; i < expected.results.amplitudes->size(); ++i) {
      const Complex want = (*expected.results.amplitudes)[i].value, got = (*result.results.amplitudes)[i].value;
      const bool asked_for = i < options.amplitude_indices.size();
      worst = std::max(worst, asked_for ? std::abs(want - got) : std::abs(std::norm(want) - std::norm(got)));
    }
    EXPECT_LE(worst, tolerance) << circuit.qubits() << " qubits, " << result.work.exchanges << " exchanges";
    for (std::size_t qubit = 0; qubit < circuit.qubits(); ++qubit) {
      EXPECT_NEAR((*expected.results.marginals)[qubit], (*result.results.marginals)[qubit], 4 * tolerance);
    }
  }

  bool shared_gpus_ = false;
};

TEST_P(GpuRanks, GiveTheStateOfTheCpuOnRandomCircuits) {
  for (unsigned seed = 0; seed < circuits_per_case(); ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 6 + seed % 8;
    random.operations = 60;
    random.seed = seed + 1;
    const std::uint32_t tile_bits = 2 + seed % 4;
    expect_like_cpu(test::random_circuit(random), seed % 2 == 0 ? std::optional(tile_bits) : std::nullopt);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST_P(GpuRanks, TradeChunksLargerThanASlotAndOverlapThemWithSweeps) {
  GeneratorOptions options;
  options.qubits = 22;
  options.depth = 6;
  const Circuit circuit = generate("random", options);
  const auto [kind, ranks, precision] = GetParam();
  RunOptions run;
  run.marginals = true;
  run.backend = BackendKind::kCpu;
  const Result expected = simulate(circuit, run, 1);
  run.backend = BackendKind::kCuda;
  run.precision = precision;
  run.exchange = kind;
  choose_gpus(run, ranks);
  const Result result = simulate(circuit, run, ranks);
  const double tolerance = precision == Precision::kDouble ? 1e-10 : 1e-4;
  for (std::size_t qubit = 0; qubit < circuit.qubits(); ++qubit) {
    EXPECT_NEAR((*expected.results.marginals)[qubit], (*result.results.marginals)[qubit], tolerance);
  }
}

// A small circuit exchanges more than it sweeps.
TEST(FewerGpus, MakeTheRunWhereTheyAreFaster) {
  const GpuSurvey survey = survey_gpus(2);
  if (survey.devices.size() < 2) GTEST_SKIP() << "two GPUs are wanted, " << survey.devices.size() << " are here";
  const Circuit circuit = generate("random", {.qubits = 12, .depth = 8});
  RunOptions options = all_amplitudes(circuit);
  options.backend = BackendKind::kCuda;
  options.gpu_ids = {0, 1};
  const Result one = simulate(circuit, options, 2);
  EXPECT_EQ(one.run.ranks, 1);
  ASSERT_FALSE(one.warnings.empty());
  EXPECT_NE(one.warnings.back().find("1 of the 2 ranks is faster"), std::string::npos) << one.warnings.back();
  options.exchange = ExchangeKind::kP2p;
  const Result both = simulate(circuit, options, 2);
  EXPECT_EQ(both.run.ranks, 2);
  EXPECT_GT(both.work.exchanges, 0U);
  for (std::size_t i = 0; i < options.amplitude_indices.size(); ++i)
    EXPECT_LE(std::abs((*one.results.amplitudes)[i].value - (*both.results.amplitudes)[i].value), 1e-12) << i;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const auto [kind, ranks, precision] = info.param;
  const char* names[] = {"Auto", "P2p", "Nccl", "Mpi", "Staged"};
  return std::string(names[static_cast<std::size_t>(kind)]) + std::to_string(ranks) +
         (precision == Precision::kDouble ? "Double" : "Single");
}

INSTANTIATE_TEST_SUITE_P(
    Transports, GpuRanks,
    testing::Combine(testing::Values(ExchangeKind::kP2p, ExchangeKind::kNccl, ExchangeKind::kStaged),
                     testing::Values(2, 4, 8), testing::Values(Precision::kSingle, Precision::kDouble)),
    case_name);

}  // namespace
}  // namespace qsim
