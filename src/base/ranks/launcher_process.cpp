// Fields of /proc/PID/stat are counted from its last bracket: a program's name may hold brackets of its own.
#include "base/ranks/launcher_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/file/files.h"

namespace qsim {
namespace {

constexpr std::array<std::string_view, 6> kOpenMpi{"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted"};
constexpr std::array<std::string_view, 3> kOthers{"hydra_pmi_proxy", "mpiexec.hydra", "slurmstepd"};

struct ProcessState {
  HostProcess process;
  char state = 'X';
  int parent = 0;
};

std::optional<ProcessState> read_process(int pid) {
  const std::string line = read_system_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessState found;
  found.process.pid = pid;
  found.process.name = line.substr(open + 1, close - open - 1);
  std::istringstream fields(line.substr(close + 1));
  fields >> found.state >> found.parent;
  std::string skipped;
  constexpr int kBetweenParentAndStart = 17;
  for (int i = 0; i < kBetweenParentAndStart; ++i) fields >> skipped;
  fields >> found.process.start_time;
  return found;
}

namespace fs = std::filesystem;

std::string link_target(const fs::path& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

bool is_terminal_name(const std::string& name) {
  return name.rfind("/dev/pts/", 0) == 0 || name.rfind("/dev/tty", 0) == 0 || name == "/dev/console";
}

/// True when this process's standard output ends in `pid`: a pseudo-terminal of Open MPI's making, or a pipe of which
/// it holds an end.
bool writes_to(int pid) {
  const std::string own = link_target("/proc/self/fd/1");
  if (is_terminal_name(own)) return true;
  if (own.rfind("pipe:", 0) != 0) return false;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd/";
  const auto descriptors = system_folder(folder).value_or(std::vector<std::string>());
  return std::ranges::any_of(descriptors, [&](const std::string& name) { return link_target(folder + name) == own; });
}

/// True when mpirun was told to write what ranks say to files.
bool writes_elsewhere(int pid) {
  const std::string words = read_system_file("/proc/" + std::to_string(pid) + "/cmdline");
  using namespace std::string_literals;
  return words.find("output-filename") != std::string::npos || words.find("\0file="s) != std::string::npos;
}

struct Descriptor {
  std::uint64_t position = 0;
  int flags = 0;
};

std::optional<Descriptor> read_descriptor(const std::string& path) {
  std::istringstream file(read_system_file(path));
  Descriptor found;
  std::string name;
  if (!(file >> name >> std::dec >> found.position >> name >> std::oct >> found.flags)) return std::nullopt;
  return found;
}

bool is_one_of(const std::string& name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

HostProcess launcher_process() {
  HostProcess parent;
  for (int pid = ::getppid(); pid > 1;) {
    const std::optional<ProcessState> found = read_process(pid);
    if (!found) break;
    if (is_one_of(found->process.name, kOpenMpi) || is_one_of(found->process.name, kOthers)) return found->process;
    if (parent.pid == 0) parent = found->process;
    pid = found->parent;
  }
  return parent;
}

HostProcess process_of(int pid) {
  const std::optional<ProcessState> found = read_process(pid);
  return found ? found->process : HostProcess{};
}

bool has_ended(const HostProcess& process) {
  if (process.pid == 0) return false;
  if (::kill(process.pid, 0) != 0 && errno == ESRCH) return true;
  const std::optional<ProcessState> found = read_process(process.pid);
  // A file that cannot be read is no proof.
  return found && (found->process.start_time != process.start_time || found->state == 'Z' || found->state == 'X');
}

StdoutRelay stdout_relay() {
  StdoutRelay relay;
  const HostProcess launcher = launcher_process();
  const bool front_end = is_open_mpi(launcher) && launcher.name != "orted" && launcher.name != "prted";
  if (!front_end || !writes_to(launcher.pid) || writes_elsewhere(launcher.pid)) return relay;
  const std::string folder = "/proc/" + std::to_string(launcher.pid);
  if (::access((folder + "/fd").c_str(), R_OK | X_OK) != 0) return relay;
  relay.path = folder + "/fd/1";
  const std::optional<Descriptor> descriptor = read_descriptor(folder + "/fdinfo/1");
  // Where it was closed, mpirun has opened something of its own under that number: closed on exec, or not writable.
  if (!descriptor || (descriptor->flags & O_CLOEXEC) != 0 || (descriptor->flags & O_ACCMODE) == O_RDONLY) {
    relay.kind = StdoutRelay::Kind::kClosed;
    return relay;
  }
  struct stat status {};
  if (::stat(relay.path.c_str(), &status) != 0) return relay;
  relay.position = descriptor->position;
  if (S_ISREG(status.st_mode)) relay.kind = StdoutRelay::Kind::kFile;
  if (S_ISCHR(status.st_mode) && !is_terminal_name(link_target(relay.path))) relay.kind = StdoutRelay::Kind::kDevice;
  return relay;
}

std::string standard_input_path(bool launched) {
  const HostProcess launcher = launched ? launcher_process() : HostProcess{};
  return "/proc/" + (is_open_mpi(launcher) ? std::to_string(launcher.pid) : "self") + "/fd/0";
}

bool is_open_mpi(const HostProcess& launcher) { return is_one_of(launcher.name, kOpenMpi); }

}  // namespace qsim
