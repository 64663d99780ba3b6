// Repeated runs with one plan and one allocation.
#include <gtest/gtest.h>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

class Repeats : public testing::TestWithParam<int> {};

TEST_P(Repeats, GiveTheStateAndTheWorkOfOneRun) {
  const Circuit circuit = generate("random", {9, 6, 3});
  for (const Start start : {Start::kZero, Start::kRandom}) {
    RunOptions options;
    options.backend = BackendKind::kCpu;
    options.start = start;
    options.marginals = true;
    for (Index i = 0; i < 512; ++i) options.amplitude_indices.push_back(i);
    const Result once = simulate(circuit, options, GetParam());
    options.warm_ups = 2;
    options.repeats = 3;
    const Result repeated = simulate(circuit, options, GetParam());
    ASSERT_EQ(once.time.simulate_repeats.size(), 1u);
    ASSERT_EQ(repeated.time.simulate_repeats.size(), 3u);
    EXPECT_EQ(repeated.time.read_out_repeats.size(), 3u);
    EXPECT_EQ(repeated.time.simulate, repeated.time.simulate_repeats.back());
    EXPECT_EQ(repeated.work.sweeps, once.work.sweeps);
    EXPECT_EQ(repeated.work.exchanges, once.work.exchanges);
    EXPECT_EQ(repeated.work.bytes_swept_per_rank, once.work.bytes_swept_per_rank);
    EXPECT_EQ(repeated.work.bytes_exchanged_per_rank, once.work.bytes_exchanged_per_rank);
    EXPECT_EQ(repeated.verification.gates_applied, once.verification.gates_planned);
    EXPECT_EQ(*repeated.results.marginals, *once.results.marginals);
    for (std::size_t i = 0; i < 512; ++i) {
      ASSERT_EQ((*repeated.results.amplitudes)[i].value, (*once.results.amplitudes)[i].value) << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, Repeats, testing::Values(1, 4));

TEST(Repeats, EndWhenTheirTimeIsSpent) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.repeats = 0;
  EXPECT_THROW(simulate(generate("ghz", {4, 0, 1}), options), UsageError);
  options.repeats = 1000;
  options.repeat_seconds = 1e-9;
  EXPECT_EQ(simulate(generate("ghz", {4, 0, 1}), options).time.simulate_repeats.size(), 1u);
}

}  // namespace
}  // namespace qsim
