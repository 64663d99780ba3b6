// Main of the MPI tests: every rank runs every test on one communicator; only rank 0 speaks unless something fails.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/world.h"
#include "qsim/error.h"

namespace qsim::test {
namespace {
Communicator* current_world = nullptr;  // set once by main, before any test
}
Communicator& mpi_world() { return *current_world; }
}  // namespace qsim::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    const std::unique_ptr<qsim::Communicator> world = qsim::make_mpi_communicator();
    qsim::test::current_world = world.get();
    if (std::getenv("QSIM_TEST_DIE") != nullptr) {
      if (world->rank() == 1) ::raise(SIGKILL);
      world->barrier();
    }
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
