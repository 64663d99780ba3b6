// The executor and the exchange pipeline: what they count, what they refuse, and that chunk sizes do not show.
#include <gtest/gtest.h>

#include <cstring>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "runtime/exchange/transport_check.h"
#include "runtime/read_out/observables.h"
#include "runtime/read_out/sampling.h"
#include "support/dense.h"
#include "support/outcomes.h"
#include "support/random_circuit.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

Circuit sample_circuit(unsigned qubits, std::uint64_t seed, bool dynamic = false) {
  test::RandomCircuitOptions random;
  random.qubits = qubits;
  random.operations = 40;
  random.seed = seed;
  random.max_unitary_targets = 2;
  random.dynamic = dynamic;
  random.terminal_measurements = dynamic;
  return test::random_circuit(random);
}

double distance_to(const dense::State& wanted, DistributedState& state) {
  std::vector<Index> indices(wanted.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  const std::vector<AmplitudeEntry> found = amplitudes(state, indices);
  double worst = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) worst = std::max(worst, std::abs(found[i].value - wanted[i]));
  return worst;
}

class ExecutorOnRanks : public testing::TestWithParam<int> {};

TEST_P(ExecutorOnRanks, CountsExactlyWhatThePlanPredicts) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Circuit circuit = sample_circuit(7, seed);
    test::RunSetup setup;
    setup.ranks = GetParam();
    setup.plan.tile_bits = 3;
    setup.plan.known_zeros = seed % 2 == 0;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      const PlanWork work = plan_work(parts.program.plans.at(0));
      const ExecutionCounts& counts = parts.executor->counts();
      EXPECT_EQ(counts.sweeps, work.sweeps);
      EXPECT_EQ(counts.exchanges, work.exchanges);
      EXPECT_EQ(counts.bytes_swept, work.bytes_swept_per_rank);
      EXPECT_EQ(parts.exchanges->bytes_sent(), work.bytes_exchanged_per_rank);
      EXPECT_EQ(counts.gates_applied, counts.gates_planned);
      EXPECT_TRUE(counts.norm_checked);
    });
  }
}

TEST_P(ExecutorOnRanks, GivesTheSameStateForEveryChunkSize) {
  const Circuit circuit = sample_circuit(8, 5);
  const dense::State wanted = dense::run(circuit);
  for (const std::uint64_t chunk_bytes : {32u, 64u, 256u, 4096u}) {
    test::RunSetup setup;
    setup.ranks = GetParam();
    setup.plan.tile_bits = 3;
    setup.chunk_bytes = chunk_bytes;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      EXPECT_LT(distance_to(wanted, *parts.state), 1e-11) << chunk_bytes;
    });
  }
}

TEST_P(ExecutorOnRanks, RefusesAStateWhoseNormIsOff) {
  const Circuit circuit = generate("qft", {6, 0, 1});
  test::RunSetup setup;
  setup.ranks = GetParam();
  setup.plan.known_zeros = false;
  setup.plan.strategy = Strategy::kNaive;
  setup.change = [](PlannedCircuit& program) {
    for (Stage& stage : program.plans[0].stages) {
      for (Sweep& sweep : stage.sweeps) {
        for (Complex& entry : sweep.matrices) entry *= 1 + 1e-9;
      }
    }
  };
  EXPECT_THROW(test::with_run_parts(circuit, setup, [](test::RunParts& parts) { parts.run->run({}); }),
               VerificationError);
  setup.check_norm = false;
  EXPECT_NO_THROW(test::with_run_parts(circuit, setup, [](test::RunParts& parts) { parts.run->run({}); }));
}

TEST_P(ExecutorOnRanks, NoticesASkippedSweep) {
  const Circuit circuit = generate("qft", {6, 0, 1});
  test::RunSetup setup;
  setup.ranks = GetParam();
  setup.plan.known_zeros = false;
  setup.plan.strategy = Strategy::kNaive;
  setup.change = [](PlannedCircuit& program) { program.plans[0].stages.back().sweeps.pop_back(); };
  test::with_run_parts(circuit, setup, [](test::RunParts& parts) {
    parts.run->run({});
    EXPECT_LT(parts.executor->counts().gates_applied, parts.executor->counts().gates_planned);
  });
}

INSTANTIATE_TEST_SUITE_P(Counts, ExecutorOnRanks, testing::Values(1, 2, 4, 8));

/// Spoils one byte of what arrives in trade number `at`.
class SpoilingTransport final : public Transport {
 public:
  SpoilingTransport(Transport& inner, Backend& backend, int at) : inner_(inner), backend_(backend), at_(at) {}
  std::string_view name() const override { return "spoiling"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot) const override { return inner_.max_trade_bytes(slot); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    inner_.trade(mine, theirs, peer, slot, lane);
    if (trades_++ != at_) return;
    std::byte* const amplitude = backend_.state().data + mine.value * 16;
    amplitude[3] ^= std::byte{1};
  }
  void finish() override { inner_.finish(); }

 private:
  Transport& inner_;
  Backend& backend_;
  int at_, trades_ = 0;
};

/// The two decorators of a checked run; owns the inner one.
class CheckedSpoiling final : public Transport {
 public:
  CheckedSpoiling(Transport& inner, Backend& backend, Communicator& communicator, int at)
      : spoiling_(inner, backend, at), checked_(spoiling_, backend, communicator) {}
  std::string_view name() const override { return checked_.name(); }
  std::uint64_t max_trade_bytes(std::uint64_t slot) const override { return checked_.max_trade_bytes(slot); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    checked_.trade(mine, theirs, peer, slot, lane);
  }
  void finish() override { checked_.finish(); }
  CheckedTransport& checked() { return checked_; }

