#include "support/plan_is_circuit.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/tolerance.h"

namespace qsim::test {

void expect_the_circuit(const Plan& plan, const Circuit& circuit, std::uint64_t seed) {
  ASSERT_NO_THROW(verify_plan(plan)) << "seed " << seed;
  EXPECT_EQ(plan.gates, circuit.operation_count());
  const bool zero = plan.start == Start::kZero;
  const dense::State start = zero ? dense::zero_state(plan.qubits) : dense::random_state(plan.qubits, 7);
  InterpreterOptions interpreting;
  interpreting.specialize = seed % 2 == 0;
  interpreting.scramble_seed = static_cast<unsigned>(seed);
  const std::vector<Complex> found = interpret(plan, zero ? dense::State() : start, interpreting);
  ASSERT_LE(dense::max_difference(found, dense::run(circuit, start)), tolerance(Precision::kDouble, circuit.depth()))
      << "seed " << seed;
}

}  // namespace qsim::test
