// The manual page and the shells' completions hold every command and every flag that the program takes.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

std::string output_of(const std::vector<std::string>& arguments) {
  const ProgramRun run = run_qsim(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.out;
}

/// First words of the indented lines below `title` in a help text.
std::vector<std::string> listed_below(const std::string& text, const std::string& title) {
  std::vector<std::string> words;
  std::istringstream lines(text.substr(text.find(title) + title.size()));
  for (std::string line; std::getline(lines, line) && line.compare(0, 2, "  ") == 0;) {
    words.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return words;
}

std::vector<std::string> commands() { return listed_below(output_of({"--help"}), "\nCommands:\n"); }

/// The long flags that --help of a command names in its first column.
std::set<std::string> flags_of(const std::string& command) {
  std::set<std::string> flags;
  std::istringstream lines(output_of({command, "--help"}));
  const std::regex flag("^  (?:-[a-z],)?(--[a-z-]+).*");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, flag) && match[1] != "--help") flags.insert(match[1]);
  }
  return flags;
}

/// What bash offers after `words`, the last of which is being typed.
std::string offered(const std::string& words) {
  const std::string script = "source <('" + std::string(QSIM_PROGRAM) + "' completion bash); COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _qsim; echo \"${COMPREPLY[*]}\"";
  const ProgramRun run = run_command({"bash", "-c", script});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return " " + run.out.substr(0, run.out.size() - 1) + " ";
}

TEST(Manual, PageNamesEveryCommandAndFlag) {
  const std::string page = output_of({"man"});
  EXPECT_EQ(page.compare(0, 10, ".TH QSIM 1"), 0);
  for (const char* heading : {".SH NAME\nqsim \\- ", ".SH SYNOPSIS\n", ".SH COMMANDS\n", ".SH EXAMPLES\n"}) {
    EXPECT_NE(page.find(heading), std::string::npos) << heading;
  }
  ASSERT_GE(commands().size(), 7u);
  for (const std::string& command : commands()) {
    const std::size_t begin = page.find("\n.SH COMMAND " + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string section = page.substr(begin, page.find("\n.SH ", begin + 1) - begin);
    for (const std::string& flag : flags_of(command)) {
      const std::string shown = std::regex_replace("\\fB" + flag + "\\fR", std::regex("-"), "\\-");
      EXPECT_NE(section.find(shown), std::string::npos) << command << " " << flag;
    }
  }
}

TEST(Manual, PageIsUnderstoodByMan) {
  const ProgramRun run = run_command({"bash", "-c",
                                      "command -v groff > /dev/null || exit 77; '" + std::string(QSIM_PROGRAM) +
                                          "' man | groff -man -Tascii -ww 2>&1 > /dev/null"});
  if (run.exit_code == 77) GTEST_SKIP() << "there is no groff";
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
}

TEST(Completion, OfBashOffersEveryCommandAndFlag) {
  const std::string first = offered("qsim ''");
  for (const std::string& command : commands()) {
    EXPECT_NE(first.find(" " + command + " "), std::string::npos) << command;
    const std::string all = offered("qsim " + command + " --");
    for (const std::string& flag : flags_of(command)) {
      EXPECT_NE(all.find(" " + flag + " "), std::string::npos) << command << " " << flag;
    }
  }
}

TEST(Completion, OfBashKnowsWhatAFlagTakes) {
  EXPECT_EQ(offered("qsim plan --precision ''"), " double single ");
  EXPECT_EQ(offered("qsim --backend c"), " cpu cuda ");
  EXPECT_EQ(offered("qsim gen --seed ''"), "  ");
  EXPECT_EQ(offered("qsim plan --prec"), " --precision ");
  const TemporaryFolder folder;
  run_command({"touch", folder.file("my circuit.qasm")});
  const std::string file = folder.file("my");
  EXPECT_EQ(offered("qsim " + file), " " + folder.file("my circuit.qasm") + " ");
  EXPECT_EQ(offered("qsim plan --output " + file), " " + folder.file("my circuit.qasm") + " ");
}

TEST(Completion, IsReadByItsShell) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const TemporaryFolder folder;
    const std::string script = folder.file("script");
    ASSERT_EQ(run_qsim({"completion", shell, "--output", script}).exit_code, 0);
    for (const std::string& command : commands()) {
      EXPECT_NE(read_text(script).find(command), std::string::npos) << shell << " " << command;
    }
    const ProgramRun run = run_command({"bash", "-c",
                                        "command -v " + shell + " > /dev/null || exit 0; " + shell +
                                            (shell == "fish" ? " --no-execute " : " -n ") + script});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
}

TEST(Completion, OfAnUnknownShellIsAUsageError) {
  const ProgramRun run = run_qsim({"completion", "tcsh"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("bash, zsh, fish"), std::string::npos) << run.err;
  EXPECT_EQ(run_qsim({"completion"}).exit_code, 2);
}

}  // namespace
}  // namespace qsim::test
