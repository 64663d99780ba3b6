// The time line of a run: what every rank did when, for people and for trace viewers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "qsim/communicator.h"

namespace qsim {

/// Something that a rank did; seconds since the profile began.
struct Span {
  enum class Kind : std::uint32_t { kSweep, kTrade, kSwap, kReadOut };
  Kind kind = Kind::kSweep;
  std::uint32_t stage = 0, number = 0;  // number: of the sweep in its stage, or of the rank that is traded with
  std::uint32_t lane = 0;
  double begin = 0, end = 0;
};

/// Collects spans without allocating while the run lasts: the first kMost are kept. The times are those of the host's
/// calls, so on a device that works on by itself they say when work was handed over.
class Profile {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  Profile() { spans_.reserve(kMost); }
  /// The next span begins a new time line (call after a barrier, so that ranks agree on zero).
  void restart() {
    spans_.clear();
    zero_ = std::chrono::steady_clock::now();
  }
  double now() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - zero_).count(); }
  void set_stage(std::size_t stage) { stage_ = static_cast<std::uint32_t>(stage); }
  void add(Span::Kind kind, std::uint32_t number, int lane, double begin) {
    if (spans_.size() < kMost) spans_.push_back({kind, stage_, number, static_cast<std::uint32_t>(lane), begin, now()});
  }
  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::chrono::steady_clock::time_point zero_ = std::chrono::steady_clock::now();
  std::uint32_t stage_ = 0;
  std::vector<Span> spans_;
};

/// Writes the time lines of all ranks: trace events that chrome://tracing and Perfetto open, or a picture where `path`
/// ends in .svg. Collective; FileError, the same on every rank.
void write_profile(const Profile& profile, Communicator& communicator, const std::string& path);

}  // namespace qsim
