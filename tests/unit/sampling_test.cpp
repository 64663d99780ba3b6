// Shots against the exact integer distribution, and outcomes listed from it.
#include "runtime/read_out/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>

#include "null/null_backend.h"
#include "qsim/communicator.h"
#include "qsim/error.h"
#include "qsim/generators.h"
#include "runtime/read_out/observables.h"
#include "support/random_circuit.h"
#include "support/random_dynamic.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

Circuit random_state_circuit(unsigned qubits) { return generate("random", {qubits, 4, 3}); }

/// The draws' places looked up one by one in a running total over all logical indices.
OutcomeCounts reference_counts(const std::vector<AmplitudeEntry>& all, std::uint64_t shots, std::uint64_t seed,
                               std::uint64_t draw) {
  std::vector<std::uint64_t> ends;
  std::uint64_t total = 0;
  for (const AmplitudeEntry& entry : all) {
    total += static_cast<std::uint64_t>(std::llround(std::ldexp(std::norm(entry.value), 62)));
    ends.push_back(total);
  }
  std::map<Index, std::uint64_t> counts;
  for (std::uint64_t shot = 0; shot < shots; ++shot) {
    const std::uint64_t place = scale_word(shot_word(seed, shot, draw), total);
    ++counts[static_cast<Index>(std::upper_bound(ends.begin(), ends.end(), place) - ends.begin())];
  }
  return {counts.begin(), counts.end()};
}

TEST(Sampler, FollowsTheIntegerDistributionShotByShot) {
  for (const unsigned qubits : {5u, 18u}) {
    const Circuit circuit = random_state_circuit(qubits);
    std::vector<Index> indices(std::size_t{1} << qubits);
    std::iota(indices.begin(), indices.end(), Index{0});
    std::vector<std::uint64_t> shots(3000);
    std::iota(shots.begin(), shots.end(), std::uint64_t{0});
    for (const int ranks : {1, 2, 4, 8}) {
      test::RunSetup setup;
      setup.ranks = ranks;
      test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
        parts.run->run({});
        const OutcomeCounts wanted = reference_counts(amplitudes(*parts.state, indices), shots.size(), 11, 2);
        Sampler sampler(*parts.state, *parts.exchanges);
        const OutcomeCounts found = sampler.sample(shots.size(), shots, 11, 2, ~Index{0});
        std::uint64_t differing = 0;
        std::map<Index, std::uint64_t> merged(found.begin(), found.end());
        for (const auto& [index, times] : wanted) {
          const std::uint64_t other = merged[index];
          differing += times > other ? times - other : other - times;
        }
        EXPECT_EQ(differing, 0u) << qubits << " qubits, " << ranks << " ranks";
        // What the sampler moved can be taken back.
        undo_moves(*parts.state, *parts.exchanges);
        EXPECT_EQ(parts.state->layout, parts.program.plans[0].final_layout);
      });
    }
  }
}

TEST(Sampler, ScalesAWordWithoutBiasAtTheEnds) {
  EXPECT_EQ(scale_word(0, 1000), 0u);
  EXPECT_EQ(scale_word(~std::uint64_t{0}, 1000), 999u);
  EXPECT_EQ(scale_word(~std::uint64_t{0}, std::uint64_t{1} << 62), (std::uint64_t{1} << 62) - 1);
  EXPECT_EQ(scale_word(std::uint64_t{1} << 63, 1000), 500u);
}

TEST(Sampler, HasAWordOfItsOwnForEveryShotAndDraw) {
  EXPECT_NE(shot_word(1, 2, 3), shot_word(1, 3, 2));
  EXPECT_NE(shot_word(1, 2, 3), shot_word(2, 2, 3));
  EXPECT_NE(shot_word(1, 2, 3), shot_word(1, 2, 4));
  EXPECT_EQ(shot_word(1, 2, 3), shot_word(1, 2, 3));
  // Neighbours in shot, draw and seed, and the last draws that there may be.
  std::set<std::uint64_t> words;
  std::size_t drawn = 0;
  for (const std::uint64_t draw : std::vector<std::uint64_t>{0, 1, 2, 255, 256, 65536, kMaxDraws / 2, kMaxDraws - 1}) {
    for (std::uint64_t shot = 0; shot < 200; ++shot, ++drawn) words.insert(shot_word(7, shot, draw));
  }
  EXPECT_EQ(words.size(), drawn);
}

