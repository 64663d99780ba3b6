// `qsim draw` from the command line to what stands in a file.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

const std::string kBell =
    "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncreg c[2];\nh q[0];\ncx q[0],q[1];\nmeasure q -> c;\n";
const std::string kBellText =
    "q[0]: ─H──●──M──────\n"
    "          │  ║\n"
    "q[1]: ────X──╫───M──\n"
    "             ║   ║\n"
    " c/2: ═══════╩0══╩1═\n";

TEST(Draw, FileAndStandardInputToTextAndFiles) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kBell), output = folder.file("out.svg");
  EXPECT_EQ(run_qsim({"draw", circuit}).out, kBellText);
  EXPECT_EQ(run_qsim({"draw", circuit}).out, run_qsim({"draw", "-"}, kBell).out);
  const ProgramRun run = run_qsim({"draw", circuit, "--format", "svg", "--output", output});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(read_text(output).compare(0, 5, "<svg "), 0);
  EXPECT_NE(run_qsim({"draw", circuit, "--format=latex"}).out.find("\\end{quantikz}\n"), std::string::npos);
}

TEST(Draw, WidthFolds) {
  const std::string wide = run_qsim({"draw", "-", "--format", "ascii", "--width", "0"}, kBell).out;
  const std::string narrow = run_qsim({"draw", "-", "--format", "ascii", "--width", "16"}, kBell).out;
  EXPECT_EQ(wide.find("\n\n"), std::string::npos);
  EXPECT_NE(narrow.find("\n\n"), std::string::npos);
  std::istringstream lines(narrow);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 16u) << line;
}

TEST(Draw, ProgramsThatMeasurementsDecideHaveFrames) {
  const std::string loop =
      "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit q;\nbit c;\nc = measure q;\nwhile (c) { h q; c = measure q; }\n";
  const ProgramRun run = run_qsim({"draw", "-"}, loop);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("┠ while c ──H──M"), std::string::npos) << run.out;
  EXPECT_EQ(run_qsim({"draw", "-"}, "OPENQASM 3.0;\nqubit[2] q;\nfor int i in [0:1] { U(0, 0, pi) q[i]; }\n").exit_code,
            0);
}

TEST(Draw, InputsAreNotReplaced) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kBell);
  EXPECT_EQ(run_qsim({"draw", circuit, "--output", circuit}).exit_code, 2);
  EXPECT_EQ(read_text(circuit), kBell);
  EXPECT_EQ(run_qsim({"draw", circuit, "--format", "png"}).exit_code, 2);
  EXPECT_EQ(run_qsim({"draw"}).exit_code, 2);
}

}  // namespace
}  // namespace qsim::test
