// The code blocks of a Markdown page, with the marks that stand before them, and when a printed text is the one that a
// page shows.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace qsim::test {

/// README.md and every page under docs.
std::vector<std::filesystem::path> documents();

/// A block is fenced, or indented by four spaces. Marks are HTML comments in lines of their own right before it:
///   <!-- not run: REASON -->    its commands are not run
///   <!-- setup: COMMAND -->     is run before it
///   <!-- file: NAME -->         it is not run but written to that file, for the commands that follow
///   <!-- exit: N -->            its last command ends with that code instead of 0
///   <!-- numbers vary -->       numbers of what is printed are not compared, nor the units of times
struct Block {
  std::size_t line = 0;            // of the page, where its text begins, from 1
  std::string indent;              // before each of its lines
  std::string language;            // behind the fence
  std::vector<std::string> lines;  // without indentation
  std::string not_run, file;       // the marks; empty: not there
  std::vector<std::string> setup;
  int exit_code = 0;
  bool numbers_vary = false;
};

std::vector<Block> blocks_of(const std::string& page);

/// A command of a block and what is shown below it. Where a block has lines that begin with "$ " these are its
/// commands, and what stands between them is what they print. A block without, whose first word is a program's name,
/// has a command a line and shows nothing. Others have none.
struct ShownCommand {
  std::size_t line = 0, output_line = 0;  // of the page
  std::string command;
  bool shows = false;  // what it prints is compared
  std::vector<std::string> output;
};

std::vector<ShownCommand> commands_of(const Block& block);

/// What differs between machines and runs is made equal: processor, threads, times, drawn seeds, memory that depends on
/// threads, the sign of 0; blanks in a row are one. With `numbers_vary` all numbers.
std::string masked(const std::string& line, bool numbers_vary);

/// Whether `printed` is what is shown, but for what `masked` takes out, and for the order of outcomes that are equally
/// probable. A line "..." stands for any lines.
bool is_shown(const std::vector<std::string>& shown, const std::vector<std::string>& printed, bool numbers_vary);

std::vector<std::string> lines_of(const std::string& text);

}  // namespace qsim::test
