#include "golden/cli_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace qsim::test {
namespace {

namespace fs = std::filesystem;
constexpr auto kLimit = std::chrono::seconds(60);

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

void connect_stdout(const Pipe& out, StdoutTo stdout_to) {
  switch (stdout_to) {
    case StdoutTo::kPipe:
    case StdoutTo::kClosedPipe:
      ::dup2(out.ends[1], 1);
      return;
    case StdoutTo::kClosed:
      ::close(1);
      return;
    case StdoutTo::kFullDisk:
      ::dup2(::open("/dev/full", O_WRONLY), 1);
      return;
  }
}

/// Reads both pipes to their end; false when the limit passed first.
bool collect(Pipe& out, Pipe& err, ProgramRun& run) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> waits{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0) return false;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = ::read(waits[i].fd, buffer.data(), buffer.size());
      Pipe& pipe = i == 0 ? out : err;
      if (count <= 0) {
        pipe.close_end(0);
      } else {
        (i == 0 ? run.out : run.err).append(buffer.data(), static_cast<std::size_t>(count));
      }
    }
  }
  return true;
}

}  // namespace

ProgramRun run_command(const std::vector<std::string>& command, const std::string& input, StdoutTo stdout_to) {
  Pipe out, err;
  const TemporaryFolder folder;
  const std::string input_file = folder.file("input", input);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (stdout_to == StdoutTo::kClosedPipe) out.close_end(0);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no fork");
  if (child == 0) {
    ::dup2(::open(input_file.c_str(), O_RDONLY), 0);
    ::dup2(err.ends[1], 2);
    connect_stdout(out, stdout_to);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  out.close_end(1);
  err.close_end(1);
  ProgramRun run;
  const bool ended = collect(out, err, run);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (ended) run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

ProgramRun run_qsim(std::vector<std::string> arguments, const std::string& input, StdoutTo stdout_to) {
  arguments.insert(arguments.begin(), QSIM_PROGRAM);
  return run_command(arguments, input, stdout_to);
}

bool mpi_is_here() { return std::string(QSIM_MPIEXEC) != ""; }

std::vector<std::string> mpi_command(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{QSIM_MPIEXEC};
  if (::geteuid() == 0) command.emplace_back("--allow-run-as-root");
  for (const char* word : {"--oversubscribe", "--bind-to", "none", "-n"}) command.emplace_back(word);
  command.push_back(std::to_string(ranks));
  command.emplace_back(QSIM_PROGRAM);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

ProgramRun run_mpi(int ranks, const std::vector<std::string>& arguments, const std::string& input) {
  return run_command(mpi_command(ranks, arguments), input);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "qsim-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(path_) / name;
  if (!text.empty() || name == "input") std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::size_t TemporaryFolder::count() const {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
}

InFolder::InFolder(const std::string& path) : before_(fs::current_path()) { fs::current_path(path); }

InFolder::~InFolder() {
  std::error_code ignored;
  fs::current_path(before_, ignored);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace qsim::test
