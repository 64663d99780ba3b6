// Wall-clock time of a piece of work.
#pragma once

#include <chrono>

namespace qsim {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace qsim
