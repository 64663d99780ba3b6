// Circuits that measure, reset and branch against the branching reference: exact answers and shots, all ways to run.
// QSIM_CAMPAIGN and QSIM_CAMPAIGN_FIRST as in the campaign of random circuits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>

#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "runtime/read_out/sampling.h"
#include "simulator/simulator.h"
#include "support/branching.h"
#include "support/campaign.h"
#include "support/chi_square.h"
#include "support/outcomes.h"
#include "support/random_dynamic.h"
#include "support/simulate.h"
#include "support/test_backend.h"

namespace qsim {
namespace {

class DynamicRun {
 public:
  explicit DynamicRun(std::uint64_t seed) : seed_(seed), circuit_(make(seed)) {
    const std::uint32_t qubits = circuit_.qubits();
    options_ = test::run_options();
    options_.precision = seed % 3 == 0 ? Precision::kSingle : Precision::kDouble;
    options_.verify = std::array{Verify::kFull, Verify::kNorm, Verify::kFull, Verify::kOff}[seed / 2 % 4];
    options_.strategy = std::array{Strategy::kSearch, Strategy::kNaive, Strategy::kGreedy}[seed / 5 % 3];
    options_.known_zeros = seed % 7 != 0;
    if (seed % 2 == 0) options_.tile_bits = 3;
    options_.reproducible = seed % 11 == 0;
    options_.seed = seed;
    options_.shots = questions_.shots = measures() ? 3000 : 0;
    // A shot's words are numbered in its own history, from 1.
    questions_.word = [seed](std::uint64_t shot, std::uint64_t drawn) { return shot_word(seed, shot, drawn + 1); };
    options_.distribution = circuit_.clbits() > 0;
    options_.marginals = true;
    std::mt19937_64 random(seed);
    std::vector<Qubit> list(qubits);
    std::iota(list.begin(), list.end(), 0u);
    std::swap(list.front(), list[random() % qubits]);
    list.resize(1 + random() % qubits);
    options_.probabilities = {list};
    questions_.probabilities = options_.probabilities;
    options_.expectation.push_back({"all", {}});
    for (int i = 0; i < 4; ++i) {
      const Index mask = (Index{1} << qubits) - 1;
      questions_.paulis.push_back({random() & mask, random() & mask});
      options_.expectation[0].terms.push_back({1, questions_.paulis.back()});
    }
    if (seed % 5 == 0) {
      options_.start = Start::kRandom;
      options_.start_seed = seed;
    }
    ranks_ = 1 << seed / 3 % 3;
    // Operations of blocks have two targets, which a planner of one gate after the other wants in one rank.
    while (ranks_ > 1 && ranks_ << (has_blocks(seed) ? 2 : 0) > 1 << qubits) ranks_ /= 2;
  }

  test::ChiSquare check() const {
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", " + std::to_string(ranks_) + " ranks");
    const branching::Answers wanted = branching::walk(circuit_, start(), questions_);
    const Result result = simulate(circuit_, options_, ranks_);
    const branching::Allowance allowed(circuit_, options_.precision, wanted);
    compare(result.results, wanted, allowed);
    EXPECT_EQ(result.verification.status, options_.verify == Verify::kOff ? "off" : "ok");
    if (!result.results.counts) return {};
    const auto drawn = test::by_text(*result.results.counts, circuit_.cregs());
    if (options_.precision == Precision::kDouble) {
      EXPECT_EQ(drawn, wanted.counts);
    }
    const test::ChiSquare fit = test::chi_square(drawn, wanted.distribution, *options_.shots);
    EXPECT_EQ(fit.impossible, "");
    EXPECT_LT(fit.deviation(), 5.5);
    return fit;
  }

 private:
  static bool has_blocks(std::uint64_t seed) { return seed % 3 == 1; }

  static Circuit make(std::uint64_t seed) {
    test::RandomDynamicOptions random;
    random.seed = seed;
    random.blocks = has_blocks(seed);
    return test::random_dynamic(random);
  }

  bool measures() const {
    for (const Operation& op : circuit_.operations()) {
      if (op.kind == OpKind::kMeasure) return true;
    }
    return false;
  }

  branching::State start() const {
    return options_.start == Start::kZero
               ? branching::zero_state(circuit_.qubits())
               : branching::random_start(circuit_.qubits(), options_.start_seed, options_.precision);
  }

