// Exchanges swap high bits: a chunk is one run of memory wherever stores that run anyway can bring it there.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"

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

TEST(ExchangeCost, CountsBytesAndTheHostsWorkForEachPartner) {
  const Machine h200 = find_machine("h200");
  const CostTable& cost = h200.cost_double;
  Exchange exchange;
  double share = 1;  // of the shard, that stays
  for (Bit bits = 1; bits <= 3; ++bits) {
    exchange.swaps.emplace_back(static_cast<Bit>(20 - bits), static_cast<Bit>(19 + bits));
    share /= 2;
    const double bytes = 16 * (1 - share) * (1 << 20);
    EXPECT_NEAR(exchange_seconds(exchange, 20, Precision::kDouble, h200),
                bytes / cost.link_bytes_per_second + cost.exchange_overhead / share, 1e-12);
  }
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
