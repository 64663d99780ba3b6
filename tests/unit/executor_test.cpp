// Plans on a device without amplitudes: which sweeps it is given, what is asked of it, and what is added up.
#include "runtime/execute/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "device/abilities.h"
#include "null/null_backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/profile.h"
#include "support/lonely_rank.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

/// Keeps what it is asked to prepare, and sums bits where it is said to.
class KeepingBackend final : public NullBackend, private BitSums {
 public:
  KeepingBackend() : NullBackend(BackendOptions{}) {}
  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing) override {
    kept.insert(kept.end(), sweeps.begin(), sweeps.end());
    sums.push_back(summing == Summing::kBits);
    return NullBackend::prepare(sweeps, summing);
  }
  Abilities abilities() override { return {.bit_sums = can_sum ? this : nullptr}; }
  bool take_bit_probabilities(std::span<double> out) override {
    asked = out.size();
    std::fill(out.begin(), out.end(), 0.25);
    return gives;
  }
  void sweep(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm) override {
    if (accumulate_norm) summed.insert(handle);
    ++calls[handle];
    NullBackend::sweep(handle, chunk, lane, accumulate_norm);
  }
  std::vector<Sweep> kept;
  std::set<std::uint32_t> summed;      // sweeps whose norm was asked for
  std::map<std::uint32_t, int> calls;  // of each sweep: one, or one for each chunk
  std::vector<double> shares;
  std::vector<bool> sums;  // by call
  bool can_sum = true, gives = true;
  std::size_t asked = 0;
};

constexpr std::uint32_t kLocal = 8;

/// One rank's executor without checks of norms.
struct Parts {
  explicit Parts(std::uint32_t rank_bits = 0) {
    PoolLayout pool;
    pool.state_bytes = std::uint64_t{16} << kLocal;
    backend.reserve(pool, kLocal);
    state = std::make_unique<DistributedState>(DistributedState{backend, *communicator, kLocal + rank_bits, rank_bits,
                                                                Precision::kDouble, Layout::identity(kLocal)});
    exchanges = std::make_unique<ExchangePipeline>(*state, nullptr, pool);
    executor = std::make_unique<Executor>(*state, *exchanges, false);
  }
  KeepingBackend backend;
  std::unique_ptr<Communicator> communicator = make_self_communicator();
  std::unique_ptr<DistributedState> state;
  std::unique_ptr<ExchangePipeline> exchanges;
  std::unique_ptr<Executor> executor;
};

Sweep sweep_on(std::vector<Bit> active, double seconds = 0) {
  Sweep sweep;
  sweep.active = active;
  sweep.store = std::move(active);
  sweep.predicted_seconds = seconds;
  return sweep;
}

/// Continues a state; a stage for each list of sweeps.
Plan plan_of(const std::vector<std::vector<Sweep>>& stages, std::uint32_t rank_bits = 0) {
  Plan plan;
  plan.qubits = kLocal;
  plan.rank_bits = rank_bits;
  plan.tile_bits = 4;
  plan.start = Start::kState;
  plan.initial_layout = plan.final_layout = Layout::identity(kLocal);
  for (const std::vector<Sweep>& sweeps : stages) plan.stages.push_back({std::nullopt, plan.initial_layout, sweeps});
  return plan;
}

// The last stage alone, and only where its last sweep is one over the whole shard.
TEST(Executor, TakesBitSumsFromTheLastSweepWhereItCan) {
  const Plan two = plan_of({{sweep_on({0, 1})}, {sweep_on({2, 3}), sweep_on({4, 5})}});
  for (const bool wanted : {false, true}) {
    for (const bool can : {false, true}) {
      for (const bool gives : {false, true}) {
        Parts parts;
        parts.backend.can_sum = can;
        parts.backend.gives = gives;
        const std::size_t number = parts.executor->prepare(two, wanted);
        EXPECT_EQ(parts.backend.sums, (std::vector<bool>{false, wanted && can}));
        if (wanted && can) {
          EXPECT_GE(parts.state->bit_probabilities.capacity(), kLocal + 1);  // nothing is allocated later
        }
        parts.state->bit_probabilities = {7};
        parts.executor->run(number, 1, 0);
        EXPECT_EQ(parts.backend.asked, wanted && can ? kLocal + 1 : 0u);
        EXPECT_EQ(parts.state->bit_probabilities,
                  wanted && can && gives ? std::vector<double>(kLocal + 1, 0.25) : std::vector<double>{});
      }
    }
  }
  Parts single;
  single.executor->run(single.executor->prepare(plan_of({{sweep_on({0, 1})}}), true), 1, 0);
  EXPECT_EQ(single.backend.asked, kLocal + 1);
  Parts none;
  none.executor->run(none.executor->prepare(plan_of({}), true), 1, 0);
  EXPECT_EQ(none.backend.asked, 0u);
  none.executor->run(none.executor->prepare(plan_of({{}}), true), 1, 0);
  EXPECT_EQ(none.backend.asked, 0u);
  Parts played;  // one rank plays two
  played.executor->prepare(plan_of({{sweep_on({0, 1})}}, 1), true);
  EXPECT_EQ(played.backend.sums, (std::vector<bool>{false, false}));
}

