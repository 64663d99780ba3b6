// The executor and the exchange pipeline as ranks of 1,024 run them, on null backends: order, overlap and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "null/null_backend.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "runtime/execute/executor.h"
#include "support/lonely_rank.h"

namespace qsim {
namespace {

constexpr std::uint32_t kRankBits = 10;

/// Records what of the ring is used and whom this rank trades with.
class Watched final : public Transport {
 public:
  Watched(Transport& inner, std::uint32_t local_bits) : inner_(inner), local_bits_(local_bits) {}
  std::string_view name() const override { return "watched"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return inner_.max_trade_bytes(slot_bytes); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    inner_.trade(mine, theirs, peer, slot, lane);
    slots_used = std::max(slots_used, slot + 1);
    largest_bytes = std::max(largest_bytes, std::uint64_t{16} << (local_bits_ - count_bits(mine.mask)));
    lowest_peer = std::min(lowest_peer, peer);
    highest_peer = std::max(highest_peer, peer);
  }
  void finish() override { inner_.finish(); }

  std::uint32_t slots_used = 0;
  std::uint64_t largest_bytes = 0;
  int lowest_peer = 1 << kRankBits, highest_peer = -1;

 private:
  Transport& inner_;
  std::uint32_t local_bits_;
};

Plan plan_of(const char* name, Strategy strategy) {
  PlanOptions options;
  options.rank_bits = kRankBits;
  options.strategy = strategy;
  return make_plan(generate(name, {.qubits = 40}), find_machine("h200"), options);
}

/// How many sweeps the plan lets run beside an exchange.
std::uint64_t overlapping(const Plan& plan) {
  std::uint64_t count = 0;
  for (const Stage& stage : plan.stages) {
    if (stage.exchange) count += stage.exchange->overlap_before + stage.exchange->overlap_after;
  }
  return count;
}

void run_as(int rank, const Plan& plan) {
  const PlanWork work = plan_work(plan);
  const PoolLayout pool = pool_layout(plan, find_machine("h200"));
  test::LonelyRank communicator(rank, 1 << kRankBits);
  NullBackend backend({});
  backend.reserve(pool, plan.local_bits());
  const auto transport = make_null_transport(backend);
  Watched watched(*transport, plan.local_bits());
  DistributedState state{backend, communicator, plan.qubits, kRankBits, Precision::kDouble, {}};
  ExchangePipeline exchanges(state, &watched, pool);
  Executor executor(state, exchanges, false);
  const std::size_t number = executor.prepare(plan);
  executor.run(number, 1, 0);  // the null backend throws where sweeps and trades overtake each other

  backend.require_complete();
  EXPECT_EQ(backend.counts().sweeps, work.sweeps);
  EXPECT_EQ(backend.counts().bytes_swept, work.bytes_swept_per_rank);
  EXPECT_EQ(backend.counts().bytes_sent, work.bytes_exchanged_per_rank);
  EXPECT_EQ(exchanges.bytes_sent(), work.bytes_exchanged_per_rank);
  EXPECT_EQ(executor.counts().exchanges, work.exchanges);
  EXPECT_EQ(state.layout, plan.final_layout);
  // A sweep that overlaps runs once for each chunk, another one once.
  const std::uint64_t calls = backend.counts().sweep_calls, beside = overlapping(plan);
  EXPECT_TRUE(beside == 0 ? calls == work.sweeps : calls >= work.sweeps + beside) << calls;
  // The high-water mark of memory is the state, the tables and the ring, and no chunk outgrows its slot.
  EXPECT_EQ(backend.peak_bytes(), pool.total_bytes());
  EXPECT_LE(watched.slots_used, pool.chunk_slots);
  EXPECT_LE(watched.largest_bytes, pool.chunk_bytes);
  if (work.exchanges > 0) {
    EXPECT_GT(watched.slots_used, 1u) << "one chunk at a time leaves links idle";
    EXPECT_GE(watched.lowest_peer, 0);
    EXPECT_LT(watched.highest_peer, 1 << kRankBits);
  }
}

TEST(NullRanks, OfAThousandAndTwentyFourKeepOrderOverlapAndMemory) {
  std::uint64_t overlapped = 0, exchanged = 0;
  for (const char* name : {"ghz", "qft", "random"}) {
    const Plan plan = plan_of(name, Strategy::kSearch);
    overlapped += overlapping(plan);
    exchanged += plan_work(plan).exchanges;
    for (const int rank : {0, 1, 5, 512, 1023}) {
      SCOPED_TRACE(std::string(name) + ", rank " + std::to_string(rank));
      run_as(rank, plan);
    }
  }
  EXPECT_GT(exchanged, 0u);
  EXPECT_GT(overlapped, 0u) << "nothing was tested of overlap";
}

}  // namespace
}  // namespace qsim
