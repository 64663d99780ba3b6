// The search's game: wires stand at positions; a sweep advances its active wires as far as the needs of turns permit.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/timeline/timeline.h"

namespace qsim {

/// Positions of all wires, relative to a window of the timeline.
using Positions = std::array<std::uint16_t, kMaxQubits + 2>;

/// How many turns each wire has.
std::vector<std::uint32_t> ends_of(const Timeline& timeline);

/// A window of a timeline: for each wire the turns from its start position on, with what each of them needs.
class SetProblem {
 public:
  /// All turns of `timeline`.
  explicit SetProblem(const Timeline& timeline);
  /// The turns of `timeline` from positions `from` up to, not including, `to`.
  SetProblem(const Timeline& timeline, const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to);

  int wires() const { return wires_; }
  std::uint32_t length(int wire) const { return length_[static_cast<std::size_t>(wire)]; }
  std::uint64_t turns() const { return turns_; }
  /// Wires that have any turn.
  Index turning() const { return turning_; }

  /// Advances the wires of `active` as far as they go.
  void advance(Positions& at, Index active) const;
  /// Wires of `active` whose next turn may run now.
  Index ready(const Positions& at, Index active) const;
  bool finished(const Positions& at) const;
  /// The same game played from the end: its position p of a wire is length - p here.
  SetProblem reversed() const;

 private:
  struct PackedNeed {
    std::uint16_t wire = 0, minimum = 0;
  };
  struct EventNeed {
    std::uint32_t event = 0;
    PackedNeed need;
  };
  struct Event {
    PackedNeed first;                  // always met where there is none
    std::uint32_t begin = 0, end = 0;  // the other needs
    std::int32_t joint = -1;
  };
  struct Joint {
    Index wires = 0;
    std::uint32_t begin = 0, end = 0;  // (wire, position) of its targets, in `members_`
  };
  SetProblem() = default;
  template <typename AddNeed>
  void add_joint(const Turn& turn, const std::vector<std::uint32_t>& from, const AddNeed& add_need);
  void pack_needs(const std::vector<EventNeed>& needs);
  bool joint_ready(const Joint& joint, const Positions& at, Index active, int& blocker) const;
  int first_blocker(const Event& event, const Positions& at) const;

  int wires_ = 0;
  std::uint64_t turns_ = 0;
  Index turning_ = 0;
  std::vector<std::uint32_t> length_;
  std::vector<std::uint32_t> first_;  // index of a wire's first event
  std::vector<Event> events_;
  std::vector<PackedNeed> needs_;
  std::vector<Joint> joints_;
  std::vector<PackedNeed> members_;
};

}  // namespace qsim
