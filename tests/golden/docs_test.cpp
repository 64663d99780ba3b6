// The documents' promises: links lead somewhere, and the README's commands do what it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = QSIM_SOURCE_DIR;

std::vector<fs::path> documents() {
  std::vector<fs::path> found{kSource / "README.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kSource / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

/// The name that a heading is linked by: small letters, dashes for spaces, no other marks.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

bool has_heading(const std::string& page, const std::string& anchor) {
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t marks = line.find_first_not_of('#');
    if (marks == 0 || marks == std::string::npos || line[marks] != ' ') continue;
    if (anchor_of(line.substr(marks + 1)) == anchor) return true;
  }
  return false;
}

TEST(Documents, LinksLeadSomewhere) {
  const std::regex link(R"(\]\(([^)\s]+)\))"), code("`[^`\n]*`");
  std::size_t links = 0;
  for (const fs::path& page : documents()) {
    const std::string text = std::regex_replace(read_text(page.string()), code, "");
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
      const std::string target = (*match)[1];
      if (target.find("://") != std::string::npos) continue;
      ++links;
      const std::size_t hash = target.find('#');
      const std::string file = target.substr(0, hash);
      const fs::path path = file.empty() ? page : page.parent_path() / file;
      ASSERT_TRUE(fs::exists(path)) << page << " links to " << target;
      if (hash == std::string::npos) continue;
      EXPECT_TRUE(has_heading(read_text(path.string()), target.substr(hash + 1))) << page << " links to " << target;
    }
  }
  EXPECT_GT(links, 20u);
}

/// Lines of the README's examples that begin with `begin`, without their comments.
std::vector<std::string> readme_lines(const std::string& begin) {
  std::vector<std::string> found;
  std::istringstream lines(read_text((kSource / "README.md").string()));
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 4 + begin.size(), "    " + begin) == 0) found.push_back(line.substr(4, line.find(" #") - 4));
  }
  return found;
}

TEST(Readme, EveryCommandRuns) {
  const TemporaryFolder folder;
  fs::copy_file(kSource / "circuits/ghz_20.qasm", folder.file("circuit.qasm"));
  fs::copy_file(kSource / "circuits/w_8.qasm", folder.file("a.qasm"));
  fs::copy_file(kSource / "circuits/w_8.qasm", folder.file("b.qasm"));
  const std::vector<std::string> commands = readme_lines("qsim ");
  EXPECT_GE(commands.size(), 8u);
  const std::string setup = "cd '" + folder.path() + "' && qsim() { '" + std::string(QSIM_PROGRAM) + "' \"$@\"; } && ";
  for (const std::string& command : commands) {
    const ProgramRun run = run_command({"bash", "-o", "pipefail", "-c", setup + command});
    EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.err;
    EXPECT_FALSE(run.out.empty()) << command;
  }
}

TEST(Readme, ShowsTheCountsOfItsFirstCommand) {
  const ProgramRun run = run_qsim({(kSource / "circuits/ghz_20.qasm").string(), "--ranks", "2", "--seed", "7"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::size_t outcomes = 0;
  for (const char* bit : {"  000", "  111"}) {
    for (const std::string& line : readme_lines(bit)) {
      EXPECT_NE(run.out.find(line), std::string::npos) << line << "\n" << run.out;
      ++outcomes;
    }
  }
  EXPECT_EQ(outcomes, 2u);
}

}  // namespace
}  // namespace qsim::test
