#include "comm/siblings.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/file/files.h"
#include "base/hash.h"

namespace qsim {
namespace {

#ifdef SYS_pidfd_open
constexpr long kOpenProcess = SYS_pidfd_open;
#else
constexpr long kOpenProcess = -1;  // headers older than the call: files of /proc are read instead
#endif

}  // namespace

RankProcess this_rank_process() {
  struct stat numbering {};
  (void)::stat("/proc/self/ns/pid", &numbering);
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  RankProcess process;
  process.host = {xxh3(read_system_file("/proc/sys/kernel/random/boot_id") + name.data()), numbering.st_ino};
  process.pid = ::getpid();
  process.start_time = process_of(::getpid()).start_time;
  return process;
}

Siblings::Siblings(std::span<const RankProcess> processes, int rank) : rank_(rank) {
  const RankProcess& own = processes[static_cast<std::size_t>(rank)];
  for (std::size_t other = 0; other < processes.size(); ++other) {
    const RankProcess& process = processes[other];
    if (process.host != own.host || process.pid == own.pid || process.start_time == 0) continue;
    Sibling& sibling = others_.emplace_back();
    sibling.rank = static_cast<int>(other);
    sibling.process = {static_cast<int>(process.pid), "", process.start_time};
    const HostProcess found = process_of(sibling.process.pid);
    if (found.pid != 0 && found.start_time != process.start_time)
      continue;  // it has ended, and its number is another's
    sibling.descriptor = static_cast<int>(::syscall(kOpenProcess, sibling.process.pid, 0));
  }
}

Siblings::~Siblings() {
  for (const Sibling& sibling : others_) {
    if (sibling.descriptor >= 0) ::close(sibling.descriptor);
  }
}

bool Siblings::Sibling::ended() const {
  if (descriptor < 0) return has_ended(process);
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1 && (waiting.revents & POLLIN) != 0;
}

int Siblings::ended() const {
  const auto found = std::find_if(others_.begin(), others_.end(), [](const Sibling& one) { return one.ended(); });
  return found == others_.end() ? -1 : found->rank;
}

bool Siblings::speaks() const {
  return std::all_of(others_.begin(), others_.end(),
                     [this](const Sibling& one) { return one.rank > rank_ || one.ended(); });
}

}  // namespace qsim
