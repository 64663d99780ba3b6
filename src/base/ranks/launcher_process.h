// The process that started this one for a launcher: mpirun, or its daemon on another host. Read from /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace qsim {

/// A process of this host.
struct HostProcess {
  int pid = 0;
  std::string name;              // of the program, "mpirun"
  std::uint64_t start_time = 0;  // with the pid, names the process for ever
};
/// The process of that id as it is now; without an id where it cannot be read.
HostProcess process_of(int pid);

/// The nearest ancestor that is a launcher or a launcher's daemon by name; without one, the parent.
HostProcess launcher_process();

/// True when it has ended, though it may still wait to be collected.
bool has_ended(const HostProcess& process);

/// True for the daemons and front ends of Open MPI, which wait for lost hosts longer than their ranks do.
bool is_open_mpi(const HostProcess& launcher);

/// Where mpirun, on this host, sends what this process writes to standard output.
struct StdoutRelay {
  enum class Kind : std::uint8_t { kNone, kClosed, kFile, kDevice };  // kNone: there is none, or it cannot be seen
  Kind kind = Kind::kNone;
  std::string path;            // through which it can be opened
  std::uint64_t position = 0;  // kFile: where the next byte goes
};
StdoutRelay stdout_relay();

/// A path to what standard input is: this process's, or mpirun's on this host, which hands it on to the first rank.
std::string standard_input_path(bool launched);

}  // namespace qsim
