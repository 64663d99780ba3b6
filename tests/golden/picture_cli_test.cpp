// Pictures that flags of runs and plans write.
#include <gtest/gtest.h>

#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

const std::string kTurn =
    "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncreg c[2];\nry(0.7) q[0];\nx q[1];\nmeasure q -> c;\n";

TEST(HistogramFlag, ShowsTheCountsOfTheRun) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  const ProgramRun plain = run_qsim({circuit, "--seed", "3", "--json"});
  const ProgramRun run = run_qsim({circuit, "--seed", "3", "--json", "--histogram", picture});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string svg = read_text(picture);
  for (const char* bits : {"10", "11"}) {
    const std::string key = std::string("\"") + bits + "\": ";
    const std::size_t at = run.out.find(key);
    ASSERT_NE(at, std::string::npos) << run.out;
    const std::string times = std::to_string(std::stoi(run.out.substr(at + key.size())));
    EXPECT_NE(svg.find(std::string("<title>") + bits + ": " + times + ", "), std::string::npos) << svg;
  }
  EXPECT_NE(svg.find("of 1024 shots"), std::string::npos);
  EXPECT_EQ(svg.find(">00</text>"), std::string::npos);
}

TEST(HistogramFlag, ShowsTheDistributionWhereThatIsAskedFor) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  const ProgramRun run = run_qsim({circuit, "--distribution", "--shots", "0", "--histogram", picture});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string svg = read_text(picture);
  EXPECT_NE(svg.find("<title>10: 0.882421</title>"), std::string::npos) << svg;  // cos(0.35)^2
  EXPECT_NE(svg.find("probability"), std::string::npos);
}

TEST(HistogramFlag, IsRefusedWhereItHasNoEffectOrWouldReplaceAFile) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("h.svg");
  EXPECT_EQ(run_qsim({circuit, "--shots", "0", "--histogram", picture}).exit_code, 2);
  EXPECT_EQ(read_text(picture), "");
  EXPECT_EQ(run_qsim({circuit, "--histogram", circuit}).exit_code, 2);
  EXPECT_EQ(run_qsim({circuit, "--histogram", picture, "--output", picture}).exit_code, 2);
  EXPECT_EQ(run_qsim({circuit, "--histogram", "/nowhere/h.svg"}).exit_code, 9);
  const ProgramRun full = run_qsim({circuit, "--histogram", "/dev/full"});
  EXPECT_EQ(full.exit_code, 9);
  EXPECT_EQ(full.out, "");
  EXPECT_EQ(read_text(circuit), kTurn);
}

TEST(PlanSvg, GoesWithTextAndJson) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kTurn), picture = folder.file("p.svg");
  const ProgramRun text = run_qsim({"plan", circuit, "--device", "h200", "--svg", picture});
  EXPECT_EQ(text.out, run_qsim({"plan", circuit, "--device", "h200"}).out);
  EXPECT_NE(read_text(picture).find("Plan of 2 qubits in double on 1 rank of h200"), std::string::npos);
  const std::string dynamic = folder.file(
      "d.qasm",
      "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[1];\ncreg c[1];\nh q[0];\nmeasure q -> c;\nif(c==1) x q[0];\n");
  EXPECT_EQ(run_qsim({"plan", dynamic, "--svg", picture, "--json"}).exit_code, 0);
  EXPECT_NE(read_text(picture).find("Program of 1 qubit"), std::string::npos);
  EXPECT_EQ(run_qsim({"plan", circuit, "--svg", circuit}).exit_code, 2);
  EXPECT_EQ(read_text(circuit), kTurn);
}

}  // namespace
}  // namespace qsim::test
