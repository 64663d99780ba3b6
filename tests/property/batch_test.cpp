// Batches of random circuits with open angles of every gate against each evaluation gate by gate.
#include "qsim/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "circuit/gate_table.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/dense.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

Angle random_angle(PhiloxSequence& random, std::uint32_t parameters) {
  if (random.below(3) == 0) return random.uniform(-3, 3);
  Angle sum = random.below(2) == 0 ? 0 : random.uniform(-1, 1);
  for (std::uint64_t terms = 1 + random.below(3) / 2; terms > 0; --terms) {
    const double factor = random.below(2) == 0 ? 1 : random.uniform(-2, 2);
    sum = sum + factor * Parameter{"p" + std::to_string(random.below(parameters))};
  }
  return sum;
}

/// Every gate of the table, controls on 0 and on 1, rotations about Pauli strings.
Circuit random_open(std::uint32_t qubits, int gates, std::uint32_t parameters, PhiloxSequence& random) {
  Circuit circuit(qubits);
  for (int g = 0; g < gates; ++g) {
    std::vector<Qubit> order;
    for (Qubit q = 0; q < qubits; ++q) order.push_back(q);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const std::size_t row = random.below(kGateCount + 2);
    const bool rotates = row >= kGateCount;
    const GateInfo& info = gate_table()[rotates ? 0 : row];
    const std::size_t targets =
        rotates ? 1 + random.below(std::min(qubits, 4u)) : static_cast<std::size_t>(info.targets);
    if (targets > std::min(qubits, rotates ? 4u : 3u)) continue;
    std::vector<ControlQubit> controls;
    for (std::size_t c = random.below(std::min<std::uint64_t>(4, qubits - targets + 1)); c > 0; --c) {
      controls.push_back({order[targets + c - 1], random.below(2) == 0});
    }
    const auto on = std::span(order).first(targets);
    if (rotates) {
      std::string letters;
      for (std::size_t t = 0; t < targets; ++t) letters += "XYZ"[random.below(3)];
      circuit.add_pauli_rotation(random_angle(random, parameters), letters, on);
      continue;
    }
    std::vector<Angle> angles;
    for (int p = 0; p < info.params; ++p) {
      angles.push_back(info.gate == Gate::kU0 ? Angle(1) : random_angle(random, parameters));
    }
    circuit.apply(info.gate, controls, on, angles);
  }
  for (std::uint32_t p = 0; p < parameters; ++p) circuit.rx(Parameter{"p" + std::to_string(p)}, 0);  // all are there
  return circuit;
}

BatchOptions on_cpu(Precision precision) {
  BatchOptions options;
  options.target.backend = BackendKind::kCpu;
  options.target.precision = precision;
  options.states = true;
  return options;
}

/// The states, and marginals and outcomes of batches with and without them.
void expect_evaluations(const Circuit& circuit, const std::vector<double>& values, const BatchOptions& options,
                        double slack) {
  const std::size_t parameters = circuit.parameters().size(), size = std::size_t{1} << circuit.qubits();
  const BatchResult batch = run_batch(circuit, values, options);
  BatchOptions probabilities = options;
  probabilities.states = false;
  const BatchResult without = run_batch(circuit, values, probabilities);
  for (std::size_t e = 0; e < batch.evaluations; ++e) {
    const std::vector<Complex> alone = dense::run(circuit.bind(std::span(values).subspan(e * parameters, parameters)));
    std::vector<double> marginals(circuit.qubits());
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_LT(std::abs(batch.states[e * size + i] - alone[i]), slack) << "evaluation " << e << ", amplitude " << i;
      for (Qubit q = 0; q < circuit.qubits(); ++q) marginals[q] += (i >> q & 1) != 0 ? std::norm(alone[i]) : 0;
    }
    for (Qubit q = 0; q < circuit.qubits(); ++q) {
      ASSERT_NEAR(batch.marginals[e * circuit.qubits() + q], marginals[q], slack) << "evaluation " << e;
      ASSERT_NEAR(without.marginals[e * circuit.qubits() + q], marginals[q], slack) << "evaluation " << e;
    }
  }
}

class BatchProperty : public testing::TestWithParam<Precision> {};

TEST_P(BatchProperty, EveryGateWithOpenAngles) {
  for (std::uint32_t qubits = 1; qubits <= 12; ++qubits) {
    for (std::uint64_t seed = 0; seed < (qubits < 7 ? 12u : 2u); ++seed) {
      SCOPED_TRACE(testing::Message() << qubits << " qubits, seed " << seed);
      PhiloxSequence random(seed, qubits);
      const Circuit circuit = random_open(qubits, 30, 4, random);
      std::vector<double> values(4 * (qubits < 7 ? 19 : 3));  // no whole number of lane groups
      for (double& value : values) value = random.uniform(-7, 7);
      for (std::size_t i = 0; i < 4; ++i) values[i] = static_cast<double>(i % 2) * std::numbers::pi;
      expect_evaluations(circuit, values, on_cpu(GetParam()), test::tolerance(GetParam()));
    }
  }
}

// One angle a gate: bound ones are reduced before they are added, and so are these.
TEST_P(BatchProperty, LargeAndSmallAngles) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    PhiloxSequence random(seed);
    Circuit circuit(3);
    for (int g = 0; g < 12; ++g) {
      const Parameter angle{"p" + std::to_string(g % 5)};
      const auto q = static_cast<Qubit>(random.below(3));
      circuit.h(q).ry(angle, q).rz(angle, (q + 1) % 3).rzz(angle, q, (q + 2) % 3).cx(q, (q + 1) % 3);
    }
    std::vector<double> values;
    for (const double value : {0.0, 1e-9, 255.999, 256.001, 1e6, -1e7, 1e15, 3e300, 1e-300, -100.0}) {
      for (int p = 0; p < 5; ++p) values.push_back(p == 2 ? value : random.below(2) == 0 ? 0.5 : value);
    }
    expect_evaluations(circuit, values, on_cpu(GetParam()), test::tolerance(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, BatchProperty, testing::Values(Precision::kDouble, Precision::kSingle),
                         [](const auto& precision) { return std::string(name_of(precision.param)); });

TEST(BatchAngles, WhatIsNotFiniteIsAnError) {
  Circuit circuit(2);
  circuit.rx(Parameter{"a"}, 0).rzz(2.0 * Parameter{"b"}, 0, 1);
  for (const bool states : {false, true}) {
    BatchOptions options = on_cpu(Precision::kDouble);
    options.states = states;
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> values(2 * 21, 0.5);
      values[2 * 20] = bad;
      EXPECT_THROW(run_batch(circuit, values, options), UsageError);
    }
  }
}

}  // namespace
}  // namespace qsim
