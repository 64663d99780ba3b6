// Shots against the exact integer distribution, and outcomes listed from it.
#include "runtime/read_out/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include "base/bits.h"
#include "base/layout.h"
#include "base/philox.h"
#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "document/result.h"
#include "null/null_backend.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "runtime/read_out/observables.h"
#include "support/random_circuit.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

/// Every qubit has a share in both of its values.
Circuit random_state_circuit(unsigned qubits) {
  Circuit circuit = generate("random", {qubits, 4, 3});
  for (Qubit qubit = 0; qubit < qubits; ++qubit) {
    circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{qubit}, std::vector<double>{0.4 + 0.05 * qubit});
  }
  return circuit;
}

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
  // Few outcomes are tallied; those of 15 qubits are more than eight times the shots, and of 18 they are found in
  // blocks.
  for (const unsigned qubits : {2u, 5u, 12u, 15u, 18u}) {
    const Circuit circuit = random_state_circuit(qubits);
    std::vector<Index> indices(std::size_t{1} << qubits);
    std::iota(indices.begin(), indices.end(), Index{0});
    std::vector<std::uint64_t> shots(3000);
    std::iota(shots.begin(), shots.end(), std::uint64_t{0});
    for (const int ranks : {1, 2, 4, 8}) {
      if (ranks > 1 << (qubits - 1)) continue;
      test::RunSetup setup;
      setup.ranks = ranks;
      test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
        parts.run->run({});
        const OutcomeCounts wanted = reference_counts(amplitudes(*parts.state, indices), shots.size(), 11, 2);
        Sampler sampler(*parts.state, *parts.exchanges);
        const OutcomeCounts found = sampler.sample(shots.size(), shots, 11, 2, ~Index{0});
        EXPECT_EQ(found, wanted) << qubits << " qubits, " << ranks << " ranks";
        EXPECT_EQ(sampler.sample(shots.size(), {}, 11, 2, ~Index{0}), wanted) << qubits << " qubits";
        // What the sampler moved can be taken back.
        undo_moves(*parts.state, *parts.exchanges);
        EXPECT_EQ(parts.state->layout, parts.program.plans[0].final_layout);
      });
    }
  }
}

// Whichever qubits the ranks' bits hold: some of those that blocks are made of, all, or none.
TEST(Sampler, FollowsTheIntegerDistributionFromAnyLayout) {
  constexpr unsigned kQubits = 18;
  std::vector<Index> indices(std::size_t{1} << kQubits);
  std::iota(indices.begin(), indices.end(), Index{0});
  std::vector<std::uint64_t> shots(1000);
  std::iota(shots.begin(), shots.end(), std::uint64_t{0});
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Circuit circuit = random_state_circuit(kQubits);
    PhiloxSequence random(seed);
    for (int i = 0; i < 24; ++i) {
      const auto a = static_cast<Qubit>(random.below(kQubits)), b = static_cast<Qubit>(random.below(kQubits));
      if (a != b) circuit.swap(a, b);
    }
    test::RunSetup setup;
    setup.ranks = 8;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      const OutcomeCounts wanted = reference_counts(amplitudes(*parts.state, indices), shots.size(), 11, 2);
      Sampler sampler(*parts.state, *parts.exchanges);
      EXPECT_EQ(sampler.sample(shots.size(), shots, 11, 2, ~Index{0}), wanted) << "seed " << seed;
    });
  }
}

