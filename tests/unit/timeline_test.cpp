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

}  // namespace
}  // namespace qsim
