// Counts its own ticks, so that a process that is stopped as a whole and goes on later has missed nothing.
#include "comm/mpi/watch.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "comm/job_end.h"
#include "qsim/error.h"

namespace qsim {

std::chrono::seconds watch_limit() {
  const char* text = std::getenv("QSIM_WATCHDOG_SECONDS");
  if (text == nullptr) return kDefaultWatch;
  int seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || rest != end || seconds < 0) {
    throw UsageError(std::string("QSIM_WATCHDOG_SECONDS is \"") + text + "\", not a number of seconds (0: no limit)");
  }
  return std::chrono::seconds(seconds);
}

Watch::Watch(int rank) : rank_(rank), launcher_(launcher_process()) {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error& error) {
    throw CommunicatorError(std::string("no thread can be started to watch the other ranks: ") + error.what(), rank);
  }
}

Pulse Watch::pulse() const {
  Pulse pulse;
  pulse.moves = moves_.load(std::memory_order_relaxed);
  pulse.waits = waits_.load(std::memory_order_acquire) ? 1 : 0;
  pulse.peer = peer_.load(std::memory_order_relaxed);
  const char* const name = name_.load(std::memory_order_relaxed);
  std::copy_n(name, std::min(std::strlen(name), pulse.call.size() - 1), pulse.call.begin());
  return pulse;
}

void Watch::end(const std::string& what, bool with_launcher) const {
  if (with_launcher) end_launcher_soon(launcher_);
  end_process("qsim: error: rank " + std::to_string(rank_) + ": " + what + "; the job is ended",
              static_cast<int>(ExitCode::kCommunication));
}

void Watch::watch_siblings(std::span<const RankProcess> processes, int rank) {
  siblings_.emplace(processes, rank);
  siblings_watched_.store(true, std::memory_order_release);
}

void Watch::look_at_siblings() {
  if (!siblings_watched_.load(std::memory_order_acquire)) return;
  const int ended = siblings_->ended();
  if (ended < 0) return;
  const bool speaks = siblings_->speaks();
  if (++ticks_without_sibling_ <= (speaks ? 1 : 2) * kTicksForLauncher) return;
  end("the process of rank " + std::to_string(ended) + " has ended", speaks);
}

void Watch::run(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "qsim-watch");
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, kTick, [&] { return stop.stop_requested(); })) {
    if (has_ended(launcher_)) end(launcher_.name + ", which started this rank, has gone", false);
    look_at_siblings();
    const std::int64_t limit = limit_ticks_.load(std::memory_order_acquire);
    if (limit == 0 || limited_ticks_.fetch_add(1, std::memory_order_relaxed) < limit) continue;
    const int code = limited_code_.load(std::memory_order_relaxed);
    if (code != static_cast<int>(ExitCode::kCommunication)) ::_exit(code);  // its reason has been said
    end(std::string(name_.load(std::memory_order_relaxed)) + " has not returned for " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(limit * kTick).count()) +
            " s (QSIM_WATCHDOG_SECONDS sets another limit)",
        rank_ == 0);
  }
}

}  // namespace qsim
