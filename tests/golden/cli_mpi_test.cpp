// The program under mpirun: the same answer as one process, one voice, the same exit code on every rank.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

using nlohmann::json;

const std::string kGhz4 =
    "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[4];\ncreg c[4];\nh q[0];\ncx q[0],q[1];\ncx q[1],q[2];\n"
    "cx q[2],q[3];\nmeasure q -> c;\n";

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!mpi_is_here()) GTEST_SKIP() << "built without MPI";
  }
};

TEST_F(Mpi, RanksGiveTheCountsOfOneProcess) {
  const json one = json::parse(run_qsim({"-", "--json", "--seed", "3"}, kGhz4).out);
  const ProgramRun run = run_mpi(4, {"-", "--json", "--seed", "3"}, kGhz4);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json document = json::parse(run.out);
  EXPECT_EQ(document["results"]["counts"], one["results"]["counts"]);
  EXPECT_EQ(document["run"]["ranks"], 4);
  EXPECT_EQ(document["memory"]["peak_bytes_per_rank"].size(), 4u);
}

TEST_F(Mpi, ErrorsAreSaidOnceWithTheirCode) {
  const ProgramRun run = run_mpi(2, {"/nowhere/x.qasm"});
  EXPECT_EQ(run.exit_code, 9);
  EXPECT_EQ(run.out, "");
  const std::size_t first = run.err.find("qsim: error:");
  ASSERT_NE(first, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("qsim: error:", first + 1), std::string::npos) << run.err;
}

TEST_F(Mpi, ThreeRanksAndRankFlagsAreUsageErrors) {
  const ProgramRun three = run_mpi(3, {"-"}, kGhz4);
  EXPECT_EQ(three.exit_code, 2);
  EXPECT_NE(three.err.find("2 or 4"), std::string::npos) << three.err;
  EXPECT_EQ(run_mpi(2, {"-", "--ranks", "2"}, kGhz4).exit_code, 2);
  EXPECT_EQ(run_mpi(2, {"-", "--gpus", "2"}, kGhz4).exit_code, 2);
}

TEST_F(Mpi, ALauncherOfAnotherMpiIsNamedByOneVoice) {
  const std::vector<std::string> first{"env",   "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=0", QSIM_PROGRAM, "-",
                                       "--json"};
  const ProgramRun said = run_command(first, kGhz4);
  EXPECT_EQ(said.exit_code, 7);
  EXPECT_NE(said.err.find("4 processes"), std::string::npos) << said.err;
  EXPECT_EQ(json::parse(said.out)["error"]["code"], 7);
  std::vector<std::string> second = first;
  second[2] = "OMPI_COMM_WORLD_RANK=1";
  const ProgramRun silent = run_command(second, kGhz4);
  EXPECT_EQ(silent.exit_code, 7);
  EXPECT_EQ(silent.out + silent.err, "");
}

TEST_F(Mpi, MoreRanksThanAmplitudesIsAUsageError) {
  const ProgramRun run = run_mpi(4, {"-"}, "OPENQASM 2.0;\nqreg q[1];\nU(0,0,0) q[0];\n");
  EXPECT_EQ(run.exit_code, 2) << run.err;
}

}  // namespace
}  // namespace qsim::test
