// Greedy schedules by local search over one set at a time, then annealing of whole schedules.
//
// Annealing looks at one set between the positions that the sets before reach (forwards) and those that the sets after
// need (backwards): the number of turns that lie in neither is what must become 0. One move costs one advance().
#include "plan/search/set_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "base/bits.h"
#include "base/numbers/split_mix.h"

namespace qsim {
namespace {

class SetSearch : SetGame {
 public:
  SetSearch(const SetProblem& problem, const SetRules& rules) : SetGame(problem, rules), random_(rules.seed) {
    measure_ends();
  }

  SetSchedule run() {
    SetSchedule best;
    const std::uint64_t tries = greedy_tries();
    for (int round = 0; round < kGreedyRounds; ++round) {
      if (round > 0 && (at_bound(best) || used_ > rules_.budget / 3)) break;
      SetSchedule found = greedy(tries);
      if (better(found, best)) best = std::move(found);
    }
    for (const std::uint64_t limit : {rules_.budget, rules_.budget + rules_.more}) {
      while (best.complete && !at_bound(best) && used_ < limit) {
        std::optional<SetSchedule> fewer = anneal(best, limit);
        if (!fewer) break;
        best = std::move(*fewer);
      }
    }
    if (rules_.late_first_turns && best.complete) delay_first_turns(best);
    best.used = used_;
    return best;
  }

 private:
  static constexpr int kGreedyRounds = 5;
  static constexpr int kPackedStarts = 3;
  static constexpr double kHot = 1.0, kCold = 0.3;  // annealing temperatures, in turns
  static constexpr double kWanted = 0.9;            // share of moves that add a wire which lacks turns
  static constexpr int kMovesInPlace = 100;         // moves before looking at the next set
  static constexpr unsigned kTriedBits = 8;         // places for what a climb has tried
  struct Tried {
    Index set = 0;
    std::uint64_t climb = 0;  // none is the first
    std::int32_t value = 0;
  };

  bool better(const SetSchedule& a, const SetSchedule& b) const {
    if (a.complete != b.complete) return a.complete;
    return b.sets.empty() || a.sets.size() < b.sets.size();
  }

  bool at_bound(const SetSchedule& schedule) const {
    return schedule.complete && schedule.sets.size() <= static_cast<std::size_t>(fewest_sets(forward_, rules_));
  }

  // What every wire must have reached when a segment ends, so that the segments after it can finish.
  void measure_ends() {
    Positions back{};
    needed_.assign(allowed_.size(), Positions{});
    for (std::size_t s = allowed_.size(); s-- > 0;) {
      for (int w = 0; w < forward_.wires(); ++w) {
        const auto i = static_cast<std::size_t>(w);
        needed_[s][i] = static_cast<std::uint16_t>(forward_.length(w) - back[i]);
      }
      go_back(back, allowed_[s], s);
    }
  }

  std::uint64_t greedy_tries() const {
    const std::uint64_t sets = 1 + forward_.turns() / 25;
    const std::uint64_t least = rules_.budget < 5000 ? 100 : 300;  // little budget: where sets cost little
    return std::clamp<std::uint64_t>(rules_.budget / (8 * sets), least, 400);
  }

  bool reached(const Positions& at, const Positions& goal) const {
    for (std::size_t w = 0; w < static_cast<std::size_t>(forward_.wires()); ++w)
      if (at[w] < goal[w]) return false;
    return true;
  }

  // Turns done, those that the segment must do counting more.
  std::int32_t value(const Positions& at, const Positions& goal) const {
    std::int32_t total = 0;
    for (std::size_t w = 0; w < static_cast<std::size_t>(forward_.wires()); ++w)
      total += at[w] + 3 * std::min(at[w], goal[w]);
    return total;
  }

