#include "cli/io/output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "base/file/files.h"
#include "base/file/read_files.h"
#include "base/ranks/communicator.h"
#include "base/ranks/launcher_process.h"
#include "base/text.h"
#include "cli/io/terminal/progress.h"
#include "cli/io/terminal/terminal.h"
#include "qsim/error.h"
#include "qsim/target.h"

namespace qsim::cli {
namespace {

/// Writes all of `text`; the error number, 0 when done.
int write_all(int descriptor, std::string_view text) {
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

[[noreturn]] void fail(const std::string& what, int error) {
  throw FileError("cannot write " + what + ": " + std::strerror(error));
}

}  // namespace

Streams::Streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit is then an error like others
  stdout_closed_ = fill_standard_descriptors();
}

void Streams::require_stdout(const std::vector<std::string>& outputs) const {
  const StdoutRelay relay = launched_by_mpi() ? stdout_relay() : StdoutRelay{};
  if (stdout_closed_ || relay.kind == StdoutRelay::Kind::kClosed) {
    throw FileError("standard output is closed, so the result has nowhere to go (--output FILE)");
  }
  const std::string own = relay.path.empty() ? "/proc/self/fd/1" : relay.path;
  for (const std::string& path : outputs) {
    if (is_same_file(path, own)) throw UsageError("'" + path + "' and standard output are one file");
  }
  if (was_read(own)) throw FileError("standard output is a file that this run has read");
}

namespace {

/// Many small parts as few large ones.
void write_in_blocks(const TextSource& source, const TextSink& write) {
  constexpr std::size_t kBlock = 65536;
  std::string block;
  block.reserve(2 * kBlock);
  source([&](std::string_view part) {
    block += part;
    if (block.size() < kBlock) return;
    write(block);
    block.clear();
  });
  if (!block.empty()) write(block);
}

/// Writes into the device behind mpirun's standard output, which people know by that name alone.
void write_to_device(const std::string& path, const TextSource& source) {
  const OwnedDescriptor device = open_stream(path);
  if (*device < 0) fail("to standard output", errno);
  write_in_blocks(source, [&device](std::string_view block) {
    if (const int error = write_all(*device, block); error != 0) fail("to standard output", error);
  });
}

}  // namespace

void Streams::write_stdout(const std::string& text) const {
  write_stdout([&text](const TextSink& write) { write(text); });
}

void Streams::write_stdout(const TextSource& source) const {
  require_stdout();
  const StdoutRelay relay = launched_by_mpi() ? stdout_relay() : StdoutRelay{};
  // Devices have no place that writers share, so that writing there oneself is as good, and shows errors.
  if (relay.kind == StdoutRelay::Kind::kDevice) return write_to_device(relay.path, source);
  std::size_t bytes = 0;
  write_in_blocks(source, [&bytes](std::string_view block) {
    bytes += block.size();
    if (const int error = write_all(1, block); error != 0) fail("to standard output", error);
  });
  if (relay.kind == StdoutRelay::Kind::kFile && !relayed(relay, bytes)) {
    throw FileError("mpirun did not write the result to its standard output: the disk may be full (--output FILE)");
  }
}

void write_file_of(const std::string& path, const TextSource& source) {
  NewFile file(path, OutputKind::kFileOrStream);
  write_in_blocks(source, [&file](std::string_view block) { file.write(block.data(), block.size()); });
  file.commit();
}

bool may_take_failure(const std::string& path) {
  if (!is_regular_file(path)) return true;
  const std::string start = read_start(path, 64);
  const std::size_t brace = start.find_first_not_of(" \n");
  if (brace == std::string::npos) return start.empty();
  const std::size_t word = start.find_first_not_of(" \n", brace + 1);
  return start[brace] == '{' && word != std::string::npos && start.compare(word, 15, "\"schema\": \"qsim") == 0;
}

void print_error(const std::string& line) {
  std::string text = escape_lines(line);
  if (!launched_by_mpi()) {
    // Lines of a source text, with a caret below, stay as they are.
    if (text.find('\n') == std::string::npos) text = fit_line(text, terminal_columns(STDERR_FILENO));
    if (wants_colour(STDERR_FILENO)) text = paint_message(text);
  }
  write_all(2, text + "\n");
}

namespace {

constexpr std::array<int, 17> kEndingSignals{SIGTERM, SIGINT,  SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                                             SIGALRM, SIGXCPU, SIGPROF,   SIGSEGV, SIGBUS,  SIGFPE,
                                             SIGILL,  SIGABRT, SIGVTALRM, SIGSYS,  SIGTRAP};

// What the signals did before: a handler cannot be given it otherwise.
std::array<struct sigaction, kEndingSignals.size()> actions_before{};  // NOLINT(*-avoid-non-const-global-variables)

void remove_and_pass_on(int number) {
  remove_unfinished_files();
  if (number == SIGINT) {
    std::array<char, 200> message{'\n'};  // below the progress line and the terminal's own ^C
    const std::size_t length = interrupt_message(message.data() + 1);
    [[maybe_unused]] const ssize_t written = length > 0 ? ::write(STDERR_FILENO, message.data(), length + 1) : 0;
  }
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    if (kEndingSignals[i] == number) ::sigaction(number, &actions_before[i], nullptr);
  }
  ::raise(number);
}

}  // namespace

void remove_files_on_signals() {
  for (std::size_t i = 0; i < kEndingSignals.size(); ++i) {
    struct sigaction action {};
    if (::sigaction(kEndingSignals[i], nullptr, &action) != 0) continue;
    // nohup ignores one; a second call finds its own handler, and what was there before stays known.
    if (action.sa_handler == SIG_IGN || action.sa_handler == remove_and_pass_on) continue;
    actions_before[i] = action;
    action = {};
    action.sa_handler = remove_and_pass_on;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(kEndingSignals[i], &action, nullptr);
  }
}

bool stderr_is_terminal(bool launched) {
  if (!launched) return ::isatty(2) == 1;
  std::array<char, 256> target{};
  const std::string link = "/proc/" + std::to_string(::getppid()) + "/fd/2";
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size() - 1);
  const std::string name(target.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return name.rfind("/dev/pts/", 0) == 0 || name.rfind("/dev/tty", 0) == 0;
}

}  // namespace qsim::cli
