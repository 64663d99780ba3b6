// The group of one, and what the environment says about a launcher.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/ranks/communicator.h"
#include "comm/launcher.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "support/communicator_contract.h"

namespace qsim {
namespace {

class LauncherVariables : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "PMI_SIZE", "PMI_RANK", "SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"}) {
      ::unsetenv(name);
    }
  }
};

TEST(SelfCommunicator, KeepsTheContract) { test::check_communicator(*make_self_communicator()); }

TEST(SelfCommunicator, RefusesAnotherRank) {
  std::byte data{};
  EXPECT_THROW(make_self_communicator()->broadcast({&data, 1}, 1), CommunicatorError);
  EXPECT_THROW(make_self_communicator()->abort(6, "lost"), CommunicatorError);
}

TEST_F(LauncherVariables, AbsentMeansNoLauncher) {
  EXPECT_FALSE(launched_by_mpi());
  EXPECT_EQ(launch_environment().size, 1);
}

TEST_F(LauncherVariables, OfOpenMpiGiveRankAndLocalRank) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  ::setenv("OMPI_COMM_WORLD_RANK", "5", 1);
  ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
  const LaunchEnvironment found = launch_environment();
  EXPECT_TRUE(launched_by_mpi());
  EXPECT_EQ(found.size, 8);
  EXPECT_EQ(found.rank, 5);
  EXPECT_EQ(found.local_rank, 1);
  EXPECT_EQ(found.local_size, 4);
}

TEST_F(LauncherVariables, OfABatchScriptAreNotALaunch) {
  ::setenv("SLURM_NTASKS", "8", 1);
  ::setenv("SLURM_PROCID", "0", 1);
  EXPECT_FALSE(launched_by_mpi());
  ::setenv("SLURM_STEP_NUM_TASKS", "8", 1);
  EXPECT_TRUE(launched_by_mpi());
}

TEST_F(LauncherVariables, ThatAreNoNumbersAreIgnored) {
  ::setenv("PMI_SIZE", "many", 1);
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_FALSE(launched_by_mpi());
}

}  // namespace
}  // namespace qsim
