// Main of the MPI tests: every rank runs every test on one communicator; only rank 0 speaks unless something fails.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "mpi/world.h"
#include "qsim/error.h"
#include "simulator/simulator.h"
#include "support/failing_communicator.h"
#include "support/simulate.h"

namespace qsim::test {
namespace {
Communicator* current_world = nullptr;  // set once by main, before any test
}
Communicator& mpi_world() { return *current_world; }

namespace {

/// Runs a circuit in which rank 1 throws at its `call`-th use of the communicator.
void fail_at(Communicator& world, int call) {
  FailingCommunicator failing(world, world.rank() == 1 ? call : -1);
  simulate(generate("random", {10, 10, 1}), {}, failing);
}

}  // namespace
}  // namespace qsim::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    const std::unique_ptr<qsim::Communicator> world = qsim::make_mpi_communicator();
    qsim::test::current_world = world.get();
    if (const char* call = std::getenv("QSIM_TEST_FAIL_AT")) qsim::test::fail_at(*world, std::atoi(call));
    if (world->rank() != 0) {
      testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
      delete listeners.Release(listeners.default_result_printer());
    }
    std::int64_t failed = RUN_ALL_TESTS();
    world->max({&failed, 1});
    return failed == 0 ? 0 : 1;
  } catch (const qsim::Error& error) {
    std::fprintf(stderr, "%s\n%s\n", error.what(), error.hint().c_str());
    return static_cast<int>(error.code());
  }
}
