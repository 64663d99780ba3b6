// A limit on calls that wait for others and cannot be broken off.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace qsim {

/// Calls `expired`, in a thread of its own, when it lives longer than `most`.
class TimeLimit {
 public:
  TimeLimit(std::chrono::milliseconds most, std::function<void()> expired)
      : thread_([most, expired = std::move(expired)](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock lock(mutex);
          // Its answer may be "no" though a stop was requested: libstdc++ looks a second time without asking again.
          (void)stopped.wait_for(lock, stop, most, [] { return false; });
          if (!stop.stop_requested()) expired();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace qsim
