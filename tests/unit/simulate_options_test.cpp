// What simulate() refuses, and what it decides when nothing is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/target.h"
#include "session/choose/registry.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

Circuit bell(bool measured = true) {
  Circuit circuit(2, 2);
  circuit.h(0);
  circuit.cx(0, 1);
  if (measured) {
    circuit.add_measure(0, 0);
    circuit.add_measure(1, 1);
  }
  return circuit;
}

TEST(SimulateOptions, DrawAThousandAndTwentyFourShotsOfACircuitThatMeasures) {
  const Result measured = simulate(bell(), {});
  EXPECT_EQ(measured.run.shots, 1024u);
  EXPECT_FALSE(measured.run.seed_given);
  std::uint64_t total = 0;
  for (const auto& [bits, times] : *measured.results.counts) total += times;
  EXPECT_EQ(total, 1024u);
  EXPECT_FALSE(simulate(bell(false), {}).results.counts);
  RunOptions none;
  none.shots = 0;
  EXPECT_FALSE(simulate(bell(), none).results.counts);
}

TEST(SimulateOptions, RepeatARunWithTheSeedThatWasReported) {
  const Result first = simulate(generate("random", {4, 3, 1}), {});
  Circuit circuit = bell();
  const Result drawn = simulate(circuit, {});
  RunOptions again;
  again.seed = drawn.run.seed;
  EXPECT_EQ(simulate(circuit, again).results.counts, drawn.results.counts);
  EXPECT_NE(simulate(circuit, {}).run.seed, drawn.run.seed);
}

TEST(SimulateOptions, WithoutEffectAreErrors) {
  const auto refused = [](const Circuit& circuit, auto&& set) {
    RunOptions options;
    set(options);
    EXPECT_THROW(simulate(circuit, options), UsageError);
  };
  refused(bell(false), [](RunOptions& o) { o.shots = 5; });
  refused(bell(), [](RunOptions& o) { o.exchange = ExchangeKind::kMpi; });
  refused(bell(), [](RunOptions& o) { o.jit = Jit::kOff; });
  refused(bell(), [](RunOptions& o) { o.pool_share = 0.5; });
  refused(bell(), [](RunOptions& o) { o.amplitude_indices = {4}; });
  refused(bell(), [](RunOptions& o) { o.probabilities = {{2}}; });
  refused(bell(), [](RunOptions& o) { o.probabilities = {{1, 1}}; });
  refused(generate("ghz", {3, 0, 1}), [](RunOptions& o) { o.distribution = true; });
}

TEST(SimulateOptions, NameTheNearestUsableNumberOfRanks) {
  try {
    simulate(bell(), {}, 3);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_NE(error.hint().find("2 or 4"), std::string::npos);
  }
  EXPECT_THROW(simulate(bell(), {}, 8), UsageError);
  EXPECT_THROW(simulate(bell(), {}, 0), UsageError);
  EXPECT_NO_THROW(simulate(bell(), {}, 4));
}

TEST(SimulateOptions, RefuseTransportsThatAreNotThereOnEveryRank) {
  RunOptions options;
  options.exchange = ExchangeKind::kNccl;
  EXPECT_THROW(simulate(generate("ghz", {8, 0, 1}), options, 4), CommunicatorError);
}

TEST(SimulateOptions, CountTheWorkOfRanksWithoutAmplitudes) {
  RunOptions options;
  options.backend = BackendKind::kNull;
  options.verify = Verify::kOff;  // there is no norm
  const Circuit circuit = generate("random", {14, 10, 1});
  const Result counted = simulate(circuit, options, 4);
  options.backend = BackendKind::kCpu;
  const Result run = simulate(circuit, options, 4);
  EXPECT_EQ(counted.run.exchange, "null");
  EXPECT_GT(counted.work.exchanges, 0u);
  EXPECT_EQ(counted.work.exchanges, run.work.exchanges);
  EXPECT_EQ(counted.work.sweeps, run.work.sweeps);
}

TEST(PickGpu, GivesEveryRankOfAHostOneOfItsOwn) {
  const GpuSurvey two{{{0, "A", 100, 90}, {1, "B", 100, 80}}, ""};
  RunOptions options;
  EXPECT_EQ(pick_gpu(two, options, 1).name, "B");
  EXPECT_THROW(pick_gpu(two, options, 2), DeviceError);
  options.oversubscribe_gpus = true;
  EXPECT_EQ(pick_gpu(two, options, 2).name, "A");
  options.gpu_ids = {1};
  EXPECT_EQ(pick_gpu(two, options, 0).name, "B");
  options.gpu_ids = {2};
  EXPECT_THROW(pick_gpu(two, options, 0), DeviceError);
  EXPECT_THROW(pick_gpu({{}, "no driver"}, {}, 0), DeviceError);
}

