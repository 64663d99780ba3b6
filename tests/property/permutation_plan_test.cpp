// Stretches of flips in sweeps that permute, against the dense reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "base/layout.h"
#include "base/philox.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/make/planners.h"
#include "plan/plan.h"
#include "plan/sweep/as_permutations.h"
#include "qsim/circuit.h"
#include "qsim/session.h"
#include "qsim/target.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/plan_is_circuit.h"
#include "support/test_backend.h"
#include "support/tolerance.h"

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

/// A permutation with phases as a compiler writes it: every flip and half turn may be around a Hadamard gate, phases
/// are of any sixteenth of a turn, products and parities.
Circuit hidden_flips(PhiloxSequence& random, std::uint32_t qubits, std::size_t count) {
  Circuit circuit(qubits);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Qubit> q(qubits);
    for (Qubit k = 0; k < qubits; ++k) q[k] = k;
    for (std::size_t k = 0; k < 4; ++k) std::swap(q[k], q[k + random.below(qubits - k)]);
    const double part = std::numbers::pi / 8 * (static_cast<double>(random.below(31)) - 15);
    switch (random.below(14)) {
      case 0:
        circuit.h(q[0]).cz(q[0], q[1]).h(q[0]);
        break;
      case 1:
      case 2:
        circuit.h(q[0]).ccz(q[0], q[1], q[2]).t(q[3]).cz(q[0], q[3]).h(q[0]);
        break;
      case 3:
        circuit.h(q[0]).ccx(q[1], q[2], q[0]).h(q[0]);
        break;
      case 4:
        circuit.h(q[0]).h(q[1]).ccx(q[0], q[2], q[1]).cz(q[0], q[3]).h(q[1]).h(q[0]);
        break;
      case 5:
        circuit.sx(q[0]).rz(std::numbers::pi, q[0]).sx(q[0]);
        break;
      case 6:
        circuit.p(part, q[0]).x(q[0]).p(part, q[0]);
        break;
      case 7:
        circuit.cp(part, q[0], q[1]);
        break;
      case 8:
        circuit.rzz(part, q[0], q[1]);
        break;
      case 9:
        circuit.ccx(q[0], q[1], q[2]);
        break;
      case 10:
        circuit.cx(q[0], q[1]).rz(part, q[1]).cx(q[0], q[1]);
        break;
      case 12:
        circuit.h(q[0]).cp(0.5 * std::numbers::pi, q[0], q[1]).cx(q[2], q[0]).cp(-0.5 * std::numbers::pi, q[0], q[1]);
        circuit.h(q[0]);
        break;
      case 11:
        if (random.below(8) == 0) circuit.h(q[0]).p(0.3, q[1]).h(q[0]);  // what is no sixteenth
        break;
      default:
        circuit.c3x(q[0], q[1], q[2], q[3]);
        break;
    }
  }
  return circuit;
}

/// What single qubits do first: to some nothing, to some what leaves them at 0 or 1.
Circuit after_turns(PhiloxSequence& random, const Circuit& circuit) {
  Circuit whole(circuit.qubits());
  for (Qubit q = 0; q < circuit.qubits(); ++q) {
    const std::uint64_t kind = random.below(6);
    if (kind == 0) whole.x(q);
    if (kind == 1) whole.h(q);
    if (kind == 2) whole.ry(random.uniform(-4, 4), q);
    if (kind == 3) whole.u(random.uniform(-4, 4), random.uniform(-4, 4), random.uniform(-4, 4), q);
    if (kind == 4) whole.h(q).t(q);
  }
  for (const Operation& op : circuit.operations()) whole.append(circuit, op);
  return whole;
}

bool first_write_permutes(const Plan& plan) {
  const Sweep& first = plan.stages.front().sweeps.front();
  return first.permutes() && !first.reads;
}