  void compare(const Results& found, const branching::Answers& wanted, const branching::Allowance& allowed) const {
    for (std::size_t q = 0; q < wanted.marginals.size(); ++q) {
      EXPECT_NEAR(found.marginals->at(q), wanted.marginals[q], allowed.of(wanted.marginals[q])) << "qubit " << q;
    }
    for (std::size_t v = 0; v < wanted.probabilities[0].size(); ++v) {
      const double p = wanted.probabilities[0][v];
      EXPECT_NEAR(found.probabilities->at(0).values.at(v), p, allowed.of(p)) << "joint " << v;
    }
    for (std::size_t i = 0; i < wanted.paulis.size(); ++i) {
      EXPECT_NEAR(found.expectation->at(0).terms.at(i).value, wanted.paulis[i], allowed.of(1)) << "string " << i;
    }
    if (!found.distribution) return;
    const auto listed = test::by_text(*found.distribution, circuit_.cregs());
    for (const auto& [bits, p] : wanted.distribution) {
      const auto at = listed.find(bits);
      EXPECT_NEAR(at == listed.end() ? 0 : at->second, p, allowed.of(p)) << bits;
    }
    for (const auto& [bits, p] : listed) {
      if (!wanted.distribution.contains(bits)) {
        EXPECT_LE(p, allowed.of(0)) << bits;
      }
    }
  }

  const std::uint64_t seed_;
  const Circuit circuit_;
  RunOptions options_;
  branching::Questions questions_;
  int ranks_ = 1;
};

TEST(Dynamic, RandomCircuitsGiveTheReferencesAnswersAndCounts) {
  const test::Campaign campaign(400);
  test::ChiSquare all;
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    all.add(DynamicRun(seed).check());
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_LT(all.deviation(), 4.5) << "of all circuits together";
  std::printf("%llu dynamic circuits; chi square %.0f for %.0f degrees of freedom\n",
              static_cast<unsigned long long>(campaign.count), all.sum, all.degrees);
}

/// `p`: probability of the rarer outcome, which is 1 (or 0 where `flipped`).
Circuit rare_outcome(double p, bool flipped, bool reset) {
  Circuit circuit(2, 3);
  if (flipped) circuit.x(0);
  const double angle[] = {2 * std::asin(std::sqrt(p))};
  const Qubit target[] = {0};
  circuit.add_gate(Gate::kRx, {}, target, angle);
  circuit.add_measure(0, 0);
  circuit.cx(0, 1);
  if (reset) circuit.add_reset(0);
  circuit.h(0);
  circuit.add_measure(0, 1);
  circuit.add_measure(1, 2);
  return circuit;
}

TEST(Dynamic, RareOutcomesKeepTheirDigits) {
  for (int decade = 1; decade <= 15; ++decade) {
    for (const bool flipped : {false, true}) {
      for (const bool reset : {false, true}) {
        for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
          const double p = std::pow(10.0, -decade);
          const Circuit circuit = rare_outcome(p, flipped, reset);
          const auto wanted = branching::walk(circuit, branching::zero_state(2)).distribution;
          const bool single = precision == Precision::kSingle;
          RunOptions options = test::run_options();
          options.precision = precision;
          options.distribution = true;
          options.shots = 2000;
          options.seed = 5;
          options.verify = decade % 2 == 0 ? Verify::kFull : Verify::kNorm;
          for (const int ranks : {1, 2, 4}) {
            const Result result = simulate(circuit, options, ranks);
            const auto listed = test::by_text(*result.results.distribution, circuit.cregs());
            for (const auto& [bits, probability] : wanted) {
              if (single && probability < 1e-12) continue;  // taken for rounding
              const auto found = listed.find(bits);
              ASSERT_NE(found, listed.end()) << bits << " of 1e-" << decade;
              EXPECT_NEAR(found->second / probability, 1, single ? 1e-5 : 1e-13)
                  << bits << " of 1e-" << decade << ", " << ranks << " ranks";
            }
            EXPECT_EQ(test::chi_square(test::by_text(*result.results.counts, circuit.cregs()), wanted, 2000).impossible,
                      "");
          }
        }
      }
    }
  }
}

TEST(Dynamic, ShotsAloneFollowRareOutcomes) {
  Circuit circuit(3, 4);
  for (Clbit bit = 0; bit < 3; ++bit) {
    const double angle[] = {2 * std::asin(std::sqrt(0.02))};
    const Qubit target[] = {0};
    circuit.add_gate(Gate::kRy, {}, target, angle);
    circuit.add_measure(0, bit);
    circuit.h(1);
    circuit.cx(1, 2);
  }
  circuit.add_measure(2, 3);
  const auto wanted = branching::walk(circuit, branching::zero_state(3)).distribution;
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    RunOptions options = test::run_options();
    options.precision = precision;
    options.shots = 200000;
    options.seed = 3;
    options.verify = Verify::kFull;
    const Result result = simulate(circuit, options, 2);
    const test::ChiSquare fit =
        test::chi_square(test::by_text(*result.results.counts, circuit.cregs()), wanted, 200000);
    EXPECT_GE(fit.degrees, 6);
    EXPECT_LT(fit.deviation(), 4);
  }
}

}  // namespace
}  // namespace qsim