TEST(PickGpu, SaysHowManyGpusThereAreForHowManyRanks) {
  try {
    pick_gpu({{{0, "A", 100, 90}, {1, "B", 100, 80}}, ""}, {}, 3);
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    for (const char* part : {"rank 3 of this host has no GPU", "there are 2 for at least 4 ranks", "start fewer ranks",
                             "`oversubscribe_gpus`"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
}

TEST(PickGpu, TakesTheOnlyGpuThatTheLauncherShowsARank) {
  const char* old = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string kept = old == nullptr ? "" : old;
  ::setenv("CUDA_VISIBLE_DEVICES", "3", 1);  // each rank its own, as launchers set it
  const GpuSurvey one{{{0, "A", 100, 90}}, ""}, two{{{0, "A", 100, 90}, {1, "B", 100, 80}}, ""};
  EXPECT_EQ(pick_gpu(one, {}, 3).name, "A");
  EXPECT_THROW(pick_gpu(two, {}, 3), DeviceError) << "shown the same two, ranks would meet on them";
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_THROW(pick_gpu(one, {}, 3), DeviceError);
  if (old != nullptr) ::setenv("CUDA_VISIBLE_DEVICES", kept.c_str(), 1);
}

TEST(SimulateOptions, SayWhatWouldFitBeforeAllocating) {
  RunOptions options;
  options.max_memory = std::uint64_t{8} << 20;
  try {
    simulate(generate("ghz", {30, 0, 1}), options, 4);
    FAIL() << "no error";
  } catch (const CapacityError& error) {
    const std::string text = error.what();
    for (const char* part :
         {"30 qubits in double need 16 GiB = 4 GiB on each of 4 ranks", "8 MiB", "largest that fits"}) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    }
  }
  options.max_memory = 0;
  EXPECT_THROW(simulate(generate("ghz", {60, 0, 1}), options), CapacityError);
  EXPECT_THROW(simulate(Circuit(63), options), CapacityError);
}

TEST(SimulateOptions, RefuseAmplitudesOfACircuitWithoutOneFinalState) {
  Circuit circuit(2, 2);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.h(0);
  RunOptions options;
  options.top = 2;
  EXPECT_THROW(simulate(circuit, options), UnsupportedError);
  options.top = 0;
  options.statevector_path = "unused.npy";
  EXPECT_THROW(simulate(circuit, options), UnsupportedError);
}

TEST(Simulate, LeavesOutResetsOfUntouchedQubits) {
  Circuit circuit(3);
  circuit.add_reset(0);
  circuit.x(1);
  circuit.add_reset(2);
  RunOptions options;
  options.amplitude_indices = {2};
  for (const int ranks : {1, 2}) {
    const Result result = simulate(circuit, options, ranks);
    EXPECT_EQ(result.results.amplitudes->at(0).value, Complex(1));
    EXPECT_EQ(result.circuit.operations, 3u);
  }
}

TEST(Simulate, AnswersForACircuitWithoutQubits) {
  Circuit circuit;
  RunOptions options;
  options.amplitude_indices = {0};
  options.marginals = true;
  options.expectation = {parse_pauli_sum("I", 0)};
  const Result result = simulate(circuit, options);
  EXPECT_EQ(result.results.amplitudes->at(0).value, Complex(1));
  EXPECT_TRUE(result.results.marginals->empty());
  EXPECT_EQ(result.results.expectation->at(0).value, 1);
}

TEST(Simulate, ReportsWhatItPlannedAndUsed) {
  const Circuit circuit = generate("qft", {12, 0, 1});
  for (const int ranks : {1, 4}) {
    const Result result = simulate(circuit, {}, ranks);
    EXPECT_EQ(result.run.ranks, ranks);
    EXPECT_EQ(result.memory.state_bytes, 65536u);
    ASSERT_EQ(result.memory.peak_bytes_per_rank.size(), static_cast<std::size_t>(ranks));
    const auto predicted = static_cast<double>(result.memory.predicted_bytes_per_rank);
    for (const std::uint64_t peak : result.memory.peak_bytes_per_rank) {
      EXPECT_NEAR(static_cast<double>(peak), predicted, 0.02 * predicted);
    }
    EXPECT_EQ(result.run.exchange, ranks == 1 ? "" : "host");
    EXPECT_GT(result.work.sweeps, 0u);
    EXPECT_EQ(result.verification.status, "ok");
    EXPECT_FALSE(result.environment.version.empty());
  }
}

TEST(Simulate, RunsFromARandomStateThatIsTheSameOnAnyNumberOfRanks) {
  const Circuit circuit = generate("qft", {9, 0, 1});
  RunOptions options;
  options.start = Start::kRandom;
  options.start_seed = 17;
  options.verify = Verify::kFull;
  for (Index i = 0; i < 512; ++i) options.amplitude_indices.push_back(i);
  const Result wanted = simulate(circuit, options);
  double total = 0;
  for (const AmplitudeEntry& entry : *wanted.results.amplitudes) total += entry.probability;
  EXPECT_NEAR(total, 1, 1e-12);
  for (const int ranks : {2, 8}) {
    const Result result = simulate(circuit, options, ranks);
    for (std::size_t i = 0; i < 512; ++i) {
      EXPECT_LT(std::abs(result.results.amplitudes->at(i).value - wanted.results.amplitudes->at(i).value), 1e-12);
    }
  }
}

TEST(Simulate, ReportsProgressThatRises) {
  RunOptions options;
  std::vector<double> seen;
  options.progress = [&](const Progress& progress) { seen.push_back(progress.fraction); };
  options.strategy = Strategy::kNaive;
  simulate(generate("random", {18, 6, 1}), options);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.front(), 0) << "said before the first sweep";
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const double fraction : seen) EXPECT_LE(fraction, 1);
}

}  // namespace
}  // namespace qsim
