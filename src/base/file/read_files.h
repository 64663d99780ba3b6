// Which files have been read, so that none of them is replaced by what is written later.
#pragma once

#include <sys/stat.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace qsim {

/// While one lives, every file that read_file and read_standard_input read is an input, and NewFile does not take an
/// input's place. One at a time, for the whole process: a program makes it first of all.
class InputGuard {
 public:
  InputGuard();
  ~InputGuard();
  InputGuard(const InputGuard&) = delete;
  InputGuard& operator=(const InputGuard&) = delete;

  void note(const struct stat& status);
  bool has(const struct stat& status);

 private:
  std::mutex mutex_;
  std::vector<std::pair<dev_t, ino_t>> files_;  // a name may be one of several
};

/// Enters a file that is read; nothing without a guard.
void note_read_file(const struct stat& status);
/// Whether `path` is a file that was read while a guard lived.
bool was_read(const std::string& path);

}  // namespace qsim
