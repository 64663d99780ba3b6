// Read-outs whose answers are known, on several numbers of ranks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "runtime/profile.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

namespace fs = std::filesystem;

TEST(TopAmplitudes, GoToTheLowestIndexOnTiesOnAnyNumberOfRanks) {
  Circuit circuit(7);
  for (Qubit qubit = 0; qubit < 7; ++qubit) circuit.h(qubit);
  const Qubit target[] = {2};
  const double angle[] = {0.4};
  circuit.add_gate(Gate::kRy, {}, target, angle);  // |0> of qubit 2 becomes less likely
  for (const int ranks : {1, 2, 4, 8}) {
    RunOptions options;
    options.top = 9;
    options.amplitudes_requested = true;
    const Result result = simulate(circuit, options, ranks);
    ASSERT_EQ(result.results.amplitudes->size(), 9u);
    const Index wanted[] = {4, 5, 6, 7, 12, 13, 14, 15, 20};
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(result.results.amplitudes->at(i).index, wanted[i]) << ranks;
  }
}

TEST(TopAmplitudes, ListNoMoreThanThereAre) {
  RunOptions options;
  options.top = 100;
  EXPECT_EQ(simulate(generate("ghz", {3, 0, 1}), options, 1).results.amplitudes->size(), 8u);
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StateFile, IsTheSameStateInLogicalOrderFromAnyNumberOfRanks) {
  const fs::path path = fs::temp_directory_path() / ("qsim_state_" + std::to_string(::getpid()) + ".npy");
  for (const std::uint32_t qubits : {5u, 13u}) {
    const Circuit circuit = generate("random", {qubits, 5, 9});
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      for (const int ranks : {1, 2, 4}) {
        RunOptions options;
        options.precision = precision;
        options.statevector_path = path.string();
        options.amplitudes_requested = true;
        for (Index i = 0; i < Index{1} << qubits; ++i) options.amplitude_indices.push_back(i);
        const Result result = simulate(circuit, options, ranks);
        ASSERT_EQ(result.results.files->size(), 1u);
        const std::string bytes = contents(path);
        const std::size_t unit = amplitude_bytes(precision);
        ASSERT_EQ(bytes.size() % 64, (unit << qubits) % 64);
        const std::size_t header = bytes.size() - (unit << qubits);
        EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
        EXPECT_EQ(bytes[header - 1], '\n');
        EXPECT_NE(bytes.find(precision == Precision::kDouble ? "'<c16'" : "'<c8'"), std::string::npos);
        EXPECT_NE(bytes.find("'shape': (" + std::to_string(1u << qubits) + ",)"), std::string::npos);
        for (Index i = 0; i < Index{1} << qubits; ++i) {
          Complex value;
          if (precision == Precision::kDouble) {
            std::memcpy(&value, bytes.data() + header + i * unit, unit);
          } else {
            std::complex<float> narrow;
            std::memcpy(&narrow, bytes.data() + header + i * unit, unit);
            value = Complex(narrow);
          }
          ASSERT_EQ(value, result.results.amplitudes->at(i).value) << i << " ranks " << ranks;
        }
      }
    }
  }
  fs::remove(path);
}

TEST(StateFile, ThatDoesNotFitTheDiskIsAnErrorAndLeavesNothing) {
  const fs::path folder = fs::temp_directory_path() / ("qsim_full_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto previous = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  RunOptions options;
  options.statevector_path = (folder / "state.npy").string();
  for (const int ranks : {1, 4}) {
    EXPECT_THROW(simulate(generate("ghz", {12, 0, 1}), options, ranks), FileError);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, previous);
  EXPECT_TRUE(fs::is_empty(folder));
  options.statevector_path = (folder / "missing" / "state.npy").string();
  EXPECT_THROW(simulate(generate("ghz", {4, 0, 1}), options, 2), FileError);
  options.statevector_path = "/dev/full";
  EXPECT_THROW(simulate(generate("ghz", {4, 0, 1}), options, 1), FileError);
  fs::remove_all(folder);
}

TEST(Profile, TellsWhenLanesDidWhatTheyWereGiven) {
  class Clock final : public LaneClock {
   public:
    void restart() override { lanes.clear(); }
    std::uint32_t mark(int lane) override {
      lanes.push_back(lane);
      return static_cast<std::uint32_t>(lanes.size() - 1);
    }
    double seconds(std::uint32_t mark) override { return 10.0 * lanes.at(mark) + mark; }
    std::vector<int> lanes;
  } clock;
  Profile profile(&clock);
  profile.moment(3);
  profile.restart();
  const Moment begin = profile.moment(2);
  profile.add(Span::Kind::kSweep, 0, 2, begin, profile.moment(2));
  const Moment host = profile.now();
  profile.add(Span::Kind::kReadOut, 0, 0, host, profile.now());
  const std::vector<Span> spans = profile.spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin, 20.0);
  EXPECT_EQ(spans[0].end, 21.0);
  EXPECT_LT(spans[1].end, 5.0);  // by the host's clock
}

TEST(Profile, HasEverySweepAndTradeOfEveryRank) {
  const fs::path folder = fs::temp_directory_path() / ("qsim_profile_" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto times = [](const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  RunOptions options;
  options.start = Start::kRandom;
  options.profile_path = (folder / "profile.json").string();
  const Result result = simulate(generate("qft", {13, 0, 1}), options, 4);
  const std::string trace = contents(options.profile_path);
  EXPECT_EQ(trace.find("{\"displayTimeUnit\""), 0u);
  EXPECT_EQ(times(trace, "process_name"), 4u);
  EXPECT_GE(times(trace, "\"cat\": \"sweep\""), 4 * result.work.sweeps);
  EXPECT_GE(times(trace, "\"cat\": \"trade\""), 4 * 3 * result.work.exchanges);
  EXPECT_EQ(result.results.files->at(0).kind, "profile");
  options.profile_path = (folder / "profile.svg").string();
  simulate(generate("qft", {13, 0, 1}), options, 2);
  EXPECT_EQ(contents(options.profile_path).find("<svg "), 0u);
  options.profile_path = (folder / "missing" / "profile.json").string();
  EXPECT_THROW(simulate(generate("qft", {13, 0, 1}), options, 2), FileError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace qsim
