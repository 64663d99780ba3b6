// The generated tables: what benchmarks/report.py makes of documents, and that the page says what the results say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

const std::string kScript = std::string(QSIM_SOURCE_DIR) + "/benchmarks/report.py";

bool python_is_here() { return run_command({"python3", "--version"}).exit_code == 0; }

TEST(PerformanceReport, TablesComeFromTheDocuments) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::string page = folder.file("page.md",
                                       "typed\n<!-- begin generated cpu -->\nold\n<!-- end generated cpu -->\nmore\n"
                                       "<!-- begin generated challenge -->\n<!-- end generated challenge -->\n");
  const ProgramRun bench =
      run_qsim({"bench", "ghz", "-n", "7", "--backend", "cpu", "--json", "--output", folder.file("cpu_suite.json")});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const std::vector<std::string> command{"python3", kScript, "--results", folder.path(), "--page", page};
  std::vector<std::string> check = command;
  check.emplace_back("--check");
  EXPECT_EQ(run_command(check).exit_code, 1);
  const ProgramRun run = run_command(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("| ghz 7, from zero | double | 1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("Not measured yet."), std::string::npos);
  EXPECT_EQ(text.find("old"), std::string::npos);
  EXPECT_EQ(text.substr(0, 6), "typed\n");
  EXPECT_EQ(run_command(check).exit_code, 0);
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_EQ(read_text(page), text);
}

TEST(PerformanceReport, ThePageSaysWhatTheResultsSay) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const ProgramRun run = run_command({"python3", kScript, "--check"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

}  // namespace
}  // namespace qsim::test
