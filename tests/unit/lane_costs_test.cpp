// Dense matrices on two targets that are done on lanes: what such sweeps cost, and which sweeps take them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bits.h"
#include "circuit/generate/generators.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/element/split_steps.h"
#include "plan/element/sweep_elements.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
const double kSecond = 1e15 / kMiB;  // nanoseconds a million amplitudes, for 2^20 of them

/// Memory takes nothing; a matrix on one target 1 s, on two 10 s, and with lanes 2 s and 4 s.
Machine lane_machine() {
  Machine machine;
  machine.kind = BackendKind::kCuda;
  CostTable& cost = machine.cost_double;
  cost.read_bytes_per_second = cost.write_bytes_per_second = 1e30;
  cost.matrix1_general = kSecond;
  cost.matrix_dense[2] = 10 * kSecond;
  cost.instructions.matrix1_general = 3;
  cost.instructions.matrix_dense[2] = 30;
  cost.lanes = cost;
  cost.lanes->matrix1_general = 2 * kSecond;
  cost.lanes->matrix_dense[2] = 4 * kSecond;
  cost.lanes_instructions = cost.instructions;
  cost.lanes_instructions->matrix_dense[2] = 12;
  return machine;
}

Sweep sweep_of(std::size_t turns, std::size_t pairs) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2};
  const auto add = [&](std::uint8_t targets) {
    PlanOp op;
    op.target_count = targets;
    for (std::uint8_t t = 0; t < targets; ++t) op.targets[t] = t;
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = 1u << (2 * targets);
    sweep.matrices.resize(sweep.matrices.size() + op.data_count, Complex(0.5, 0.5));
    sweep.ops.push_back(op);
  };
  for (std::size_t i = 0; i < turns; ++i) add(1);
  for (std::size_t i = 0; i < pairs; ++i) add(2);
  return sweep;
}

TEST(LaneCosts, ASweepTakesTheCheaperWayAsAWhole) {
  const Machine machine = lane_machine();
  const auto seconds = [&](std::size_t turns, std::size_t pairs) {
    return sweep_seconds(sweep_of(turns, pairs), 20, Precision::kDouble, machine);
  };
  EXPECT_NEAR(seconds(7, 0), 7, 1e-9);
  EXPECT_NEAR(seconds(5, 1), 14, 1e-9);   // registers: 15
  EXPECT_NEAR(seconds(7, 1), 17, 1e-9);   // lanes: 18
  EXPECT_NEAR(seconds(11, 2), 30, 1e-9);  // registers: 31
  EXPECT_NEAR(seconds(13, 2), 33, 1e-9);  // lanes: 34
}

// Not by what comes before an operation: a sweep does all of its blocks in one way.
TEST(LaneCosts, EveryOperationCostsWhatTheWholeSweepsWayTakes) {
  const Machine machine = lane_machine();
  const auto costs = [&](std::size_t turns, std::size_t pairs) {
    std::vector<double> found;
    for (const Arithmetic& each : operation_arithmetic(sweep_of(turns, pairs), Precision::kDouble, machine)) {
      found.push_back(each.nanoseconds / kSecond);
      found.push_back(each.instructions);
    }
    return found;
  };
  EXPECT_EQ(costs(2, 1), (std::vector<double>{2, 3, 2, 3, 4, 12}));
  const std::vector<double> few = costs(7, 1);
  EXPECT_EQ(few.front(), 1);
  EXPECT_EQ(few.back(), 30);
}

TEST(LaneCosts, StepsCostTheCheaperWayAsAWhole) {
  const Machine machine = lane_machine();
  const auto cost = [&](std::size_t turns) {
    std::vector<Element> elements(turns + 1);
    for (std::size_t i = 0; i < turns; ++i) {
      elements[i].act_on(bit_mask(0));
      elements[i].matrix.assign({Complex(0.6), Complex(0, 0.8), Complex(0, 0.8), Complex(0.6)});
    }
    elements[turns].act_on(low_mask(2));
    return steps_cost(elements, machine.cost_double, 4) / kSecond;
  };
  EXPECT_NEAR(cost(5), 14, 1e-9);
  EXPECT_NEAR(cost(7), 17, 1e-9);
}

std::string h200() {
  for (const auto& machine : detail::built_in_machines()) {
    if (machine.name == "h200") return std::string(machine.json);
  }
  return {};
}

TEST(LaneCosts, AreReadFromTheMachinesFile) {
  nlohmann::json json = nlohmann::json::parse(h200());
  nlohmann::json& table = json["cost"]["double"];
  table["lanes"] = {{"pair", 700}, {"pair_instructions", 130}, {"rest", 2}};
  const CostTable cost = detail::parse_machine(json.dump(), "test").cost_double;
  ASSERT_TRUE(cost.lanes && cost.lanes_instructions);
  EXPECT_EQ(cost.lanes->matrix_dense[2], 700);
  EXPECT_EQ(cost.lanes_instructions->matrix_dense[2], 130);
  for (const auto form : {&FormCosts::matrix1_general, &FormCosts::matrix1_real, &FormCosts::butterfly,
                          &FormCosts::flip, &FormCosts::phases, &FormCosts::phase_term, &FormCosts::regroup,
                          &FormCosts::pair_entry, &FormCosts::controlled_entry}) {
    EXPECT_EQ((*cost.lanes).*form, 2 * cost.*form);
    EXPECT_EQ((*cost.lanes_instructions).*form, cost.instructions.*form);
  }
  EXPECT_EQ(cost.lanes->matrix_dense[3], 2 * cost.matrix_dense[3]);
  EXPECT_EQ(cost.lanes_instructions->matrix_dense[3], cost.instructions.matrix_dense[3]);
  EXPECT_FALSE(detail::parse_machine(h200(), "test").cost_single.lanes);

  for (const char* key : {"pair", "pair_instructions", "rest"}) {
    nlohmann::json without = json;
    without["cost"]["double"]["lanes"].erase(key);
    EXPECT_THROW(detail::parse_machine(without.dump(), "test"), UsageError) << key;
    without["cost"]["double"]["lanes"][key] = -1;
    EXPECT_THROW(detail::parse_machine(without.dump(), "test"), UsageError) << key;
  }
  table["lanes"]["other"] = 1;
  EXPECT_THROW(detail::parse_machine(json.dump(), "test"), UsageError);
}

// A few blocks among other steps are priced as the registers take them: the plan is the one of a machine without lanes.
TEST(LaneCosts, SweepsWithFewBlocksArePlannedAsWithoutLanes) {
  const Machine machine = find_machine("h200");
  Machine without = machine;
  without.cost_double.lanes.reset();
  PlanOptions options;
  options.start = Start::kZero;
  options.disabled_passes = {"straighten_axes"};  // which writes pairs as turns
  const Circuit random = generate("random", {24, 20, 1}), volume = generate("qv", {20, 8, 1});
  EXPECT_EQ(make_plan(random, machine, options), make_plan(random, without, options));
  EXPECT_NE(make_plan(volume, machine, options), make_plan(volume, without, options));
}

}  // namespace
}  // namespace qsim