// The qubits that blocks are made of lie partly on the ranks' bits: those that are there stay, others come.
TEST(Sampler, LeavesTopQubitsOnTheRanksBitsWhereTheyAre) {
  constexpr unsigned kQubits = 18;
  std::vector<Index> indices(std::size_t{1} << kQubits);
  std::iota(indices.begin(), indices.end(), Index{0});
  std::vector<std::uint64_t> shots(1000);
  std::iota(shots.begin(), shots.end(), std::uint64_t{0});
  for (const std::vector<Qubit>& on_ranks : {std::vector<Qubit>{0, 17, 5}, {17, 1, 0}, {0, 1, 17}, {1, 16, 17}}) {
    Layout layout = Layout::identity(kQubits);
    for (std::size_t i = 0; i < on_ranks.size(); ++i) {
      const Qubit there = layout.qubit_at()[kQubits - 3 + i];
      std::swap(layout.bit_of[there], layout.bit_of[on_ranks[i]]);
    }
    test::RunSetup setup;
    setup.ranks = 8;
    setup.plan.initial_layout = layout;
    setup.plan.preserve_layout = true;
    test::with_run_parts(random_state_circuit(kQubits), setup, [&](test::RunParts& parts) {
      parts.run->run({});
      ASSERT_EQ(parts.state->layout, layout);
      const OutcomeCounts wanted = reference_counts(amplitudes(*parts.state, indices), shots.size(), 11, 2);
      Sampler sampler(*parts.state, *parts.exchanges);
      EXPECT_EQ(sampler.sample(shots.size(), shots, 11, 2, ~Index{0}), wanted) << "qubit " << on_ranks[0] << " first";
    });
  }
}

/// As many shots as are sorted into buckets first, of draws that are not consecutive.
TEST(Sampler, FollowsTheIntegerDistributionWithManyShots) {
  Circuit circuit = random_state_circuit(5);
  circuit.swap(0, 3);  // so that the order of the shard is not that of the qubits
  circuit.swap(1, 4);
  std::vector<Index> indices(32);
  std::iota(indices.begin(), indices.end(), Index{0});
  for (const std::size_t count : {65535u, 65536u, 200'000u}) {
    std::vector<std::uint64_t> shots(count);
    std::iota(shots.begin(), shots.end(), std::uint64_t{0});
    test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
      parts.run->run({});
      const OutcomeCounts wanted = reference_counts(amplitudes(*parts.state, indices), count, 3, 7);
      Sampler sampler(*parts.state, *parts.exchanges);
      EXPECT_EQ(sampler.sample(shots.size(), shots, 3, 7, ~Index{0}), wanted) << count;
      std::vector<std::uint64_t> odd;
      for (std::uint64_t shot = 1; shot < count; shot += 2) odd.push_back(shot);
      std::map<Index, std::uint64_t> rest(wanted.begin(), wanted.end());
      for (const auto& [index, times] : sampler.sample(odd.size(), odd, 3, 7, ~Index{0})) rest[index] -= times;
      std::vector<std::uint64_t> even;
      for (std::uint64_t shot = 0; shot < count; shot += 2) even.push_back(shot);
      for (const auto& [index, times] : sampler.sample(even.size(), even, 3, 7, ~Index{0}))
        EXPECT_EQ(rest[index], times);
    });
  }
}

// Counts for a seed are published in documents and compared between machines: the words may never change.
TEST(Sampler, DrawsTheWordsItAlwaysDrew) {
  EXPECT_EQ(shot_word(1, 0, 0), 8224950852167123560u);
  EXPECT_EQ(shot_word(1, 6, 0), 16699196693495445027u);
  EXPECT_EQ(shot_word(7, 3, 2), 12129552454685546068u);
}

