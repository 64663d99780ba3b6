// The program under mpirun: the same answer as one process, one voice, the same exit code on every rank.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

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

TEST_F(Mpi, ALauncherOfAnotherMpiIsNamedByEveryProcessThatIsAlone) {
  for (const char* rank : {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_RANK=2"}) {
    const ProgramRun run = run_command({"env", "OMPI_COMM_WORLD_SIZE=4", rank, QSIM_PROGRAM, "-", "--json"}, kGhz4);
    EXPECT_EQ(run.exit_code, 7);
    EXPECT_NE(run.err.find("4 processes"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("unset OMPI_COMM_WORLD_SIZE"), std::string::npos) << run.err;
    EXPECT_EQ(json::parse(run.out)["error"]["code"], 7);
  }
}

TEST_F(Mpi, SrunWithoutPmixIsNamedBeforeOpenMpiEndsTheProcess) {
  const std::vector<std::string> step{
      "env", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=3", QSIM_PROGRAM, "-"};
  std::vector<std::string> with_pmi2 = step;
  with_pmi2.insert(with_pmi2.begin() + 1, {"PMI_RANK=3", "PMI_SIZE=4", "PMI_FD=9"});
  for (const std::vector<std::string>& command : {step, with_pmi2}) {
    const ProgramRun run = run_command(command, kGhz4);
    EXPECT_EQ(run.exit_code, 7);
    EXPECT_EQ(run.err.rfind("qsim: error: srun started 4 tasks with", 0), 0u) << run.err;
    EXPECT_NE(run.err.find("srun --mpi=pmix -n 4"), std::string::npos) << run.err;
  }
}

/// The command line of ranks that each have their own arguments, started through `sh` where there are redirections.
std::vector<std::string> unlike(const std::string& first, const std::string& second, const std::string& after = "") {
  const std::string program = "'" QSIM_PROGRAM "'";
  return {"sh", "-c",
          std::string(QSIM_MPIEXEC) + (::geteuid() == 0 ? " --allow-run-as-root" : "") + " --oversubscribe -n 1 " +
              first.substr(0, first.find('@')) + program + first.substr(first.find('@') + 1) + " : -n 1 " +
              second.substr(0, second.find('@')) + program + second.substr(second.find('@') + 1) + after};
}

TEST_F(Mpi, RanksThatWereToldDifferentThingsStopWithTheFirstDifference) {
  const std::vector<std::pair<std::string, std::string>> pairs{{"@ - --shots 10", "@ - --shots 20"},
                                                               {"@ - --shots 10", "@ -"},
                                                               {"@ plan -", "@ -"},
                                                               {"@ --help", "@ -"},
                                                               {"@ - --help", "@ -"},
                                                               {"@ --version", "@ -"},
                                                               {"@ /nowhere.qasm", "@ -"},
                                                               {"@ - --verify full", "@ -"},
                                                               {"@ - --from random", "@ -"},
                                                               {"@ - --seed 1", "@ - --seed 2"},
                                                               {"@ bench ghz", "@ bench ghz -n 9"},
                                                               {"@ - --json", "@ -"},
                                                               {"@ - --marginals", "@ - --counts"},
                                                               {"@ gram a b", "@ info"},
                                                               {"@", "@ -"}};
  for (const auto& [first, second] : pairs) {
    const ProgramRun run = run_command(unlike(first, second), kGhz4);
    EXPECT_EQ(run.exit_code, 7) << first << " / " << second << ": " << run.err;
    EXPECT_NE(run.err.find("ranks were started differently: rank 0 has "), std::string::npos) << run.err;
    EXPECT_EQ(run.out.find("counts of"), std::string::npos) << run.out;
  }
}

TEST_F(Mpi, ASettingThatOneRankCannotReadStopsAllOfThem) {
  for (const auto& [first, second] :
       {std::pair("env QSIM_WATCHDOG_SECONDS=abc @ -", "@ -"), std::pair("@ -", "env QSIM_WATCHDOG_SECONDS=-1 @ -")}) {
    const ProgramRun run = run_command(unlike(first, second), kGhz4);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find("not a number of seconds"), std::string::npos) << run.err;
  }
}

TEST_F(Mpi, AResultThatMpirunCannotWriteIsAnError) {
  for (const char* where : {" > /dev/full", " >&-"}) {
    const ProgramRun run = run_command(unlike("@ - --shots 3", "@ - --shots 3", where), kGhz4);
    EXPECT_EQ(run.exit_code, 9) << where << ": " << run.err;
    EXPECT_NE(run.err.find("standard output"), std::string::npos) << run.err;
  }
  const TemporaryFolder folder;
  const std::string file = folder.file("result", "before\n");
  const ProgramRun run = run_command(unlike("@ - --shots 3", "@ - --shots 3", " >> " + file), kGhz4);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(read_text(file).find("counts of 3 shots"), std::string::npos);
}

TEST_F(Mpi, MoreRanksThanAmplitudesIsAUsageError) {
  const ProgramRun run = run_mpi(4, {"-"}, "OPENQASM 2.0;\nqreg q[1];\nU(0,0,0) q[0];\n");
  EXPECT_EQ(run.exit_code, 2) << run.err;
}

}  // namespace
}  // namespace qsim::test
