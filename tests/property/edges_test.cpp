// The edges of numerical rewrites: values within rounding of special ones, and thousands of gates in one tile. Every
// path is held against a reference in long double, by what rounding alone allows.
// QSIM_EDGES is the number of circuits at the edges, QSIM_DEEP the number of deep ones (a small share without them);
// QSIM_CAMPAIGN_FIRST is the first seed of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/layout.h"
#include "cpu/cpu_info.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/edge_circuit.h"
#include "support/plan_interpreter.h"
#include "support/tolerance.h"
#include "support/virtual_ranks.h"

namespace qsim {
namespace {

/// One circuit and what it must give, and every way there is to run it.
class EdgeCase {
 public:
  EdgeCase(const Circuit& circuit, std::uint64_t seed)
      : circuit_(circuit),
        seed_(seed),
        machine_(find_machine("cpu")),
        start_(dense::random_state(circuit.qubits(), seed)),
        from_zero_(dense::run_wide(circuit, dense::zero_state(circuit.qubits()))),
        from_start_(dense::run_wide(circuit, start_)) {
    machine_.low_bits = static_cast<std::uint32_t>(seed / 2 % 3);
    machine_.register_bits = static_cast<std::uint32_t>(1 + seed / 3 % 4);
    machine_.min_tile_bits = 2;
    // Every second circuit meets a table by which dense matrices pay at once.
    for (double& cost : machine_.cost_double.matrix_dense) cost = seed % 2 == 0 ? 1000 : cost;
  }

  void run(std::uint32_t tile_bits, std::uint32_t rank_bits, bool passes, Strategy strategy) {
    PlanOptions options;
    options.tile_bits = tile_bits;
    options.rank_bits = std::min(rank_bits, circuit_.qubits());
    options.strategy = strategy;
    if (!passes) {
      for (const std::string_view name : pass_names()) options.disabled_passes.emplace_back(name);
    }
    const bool zero = (seed_ + tile_bits) % 2 == 0;
    if (!zero) {
      options.start = Start::kState;
      options.initial_layout = Layout::identity(static_cast<int>(circuit_.qubits()));
    }
    SCOPED_TRACE("seed " + std::to_string(seed_) + ", k " + std::to_string(tile_bits) + ", rank bits " +
                 std::to_string(rank_bits) + ", passes " + std::to_string(passes) + ", strategy " +
                 std::to_string(static_cast<int>(strategy)));
    Plan plan;
    try {
      plan = make_plan(circuit_, machine_, options);
    } catch (const UsageError&) {
      return;  // a matrix on more qubits than a rank has bits
    }
    ++plans;
    const dense::State& expected = zero ? from_zero_ : from_start_;
    const auto compare = [&](const dense::State& found, Precision precision, const char* path) {
      const double difference = dense::max_difference(found, expected);
      EXPECT_LE(difference, test::rounding_tolerance(precision, circuit_.operations().size())) << path;
      double& worst = precision == Precision::kDouble ? worst_double : worst_single;
      worst = std::max(worst, difference);
    };
    compare(test::interpret(plan, zero ? dense::State{} : start_), Precision::kDouble, "the plan's words");
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      for (const InstructionSet set : cpu::instruction_sets()) {
        test::VirtualRanks ranks(precision, circuit_.qubits(), plan.rank_bits, set);
        compare(zero ? ranks.run_from_zero(plan) : ranks.run(plan, start_), precision, name_of(set).data());
      }
    }
  }

  std::uint64_t plans = 0;
  double worst_double = 0, worst_single = 0;

 private:
  const Circuit& circuit_;
  const std::uint64_t seed_;
  Machine machine_;
  const dense::State start_, from_zero_, from_start_;
};

TEST(Edges, ValuesNearSpecialOnesAreNotTakenForThem) {
  const std::uint64_t first = test::number_from("QSIM_CAMPAIGN_FIRST", 1), count = test::number_from("QSIM_EDGES", 150);
  std::uint64_t plans = 0;
  double worst_double = 0, worst_single = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Circuit circuit =
        test::edge_circuit(static_cast<unsigned>(1 + seed % 6), static_cast<unsigned>(3 + seed * 7 % 40), seed);
    EdgeCase edge(circuit, seed);
    edge.run(6, 0, true, Strategy::kSearch);
    edge.run(static_cast<std::uint32_t>(2 + seed % 4), static_cast<std::uint32_t>(seed % 3), true, Strategy::kSearch);
    edge.run(static_cast<std::uint32_t>(2 + seed % 3), 0, seed % 2 == 0, Strategy::kGreedy);
    plans += edge.plans;
    worst_double = std::max(worst_double, edge.worst_double);
    worst_single = std::max(worst_single, edge.worst_single);
    ASSERT_FALSE(HasFailure());
  }
  std::printf("%llu circuits at the edges, %llu plans; worst %.2g in double, %.2g in single\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(plans), worst_double,
              worst_single);
}

TEST(Edges, DeepCircuitsStayExact) {
  const std::uint64_t first = test::number_from("QSIM_CAMPAIGN_FIRST", 1), count = test::number_from("QSIM_DEEP", 12);
  double worst_double = 0, worst_single = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const bool full = count > 12;
    const Circuit circuit = test::deep_circuit(seed, full ? 14 : 10, full ? 100'000 : 3000);
    EdgeCase edge(circuit, seed);
    edge.run(12, 0, true, Strategy::kSearch);
    edge.run(12, 0, seed % 2 == 0, Strategy::kGreedy);
    worst_double = std::max(worst_double, edge.worst_double);
    worst_single = std::max(worst_single, edge.worst_single);
    ASSERT_FALSE(HasFailure());
  }
  std::printf("%llu deep circuits; worst %.2g in double, %.2g in single\n", static_cast<unsigned long long>(count),
              worst_double, worst_single);
}

TEST(Edges, TheSameGateThousandsOfTimesKeepsTheNorm) {
  Circuit circuit(7);
  for (unsigned i = 0; i < 20'000; ++i) {
    circuit.h(i % 7);
    circuit.cp(0.1, i % 7, (i + 3) % 7);
  }
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    PlanOptions options;
    options.precision = precision;
    options.tile_bits = 7;
    test::VirtualRanks ranks(precision, 7, 0);
    const double norm = dense::norm(ranks.run_from_zero(make_plan(circuit, find_machine("cpu"), options)));
    EXPECT_NEAR(norm, 1, precision == Precision::kDouble ? 1e-12 : 1e-4);
  }
}

}  // namespace
}  // namespace qsim