  Index random_set(Index previous, std::size_t segment) {
    Index set = 0;
    const int keep = shared(previous, segment);
    while (popcount(set) < keep) set |= random_.pick(previous & allowed_[segment] & ~set);
    while (popcount(set) < room(segment)) set |= random_.pick(allowed_[segment] & ~set);
    return set;
  }

  // A start for the local search: what was active before, as far as it may be.
  Index first_guess(Index previous, std::size_t segment) {
    Index set = previous & allowed_[segment];
    while (popcount(set) > room(segment)) set &= ~random_.pick(set);  // a part before had wider matrices
    while (popcount(set) < room(segment)) set |= random_.pick(allowed_[segment] & ~set);
    return set;
  }

  // Another start: wires one by one that have a turn to run, as far as what is shared leaves room for them.
  Index packed(Positions at, Index previous, std::size_t segment) {
    const Index allowed = allowed_[segment];
    const int keep = shared(previous, segment);
    Index set = 0;
    while (popcount(set) < room(segment)) {
      Index open = forward_.ready(at, allowed) & ~set;
      if (room(segment) - popcount(set) <= keep - popcount(set & previous)) open = previous & allowed & ~set;
      if (open == 0) open = allowed & ~set;
      set |= random_.pick(open);
      at = advanced(at, set, segment);
    }
    return set;
  }

  Index climb(const Positions& at, Index previous, std::size_t segment, std::uint64_t tries) {
    const Positions& goal = needed_[segment];
    const int keep = shared(previous, segment);
    ++climbs_;
    Index set = first_guess(previous, segment);
    std::int32_t best = value(advanced(at, set, segment), goal);
    for (int start = 0; start < (rules_.pack ? kPackedStarts : 0); ++start) {
      const Index other = packed(at, previous, segment);
      const std::int32_t reached = value(advanced(at, other, segment), goal);
      if (reached <= best) continue;
      best = reached;
      set = other;
    }
    for (std::uint64_t t = 0; t < tries; ++t) {
      Index outside = allowed_[segment] & ~set;
      if (outside == 0) break;
      Index other = (set & ~random_.pick(set)) | random_.pick(outside);
      outside &= ~other;
      if (random_.next() % 3 == 0 && outside != 0 && (other & set) != 0)
        other = (other & ~random_.pick(other & set)) | random_.pick(outside);
      if (popcount(other & previous) < keep) continue;
      const std::int32_t reached = tried(at, other, segment);
      if (reached < best) continue;
      best = reached;
      set = other;
    }
    return set;
  }

  // The value after `set`, from what was found before where this climb has asked for it already: a fifth to a third of
  // all tries. Counts as used either way.
  std::int32_t tried(const Positions& at, Index set, std::size_t segment) {
    Tried& known = tried_[set * 0x9E3779B97F4A7C15ull >> (64 - kTriedBits)];
    if (known.climb == climbs_ && known.set == set) {
      ++used_;
    } else {
      known = {set, climbs_, value(advanced(at, set, segment), needed_[segment])};
    }
    return known.value;
  }

  SetSchedule greedy(std::uint64_t tries) {
    SetSchedule schedule;
    Positions at = rules_.start;
    Index previous = rules_.before;
    for (std::size_t segment = 0; segment < allowed_.size(); ++segment) {
      int stuck = 0;
      bool first = true;
      while (first || !reached(at, needed_[segment])) {
        if (allowed_[segment] == 0 || stuck > 50) break;
        Index set = climb(at, previous, segment, tries);
        Positions next = advanced(at, set, segment);
        if (next == at) {  // leads nowhere from here: walk at random until something moves
          ++stuck;
          set = random_set(previous, segment);
          next = advanced(at, set, segment);
        } else {
          stuck = 0;
        }
        schedule.sets.push_back(set);
        schedule.segment.push_back(static_cast<std::uint32_t>(segment));
        at = next;
        previous = set;
        first = false;
      }
    }
    schedule.complete = forward_.finished(at);
    return schedule;
  }

