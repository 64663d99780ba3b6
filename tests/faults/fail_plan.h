// Which call is to fail, as the environment says. For libraries that are preloaded: one translation unit each.
//   QSIM_FAIL=KIND:N      the Nth call of that kind, counted from 1, in one process
//   QSIM_FAIL_RANK=R      only in the rank of that number (OMPI_COMM_WORLD_RANK; 0 without a launcher)
//   QSIM_FAIL_TRACE=1     prints where the call was made
//   QSIM_FAIL_MARK=FILE   is made when the call has failed
#pragma once

#include <execinfo.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace qsim::faults {

struct FailPlan {
  char kind[16] = "";
  long nth = 0;  // 0: none
  const char* mark = nullptr;

  FailPlan() {
    const char* text = std::getenv("QSIM_FAIL");
    if (text == nullptr) return;
    const char* wanted = std::getenv("QSIM_FAIL_RANK");
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    if (std::atoi(wanted == nullptr ? "0" : wanted) != std::atoi(rank == nullptr ? "0" : rank)) return;
    const char* colon = std::strchr(text, ':');
    if (colon == nullptr || colon - text >= static_cast<long>(sizeof(kind))) return;
    std::memcpy(kind, text, static_cast<std::size_t>(colon - text));
    mark = std::getenv("QSIM_FAIL_MARK");
    nth = std::atol(colon + 1);
  }
  bool is_of(const char* other) const { return nth != 0 && std::strcmp(kind, other) == 0; }
};

inline const FailPlan& fail_plan() {
  static const FailPlan made;
  return made;
}

/// Counts a call of the planned kind; true for the one that fails. Allocates nothing.
inline bool is_the_nth() {
  static std::atomic<long> calls{0};
  const FailPlan& plan = fail_plan();
  if (calls.fetch_add(1) + 1 != plan.nth) return false;
  if (std::getenv("QSIM_FAIL_TRACE") != nullptr) {
    std::array<void*, 40> frames{};
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())), STDERR_FILENO);
  }
  if (plan.mark != nullptr) {
    const long file = syscall(SYS_openat, AT_FDCWD, plan.mark, O_WRONLY | O_CREAT, 0600);
    if (file >= 0) syscall(SYS_close, file);
  }
  return true;
}

}  // namespace qsim::faults
