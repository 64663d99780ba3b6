// Rotations about Pauli strings in tiles that the strings span, against the dense reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "base/philox.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/make/planners.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "support/campaign.h"
#include "support/plan_is_circuit.h"

namespace qsim {
namespace {

/// What people write for exp(-i angle/2 P): turns to Z, a ladder, RZ, and back.
void add_evolution(PhiloxSequence& random, std::uint32_t qubits, double angle, Circuit& circuit) {
  std::vector<std::pair<Qubit, std::uint64_t>> letters;
  for (Qubit q = 0; q < qubits; ++q)
    if (const std::uint64_t letter = random.below(4); letter != 0) letters.emplace_back(q, letter);
  if (letters.empty()) return;
  for (const auto& [q, letter] : letters) {
    if (letter == 1) circuit.h(q);
    if (letter == 2) circuit.sx(q);
  }
  for (std::size_t i = 1; i < letters.size(); ++i) circuit.cx(letters[i - 1].first, letters[i].first);
  circuit.rz(angle, letters.back().first);
  for (std::size_t i = letters.size(); i-- > 1;) circuit.cx(letters[i - 1].first, letters[i].first);
  for (const auto& [q, letter] : letters) {
    if (letter == 1) circuit.h(q);
    if (letter == 2) circuit.sxdg(q);
  }
}

void add_clifford(PhiloxSequence& random, Qubit q, Circuit& circuit) {
  switch (random.below(6)) {
    case 0:
      return (void)circuit.h(q);
    case 1:
      return (void)circuit.s(q);
    case 2:
      return (void)circuit.x(q);
    case 3:
      return (void)circuit.sx(q);
    case 4:
      return (void)circuit.y(q);
    default:
      return (void)circuit.sdg(q);
  }
}

/// Strings with what may stand between them; `mixed`: gates that end a stretch too.
Circuit strings(PhiloxSequence& random, std::uint32_t qubits, std::size_t count, bool mixed) {
  Circuit circuit(qubits);
  const auto any = [&] { return static_cast<Qubit>(random.below(qubits)); };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t kind = random.below(mixed ? 12 : 8);
    const double angle = kind == 0 ? std::numbers::pi / 2 : random.uniform(-4, 4);
    const Qubit a = any(), b = (a + 1 + static_cast<Qubit>(random.below(qubits - 1))) % qubits;
    if (kind == 1) add_clifford(random, a, circuit);
    if (kind == 2) circuit.rxx(angle, a, b);
    if (kind == 3) circuit.cp(angle, a, b);
    if (kind == 4) circuit.ry(angle, a);
    if (kind == 8) circuit.cx(a, b);
    if (kind == 9) circuit.u(angle, 0.3, 0.4, a);
    if (kind == 10) circuit.swap(a, b);
    if (kind == 11) circuit.crx(angle, a, b);
    if (kind == 0 || kind > 4) add_evolution(random, qubits, angle, circuit);
  }
  return circuit;
}

bool reaches(const Plan& plan) {
  return std::ranges::any_of(plan.stages.back().sweeps, [](const Sweep& sweep) { return !sweep.reach.empty(); });
}

TEST(StringPlan, IsTheCircuit) {
  const test::Campaign campaign(300);
  std::uint64_t reaching = 0, made = 0;
  for (std::uint64_t trial = campaign.first; trial < campaign.first + campaign.count; ++trial) {
    PhiloxSequence random(trial);
    const std::uint32_t qubits = 5 + static_cast<std::uint32_t>(random.below(5));
    const Circuit circuit = strings(random, qubits, 1 + random.below(24), trial % 3 != 0);
    PlanOptions options;
    options.tile_bits = 3 + static_cast<std::uint32_t>(random.below(3));
    options.start = trial % 2 == 0 ? Start::kZero : Start::kState;
    options.known_zeros = trial % 4 != 2;
    options.trace = trial % 5 == 0;
    const Machine& machine = find_machine(trial % 7 < 3 ? "cpu" : "h200");
    if (trial % 6 == 1) {
      options.initial_layout = Layout::identity(static_cast<int>(qubits));
      std::ranges::reverse(options.initial_layout->bit_of);
    }
    const Lowered lowered = lower_optimized(circuit, {"split_turns"});
    const std::optional<Plan> plan = string_plan(lowered, machine, options);
    if (!plan) continue;
    ++made;
    reaching += reaches(*plan) ? 1 : 0;
    test::expect_the_circuit(*plan, circuit, trial);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(made, campaign.count / 3);
  EXPECT_GT(reaching, campaign.count / 3);
}

}  // namespace
}  // namespace qsim
