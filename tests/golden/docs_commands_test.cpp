// Every command of the documents is run and prints what they show; those that cannot be run here say why. With
// QSIM_UPDATE_DOCS=1 what is printed is written into the pages.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "golden/cli_program.h"
#include "golden/docs_blocks.h"

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A folder as a reader has it at the top of the sources once they are built, without what is not run.
class ReadersFolder {
 public:
  ReadersFolder() {
    fs::copy(fs::path(QSIM_SOURCE_DIR) / "circuits", folder_.file("circuits"), fs::copy_options::recursive);
    for (const char* name : {"bin", "build/bin"}) {
      fs::create_directories(folder_.file(name));
      fs::create_symlink(QSIM_PROGRAM, fs::path(folder_.file(name)) / "qsim");
    }
    if (!mpi_is_here()) return;
    // mpirun as this machine needs it, whose last two words are a number of ranks and the program.
    std::vector<std::string> launcher = mpi_command(1, {});
    launcher.resize(launcher.size() - 3);
    std::string script = "#!/bin/sh\nexec";
    for (const std::string& word : launcher) script += " '" + word + "'";
    const std::string file = folder_.file("bin/mpirun", script + " \"$@\"\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  /// What a terminal would show.
  ProgramRun run(const std::string& command) const {
    const std::string setup = "cd '" + folder_.path() + "' && PATH=\"$PWD/bin:$PATH\" && unset QSIM_SHARED && ";
    return run_command({"bash", "-o", "pipefail", "-c", setup + "{ " + command + "\n} 2>&1"});
  }

  void write(const Block& block) const { folder_.file(block.file, joined(block.lines)); }

 private:
  TemporaryFolder folder_;
};

/// What may be run without a question: the program, and what only reads. The rest sets up machines, takes long or is a
/// cluster's, and needs a mark.
bool is_harmless(const std::string& command) {
  static const std::regex harmless(
      R"((\w+=\S+ )*(qsim|build/bin/qsim|mpirun|bash \w+\.sh|cat|head|tail|grep|ls|wc|diff|cmp|printf|echo)(\s[^]*)?)");
  return std::regex_match(command, harmless);
}

struct Counts {
  std::size_t run = 0, compared = 0, not_run = 0, without_mpi = 0;
};

/// Lines of a page that other ones take the place of.
struct Correction {
  std::size_t line, count;
  std::vector<std::string> lines;
};

/// Writes what is printed into the page, where QSIM_UPDATE_DOCS asks for it.
void correct(const fs::path& page, const std::vector<Correction>& corrections) {
  if (corrections.empty() || std::getenv("QSIM_UPDATE_DOCS") == nullptr) return;
  std::vector<std::string> lines = lines_of(read_text(page.string()));
  for (auto correction = corrections.rbegin(); correction != corrections.rend(); ++correction) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(correction->line - 1);
    const auto after = lines.erase(begin, begin + static_cast<std::ptrdiff_t>(correction->count));
    lines.insert(after, correction->lines.begin(), correction->lines.end());
  }
  std::ofstream(page) << joined(lines);
}

std::string without_blanks_at_the_end(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

void run_block(const ReadersFolder& folder, const Block& block, Counts& counts, std::vector<Correction>& corrections) {
  for (const std::string& command : block.setup) {
    const ProgramRun run = folder.run(command);
    EXPECT_EQ(run.exit_code, 0) << "setup: " << command << "\n" << run.out;
  }
  const std::vector<ShownCommand> commands = commands_of(block);
  for (const ShownCommand& shown : commands) {
    if (shown.command.find("mpirun") != std::string::npos && !mpi_is_here()) {
      ++counts.without_mpi;
      continue;
    }
    if (!is_harmless(shown.command)) {
      ADD_FAILURE() << "line " << shown.line << ": " << shown.command << "\nis not run here, and no mark says why";
      continue;
    }
    const ProgramRun run = folder.run(shown.command);
    ++counts.run;
    EXPECT_EQ(run.exit_code, &shown == &commands.back() ? block.exit_code : 0)
        << "line " << shown.line << ": " << shown.command << "\n"
        << run.out;
    if (!shown.shows) continue;
    ++counts.compared;
    std::vector<std::string> output = shown.output;
    while (!output.empty() && output.back().empty()) output.pop_back();
    const std::vector<std::string> printed = lines_of(run.out);
    if (is_shown(output, printed, block.numbers_vary)) continue;
    ADD_FAILURE() << "line " << shown.line << ": " << shown.command << "\nprints\n"
                  << run.out << "where this is shown\n"
                  << joined(output);
    corrections.push_back({shown.output_line, output.size(), {}});
    for (const std::string& line : printed)
      corrections.back().lines.push_back(without_blanks_at_the_end(block.indent + line));
  }
}

TEST(Documents, CommandsPrintWhatTheyShow) {
  Counts counts;
  for (const fs::path& page : documents()) {
    SCOPED_TRACE(page);
    const ReadersFolder folder;
    std::vector<Correction> corrections;
    for (const Block& block : blocks_of(read_text(page.string()))) {
      if (!block.file.empty()) {
        folder.write(block);
        const std::string check = block.language == "bash" ? "bash -n '" + block.file + "'" : "true";
        EXPECT_EQ(folder.run(check).exit_code, 0) << block.file;
      } else if (!block.not_run.empty()) {
        const std::size_t commands = commands_of(block).size();
        EXPECT_GT(commands, 0u) << "line " << block.line << ": not run, but there is no command in it";
        counts.not_run += commands;
      } else {
        run_block(folder, block, counts, corrections);
      }
    }
    correct(page, corrections);
  }
  std::printf("%zu commands run, the output of %zu compared; %zu marked as not run, %zu without MPI left out\n",
              counts.run, counts.compared, counts.not_run, counts.without_mpi);
  EXPECT_GT(counts.run, 8u);
}

TEST(DocumentBlocks, AreFoundWithTheirMarks) {
  const std::vector<Block> blocks = blocks_of(
      "text\n    no block\n\n    qsim a.qasm   # one\n\n    qsim b.qasm\n\n<!-- file: x.qasm -->\n```qasm\nqreg "
      "q[2];\n```\n"
      "<!-- setup: touch y -->\n<!-- exit: 3 -->\n\n```console\n$ qsim \\\n  x.qasm\nerror\n$ qsim y\n```\n");
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].line, 4u);
  ASSERT_EQ(commands_of(blocks[0]).size(), 2u);
  EXPECT_FALSE(commands_of(blocks[0])[0].shows);
  EXPECT_EQ(blocks[1].file, "x.qasm");
  EXPECT_TRUE(commands_of(blocks[1]).empty());
  EXPECT_EQ(blocks[2].exit_code, 3);
  EXPECT_EQ(blocks[2].setup, std::vector<std::string>{"touch y"});
  const std::vector<ShownCommand> commands = commands_of(blocks[2]);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].command, "qsim \\\n  x.qasm");
  EXPECT_EQ(commands[0].output, std::vector<std::string>{"error"});
  EXPECT_TRUE(commands[1].output.empty());
  EXPECT_THROW(blocks_of("<!-- not run: why -->\ntext\n"), std::runtime_error);
  EXPECT_THROW(blocks_of("<!-- not run -->\n\n    qsim x\n"), std::runtime_error);
}

