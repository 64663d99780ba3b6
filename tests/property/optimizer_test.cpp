// The optimizer's passes over circuits that are full of what they look for: same state, never more operations.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "optimizer/pipeline.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

// CX, rotations about Z and now and then something that stops them.
Circuit ladder_circuit(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
  const std::uint32_t qubits = 2 + pick(4);
  Circuit circuit(qubits);
  for (int i = 0; i < 40; ++i) {
    const Qubit a = pick(qubits), b = (a + 1 + pick(qubits - 1)) % qubits;
    const double angle = 0.1 + 0.01 * pick(300);
    switch (pick(12)) {
      case 0:
        circuit.add_gate(Gate::kRz, {}, std::span(&b, 1), std::span(&angle, 1));
        break;
      case 1:
        circuit.add_gate(Gate::kT, {}, std::span(&b, 1));
        break;
      case 2:
        circuit.h(b);
        break;
      case 3:
        circuit.cp(angle, a, b);
        break;
      case 4:
        circuit.add_pauli_rotation(angle, "ZZ", std::vector<Qubit>{a, b});
        break;
      case 5:
        circuit.cx(a, b);
        circuit.add_gate(Gate::kPhase, {}, std::span(&b, 1), std::span(&angle, 1));
        circuit.cx(a, b);
        break;
      case 6:
        circuit.add_gate(Gate::kS, {}, std::span(&a, 1));
        circuit.add_gate(Gate::kSdg, {}, std::span(&a, 1));
        break;
      default:
        circuit.cx(a, b);
    }
  }
  return circuit;
}

void expect_same(const Circuit& circuit, const Rewritten& rewritten, std::uint64_t seed) {
  const dense::State start = dense::random_state(circuit.qubits(), seed);
  const double difference = dense::max_difference(dense::run(circuit, start), dense::run(rewritten.circuit, start));
  EXPECT_LE(difference, test::tolerance(Precision::kDouble, circuit.depth())) << "seed " << seed;
  ASSERT_EQ(rewritten.origin.size(), rewritten.circuit.operations().size());
  // Every operation is somewhere.
  std::vector<int> seen(circuit.operations().size(), 0);
  for (const std::uint32_t origin : rewritten.origin) seen[origin] = 1;
  for (const auto& [source, reason] : rewritten.removed) seen[source] += 2;
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i] == 1 || seen[i] == 2) << "operation " << i;
}

std::uint64_t entangling(const Circuit& circuit) {
  std::uint64_t count = 0;
  for (const Operation& op : circuit.operations()) count += op.controls + op.targets > 1;
  return count;
}

TEST(Optimizer, EachPassKeepsTheStateOfLadderCircuits) {
  for (const Pass& pass : optimizer_passes()) {
    int changed = 0;
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
      const Circuit circuit = ladder_circuit(seed);
      Rewritten rewritten;
      if (!pass.run(circuit, rewritten)) continue;
      ++changed;
      expect_same(circuit, rewritten, seed);
      EXPECT_LE(entangling(rewritten.circuit), entangling(circuit));
      if (HasFailure()) return;
    }
    EXPECT_GT(changed, 1000) << pass.name;
  }
}

TEST(Optimizer, ThePipelineKeepsTheStateOfAnyCircuit) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    test::RandomCircuitOptions options;
    options.qubits = 2 + static_cast<unsigned>(seed % 4);
    options.operations = 60;
    options.seed = seed;
    options.max_controls = 1 + static_cast<unsigned>(seed % 2);
    const Circuit circuit = test::random_circuit(options);
    Rewritten rewritten;
    if (optimize(circuit, {}, rewritten)) expect_same(circuit, rewritten, seed);
    if (HasFailure()) return;
  }
}

TEST(Optimizer, ALadderOfCxBecomesOneRotationAboutItsParity) {
  Circuit circuit(4);
  for (Qubit q = 0; q < 3; ++q) circuit.cx(q, q + 1);
  const Qubit last = 3;
  const double angle = 0.7;
  circuit.add_gate(Gate::kRz, {}, std::span(&last, 1), std::span(&angle, 1));
  for (Qubit q = 3; q > 0; --q) circuit.cx(q - 1, q);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_rotations(circuit, rewritten));
  ASSERT_EQ(rewritten.circuit.operations().size(), 1U);
  const Operation& op = rewritten.circuit.operations()[0];
  EXPECT_EQ(op.kind, OpKind::kPauliRotation);
  EXPECT_EQ(rewritten.circuit.targets(op).size(), 4U);
  EXPECT_EQ(rewritten.removed.size(), 6U);
  expect_same(circuit, rewritten, 1);
}

TEST(Optimizer, ACxIsNotMovedPastWhatDoesNotCommute) {
  Circuit circuit(2);
  circuit.cx(0, 1);
  circuit.h(0);
  circuit.cx(0, 1);
  Rewritten rewritten;
  EXPECT_FALSE(recognise_rotations(circuit, rewritten));
  EXPECT_FALSE(cancel_inverses(circuit, rewritten));
}

TEST(Optimizer, DisabledPassesDoNotRun) {
  Circuit circuit(1);
  circuit.h(0);
  circuit.h(0);
  Rewritten rewritten;
  EXPECT_TRUE(optimize(circuit, {}, rewritten));
  EXPECT_EQ(rewritten.circuit.operations().size(), 0U);
  EXPECT_FALSE(optimize(circuit, {"cancel_inverses"}, rewritten));
}

}  // namespace
}  // namespace qsim
