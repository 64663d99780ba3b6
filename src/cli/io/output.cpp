#include "cli/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/ranks/launcher_process.h"
#include "qsim/communicator.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

/// Writes all of `text`; the error number, 0 when done.
int write_all(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    done += static_cast<std::size_t>(written);
  }
  return 0;
}

/// Waits until mpirun has written `bytes` to the file behind its standard output; false when it makes no headway.
bool relayed(StdoutRelay from, std::size_t bytes) {
  constexpr std::chrono::seconds kPatience{5};
  auto last_change = std::chrono::steady_clock::now();
  std::uint64_t position = from.position;
  while (position < from.position + bytes) {
    if (std::chrono::steady_clock::now() - last_change > kPatience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const StdoutRelay now = stdout_relay();
    if (now.kind != StdoutRelay::Kind::kFile) return true;  // it is not to be seen any more
    if (now.position != position) last_change = std::chrono::steady_clock::now();
    position = now.position;
  }
  return true;
}

/// Devices have no place that writers share, so that writing there oneself is as good, and shows errors.
int write_device(const std::string& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error = write_all(descriptor, text);
  ::close(descriptor);
  return error;
}

[[noreturn]] void fail(const std::string& what, int error) {
  throw FileError("cannot write " + what + ": " + std::strerror(error));
}

}  // namespace

Streams::Streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    if (descriptor == 1) stdout_closed_ = true;
    // open() gives the lowest free number, which is this one.
    if (::open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY) != descriptor) break;
  }
}

void Streams::require_stdout() const {
  const bool closed = stdout_closed_ || (launched_by_mpi() && stdout_relay().kind == StdoutRelay::Kind::kClosed);
  if (closed) throw FileError("standard output is closed, so the result has nowhere to go (--output FILE)");
}

void Streams::require_writable(const std::string& path) const {
  if (::access(path.c_str(), F_OK) == 0) {
    if (::access(path.c_str(), W_OK) != 0) fail("'" + path + "'", errno);
    return;
  }
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK) != 0) fail("'" + path + "'", errno);
}

void Streams::write_stdout(const std::string& text) const {
  if (text.empty()) return;
  require_stdout();
  const StdoutRelay relay = launched_by_mpi() ? stdout_relay() : StdoutRelay{};
  const bool device = relay.kind == StdoutRelay::Kind::kDevice;
  if (const int error = device ? write_device(relay.path, text) : write_all(1, text); error != 0) {
    fail("to standard output", error);
  }
  if (relay.kind == StdoutRelay::Kind::kFile && !relayed(relay, text.size())) {
    throw FileError("mpirun did not write the result to its standard output: the disk may be full (--output FILE)");
  }
}

void Streams::write_file(const std::string& path, const std::string& text) const {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const bool direct = exists && !S_ISREG(status.st_mode);
  const std::string target = direct ? path : path + ".tmp" + std::to_string(::getpid());
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) fail("'" + path + "'", errno);
  int error = write_all(descriptor, text);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && !direct && ::rename(target.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    if (!direct) ::unlink(target.c_str());
    fail("'" + path + "'", error);
  }
}

void print_error(const std::string& line) { write_all(2, line + "\n"); }

bool stderr_is_terminal(bool launched) {
  if (!launched) return ::isatty(2) == 1;
  std::array<char, 256> target{};
  const std::string link = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size() - 1);
  const std::string name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.rfind("/dev/pts/", 0) == 0 || name.rfind("/dev/tty", 0) == 0;
}

}  // namespace qsim::cli
