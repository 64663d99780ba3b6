// Circuit families against closed forms in the dense reference, and against the published gate counts.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/dense.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

// Column `basis` of the Fourier matrix.
dense::State fourier_column(unsigned qubits, std::size_t basis) {
  const std::size_t order = std::size_t{1} << qubits;
  dense::State state(order);
  for (std::size_t row = 0; row < order; ++row) {
    const double turns = static_cast<double>(row * basis % order) / static_cast<double>(order);
    state[row] = std::polar(1 / std::sqrt(static_cast<double>(order)), 2 * kPi * turns);
  }
  return state;
}

TEST(Generators, GhzIsTheSumOfAllZerosAndAllOnes) {
  for (std::uint32_t n : {1u, 2u, 7u}) {
    dense::State wanted(std::size_t{1} << n);
    wanted.front() = wanted.back() = std::sqrt(0.5);
    EXPECT_LT(dense::max_difference(dense::run(generate("ghz", {.qubits = n})), wanted), 1e-14);
  }
}

TEST(Generators, QftIsTheFourierMatrix) {
  for (std::uint32_t n : {1u, 2u, 3u, 6u}) {
    for (std::size_t basis = 0; basis < std::size_t{1} << n; ++basis) {
      dense::State start(std::size_t{1} << n);
      start[basis] = 1;
      const auto state = dense::run(generate("qft", {.qubits = n}), start);
      EXPECT_LT(dense::max_difference(state, fourier_column(n, basis)), 1e-13);
    }
  }
}

TEST(Generators, QftWithoutSwapsHasReversedOutput) {
  const Circuit with = generate("qft", {.qubits = 5});
  Circuit without = generate("qft_noswap", {.qubits = 5});
  without.swap(0, 4);
  without.swap(1, 3);
  const auto start = dense::random_state(5, 1);
  EXPECT_LT(dense::max_difference(dense::run(with, start), dense::run(without, start)), 1e-14);
}

TEST(Generators, InverseQftOfABasisStateIsTheConjugateColumn) {
  auto wanted = fourier_column(6, 0b101010);
  for (auto& amplitude : wanted) amplitude = std::conj(amplitude);
  EXPECT_LT(dense::max_difference(dense::run(generate("iqft", {.qubits = 6})), wanted), 1e-13);
}

TEST(Generators, WStateHasOneExcitationOfEqualWeight) {
  for (std::uint32_t n : {1u, 2u, 3u, 8u}) {
    dense::State wanted(std::size_t{1} << n);
    for (std::uint32_t q = 0; q < n; ++q) wanted[std::size_t{1} << q] = 1 / std::sqrt(static_cast<double>(n));
    EXPECT_LT(dense::max_difference(dense::run(generate("wstate", {.qubits = n})), wanted), 1e-14);
  }
}

TEST(Generators, BernsteinVaziraniFindsOneStringForEachSeed) {
  std::set<std::uint64_t> strings;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto outcomes = dense::distribution(generate("bv", {.qubits = 7, .seed = seed}));
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_NEAR(outcomes.begin()->second, 1, 1e-12);
    EXPECT_NE(outcomes.begin()->first & 0b100000, 0u);
    strings.insert(outcomes.begin()->first);
  }
  EXPECT_GT(strings.size(), 8u);
}

// Gate counts of the circuits that other simulators were timed on.
TEST(Generators, BenchmarkFamiliesHaveThePublishedGateCounts) {
  const auto count = [](std::string_view name, std::uint32_t qubits, std::uint32_t depth) {
    return generate(name, {.qubits = qubits, .depth = depth}).operation_count();
  };
  EXPECT_EQ(count("ghz", 30, 0), 30u);
  EXPECT_EQ(count("qft", 30, 0), 480u);
  EXPECT_EQ(count("iqft", 30, 0), 495u);
  EXPECT_EQ(count("ghz_qft", 29, 0), 478u);
  EXPECT_EQ(count("ising", 24, 5), 504u);
  EXPECT_EQ(count("ising", 30, 5), 630u);
  EXPECT_EQ(count("qv", 24, 5), 660u);
  EXPECT_EQ(count("qv", 30, 10), 1650u);
  EXPECT_EQ(count("random", 24, 10), 360u);
  EXPECT_EQ(count("random", 30, 20), 900u);
  EXPECT_EQ(count("supremacy", 24, 14), 204u);
  EXPECT_EQ(count("supremacy", 30, 14), 257u);
  EXPECT_EQ(count("asc_ghz_qft", 30, 0), 465u);
  EXPECT_EQ(count("inv_qft", 34, 0), 34u + 68 + 34 + 34 * 33 / 2);
}

