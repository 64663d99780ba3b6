// Random circuits, planned in every way, against the dense reference through the interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

struct Case {
  Strategy strategy;
  std::uint32_t tile_bits, rank_bits;
  bool known_zeros;
  Start start;
  bool preserve, fixed;  // fixed: in a given initial layout
};

std::string text(const Case& c, std::uint64_t seed) {
  return "strategy " + std::to_string(static_cast<int>(c.strategy)) + ", k " + std::to_string(c.tile_bits) +
         ", rank bits " + std::to_string(c.rank_bits) + ", known zeros " + std::to_string(c.known_zeros) + ", start " +
         std::to_string(static_cast<int>(c.start)) + ", preserve " + std::to_string(c.preserve) + ", fixed layout " +
         std::to_string(c.fixed) + ", seed " + std::to_string(seed);
}

Layout shuffled(std::uint32_t qubits, std::uint64_t seed) {
  Layout layout = Layout::identity(static_cast<int>(qubits));
  for (std::uint32_t q = qubits; q > 1; --q) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    std::swap(layout.bit_of[q - 1], layout.bit_of[(seed >> 33) % q]);
  }
  return layout;
}

// Plans, checks the layout promises, runs and compares; false when the circuit cannot be planned for so many ranks.
bool check(const Circuit& circuit, const Machine& machine, const Case& c, std::uint64_t seed) {
  PlanOptions options;
  options.strategy = c.strategy;
  options.tile_bits = c.tile_bits;
  options.rank_bits = c.rank_bits;
  options.known_zeros = c.known_zeros;
  options.start = c.start;
  options.preserve_layout = c.preserve;
  if (c.fixed) options.initial_layout = shuffled(circuit.qubits(), seed);
  Plan plan;
  try {
    plan = make_plan(circuit, machine, options);
  } catch (const UsageError&) {
    return false;
  }
  if (options.initial_layout) {
    EXPECT_EQ(plan.initial_layout, *options.initial_layout);
  }
  if (c.preserve) {
    EXPECT_EQ(plan.final_layout, plan.initial_layout);
  }
  EXPECT_EQ(plan.gates, circuit.operation_count());
  const bool from_zero = c.start == Start::kZero;
  const dense::State start =
      from_zero ? dense::zero_state(circuit.qubits()) : dense::random_state(circuit.qubits(), seed);
  const dense::State expected = dense::run(circuit, start);
  test::InterpreterOptions how;
  how.specialize = seed % 2 == 0;
  how.chunked = seed % 3 != 0;
  how.scramble_seed = static_cast<unsigned>(seed);
  const auto state = test::interpret(plan, from_zero ? dense::State{} : start, how);
  const double difference = dense::max_difference(state, expected);
  EXPECT_LE(difference, test::tolerance(Precision::kDouble, circuit.depth())) << text(c, seed);
  const auto is_nan = [](const Complex& value) { return std::isnan(value.real()) || std::isnan(value.imag()); };
  EXPECT_TRUE(std::none_of(state.begin(), state.end(), is_nan)) << "unborn memory was read: " << text(c, seed);
  return true;
}

class PlanRandom : public testing::TestWithParam<Strategy> {};

TEST_P(PlanRandom, EveryPlanGivesTheReferenceState) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  int planned = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 1 + static_cast<unsigned>(seed % 7);
    random.operations = 10 + static_cast<unsigned>(seed % 41);
    random.seed = seed;
    random.max_controls = seed % 3 == 0 ? 0 : 3;
    const Circuit circuit = test::random_circuit(random);
    machine.low_bits = seed % 4;
    for (std::uint32_t rank_bits = 0; rank_bits <= 3 && rank_bits <= random.qubits; ++rank_bits) {
      const auto k = static_cast<std::uint32_t>(1 + (seed + rank_bits) % 6);
      const auto start = std::array{Start::kZero, Start::kRandom, Start::kState}[(seed / 2 + rank_bits) % 3];
      const bool fixed = start == Start::kState || seed % 4 == 0;
      const Case c{GetParam(), k, rank_bits, seed % 5 != 0, start, (seed / 4) % 2 == 0, fixed};
      planned += check(circuit, machine, c, seed);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(planned, 1500);
}

std::string strategy_name(const testing::TestParamInfo<Strategy>& tested) {
  switch (tested.param) {
    case Strategy::kNaive:
      return "Naive";
    case Strategy::kGreedy:
      return "Greedy";
    case Strategy::kSearch:
      return "Search";
  }
  return "Unknown";
}

INSTANTIATE_TEST_SUITE_P(Strategies, PlanRandom,
                         testing::Values(Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch), strategy_name);

}  // namespace
}  // namespace qsim
