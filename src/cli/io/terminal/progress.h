// The line that moves while a run goes on, and what is said of it when a person ends it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "qsim/session.h"

namespace qsim::cli {

/// What an interrupt meets.
enum class Phase : std::uint8_t {
  kSilent,   // a rank that does not speak
  kBefore,   // nothing has been computed
  kRunning,  // answers are on their way
  kWriting,  // they are being written
};
void set_phase(Phase phase);
/// Writes "qsim: interrupted at 43 % of the run, about 12 s left; ..." with its line's end into `buffer`, which
/// has room for 180 bytes; its length, 0 where nothing is to be said. May be called in a signal handler.
std::size_t interrupt_message(char* buffer);

/// "[#######-------------]  36 %  about 12 s left", at most `columns` wide; without an estimate (`remaining` below 0)
/// the time that has passed.
std::string progress_text(double fraction, double remaining, double elapsed, std::size_t columns);

/// A bar on standard error, rewritten five times a second from half a second on: between two reports of the run it
/// moves on as the last one foresaw.
class ProgressLine {
 public:
  explicit ProgressLine(bool shown);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// What the run reports; with a fraction of 0, what was predicted before it.
  void report(const Progress& progress);

 private:
  void tick();

  Clock::time_point begin_ = Clock::now(), reported_ = begin_;
  Progress last_{0, -1};
  bool shown_ = false, drawn_ = false, ended_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread ticker_;
};

}  // namespace qsim::cli