  // Leaves out the set that is missed least, where its neighbours still share enough.
  bool drop_one(SetSchedule& schedule) {
    replay(schedule.sets, schedule.segment);
    int least = std::numeric_limits<int>::max();
    std::size_t victim = schedule.sets.size();
    for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
      const bool alone = (i == 0 || schedule.segment[i - 1] != schedule.segment[i]) &&
                         (i + 1 == schedule.sets.size() || schedule.segment[i + 1] != schedule.segment[i]);
      if (alone) continue;
      const int missed = lacking(before_[i], after_[i + 1]).turns;
      const Index previous = i == 0 ? rules_.before : schedule.sets[i - 1];
      if (i + 1 < schedule.sets.size() && previous != 0) {
        const int keep = shared(previous, schedule.segment[i + 1]);
        if (popcount(previous & schedule.sets[i + 1]) < keep) continue;
      }
      if (missed >= least) continue;
      least = missed;
      victim = i;
    }
    if (victim == schedule.sets.size()) return false;
    schedule.sets.erase(schedule.sets.begin() + static_cast<std::ptrdiff_t>(victim));
    schedule.segment.erase(schedule.segment.begin() + static_cast<std::ptrdiff_t>(victim));
    return true;
  }

  Index neighbour(Index set, std::size_t segment, Index lacks) {
    Index other = set;
    const int swaps = (random_.next() & 3) == 0 ? 2 : 1;
    for (int i = 0; i < swaps; ++i) {
      const Index outside = allowed_[segment] & ~other & ~set;
      if (outside == 0 || (other & set) == 0) break;
      const Index wanted = outside & lacks;
      const bool helps = wanted != 0 && random_.uniform() < kWanted;
      other = (other & ~random_.pick(other & set)) | random_.pick(helps ? wanted : outside);
    }
    return other;
  }

  // Until `limit` moves are used.
  std::optional<SetSchedule> anneal(SetSchedule schedule, std::uint64_t limit) {
    if (!drop_one(schedule)) return std::nullopt;
    replay(schedule.sets, schedule.segment);
    const std::size_t n = schedule.sets.size();
    const std::uint64_t begin = used_;
    const double length = static_cast<double>(limit - std::min(limit, used_)) + 1;
    std::size_t i = 0;
    bool up = true;
    while (used_ < limit) {
      const double heat = kHot * std::pow(kCold / kHot, static_cast<double>(used_ - begin) / length);
      if (improve(schedule, i, heat)) {
        schedule.complete = true;
        return schedule;
      }
      before_[i + 1] = advanced(before_[i], schedule.sets[i], schedule.segment[i]);
      after_[i] = after_[i + 1];
      go_back(after_[i], schedule.sets[i], schedule.segment[i]);
      if (n == 1) continue;
      if (up && i + 1 == n) up = false;
      if (!up && i == 0) up = true;
      i = up ? i + 1 : i - 1;
    }
    return std::nullopt;
  }

  // Takes wires out of the first sets that have them where later ones can do their turns.
  void delay_first_turns(SetSchedule& schedule) {
    replay(schedule.sets, schedule.segment);
    for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
      const Index previous = i > 0 ? schedule.sets[i - 1] : rules_.before;
      const Index next = i + 1 < schedule.sets.size() ? schedule.sets[i + 1] : 0;
      for (Index rest = schedule.sets[i]; rest != 0; rest &= rest - 1) {
        const Index wire = rest & (~rest + 1);
        if (before_[i][static_cast<std::size_t>(std::countr_zero(rest))] != 0) continue;
        const Index other = schedule.sets[i] & ~wire;
        const auto few = [&](Index neighbour) {
          const int common = popcount(other & neighbour);
          return neighbour != 0 && common < rules_.low && common < popcount(schedule.sets[i] & neighbour);
        };
        if (few(previous) || few(next)) continue;
        const Positions reached = advanced(before_[i], other, schedule.segment[i]);
        if (lacking(reached, after_[i + 1]).turns == 0) schedule.sets[i] = other;
      }
      before_[i + 1] = advanced(before_[i], schedule.sets[i], schedule.segment[i]);
    }
  }

