// Greedy epochs: the register set that lets the most work be done, again and again. Phase terms wait until something
// needs them done, so that they merge; flips go to the end of an epoch where they are free. The last epoch is chosen
// first: from where it leaves the amplitudes they are stored, so that it has work of its own. Blocks on lanes: two
// coordinates more, of which two at a time are on lanes while the others are in registers.
#include "cuda/program/schedule.h"

#include <algorithm>
#include <utility>

#include "base/bits.h"
#include "base/hash.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

/// What a group of items that stay undone touches; an item that conflicts with it must stay undone too.
struct Wall {
  Coordinate moves = 0, flips = 0, looks = 0;
  void add(const Item& item) {
    (item.kind == Item::Kind::kFlip ? flips : moves) |= item.moves;
    looks |= item.looks;
  }
  bool stops(const Item& item) const {
    const Coordinate hard = moves | looks | (item.kind == Item::Kind::kFlip ? 0 : flips);
    return (item.moves & hard) != 0 || (item.looks & (moves | flips)) != 0;
  }
  /// Whether it stops whatever moves any of `all`.
  bool closed(Coordinate all) const { return (all & ~(moves | looks)) == 0; }
};

/// Where coordinates are during an epoch, or during epochs that exchange them: then the lanes' are any two of `reg`.
struct Places {
  Coordinate reg = 0, lanes = 0;
  bool any_lanes = false;
};

class Scheduler {
 public:
  Scheduler(const ItemList& list, const ScheduleLimits& limits)
      : items_(list.items), limits_(limits), done_(list.items.size(), false), kept_(list.items.size(), false) {
    for (const Item& item : items_) touched_ |= item.moves | item.looks;
  }

  std::vector<EpochPlan> run() {
    std::vector<EpochPlan> epochs;
    Coordinate last = limits_.trial % 2 != 0 || blocks_wait() ? 0 : keep_for_last();
    do {
      round_ = epochs.size();
      const bool at_last = last != 0 && only_kept_wait();
      if (at_last) kept_.assign(items_.size(), false);
      if (blocks_wait())
        add_exchanged_epochs(epochs);
      else if (at_last && !epochs.empty())
        epochs.push_back(make_epoch({std::exchange(last, 0), 0, false}));
      else
        epochs.push_back(make_epoch({choose_registers(epochs.empty(), limits_.register_bits), 0, false}));
    } while (std::find(done_.begin(), done_.end(), false) != done_.end());
    return epochs;
  }

 private:
  struct Closure {
    std::vector<std::uint32_t> work, tail;
  };

  static double weight_of(const Item& item) {
    switch (item.kind) {
      case Item::Kind::kRotate:
        return 1;
      case Item::Kind::kFlip:
        return 0.5;
      case Item::Kind::kTerm:
        return 0;
      case Item::Kind::kMatrix:
        return item.targets.size() >= 2 ? 5 : 2;
    }
    throw Error("unknown item kind");
  }

  /// The registers of the last epoch, whose work is kept for it; 0 where there is none.
  Coordinate keep_for_last() {
    const Coordinate usable = limits_.usable & ~limits_.avoid_last;
    Coordinate best = 0;
    double best_weight = 0;
    for (Coordinate reg = usable; reg != 0; reg = (reg - 1) & usable) {
      if (count_bits(reg) != static_cast<unsigned>(limits_.register_bits)) continue;
      const double weight = work_at_end(reg, nullptr);
      const double value = weight + chance(reg);
      if (weight <= 0 || value <= best_weight) continue;
      best = reg;
      best_weight = value;
    }
    if (best != 0) work_at_end(best, &kept_);
    return best;
  }

  /// What can be done in these registers after all else.
  double work_at_end(Coordinate reg, std::vector<bool>* kept) const {
    Wall before;
    double weight = 0;
    for (std::size_t i = items_.size(); i-- > 0 && !before.closed(touched_);) {
      const Item& item = items_[i];
      if (before.stops(item)) {
        before.add(item);
      } else if (item.kind != Item::Kind::kTerm) {
        if (out_of_reach(item, {reg, 0, false})) {
          before.add(item);
        } else {
          weight += weight_of(item);
          if (kept != nullptr) (*kept)[i] = true;
        }
      }
    }
    return weight;
  }

