// Where every qubit is 0 at the start, ancillas that are given back are 0 again each time: what is recognised by that
// is right from there, and made nowhere else. Each way to a plan is held against a naive simulation, with states that
// begin elsewhere.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/program/open_plan.h"
#include "plan/program/planned_circuit.h"
#include "qasm3/read.h"
#include "qsim/batch.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "qsim/session.h"
#include "simulator/simulator.h"
#include "support/ancilla_circuit.h"
#include "support/branching.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/flow_interpreter.h"
#include "support/open_circuit.h"
#include "support/outcomes.h"
#include "support/passes.h"
#include "support/plan_interpreter.h"
#include "support/simulate.h"
#include "support/test_backend.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using test::recognise_lightest;

double difference(const Circuit& a, const Circuit& b, const dense::State& start) {
  return dense::max_difference(dense::run(a, start), dense::run(b, start));
}
double tolerance(const Circuit& circuit) {
  return test::rounding_tolerance(Precision::kDouble, circuit.operations().size());
}

bool from_zero(const Circuit& circuit, Rewritten& result) {
  std::vector<Rewritten> found = recognise_permutations(circuit, true);
  if (found.empty()) return false;
  result = std::move(found.front());
  return true;
}

/// How far what is recognised from |0...0> is from the circuit on any state; nothing where nothing is recognised.
double elsewhere(const Circuit& circuit) {
  Rewritten zero;
  if (!from_zero(circuit, zero)) return 0;
  return difference(circuit, zero.circuit, dense::random_state(circuit.qubits(), 1));
}

/// Circuits of which something else is recognised from |0...0>: a plan that takes that from elsewhere is wrong.
std::vector<Circuit> telling_circuits(std::size_t count, std::uint32_t qubits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Circuit> circuits;
  while (circuits.size() < count) {
    Circuit circuit = test::busy_ancillas({.qubits = qubits}, random);
    if (elsewhere(circuit) > 1e-2) circuits.push_back(std::move(circuit));
  }
  return circuits;
}

void append(Circuit& circuit, const Circuit& part) {
  for (const Operation& op : part.operations()) circuit.append(part, op);
}

TEST(PermutationsFromZero, AncillasThatAreGivenBackAreOneFlip) {
  for (unsigned controls = 3; controls <= 5; ++controls) {
    for (const bool relative : {false, true}) {
      Circuit circuit(2 * controls - 1);
      for (Qubit q = 0; q < controls; ++q) circuit.ry(0.3 + 0.2 * q, q);
      const std::size_t turns = circuit.operations().size();
      test::append_chain(circuit, controls, relative ? test::append_margolus : test::append_toffoli,
                         test::append_toffoli);
      Rewritten zero, any;
      ASSERT_TRUE(from_zero(circuit, zero));
      EXPECT_LE(difference(circuit, zero.circuit, dense::zero_state(circuit.qubits())), tolerance(circuit));
      EXPECT_LE(zero.circuit.operations().size(), turns + 1) << controls << relative;
      // From any other state the ancillas may be anything.
      ASSERT_TRUE(recognise_lightest(circuit, any));
      const dense::State start = dense::random_state(circuit.qubits(), 3);
      EXPECT_LE(difference(circuit, any.circuit, start), tolerance(circuit));
      EXPECT_GT(difference(circuit, zero.circuit, start), 1e-3);
    }
  }
}

TEST(PermutationsFromZero, RandomCircuitsStayWhatTheyAreFromZero) {
  const test::Campaign campaign(1500);
  std::uint64_t differ = 0;
  for (std::uint64_t i = campaign.first; i < campaign.first + campaign.count; ++i) {
    std::mt19937_64 random(i);
    const auto qubits = static_cast<std::uint32_t>(6 + i % 4);
    const Circuit circuit = test::busy_ancillas({.qubits = qubits, .pieces = 4 + static_cast<unsigned>(i % 9)}, random);
    Rewritten zero, any;
    const bool found = from_zero(circuit, zero);
    const bool found_any = recognise_lightest(circuit, any);
    const dense::State start = dense::random_state(circuit.qubits(), i);
    if (found) {
      ASSERT_LE(difference(circuit, zero.circuit, dense::zero_state(circuit.qubits())), tolerance(circuit)) << i;
      differ += difference(circuit, zero.circuit, start) > 1e-3 ? 1 : 0;
    }
    if (found_any) {
      ASSERT_LE(difference(circuit, any.circuit, start), tolerance(circuit)) << i;
    }
  }
  EXPECT_GT(differ, campaign.count / 15);  // or nothing was shown
}

TEST(PermutationsFromZero, OnlyPlansThatKnowZerosTakeIt) {
  const Machine machine = find_machine("h200");
  std::uint32_t number = 0;
  for (const Circuit& circuit : telling_circuits(30, 7, 12)) {
    const dense::State state = dense::random_state(circuit.qubits(), ++number);
    for (const Strategy strategy : {Strategy::kSearch, Strategy::kGreedy, Strategy::kNaive}) {
      for (const Start start : {Start::kZero, Start::kRandom, Start::kState}) {
        PlanOptions options;
        options.strategy = strategy;
        options.rank_bits = number % 3;
        options.tile_bits = 4;
        options.start = start;
        options.known_zeros = number % 5 != 0;
        const bool zero = start == Start::kZero;
        const dense::State found = test::interpret(make_plan(circuit, machine, options), zero ? dense::State{} : state);
        const dense::State wanted = zero ? dense::run(circuit) : dense::run(circuit, state);
        ASSERT_LE(dense::max_difference(found, wanted), tolerance(circuit)) << number;
      }
    }
  }
}