// Many shots are sorted through 2^16 buckets, each of several amplitudes here: every one of them counts.
TEST(Sampler, FollowsTheIntegerDistributionInsideABucket) {
  constexpr std::uint32_t kQubits = 18;
  constexpr std::uint64_t kShots = 1 << 18;
  Circuit circuit(kQubits);
  for (Qubit qubit = 0; qubit < kQubits; ++qubit) circuit.h(qubit);
  test::with_run_parts(circuit, {}, [](test::RunParts& parts) {
    parts.run->run({});
    std::vector<Index> all(std::size_t{1} << kQubits);
    std::iota(all.begin(), all.end(), Index{0});
    std::vector<std::uint64_t> ends;
    std::uint64_t total = 0;
    for (const AmplitudeEntry& entry : amplitudes(*parts.state, all)) {
      total += static_cast<std::uint64_t>(std::llround(std::ldexp(std::norm(entry.value), 62)));
      ends.push_back(total);
    }
    for (std::uint64_t seed = 5; seed < 11; ++seed) {
      std::vector<std::uint64_t> wanted(ends.size()), found(ends.size());
      for (std::uint64_t shot = 0; shot < kShots; ++shot) {
        const std::uint64_t place = scale_word(shot_word(seed, shot, 0), total);
        ++wanted[static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), place) - ends.begin())];
      }
      Sampler sampler(*parts.state, *parts.exchanges);
      for (const auto& [value, times] : sampler.sample(kShots, {}, seed, 0, ~Index{0})) found[value] = times;
      EXPECT_EQ(found, wanted) << seed;
    }
  });
}

// Also where the places that are drawn fall while they rise.
TEST(Sampler, ListsOutcomesInOrder) {
  Circuit circuit(2);
  circuit.h(1);
  circuit.cx(1, 0);
  circuit.x(0);
  test::with_run_parts(circuit, {}, [](test::RunParts& parts) {
    parts.run->run({});
    Sampler sampler(*parts.state, *parts.exchanges);
    const OutcomeCounts counts = sampler.sample(100, {}, 3, 0, 1);
    ASSERT_EQ(counts.size(), 2u);
    EXPECT_EQ(counts[0].first, 0u);
    EXPECT_EQ(counts[1].first, 1u);
    EXPECT_EQ(counts[0].second + counts[1].second, 100u);
  });
}

TEST(Sampler, ListsEachOutcomeOnce) {
  for (const int ranks : {1, 4}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(random_state_circuit(7), setup, [](test::RunParts& parts) {
      parts.run->run({});
      Sampler sampler(*parts.state, *parts.exchanges);
      for (const Index mask : {Index{0}, Index{1}, Index{0b101}, bit_mask(6), low_mask(7)}) {
        const OutcomeCounts counts = sampler.sample(1000, {}, 3, 0, mask);
        EXPECT_LE(counts.size(), std::size_t{1} << count_bits(mask));
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
          total += counts[i].second;
          EXPECT_EQ(counts[i].first & ~mask, 0u);
          EXPECT_TRUE(i == 0 || counts[i - 1].first < counts[i].first);
        }
        EXPECT_EQ(total, 1000u);
      }
    });
  }
}