  bool only_kept_wait() const {
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (!done_[i] && !kept_[i] && items_[i].kind != Item::Kind::kTerm) return false;
    }
    return true;
  }

  /// What a trial adds to the weight of a set of registers: as much as two rotations at most.
  double chance(Coordinate reg) const {
    if (limits_.trial < 2) return 0;
    const std::uint64_t key = (std::uint64_t{limits_.trial} << 48) + (std::uint64_t{round_} << 32) + reg;
    return 2 * static_cast<double>(mix_bits(key) >> 11) * 0x1p-53;
  }

  bool blocks_wait() const {
    if (!limits_.lane_blocks) return false;
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (!done_[i] && items_[i].lane_block()) return true;
    }
    return false;
  }

  /// Epochs of one set of coordinates, two more than are in registers: pair after pair of them comes to the lanes.
  void add_exchanged_epochs(std::vector<EpochPlan>& epochs) {
    const Coordinate set = choose_registers(epochs.empty(), limits_.register_bits + kLanePair);
    Coordinate lanes = choose_lanes(set, 0);
    if (lanes == 0) {  // the first epoch need not do anything
      if (!epochs.empty()) throw Error("sweep scheduling found no next epoch");
      epochs.push_back(make_epoch({choose_registers(true, limits_.register_bits), 0, false}));
    }
    for (bool exchanged = false; lanes != 0; exchanged = true) {
      epochs.push_back(make_epoch({set & ~lanes, lanes, false}));
      epochs.back().lanes = lanes;
      epochs.back().exchanged = exchanged;
      lanes = epochs.back().folded.empty() ? choose_lanes(set, lanes) : 0;  // what is folded needs a move
    }
  }

  /// The two of `set` that let the most be done on lanes, the others in registers; of equals those of which more are
  /// there. 0: nothing is left to do.
  Coordinate choose_lanes(Coordinate set, Coordinate before) const {
    Coordinate best = 0;
    double best_weight = 0;
    for_each_bit(set, [&](unsigned low) {
      for_each_bit(set & ~static_cast<Coordinate>(low_mask(low + 1)), [&](unsigned high) {
        const Coordinate lanes = 1u << low | 1u << high;
        double weight = closure({set & ~lanes, lanes, false}, nullptr);
        if (weight > 0) weight += 0.1 * static_cast<double>(count_bits(lanes & before));
        if (weight <= best_weight) return;
        best = lanes;
        best_weight = weight;
      });
    });
    return best;
  }

  bool out_of_reach(const Item& item, const Places& places) const {
    if (limits_.lane_blocks && item.lane_block() && !places.any_lanes) return item.moves != places.lanes;
    return item.targets.size() <= limits_.in_registers && (item.moves & ~places.reg) != 0;
  }

  /// What can be done while coordinates are in these places; lists are filled where asked for.
  double closure(const Places& places, Closure* out) const {
    const Coordinate reg = places.reg;
    Wall undone, tail;
    double weight = 0;
    for (std::uint32_t i = first_; i < items_.size() && !undone.closed(touched_); ++i) {
      if (done_[i]) continue;
      const Item& item = items_[i];
      if (kept_[i] || undone.stops(item)) {
        undone.add(item);
      } else if (item.kind == Item::Kind::kTerm) {
        if (tail.stops(item)) undone.add(item);
      } else if (tail.stops(item) && !item.foldable()) {
        undone.add(item);
      } else if (item.foldable() && ((item.moves & ~reg) != 0 || tail.stops(item))) {
        tail.add(item);
        weight += weight_of(item);
        if (out != nullptr) out->tail.push_back(i);
      } else if (out_of_reach(item, places)) {
        undone.add(item);
      } else {
        weight += weight_of(item);
        if (out != nullptr) out->work.push_back(i);
      }
    }
    return weight;
  }

  /// `count` coordinates; where those are more than registers hold, the lanes have some of them.
  Coordinate choose_registers(bool first, int count) const {
    Coordinate usable = limits_.usable;
    const auto size = static_cast<unsigned>(count);
    if (first && count_bits(usable & ~limits_.avoid_first) >= size) usable &= ~limits_.avoid_first;
    Coordinate reg = 0;
    while (count_bits(reg) < size) reg |= 1u << best_addition(reg, usable);
    for (bool improved = true; improved;) improved = improve(reg, usable);
    return first || weight_with(reg) > 0 ? reg : registers_of_first(reg);
  }

  double weight_with(Coordinate reg) const { return closure({reg, 0, limits_.lane_blocks}, nullptr); }
  double value_of(Coordinate reg) const { return weight_with(reg) + chance(reg); }

  /// Registers that let the first undone item be done: what guarantees an end.
  Coordinate registers_of_first(Coordinate reg) const {
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (done_[i] || kept_[i] || items_[i].kind == Item::Kind::kTerm) continue;
      Coordinate chosen = items_[i].moves;
      const unsigned size = count_bits(reg);
      for_each_bit(reg & ~chosen, [&](unsigned bit) {
        if (count_bits(chosen) < size) chosen |= 1u << bit;
      });
      return chosen;
    }
    return reg;
  }

  unsigned best_addition(Coordinate reg, Coordinate usable) const {
    unsigned best = 0;
    double best_weight = -1;
    for_each_bit(usable & ~reg, [&](unsigned bit) {
      const double weight = value_of(reg | 1u << bit) + 0.01 * near_weight(bit);
      // Ties go to high coordinates: the low ones serve the threads' memory accesses.
      if (weight >= best_weight) {
        best = bit;
        best_weight = weight;
      }
    });
    return best;
  }

  /// How soon something wants `bit` in a register: decides where nothing can be done with one bit more.
  double near_weight(unsigned bit) const {
    double weight = 0, value = 1;
    for (std::uint32_t i = first_; i < items_.size() && value > 0.01; ++i) {
      if (done_[i] || kept_[i] || items_[i].kind == Item::Kind::kTerm) continue;
      if ((items_[i].moves >> bit & 1) != 0) weight += value;
      value *= 0.8;
    }
    return weight;
  }

  bool improve(Coordinate& reg, Coordinate usable) const {
    double best = value_of(reg);
    const Coordinate start = reg;
    for_each_bit(start, [&](unsigned out) {
      for_each_bit(usable & ~start, [&](unsigned in) {
        const Coordinate trial = (start & ~(1u << out)) | 1u << in;
        const double weight = value_of(trial);
        if (weight > best + 1e-9) {
          best = weight;
          reg = trial;
        }
      });
    });
    return reg != start;
  }

  EpochPlan make_epoch(const Places& places) {
    Closure todo;
    closure(places, &todo);
    EpochPlan epoch;
    epoch.reg = places.reg;
    fold_trailing_flips(todo);
    epoch.folded = todo.tail;
    place_work(todo.work, epoch);
    for (const std::uint32_t i : todo.tail) done_[i] = true;
    flush_terms(places.reg, todo.tail, epoch);
    while (first_ < items_.size() && done_[first_]) ++first_;
    return epoch;
  }

  /// Moves flips that nothing in the epoch follows from `work` to the front of `tail`.
  void fold_trailing_flips(Closure& todo) const {
    Wall later;
    std::vector<std::uint32_t> keep, fold;
    for (auto it = todo.work.rbegin(); it != todo.work.rend(); ++it) {
      const Item& item = items_[*it];
      if (item.foldable() && !later.stops(item) && !term_follows(*it)) {
        fold.push_back(*it);
      } else {
        later.add(item);
        keep.push_back(*it);
      }
    }
    todo.work.assign(keep.rbegin(), keep.rend());
    fold.insert(fold.end(), todo.tail.rbegin(), todo.tail.rend());
    std::sort(fold.begin(), fold.end());
    todo.tail = fold;
  }

  /// True when an undone phase term after `flip` would be kept from this epoch by folding it.
  bool term_follows(std::uint32_t flip) const {
    for (std::uint32_t i = flip + 1; i < items_.size(); ++i) {
      if (!done_[i] && items_[i].kind == Item::Kind::kTerm && !commute(items_[i], items_[flip])) return true;
    }
    return false;
  }

  /// Undone terms that nothing undone before them holds back.
  std::vector<std::uint32_t> ready_terms() const {
    std::vector<std::uint32_t> ready;
    Wall undone;
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (done_[i]) continue;
      if (undone.stops(items_[i])) {
        undone.add(items_[i]);
      } else if (items_[i].kind == Item::Kind::kTerm) {
        ready.push_back(i);
      } else {
        undone.add(items_[i]);
      }
    }
    return ready;
  }

  void place_work(std::vector<std::uint32_t> work, EpochPlan& epoch) {
    while (!work.empty()) {
      const std::vector<std::uint32_t> ready = ready_terms();
      std::vector<bool> is_ready(items_.size(), false), needed(items_.size(), false);
      for (const std::uint32_t t : ready) is_ready[t] = true;
      std::vector<std::uint32_t> step, later;
      Wall before;
      for (const std::uint32_t i : work) {
        const bool waits = before.stops(items_[i]) || blocked_by_terms(i, is_ready, needed);
        (waits ? later : step).push_back(i);
        before.add(items_[i]);  // a step's items may be done in any order
      }
      if (step.empty()) {
        step = terms_with(epoch.reg, ready, needed);
        if (step.empty()) throw Error("sweep scheduling found no next step");
      } else {
        work = later;
      }
      for (const std::uint32_t i : step) done_[i] = true;
      epoch.steps.push_back(std::move(step));
    }
  }

  /// True when an undone term before item i does not commute with it; those that are ready are marked as needed.
  bool blocked_by_terms(std::uint32_t i, const std::vector<bool>& is_ready, std::vector<bool>& needed) const {
    bool blocked = false;
    for (std::uint32_t t = first_; t < i; ++t) {
      if (done_[t] || items_[t].kind != Item::Kind::kTerm || commute(items_[t], items_[i])) continue;
      blocked = true;
      if (is_ready[t]) needed[t] = true;
    }
    return blocked;
  }

  /// The needed terms, and those that merge with them for nothing: same part of the coordinates in registers.
  std::vector<std::uint32_t> terms_with(Coordinate reg, const std::vector<std::uint32_t>& ready,
                                        const std::vector<bool>& needed) const {
    std::vector<Coordinate> parts;
    for (const std::uint32_t t : ready) {
      if (needed[t]) parts.push_back(items_[t].term.mask & reg);
    }
    std::vector<std::uint32_t> step;
    for (const std::uint32_t t : ready) {
      const Term& term = items_[t].term;
      const bool same = term.plain() && std::find(parts.begin(), parts.end(), term.mask & reg) != parts.end();
      if (needed[t] || same) step.push_back(t);
    }
    return step;
  }

  /// Terms on coordinates that are in registers now, and those that a folded flip must not overtake; all that are ready
  /// when nothing else is left. What follows a folded flip that it does not commute with waits for the next epoch.
  void flush_terms(Coordinate reg, const std::vector<std::uint32_t>& folded, EpochPlan& epoch) {
    bool only_terms = true;
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (!done_[i] && items_[i].kind != Item::Kind::kTerm) only_terms = false;
    }
    Wall undone;
    std::vector<std::uint32_t> step;
    for (std::uint32_t i = first_; i < items_.size(); ++i) {
      if (done_[i]) continue;
      const Item& item = items_[i];
      bool after = false, before = false;
      for (const std::uint32_t f : folded) {
        if (!commute(items_[f], item)) (f < i ? after : before) = true;
      }
      if (item.kind != Item::Kind::kTerm || after || undone.stops(item)) {
        undone.add(item);
      } else if (only_terms || before || ((item.term.mask | item.term.parity) & reg) != 0) {
        step.push_back(i);
      }
    }
    for (const std::uint32_t i : step) done_[i] = true;
    if (!step.empty()) epoch.steps.push_back(std::move(step));
  }

  const std::vector<Item>& items_;
  const ScheduleLimits& limits_;
  std::vector<bool> done_;
  std::vector<bool> kept_;  // for the last epoch
  Coordinate touched_ = 0;  // by any item
  std::size_t round_ = 0;   // the number of the epoch that is made
  std::uint32_t first_ = 0;
};

}  // namespace

std::vector<EpochPlan> schedule(const ItemList& list, const ScheduleLimits& limits) {
  return Scheduler(list, limits).run();
}

}  // namespace qsim::cuda
