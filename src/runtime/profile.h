// The time line of a run: what every rank did when, for people and for trace viewers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ranks/communicator.h"
#include "device/backend.h"

namespace qsim {

/// Something that a rank did; seconds since the profile began.
struct Span {
  enum class Kind : std::uint32_t { kSweep, kTrade, kSwap, kReadOut };
  Kind kind = Kind::kSweep;
  std::uint32_t stage = 0, number = 0;  // number: of the sweep in its stage, or of the rank that is traded with
  std::uint32_t lane = 0;
  double begin = 0, end = 0;
};

/// A moment of a run: on the host's clock, or what a lane has been given by then.
struct Moment {
  double seconds = 0;
  std::optional<std::uint32_t> mark;
};

/// Collects spans without allocating while the run lasts: the first kMost are kept.
class Profile {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  /// `clock` tells when lanes did what they were given; null where calls are complete when they return.
  explicit Profile(LaneClock* clock = nullptr) : clock_(clock) { spans_.reserve(kMost); }
  /// The next span begins a new time line (call after a barrier, so that ranks agree on zero).
  void restart() {
    spans_.clear();
    if (clock_ != nullptr) clock_->restart();
    zero_ = Clock::now();
  }
  void set_stage(std::size_t stage) { stage_ = static_cast<std::uint32_t>(stage); }

  /// Now, as the host sees it.
  Moment now() const { return {seconds_since(zero_), std::nullopt}; }
  /// When `lane` is done with what it has been given.
  Moment moment(int lane) {
    if (clock_ == nullptr) return now();
    return {0, spans_.size() < kMost ? clock_->mark(lane) : 0};
  }
  void add(Span::Kind kind, std::uint32_t number, int lane, Moment begin, Moment end) {
    if (spans_.size() == kMost) return;
    spans_.push_back({kind, stage_, number, static_cast<std::uint32_t>(lane), begin, end});
  }
  /// A sweep of any stage: beside an exchange there are sweeps of the stage before as well.
  void add_sweep(std::uint32_t stage, std::uint32_t number, int lane, Moment begin, Moment end) {
    if (spans_.size() == kMost) return;
    spans_.push_back({Span::Kind::kSweep, stage, number, static_cast<std::uint32_t>(lane), begin, end});
  }
  /// With the times of their moments; the device is idle. The first one begins at 0 or later.
  std::vector<Span> spans() const;

 private:
  struct Kept {
    Span::Kind kind;
    std::uint32_t stage, number, lane;
    Moment begin, end;
  };

  LaneClock* clock_;
  Clock::time_point zero_ = Clock::now();
  std::uint32_t stage_ = 0;
  std::vector<Kept> spans_;
};

/// The spans of every rank, on rank 0 and all others; the first one of all begins at 0. Collective.
using RankSpans = std::vector<std::vector<Span>>;
RankSpans gather_spans(const Profile& profile, Communicator& communicator);
/// Rows of ranks and lanes, as SVG.
std::string time_line_svg(const RankSpans& ranks, std::size_t width = 1140);

/// Writes the time lines of all ranks: trace events that chrome://tracing and Perfetto open, or a picture where `path`
/// ends in .svg. Collective; FileError, the same on every rank.
void write_profile(const Profile& profile, Communicator& communicator, const std::string& path);

}  // namespace qsim
