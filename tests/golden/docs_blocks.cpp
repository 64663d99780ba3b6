#include "golden/docs_blocks.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace qsim::test {
namespace {

namespace fs = std::filesystem;

bool is_blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

bool begins_with(const std::string& line, std::string_view begin) { return line.compare(0, begin.size(), begin) == 0; }

/// Takes a mark in; false when the line is none.
bool take_mark(const std::string& line, Block& next) {
  static const std::regex mark(R"(\s*<!-- (not run|setup|file|exit|numbers vary)(?:: (.+))? -->\s*)");
  std::smatch match;
  if (!std::regex_match(line, match, mark)) return false;
  const std::string word = match[1], value = match[2];
  if (value.empty() != (word == "numbers vary")) throw std::runtime_error("a mark without its value: " + line);
  if (word == "not run") next.not_run = value;
  if (word == "setup") next.setup.push_back(value);
  if (word == "file") next.file = value;
  if (word == "exit") next.exit_code = std::stoi(value);
  if (word == "numbers vary") next.numbers_vary = true;
  return true;
}

/// Reads a page line by line.
class PageReader {
 public:
  explicit PageReader(const std::string& page) : lines_(lines_of(page)) {}

  std::vector<Block> read() {
    bool marked = false, after_blank = true;
    Block next;
    while (at_ < lines_.size()) {
      const std::string& line = lines_[at_];
      const std::size_t fence = line.find_first_not_of(' ');
      if (take_mark(line, next)) {
        marked = true;
        after_blank = true;
        ++at_;
      } else if (fence != std::string::npos && begins_with(line.substr(fence), "```")) {
        take_fenced(next, fence);
        finish(next, marked);
      } else if (after_blank && begins_with(line, "    ") && !is_blank(line)) {
        take_indented(next);
        finish(next, marked);
      } else {
        if (marked && !is_blank(line))
          throw std::runtime_error("a mark before no block: line " + std::to_string(at_ + 1));
        after_blank = is_blank(line);
        ++at_;
      }
    }
    return blocks_;
  }

 private:
  void take_fenced(Block& block, std::size_t fence) {
    block.line = at_ + 2;
    block.indent = std::string(fence, ' ');
    block.language = lines_[at_].substr(fence + 3);
    for (++at_; at_ < lines_.size() && lines_[at_].find("```") != fence; ++at_) {
      block.lines.push_back(lines_[at_].substr(std::min(fence, lines_[at_].size())));
    }
    if (at_ == lines_.size()) throw std::runtime_error("a fence without its end: line " + std::to_string(block.line));
    ++at_;
  }

  void take_indented(Block& block) {
    block.line = at_ + 1;
    block.indent = "    ";
    for (; at_ < lines_.size() && (is_blank(lines_[at_]) || begins_with(lines_[at_], "    ")); ++at_) {
      block.lines.push_back(is_blank(lines_[at_]) ? "" : lines_[at_].substr(4));
    }
    while (block.lines.back().empty()) block.lines.pop_back();
  }

  void finish(Block& next, bool& marked) {
    blocks_.push_back(std::move(next));
    next = Block();
    marked = false;
  }

  std::vector<std::string> lines_;
  std::vector<Block> blocks_;
  std::size_t at_ = 0;
};

/// Whether a line of a block begins as a command does: with a program's name, behind what it sets for it.
bool is_command(const std::string& line) {
  static const std::regex command(
      R"(\s*(\w+='[^']*' +|\w+="[^"]*" +|\w+=\S* +)*)"
      R"((qsim|qsim_\w+|mpirun|srun|sbatch|squeue|bash|cmake|ctest|cpack|python3?|pip|git|docker|apptainer|spack|conda|sudo|cd|)"
      R"(export|apt-get|xargs|clang-\w+|module|make|\./\S+|\.\./configure|build/\S+|tests/\S+|benchmarks/\S+|python/\S+|\.ci/run)( .*|$))");
  return std::regex_match(line, command);
}