bool permutes(const Plan& plan) {
  return std::ranges::any_of(plan.stages, [](const Stage& stage) {
    return std::ranges::any_of(stage.sweeps, [](const Sweep& sweep) { return sweep.permutes(); });
  });
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
  std::uint64_t permuting = 0, made = 0, first_writes = 0;
  for (std::uint64_t trial = campaign.first; trial < campaign.first + campaign.count; ++trial) {
    PhiloxSequence random(trial);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(random.below(5));
    Circuit circuit = flips(random, qubits, 1 + random.below(90), trial % 6);
    if (trial % 3 != 0) circuit = after_turns(random, circuit);
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
    first_writes += first_write_permutes(*plan) ? 1 : 0;
    test::expect_the_circuit(*plan, circuit, trial);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(made, campaign.count / 3);
  EXPECT_EQ(permuting, made);
  EXPECT_GT(first_writes, campaign.count / 8);
}

// Each rank writes what flips take to it, wherever that comes from; what is behind them may exchange.
TEST(PermutationPlan, FirstWritesOfSeveralRanksAreTheCircuit) {
  const test::Campaign campaign(300);
  std::uint64_t made = 0, exchanging = 0;
  for (std::uint64_t trial = campaign.first; trial < campaign.first + campaign.count; ++trial) {
    PhiloxSequence random(trial + 31);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(random.below(5));
    Circuit circuit = after_turns(random, trial % 3 == 0 ? hidden_flips(random, qubits, 1 + random.below(90))
                                                         : flips(random, qubits, 1 + random.below(90), 0));
    const Circuit behind = flips(random, qubits, random.below(12), 5);
    for (const Operation& op : behind.operations()) {
      if (trial % 2 == 0) circuit.append(behind, op);
    }
    PlanOptions options;
    options.tile_bits = 3;
    options.rank_bits = 1 + static_cast<std::uint32_t>(random.below(3));
    options.trace = trial % 5 == 0;
    if (trial % 7 == 1) {
      options.initial_layout = Layout::identity(static_cast<int>(qubits));
      std::ranges::reverse(options.initial_layout->bit_of);
    }
    const Lowered lowered = lower_optimized(circuit, {"split_turns"});
    // The targets of what is behind the flips have to fit a shard.
    if (qubits - options.rank_bits < 4) continue;
    const std::optional<Plan> plan = permutation_plan(lowered, eager_machine(trial % 4 < 2 ? "cpu" : "h200"), options);
    if (!plan) continue;
    ++made;
    exchanging += plan->stages.size() > 1 ? 1 : 0;
    EXPECT_TRUE(first_write_permutes(*plan));
    test::expect_the_circuit(*plan, circuit, trial);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(made, campaign.count / 4);
  EXPECT_GT(exchanging, campaign.count / 20);
}

TEST(PermutationPlan, SeesThroughHadamardGates) {
  const test::Campaign campaign(400);
  std::uint64_t permuting = 0, changed = 0;
  for (std::uint64_t trial = campaign.first; trial < campaign.first + campaign.count; ++trial) {
    PhiloxSequence random(trial + 77);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(random.below(4));
    Circuit circuit = hidden_flips(random, qubits, 1 + random.below(150));
    if (trial % 3 != 0) circuit = after_turns(random, circuit);
    PlanOptions options;
    options.tile_bits = 3;
    options.start = trial % 2 == 0 ? Start::kZero : Start::kState;
    options.trace = trial % 5 == 0;
    // As it is written, and as the other passes leave it.
    if (trial % 4 < 2) options.disabled_passes = {"recognise_permutations", "recognise_flips", "gather_products"};
    std::vector<std::string> disabled = options.disabled_passes;
    disabled.emplace_back("split_turns");
    const Lowered lowered = lower_optimized(circuit, disabled);
    changed += as_permutations(lowered) ? 1 : 0;
    const std::optional<Plan> plan = permutation_plan(lowered, eager_machine(trial % 7 < 3 ? "cpu" : "h200"), options);
    if (!plan) continue;
    permuting += permutes(*plan) ? 1 : 0;
    test::expect_the_circuit(*plan, circuit, trial);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changed, campaign.count / 2);
  EXPECT_GT(permuting, campaign.count / 3);
}

// What is within rounding of a half turn is one; what is not stays what it was.
TEST(PermutationPlan, TakesNoPhaseForAHalfTurnThatIsNone) {
  for (const double error : {0.0, 1e-13, 1e-9, 1e-3}) {
    Circuit circuit(8);
    for (Qubit q = 0; q < 8; ++q) circuit.ry(0.2 + 0.1 * q, q);
    for (int round = 0; round < 4; ++round) {
      for (Qubit q = 0; q < 8; ++q) {
        const Qubit a = (q + 1) % 8, b = (q + 3) % 8;
        const double angle = std::numbers::pi - error;
        circuit.h(q);
        circuit.add_gate(Gate::kPhase, std::vector<Qubit>{a, b}, {&q, 1}, {&angle, 1});
        circuit.h(q).ccx(q, a, b);
      }
    }
    PlanOptions options;
    options.tile_bits = 3;
    const Plan plan = make_plan(circuit, eager_machine("h200"), options);
    EXPECT_EQ(plan_work(plan).sweeps == 1, error == 0.0);
    test::expect_the_circuit(plan, circuit, 3);
  }
}

// A phase of everything, whatever it is, needs no sweep of its own: rotations leave one where phases were meant.
TEST(PermutationPlan, TakesAnyPhaseOfEverything) {
  for (const bool affine : {false, true}) {
    for (const double angle : {0.3, 2 * std::numbers::pi, 0.25 * std::numbers::pi, 1e-13}) {
      Circuit circuit(9);
      for (const Qubit distance : {2U, 7U, 4U, 1U}) {
        for (Qubit q = 0; q < 9; ++q) circuit.cx(q, (q * distance + 4) % 9 == q ? (q + 1) % 9 : (q * distance + 4) % 9);
      }
      for (Qubit q = 0; q < 9 && !affine; ++q)
        circuit.ccx(q, (q + 1) % 9, (q + 5) % 9).rz(std::numbers::pi / 8, (q + 5) % 9).cx((q + 5) % 9, (q + 3) % 9);
      circuit.add_pauli_rotation(angle, "", {});
      PlanOptions options;
      options.tile_bits = 3;
      options.start = Start::kState;
      const Plan plan = make_plan(circuit, eager_machine("h200"), options);
      ASSERT_EQ(plan_work(plan).sweeps, 1u) << angle;
      const Sweep& sweep = plan.stages.front().sweeps.front();
      EXPECT_TRUE(sweep.permutes());
      EXPECT_EQ(is_affine(sweep), affine);
      test::expect_the_circuit(plan, circuit, 5);
    }
  }
}

// Flips of any qubits, as a compiler writes them: a thousand gates are one write.
TEST(PermutationPlan, WritesArithmeticInHadamardGatesAtOnce) {
  PhiloxSequence random(9);
  Circuit circuit(26);
  for (Qubit q = 0; q < 20; ++q) circuit.ry(0.1 + 0.1 * q, q);
  for (int i = 0; i < 300; ++i) {
    const auto target = static_cast<Qubit>(random.below(26));
    const auto a = static_cast<Qubit>((target + 1 + random.below(12)) % 26);
    const auto b = static_cast<Qubit>((target + 13 + random.below(13)) % 26);
    circuit.h(target).ccz(a, b, target).t(a).h(target).tdg(b);
  }
  const Plan plan = make_plan(circuit, find_machine("h200"), PlanOptions{});
  EXPECT_EQ(plan_work(plan).sweeps, 1u);
  EXPECT_TRUE(first_write_permutes(plan));
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

// A product state and what flips make of it: written once, with no memory beside it.
TEST(PermutationPlan, WritesAProductStateWhereFlipsTakeIt) {
  const Circuit gates = toffolis(30, 30, 400);
  Circuit circuit(30);
  for (Qubit q = 0; q < 20; ++q) circuit.ry(0.1 + 0.1 * q, q);
  for (Qubit q = 20; q < 25; ++q) circuit.h(q);
  for (const Operation& op : gates.operations()) circuit.append(gates, op);
  Machine machine = find_machine("h200");
  machine.memory_bytes_per_rank = std::uint64_t{17} << 30;
  const Plan plan = make_plan(circuit, machine, PlanOptions{});
  ASSERT_EQ(plan_work(plan).sweeps, 1u);
  EXPECT_TRUE(first_write_permutes(plan));
  EXPECT_EQ(plan_work(plan).bytes_swept_per_rank, std::uint64_t{16} << 30);
  EXPECT_EQ(pool_layout(plan, machine).spare_bytes, 0u);
  PlanOptions unknown;
  unknown.known_zeros = false;
  EXPECT_GT(plan_work(make_plan(circuit, machine, unknown)).sweeps, 1u);
  // A gate on two qubits before the flips is no product.
  Circuit other(30);
  other.rxx(0.3, 0, 1);
  for (const Operation& op : gates.operations()) other.append(gates, op);
  EXPECT_FALSE(first_write_permutes(make_plan(other, find_machine("h200"), PlanOptions{})));
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

// The lowest bits that a first write takes in may be others than those of the wires that are turned.
TEST(GivenLayout, LeavesFirstWritesWithinATile) {
  for (std::uint64_t trial = 0; trial < 120; ++trial) {
    PhiloxSequence random(trial);
    const std::uint32_t qubits = 6 + static_cast<std::uint32_t>(random.below(4));
    Circuit circuit(qubits);
    for (Qubit q = 0; q < qubits; ++q) {
      if (random.below(3) != 0) circuit.ry(random.uniform(-3, 3), q);
    }
    for (std::uint64_t i = random.below(4); i > 0; --i)
      circuit.cx(static_cast<Qubit>(random.below(3)), static_cast<Qubit>(3 + random.below(3)));
    PlanOptions options;
    options.tile_bits = 5;
    options.known_zeros = trial % 3 != 0;
    options.initial_layout = Layout::identity(static_cast<int>(qubits));
    for (std::size_t i = qubits; i > 1; --i)
      std::swap(options.initial_layout->bit_of[i - 1], options.initial_layout->bit_of[random.below(i)]);
    Machine machine = find_machine("h200");
    machine.low_bits = static_cast<std::uint32_t>(random.below(4));
    const Plan plan = make_plan(circuit, machine, options);
    for (const Sweep& sweep : plan.stages[0].sweeps) EXPECT_LE(sweep.active.size(), 5u) << "trial " << trial;
    test::expect_the_circuit(plan, circuit, trial);
  }
}

// Arithmetic on 34 qubits is one write of each GPU's part, and nothing is sent.
TEST(PermutationPlan, WritesAProductStateOnEveryRank) {
  const Circuit gates = toffolis(34, 34, 600);
  Circuit circuit(34);
  for (Qubit q = 0; q < 30; ++q) circuit.ry(0.1 + 0.1 * q, q);
  for (const Operation& op : gates.operations()) circuit.append(gates, op);
  for (const std::uint32_t rank_bits : {1u, 2u, 3u}) {
    PlanOptions options;
    options.rank_bits = rank_bits;
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    ASSERT_EQ(plan_work(plan).sweeps, 1u);
    EXPECT_EQ(plan_work(plan).exchanges, 0u);
    EXPECT_TRUE(first_write_permutes(plan));
    EXPECT_EQ(plan_work(plan).bytes_swept_per_rank, std::uint64_t{256} << (30 - rank_bits));
  }
}

// The same amplitudes from ranks that run it, with exchanges behind the first write and without.
TEST(PermutationPlan, FirstWritesOfSeveralRanksRun) {
  const Circuit gates = toffolis(18, 18, 300);
  for (const bool more : {false, true}) {
    Circuit circuit(18);
    for (Qubit q = 0; q < 16; ++q) circuit.u(0.1 + 0.1 * q, 0.2 * q, 0.3, q);
    for (const Operation& op : gates.operations()) circuit.append(gates, op);
    for (Qubit q = 0; more && q < 18; ++q) circuit.ry(0.2, q).cx(q, (q + 1) % 18);
    const std::vector<Complex> wanted = dense::run(circuit);
    for (const int ranks : {2, 4, 8}) {
      PlanOptions options;
      options.rank_bits = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(ranks)));
      options.precision = ranks == 4 ? Precision::kSingle : Precision::kDouble;
      Target target = test::run_options();
      target.ranks = ranks;
      target.precision = options.precision;
      Session session(target);
      EXPECT_TRUE(first_write_permutes(make_plan(circuit, find_machine("cpu"), options)));
      State state = session.run(circuit);
      EXPECT_LE(dense::max_difference(state.amplitudes(0, Index{1} << 18), wanted),
                test::rounding_tolerance(options.precision, circuit.operations().size()));
      EXPECT_NEAR(state.norm(), 1, options.precision == Precision::kDouble ? 1e-12 : 1e-5);
    }
  }
}

TEST(PermutationPlan, ThatGathersIsOfOneRankAndOfStatesLargerThanATile) {
  PlanOptions options = from_any_state();
  options.rank_bits = 1;
  EXPECT_FALSE(permutes(make_plan(toffolis(30, 20, 400), find_machine("h200"), options)));
  EXPECT_FALSE(permutes(make_plan(toffolis(12, 12, 400), find_machine("h200"), from_any_state())));
}

}  // namespace
}  // namespace qsim
