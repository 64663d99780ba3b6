// How a rank ends that can no longer reach the others: a message, the exit code, and a launcher that follows.
#pragma once

#include <string>

#include "base/ranks/launcher_process.h"

namespace qsim {

/// Writes `message` to standard error, removes unfinished files and ends this process at once with `exit_code`.
[[noreturn]] void end_process(const std::string& message, int exit_code);

/// Sees to it that Open MPI's launcher on this host does not outlive its ranks: it waits for minutes for a host that
/// is cut off. A child process gives it a moment to end by itself, then asks it (SIGTERM), then ends it (SIGKILL).
/// Other launchers are left alone.
void end_launcher_soon(const HostProcess& launcher);

}  // namespace qsim