/// A plan with two sweeps (or, `first`, none), an exchange and more of them, of which some run beside the exchange.
void run_beside(KeepingBackend& backend, bool first, std::uint32_t before, std::uint32_t after,
                std::size_t sweeps_after, bool check) {
  PoolLayout pool;
  pool.state_bytes = std::uint64_t{16} << kLocal;
  pool.chunk_bytes = 512;
  pool.chunk_slots = 4;
  backend.reserve(pool, kLocal);
  test::LonelyRank communicator(0, 2);
  DistributedState state{backend, communicator, kLocal + 1, 1, Precision::kDouble, Layout::identity(kLocal + 1)};
  const std::unique_ptr<Transport> transport = make_null_transport(backend);
  ExchangePipeline exchanges(state, transport.get(), pool);
  Executor executor(state, exchanges, check);
  executor.on_progress = [&](double share) { backend.shares.push_back(share); };
  Plan plan = plan_of({{sweep_on({0, 1}), sweep_on({0, 2})}, {}}, 1);
  plan.qubits = kLocal + 1;
  plan.initial_layout = plan.final_layout = Layout::identity(kLocal + 1);
  Exchange exchange;
  exchange.swaps = {{3, kLocal}};
  exchange.chunk_mask = bit_mask(6) | bit_mask(7);
  exchange.overlap_before = before;
  exchange.overlap_after = after;
  if (first) plan.stages.erase(plan.stages.begin());
  plan.stages.back().exchange = exchange;
  for (std::size_t i = 0; i < sweeps_after; ++i) plan.stages.back().sweeps.push_back(sweep_on({1, 2}));
  const std::size_t number = executor.prepare(plan);
  try {
    executor.run(number, 1, 0);
  } catch (const VerificationError&) {  // this device says 0
  }
}

std::set<std::uint32_t> summed_beside(std::uint32_t before, std::uint32_t after, std::size_t sweeps_after, bool check) {
  KeepingBackend backend;
  run_beside(backend, false, before, after, sweeps_after, check);
  return backend.summed;
}

TEST(Executor, AnExchangeIsAStepToo) {
  for (const std::uint32_t beside : {0u, 1u}) {
    KeepingBackend backend;
    run_beside(backend, false, beside, beside, 1, false);
    EXPECT_EQ(backend.shares, (std::vector<double>{0.25, 0.5, 0.75, 1})) << beside;
  }
}