// One program, from |0...0> and from states that another circuit has left, in either order.
TEST(PermutationsFromZero, ProgramsOnHeldStatesDoNotTakeIt) {
  for (const int ranks : {1, 2, 4}) {
    Target target = test::run_options();
    target.ranks = ranks;
    Session session(target);
    const std::vector<Circuit> circuits = telling_circuits(12, 8, 21);
    State held = session.run(circuits.back());
    dense::State wanted = dense::run(circuits.back());
    const double allowed = test::tolerance(Precision::kDouble, 10);
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      SCOPED_TRACE("circuit " + std::to_string(i) + ", " + std::to_string(ranks) + " ranks");
      const Program program = session.compile(circuits[i]);
      const auto from_zero = [&] {
        State fresh = session.run(program);
        EXPECT_LE(dense::max_difference(fresh.amplitudes(0, 256), dense::run(circuits[i])), allowed);
      };
      if (i % 2 == 0) from_zero();
      if (i % 3 == 0) {  // ancillas that are 1
        held.set(0xF0);
        wanted.assign(wanted.size(), 0);
        wanted[0xF0] = 1;
      }
      for (int times = 0; times < 2; ++times) {
        held.run(program);
        wanted = dense::run(circuits[i], wanted);
        ASSERT_LE(dense::max_difference(held.amplitudes(0, 256), wanted), allowed);
      }
      from_zero();
    }
  }
}

TEST(PermutationsFromZero, TheWayBackDoesNotTakeIt) {
  std::uint32_t number = 0;
  for (const Circuit& circuit : telling_circuits(20, 7, 31)) {
    RunOptions options = test::run_options();
    options.verify = Verify::kFull;  // throws where the circuit and its inverse do not give the start state
    if (++number % 4 == 0) options.start = Start::kRandom;
    for (Index i = 0; i < 128; ++i) options.amplitude_indices.push_back(i);
    const Result result = simulate(circuit, options, 1 << number % 3);
    if (options.start == Start::kRandom) continue;
    const dense::State wanted = dense::run(circuit);
    for (const AmplitudeEntry& entry : result.results.amplitudes.value()) {
      ASSERT_LE(std::abs(entry.value - wanted[entry.index]), test::tolerance(Precision::kDouble, 10));
    }
  }
}

// What comes after a measurement, a reset or a condition begins anywhere.
TEST(PermutationsFromZero, LaterPartsDoNotTakeIt) {
  const std::vector<Circuit> parts = telling_circuits(24, 6, 41);
  for (std::size_t i = 0; i + 3 < parts.size(); i += 4) {
    for (const bool random : {false, true}) {
      Circuit circuit(6, 3);
      append(circuit, parts[i]);
      circuit.add_measure(1, 0);
      append(circuit, parts[i + 1]);
      circuit.when({0, 1, false})->x(5).ccx(0, 1, 4);
      {
        const auto later = circuit.when({0, 0, false});
        append(*later, parts[i + 2]);
      }
      circuit.add_reset(0);
      append(circuit, parts[i + 3]);
      for (Qubit q = 3; q < 6; ++q) circuit.add_measure(q, q - 3);
      RunOptions options = test::run_options();
      options.start = random ? Start::kRandom : Start::kZero;
      options.verify = i % 8 == 0 ? Verify::kFull : Verify::kNorm;
      options.distribution = options.marginals = true;
      options.shots = 0;
      const branching::State start =
          random ? branching::random_start(6, options.start_seed, options.precision) : branching::zero_state(6);
      const branching::Answers wanted = branching::walk(circuit, start);
      const Result result = simulate(circuit, options, 1 << i % 3);
      const auto found = test::by_text(*result.results.distribution, circuit.cregs());
      for (const auto& [bits, p] : wanted.distribution) {
        EXPECT_NEAR(found.contains(bits) ? found.at(bits) : 0, p, 1e-10) << bits;
      }
      for (Qubit q = 0; q < 6; ++q) EXPECT_NEAR(result.results.marginals->at(q), wanted.marginals[q], 1e-10);
    }
  }
}