TEST(Generators, InvQftFollowsTheChallengesRule) {
  const Circuit circuit = generate("inv_qft", {.qubits = 34});
  const auto& ops = circuit.operations();
  const Operation& crx = ops[34 + 2 * 20];
  EXPECT_EQ(crx.gate, Gate::kRx);
  EXPECT_EQ(circuit.controls(crx)[0], 20u);
  EXPECT_EQ(circuit.targets(crx)[0], 3u);
  EXPECT_DOUBLE_EQ(circuit.params(crx)[0], kPi / 21);
  EXPECT_EQ(ops[34 + 2 * 20 + 1].gate, Gate::kRy);
  const Operation& crz = ops[34 + 68 + 1];
  EXPECT_EQ(circuit.controls(crz)[0], 32u);
  EXPECT_EQ(circuit.targets(crz)[0], 33u);
  EXPECT_DOUBLE_EQ(circuit.params(crz)[0], -kPi / 2);
  EXPECT_EQ(ops.back().gate, Gate::kH);
  EXPECT_EQ(circuit.targets(ops.back())[0], 0u);
}

TEST(Generators, ShorOf35QubitsFollowsTheChallengesRule) {
  const Circuit circuit = generate("shor", {.qubits = 35});
  EXPECT_EQ(circuit.operation_count(), 17u + 70 + 17 + 17 + 17 * 16 / 2 + 8);
  const Operation& last = circuit.operations().back();
  EXPECT_EQ(last.gate, Gate::kSwap);
  EXPECT_EQ(circuit.targets(last)[0], 7u);
  EXPECT_EQ(circuit.targets(last)[1], 9u);
}

TEST(Generators, EveryFamilyMakesItsSmallestCircuitAndKeepsTheNorm) {
  for (const GeneratorInfo& info : generators()) {
    const Circuit circuit = generate(info.name, {.qubits = info.min_qubits});
    EXPECT_EQ(circuit.qubits(), info.min_qubits) << info.name;
    EXPECT_GT(circuit.operation_count(), 0u) << info.name;
    const std::uint32_t small = info.min_qubits > 10 ? 0 : 9;
    if (small == 0) continue;
    EXPECT_NEAR(dense::norm(dense::run(generate(info.name, {.qubits = small}))), 1, 1e-12) << info.name;
  }
}

TEST(Generators, SeedsDecideRandomFamiliesAndNothingElseDoes) {
  for (const std::string_view name : {"random", "qv", "supremacy", "qaoa"}) {
    const auto state = [&](std::uint64_t seed) { return dense::run(generate(name, {.qubits = 6, .seed = seed})); };
    EXPECT_EQ(state(5), state(5)) << name;
    EXPECT_GT(dense::max_difference(state(5), state(6)), 1e-6) << name;
  }
}

TEST(Generators, WrongNamesAndSizesAreUsageErrors) {
  try {
    generate("gzh", {.qubits = 3});
    FAIL() << "an unknown family was made";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.hint(), "did you mean 'ghz'?");
  }
  EXPECT_THROW(generate("ghz", {.qubits = 0}), UsageError);
  EXPECT_THROW(generate("inv_qft", {.qubits = 17}), UsageError);
  EXPECT_THROW(generate("ghz", {.qubits = 5, .depth = 3}), UsageError);
  EXPECT_THROW(generate("random", {.qubits = 4096, .depth = 4000000000u}), UsageError);
  EXPECT_THROW(generate("qft", {.qubits = 1000000}), UsageError);
}

}  // namespace
}  // namespace qsim
