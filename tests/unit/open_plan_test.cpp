// Open angles: their numbers, the form of circuits that have them, and the plans whose numbers follow them.
#include "plan/program/open_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "circuit/gate_table.h"
#include "cpu/tile/tile_translation.h"
#include "optimizer/open/open_form.h"
#include "plan/make/make_plan.h"
#include "qsim/error.h"
#include "session/program_impl.h"
#include "support/dense.h"
#include "support/open_circuit.h"

namespace qsim {
namespace {

using std::numbers::pi;

const Parameter kA{"a"}, kB{"b"};

Circuit small_ansatz(std::uint32_t qubits = 5, std::size_t layers = 3) {
  Circuit circuit(qubits);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (Qubit q = 0; q < qubits; ++q) {
      circuit.ry(Parameter{std::to_string(circuit.parameters().size())}, q);
      circuit.rz(Parameter{std::to_string(circuit.parameters().size())}, q);
    }
    for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cx(q, q + 1);
  }
  return circuit;
}

std::vector<double> ordinary_values(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(0.37 * static_cast<double>(i + 1) + 0.011);
  return values;
}

// Bit for bit, whatever the size: an angle is rounded once, where it is bound.
TEST(OpenAngles, AreWhatBindingMakesThem) {
  Circuit circuit(1);
  circuit.rx(0.3 * Angle(kA) + kB + 1e-3, 0).u(kA, -1.0 * Angle(kB), 250 * Angle(kA) - 17.0, 0).p(kA, 0);
  const OpenAngles angles(circuit);
  ASSERT_EQ(angles.size(), 4u) << "a is one angle, though it stands twice";
  for (const std::array<double, 2> values :
       {std::array{0.0, 0.0}, {1e15, -1e6}, {pi, 2 * pi}, {1e-300, 4 * pi}, {-3e8, 0.1}}) {
    const std::vector<double> bound = angles.bound(values);
    const Circuit fixed = circuit.bind(values);
    for (std::size_t i = 0; i < circuit.operations().size(); ++i) {
      const Operation& op = circuit.operations()[i];
      for (std::size_t j = 0; j < circuit.params(op).size(); ++j) {
        const std::int64_t number = angles.number(op.param_begin + j);
        ASSERT_GE(number, 0);
        EXPECT_EQ(bound[static_cast<std::size_t>(number)], fixed.params(fixed.operations()[i])[j]);
      }
    }
  }
  const double most = std::numeric_limits<double>::max();
  EXPECT_THROW(angles.bound(std::array{most, 0.0}), UsageError);
}

// Global phases included, since controls and amplitudes tell them apart.
TEST(OpenForm, MeansTheSameForEveryGateUnderEveryNumberOfControls) {
  for (const GateInfo& info : gate_table()) {
    if (info.params == 0 || info.gate == Gate::kU0) continue;
    for (std::uint32_t controls = 0; controls < 3; ++controls) {
      for (int open = 0; open < 1 << info.params; ++open) {
        const auto targets = static_cast<std::uint32_t>(info.targets);
        Circuit circuit(targets + controls);
        std::vector<ControlQubit> on;
        std::vector<Qubit> qubits;
        for (Qubit q = 0; q < targets; ++q) qubits.push_back(q);
        for (Qubit q = targets; q < targets + controls; ++q) on.emplace_back(q);
        std::vector<Angle> list;
        for (int i = 0; i < info.params; ++i) {
          list.push_back(0.4 + i);
          if ((open >> i & 1) != 0) list.back() = list.back() + Parameter{std::string(1, static_cast<char>('a' + i))};
        }
        circuit.apply(info.gate, on, qubits, list);
        const OpenAngles angles(circuit);
        const std::vector<double> values(circuit.parameters().size(), 0.7);
        const Rewritten form = open_form(circuit, angles, angles.bound(values));
        const Circuit written =
            form.circuit.bind(std::vector<double>(angles.size(), 0.0));  // the constants are the point
        const dense::State start = dense::random_state(targets + controls, 3);
        EXPECT_LE(dense::max_difference(dense::run(written, start), dense::run(circuit.bind(values), start)), 1e-14)
            << info.name << " with " << controls << " controls, open " << open;
      }
    }
  }
}

TEST(OpenNumbers, AddAndScaleWhatFollowsAngles) {
  OpenNumbers numbers;
  const OpenAngle a = numbers.multiple(0.5, 0, 1), b = numbers.multiple(0.25, 1, -2);
  const OpenAngle sum = numbers.added(numbers.added(a, 1.0), numbers.negated(b));
  EXPECT_DOUBLE_EQ(sum.value, 1.25);
  const OpenAngle all = numbers.total(std::array{sum, a, OpenAngle(0.5)});
  const std::vector<double> values = numbers.values(std::array{3.0, 0.125});
  EXPECT_DOUBLE_EQ(values[sum.sum - 1], 4.25 - 2 * pi);
  EXPECT_DOUBLE_EQ(values[all.sum - 1], 7.75 - 2 * pi);
  EXPECT_EQ(numbers.added(1.0, 2.0).sum, 0u) << "fixed angles stay fixed";
  const std::uint32_t product = numbers.product(
      std::array{OpenFactor{0, true, {0, 1, 1, 0}}, OpenFactor{a.sum, true, {}}, OpenFactor{a.sum, false, {}}});
  const auto matrix = numbers.matrix(product, values);
  const Complex turn = std::polar(1.0, 3.0);
  EXPECT_LE(std::abs(matrix[1] - turn) + std::abs(matrix[2] - turn) + std::abs(matrix[0]) + std::abs(matrix[3]), 1e-15);
}

TEST(OpenPlan, IsComparedNumberByNumber) {
  const Circuit circuit = small_ansatz();
  const OpenAngles angles(circuit);
  const Machine machine = find_machine("cpu");
  const auto plan = OpenPlan::make(circuit, angles, machine, {});
  ASSERT_TRUE(plan);
  const std::vector<double> point = angles.generic(5);
  const Plan at = *plan->at(point);
  Plan made = make_open_plan(circuit, angles, point, machine, {});
  ASSERT_FALSE(made.open.empty());
  std::exchange(made.open, {}).keep_used(made);  // numbered as the plan's are
  EXPECT_TRUE(same_plans(at, made));
  EXPECT_FALSE(same_plans(*plan->shape(), made));
  Sweep& sweep = made.stages[0].sweeps[0];
  ASSERT_FALSE(sweep.matrices.empty());
  sweep.matrices[0] += 1e-9;
  EXPECT_FALSE(same_plans(at, made));
  sweep.matrices[0] -= 1e-9;
  EXPECT_TRUE(same_plans(at, made));
  sweep.births.at(0).factor[1] += 1e-9;
  EXPECT_FALSE(same_plans(at, made));
}

// Whatever differs but by rounding makes another plan of it.
TEST(OpenPlan, IsComparedWithItsExchanges) {
  const Circuit circuit = small_ansatz(12, 4);
  const OpenAngles angles(circuit);
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  machine.low_bits = 0;
  PlanOptions options;
  options.rank_bits = 2;
  options.tile_bits = 4;
  const Plan plan = make_open_plan(circuit, angles, angles.generic(3), machine, options);
  const auto last = std::ranges::find_if(plan.stages.rbegin(), plan.stages.rend(),
                                         [](const Stage& stage) { return stage.exchange.has_value(); });
  ASSERT_NE(last, plan.stages.rend());
  const auto number = static_cast<std::size_t>(plan.stages.rend() - last) - 1;
  const auto same_after = [&](const std::function<void(Plan&, Stage&)>& change) {
    Plan changed = plan;
    change(changed, changed.stages[number]);
    const bool same = same_plans(plan, changed);
    EXPECT_EQ(same, same_plans(changed, plan));
    return same;
  };
  EXPECT_TRUE(same_after([](Plan&, Stage&) {}));
  EXPECT_TRUE(same_after([](Plan& p, Stage&) { p.stages[0].sweeps[0].matrices.at(0) += 5e-12; }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { p.stages[0].sweeps[0].matrices.at(0) += 5e-11; }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { ++p.qubits; }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { ++p.rank_bits; }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { std::swap(p.initial_layout.bit_of[0], p.initial_layout.bit_of[1]); }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { std::swap(p.final_layout.bit_of[0], p.final_layout.bit_of[1]); }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { p.global_start.at(0) += 1e-9; }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { p.stages.pop_back(); }));
  EXPECT_FALSE(same_after([](Plan& p, Stage&) { p.stages[0].sweeps[0].births.at(0).bit += 1; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { s.exchange.reset(); }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { s.exchange->swaps.at(0).first += 1; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { s.exchange->chunk_mask ^= 1; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { s.exchange->unborn ^= 1; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { ++s.exchange->overlap_before; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { ++s.exchange->overlap_after; }));
  EXPECT_FALSE(same_after([](Plan&, Stage& s) { std::swap(s.layout.bit_of[0], s.layout.bit_of[1]); }));
}

// A plan that follows the wrong angles is not that of another point.
TEST(OpenPlan, FollowsEachAngle) {
  const Circuit circuit = small_ansatz();
  const OpenAngles angles(circuit);
  const auto plan = OpenPlan::make(circuit, angles, find_machine("cpu"), {});
  ASSERT_TRUE(plan);
  const std::vector<double> point = angles.generic(5);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    std::vector<double> other = point;
    other[i] += 0.1;
    EXPECT_FALSE(same_plans(*plan->at(point), *plan->at(other))) << i;
    other[i] = point[i] + 4 * pi;
    EXPECT_TRUE(same_plans(*plan->at(point), *plan->at(other))) << i;
  }
}

TEST(OpenPlan, CountsTheGatesOfTheCircuit) {
  const Circuit circuit = small_ansatz();
  const OpenAngles angles(circuit);
  const Plan plan = make_open_plan(circuit, angles, angles.generic(1), find_machine("cpu"), {});
  EXPECT_EQ(plan.gates, circuit.operation_count());
}

void expect_same(const cpu::TileProgram<double>& a, const cpu::TileProgram<double>& b) {
  EXPECT_EQ(a.load_offsets, b.load_offsets);
  EXPECT_EQ(a.store_offsets, b.store_offsets);
  EXPECT_EQ(a.coefficients, b.coefficients);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.passes.size(), b.passes.size());
  ASSERT_EQ(a.ops.size(), b.ops.size());
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    EXPECT_EQ(a.ops[i].kind, b.ops[i].kind);
    EXPECT_EQ(a.ops[i].data, b.ops[i].data);
    EXPECT_EQ(a.ops[i].vectors, b.ops[i].vectors);
  }
  EXPECT_EQ(a.scale, b.scale);
}

// Angles of 0 and pi make other items of the matrices: then the passes are chosen again.
TEST(CpuTile, ATranslationAfterAnotherIsTheOneAlone) {
  const Circuit circuit = small_ansatz(7, 4);
  const OpenAngles angles(circuit);
  const auto plan = OpenPlan::make(circuit, angles, find_machine("cpu"), {});
  ASSERT_TRUE(plan);
  const auto sweep_at = [&](std::span<const double> point) {
    const auto at = plan->at(point);
    return specialize(at->stages[0].sweeps[0], *at, 0);
  };
  const auto generic = cpu::translate_sweep<double>(sweep_at(angles.generic(1)), 7, 2, 3);
  for (const double angle : {0.4, 0.0, pi, 0.5 * pi, 1e-12}) {
    std::vector<double> point = angles.generic(2);
    for (std::size_t i = 0; i < point.size(); i += 3) point[i] = angle;
    const Sweep sweep = sweep_at(point);
    expect_same(cpu::translate_sweep<double>(sweep, 7, 2, 3, &generic), cpu::translate_sweep<double>(sweep, 7, 2, 3));
  }
}

std::shared_ptr<Program::Impl> program_of(const Circuit& circuit) {
  Target target;
  target.backend = BackendKind::kCpu;
  return make_program(circuit, target, find_machine("cpu"), {});
}

TEST(Program, PutsTheSecondValuesIntoOnePlan) {
  const Circuit circuit = small_ansatz();
  const auto program = program_of(circuit);
  std::vector<double> values = ordinary_values(circuit.parameters().size());
  const ShapedPlan first = program->plan(values, nullptr, Program::Impl::Use::kLook);
  EXPECT_EQ(first.shape, nullptr) << "one set of values is planned for itself";
  EXPECT_EQ(program->plan(values, nullptr).plan, first.plan);
  values[0] += 1;
  const ShapedPlan second = program->plan(values, nullptr);
  ASSERT_NE(second.shape, nullptr);
  EXPECT_EQ(program->plan(values, nullptr).plan, second.plan);
  values[0] = 0;
  const ShapedPlan third = program->plan(values, nullptr);
  EXPECT_EQ(third.shape, second.shape);
  EXPECT_NE(third.plan, second.plan);
  const Layout other{{1, 0, 2, 3, 4}};
  EXPECT_EQ(program->plan(values, &other).shape, nullptr) << "a state that lies elsewhere is another start";
}

TEST(Program, ValuesThatComeBackArePlannedForThemselves) {
  const Circuit circuit = small_ansatz();
  const auto program = program_of(circuit);
  std::vector<double> values = ordinary_values(circuit.parameters().size());
  const ShapedPlan once = program->plan(values, nullptr);
  EXPECT_TRUE(once.plan->stages.back().sweeps.back().once);
  const ShapedPlan again = program->plan(values, nullptr);
  EXPECT_EQ(again.shape, nullptr);
  EXPECT_FALSE(again.plan->stages.back().sweeps.back().once);
  EXPECT_EQ(program->plan(values, nullptr).plan, again.plan);
  values[0] += 1;
  EXPECT_NE(program->plan(values, nullptr).shape, nullptr);
}

// Where sweeps take longer than planning does, values for which a plan may be far shorter are planned for.
TEST(Program, PlansForSpecialValuesOfLargeStates) {
  const Circuit circuit = small_ansatz(24, 2);
  const auto program = program_of(circuit);
  const std::vector<double> ordinary = ordinary_values(circuit.parameters().size());
  std::vector<double> values = ordinary;
  program->plan(values, nullptr);
  values[3] = pi / 2;
  EXPECT_EQ(program->plan(values, nullptr).shape, nullptr);
  values[3] = -values[5];
  EXPECT_EQ(program->plan(values, nullptr).shape, nullptr);
  values[3] = ordinary[3] + 1e-3;
  EXPECT_NE(program->plan(values, nullptr).shape, nullptr);
}

TEST(Program, RefusesValuesThatAreNone) {
  const Circuit circuit = small_ansatz();
  const auto program = program_of(circuit);
  std::vector<double> values = ordinary_values(circuit.parameters().size());
  program->plan(values, nullptr);
  EXPECT_THROW(program->plan(std::span(values).first(3), nullptr), UsageError);
  values[2] = std::nan("");
  EXPECT_THROW(program->plan(values, nullptr), UsageError);
  values[2] = 0.5;
  EXPECT_NE(program->plan(values, nullptr).shape, nullptr) << "a refusal leaves the program as it was";
}

}  // namespace
}  // namespace qsim
