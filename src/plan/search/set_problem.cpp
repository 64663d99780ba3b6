// The search's game: building a window of it, playing it forwards, turning it around.
#include "plan/search/set_problem.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/bits.h"

namespace qsim {

std::vector<std::uint32_t> ends_of(const Timeline& timeline) {
  std::vector<std::uint32_t> ends;
  for (const auto& line : timeline.line) ends.push_back(static_cast<std::uint32_t>(line.size()));
  return ends;
}

SetProblem::SetProblem(const Timeline& timeline)
    : SetProblem(timeline, std::vector<std::uint32_t>(timeline.wires, 0), ends_of(timeline)) {}

SetProblem::SetProblem(const Timeline& timeline, const std::vector<std::uint32_t>& from,
                       const std::vector<std::uint32_t>& to)
    : wires_(static_cast<int>(timeline.wires)) {
  for (std::size_t w = 0; w < timeline.wires; ++w) {
    first_.push_back(static_cast<std::uint32_t>(turns_));
    length_.push_back(to[w] - from[w]);
    turns_ += length_[w];
    if (length_[w] != 0) turning_ |= bit_mask(static_cast<unsigned>(w));
  }
  std::vector<EventNeed> needs;
  // Wire `a` may leave position `s` only when `b` has reached `minimum`; positions of the whole timeline.
  const auto add_need = [&](std::size_t a, std::uint32_t s, std::size_t b, std::uint32_t minimum) {
    if (s < from[a] || s >= to[a] || minimum <= from[b]) return;
    needs.push_back(
        {first_[a] + s - from[a], {static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(minimum - from[b])}});
  };
  events_.resize(turns_);
  for (std::size_t w = 0; w < timeline.wires; ++w) {
    for (std::uint32_t s = from[w]; s < to[w]; ++s) {
      for (const std::uint32_t id : timeline.diagonals_at(static_cast<std::uint32_t>(w), s)) {
        const Diagonal& diagonal = timeline.diagonals[id];
        std::uint64_t at = diagonal.gaps_begin;
        for (Index rest = diagonal.wires(); rest != 0; rest &= rest - 1, ++at) {
          const auto other = static_cast<std::size_t>(std::countr_zero(rest));
          if (other != w) add_need(w, s, other, timeline.gaps[at]);
        }
      }
      const Turn& turn = timeline.turns[timeline.line[w][s]];
      if (turn.targets[0] == w && (turn.target_count > 1 || turn.control_mask != 0)) add_joint(turn, from, add_need);
    }
  }
  pack_needs(needs);
}

template <typename AddNeed>
void SetProblem::add_joint(const Turn& turn, const std::vector<std::uint32_t>& from, const AddNeed& add_need) {
  Joint joint;
  joint.begin = static_cast<std::uint32_t>(members_.size());
  for (std::size_t j = 0; j < turn.target_count; ++j) {
    const std::size_t w = turn.targets[j];
    const std::uint32_t local = turn.position[j] - from[w];
    joint.wires |= bit_mask(static_cast<unsigned>(w));
    members_.push_back({static_cast<std::uint16_t>(w), static_cast<std::uint16_t>(local)});
    events_[first_[w] + local].joint = static_cast<std::int32_t>(joints_.size());
  }
  joint.end = static_cast<std::uint32_t>(members_.size());
  joints_.push_back(joint);
  std::size_t gap = 0;
  for (Index rest = turn.control_mask; rest != 0; rest &= rest - 1) {
    const auto control = static_cast<std::size_t>(std::countr_zero(rest));
    const std::uint32_t s = turn.control_gaps[gap++];
    for (std::size_t j = 0; j < turn.target_count; ++j) {
      add_need(turn.targets[j], turn.position[j], control, s);
      add_need(control, s, turn.targets[j], turn.position[j] + 1);
    }
  }
}

// One need a wire, the strictest.
void SetProblem::pack_needs(const std::vector<EventNeed>& needs) {
  std::vector<std::uint32_t> end(events_.size() + 1, 0);  // where the needs of each event end, once they are in place
  for (const EventNeed& need : needs) ++end[need.event + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<PackedNeed> sorted(needs.size());
  for (const EventNeed& need : needs) sorted[end[need.event]++] = need.need;
  auto begin = sorted.begin();
  for (std::size_t e = 0; e < events_.size(); ++e) {
    const auto last = sorted.begin() + end[e];
    std::sort(begin, last, [](const PackedNeed& a, const PackedNeed& b) {
      return a.wire != b.wire ? a.wire < b.wire : a.minimum > b.minimum;
    });
    const auto unique = std::unique(begin, last, [](const auto& a, const auto& b) { return a.wire == b.wire; });
    events_[e].begin = static_cast<std::uint32_t>(needs_.size());
    if (begin != unique) {
      events_[e].first = *begin;
      needs_.insert(needs_.end(), begin + 1, unique);
    }
    events_[e].end = static_cast<std::uint32_t>(needs_.size());
    begin = last;
  }
}

// The wire that an event waits for, or -1.
inline int SetProblem::first_blocker(const Event& event, const Positions& at) const {
  if (at[event.first.wire] < event.first.minimum) return event.first.wire;
  for (const PackedNeed *need = needs_.data() + event.begin, *end = needs_.data() + event.end; need != end; ++need)
    if (at[need->wire] < need->minimum) return need->wire;
  return -1;
}

bool SetProblem::joint_ready(const Joint& joint, const Positions& at, Index active, int& blocker) const {
  if ((joint.wires & ~active) != 0) {
    blocker = std::countr_zero(joint.wires & ~active);
    return false;
  }
  for (std::uint32_t i = joint.begin; i < joint.end; ++i) {
    const PackedNeed& member = members_[i];
    if (at[member.wire] < member.minimum) {
      blocker = member.wire;
      return false;
    }
    blocker = first_blocker(events_[first_[member.wire] + member.minimum], at);
    if (blocker >= 0) return false;
  }
  return true;
}

Index SetProblem::ready(const Positions& at, Index active) const {
  Index found = 0;
  for (Index rest = active; rest != 0; rest &= rest - 1) {
    const auto w = static_cast<std::size_t>(std::countr_zero(rest));
    if (at[w] >= length_[w]) continue;
    const Event& event = events_[first_[w] + at[w]];
    int blocker = -1;
    const bool runs = event.joint < 0
                          ? first_blocker(event, at) < 0
                          : joint_ready(joints_[static_cast<std::size_t>(event.joint)], at, active, blocker);
    if (runs) found |= bit_mask(static_cast<unsigned>(w));
  }
  return found;
}

void SetProblem::advance(Positions& at, Index active) const {
  std::array<Index, kMaxQubits + 2> waiting;  // NOLINT: only what wires have is filled, this is what planning runs
  std::fill_n(waiting.begin(), wires_, Index{0});
  Index todo = active;
  while (todo != 0) {
    const int wire = std::countr_zero(todo);
    const auto w = static_cast<std::size_t>(wire);
    todo &= todo - 1;
    const std::uint32_t begin = at[w], length = length_[w];
    std::uint32_t position = begin;
    int blocker = -1;
    for (const Event* event = events_.data() + first_[w] + begin; position < length; ++event, ++position) {
      if (event->joint < 0) {
        blocker = first_blocker(*event, at);
        if (blocker >= 0) break;
        continue;
      }
      at[w] = static_cast<std::uint16_t>(position);
      const Joint& joint = joints_[static_cast<std::size_t>(event->joint)];
      if (!joint_ready(joint, at, active, blocker)) break;
      for (std::uint32_t i = joint.begin; i < joint.end; ++i) ++at[members_[i].wire];
      todo |= joint.wires & ~bit_mask(static_cast<unsigned>(wire));
      for (Index rest = joint.wires; rest != 0; rest &= rest - 1) {
        auto& others = waiting[static_cast<std::size_t>(std::countr_zero(rest))];
        todo |= others;
        others = 0;
      }
    }
    at[w] = static_cast<std::uint16_t>(position);
    if (position < length) waiting[static_cast<std::size_t>(blocker)] |= bit_mask(static_cast<unsigned>(wire));
    if (position != begin) {
      todo |= waiting[w];
      waiting[w] = 0;
    }
  }
}

bool SetProblem::finished(const Positions& at) const {
  for (std::size_t w = 0; w < static_cast<std::size_t>(wires_); ++w)
    if (at[w] < length_[w]) return false;
  return true;
}

SetProblem SetProblem::reversed() const {
  SetProblem back;
  back.wires_ = wires_;
  back.turns_ = turns_;
  back.turning_ = turning_;
  back.length_ = length_;
  back.first_ = first_;
  back.joints_ = joints_;
  back.events_.resize(events_.size());
  // "a leaves s only after b reached m" read backwards: b may go below m only after a is at s or below, that is, b's
  // reversed turn out of length_b - m needs a at length_a - s.
  std::vector<EventNeed> needs;
  needs.reserve(events_.size() + needs_.size());
  for (std::size_t a = 0; a < static_cast<std::size_t>(wires_); ++a) {
    for (std::uint32_t s = 0; s < length_[a]; ++s) {
      const Event& event = events_[first_[a] + s];
      const auto add_reversed = [&](const PackedNeed& need) {
        const std::uint32_t position = length_[need.wire] - need.minimum;
        needs.push_back({first_[need.wire] + position,
                         {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(length_[a] - s)}});
      };
      if (event.first.minimum != 0) add_reversed(event.first);
      std::for_each(needs_.begin() + event.begin, needs_.begin() + event.end, add_reversed);
      back.events_[first_[a] + (length_[a] - 1 - s)].joint = event.joint;
    }
  }
  for (const PackedNeed& member : members_) {
    const auto position = static_cast<std::uint16_t>(length_[member.wire] - 1 - member.minimum);
    back.members_.push_back({member.wire, position});
  }
  back.pack_needs(needs);
  return back;
}

}  // namespace qsim