// In chunks of its two bits; an exchange that comes first is no other.
TEST(Executor, RunsInChunksWhatRunsBesideAnExchange) {
  using Calls = std::map<std::uint32_t, int>;
  const auto calls = [](bool first, std::uint32_t before, std::uint32_t after) {
    KeepingBackend backend;
    run_beside(backend, first, before, after, 2, false);
    return backend.calls;
  };
  EXPECT_EQ(calls(false, 0, 0), (Calls{{0, 1}, {1, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(calls(false, 1, 0), (Calls{{0, 1}, {1, 4}, {2, 1}, {3, 1}}));
  EXPECT_EQ(calls(false, 0, 1), (Calls{{0, 1}, {1, 1}, {2, 4}, {3, 1}}));
  EXPECT_EQ(calls(true, 0, 0), (Calls{{0, 1}, {1, 1}}));
  EXPECT_EQ(calls(true, 0, 1), (Calls{{0, 4}, {1, 1}}));
}

// One running total: the last sweep of a stage has it, and where those before and after an exchange both would, the
// later one.
TEST(Executor, TakesTheNormOfEachStageWithItsLastSweep) {
  using Set = std::set<std::uint32_t>;
  for (const auto& [before, after, sweeps, summed] :
       {std::tuple<std::uint32_t, std::uint32_t, std::size_t, Set>{0, 0, 2, {1, 3}},
        {1, 0, 2, {1, 3}},
        {2, 0, 1, {1, 2}},
        {0, 1, 1, {1, 2}},
        {0, 1, 2, {1, 3}},
        {0, 2, 2, {1, 3}},
        {1, 1, 2, {1, 3}},
        {1, 1, 1, {2}},
        {2, 2, 2, {3}},
        {1, 2, 3, {1, 4}}}) {
    EXPECT_EQ(summed_beside(before, after, sweeps, true), summed) << before << after << sweeps;
    EXPECT_EQ(summed_beside(before, after, sweeps, false), Set{}) << before << after << sweeps;
  }
}

TEST(Executor, WidensNarrowSweepsByTheLowestBitsThatAreBorn) {
  Parts parts;
  parts.executor->least_active_bits = 4;
  Sweep moves = sweep_on({2, 5});
  std::swap(moves.store[0], moves.store[1]);
  Sweep young = sweep_on({3, 4});
  young.unborn = bit_mask(0) | bit_mask(2) | bit_mask(4) | bit_mask(5) | bit_mask(6);
  young.births = {{4, {}}, {6, {}}};
  const Plan plan = plan_of({{moves, sweep_on({0, 1, 2, 3, 6}), young}});
  parts.executor->prepare(plan);
  ASSERT_EQ(parts.backend.kept.size(), 3u);
  EXPECT_EQ(parts.backend.kept[0].active, (std::vector<Bit>{0, 1, 2, 5}));
  EXPECT_EQ(parts.backend.kept[0].store, (std::vector<Bit>{0, 1, 5, 2}));
  EXPECT_EQ(parts.backend.kept[1].active, (std::vector<Bit>{0, 1, 2, 3, 6}));
  EXPECT_EQ(parts.backend.kept[2].active, (std::vector<Bit>{1, 3, 4, 6}));
  EXPECT_EQ(parts.backend.kept[2].store, parts.backend.kept[2].active);
  parts.executor->least_active_bits = 20;  // more than there are
  parts.executor->prepare(plan);
  EXPECT_EQ(parts.backend.kept[3].active.size(), kLocal);
  EXPECT_EQ(parts.backend.kept[5].active, (std::vector<Bit>{1, 3, 4, 6, 7}));
}

// Exchanges between ranks that one rank plays are sweeps over its shard, on tiles of the plan's width.
TEST(Executor, SwapsBitsInsideTheShardWhereRanksArePlayed) {
  for (const std::uint32_t tile_bits : {0u, 1u, 2u, 4u, 6u, 20u}) {
    Plan plan = plan_of({{sweep_on({2, 3})}, {sweep_on({0, 1})}}, 2);
    plan.tile_bits = tile_bits;
    Exchange exchange;
    exchange.swaps = {{1, 7}, {4, 6}};
    plan.stages[1].exchange = exchange;
    const Index unborn = bit_mask(2) | bit_mask(5);
    plan.stages[1].sweeps[0].unborn = unborn;
    Parts parts;
    parts.executor->prepare(plan);
    const auto inner = std::find_if(parts.backend.kept.begin(), parts.backend.kept.end(),
                                    [](const Sweep& sweep) { return sweep.active != sweep.store; });
    ASSERT_NE(inner, parts.backend.kept.end());
    std::vector<Bit> active{1, 4, 6, 7};
    if (tile_bits > 4) active = {0, 1, 3, 4, 6, 7};
    EXPECT_EQ(inner->active, active) << tile_bits;
    std::vector<Bit> store = active;
    for (Bit& bit : store) bit = bit == 1 ? Bit{7} : bit == 7 ? Bit{1} : bit == 4 ? Bit{6} : bit == 6 ? Bit{4} : bit;
    EXPECT_EQ(inner->store, store) << tile_bits;
    EXPECT_EQ(inner->unborn, unborn);
    EXPECT_EQ(inner->ops.size(), 0u);
  }
}

TEST(Executor, RefusesAStateInAnotherLayoutAndAStartWithoutProbability) {
  Parts parts;
  const Plan plan = plan_of({{sweep_on({0})}});
  const std::size_t number = parts.executor->prepare(plan);
  EXPECT_NO_THROW(parts.executor->run(number, 1, 0));
  std::swap(parts.state->layout.bit_of[0], parts.state->layout.bit_of[1]);
  EXPECT_THROW(parts.executor->run(number, 1, 0), Error);
  Plan random = plan;
  random.start = Start::kRandom;
  const std::size_t other = parts.executor->prepare(random);
  EXPECT_THROW(parts.executor->run(other, 1, 0), Error);  // this device says 0
}

// By predicted time, or by steps where none is predicted.
TEST(Executor, ReportsTheShareThatIsDone) {
  for (const bool predicted : {false, true}) {
    Parts parts;
    std::vector<double> shares;
    parts.executor->on_progress = [&](double share) { shares.push_back(share); };
    const double unit = predicted ? 0.125 : 0;
    const Plan plan = plan_of({{sweep_on({0}, unit), sweep_on({1}, 2 * unit)}, {sweep_on({2}, unit)}});
    const std::size_t number = parts.executor->prepare(plan);
    for (int time = 0; time < 2; ++time) {
      shares.clear();
      parts.executor->run(number, 1, 0);
      EXPECT_EQ(shares, predicted ? (std::vector<double>{0.25, 0.75, 1}) : (std::vector<double>{1. / 3, 2. / 3, 1}));
    }
  }
}

TEST(Executor, NotesSweepsOfItsOwnInTheProfile) {
  Parts parts;
  Profile profile;
  const std::uint32_t handle = parts.executor->prepare_sweep(sweep_on({0, 1}));
  parts.executor->run_sweep(handle, 100);
  parts.executor->profile = &profile;
  profile.set_stage(3);
  parts.executor->run_sweep(handle, 100);
  const std::vector<Span> spans = profile.spans();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].kind, Span::Kind::kSwap);
  EXPECT_EQ(spans[0].stage, 3u);
  EXPECT_EQ(spans[0].number, 0u);
  EXPECT_EQ(spans[0].lane, 0u);
  EXPECT_GE(spans[0].end, spans[0].begin);
  EXPECT_EQ(parts.executor->counts().sweeps, 2u);
  EXPECT_EQ(parts.executor->counts().bytes_swept, 200u);
}

TEST(Executor, AddsUpWhatHelpersHaveDone) {
  Parts parts;
  ExecutionCounts others;
  others.gates_planned = 1;
  others.gates_applied = 2;
  others.sweeps = 3;
  others.exchanges = 4;
  others.bytes_swept = 5;
  others.start_seconds = 6;
  others.norm = 1.5;
  for (int time = 1; time <= 2; ++time) {
    parts.executor->add_counts(others);
    const ExecutionCounts& counts = parts.executor->counts();
    EXPECT_EQ(counts.gates_planned, 1u * time);
    EXPECT_EQ(counts.gates_applied, 2u * time);
    EXPECT_EQ(counts.sweeps, 3u * time);
    EXPECT_EQ(counts.exchanges, 4u * time);
    EXPECT_EQ(counts.bytes_swept, 5u * time);
    EXPECT_EQ(counts.start_seconds, 6 * time);
    EXPECT_EQ(counts.norm, 1);
    EXPECT_FALSE(counts.norm_checked);
  }
  others.norm_checked = true;
  parts.executor->add_counts(others);
  EXPECT_TRUE(parts.executor->counts().norm_checked);
  EXPECT_EQ(parts.executor->counts().norm, 1.5);  // the one that is farthest from 1
  others.norm = 0.75;
  parts.executor->add_counts(others);
  EXPECT_EQ(parts.executor->counts().norm, 1.5);
  others.norm = 0.25;
  parts.executor->add_counts(others);
  EXPECT_EQ(parts.executor->counts().norm, 0.25);
}

// Plans that follow one another may round as often as all of them do.
TEST(Executor, AllowsForTheGatesAndTheDefectsOfEveryPlanBefore) {
  Circuit circuit(3);
  for (Qubit qubit = 0; qubit < 3; ++qubit) circuit.h(qubit);
  for (const bool follow : {false, true}) {
    for (const bool by_gates : {false, true}) {
      test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
        Plan first = parts.program.plans.front();
        first.gates = by_gates ? 2'000'000'000 : 0;
        first.unitarity_defect = by_gates ? 0 : 2e-7;
        Plan second = first;
        second.gates = 0;
        second.unitarity_defect = 0;
        second.start = Start::kState;
        second.initial_layout = second.final_layout = first.final_layout;
        Sweep longer = sweep_on({0, 1});  // by as much as 1e9 gates may round
        PlanOp op;
        op.target_count = 1;
        op.data_count = 4;
        longer.ops = {op};
        longer.matrices = {1 + 0.5e-7, 0, 0, 1 + 0.5e-7};
        second.stages = {{std::nullopt, second.initial_layout, {longer}}};
        Executor executor(*parts.state, *parts.exchanges, true);
        const std::size_t a = executor.prepare(first), b = executor.prepare(second);
        executor.run(a, 1, 0);
        if (follow) {
          executor.before = {first.gates, first.unitarity_defect};
          EXPECT_NO_THROW(executor.run(b, 1, 0));
        } else {
          EXPECT_THROW(executor.run(b, 1, 0), VerificationError);
        }
      });
    }
  }
}

}  // namespace
}  // namespace qsim
