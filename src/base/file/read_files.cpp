#include "base/file/read_files.h"

#include <algorithm>
#include <atomic>

namespace qsim {
namespace {

/// Of the process, since what is read deep inside one part is what another must not write.
constinit std::atomic<InputGuard*> guard{};  // NOLINT(*-avoid-non-const-global-variables)

bool was_read(const struct stat& status) {
  InputGuard* const inputs = guard.load();
  return inputs != nullptr && inputs->has(status);
}

}  // namespace

InputGuard::InputGuard() { guard.store(this); }
InputGuard::~InputGuard() { guard.store(nullptr); }

void InputGuard::note(const struct stat& status) {
  const std::lock_guard lock(mutex_);
  const std::pair file(status.st_dev, status.st_ino);
  if (S_ISREG(status.st_mode) && std::find(files_.begin(), files_.end(), file) == files_.end()) files_.push_back(file);
}

bool InputGuard::has(const struct stat& status) {
  const std::lock_guard lock(mutex_);
  return std::find(files_.begin(), files_.end(), std::pair(status.st_dev, status.st_ino)) != files_.end();
}

void note_read_file(const struct stat& status) {
  if (InputGuard* const inputs = guard.load()) inputs->note(status);
}

bool was_read(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && was_read(status);
}

}  // namespace qsim