  // Moves of set i alone; true when nothing is missing any more.
  bool improve(SetSchedule& schedule, std::size_t i, double heat) {
    const std::size_t segment = schedule.segment[i];
    const Positions &from = before_[i], &back = after_[i + 1];
    const Index previous = i > 0 ? schedule.sets[i - 1] : rules_.before;
    const Index next = i + 1 < schedule.sets.size() ? schedule.sets[i + 1] : 0;
    const int keep_before = shared(previous, segment);
    Lacking now = lacking(advanced(from, schedule.sets[i], segment), back);
    for (int move = 0; move < kMovesInPlace && now.turns > 0; ++move) {
      const Index other = neighbour(schedule.sets[i], segment, now.wires);
      if (other == schedule.sets[i]) {
        ++used_;
        continue;
      }
      if (popcount(other & previous) < keep_before) continue;
      if (next != 0 && popcount(other & next) < shared(other, schedule.segment[i + 1])) continue;
      std::optional<double> draw;
      const auto refused = [&](int then) {
        if (then <= now.turns) return false;
        if (!draw) draw = random_.uniform();
        return *draw >= std::exp((now.turns - then) / heat);
      };
      int least = 0;  // what the wires that it leaves out miss tells of many moves
      for_each_bit(forward_.turning() & ~other, [&](unsigned w) { least += missing(static_cast<int>(w), from, back); });
      if (refused(least)) {
        ++used_;
        continue;
      }
      const Lacking then = lacking(advanced(from, other, segment), back);
      if (refused(then.turns)) continue;
      schedule.sets[i] = other;
      now = then;
    }
    return now.turns == 0;
  }

  SplitMix random_;
  std::vector<Positions> needed_;
  std::array<Tried, std::size_t{1} << kTriedBits> tried_{};
  std::uint64_t climbs_ = 0;
};

}  // namespace

SetGame::SetGame(const SetProblem& problem, const SetRules& rules)
    : forward_(problem), backward_(problem.reversed()), rules_(rules) {
  for (const Index allowed : rules.segments) allowed_.push_back(allowed & problem.turning());
}

Positions SetGame::advanced(const Positions& at, Index set, std::size_t segment) {
  Positions result = at;
  if (!rules_.born_before.empty()) {
    for (Index rest = rules_.born_before[segment] & set; rest != 0; rest &= rest - 1) {
      if (at[static_cast<std::size_t>(std::countr_zero(rest))] == 0) set &= ~(rest & (~rest + 1));
    }
  }
  forward_.advance(result, set);
  ++used_;
  return result;
}

void SetGame::go_back(Positions& back, Index set, std::size_t segment) {
  backward_.advance(back, set);
  ++used_;
  if (rules_.born_before.empty()) return;
  for (Index rest = rules_.born_before[segment]; rest != 0; rest &= rest - 1) {
    const auto w = static_cast<std::size_t>(std::countr_zero(rest));
    const auto length = static_cast<std::uint16_t>(forward_.length(static_cast<int>(w)));
    if (back[w] == length) back[w] = static_cast<std::uint16_t>(length - 1);
  }
}

void SetGame::replay(const std::vector<Index>& sets, const std::vector<std::uint32_t>& segment) {
  const std::size_t n = sets.size();
  before_.assign(n + 1, rules_.start);
  after_.assign(n + 1, Positions{});
  for (std::size_t i = 0; i < n; ++i) before_[i + 1] = advanced(before_[i], sets[i], segment[i]);
  for (std::size_t i = n; i-- > 0;) {
    after_[i] = after_[i + 1];
    go_back(after_[i], sets[i], segment[i]);
  }
}

