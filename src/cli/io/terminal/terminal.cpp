#include "cli/io/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace qsim::cli {
namespace {

constexpr std::size_t kFewestColumns = 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Columns that `text` takes: characters of UTF-8, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

/// The byte behind the first `columns` columns of `text`.
std::size_t byte_at(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0u) != 0x80u && columns-- == 0) return at;
    ++at;
  }
  return at;
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  if (::isatty(descriptor) != 1) return 0;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<std::size_t>(size.ws_col, kFewestColumns);
  }
  const unsigned long columns = std::strtoul(variable("COLUMNS").c_str(), nullptr, 10);
  return columns == 0 ? 80 : std::clamp<std::size_t>(columns, kFewestColumns, 1000);
}

bool wants_colour(int descriptor) {
  if (!variable("NO_COLOR").empty()) return false;
  const std::string force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  const std::string term = variable("TERM");
  return ::isatty(descriptor) == 1 && !term.empty() && term != "dumb" && variable("CLICOLOR") != "0";
}

std::string coloured(std::string_view text, Colour colour) {
  const char* code = "1";
  switch (colour) {
    case Colour::kRed:
      code = "1;31";
      break;
    case Colour::kYellow:
      code = "33";
      break;
    case Colour::kGreen:
      code = "32";
      break;
    case Colour::kCyan:
      code = "36";
      break;
    case Colour::kBold:
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string fit_line(const std::string& line, std::size_t columns) {
  if (columns < kFewestColumns || width_of(line) <= columns) return line;
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const bool command = line.compare(indent, 5, "qsim ") == 0 || line.compare(indent, 7, "mpirun ") == 0;
  const std::size_t gap = line.find("  ", indent);
  std::size_t hang = indent + 2;
  if (gap != std::string::npos && !command) {
    const std::size_t second = width_of(line.substr(0, std::min(line.find_first_not_of(' ', gap), line.size())));
    if (second <= columns / 2) hang = second;
  }
  const std::size_t room = columns - (command ? 2 : 0);
  std::string text, rest = line;
  std::size_t begin = byte_at(rest, hang);  // no break before here
  while (width_of(rest) > (command ? room + 2 : room)) {
    std::size_t space = rest.rfind(' ', byte_at(rest, room));
    if (space == std::string::npos || space < begin) space = rest.find(' ', begin);  // a word wider than the terminal
    if (space == std::string::npos) break;
    const std::size_t next = rest.find_first_not_of(' ', space);
    if (next == std::string::npos) break;
    const std::size_t end = rest.find_last_not_of(' ', space);
    text += rest.substr(0, end + 1) + (command ? " \\\n" : "\n");
    rest = std::string(hang, ' ') + rest.substr(next);
    begin = hang;
  }
  return text + rest;
}

std::string paint_line(const std::string& line) {
  if (line.compare(0, 13, "  warning    ") == 0) return "  " + coloured("warning", Colour::kYellow) + line.substr(9);
  if (line.compare(0, 9, "warning: ") == 0) return paint_message(line);
  const std::size_t bar = line.find_last_not_of('#');
  if (bar != std::string::npos && bar + 1 < line.size() && bar > 0 && line[bar] == ' ') {
    return line.substr(0, bar + 1) + coloured(line.substr(bar + 1), Colour::kGreen);
  }
  const bool heading = !line.empty() && line[0] != ' ';
  return heading ? coloured(line, Colour::kBold) : line;
}

std::string paint_message(const std::string& message) {
  const std::size_t end = message.find('\n');
  const std::string first = message.substr(0, end);
  const std::size_t error = first.find("error: ");
  const auto painted = [&](std::size_t length, Colour colour) {
    return coloured(message.substr(0, length), colour) + message.substr(length);
  };
  if (first.compare(0, 5, "hint:") == 0) return painted(5, Colour::kCyan);
  if (first.compare(0, 8, "warning:") == 0) return painted(8, Colour::kYellow);
  return error == std::string::npos ? message : painted(error + 6, Colour::kRed);
}

}  // namespace qsim::cli
