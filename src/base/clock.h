// Wall-clock time of a piece of work, and how far it is.
#pragma once

#include <chrono>
#include <optional>

namespace qsim {

using Clock = std::chrono::steady_clock;

inline double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }
inline double seconds_since(Clock::time_point start) { return seconds_of(Clock::now() - start); }

/// When to tell how far a piece of work is that begins now: at most ten times a second.
class ProgressPace {
 public:
  /// The seconds that are left where `fraction` is done; none where it is not time to tell.
  std::optional<double> left(double fraction) {
    const Clock::time_point now = Clock::now();
    if (now - told_ < std::chrono::milliseconds(100) || fraction <= 0) return std::nullopt;
    told_ = now;
    return seconds_of(now - began_) * (1 - fraction) / fraction;
  }

 private:
  Clock::time_point began_ = Clock::now(), told_ = began_;
};

}  // namespace qsim
