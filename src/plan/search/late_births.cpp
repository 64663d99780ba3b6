// Annealing of complete schedules. A move changes one set between the positions that the sets before it reach and those
// that the sets after it need; it is open where no turn is missing then, and judged by what all sets cost.
#include "plan/search/late_births.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/split_mix.h"
#include "base/threads/thread_team.h"
#include "plan/cost/cost.h"

namespace qsim {
namespace {

class LateBirths : SetGame {
 public:
  LateBirths(const SetProblem& problem, const SetRules& rules, const MemoryCosts& costs, SetSchedule schedule,
             double seconds, std::uint64_t seed)
      : SetGame(problem, rules),
        costs_(costs),
        draws_(seed),
        sets_(std::move(schedule.sets)),
        segment_(std::move(schedule.segment)) {
    replay();
    fit_turn(seconds);
  }

  /// The cheapest schedule that is found; none where that saves next to nothing.
  SetSchedule run(std::uint64_t budget) {
    least_ = kWorthwhile * cost();
    std::vector<Index> best;
    sets_.insert(sets_.begin(), sets_.front());  // one more while it costs hardly anything
    segment_.insert(segment_.begin(), segment_.front());
    replay();
    cost_ = cost();
    std::size_t i = 0;
    bool up = true;
    for (std::uint64_t moves = 0; moves < budget; moves += kMovesInPlace) {
      const double done = static_cast<double>(moves) / static_cast<double>(budget);
      const double heat = kHot * std::pow(kCold / kHot, done);
      const Index needed = lacking(before_[i], after_[i + 1]).wires;
      for (std::uint64_t move = 0; move < kMovesInPlace; ++move) {
        if (!try_move(i, needed, heat) || cost_ >= least_) continue;
        least_ = cost_;
        best = sets_;
      }
      if (up && i + 1 == sets_.size()) up = false;
      if (!up && i == 0) up = true;
      if (up) {
        play(i++);
        turns_[i] = turns_between(before_[i], advanced(before_[i], sets_[i], segment_[i]));
      } else {
        play_back(i--);
      }
      cost_ = cost();
    }
    if (best.empty()) return {};
    sets_ = std::move(best);
    drop_idle();
    replay();
    SetSchedule result;
    result.complete = forward_.finished(before_.back());
    result.sets = std::move(sets_);
    result.segment = std::move(segment_);
    return result;
  }

 private:
  static constexpr double kHot = 0.05, kCold = 1e-4;  // annealing temperatures, as shares of what the schedule costs
  static constexpr std::uint64_t kMovesInPlace = 5;   // before looking at the next set
  static constexpr double kWorthwhile = 0.98;         // of what the schedule costs, to write another plan

  // Amplitudes of a rank in set i's segment where `born` wires have been born.
  double amplitudes(std::size_t i, Index born) const {
    return static_cast<double>(std::uint64_t{1} << popcount(born & rules_.segments[segment_[i]]));
  }
  double all_amplitudes() const { return static_cast<double>(std::uint64_t{1} << costs_.local); }

  bool ends_segment(std::size_t i) const { return i + 1 < sets_.size() && segment_[i + 1] != segment_[i]; }

  // Amplitudes that set i writes where `born` wires have been born after it.
  double written(std::size_t i, Index born) const {
    return i + 1 == sets_.size() ? all_amplitudes() : amplitudes(i, born);
  }

  // Of set i, which does `turns`, where `before` wires have been born when it begins.
  double set_cost(std::size_t i, Index before, Index set, double turns) const {
    const double size = written(i, before | set);
    const double memory = size * costs_.write + (i > 0 ? costs_.read * amplitudes(i, before) : 0);
    double total = costs_.sweep + overlapped(memory, turn_ * turns * size, costs_.overlap_power);
    if (ends_segment(i)) total += costs_.exchange * size * traded(i);
    return total;
  }

  // Seconds of a turn, so that the sets as they are take `seconds`.
  void fit_turn(double seconds) {
    cost();
    double most = 0;  // amplitudes times turns, of one set
    for (std::size_t i = 0; i < sets_.size(); ++i) most = std::max(most, written(i, after(i)) * turns_[i]);
    if (most == 0) return;
    double low = 0, high = seconds / most;
    for (int i = 0; i < 40; ++i) {
      turn_ = (low + high) / 2;
      (cost() < seconds ? low : high) = turn_;
    }
    turn_ = low;
  }

  // The share of a rank's amplitudes that goes in the exchange behind set i.
  double traded(std::size_t i) const {
    const Index leaving = rules_.segments[segment_[i]] & ~rules_.segments[segment_[i + 1]];
    return 1 - std::ldexp(1.0, -popcount(leaving));
  }

  // Wires that have been born when set i begins, after those before it have borne `born`: what was global is.
  Index arrived(std::size_t i, Index born) const {
    return i > 0 && ends_segment(i - 1) ? born | ~rules_.segments[segment_[i - 1]] : born;
  }

  // Seconds, with the turns that sets do as far as they have been played; the last one does those that are left.
  double cost() {
    born_.assign(sets_.size() + 1, 0);
    left_ = static_cast<double>(forward_.turns());
    double total = 0;
    const std::size_t last = sets_.size() - 1;
    for (std::size_t i = 0; i <= last; ++i) {
      born_[i] = arrived(i, born_[i]);
      total += set_cost(i, born_[i], sets_[i], i == last ? left_ : turns_[i]);
      born_[i + 1] = born_[i] | sets_[i];
      if (i < last) left_ -= turns_[i];
    }
    return total;
  }