 private:
  SpoilingTransport spoiling_;
  CheckedTransport checked_;
};

TEST(CheckedTransport, CatchesOneChangedBitOnEveryRank) {
  const Circuit circuit = sample_circuit(7, 3);
  for (const int at : {0, 1, 1000000}) {
    test::RunSetup setup;
    setup.ranks = 4;
    setup.plan.tile_bits = 3;
    setup.plan.strategy = Strategy::kNaive;  // many exchanges
    setup.check_norm = false;
    setup.wrap = [at](Transport& inner, Backend& backend, Communicator& communicator) {
      const int rank_at = communicator.rank() == 2 ? at : 1000000;
      return std::make_unique<CheckedSpoiling>(inner, backend, communicator, rank_at);
    };
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->run({});
      auto& checked = static_cast<CheckedSpoiling&>(*parts.wrapped).checked();
      if (at < 1000000) {
        EXPECT_THROW(checked.require_intact(), VerificationError) << at;
      } else {
        EXPECT_NO_THROW(checked.require_intact());
      }
    });
  }
}

TEST(TransportSelfTest, RefusesATransportThatChangesABit) {
  const Circuit circuit = generate("ghz", {14, 0, 1});
  for (const bool spoil : {false, true}) {
    test::RunSetup setup;
    setup.ranks = 4;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      SpoilingTransport spoiling(*parts.transport, *parts.backend,
                                 spoil && parts.communicator.rank() == 1 ? 2 : 1000000);
      if (spoil) {
        EXPECT_THROW(self_test(*parts.state, spoiling, parts.pool), CommunicatorError);
      } else {
        EXPECT_NO_THROW(self_test(*parts.state, spoiling, parts.pool));
      }
    });
  }
}

TEST(ProgramRun, GivesTheSameAnswersHoweverManyStatesItCanSave) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Circuit circuit = sample_circuit(5, seed, true);
    ReadOuts wanted;
    wanted.shots = 500;
    wanted.seed = seed;
    wanted.distribution = true;
    wanted.marginals = true;
    Answers reference;
    for (const std::uint32_t snapshots : {64u, 0u, 1u, 2u}) {
      test::RunSetup setup;
      setup.snapshots = snapshots;
      test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
        Answers answers = parts.run->run(wanted);
        if (snapshots == 64) {
          reference = std::move(answers);
          return;
        }
        EXPECT_EQ(answers.counts, reference.counts) << "seed " << seed << ", " << snapshots << " snapshots";
        EXPECT_EQ(answers.distribution, reference.distribution);
        EXPECT_EQ(answers.marginals, reference.marginals);
        EXPECT_EQ(answers.branches, reference.branches);
      });
    }
  }
}

Circuit coin_flips(unsigned flips) {
  Circuit circuit(2, flips);
  for (unsigned i = 0; i < flips; ++i) {
    circuit.h(0);
    circuit.add_measure(0, i);
  }
  circuit.h(1);
  return circuit;
}

TEST(ProgramRun, CountsBranchesAndRefusesMoreThanItsLimit) {
  ReadOuts exact;
  exact.distribution = true;
  // The last measurement is terminal, so f flips make 2^(f-1) branches.
  test::with_run_parts(coin_flips(13), {}, [&](test::RunParts& parts) {
    const Answers answers = parts.run->run(exact);
    EXPECT_EQ(answers.branches, 4096u);
    EXPECT_EQ(answers.distribution->size(), 8192u);
  });
  test::with_run_parts(coin_flips(14), {},
                       [&](test::RunParts& parts) { EXPECT_THROW(parts.run->run(exact), UnsupportedError); });
  ReadOuts shots;
  shots.shots = 100;
  test::with_run_parts(coin_flips(60), {}, [&](test::RunParts& parts) {
    std::uint64_t total = 0;
    const Answers drawn = parts.run->run(shots);
    for (const auto& [bits, times] : *drawn.counts) total += times;
    EXPECT_EQ(total, 100u);
  });
}

TEST(ProgramRun, KeepsVeryUnlikelyBranchesNormalised) {
  // Each round keeps |1> with probability sin^2(0.01): after a few rounds only careful scaling is left of the state.
  Circuit circuit(3, 4);
  for (unsigned round = 0; round < 3; ++round) {
    const Qubit target[] = {0};
    const double angle[] = {0.02};
    circuit.add_gate(Gate::kRy, {}, target, angle);
    circuit.add_measure(0, round);
    circuit.add_reset(0);
  }
  circuit.h(1);
  circuit.cx(1, 2);
  circuit.add_measure(2, 3);
  ReadOuts exact;
  exact.distribution = true;
  for (const int ranks : {1, 2, 4}) {
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      const Answers answers = parts.run->run(exact);
      const double p = std::pow(std::sin(0.01), 2);
      EXPECT_NEAR(test::by_text(*answers.distribution).at("0111") / (p * p * p / 2), 1, 1e-9);
      EXPECT_NEAR(test::by_text(*answers.distribution).at("1111") / (p * p * p / 2), 1, 1e-9);
      EXPECT_NEAR(test::by_text(*answers.distribution).at("0000"), (1 - p) * (1 - p) * (1 - p) / 2, 1e-12);
    });
  }
}

}  // namespace
}  // namespace qsim
