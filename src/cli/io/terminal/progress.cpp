#include "cli/io/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "cli/io/terminal/terminal.h"

namespace qsim::cli {
namespace {

// A signal handler has no other way to know.
std::atomic<Phase> phase_now{Phase::kSilent};  // NOLINT(*-avoid-non-const-global-variables)
std::atomic<int> percent_done{-1};             // NOLINT(*-avoid-non-const-global-variables)
std::atomic<std::int64_t> seconds_left{-1};    // NOLINT(*-avoid-non-const-global-variables)

char* put(char* to, const char* text) {
  const std::size_t length = std::strlen(text);
  std::memcpy(to, text, length);
  return to + length;
}

char* put(char* to, std::int64_t number) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

/// Whole seconds, minutes or hours: nobody waits to the millisecond.
std::string duration_text(double seconds) {
  char text[32];
  if (seconds < 120) {
    std::snprintf(text, sizeof text, "%.0f s", std::floor(seconds));
  } else if (seconds < 7200) {
    std::snprintf(text, sizeof text, "%.0f min", std::floor(seconds / 60));
  } else {
    std::snprintf(text, sizeof text, "%.3g h", seconds / 3600);
  }
  return text;
}

}  // namespace

void set_phase(Phase phase) { phase_now = phase; }

std::size_t interrupt_message(char* buffer) {
  const Phase phase = phase_now.load();
  if (phase == Phase::kSilent) return 0;
  char* at = put(buffer, "qsim: interrupted ");
  if (phase == Phase::kBefore) at = put(at, "before anything was computed; no result was written\n");
  if (phase == Phase::kWriting) at = put(at, "while the result was written: it may not be whole\n");
  if (phase == Phase::kRunning) {
    const int percent = percent_done.load();
    const std::int64_t left = seconds_left.load();
    if (percent < 0) at = put(at, "while it ran");
    if (percent >= 0) at = put(put(put(at, "at "), static_cast<std::int64_t>(percent)), " % of the run");
    if (left >= 0) at = put(put(put(at, ", about "), left), " s left");
    at = put(at, "; no result was written\n");
  }
  return static_cast<std::size_t>(at - buffer);
}

std::string progress_text(double fraction, double remaining, double elapsed, std::size_t columns) {
  const std::string time = remaining < 0   ? duration_text(elapsed) + " so far"
                           : remaining < 1 ? std::string("a moment left")
                                           : "about " + duration_text(remaining) + " left";
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%", 100 * std::clamp(fraction, 0.0, 1.0));
  std::string text = remaining < 0 && fraction <= 0 ? "running  " + time : std::string(percent) + "  " + time;
  const std::size_t width = std::min<std::size_t>(30, columns > text.size() + 6 ? columns - text.size() - 6 : 0);
  if (width >= 8 && (remaining >= 0 || fraction > 0)) {
    const auto full = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width));
    text = "[" + std::string(full, '#') + std::string(width - full, '-') + "]  " + text;
  }
  return text.substr(0, columns == 0 ? text.size() : columns - 1);
}

ProgressLine::ProgressLine(bool shown) : shown_(shown) {
  set_phase(Phase::kRunning);
  if (!shown) return;
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {
    shown_ = false;  // where no thread can be had, the run matters more
  }
}

ProgressLine::~ProgressLine() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  if (ticker_.joinable()) ticker_.join();
  if (drawn_) std::fputs("\r\033[K", stderr), std::fflush(stderr);
}

void ProgressLine::report(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  last_ = progress;
  if (progress.fraction <= 0 && progress.remaining_seconds <= 0) last_.remaining_seconds = -1;
  reported_ = Clock::now();
  percent_done = static_cast<int>(100 * std::clamp(progress.fraction, 0.0, 1.0));
  seconds_left = last_.remaining_seconds < 0 ? -1 : static_cast<std::int64_t>(std::min(last_.remaining_seconds, 1e12));
}

void ProgressLine::tick() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ended_; });
  while (!ended_) {
    const Clock::time_point now = Clock::now();
    const double since = seconds_of(now - reported_);
    double fraction = last_.fraction, remaining = last_.remaining_seconds;
    if (remaining > 0) {
      // It never says that a run has ended which has not.
      fraction += (1 - fraction) * std::min(0.99, since / remaining);
      remaining = std::max(0.0, remaining - since);
    }
    const std::size_t columns = terminal_columns(2);
    const std::string text = progress_text(fraction, remaining, seconds_of(now - begin_), columns == 0 ? 80 : columns);
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
    std::fflush(stderr);
    drawn_ = true;
    percent_done = static_cast<int>(100 * fraction);
    seconds_left = remaining < 0 ? -1 : static_cast<std::int64_t>(std::min(remaining, 1e12));
    wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return ended_; });
  }
}

}  // namespace qsim::cli
