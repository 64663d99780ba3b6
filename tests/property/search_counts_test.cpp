// How many sweeps and exchanges the search planner needs: the reached counts may only fall.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "plan/cost/machine.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/search/set_search.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "qsim/target.h"
#include "support/corpus.h"

namespace qsim {
namespace {

struct Counts {
  const char* circuit;  // a shared file, or a family of the generators
  std::uint32_t qubits, depth;
  std::uint64_t sweeps;                    // k = 12, from an arbitrary state, one rank
  std::array<std::uint64_t, 3> exchanges;  // 2, 4 and 8 ranks
};

PlanWork work_of(const Circuit& circuit, Start start, std::uint32_t rank_bits) {
  PlanOptions options;
  options.tile_bits = 12;
  options.rank_bits = rank_bits;
  options.start = start;
  return plan_work(make_plan(circuit, find_machine("h200"), options));
}

void expect_counts(const Circuit& circuit, const Counts& expected) {
  SCOPED_TRACE(expected.circuit);
  EXPECT_LE(work_of(circuit, Start::kRandom, 0).sweeps, expected.sweeps);
  for (std::uint32_t rank_bits = 1; rank_bits <= 3; ++rank_bits)
    EXPECT_LE(work_of(circuit, Start::kRandom, rank_bits).exchanges, expected.exchanges[rank_bits - 1])
        << (1 << rank_bits) << " ranks";
}

TEST(SearchCounts, SharedCircuitsNeedNoMoreThanWasReached) {
  const std::string shared = test::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "the shared circuits are absent";
  const std::array<Counts, 16> table{{
      {"workloads/bench/ghz_n30.qasm", 30, 0, 3, {1, 1, 1}},
      {"workloads/bench/qft_n30.qasm", 30, 0, 3, {1, 1, 1}},
      {"workloads/bench/iqft_n30.qasm", 30, 0, 3, {1, 1, 1}},
      {"workloads/bench/ising_n30_d5.qasm", 30, 5, 5, {1, 1, 1}},
      {"workloads/bench/supremacy_n30_d14.qasm", 30, 14, 4, {1, 1, 1}},
      {"workloads/bench/random_n30_d20.qasm", 30, 20, 10, {2, 2, 2}},
      {"workloads/bench/qv_n30_d10.qasm", 30, 10, 12, {2, 2, 2}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__graphstate_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__qft_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__wstate_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__qpeexact_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__qpeinexact_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__twolocalrandom_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_30q__realamprandom_indep_qiskit_30.qasm", 30, 0, 3, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_33q__qft_indep_qiskit_33.qasm", 33, 0, 4, {1, 1, 1}},
      {"corpus/qasm2_valid/mqtbench_quartz/MQTBench_33q__qpeexact_indep_qiskit_33.qasm", 33, 0, 4, {1, 1, 1}},
  }};
  for (const Counts& expected : table) {
    const std::string file = shared + "/" + expected.circuit;
    ASSERT_TRUE(std::filesystem::exists(file)) << file;
    expect_counts(parse_qasm_file(file).circuit, expected);
  }
}

TEST(SearchCounts, FamiliesNeedNoMoreThanWasReached) {
  const std::array<Counts, 7> table{{
      {"ghz", 30, 0, 3, {1, 1, 1}},
      {"qft", 33, 0, 4, {1, 1, 1}},
      {"asc_ghz_qft", 30, 0, 3, {1, 1, 1}},
      {"inv_qft", 34, 0, 6, {2, 2, 2}},
      {"ising", 30, 5, 5, {1, 1, 1}},
      {"supremacy", 30, 14, 5, {1, 1, 1}},
      {"random", 30, 20, 12, {3, 3, 4}},
  }};
  for (const Counts& expected : table)
    expect_counts(generate(expected.circuit, {expected.qubits, expected.depth, 1}), expected);
}

TEST(SearchCounts, AGhzStateFromZeroIsOneWriteAndNoExchange) {
  const Circuit circuit = generate("ghz", {30, 0, 1});
  for (std::uint32_t rank_bits = 0; rank_bits <= 3; ++rank_bits) {
    const PlanWork work = work_of(circuit, Start::kZero, rank_bits);
    EXPECT_EQ(work.exchanges, 0U);
    const double shard = 16.0 * static_cast<double>(std::uint64_t{1} << (30 - rank_bits));
    EXPECT_LT(static_cast<double>(work.bytes_swept_per_rank), 1.05 * shard) << rank_bits;
  }
}

TEST(SearchCounts, AFourierTransformFromZeroIsOneSweepThatOnlyWrites) {
  const PlanWork work = work_of(generate("qft", {30, 0, 1}), Start::kZero, 0);
  EXPECT_EQ(work.sweeps, 1U);
  EXPECT_EQ(work.bytes_swept_per_rank, std::uint64_t{16} << 30);
}

TEST(SearchCounts, KnownZerosNeverCostMore) {
  for (const GeneratorInfo& family : generators()) {
    const Circuit circuit = generate(family.name, {20, family.default_depth, 1});
    PlanOptions options;
    options.tile_bits = 8;
    const Machine machine = find_machine("h200");
    const auto bytes = plan_work(make_plan(circuit, machine, options)).bytes_swept_per_rank;
    options.known_zeros = false;
    EXPECT_LE(bytes, plan_work(make_plan(circuit, machine, options)).bytes_swept_per_rank) << family.name;
  }
}

TEST(SearchCounts, TheSearchIsNeverWorseThanTheGreedyPlanner) {
  for (const GeneratorInfo& family : generators()) {
    const Circuit circuit = generate(family.name, {22, family.default_depth, 1});
    for (const Start start : {Start::kZero, Start::kRandom}) {
      for (std::uint32_t rank_bits = 0; rank_bits <= 3; ++rank_bits) {
        PlanOptions options;
        options.tile_bits = 9;
        options.start = start;
        options.rank_bits = rank_bits;
        const PlanWork search = plan_work(make_plan(circuit, find_machine("h200"), options));
        options.strategy = Strategy::kGreedy;
        const PlanWork greedy = plan_work(make_plan(circuit, find_machine("h200"), options));
        SCOPED_TRACE(std::string(family.name) + ", start " + std::to_string(static_cast<int>(start)) + ", rank bits " +
                     std::to_string(rank_bits));
        // Fewer sweeps are preferred from an arbitrary state, even where they are predicted to take as long.
        if (start == Start::kZero || greedy.sweeps <= search.sweeps) {
          EXPECT_LE(search.total_seconds, greedy.total_seconds * (1 + 1e-9));  // sums in another order
        }
        if (start == Start::kRandom) {
          EXPECT_LE(search.exchanges, greedy.exchanges);
          EXPECT_LE(search.sweeps, greedy.sweeps);
        }
      }
    }
  }
}

TEST(SearchCounts, TheSameRequestGivesTheSamePlan) {
  const Circuit circuit = generate("random", {24, 10, 1});
  PlanOptions options;
  options.rank_bits = 2;
  const Machine machine = find_machine("h200");
  EXPECT_EQ(make_plan(circuit, machine, options), make_plan(circuit, machine, options));
}

TEST(SearchPaces, EvenSetsDoWhatEagerOnesDoNoMoreOfThemInOne) {
  for (const char* family : {"ising", "random", "qv", "supremacy"}) {
    SCOPED_TRACE(family);
    const Lowered lowered = lower_optimized(generate(family, {16, 6, 1}), {"split_turns"});
    const KnownStart start = plain_start(lowered, 0);
    const Timeline timeline = build_timeline(lowered, {0, lowered.ops.size(), 0, start.factor});
    std::vector<std::uint32_t> ends;
    for (const auto& line : timeline.line) ends.push_back(static_cast<std::uint32_t>(line.size()));
    const SetProblem problem(timeline, std::vector<std::uint32_t>(timeline.wires, 0), ends);
    SetRules rules;
    rules.segments = {low_mask(timeline.wires)};
    rules.size = 7;
    rules.budget = 4000;
    const SetSchedule schedule = find_sets(problem, rules);
    ASSERT_TRUE(schedule.complete);
    const auto most_turns = [&](Pace pace) {
      std::uint64_t most = 0;
      Positions before{};
      for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
        const Positions after = positions_after(problem, schedule, {}, pace)[i];
        Positions reached = before;
        problem.advance(reached, schedule.sets[i]);
        std::uint64_t turns = 0;
        for (std::size_t w = 0; w < timeline.wires; ++w) {
          EXPECT_GE(after[w], before[w]);
          EXPECT_LE(after[w], reached[w]) << "set " << i << " cannot do that";
          turns += static_cast<std::uint64_t>(after[w] - before[w]);
        }
        most = std::max(most, turns);
        before = after;
      }
      EXPECT_TRUE(problem.finished(before));
      return most;
    };
    EXPECT_LE(most_turns(Pace::kEven), most_turns(Pace::kEager));
  }
}

}  // namespace
}  // namespace qsim
