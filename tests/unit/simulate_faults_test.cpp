// A rank that fails at any moment ends the run on all of them with its own error.
#include <gtest/gtest.h>

#include <random>

#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "simulator/simulator.h"
#include "support/failing_communicator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

TEST(SimulateFaults, OfOneRankEndTheRunWithItsError) {
  const Circuit circuit = generate("random", {9, 12, 2});
  RunOptions options;
  options.marginals = true;
  options.top = 3;
  int steps = 0;
  run_thread_ranks(4, [&](Communicator& communicator) {
    test::FailingCommunicator counting(communicator, -1);
    simulate(circuit, options, counting);
    if (communicator.rank() == 0) steps = counting.steps();
  });
  ASSERT_GT(steps, 20);
  std::mt19937 random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const int victim = static_cast<int>(random() % 4), moment = static_cast<int>(random() % 20u);
    EXPECT_THROW(run_thread_ranks(4,
                                  [&](Communicator& communicator) {
                                    const bool fails = communicator.rank() == victim;
                                    test::FailingCommunicator failing(communicator, fails ? moment : -1);
                                    simulate(circuit, options, failing);
                                  }),
                 DeviceError)
        << "rank " << victim << " at call " << moment;
  }
}

}  // namespace
}  // namespace qsim