TEST(Sampler, NoTwoStepsOfAProgramShareADraw) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Program program = make_program(test::random_dynamic({.seed = seed}), find_machine("cpu"), {});
    std::set<std::uint32_t> draws = {program.terminal_draw};
    for (const Step& step : program.steps) {
      if (step.kind != Step::Kind::kPlan) draws.insert(step.draw);
    }
    EXPECT_EQ(draws.size(), program.collapses() + 1) << seed;
  }
}

TEST(Sampler, RefusesAStateWithoutProbability) {
  test::RunSetup setup;
  setup.check_norm = false;
  setup.plan.known_zeros = false;
  setup.change = [](Program& program) {
    for (Stage& stage : program.plans[0].stages) {
      for (Sweep& sweep : stage.sweeps) {
        for (Complex& entry : sweep.matrices) entry = 0;
      }
    }
  };
  test::with_run_parts(random_state_circuit(5), setup, [](test::RunParts& parts) {
    parts.run->run({});
    EXPECT_THROW(Sampler(*parts.state, *parts.exchanges), VerificationError);
  });
}

TEST(Sampler, RefusesAStateThatHasChangedSinceItsDistributionWasTaken) {
  test::with_run_parts(random_state_circuit(6), {}, [](test::RunParts& parts) {
    parts.run->run({});
    Sampler sampler(*parts.state, *parts.exchanges);
    const MemoryRegion state = parts.state->backend.state();
    std::fill_n(state.data, state.bytes, std::byte{0});
    const std::vector<std::uint64_t> shots = {0, 1, 2};
    EXPECT_THROW(sampler.sample(shots.size(), shots, 11, 2, ~Index{0}), Error);
  });
}

/// A device that finds no amplitude for its draws, or leaves the last one out.
class LosesDraws final : public NullBackend {
 public:
  explicit LosesDraws(bool says_so) : NullBackend({}), says_so_(says_so) {}
  void unit_histogram(ChunkView, std::span<const Bit>, std::span<std::uint64_t> out) override {
    std::fill(out.begin(), out.end(), std::uint64_t{1} << 40);
  }
  void locate(std::span<const Bit>, std::span<const Bit>, std::span<const UnitDraw>, std::span<Index> out) override {
    std::fill(out.begin(), out.end(), ~Index{0});
  }
  bool draw(const DrawBlocks&, std::span<const std::uint64_t> shots, std::uint64_t, std::uint64_t,
            const DrawTaker& take) override {
    if (!says_so_) take(std::vector<Index>(shots.size() - 1, 0));
    return !says_so_;
  }

 private:
  bool says_so_;
};

TEST(Sampler, RefusesShotsThatFallOnNoAmplitude) {
  const std::vector<std::uint64_t> shots = {0, 1, 2};
  for (const bool says_so : {true, false}) {
    LosesDraws backend(says_so);
    PoolLayout pool;
    pool.state_bytes = 16 << 5;
    backend.reserve(pool, 5);
    const std::unique_ptr<Communicator> communicator = make_self_communicator();
    DistributedState state{backend, *communicator, 5, 0, Precision::kDouble, Layout::identity(5)};
    ExchangePipeline exchanges(state, nullptr, pool);
    Sampler sampler(state, exchanges);
    EXPECT_THROW(sampler.sample(shots.size(), shots, 11, 2, ~Index{0}), VerificationError) << says_so;
  }
}

TEST(OutcomeDistribution, DescendsPastTwentyQubitsWithoutListingThemAll) {
  const Circuit circuit = generate("ghz", {22, 0, 1});
  for (const int ranks : {1, 4}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
      parts.run->run({});
      const Index all = (Index{1} << 22) - 1;
      const auto [outcomes, left_out] = outcome_distribution(*parts.state, all, 100);
      ASSERT_EQ(outcomes.size(), 2u);
      EXPECT_EQ(outcomes[0].first, 0u);
      EXPECT_EQ(outcomes[1].first, all);
      EXPECT_NEAR(outcomes[1].second, 0.5, 1e-12);
      EXPECT_EQ(left_out, 0);
    });
  }
}

TEST(OutcomeDistribution, RefusesTooManyOutcomes) {
  Circuit circuit(21);
  for (Qubit qubit = 0; qubit < 21; ++qubit) circuit.h(qubit);
  test::with_run_parts(circuit, {}, [](test::RunParts& parts) {
    parts.run->run({});
    EXPECT_THROW(outcome_distribution(*parts.state, (Index{1} << 21) - 1, kMaxOutcomes), UnsupportedError);
  });
}

}  // namespace
}  // namespace qsim
