// Every flag that --help lists, with every kind of value that means trouble: the program says what is wrong, in one of
// the ways that are documented, or does what was asked. A new flag is covered when it is added.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct ListedFlag {
  std::string name, value;  // "--shots", "N"; no value: a switch
};

/// The table of flags as the program prints it: "  --shots N    samples to draw", "  -n,--qubits N   ...".
std::vector<ListedFlag> flags_of(const std::string& command) {
  std::vector<ListedFlag> flags;
  std::istringstream lines(run_qsim({command, "--help"}).out);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "  -") != 0) continue;
    std::istringstream words(line);
    std::string names, value;
    words >> names;
    const std::size_t value_at = line.find(names) + names.size() + 1;
    if (value_at < line.size() && line[value_at - 1] == ' ' && line[value_at] != ' ') words >> value;
    const std::string name = names.substr(names.find("--"));
    if (name != "--help") flags.push_back({name, value});
  }
  return flags;
}

/// What a command needs beside the flag.
Words command_line(const std::string& command, const std::string& circuit) {
  if (command == "gen") return {"gen", "ghz", "-n", "3"};
  if (command == "gram") return {"gram", circuit, circuit};
  if (command == "bench") return {"bench", circuit, "--repeats", "1", "--warm-ups", "0"};
  if (command == "info") return {"info"};
  return {command, circuit};
}

class EveryFlag : public testing::TestWithParam<std::string> {};

TEST_P(EveryFlag, AnswersHostileValuesWithAMessageAndItsCode) {
  const TemporaryFolder folder;
  const std::string circuit =
      folder.file("c.qasm", "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[3];\ncreg c[3];\nh q;\nmeasure q -> c;\n");
  const std::string text = read_text(circuit);
  const std::string pipe = folder.file("pipe"), link = folder.file("link"), dangling = folder.file("dangling");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(circuit, link);
  fs::create_symlink(folder.path() + "/absent", dangling);
  const Words values{"",
                     "-1",
                     "0",
                     "18446744073709551615",
                     "18446744073709551616",
                     "1e308",
                     "nan",
                     "-0.0",
                     "x",
                     "\x1b[31m\x07",
                     "%n%s",
                     "/dev/full",
                     "/dev/zero",
                     "/dev/null",
                     pipe,
                     link,
                     dangling,
                     folder.path(),
                     "/nowhere/file",
                     circuit,
                     "1,1,1",
                     "4294967296",
                     "../../../../../../etc/passwd",
                     std::string(5000, '9'),
                     "0x10"};
  const InFolder inside(folder.path());
  const std::vector<ListedFlag> flags = flags_of(GetParam());
  EXPECT_GE(flags.size(), GetParam() == "info" ? 0u : 4u);
  const std::set<int> documented{0, 2, 3, 4, 5, 6, 8, 9};
  for (const ListedFlag& flag : flags) {
    Words tried = flag.value.empty() ? Words{"--switch--"} : values;
    for (const std::string& value : tried) {
      if (flag.name == "--shots" && value == "4294967296") continue;  // is what it says, and takes minutes
      Words words = command_line(GetParam(), circuit);
      // A flag of the base line is tried in its place.
      if (const auto there = std::find(words.begin(), words.end(), flag.name); there != words.end()) {
        words.erase(there, there + 2);
      }
      words.push_back(value == "--switch--" ? flag.name : flag.name + "=" + value);
      const auto begin = std::chrono::steady_clock::now();
      const ProgramRun run = run_qsim(words);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const std::string what =
          GetParam() + " " + flag.name + " '" + value.substr(0, 60) + "': " + run.err.substr(0, 300);
      EXPECT_TRUE(documented.contains(run.exit_code)) << run.exit_code << " " << what;
      EXPECT_LT(seconds, 20) << what;
      EXPECT_EQ((run.out + run.err).find('\x1b'), std::string::npos) << what;
      EXPECT_EQ((run.out + run.err).find("root:"), std::string::npos) << what;
      if (run.exit_code != 0 && run.exit_code != 8) {
        EXPECT_NE(run.err, "") << what;
        EXPECT_EQ(run.out, "") << what;
      }
      // `gen` reads nothing: it replaces the file that it was told to.
      if (GetParam() != "gen") {
        EXPECT_EQ(read_text(circuit), text) << what;
      }
      EXPECT_FALSE(fs::exists(folder.path() + "/absent")) << what;
      EXPECT_TRUE(fs::is_symlink(link)) << what;
      if (value.empty()) {
        EXPECT_EQ(run.exit_code, 2) << what;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryFlag,
                         testing::Values("run", "plan", "bench", "gram", "draw", "convert", "gen", "info"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace qsim::test
