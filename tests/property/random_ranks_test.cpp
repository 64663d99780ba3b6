// Random circuits of everything that a circuit can hold, through planner and CPU backend on virtual ranks, against the
// dense reference: from |0...0> in memory full of NaN, and from a random state.
#include <gtest/gtest.h>

#include <optional>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/tolerance.h"
#include "support/virtual_ranks.h"

namespace qsim {
namespace {

struct Draw {
  unsigned qubits, rank_bits;
  Precision precision;
  PlanOptions options;
};

// Seeds walk through ranks, precisions, planners and tile sizes.
Draw draw(std::uint64_t seed) {
  Draw one;
  one.rank_bits = static_cast<unsigned>(seed % 4);
  one.precision = seed / 4 % 2 == 0 ? Precision::kDouble : Precision::kSingle;
  // Every rank must hold the four targets of rc3x.
  one.qubits = 4 + one.rank_bits + static_cast<unsigned>(seed / 8 % 3);
  one.options.rank_bits = one.rank_bits;
  one.options.precision = one.precision;
  one.options.strategy = seed / 24 % 3 == 0   ? Strategy::kNaive
                         : seed / 24 % 3 == 1 ? Strategy::kGreedy
                                              : Strategy::kSearch;
  if (seed / 72 % 2 == 1) one.options.tile_bits = 4;
  one.options.known_zeros = seed / 144 % 2 == 0;
  return one;
}

Circuit circuit_of(const Draw& one, std::uint64_t seed) {
  return test::random_circuit({.qubits = one.qubits, .operations = 5 + static_cast<unsigned>(seed % 50), .seed = seed});
}

class RandomRanks : public testing::Test {
 protected:
  const Machine machine_ = find_machine("cpu");
};

TEST_F(RandomRanks, FromZeroEqualsTheDenseReference) {
  for (std::uint64_t seed = 0; seed < 1152; ++seed) {
    const Draw one = draw(seed);
    const Circuit circuit = circuit_of(one, seed);
    const Plan plan = make_plan(circuit, machine_, one.options);
    EXPECT_EQ(plan.gates, circuit.operation_count()) << "seed " << seed;
    test::VirtualRanks ranks(one.precision, one.qubits, one.rank_bits);
    const double difference = dense::max_difference(ranks.run_from_zero(plan), dense::run(circuit));
    ASSERT_LE(difference, test::tolerance(one.precision, circuit.depth())) << "seed " << seed;
  }
}

TEST_F(RandomRanks, FromARandomStateEqualsTheDenseReference) {
  for (std::uint64_t seed = 0; seed < 1152; ++seed) {
    Draw one = draw(seed);
    one.options.start = Start::kState;
    one.options.initial_layout = Layout::identity(static_cast<int>(one.qubits));
    const Circuit circuit = circuit_of(one, seed + 10000);
    const auto start = dense::random_state(one.qubits, seed);
    const Plan plan = make_plan(circuit, machine_, one.options);
    test::VirtualRanks ranks(one.precision, one.qubits, one.rank_bits);
    const double difference = dense::max_difference(ranks.run(plan, start), dense::run(circuit, start));
    ASSERT_LE(difference, test::tolerance(one.precision, circuit.depth())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace qsim