SetGame::Lacking SetGame::lacking(const Positions& reached, const Positions& back) const {
  Lacking result;
  for (int w = 0; w < forward_.wires(); ++w) {
    const int turns = missing(w, reached, back);
    result.turns += turns;
    result.wires |= Index{turns != 0} << w;
  }
  return result;
}

int SetGame::room(std::size_t segment) const { return std::min(rules_.size, popcount(allowed_[segment])); }

int SetGame::shared(Index previous, std::size_t segment) const {
  return previous == 0 ? 0 : std::min({rules_.low, popcount(previous & allowed_[segment]), room(segment)});
}

int fewest_sets(const SetProblem& problem, const SetRules& rules, Index done) {
  int turning = 0;
  for (int w = 0; w < problem.wires(); ++w) {
    const std::uint32_t start = (done >> w & 1) != 0 ? 1 : rules.start[static_cast<std::size_t>(w)];
    turning += start < problem.length(w);
  }
  const int fresh = std::max(1, rules.size - rules.low);
  const int first = rules.before == 0 ? rules.size : fresh;
  const int segments = static_cast<int>(rules.segments.size());
  if (turning == 0) return segments;
  return std::max(segments, 1 + (std::max(0, turning - first) + fresh - 1) / fresh);
}

std::vector<Qubit> wires_that_stay(const SetSchedule& schedule, std::size_t i) {
  std::vector<Qubit> order;  // those that go first last
  const auto put_first = [&](Index wires) {
    std::size_t at = 0;
    for_each_bit(wires, [&](unsigned wire) { order.insert(order.begin() + static_cast<std::ptrdiff_t>(at++), wire); });
  };
  Index staying = schedule.sets[i];
  for (std::size_t j = i + 1; j < schedule.sets.size() && staying != 0; ++j) {
    if (j > i + 1) put_first(staying & ~schedule.sets[j]);
    staying &= schedule.sets[j];
  }
  put_first(staying);
  return order;
}

std::vector<Positions> positions_after(const SetProblem& problem, const SetSchedule& schedule, const Positions& start,
                                       Pace pace, Index prompt) {
  const std::size_t sets = schedule.sets.size();
  const auto wires = static_cast<std::size_t>(problem.wires());
  std::vector<Positions> eager(sets), after(sets);
  for (std::size_t i = 0; i < sets; ++i) {
    eager[i] = i == 0 ? start : eager[i - 1];
    problem.advance(eager[i], schedule.sets[i]);
  }
  if (pace == Pace::kEager) return eager;
  // What the sets after each one cannot do.
  const SetProblem backward = problem.reversed();
  Positions back{};
  for (std::size_t i = sets; i-- > 0;) {
    for (std::size_t w = 0; w < wires; ++w) {
      after[i][w] = static_cast<std::uint16_t>(problem.length(static_cast<int>(w)) - back[w]);
    }
    backward.advance(back, schedule.sets[i]);
  }
  const auto turns = [&](const Positions& at) {
    return std::accumulate(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(wires), std::uint64_t{0});
  };
  for (std::size_t i = 0; i < sets; ++i) {
    const Positions& before = i == 0 ? start : after[i - 1];
    for (std::size_t w = 0; w < wires; ++w) {
      const std::uint16_t first = (prompt >> w & 1) != 0 ? std::min<std::uint16_t>(eager[i][w], 1) : 0;
      after[i][w] = std::max({after[i][w], before[w], first});
    }
    const std::uint64_t done = turns(before);
    const std::uint64_t share = done + (problem.turns() - done) / (sets - i);
    Index hurried = 0;
    for (Index rest = schedule.sets[i]; rest != 0 && turns(after[i]) < share; rest &= rest - 1) {
      hurried |= rest & (~rest + 1);
      problem.advance(after[i], hurried);
    }
  }
  return after;
}

SetSchedule find_sets(const SetProblem& problem, const SetRules& rules) { return SetSearch(problem, rules).run(); }

}  // namespace qsim