// Shots are drawn 2^21 at a time.
TEST(Sampler, DrawsTheRestOfManyShotsAsWell) {
  Circuit circuit(17);  // more than the blocks have, so that shots are located
  circuit.h(0);
  test::with_run_parts(circuit, {}, [](test::RunParts& parts) {
    parts.run->run({});
    Sampler sampler(*parts.state, *parts.exchanges);
    for (const std::uint64_t rest : {0u, 1u, 1000u}) {
      const std::uint64_t shots = (std::uint64_t{1} << 21) + rest;
      std::uint64_t total = 0;
      for (const auto& [value, times] : sampler.sample(shots, {}, 3, 0, 1)) total += times;
      EXPECT_EQ(total, shots);
    }
  });
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

TEST(Sampler, RefusesAStateWithoutProbability) {
  test::RunSetup setup;
  setup.check_norm = false;
  setup.plan.known_zeros = false;
  setup.change = [](PlannedCircuit& program) {
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

/// A device that draws, and leaves its blocks to the histogram.
class NullDrawer : public Drawer {
 public:
  bool begin_blocks(std::span<const Bit>, std::span<const Bit>) override { return false; }
  bool blocks_ready() override { return true; }
  void take_blocks(std::span<std::uint64_t>) override {}
};

/// A device that finds no amplitude for its draws, or leaves the last one out.
class LosesDraws final : public NullBackend, private NullDrawer {
 public:
  explicit LosesDraws(bool says_so) : NullBackend({}), says_so_(says_so) {}
  Abilities abilities() override { return {.drawer = this}; }
  void unit_histogram(ChunkView, std::span<const Bit>, std::span<std::uint64_t> out) override {
    std::fill(out.begin(), out.end(), std::uint64_t{1} << 40);
  }
  void locate(std::span<const Bit>, std::span<const Bit>, std::span<const UnitDraw>, std::span<Index> out) override {
    std::fill(out.begin(), out.end(), ~Index{0});
  }
  bool draw(const DrawBlocks&, const ShotNumbers& shots, std::uint64_t, std::uint64_t, const DrawTaker& take) override {
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

/// A device that draws amplitude `drawn`, or (-1) leaves it to the host, which locates amplitude 5.
class DrawsOrNot final : public NullBackend, private NullDrawer {
 public:
  explicit DrawsOrNot(int drawn) : NullBackend({}), drawn_(drawn) {}
  Abilities abilities() override { return {.drawer = this}; }
  void unit_histogram(ChunkView, std::span<const Bit>, std::span<std::uint64_t> out) override {
    std::fill(out.begin(), out.end(), std::uint64_t{1} << 40);
  }
  void locate(std::span<const Bit>, std::span<const Bit>, std::span<const UnitDraw>, std::span<Index> out) override {
    std::fill(out.begin(), out.end(), Index{5});
  }
  bool draw(const DrawBlocks&, const ShotNumbers& shots, std::uint64_t, std::uint64_t, const DrawTaker& take) override {
    if (drawn_ >= 0) take(std::vector<Index>(shots.size(), static_cast<Index>(drawn_)));
    return drawn_ >= 0;
  }

 private:
  int drawn_;
};

TEST(Sampler, LocatesWhatTheDeviceDoesNotDraw) {
  for (const int drawn : {-1, 3, 31, 32}) {
    DrawsOrNot backend(drawn);
    PoolLayout pool;
    pool.state_bytes = 16 << 5;
    backend.reserve(pool, 5);
    const std::unique_ptr<Communicator> communicator = make_self_communicator();
    DistributedState state{backend, *communicator, 5, 0, Precision::kDouble, Layout::identity(5)};
    ExchangePipeline exchanges(state, nullptr, pool);
    Sampler sampler(state, exchanges);
    const auto sample = [&] { return sampler.sample(7, {}, 11, 2, ~Index{0}); };
    if (drawn == 32) {
      EXPECT_THROW(sample(), VerificationError);  // beyond the shard
    } else {
      EXPECT_EQ(sample(), (OutcomeCounts{{static_cast<Index>(drawn < 0 ? 5 : drawn), 7}}));
    }
  }
}

/// A device that sums its blocks while the host goes on, and draws amplitude 9 of the numbers that it is asked for.
class SumsMeanwhile final : public NullBackend, private NullDrawer {
 public:
  SumsMeanwhile() : NullBackend({}) {}
  Abilities abilities() override { return {.drawer = this}; }
  void unit_histogram(ChunkView, std::span<const Bit>, std::span<std::uint64_t>) override { ADD_FAILURE(); }
  bool begin_blocks(std::span<const Bit> block_bits, std::span<const Bit> order) override {
    EXPECT_EQ(block_bits.size(), 16u);
    EXPECT_EQ(order.size(), 4u);
    return true;
  }
  bool blocks_ready() override { return ++asked > 3; }
  void take_blocks(std::span<std::uint64_t> out) override { std::fill(out.begin(), out.end(), std::uint64_t{1} << 40); }
  bool draw(const DrawBlocks& blocks, const ShotNumbers& shots, std::uint64_t, std::uint64_t,
            const DrawTaker& take) override {
    EXPECT_EQ(blocks.ends.back(), std::uint64_t{1} << 56);
    parts.push_back(shots);
    take(std::vector<std::uint64_t>(shots.size(), 9));
    return true;
  }
  int asked = 0;
  std::vector<ShotNumbers> parts;
};

TEST(Sampler, ListsInMemoryThatWasTouchedWhileTheDeviceSummed) {
  SumsMeanwhile backend;
  PoolLayout pool;
  pool.state_bytes = 16 << 20;
  backend.reserve(pool, 20);
  const std::unique_ptr<Communicator> communicator = make_self_communicator();
  DistributedState state{backend, *communicator, 20, 0, Precision::kDouble, Layout::identity(20)};
  ExchangePipeline exchanges(state, nullptr, pool);
  const std::uint64_t shots = kShotBatch + 5;
  Sampler sampler(state, exchanges, shots);
  EXPECT_EQ(backend.asked, 4);
  EXPECT_EQ(sampler.sample(shots, {}, 11, 2, ~Index{0}), (OutcomeCounts{{9, shots}}));
  ASSERT_EQ(backend.parts.size(), 2u);
  EXPECT_EQ(backend.parts[1].first, kShotBatch) << "numbered on from batch to batch";
  EXPECT_EQ(backend.parts[1].size(), 5u);
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

// More than 20 measured qubits are taken in steps; those that are not measured are summed over.
TEST(OutcomeDistribution, IsThatOfTheMeasuredQubitsAlone) {
  constexpr std::uint32_t kQubits = 22;
  Circuit circuit(kQubits);
  const auto turn = [&](double angle, Qubit qubit) {
    circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{qubit}, std::vector<double>{angle});
  };
  turn(0.4, 0);
  turn(0.7, 1);
  turn(1.1, 20);
  turn(1.6, 21);
  circuit.x(5);
  circuit.cx(20, 4);
  circuit.cx(1, 3);
  const auto one = [](double angle) { return std::pow(std::sin(angle / 2), 2); };
  const auto share = [&](double angle, bool is_one) { return is_one ? one(angle) : 1 - one(angle); };
  const Index measured = ((Index{1} << kQubits) - 1) & ~bit_mask(1);  // 21 of them
  for (const int ranks : {1, 4}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      const auto outcomes = outcome_distribution(*parts.state, measured, 16).outcomes;
      ASSERT_EQ(outcomes.size(), 16u);
      EXPECT_TRUE(std::is_sorted(outcomes.begin(), outcomes.end()));
      for (const auto& [value, probability] : outcomes) {
        EXPECT_EQ(value & ~(bit_mask(0) | bit_mask(3) | bit_mask(4) | bit_mask(20) | bit_mask(21)), bit_mask(5));
        EXPECT_EQ(test_bit(value, 4), test_bit(value, 20));
        EXPECT_NEAR(probability,
                    share(0.4, test_bit(value, 0)) * share(0.7, test_bit(value, 3)) * share(1.1, test_bit(value, 20)) *
                        share(1.6, test_bit(value, 21)),
                    1e-12);
      }
      EXPECT_THROW(outcome_distribution(*parts.state, measured, 15), UnsupportedError);
    });
  }
}

TEST(OutcomeDistribution, LeavesOutWhatRoundingLeavesInSingle) {
  for (const bool many : {false, true}) {
    Circuit circuit(many ? 21 : 3);
    for (Qubit qubit = 0; qubit < 3; ++qubit) {
      for (int time = 0; time < (many ? 1 : 5); ++time) {  // a turn, and back: what is left is rounding
        circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{qubit}, std::vector<double>{0.7});
        circuit.cx(qubit, (qubit + 1) % 3);
        circuit.cx(qubit, (qubit + 1) % 3);
        circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{qubit}, std::vector<double>{-0.7});
      }
    }
    test::RunSetup setup;
    setup.precision = Precision::kSingle;
    setup.plan.strategy = Strategy::kNaive;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      const auto outcomes = outcome_distribution(*parts.state, low_mask(circuit.qubits()), 4).outcomes;
      ASSERT_EQ(outcomes.size(), 1u);
      EXPECT_EQ(outcomes[0].first, 0u);
      EXPECT_NEAR(outcomes[0].second, 1, 1e-5);
    });
  }
}

