// Random circuits of everything, every tile size and rank count, passes on and off: the same state to rounding.
// QSIM_CAMPAIGN is the number of circuits (a small share without it), QSIM_CAMPAIGN_FIRST the first seed.
#include "support/campaign.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"
#include "support/slow_machine.h"
#include "support/tolerance.h"
#include "support/virtual_ranks.h"

namespace qsim {
namespace {

enum class Passes { kAll, kNone, kAllButOne, kOneAlone };

std::vector<std::string> disabled(Passes passes, std::uint64_t choice) {
  const std::vector<std::string_view> names = pass_names();
  const std::size_t one = choice % names.size();
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool off = passes == Passes::kNone || (passes == Passes::kAllButOne && i == one) ||
                     (passes == Passes::kOneAlone && i != one);
    if (off) result.emplace_back(names[i]);
  }
  return result;
}

class CampaignCircuit {
 public:
  explicit CampaignCircuit(std::uint64_t seed)
      : seed_(seed), circuit_(make(seed)), machine_(find_machine(seed % 3 == 2 ? "h200" : "cpu")) {
    machine_.low_bits = seed / 2 % 4;
    machine_.register_bits = 1 + seed / 3 % 4;
    machine_.min_tile_bits = 2;
    // Every second circuit meets a table by which dense matrices pay at once.
    for (double& cost : machine_.cost_double.matrix_dense) cost = seed % 2 == 0 ? 1000 : cost;
    // And every third one sweeps that are soon too much for the instruction cache, beside a fast memory.
    if (seed % 3 == 1) {
      machine_.cost_double.instructions = machine_.cost_double;
      machine_.cost_double.cached_instructions = 300000;
      machine_.cost_double.sweep_overhead = 0;
      machine_.cost_double.read_bytes_per_second *= 100;
      machine_.cost_double.write_bytes_per_second *= 100;
    } else if (seed % 4 < 2) {
      test::slow_down(machine_, circuit_.qubits());
    }
    state_ = dense::random_state(circuit_.qubits(), seed);
    from_zero_ = dense::run(circuit_);
    from_state_ = dense::run(circuit_, state_);
  }

  /// Plans that were run.
  int run() {
    int plans = 0;
    for (std::uint32_t k = 2; k <= 6; ++k) {
      for (std::uint32_t rank_bits = 0; rank_bits <= 3 && rank_bits <= circuit_.qubits(); ++rank_bits) {
        const std::uint64_t turn = seed_ + k + rank_bits;
        const auto other = static_cast<Passes>(1 + turn % 3);
        plans += check(k, rank_bits, Passes::kAll, turn);
        plans += check(k, rank_bits, other, turn);
        if (testing::Test::HasFailure()) return plans;
      }
    }
    return plans;
  }

 private:
  static Circuit make(std::uint64_t seed) {
    test::RandomCircuitOptions random;
    random.qubits = 1 + static_cast<unsigned>(seed % 8);
    random.operations = 5 + static_cast<unsigned>(seed * 7 % 60);
    random.seed = seed;
    random.max_controls = seed % 3 == 0 ? 0 : 3;
    random.max_unitary_targets = static_cast<unsigned>(seed % 4);
    if (seed / 8 % 2 == 1) random.kinds = 2 + static_cast<unsigned>(seed / 16 % 5);
    return test::random_circuit(random);
  }

  bool check(std::uint32_t k, std::uint32_t rank_bits, Passes passes, std::uint64_t turn) const {
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", k " + std::to_string(k) + ", rank bits " +
                 std::to_string(rank_bits) + ", passes " + std::to_string(static_cast<int>(passes)));
    PlanOptions options;
    options.tile_bits = k;
    options.rank_bits = rank_bits;
    options.known_zeros = turn % 5 != 0;
    options.disabled_passes = disabled(passes, turn / 3);
    const bool zero = turn % 2 == 0;
    if (!zero) {
      options.start = Start::kState;
      options.initial_layout = Layout::identity(static_cast<int>(circuit_.qubits()));
      options.preserve_layout = turn % 4 == 1;
    }
    Plan plan;
    try {
      plan = make_plan(circuit_, machine_, options);  // verifies it
    } catch (const UsageError&) {
      return false;  // a matrix on more qubits than a rank has bits
    }
    EXPECT_EQ(plan.gates, circuit_.operation_count());
    const dense::State& expected = zero ? from_zero_ : from_state_;
    const double difference = dense::max_difference(result_of(plan, zero, turn), expected);
    EXPECT_LE(difference, test::tolerance(Precision::kDouble, circuit_.depth()));
    return true;
  }

  // By the plan's words or by the CPU backend.
  dense::State result_of(const Plan& plan, bool zero, std::uint64_t turn) const {
    if (turn / 2 % 2 == 0) return test::interpret(plan, zero ? dense::State{} : state_);
    test::VirtualRanks ranks(Precision::kDouble, circuit_.qubits(), plan.rank_bits);
    return zero ? ranks.run_from_zero(plan) : ranks.run(plan, state_);
  }

  const std::uint64_t seed_;
  const Circuit circuit_;
  Machine machine_;
  dense::State state_, from_zero_, from_state_;
};

TEST(Campaign, PassesTilesAndRanksNeverChangeTheState) {
  const auto [first, count] = test::Campaign(400);
  std::uint64_t plans = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    plans += static_cast<std::uint64_t>(CampaignCircuit(seed).run());
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(plans, count * 25);
  RecordProperty("plans", std::to_string(plans));
  std::printf("%llu circuits, %llu plans\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(plans));
}

}  // namespace
}  // namespace qsim
