// The null backend's order checks, and what it counts against plan_work.
#include <gtest/gtest.h>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "null/null_backend.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

Sweep sweep_on(std::vector<Bit> active) {
  Sweep sweep;
  sweep.active = active;
  sweep.store = std::move(active);
  return sweep;
}

NullBackend ready_backend(std::uint32_t local_bits) {
  NullBackend backend({});
  PoolLayout pool;
  pool.state_bytes = std::uint64_t{16} << local_bits;
  pool.chunk_slots = 4;
  pool.chunk_bytes = 64;
  backend.reserve(pool, local_bits);
  return backend;
}

TEST(NullBackend, RefusesAChunkCutByAnActiveBit) {
  NullBackend backend = ready_backend(6);
  const Sweep sweep = sweep_on({0, 1, 5});
  backend.prepare({&sweep, 1}, Summing::kNo);
  EXPECT_THROW(backend.sweep(0, {bit_mask(5), 0}, 0, false), Error);
  EXPECT_NO_THROW(backend.sweep(0, {bit_mask(4), 0}, 0, false));
}

TEST(NullBackend, RefusesOneChunkTwice) {
  NullBackend backend = ready_backend(6);
  const Sweep sweep = sweep_on({0});
  backend.prepare({&sweep, 1}, Summing::kNo);
  backend.sweep(0, {bit_mask(4), 0}, 0, false);
  EXPECT_THROW(backend.sweep(0, {bit_mask(4), 0}, 0, false), Error);
}

TEST(NullBackend, RefusesASweepOnChunksThatTheOneBeforeHasNotFinished) {
  NullBackend backend = ready_backend(6);
  const std::vector<Sweep> sweeps{sweep_on({0}), sweep_on({1})};
  backend.prepare(sweeps, Summing::kNo);
  backend.sweep(0, {bit_mask(4), 0}, 0, false);
  EXPECT_THROW(backend.sweep(1, {}, 0, false), Error);
  EXPECT_THROW(backend.sweep(1, {bit_mask(4), bit_mask(4)}, 0, false), Error);
  EXPECT_NO_THROW(backend.sweep(1, {bit_mask(4), 0}, 0, false));
  EXPECT_THROW(backend.require_complete(), Error);
  backend.sweep(0, {bit_mask(4), bit_mask(4)}, 1, false);
  backend.sweep(1, {bit_mask(4), bit_mask(4)}, 1, false);
  EXPECT_NO_THROW(backend.require_complete());
  EXPECT_EQ(backend.counts().sweeps, 2u);
  EXPECT_EQ(backend.counts().sweep_calls, 4u);
}

TEST(NullBackend, RefusesTradesThatOvertakeTheirSweep) {
  NullBackend backend = ready_backend(6);
  const auto transport = make_null_transport(backend);
  const Sweep sweep = sweep_on({0});
  backend.prepare({&sweep, 1}, Summing::kNo);
  const ChunkView first{bit_mask(4) | bit_mask(3), 0}, second{bit_mask(4) | bit_mask(3), bit_mask(4)};
  backend.sweep(0, {bit_mask(4), 0}, 0, false);
  transport->trade(first, first, 1, 0, 0);
  EXPECT_THROW(transport->trade(second, second, 1, 1, 1), Error);
  backend.sweep(0, {bit_mask(4), bit_mask(4)}, 1, false);
  EXPECT_NO_THROW(transport->trade(second, second, 1, 1, 1));
}

TEST(NullBackend, RefusesUnbornBitsThatDoNotMatch) {
  NullBackend backend = ready_backend(6);
  Sweep write = sweep_on({0});
  write.reads = false;
  write.unborn = low_mask(6);
  write.births.push_back({0, {}});
  Sweep later = sweep_on({0});
  later.unborn = bit_mask(5);
  backend.prepare(std::vector<Sweep>{write, later}, Summing::kNo);
  backend.sweep(0, {}, 0, false);
  EXPECT_THROW(backend.sweep(1, {}, 0, false), Error);
}

TEST(NullBackend, RefusesASweepThatMentionsGlobalBits) {
  NullBackend backend = ready_backend(6);
  Sweep sweep = sweep_on({0});
  sweep.phases.push_back({bit_mask(7), false, 1.0});
  EXPECT_THROW(backend.prepare({&sweep, 1}, Summing::kNo), Error);
}

// Drives a plan the way an executor does, on one rank of many.
NullCounts drive(const Plan& plan, const Machine& machine, std::uint32_t rank) {
  NullBackend backend({});
  const auto transport = make_null_transport(backend);
  const PoolLayout pool = pool_layout(plan, machine);
  backend.reserve(pool, plan.local_bits());
  EXPECT_EQ(backend.peak_bytes(), pool.total_bytes());
  std::uint32_t handle = 0;
  for (const Stage& stage : plan.stages) {
    if (stage.exchange) {
      Index swapped = 0;
      for (const auto& [local, global] : stage.exchange->swaps) swapped |= bit_mask(local);
      for (Index part = next_under_mask(0, swapped); part != 0; part = next_under_mask(part, swapped)) {
        transport->trade({swapped, part}, {swapped, 0}, 0, 0, 0);
      }
    }
    for (const Sweep& sweep : stage.sweeps) {
      const Sweep here = specialize(sweep, plan, rank);
      backend.prepare({&here, 1}, Summing::kNo);
      backend.sweep(handle++, {}, 0, false);
    }
  }
  backend.require_complete();
  return backend.counts();
}

TEST(NullBackend, CountsWhatPlanWorkPredictsOn1024Ranks) {
  const Machine machine = find_machine("h200");
  for (const char* name : {"ghz", "qft", "random"}) {
    const Circuit circuit = generate(name, {.qubits = 40});
    PlanOptions options;
    options.rank_bits = 10;
    options.strategy = Strategy::kGreedy;
    const Plan plan = make_plan(circuit, machine, options);
    const PlanWork work = plan_work(plan);
    for (const std::uint32_t rank : {0u, 5u, 1023u}) {
      const NullCounts counts = drive(plan, machine, rank);
      EXPECT_EQ(counts.sweeps, work.sweeps) << name;
      EXPECT_EQ(counts.bytes_swept, work.bytes_swept_per_rank) << name;
      EXPECT_EQ(counts.bytes_sent, work.bytes_exchanged_per_rank) << name;
    }
  }
}

}  // namespace
}  // namespace qsim