/// Qubit 0 is 1 with this probability.
Circuit rarely_one(std::uint32_t qubits, double probability) {
  Circuit circuit(qubits, 1);
  circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{0}, std::vector<double>{2 * std::asin(std::sqrt(probability))});
  return circuit;
}

// Outcomes of at most 2^-60, in single 2^-42, are left out, listed in one read or in several.
TEST(OutcomeDistribution, KeepsWhatIsJustMoreThanRounding) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    const double bound = noise_probability(precision);
    EXPECT_EQ(bound, precision == Precision::kDouble ? 0x1p-60 : 0x1p-42);
    for (const std::uint32_t qubits : {2u, 20u, 21u}) {
      for (const double part : {0.8, 1.25}) {
        SCOPED_TRACE(testing::Message() << qubits << " " << part);
        test::RunSetup setup;
        setup.precision = precision;
        test::with_run_parts(rarely_one(qubits, part * bound), setup, [&](test::RunParts& parts) {
          parts.run->run({});
          const auto [outcomes, left_out] = outcome_distribution(*parts.state, low_mask(qubits), 4);
          ASSERT_EQ(outcomes.size(), part > 1 ? 2u : 1u);
          EXPECT_NEAR(outcomes.back().second, part > 1 ? part * bound : 1, 0.2 * bound);
          EXPECT_NEAR(left_out, part > 1 ? 0 : part * bound, 0.2 * bound);
        });
      }
    }
  }
}

