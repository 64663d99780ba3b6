// Cheaper forms of the steps of a sweep: controlled matrices between turns, and matrices on two targets that are mostly
// zeros. Planned for a GPU's costs, run by the interpreter, held against the circuit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/bits.h"
#include "plan/cost/machine.h"
#include "plan/dense/dense_product.h"
#include "plan/element/sweep_elements.h"
#include "plan/make/make_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

struct Forms {
  std::size_t controlled = 0, sparse_pairs = 0;
};

Forms forms_of(const Plan& plan) {
  Forms forms;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      for (const PlanOp& op : sweep.ops) {
        if (op.form != Form::kMatrix) continue;
        forms.controlled += op.target_count == 1 && op.control_mask != 0 ? 1 : 0;
        const auto matrix = std::span(sweep.matrices).subspan(op.data_begin, op.data_count);
        forms.sparse_pairs += op.target_count == 2 && std::ranges::count(matrix, Complex(0)) >= 8 ? 1 : 0;
      }
    }
  }
  return forms;
}

/// Angles of any size, exact ones and those next to them.
double angle_of(std::mt19937_64& random) {
  constexpr double kPi = 3.14159265358979323846;
  const double exact = kPi / 4 * static_cast<double>(random() % 16);
  switch (random() % 4) {
    case 0:
      return exact;
    case 1:
      return exact + std::pow(10.0, -1 - static_cast<double>(random() % 16));
    default:
      return 1e-3 * static_cast<double>(random() % 12566);
  }
}

/// Layers of gates on pairs, as fabrics and Trotter steps have them.
Circuit fabric(std::uint64_t seed, std::uint32_t qubits, int layers) {
  std::mt19937_64 random(seed);
  Circuit circuit(qubits);
  const auto kind = random() % 6;
  for (int layer = 0; layer < layers; ++layer) {
    for (Qubit q = static_cast<Qubit>(layer % 2); q + 1 < qubits; q += 2) {
      Qubit a = q, b = q + 1;
      if (random() % 2 == 0) std::swap(a, b);
      const double x = angle_of(random), y = angle_of(random), z = angle_of(random);
      switch (kind == 5 ? random() % 5 : kind) {
        case 0:
          circuit.cx(b, a);
          circuit.add_gate(Gate::kRy, {&a, 1}, {&b, 1}, {&x, 1});
          circuit.cx(b, a).rz(y, a);
          break;
        case 1:
          circuit.rzz(x, a, b).rxx(y, a, b).cz(a, b);
          break;
        case 2:
          circuit.rxx(x, a, b).ryy(y, a, b).rzz(z, a, b);
          break;
        case 3: {
          const std::array<double, 4> u{x, y, z, 0.3};
          if (random() % 2 == 0) {
            circuit.add_gate(Gate::kRx, {&a, 1}, {&b, 1}, {&x, 1}).h(a);
          } else {
            circuit.add_gate(Gate::kUPhase, {&a, 1}, {&b, 1}, u).h(b);
          }
          break;
        }
        default:
          circuit.h(b).rz(x, b).cz(a, b).rz(y, b).rx(z, b).p(x, a);
      }
    }
  }
  return circuit;
}

TEST(SweepForms, DoWhatTheStepsDid) {
  Forms all;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Circuit circuit = fabric(seed, 8, 6);
    PlanOptions options;
    options.tile_bits = 4 + seed % 3;
    options.start = Start::kState;
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    const Forms forms = forms_of(plan);
    all.controlled += forms.controlled;
    all.sparse_pairs += forms.sparse_pairs;
    const dense::State start = dense::random_state(8, seed);
    EXPECT_LE(dense::max_difference(test::interpret(plan, start), dense::run(circuit, start)),
              test::tolerance(Precision::kDouble, circuit.depth()))
        << seed;
    EXPECT_EQ(plan.rewrites_refused, 0U) << seed;
  }
  EXPECT_GT(all.controlled, 100U);
  EXPECT_GT(all.sparse_pairs, 100U);
}

Element turn(Bit wire, double angle) {
  Element element;
  element.act_on(bit_mask(wire));
  element.matrix = {std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)};
  return element;
}

Element phase(Index wires, double angle) {
  Element element;
  element.form = Form::kPhases;
  element.diagonal.mask = element.diagonal.value = wires;
  element.diagonal.angle = angle;
  return element;
}

