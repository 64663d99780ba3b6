// One command's flags: declared, parsed and explained. The flag library stays inside flags.cpp.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "qsim/target.h"

namespace qsim::cli {

/// What the value of a flag is, as far as files go.
enum class Role : std::uint8_t {
  kWord,
  kInput,         // a file that is read, or a word where there is no such file
  kOutput,        // a file that is made
  kOutputStream,  // the same, or a pipe or a device
};

/// One flag or argument, as manuals and shells show it.
struct FlagManual {
  std::string names, placeholder, help, group;  // "-n,--qubits"; the placeholder of a switch is empty
  std::vector<std::string> choices;             // what it takes, where that is a list
  Role role = Role::kWord;
  bool positional = false, repeatable = false;
};

/// A command as it explains itself.
struct CommandManual {
  std::string command, summary, footer;
  std::vector<FlagManual> flags;
};

/// What `--help` and `--version` throw: text for standard output, exit 0; `--help` with what that text was made of.
struct TextRequested {
  std::string text;
  CommandManual manual = {};
};

/// Declares flags bound to variables, then parses. Values stay text here: values.h checks and converts them.
class Flags {
 public:
  Flags(const std::string& command, const std::string& summary, const std::string& footer);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  void group(const std::string& title);  // heading of the flags declared next
  void positional(const std::string& name, std::string& value, const std::string& help, Role role = Role::kWord);
  /// Any number of words that are no flags.
  void positionals(const std::string& name, std::vector<std::string>& values, const std::string& help,
                   Role role = Role::kWord);
  void flag(const std::string& names, bool& value, const std::string& help);
  void text(const std::string& names, std::string& value, const std::string& placeholder, const std::string& help,
            Role role = Role::kWord);
  /// May be repeated, one value each time.
  void list(const std::string& names, std::vector<std::string>& values, const std::string& placeholder,
            const std::string& help, Role role = Role::kWord);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);

  /// UsageError (with the nearest flag where one is near; an empty value; a file that is made and also read or made by
  /// another flag) or TextRequested.
  void parse(std::span<const std::string> arguments);
  /// True when `name` ("--threads") was on the command line.
  bool given(const std::string& name) const;
  /// UsageError where one of these was typed: an MPI launcher has the say.
  void leave_to_launcher(std::initializer_list<const char*> names) const;
  /// FileError where a file that is to be made cannot be: said before a long run rather than after it.
  void require_writable_outputs() const;
  /// The files that are to be made.
  std::vector<std::string> outputs() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What a flag for this choice takes.
template <typename Choice>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const Named<Choice>& one : choices<Choice>()) names.emplace_back(one.name);
  return names;
}

}  // namespace qsim::cli
