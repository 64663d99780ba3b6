// qsim(1).
#include <cctype>
#include <sstream>

#include "cli/manual/manual.h"

namespace qsim::cli {
namespace {

/// `text` as itself, whatever the language of man(7) would read in it.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return (text.empty() || text[0] != '.' ? "" : "\\&") + escaped;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }

std::string capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

bool is_title(const std::string& line) { return line.size() > 1 && line[0] != ' ' && line.back() == ':'; }

/// Lines of a help text: titles become headings, indented lines stay as they are, others are filled.
std::string body(const std::string& text, const std::string& heading) {
  std::string made;
  bool verbatim = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.compare(0, 2, "  ") == 0;
    if (verbatim != indented) made += verbatim ? ".EE\n.RE\n" : ".RS\n.EX\n";
    verbatim = indented;
    if (line.empty()) {
      made += ".PP\n";
    } else if (is_title(line)) {
      line.pop_back();
      if (heading == ".SH") line = capitals(line);
      made += heading + " " + plain(line) + "\n";
    } else {
      made += plain(indented ? line.substr(2) : line) + "\n";
    }
  }
  return made + (verbatim ? ".EE\n.RE\n" : "");
}

std::string entry(const FlagManual& flag) {
  std::string head;
  for (const std::string& name : names_of(flag)) head += (head.empty() ? "" : ", ") + bold(name);
  if (!flag.placeholder.empty()) head += " \\fI" + plain(flag.placeholder) + "\\fR";
  return ".TP\n" + head + "\n" + plain(flag.help) + "\n";
}

std::string command_section(const ProgramManual::Command& command) {
  std::string usage = bold(command.manual.command) + " [flags]";
  for (const FlagManual& flag : command.manual.flags) {
    if (flag.positional) usage += " [\\fI" + plain(flag.names) + "\\fR" + (flag.repeatable ? " ..." : "") + "]";
  }
  std::string text =
      ".SH " + plain("COMMAND " + command.name) + "\n" + usage + "\n.PP\n" + plain(command.manual.summary) + "\n";
  std::string group = "";
  for (const FlagManual& flag : command.manual.flags) {
    if (flag.group != group) text += ".SS " + plain(flag.group) + "\n";
    group = flag.group;
    text += entry(flag);
  }
  return text + body(command.manual.footer, ".SS");
}

}  // namespace

std::vector<std::string> names_of(const FlagManual& flag) {
  std::vector<std::string> names;
  std::istringstream words(flag.names);
  for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  return names;
}

bool takes_file(const FlagManual& flag) { return flag.role != Role::kWord; }

std::string man_page(const ProgramManual& program) {
  // The overview's first line is "qsim VERSION: what it does"; its usage and examples stand here as they stand there.
  const std::string& overview = program.overview;
  const std::size_t colon = overview.find(": "), end = overview.find('\n');
  const std::size_t usage = overview.find("Usage: "), commands = overview.find("\nCommands:\n");
  const std::size_t rest = overview.find("\n\n", commands + 1);
  std::string text = ".TH QSIM 1 \"\" \"qsim " + program.version + "\" \"User Commands\"\n.SH NAME\nqsim \\- " +
                     plain(overview.substr(colon + 2, end - colon - 2)) + "\n.SH SYNOPSIS\n.EX\n";
  std::istringstream lines(overview.substr(usage, commands - usage));
  for (std::string line; std::getline(lines, line);) text += line.size() > 7 ? plain(line.substr(7)) + "\n" : "";
  text += ".EE\n.SH COMMANDS\n";
  for (const ProgramManual::Command& command : program.commands) {
    text += ".TP\n" + bold(command.name) + "\n" + plain(command.summary) + "\n";
  }
  for (const ProgramManual::Command& command : program.commands) {
    text += command_section(command);
  }
  return text + body(overview.substr(rest + 2), ".SH");
}

}  // namespace qsim::cli