// The same bound says which branches are followed.
TEST(OutcomeDistribution, FollowsBranchesThatAreJustMoreThanRounding) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    for (const double part : {0.8, 1.25}) {
      Circuit circuit = rarely_one(2, part * noise_probability(precision));
      circuit.add_measure(0, 0);
      circuit.h(0);
      test::RunSetup setup;
      setup.precision = precision;
      test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
        ReadOuts exact;
        exact.marginals = true;
        const Answers answers = parts.run->run(exact);
        EXPECT_EQ(answers.branches, part > 1 ? 2u : 1u) << part;
      });
    }
  }
}

// Whatever bit of memory a qubit lies at, in shards of every size.
TEST(Sampler, NamesEveryQubitOfEveryBit) {
  for (std::uint32_t qubits = 1; qubits <= 18; ++qubits) {
    Circuit circuit(qubits);
    for (Qubit qubit = 0; qubit < qubits; ++qubit) circuit.h(qubit);
    test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
      parts.run->run({});
      for (std::uint32_t shift = 0; shift < qubits; shift += 5) {
        for (Qubit qubit = 0; qubit < qubits; ++qubit) {
          parts.state->layout.bit_of[qubit] = static_cast<Bit>((qubit + shift) % qubits);
        }
        const std::vector<Complex> nothing(std::size_t{1} << qubits);
        parts.backend->copy_in(0, nothing.size(), reinterpret_cast<const std::byte*>(nothing.data()));
        for (Qubit qubit = 0; qubit < qubits; ++qubit) {
          const Complex amplitude = 1, zero = 0;
          const Index at = bit_mask(parts.state->layout.bit_of[qubit]);
          parts.backend->copy_in(at, 1, reinterpret_cast<const std::byte*>(&amplitude));
          Sampler sampler(*parts.state, *parts.exchanges);
          const OutcomeCounts counts = sampler.sample(3, {}, 1, 0, ~Index{0});
          EXPECT_EQ(counts, (OutcomeCounts{{bit_mask(qubit), 3}})) << qubits << " " << shift;
          parts.backend->copy_in(at, 1, reinterpret_cast<const std::byte*>(&zero));
        }
      }
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