// The block of a loop comes first from |0...0>, and then again from what it left.
TEST(PermutationsFromZero, BlocksThatComeAgainDoNotTakeIt) {
  const std::string toffoli =
      "gate tof a, b, u { h u; cx b, u; tdg u; cx a, u; t u; cx b, u; tdg u; cx a, u; t b; t u; h u; cx a, b; t a; "
      "tdg b; cx a, b; }\n";
  const std::string text = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n" + toffoli +
                           "qubit[5] q; bit c; bit[5] out; int[8] n = 0;\n"
                           "while (n < 3) {\n"
                           "  tof q[0], q[1], q[3]; tof q[2], q[3], q[4]; tof q[0], q[1], q[3];\n"
                           "  ry(0.7) q[0]; ry(1.1) q[1]; h q[2]; cx q[0], q[3];\n"
                           "  c = measure q[4]; if (c) { ry(0.4) q[3]; }\n"
                           "  n += 1;\n"
                           "}\nout = measure q;\n";
  RunOptions options = test::run_options();
  options.distribution = true;
  options.shots = 0;
  const Result result = simulate(parse_qasm(text).circuit, options);
  std::map<std::string, double> found = test::by_text(*result.results.distribution);
  double sum = 0;
  for (const auto& [bits, p] : test::register_distribution(parse_flow(text))) {
    EXPECT_NEAR(found[bits], p, 1e-11) << bits;
    sum += p;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

/// Circuits of which, with their angles open, something else is recognised from |0...0>.
std::vector<Circuit> telling_open_circuits(std::size_t count, std::uint32_t qubits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Circuit> circuits;
  while (circuits.size() < count) {
    Circuit circuit = test::busy_ancillas({.qubits = qubits, .open = true}, random);
    if (circuit.parameters().size() == 2 && elsewhere(circuit.bind(std::vector<double>{0.37, 1.91})) > 1e-2) {
      circuits.push_back(std::move(circuit));
    }
  }
  return circuits;
}

TEST(PermutationsFromZero, OpenPlansTakeItForAllValuesOrNot) {
  const Machine machine = find_machine("h200");
  int made = 0;
  std::uint32_t number = 0;
  for (const Circuit& circuit : telling_open_circuits(40, 7, 51)) {
    ++number;
    PlanOptions options;
    options.rank_bits = number % 3;
    options.tile_bits = 4;
    const bool held = number % 2 == 0;
    if (held) {
      options.start = Start::kState;
      options.known_zeros = number % 4 == 0;
      options.initial_layout = Layout::identity(7);
    }
    const OpenAngles angles(circuit);
    const std::optional<OpenPlan> plan = OpenPlan::make(circuit, angles, machine, options);
    if (!plan) continue;
    ++made;
    const dense::State start = held ? dense::random_state(7, number) : dense::zero_state(7);
    for (std::uint64_t values = 0; values < 6; ++values) {
      const std::vector<double> point = test::surprising_values(2, values);
      const std::shared_ptr<const Plan> at = plan->at(angles.bound(point));
      const dense::State found = test::interpret(*at, held ? start : dense::State());
      ASSERT_LE(dense::max_difference(found, dense::run(circuit.bind(point), start)),
                test::tolerance(Precision::kDouble, 10))
          << number << ", values " << values;
    }
  }
  EXPECT_GE(made, 35);
}

TEST(PermutationsFromZero, NewValuesOnHeldStatesDoNotTakeIt) {
  for (const int ranks : {1, 2}) {
    Target target = test::run_options();
    target.ranks = ranks;
    Session session(target);
    for (const Circuit& circuit : telling_open_circuits(6, 8, 61)) {
      const Program program = session.compile(circuit);
      State held = session.state(8);
      held.set(0xF0);
      dense::State wanted(256);
      wanted[0xF0] = 1;
      for (std::uint64_t step = 0; step < 5; ++step) {
        const std::vector<double> values = test::surprising_values(2, step);
        State fresh = session.run(program, values);
        ASSERT_LE(dense::max_difference(fresh.amplitudes(0, 256), dense::run(circuit.bind(values))),
                  test::tolerance(Precision::kDouble, 10));
        held.run(program, values);
        wanted = dense::run(circuit.bind(values), wanted);
        ASSERT_LE(dense::max_difference(held.amplitudes(0, 256), wanted), test::tolerance(Precision::kDouble, 50));
      }
    }
  }
}

// Batches begin at |0...0> and states that are compared are made there.
TEST(PermutationsFromZero, BatchesAndComparedStatesAreWhatTheyAre) {
  BatchOptions options;
  options.target = test::run_options();
  options.states = true;
  const std::vector<Circuit> circuits = telling_circuits(6, 7, 71);
  std::vector<dense::State> wanted;
  for (const Circuit& circuit : circuits) {
    wanted.push_back(dense::run(circuit));
    const BatchResult found = run_batch(circuit, {}, options, 2);
    for (const std::size_t first : {0, 128}) {
      const auto begin = found.states.begin() + static_cast<std::ptrdiff_t>(first);
      EXPECT_LE(dense::max_difference({begin, begin + 128}, wanted.back()), test::tolerance(Precision::kDouble, 10));
    }
  }
  const GramResult products = gram(circuits, options.target);
  for (std::size_t i = 0; i < circuits.size(); ++i) {
    for (std::size_t j = 0; j < circuits.size(); ++j) {
      Complex product = 0;
      for (std::size_t k = 0; k < 128; ++k) product += std::conj(wanted[i][k]) * wanted[j][k];
      EXPECT_LE(std::abs(products.at(i, j) - product), test::tolerance(Precision::kDouble, 10));
    }
  }
}

}  // namespace
}  // namespace qsim
