// Plans of circuits with open angles, put to other angles, against the dense reference.
#include "plan/program/open_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/open_circuit.h"
#include "support/plan_interpreter.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

PlanOptions options_of(std::uint64_t seed, std::uint32_t qubits) {
  PlanOptions options;
  options.rank_bits = static_cast<std::uint32_t>(seed % 3);
  if (seed % 5 != 0) options.tile_bits = 2 + static_cast<std::uint32_t>(seed % 4);
  if (seed % 4 == 1) {
    options.start = Start::kState;
    options.known_zeros = false;
    Layout layout = Layout::identity(static_cast<int>(qubits));
    for (std::uint32_t q = 0; q < qubits; ++q) std::swap(layout.bit_of[q], layout.bit_of[(q * 5 + seed) % qubits]);
    options.initial_layout = layout;
  }
  return options;
}

TEST(OpenPlans, AreThePlansForAllValues) {
  const test::Campaign campaign(150);
  std::uint64_t missing = 0;  // where a choice hung on rounding, and two generic points are planned differently
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::OpenCircuitOptions shape;
    shape.qubits = 4 + static_cast<std::uint32_t>(seed % 4);
    shape.gates = 10 + 3 * (seed % 17);
    shape.seed = seed;
    shape.parameters = 1 + static_cast<std::uint32_t>(seed % 9);
    const PlanOptions options = options_of(seed, shape.qubits);
    shape.most_targets = std::min(4u, shape.qubits - options.rank_bits);
    const Circuit circuit = test::open_circuit(shape);
    const OpenAngles angles(circuit);
    const Machine machine = find_machine(seed % 2 == 0 ? "h200" : "cpu");
    const std::optional<OpenPlan> plan = OpenPlan::make(circuit, angles, machine, options);
    if (!plan) {
      ++missing;
      continue;
    }
    const bool held = options.start == Start::kState;
    const dense::State start = held ? dense::random_state(shape.qubits, seed) : dense::zero_state(shape.qubits);
    for (std::uint64_t number = 0; number < 6; ++number) {
      SCOPED_TRACE("values " + std::to_string(number));
      const std::vector<double> values = test::surprising_values(circuit.parameters().size(), 6 * seed + number);
      const dense::State wanted = dense::run(circuit.bind(values), start);
      const std::shared_ptr<const Plan> at = plan->at(angles.bound(values));
      verify_plan(*at);
      const dense::State got = test::interpret(*at, held ? start : dense::State());
      ASSERT_LE(dense::max_difference(got, wanted), test::tolerance(Precision::kDouble));
    }
  }
  EXPECT_LE(missing, campaign.count / 500);
}

}  // namespace
}  // namespace qsim
