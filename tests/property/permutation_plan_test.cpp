// Stretches of flips in sweeps that permute, against the dense reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/layout.h"
#include "base/philox.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/make/planners.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "support/campaign.h"
#include "support/plan_is_circuit.h"

namespace qsim {
namespace {

/// Flips of every kind, and now and then something that a stretch has to wait for or to let pass.
Circuit flips(PhiloxSequence& random, std::uint32_t qubits, std::size_t count, std::uint64_t others) {
  Circuit circuit(qubits);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Qubit> q(qubits);
    for (Qubit k = 0; k < qubits; ++k) q[k] = k;
    for (std::size_t k = 0; k < 4; ++k) std::swap(q[k], q[k + random.below(qubits - k)]);
    const double angle = random.uniform(-4, 4);
    const std::uint64_t kind = random.below(12 + others);
    if (kind == 0) circuit.x(q[0]);
    if (kind > 0 && kind < 4) circuit.cx(q[0], q[1]);
    if (kind > 3 && kind < 10) circuit.ccx(q[0], q[1], q[2]);
    if (kind == 10) circuit.c3x(q[0], q[1], q[2], q[3]);
    if (kind == 11) circuit.swap(q[0], q[1]);
    if (kind == 12) circuit.h(q[0]);
    if (kind == 13) circuit.cp(angle, q[0], q[1]);
    if (kind == 14) circuit.ry(angle, q[0]);
    if (kind == 15) circuit.rxx(angle, q[0], q[1]);
    if (kind == 16) circuit.crx(angle, q[0], q[1]);
  }
  return circuit;
}

bool permutes(const Plan& plan) {
  return std::ranges::any_of(plan.stages.back().sweeps, [](const Sweep& sweep) { return sweep.permutes(); });
}

/// Whose sweeps permute for next to nothing.
Machine eager_machine(const char* name) {
  Machine machine = find_machine(name);
  for (CostTable* const cost : {&machine.cost_double, &machine.cost_single}) {
    cost->permutation = {16, 0, 0, 0};
    std::ranges::fill(cost->narrow_run_factor, 8);
  }
  machine.memory_bytes_per_rank = std::uint64_t{1} << 40;
  return machine;
}

TEST(PermutationPlan, IsTheCircuit) {
  const test::Campaign campaign(300);
  std::uint64_t permuting = 0, made = 0;
  for (std::uint64_t trial = campaign.first; trial < campaign.first + campaign.count; ++trial) {
    PhiloxSequence random(trial);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(random.below(5));
    const Circuit circuit = flips(random, qubits, 1 + random.below(90), trial % 6);
    PlanOptions options;
    options.tile_bits = 3 + static_cast<std::uint32_t>(random.below(2));
    options.start = trial % 2 == 0 ? Start::kZero : Start::kState;
    options.known_zeros = trial % 4 != 2;
    options.trace = trial % 5 == 0;
    const Machine machine = eager_machine(trial % 7 < 3 ? "cpu" : "h200");
    if (trial % 6 == 1) {
      options.initial_layout = Layout::identity(static_cast<int>(qubits));
      std::ranges::reverse(options.initial_layout->bit_of);
    }
    const Lowered lowered = lower_optimized(circuit, {"split_turns"});
    const std::optional<Plan> plan = permutation_plan(lowered, machine, options);
    if (!plan) continue;
    ++made;
    permuting += permutes(*plan) ? 1 : 0;
    test::expect_the_circuit(*plan, circuit, trial);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(made, campaign.count / 3);
  EXPECT_EQ(permuting, made);
}

/// Toffoli gates of many registers, one of which holds every target.
Circuit toffolis(std::uint32_t qubits, std::uint32_t targets, std::size_t count) {
  PhiloxSequence random(5);
  Circuit circuit(qubits);
  for (std::size_t i = 0; i < count; ++i) {
    const auto target = static_cast<Qubit>(random.below(targets));
    const auto a = static_cast<Qubit>((target + 1 + random.below(qubits - 1)) % qubits);
    auto b = static_cast<Qubit>(random.below(qubits));
    while (b == a || b == target) b = (b + 1) % qubits;
    circuit.ccx(a, b, target);
  }
  return circuit;
}

PlanOptions from_any_state() {
  PlanOptions options;
  options.start = Start::kState;
  return options;
}

TEST(PermutationPlan, DoesHundredsOfFlipsInOneSweep) {
  const Circuit circuit = toffolis(30, 24, 400);
  const Plan plan = make_plan(circuit, find_machine("h200"), from_any_state());
  ASSERT_EQ(plan_work(plan).sweeps, 1u);
  EXPECT_TRUE(permutes(plan));
  PlanOptions without = from_any_state();
  without.disabled_passes = {"permute"};
  EXPECT_GT(plan_work(make_plan(circuit, find_machine("h200"), without)).total_seconds,
            3 * plan_work(plan).total_seconds);
}

// What many flips take is judged by the first of them.
TEST(PermutationPlan, DoesTensOfThousandsOfFlipsInOneSweep) {
  const Plan plan = make_plan(toffolis(30, 30, 40'000), find_machine("h200"), from_any_state());
  ASSERT_EQ(plan_work(plan).sweeps, 1u);
  EXPECT_TRUE(permutes(plan));
}

TEST(PermutationPlan, TakesTheMemoryThatIsThere) {
  constexpr std::uint64_t kState = std::uint64_t{16} << 30;
  Machine machine = find_machine("h200");
  const auto spare_with = [&](std::uint32_t targets, std::uint64_t memory) {
    machine.memory_bytes_per_rank = memory;
    return pool_layout(make_plan(toffolis(30, targets, 600), machine, from_any_state()), machine).spare_bytes;
  };
  EXPECT_EQ(spare_with(24, 3 * kState), kState);
  EXPECT_EQ(spare_with(24, kState + (kState >> 3)), kState >> 4);
  EXPECT_EQ(spare_with(27, kState + (kState >> 2)), kState >> 3);
  EXPECT_EQ(spare_with(30, 3 * kState), kState);
  EXPECT_EQ(spare_with(30, kState + (kState >> 1)), 0u);
  EXPECT_EQ(spare_with(30, 0), 0u);
}

TEST(PermutationPlan, IsOfOneRankAndOfStatesLargerThanATile) {
  PlanOptions options = from_any_state();
  options.rank_bits = 1;
  EXPECT_FALSE(permutes(make_plan(toffolis(30, 20, 400), find_machine("h200"), options)));
  EXPECT_FALSE(permutes(make_plan(toffolis(12, 12, 400), find_machine("h200"), from_any_state())));
}

}  // namespace
}  // namespace qsim