TEST(DocumentBlocks, CompareWhatDoesNotDependOnTheMachine) {
  const std::vector<std::string> shown{"  time       34.1 ms (start 641 us, plan 2 ms); 2 sweeps, 0 exchanges",
                                       "  ran on     cpu: X", "...", "  00   501   48.93 %  ###"};
  const std::vector<std::string> printed{"  time       1.2 s (start 2 us); 2 sweeps, 0 exchanges",
                                         "  ran on     cpu: Y, 4 threads", "between", "  00     501  48.93 %   ###"};
  EXPECT_TRUE(is_shown(shown, printed, false));
  for (const char* other : {"  00   502   48.93 %  ###", "  00 501 48.93", ""}) {
    std::vector<std::string> wrong = printed;
    wrong.back() = other;
    EXPECT_FALSE(is_shown(shown, wrong, false)) << other;
  }
  EXPECT_FALSE(is_shown({"  time   1 ms (a); 2 sweeps"}, {"  time   1 ms (a); 3 sweeps"}, false));
  EXPECT_FALSE(is_shown({"time: 1.0 us predicted"}, {"time: 2.0 us predicted"}, false));
  EXPECT_TRUE(is_shown({"a -0.000i, -0.001"}, {"a +0.000i, -0.001"}, false));
  EXPECT_FALSE(is_shown({"-0.001"}, {"+0.001"}, false));
  EXPECT_TRUE(is_shown({"a 1.5 ms, 2e-3"}, {"a 22 ms, 7"}, true));
  EXPECT_FALSE(is_shown({"a 1 ms"}, {"b 1 ms"}, true));
  EXPECT_FALSE(is_shown({"a"}, {"a", "b"}, false));
  const std::vector<std::string> outcomes{"  0 1  0.50  50 %  ##", "  1 0  0.50  50 %  ##", "  1 1  0.25  25 %  #"};
  EXPECT_TRUE(is_shown(outcomes, {outcomes[1], outcomes[0], outcomes[2]}, false));
  EXPECT_FALSE(is_shown(outcomes, {outcomes[0], outcomes[2], outcomes[1]}, false));
  EXPECT_FALSE(is_shown(outcomes, {outcomes[0], outcomes[0], outcomes[2]}, false));
}

}  // namespace
}  // namespace qsim::test
