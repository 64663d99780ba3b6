// The program explained to manual readers and shells: made from what its commands declare, so never older than they
// are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/io/flags.h"
#include "qsim/target.h"

namespace qsim::cli {

enum class Shell : std::uint8_t { kBash, kZsh, kFish };

struct ProgramManual {
  struct Command {
    std::string name, summary;
    CommandManual manual;
  };
  std::string version;
  std::string overview;           // what `qsim --help` prints
  std::vector<Command> commands;  // the first is also what a first argument that is no command means
};

/// qsim(1) in the language of man(7).
std::string man_page(const ProgramManual& program);
/// The script that completes the program's command line.
std::string completion_script(Shell shell, const ProgramManual& program);

/// "-n,--qubits" as {"-n", "--qubits"}.
std::vector<std::string> names_of(const FlagManual& flag);
/// Whether its value is, or may be, a file.
bool takes_file(const FlagManual& flag);

}  // namespace qsim::cli
