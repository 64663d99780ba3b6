#include "simulator/late_kernels.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file/files.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr unsigned kMostSeconds = 300;  // a compiler that hangs is not left behind
constexpr int kNiceness = 10;

/// A number, a line's end and that many bytes.
std::string field(std::string_view bytes) { return std::to_string(bytes.size()) + "\n" + std::string(bytes); }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool ended() const { return text_.empty(); }

  std::size_t number() {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const auto digits = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || digits == text_.size() || *end != '\n') throw UsageError("this is no list of kernels");
    text_.remove_prefix(digits + 1);
    return value;
  }
  std::string bytes() {
    const std::size_t count = number();
    if (count > text_.size()) throw UsageError("this is no whole list of kernels");
    const std::string_view part = text_.substr(0, count);
    text_.remove_prefix(count);
    return std::string(part);
  }

 private:
  std::string_view text_;
};

/// A file in memory alone, to be read from its beginning; -1 where there is none.
OwnedDescriptor file_of_text(const std::string& text) {
  OwnedDescriptor file(::memfd_create("qsim-kernels", MFD_CLOEXEC));
  for (std::size_t at = 0; *file >= 0 && at < text.size();) {
    const ssize_t written = ::write(*file, text.data() + at, text.size() - at);
    if (written <= 0) return OwnedDescriptor(-1);
    at += static_cast<std::size_t>(written);
  }
  if (*file >= 0 && ::lseek(*file, 0, SEEK_SET) != 0) return OwnedDescriptor(-1);
  return file;
}

bool start_again(const std::string& input) {
  const OwnedDescriptor file = file_of_text(input);
  if (*file < 0) return false;
  posix_spawn_file_actions_t streams;
  posix_spawnattr_t attributes;
  if (::posix_spawn_file_actions_init(&streams) != 0) return false;
  bool started = false;
  if (::posix_spawnattr_init(&attributes) == 0) {
    std::string name = "qsim", command = kFinishKernels;
    char* const words[] = {name.data(), command.data(), nullptr};
    started = ::posix_spawn_file_actions_adddup2(&streams, *file, STDIN_FILENO) == 0 &&
              ::posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
              ::posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
              ::posix_spawn_file_actions_addclosefrom_np(&streams, STDERR_FILENO + 1) == 0 &&
              ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID) == 0 &&
              ::posix_spawn(nullptr, "/proc/self/exe", &streams, &attributes, words, environ) == 0;
    ::posix_spawnattr_destroy(&attributes);
  }
  ::posix_spawn_file_actions_destroy(&streams);
  return started;
}

}  // namespace

std::string kernels_text(const std::vector<LateKernels>& kernels) {
  std::string text;
  for (const LateKernels& some : kernels) {
    text += std::to_string(some.architecture) + "\n" + field(some.folder) + std::to_string(some.sources.size()) + "\n";
    for (const std::string& source : some.sources) text += field(source);
  }
  return text;
}

std::vector<LateKernels> kernels_of(std::string_view text) {
  std::vector<LateKernels> kernels;
  for (Reader reader(text); !reader.ended();) {
    LateKernels some;
    some.architecture = static_cast<int>(reader.number());
    some.folder = reader.bytes();
    for (std::size_t left = reader.number(); left > 0; --left) some.sources.push_back(reader.bytes());
    kernels.push_back(std::move(some));
  }
  return kernels;
}

bool hand_over_kernels() {
  std::vector<LateKernels> late = late_kernels();
  if (late.empty()) return false;
  std::erase_if(late, [](const LateKernels& kernels) { return kernels.folder.empty(); });  // they would be lost anyway
  return late.empty() || start_again(kernels_text(late));
}

void finish_kernels(std::string_view text) {
  const std::vector<LateKernels> all = kernels_of(text);
  ::alarm(kMostSeconds);
  [[maybe_unused]] const int niceness = ::nice(kNiceness);
  for (const LateKernels& kernels : all) compile_kernels(kernels);
}

}  // namespace qsim
