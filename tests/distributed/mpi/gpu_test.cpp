// GPU ranks as MPI processes, over every transport that is there, against one rank on the CPU. Ranks share GPUs where
// there are too few; skipped where there are none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "circuit/generate/families.h"
#include "comm/launcher.h"
#include "device/gpu_parts.h"
#include "document/result.h"
#include "mpi/world.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/random_circuit.h"
#include "support/simulate.h"

namespace qsim {
namespace {

class GpuRanksOverMpi : public testing::TestWithParam<ExchangeKind> {
 protected:
  void SetUp() override {
    const GpuSurvey survey = survey_gpus(test::mpi_world().size());
    // All ranks skip or none does.
    std::int64_t least[] = {-static_cast<std::int64_t>(survey.devices.size())};
    test::mpi_world().max(least);
    const auto gpus = static_cast<int>(-least[0]);
    const int ranks = test::mpi_world().size();
    if (gpus == 0) GTEST_SKIP() << survey.reason;
    if (ranks == 1) GTEST_SKIP() << "one rank has nobody to trade with";
    shared_ = gpus < ranks;
    if (GetParam() == ExchangeKind::kNccl && shared_) GTEST_SKIP() << "NCCL wants a GPU of its own for each rank";
    if (GetParam() == ExchangeKind::kMpi && !mpi_is_cuda_aware()) {
      GTEST_SKIP() << mpi_library_version() << " does not take device pointers";
    }
  }

  RunOptions on_gpus() const {
    RunOptions options;
    options.backend = BackendKind::kCuda;
    options.exchange = GetParam();
    options.oversubscribe_gpus = shared_;
    return options;
  }

  bool shared_ = false;
};

TEST_P(GpuRanksOverMpi, GiveTheStateOfTheCpuOnRandomCircuits) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 7 + seed % 6;
    random.operations = 60;
    random.seed = seed;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options;
    options.backend = BackendKind::kCpu;
    options.amplitudes_requested = true;
    for (Index index = 0; index < Index{1} << circuit.qubits(); ++index) options.amplitude_indices.push_back(index);
    const Result wanted = simulate(circuit, options, 1);
    RunOptions gpu = on_gpus();
    gpu.amplitudes_requested = true;
    gpu.amplitude_indices = options.amplitude_indices;
    gpu.verify = seed % 2 == 0 ? Verify::kFull : Verify::kNorm;
    const Result found = simulate(circuit, gpu, test::mpi_world());
    double worst = 0;
    for (std::size_t i = 0; i < wanted.results.amplitudes->size(); ++i) {
      worst = std::max(worst, std::abs((*wanted.results.amplitudes)[i].value - (*found.results.amplitudes)[i].value));
    }
    EXPECT_LE(worst, 1e-12 * (static_cast<double>(circuit.depth()) + 1)) << "seed " << seed;
  }
}

TEST_P(GpuRanksOverMpi, TradeChunksLargerThanASlot) {
  GeneratorOptions generator;
  generator.qubits = 24;
  generator.depth = 6;
  const Circuit circuit = generate("random", generator);
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.marginals = true;
  const Result wanted = simulate(circuit, options, 1);
  RunOptions gpu = on_gpus();
  gpu.marginals = true;
  const Result found = simulate(circuit, gpu, test::mpi_world());
  // Left to itself a run may find that one GPU is faster.
  EXPECT_TRUE(found.work.exchanges > 0 || GetParam() == ExchangeKind::kAuto);
  for (std::size_t qubit = 0; qubit < circuit.qubits(); ++qubit) {
    EXPECT_NEAR((*wanted.results.marginals)[qubit], (*found.results.marginals)[qubit], 1e-10);
  }
}

std::string transport_name(const testing::TestParamInfo<ExchangeKind>& info) {
  const char* names[] = {"Auto", "P2p", "Nccl", "Mpi", "Staged"};
  return names[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Transports, GpuRanksOverMpi,
                         testing::Values(ExchangeKind::kAuto, ExchangeKind::kP2p, ExchangeKind::kNccl,
                                         ExchangeKind::kMpi, ExchangeKind::kStaged),
                         transport_name);

}  // namespace
}  // namespace qsim