bool goes_on(const std::string& line) { return !line.empty() && line.back() == '\\'; }

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<fs::path> documents() {
  const fs::path source = QSIM_SOURCE_DIR;
  std::vector<fs::path> found{source / "README.md"};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Block> blocks_of(const std::string& page) { return PageReader(page).read(); }

std::vector<ShownCommand> commands_of(const Block& block) {
  const auto prompts = [](const std::string& line) { return begins_with(line, "$ "); };
  const bool shows = std::any_of(block.lines.begin(), block.lines.end(), prompts);
  if (!block.file.empty() || (!shows && !std::any_of(block.lines.begin(), block.lines.end(), is_command))) return {};
  std::vector<ShownCommand> commands;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    const std::string& line = block.lines[i];
    if (shows && !prompts(line)) {
      if (commands.empty()) throw std::runtime_error("output before a command: line " + std::to_string(block.line));
      commands.back().output.push_back(line);
      continue;
    }
    if (is_blank(line) || line[0] == '#') continue;
    ShownCommand command{block.line + i, 0, shows ? line.substr(2) : line, shows, {}};
    while (goes_on(block.lines[i]) && i + 1 < block.lines.size()) command.command += "\n" + block.lines[++i];
    command.output_line = block.line + i + 1;
    commands.push_back(command);
  }
  return commands;
}

std::string masked(const std::string& line, bool numbers_vary) {
  struct Mask {
    std::regex pattern;
    const char* replacement;
  };
  static const std::array<Mask, 8> masks{{
      {std::regex(R"(^( *ran on ).*$)"), "$1 (machine)"},
      {std::regex(R"(^( *because ).*$)"), "$1 (reason)"},
      {std::regex(R"(^( *time  )[^:]*\(.*\))"), "$1 (times)"},
      {std::regex(R"(, [0-9.]+ [KMGT]?i?B(ytes)? a rank at most)"), ", (memory) a rank at most"},
      {std::regex(R"(\d+ \(drawn; --seed \d+ repeats it\))"), "(drawn)"},
      {std::regex(R"(-(0\.0+)(?![0-9]))"), "+$1"},
      {std::regex(R"(\s+)"), " "},
      {std::regex(R"(^ | $)"), ""},
  }};
  std::string text = line;
  for (const Mask& mask : masks) text = std::regex_replace(text, mask.pattern, mask.replacement);
  static const std::regex number(R"(\d[\d.]*(e[+-]?\d+)?( (ns|us|ms|s)\b)?)");
  return numbers_vary ? std::regex_replace(text, number, "#") : text;
}

namespace {

/// Masked, and outcomes whose values are equal as printed in the order of their bits: rounding decides between them.
std::vector<std::string> comparable(const std::vector<std::string>& lines, bool numbers_vary) {
  static const std::regex outcome(R"(([01]+ )+[-+0-9.]+ .*)"), bits(R"(^([01]+ )+)");
  std::vector<std::string> result;
  for (const std::string& line : lines) result.push_back(masked(line, numbers_vary));
  const auto values = [&](std::size_t i) {
    return std::regex_match(result[i], outcome) ? std::regex_replace(result[i], bits, "") : std::string();
  };
  for (std::size_t begin = 0, end; begin < result.size(); begin = end) {
    const std::string first = values(begin);
    for (end = begin + 1; end < result.size() && !first.empty() && values(end) == first;) ++end;
    std::sort(result.begin() + static_cast<std::ptrdiff_t>(begin), result.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return result;
}

}  // namespace

bool is_shown(const std::vector<std::string>& shown_lines, const std::vector<std::string>& printed_lines,
              bool numbers_vary) {
  const std::vector<std::string> shown = comparable(shown_lines, numbers_vary),
                                 printed = comparable(printed_lines, numbers_vary);
  // reached[j]: the lines shown so far can be the first j lines printed.
  std::vector<bool> reached(printed.size() + 1);
  reached[0] = true;
  for (const std::string& line : shown) {
    std::vector<bool> next(printed.size() + 1);
    for (std::size_t j = 0; j <= printed.size(); ++j) {
      if (line == "...") {
        next[j] = reached[j] || (j > 0 && next[j - 1]);
      } else {
        next[j] = j > 0 && reached[j - 1] && line == printed[j - 1];
      }
    }
    reached = next;
  }
  return reached[printed.size()];
}

}  // namespace qsim::test