  // What cost() becomes where `set` takes the place of set i and does `turns`.
  double cost_with(std::size_t i, Index set, double turns) const {
    const std::size_t last = sets_.size() - 1;
    const double left = i == last ? left_ : left_ + turns_[i] - turns;
    double total = cost_;
    Index before = born_[i];
    for (std::size_t j = i; j <= last; ++j) {
      before = arrived(j, before);
      if (j > i && before == born_[j] && j < last) {
        j = last;  // nothing changes in between
        before = born_[j];
      }
      const double old_turns = j == last ? left_ : turns_[j], new_turns = j == last ? left : j == i ? turns : turns_[j];
      total += set_cost(j, before, j == i ? set : sets_[j], new_turns) - set_cost(j, born_[j], sets_[j], old_turns);
      before |= j == i ? set : sets_[j];
    }
    return total;
  }

  // Wires that have been born after set i.
  Index after(std::size_t i) const { return born_[i] | sets_[i]; }

  double turns_between(const Positions& from, const Positions& to) const {
    int total = 0;
    for (std::size_t w = 0; w < static_cast<std::size_t>(forward_.wires()); ++w) total += to[w] - from[w];
    return total;
  }

  void play(std::size_t i) {
    before_[i + 1] = advanced(before_[i], sets_[i], segment_[i]);
    turns_[i] = turns_between(before_[i], before_[i + 1]);
  }

  void play_back(std::size_t i) {
    after_[i] = after_[i + 1];
    go_back(after_[i], sets_[i], segment_[i]);
  }

  void replay() {
    SetGame::replay(sets_, segment_);
    turns_.resize(sets_.size());
    for (std::size_t i = 0; i < sets_.size(); ++i) turns_[i] = turns_between(before_[i], before_[i + 1]);
  }

  Index before(std::size_t i) const { return i > 0 ? sets_[i - 1] : rules_.before; }

  bool follows(Index set, Index previous, std::size_t segment) const {
    return popcount(set & previous) >= shared(previous, segment);
  }

  Index neighbour(Index set, std::size_t segment) {
    const Index outside = allowed_[segment] & ~set;
    const std::uint64_t kind = draws_.next() % 4;
    if (kind == 0) return popcount(set) > 1 ? set & ~draws_.pick(set) : set;
    if (outside == 0 || set == 0) return set;
    if (kind == 1) return popcount(set) < room(segment) ? set | draws_.pick(outside) : set;
    Index other = (set & ~draws_.pick(set)) | draws_.pick(outside);
    const Index more = outside & ~other;
    if (popcount(other) < room(segment) && more != 0) other |= draws_.pick(more);
    return other;
  }

  // `needed`: wires without which no set does what the others leave to set i.
  bool try_move(std::size_t i, Index needed, double heat) {
    const Index set = neighbour(sets_[i], segment_[i]);
    if (set == sets_[i] || !follows(set, before(i), segment_[i])) return false;
    if (i + 1 < sets_.size() && !follows(sets_[i + 1], set, segment_[i + 1])) return false;
    if ((needed & ~set) != 0) return false;
    const Positions reached = advanced(before_[i], set, segment_[i]);
    if (lacking(reached, after_[i + 1]).turns != 0) return false;
    const double turns = turns_between(before_[i], reached), then = cost_with(i, set, turns);
    if (then > cost_ && draws_.uniform() >= std::exp((cost_ - then) / (heat * cost_))) return false;
    sets_[i] = set;
    for (std::size_t j = i + 1; j < sets_.size(); ++j) born_[j] = arrived(j, after(j - 1));
    cost_ = then;
    if (i + 1 < sets_.size()) left_ += turns_[i] - turns;
    turns_[i] = turns;
    return true;
  }

  // Leaves out sets that the others can do without; each segment keeps one.
  void drop_idle() {
    for (std::size_t i = 0; i + 1 < sets_.size();) {
      replay();
      const bool alone = ends_segment(i) && (i == 0 || segment_[i - 1] != segment_[i]);
      if (!alone && lacking(before_[i], after_[i + 1]).turns == 0 &&
          follows(sets_[i + 1], before(i), segment_[i + 1])) {
        sets_.erase(sets_.begin() + static_cast<std::ptrdiff_t>(i));
        segment_.erase(segment_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  const MemoryCosts costs_;
  SplitMix draws_;
  std::vector<Index> sets_;
  std::vector<std::uint32_t> segment_;  // of each set
  std::vector<Index> born_;             // before each set
  std::vector<double> turns_;           // of each set
  double turn_ = 0;                     // seconds of one, an amplitude
  double left_ = 0;                     // turns of the last set
  double cost_ = 0, least_ = 0;
};

}  // namespace

MemoryCosts memory_costs(const CostTable& table, Precision precision, int local) {
  const auto bytes = static_cast<double>(amplitude_bytes(precision));
  return {local,
          bytes / table.read_bytes_per_second,
          bytes / table.write_bytes_per_second,
          table.sweep_overhead,
          table.link_bytes_per_second > 0 ? bytes / table.link_bytes_per_second : 0,
          table.overlap_power};
}

std::vector<SetSchedule> with_later_births(const SetProblem& problem, const SetRules& rules,
                                           const SetSchedule& schedule, const MemoryCosts& costs, double seconds,
                                           const LateBirthBudget& budget, int threads) {
  // What is found varies by some percent, and by whether arithmetic hides behind memory or adds to it.
  MemoryCosts added = costs;
  added.overlap_power = 1;
  std::vector<SetSchedule> found(2 * std::size_t{budget.looks});
  ThreadTeam(threads).run(found.size(), [&](std::uint64_t i, int) {
    LateBirths search(problem, rules, i % 2 == 0 ? costs : added, schedule, seconds, rules.seed + 1000 * i);
    found[i] = search.run(budget.moves);
  });
  std::erase_if(found, [&](const SetSchedule& of) { return !of.complete || of.sets == schedule.sets; });
  return found;
}

}  // namespace qsim
