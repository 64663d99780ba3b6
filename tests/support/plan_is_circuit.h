// A plan held against the circuit that it was made of.
#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim::test {

/// Asserts that `plan` keeps the rules of its words and, interpreted, gives what `circuit` makes of |0...0> or, where
/// it starts from a state at hand, of a random one. `seed` chooses how it is interpreted.
void expect_the_circuit(const Plan& plan, const Circuit& circuit, std::uint64_t seed);

}  // namespace qsim::test
