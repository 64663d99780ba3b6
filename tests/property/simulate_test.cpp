// simulate() end to end against the dense reference, on 1, 2, 4 and 8 ranks.
#include "support/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/test_backend.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

std::vector<Index> all_indices(std::uint32_t qubits) {
  std::vector<Index> indices(std::size_t{1} << qubits);
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

std::string dense_text(const PauliString& pauli, std::uint32_t qubits) {
  std::string text;
  for (std::uint32_t q = qubits; q-- > 0;) text += "IXZY"[(pauli.x >> q & 1) | (pauli.z >> q & 1) << 1];
  return text;
}

double dense_expectation(const dense::State& state, const PauliString& pauli) {
  std::complex<double> sum = 0;
  for (Index i = 0; i < state.size(); ++i) {
    std::complex<double> factor = 1;
    for (unsigned q = 0; q < 20; ++q) {
      const bool x = pauli.x >> q & 1, z = pauli.z >> q & 1, one = i >> q & 1;
      if (x && z) factor *= std::complex<double>(0, one ? -1 : 1);  // Y|0> = i|1>, Y|1> = -i|0>
      if (!x && z && one) factor = -factor;
    }
    sum += std::conj(state[i ^ pauli.x]) * factor * state[i];
  }
  return sum.real();
}

std::vector<PauliString> random_paulis(std::uint32_t qubits, unsigned count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<PauliString> strings;
  const Index mask = (Index{1} << qubits) - 1;
  for (unsigned i = 0; i < count; ++i) strings.push_back({random() & mask, random() & mask});
  strings.push_back({mask, 0});  // X everywhere: no local bit is left to exchange with
  return strings;
}

struct Case {
  int ranks;
  Precision precision;
};

class SimulateOnRanks : public testing::TestWithParam<Case> {};

void check_against_dense(const Circuit& circuit, const RunOptions& options, int ranks, const std::string& what) {
  const std::uint32_t qubits = circuit.qubits();
  const dense::State wanted = dense::run(circuit);
  RunOptions full = options;
  full.amplitude_indices = all_indices(qubits);
  full.amplitudes_requested = true;
  full.marginals = true;
  std::vector<Qubit> list(qubits);
  std::iota(list.begin(), list.end(), 0u);
  std::shuffle(list.begin(), list.end(), std::mt19937(7));
  list.resize(std::max<std::size_t>(1, qubits / 2));
  full.probabilities = {list};
  const std::vector<PauliString> strings = random_paulis(qubits, 6, qubits);
  full.expectation.push_back({"all", {}});
  for (const PauliString& pauli : strings) {
    full.expectation[0].terms.push_back(parse_pauli_sum(dense_text(pauli, qubits), qubits).terms.at(0));
  }
  const Result result = simulate(circuit, full, ranks);
  const double tolerance = test::tolerance(options.precision, std::max<std::uint64_t>(4, circuit.depth()));
  double worst = 0;
  for (Index i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(result.results.amplitudes->at(i).index, i);
    worst = std::max(worst, std::abs(result.results.amplitudes->at(i).value - wanted[i]));
  }
  EXPECT_LT(worst, tolerance) << what;
  for (std::uint32_t q = 0; q < qubits; ++q) {
    double p = 0;
    for (Index i = 0; i < wanted.size(); ++i) p += i >> q & 1 ? std::norm(wanted[i]) : 0;
    EXPECT_NEAR(result.results.marginals->at(q), p, 10 * tolerance) << what << " qubit " << q;
  }
  std::vector<double> joint(std::size_t{1} << list.size());
  for (Index i = 0; i < wanted.size(); ++i) {
    std::size_t v = 0;
    for (std::size_t j = 0; j < list.size(); ++j) v |= (i >> list[j] & 1) << j;
    joint[v] += std::norm(wanted[i]);
  }
  for (std::size_t v = 0; v < joint.size(); ++v) {
    EXPECT_NEAR(result.results.probabilities->at(0).values.at(v), joint[v], 10 * tolerance) << what;
  }
  for (std::size_t i = 0; i < strings.size(); ++i) {
    EXPECT_NEAR(result.results.expectation->at(0).terms.at(i).value, dense_expectation(wanted, strings[i]),
                20 * tolerance)
        << what << " " << dense_text(strings[i], qubits);
  }
  EXPECT_EQ(result.verification.gates_planned, result.verification.gates_applied) << what;
  if (options.verify != Verify::kOff) {
    EXPECT_EQ(result.verification.status, "ok");
    EXPECT_NEAR(result.verification.norm.value_or(0), 1, 10 * tolerance);
  }
}

TEST_P(SimulateOnRanks, GivesTheDenseStateAndReadOuts) {
  const auto [ranks, precision] = GetParam();
  for (unsigned seed = 1; seed <= 40; ++seed) {
    test::RandomCircuitOptions random;
    random.further_gates = seed > 24;
    random.qubits = 3 + seed % 6;
    random.operations = 10 + 3 * (seed % 11);
    random.seed = seed;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options = test::run_options();
    options.precision = precision;
    options.strategy = std::array{Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}[seed % 3];
    options.known_zeros = seed % 4 != 0;
    if (seed % 2 == 0) options.tile_bits = 3;
    options.verify = seed % 5 == 0 ? Verify::kFull : Verify::kNorm;
    check_against_dense(circuit, options, ranks, "seed " + std::to_string(seed));
  }
}

TEST_P(SimulateOnRanks, GivesTheExactDistributionOfDynamicCircuits) {
  const auto [ranks, precision] = GetParam();
  for (unsigned seed = 1; seed <= 30; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 3 + seed % 4;
    random.operations = 14;
    random.seed = 1000 + seed;
    random.dynamic = true;
    random.terminal_measurements = seed % 2 == 0;
    const Circuit circuit = test::random_circuit(random);
    if (circuit.clbits() == 0) continue;
    RunOptions options = test::run_options();
    options.precision = precision;
    options.distribution = true;
    options.shots = 0;
    Result result;
    result = simulate(circuit, options, ranks);
    const std::map<std::uint64_t, double> wanted = dense::distribution(circuit);
    const double tolerance = precision == Precision::kDouble ? 1e-11 : 1e-3;
    double total = 0;
    for (const auto& [words, probability] : *result.results.distribution) {
      const std::uint64_t key = words[0];
      const auto found = wanted.find(key);
      EXPECT_NEAR(probability, found == wanted.end() ? 0 : found->second, tolerance) << "seed " << seed << " " << key;
      total += probability;
    }
    EXPECT_NEAR(total, 1, tolerance) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, SimulateOnRanks,
                         testing::Values(Case{1, Precision::kDouble}, Case{2, Precision::kDouble},
                                         Case{4, Precision::kDouble}, Case{8, Precision::kDouble},
                                         Case{1, Precision::kSingle}, Case{4, Precision::kSingle}),
                         [](const auto& test) {
                           return std::to_string(test.param.ranks) +
                                  (test.param.precision == Precision::kDouble ? "RanksInDouble" : "RanksInSingle");
                         });

TEST(Simulate, DrawsTheSameCountsOnAnyNumberOfRanks) {
  for (unsigned seed = 1; seed <= 16; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 3 + seed % 6;
    random.operations = 16;
    random.seed = 500 + seed;
    random.dynamic = seed % 2 == 0;
    random.terminal_measurements = true;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options = test::run_options();
    options.shots = 2000;
    options.seed = seed;
    const auto wanted = simulate(circuit, options, 1).results.counts;
    ASSERT_TRUE(wanted);
    std::uint64_t total = 0;
    for (const auto& [bits, times] : *wanted) total += times;
    EXPECT_EQ(total, 2000u);
    for (const int ranks : {2, 4, 8}) {
      if (ranks > 1 << random.qubits) continue;
      for (const bool known_zeros : {true, false}) {
        options.known_zeros = known_zeros;
        EXPECT_EQ(simulate(circuit, options, ranks).results.counts, wanted) << "seed " << seed << " ranks " << ranks;
      }
    }
  }
}

TEST(SimulateReproducibly, GivesTheSameBitsOnAnyNumberOfRanks) {
  unsigned inner = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 6 + seed % 4;
    random.operations = 40;
    random.seed = 900 + seed;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options = test::run_options();
    options.reproducible = true;
    options.known_zeros = seed % 2 == 0;
    options.tile_bits = seed % 3 == 0 ? std::optional<std::uint32_t>(3) : std::nullopt;
    options.verify = seed % 5 == 0 ? Verify::kFull : Verify::kNorm;
    options.amplitude_indices = all_indices(circuit.qubits());
    const Result wanted = simulate(circuit, options, 8);
    const dense::State reference = dense::run(circuit);
    for (const int ranks : {1, 2, 4}) {
      const Result found = simulate(circuit, options, ranks);
      inner += found.work.sweeps > wanted.work.sweeps ? 1 : 0;
      for (std::size_t i = 0; i < options.amplitude_indices.size(); ++i) {
        EXPECT_EQ(found.results.amplitudes->at(i).value, wanted.results.amplitudes->at(i).value)
            << "seed " << seed << " ranks " << ranks << " index " << i;
        ASSERT_LT(std::abs(found.results.amplitudes->at(i).value - reference[i]), 1e-10);
      }
    }
  }
  EXPECT_GT(inner, 10u) << "hardly any run had to swap bits inside a shard";
}

TEST(SimulateReproducibly, TakesDynamicCircuitsToo) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 7;
    random.operations = 30;
    random.seed = 40 + seed;
    random.dynamic = true;
    random.terminal_measurements = true;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options = test::run_options();
    options.reproducible = true;
    options.seed = seed;
    options.shots = 500;
    const auto wanted = simulate(circuit, options, 8).results.counts;
    for (const int ranks : {1, 2, 4}) EXPECT_EQ(simulate(circuit, options, ranks).results.counts, wanted) << seed;
  }
}

