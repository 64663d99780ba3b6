// Exchanges swap high bits: a chunk is one run of memory wherever stores that run anyway can bring it there.
#include "plan/exchange_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "plan/cost/cost.h"
#include "qsim/generators.h"
#include "qsim/plan.h"

namespace qsim {
namespace {

Plan plan_of(const char* family, std::uint32_t rank_bits, bool preserve_layout = false) {
  PlanOptions options;
  options.rank_bits = rank_bits;
  options.start = Start::kRandom;
  options.preserve_layout = preserve_layout;
  return make_plan(generate(family, {.qubits = 30}), find_machine("h200"), options);
}

// Local bits that an exchange swaps or cuts.
Index taken(const Exchange& exchange) {
  Index bits = exchange.chunk_mask;
  for (const auto& [local, global] : exchange.swaps) bits |= bit_mask(local);
  return bits;
}

TEST(ExchangePlaces, TheFirstExchangeSwapsTheTopAndCutsRightBelow) {
  for (const char* family : {"ghz", "qft", "ising", "supremacy", "random", "qv"}) {
    for (std::uint32_t rank_bits = 1; rank_bits <= 3; ++rank_bits) {
      SCOPED_TRACE(testing::Message() << family << " on " << (1 << rank_bits) << " ranks");
      const Plan plan = plan_of(family, rank_bits);
      ASSERT_GE(plan.stages.size(), 2u);
      const Exchange& exchange = *plan.stages[1].exchange;
      for (const auto& [local, global] : exchange.swaps) EXPECT_GE(local, plan.local_bits() - rank_bits);
      const Index bits = taken(exchange);
      ASSERT_NE(exchange.chunk_mask, 0u);
      EXPECT_EQ(std::countr_zero(bits) + std::popcount(bits), static_cast<int>(plan.local_bits()));
      EXPECT_GE(exchange.overlap_before, 1u);
    }
  }
}

TEST(ExchangePlaces, LaterExchangesOfRandomCircuitsMoveRunsThatKeepTheLinksRate) {
  for (std::uint32_t rank_bits = 1; rank_bits <= 3; ++rank_bits) {
    PlanOptions options;
    options.rank_bits = rank_bits;
    options.start = Start::kRandom;
    const Circuit circuit = generate("random", {.qubits = 30, .depth = 20});
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    for (std::size_t s = 1; s < plan.stages.size(); ++s)
      EXPECT_GE(amplitude_bytes(plan.precision) << std::countr_zero(taken(*plan.stages[s].exchange)), 1u << 16) << s;
  }
}

TEST(ExchangePlaces, ChunksAreCutWhereFewCommandsMoveThem) {
  const Machine h200 = find_machine("h200"), cpu = find_machine("cpu");
  Exchange exchange;
  exchange.swaps = {{27, 28}, {26, 29}};
  const Index neighbours = 0b111ull << 17, apart = neighbours | bit_mask(12);
  const auto seconds = [&](Index chunks) {
    exchange.chunk_mask = chunks;
    return exchange_seconds(exchange, 28, Precision::kDouble, h200);
  };
  const CostTable& cost = h200.cost_double;
  const double bytes = 3ull << 30;
  // 64 KiB at 16 places a command: scattered, kernels move them.
  EXPECT_NEAR(seconds(apart), cost.exchange_overhead + bytes / cost.scattered_bytes_per_second, 1e-9);
  EXPECT_NEAR(seconds(0), cost.exchange_overhead + bytes / cost.link_bytes_per_second, 1e-9);
  // One stride, of 2 MiB.
  EXPECT_NEAR(seconds(neighbours) - seconds(0), (3 << 9) * cost.copy_run, 1e-9);
  // Two gaps: 512 KiB at 4 places a command, 32 of those a part, 48 parts there and back.
  const Index gaps = 0b100111ull << 15;
  EXPECT_NEAR(seconds(gaps) - seconds(0), (3 << 11) * cost.copy_run + 2 * 48 * 31 * cost.copy_command, 1e-9);
  EXPECT_EQ(choose_chunk_mask(exchange, apart | bit_mask(4), 4, 28, Precision::kDouble, h200), neighbours);
  EXPECT_EQ(choose_chunk_mask(exchange, apart | bit_mask(4), 4, 28, Precision::kDouble, cpu), apart);
  EXPECT_EQ(choose_chunk_mask(exchange, 0, 4, 28, Precision::kDouble, h200), 0u);
}

TEST(ExchangePlaces, NoSweepLosesItsLowBits) {
  for (const char* family : {"ising", "random", "qv"}) {
    for (const Stage& stage : plan_of(family, 2).stages)
      for (const Sweep& sweep : stage.sweeps)
        for (std::size_t bit = 0; bit < 3; ++bit) EXPECT_EQ(sweep.active[bit], bit) << family;
  }
}

TEST(ExchangePlaces, APreservedLayoutStays) {
  const Plan plan = plan_of("ising", 2, true);
  EXPECT_EQ(plan.final_layout, plan.initial_layout);
}

}  // namespace
}  // namespace qsim
