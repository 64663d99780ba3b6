// Entry point of the `qsim` executable.
#include <malloc.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <string_view>

#include "cli/io/context.h"
#include "qsim/error.h"

namespace {

/// Where no exception may pass (destructors and functions of other libraries that allocate, threads), memory that runs
/// out still has one message and its exit code. Allocates nothing.
[[noreturn]] void end_in_words() noexcept {
  std::string_view text = "qsim: error: internal error: an exception was not caught\n";
  qsim::ExitCode code = qsim::ExitCode::kInternal;
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    text = "qsim: error: out of host memory\n";
    code = qsim::ExitCode::kCapacity;
  } catch (...) {
  }
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(static_cast<int>(code));
}

/// Larger blocks go back to the system when they are freed. glibc raises the limit with what it has seen freed, and
/// each thread rank then keeps such blocks to itself: up to 3 MiB a rank beyond what was predicted.
constexpr int kLargestKeptBlock = 256 * 1024;

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_in_words);
  ::mallopt(M_MMAP_THRESHOLD, kLargestKeptBlock);
  return qsim::cli::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}, true);
}
