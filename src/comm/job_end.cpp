#include "comm/job_end.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/file/files.h"

namespace qsim {
namespace {

constexpr long kPauseNanoseconds = 100'000'000;
/// Open MPI 4.1's mpirun crashes (in PMIx_Finalize) when it is asked to end while it ends its ranks: it first has three
/// times the second that it leaves them between TERM and KILL.
constexpr int kPausesBeforeTerm = 30, kPausesBeforeKill = 30;

/// True when `pid` ends within so many pauses. Async-signal-safe: runs in the child of a process with threads.
bool ends_within(pid_t pid, int pauses) {
  for (int i = 0; i < pauses; ++i) {
    if (::kill(pid, 0) != 0) return true;
    const timespec pause{0, kPauseNanoseconds};
    ::nanosleep(&pause, nullptr);
  }
  return ::kill(pid, 0) != 0;
}

}  // namespace

void end_process(const std::string& message, int exit_code) {
  const std::string line = message + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  remove_unfinished_files();
  ::_exit(exit_code);
}

void end_launcher_soon(const HostProcess& launcher) {
  if (!is_open_mpi(launcher)) return;
  const pid_t child = ::fork();
  if (child != 0) return;
  ::setsid();  // out of the group that the launcher signals
  // The launcher waits for the ends of its ranks' pipes.
  for (int descriptor = 0; descriptor <= 2; ++descriptor) ::close(descriptor);
  (void)fill_standard_descriptors();
  ::close_range(3, ~0u, 0);
  if (ends_within(launcher.pid, kPausesBeforeTerm)) ::_exit(0);
  ::kill(launcher.pid, SIGTERM);
  if (ends_within(launcher.pid, kPausesBeforeKill)) ::_exit(0);
  ::kill(launcher.pid, SIGKILL);
  ::_exit(0);
}

}  // namespace qsim