// A condition holds for all phases of a choice only while none of its wires turns.
TEST(SweepForms, AConditionThatTurnsEndsAChoice) {
  const CostTable& cost = find_machine("h200").cost(Precision::kDouble);
  Element swap;  // of the condition with another wire
  swap.act_on(0b110);
  swap.matrix = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1};
  const auto changed = [&](const std::vector<Element>& between) {
    std::vector<Element> steps{turn(1, 0.2), turn(0, -0.4), phase(3, 1.1)};
    steps.insert(steps.end(), between.begin(), between.end());
    steps.push_back(phase(3, 2.0));
    steps.push_back(turn(0, 0.4));
    std::uint64_t refused = 0;
    return !recombine_controls(steps, cost, refused).empty();
  };
  EXPECT_TRUE(changed({}));
  EXPECT_TRUE(changed({turn(2, 0.3)}));
  EXPECT_TRUE(changed({phase(1, 3.14159265358979323846)})) << "a phase of the wire alone has no condition";
  EXPECT_FALSE(changed({turn(1, 0.3)}));
  EXPECT_FALSE(changed({swap}));
}

// Phases of every shape around a choice: products and parities, on 0 and 1, of the wire alone, of the condition alone.
TEST(SweepForms, AChoiceDoesWhatItsPhasesDid) {
  const CostTable& cost = find_machine("h200").cost(Precision::kDouble);
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Element> steps{turn(1, angle_of(random)), turn(2, angle_of(random)), turn(0, angle_of(random))};
    for (auto count = 1 + random() % 5; count > 0; --count) {
      const Index condition = seed % 3 == 0 ? 6 : 2, wires = random() % 3 == 0 ? 1 : 1 | condition;
      Element element = phase(wires, angle_of(random));
      Diagonal& diagonal = element.diagonal;
      switch (random() % 6) {
        case 0:
          diagonal.mask = diagonal.value = 0;
          diagonal.parity = wires;
          break;
        case 1:
          diagonal.value = random() % 8 & wires;
          break;
        case 2:
          diagonal.mask = diagonal.value = wires & ~Index{1};
          diagonal.parity = diagonal.mask == 0 ? 0 : 1;
          break;
        default:
          break;
      }
      if (diagonal.wires() != 0) steps.push_back(element);
      if (random() % 12 == 0) steps.push_back(turn(1 + random() % 2, angle_of(random)));
    }
    steps.push_back(turn(0, angle_of(random)));
    std::uint64_t refused = 0;
    const std::vector<Element> changed = recombine_controls(steps, cost, refused);
    EXPECT_EQ(refused, 0U) << seed;
    if (changed.empty()) continue;
    ++made;
    const auto matrix_of = [](const std::vector<Element>& elements) {
      std::vector<std::size_t> there;
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (!elements[i].gone) there.push_back(i);
      }
      return product_of(elements, there, 7);
    };
    const std::vector<Complex> now = matrix_of(changed), before = matrix_of(steps);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LE(std::abs(now[i] - before[i]), 1e-14) << seed;
  }
  EXPECT_GT(made, 200U);
}

TEST(SweepForms, NothingIsRefusedWhereNothingFits) {
  Circuit circuit(6);
  for (Qubit q = 0; q < 6; ++q) circuit.h(q);
  PlanOptions options;
  options.start = Start::kState;
  EXPECT_EQ(make_plan(circuit, find_machine("h200"), options).rewrites_refused, 0U);
}

// Phases behind a pair leave it as few numbers; a matrix from the middle of one to the middle of the next is full of
// them.
TEST(SweepForms, FieldsBetweenPairsCostNextToNothing) {
  const auto seconds = [](bool fields) {
    Circuit circuit(28);
    int pairs = 0;
    for (Qubit layer = 0; layer < 12; ++layer) {
      for (Qubit q = layer % 2; q + 1 < 28; q += 2) {
        circuit.rxx(0.3, q, q + 1).rzz(0.4 + 0.01 * (++pairs % 50), q, q + 1);
        if (fields) circuit.rz(0.37, q).rz(0.37, q + 1);
      }
    }
    PlanOptions options;
    options.start = Start::kRandom;
    return plan_work(make_plan(circuit, find_machine("h200"), options)).total_seconds;
  };
  EXPECT_LE(seconds(true), 1.05 * seconds(false));
}

TEST(SweepForms, NoSweepIsDearerForThem) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Circuit circuit = fabric(seed, 16, 8);
    PlanOptions options;
    options.tile_bits = 10;
    options.start = Start::kState;
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    options.disabled_passes = {"recombine_controls"};
    const Plan without = make_plan(circuit, find_machine("h200"), options);
    EXPECT_LE(plan_work(plan).total_seconds, 1.02 * plan_work(without).total_seconds) << seed;
  }
}

}  // namespace
}  // namespace qsim
