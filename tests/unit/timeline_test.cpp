// Turns and diagonals of a circuit with rewrites left out.
#include "plan/timeline/timeline.h"

#include <gtest/gtest.h>

#include "plan/lower/known.h"
#include "plan/lower/lower.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

TEST(Timeline, WithoutMergingEveryGateThatIsNotDiagonalIsATurn) {
  Circuit circuit(1);
  circuit.h(0);
  circuit.add_gate(Gate::kT, {}, std::vector<Qubit>{0});
  circuit.h(0);
  circuit.h(0);
  const Lowered lowered = lower(circuit);
  const KnownStart start = plain_start(lowered, 0);
  TimelineSource source{0, lowered.ops.size(), 0, start.factor};
  source.merge_runs = false;
  EXPECT_EQ(build_timeline(lowered, source).turns.size(), 3u);
  source.merge_runs = true;
  EXPECT_EQ(build_timeline(lowered, source).turns.size(), 1u);
}

/// A phase where wire 0 and `ones` more are 1 and `zeros` more are 0.
std::size_t diagonals_of(unsigned ones, unsigned zeros) {
  Circuit circuit(8);
  std::vector<Qubit> controls;
  for (Qubit qubit = 1; qubit <= ones + zeros; ++qubit) controls.push_back(qubit);
  const auto flip = [&] {
    for (Qubit qubit = 1; qubit <= zeros; ++qubit) circuit.x(qubit);
  };
  flip();
  circuit.add_gate(Gate::kT, controls, std::vector<Qubit>{0});
  flip();
  const Lowered lowered = lower(circuit);
  return build_timeline(lowered, TimelineSource{0, lowered.ops.size(), 0, plain_start(lowered, 0).factor})
      .diagonals.size();
}

// Terms on ones alone meet equal ones; each 0 doubles them.
TEST(Timeline, PhasesAtUpToThreeZerosAreTermsOnOnesAlone) {
  EXPECT_EQ(diagonals_of(1, 0), 1u);
  EXPECT_EQ(diagonals_of(2, 1), 2u);
  EXPECT_EQ(diagonals_of(0, 3), 8u);
  EXPECT_EQ(diagonals_of(1, 3), 8u);
  EXPECT_EQ(diagonals_of(0, 4), 1u);
  EXPECT_EQ(diagonals_of(2, 4), 1u);
}

}  // namespace
}  // namespace qsim