// Rotations about two letters other than Z are matrices on two bits of one rank, as gates are.
TEST(SimulateReproducibly, SplitsFewQubitsAsFarAsOperationsAllow) {
  for (const std::string letters : {"X", "XY", "YY", "XZ", "ZZ"}) {
    Circuit circuit(3);
    for (Qubit q = 0; q < 3; ++q) circuit.h(q).t(q);
    const std::vector<Qubit> qubits{0, 1};
    circuit.add_pauli_rotation(0.4, letters, std::span(qubits).first(letters.size()));
    RunOptions options = test::run_options();
    options.reproducible = true;
    options.amplitude_indices = all_indices(3);
    const dense::State reference = dense::run(circuit);
    for (const int ranks : {1, 2}) {
      const Result found = simulate(circuit, options, ranks);
      for (std::size_t i = 0; i < reference.size(); ++i)
        EXPECT_LT(std::abs(found.results.amplitudes->at(i).value - reference[i]), 1e-14) << letters;
    }
  }
}

TEST(SimulateReproducibly, RefusesMoreRanksThanItPlansFor) {
  RunOptions options = test::run_options();
  options.reproducible = true;
  EXPECT_THROW(simulate(Circuit(8), options, 16), UsageError);
}

/// One operation a sweep, in order: nothing of the optimizer, the search or the fused forms.
TEST(SimulateAt20Qubits, PlansGiveTheNaivePlansState) {
  std::vector<Index> indices;
  for (Index i = 0; i < Index{1} << 20; i += 37) indices.push_back(i);
  for (const char* family : {"ghz", "qft", "supremacy", "random", "qv", "ising"}) {
    SCOPED_TRACE(family);
    const Circuit circuit = generate(family, {.qubits = 20});
    for (const Start start : {Start::kZero, Start::kRandom}) {
      RunOptions options = test::run_options();
      options.start = start;
      options.amplitude_indices = indices;
      options.shots = 0;
      options.strategy = Strategy::kNaive;
      const Result naive = simulate(circuit, options, 1);
      options.strategy = Strategy::kSearch;
      for (const int ranks : {1, 4}) {
        const Result planned = simulate(circuit, options, ranks);
        EXPECT_LT(planned.work.sweeps, naive.work.sweeps);
        double worst = 0;
        for (std::size_t i = 0; i < indices.size(); ++i) {
          const Complex difference = planned.results.amplitudes->at(i).value - naive.results.amplitudes->at(i).value;
          worst = std::max(worst, std::abs(difference));
        }
        EXPECT_LT(worst, test::tolerance(Precision::kDouble, circuit.operations().size())) << ranks << " ranks";
      }
    }
  }
}

}  // namespace
}  // namespace qsim
