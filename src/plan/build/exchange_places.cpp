// Bits are renamed by a permutation that changes only where memory moves anyway: two names may trade places in the
// start layout when they are born in the same sweep, and in a store when both are active.
#include "plan/build/exchange_places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/bits.h"
#include "base/layout.h"

namespace qsim {
namespace {

class Renaming {
 public:
  /// `turn` decides which of several names takes a place.
  Renaming(Plan& plan, ExchangePlaces& places, unsigned turn)
      : plan_(plan), places_(places), top_(plan.local_bits()), turn_(turn) {
    for (Bit bit = 0; bit < kMaxQubits; ++bit) place_[bit] = name_[bit] = bit;
  }

  void run() {
    if (places_.free_start) choose_start();
    rename(plan_.initial_layout);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      Stage& stage = plan_.stages[s];
      if (stage.exchange) rename_exchange(*stage.exchange, places_.candidates[s]);
      rename(stage.layout);
      for (Sweep& sweep : stage.sweeps) rename_sweep(sweep, s + 1);
    }
    rename(plan_.final_layout);
  }

 private:
  // Takes names to the places that the exchange before stage `s` wants for them, as far as `may_trade` allows.
  template <typename MayTrade>
  void improve(std::size_t s, const MayTrade& may_trade) {
    if (s >= plan_.stages.size()) return;
    Index swapped = 0;
    for (const auto& [local, global] : plan_.stages[s].exchange->swaps) swapped |= bit_mask(local);
    const unsigned swaps = count_bits(swapped);
    const auto chunks = std::min(count_bits(places_.candidates[s]), static_cast<unsigned>(places_.wanted[s]));
    take(swapped, top_ - swaps, top_, may_trade);
    const unsigned end = top_ - swaps;
    take(places_.candidates[s], end - std::min(end, chunks), end, may_trade);
  }

  // Fills the places from `end` down to `begin` with names of `wanted`.
  template <typename MayTrade>
  void take(Index wanted, unsigned begin, unsigned end, const MayTrade& may_trade) {
    for (unsigned at = end; at-- > std::max(begin, places_.low_bits);) {
      const Bit holder = name_[at];
      if (test_bit(wanted, holder)) continue;
      for (unsigned i = 0; i < top_; ++i) {
        const auto name = static_cast<Bit>((i + turn_) % top_);
        const bool elsewhere = place_[name] >= places_.low_bits && (place_[name] < begin || place_[name] >= end);
        if (!test_bit(wanted, name) || !elsewhere || !may_trade(name, holder)) continue;
        std::swap(place_[name], place_[holder]);
        std::swap(name_[place_[name]], name_[place_[holder]]);
        break;
      }
    }
  }

  void choose_start() {
    constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
    std::array<std::size_t, kMaxQubits> born{};
    if (plan_.start == Start::kZero) born.fill(kNever);
    std::size_t count = 0;
    for (const Stage& stage : plan_.stages) {
      for (const Sweep& sweep : stage.sweeps) {
        for (const Birth& birth : sweep.births) born[birth.bit] = std::min(born[birth.bit], count);
        ++count;
      }
    }
    improve(1, [&](Bit a, Bit b) { return born[a] == born[b]; });
  }

  Index renamed(Index bits) const {
    Index out = 0;
    for_each_bit(bits, [&](unsigned bit) { out |= bit_mask(place_[bit]); });
    return out;
  }

  void rename(Layout& layout) const {
    for (Bit& bit : layout.bit_of) bit = place_[bit];
  }

  void rename_exchange(Exchange& exchange, Index& candidates) const {
    for (auto& [local, global] : exchange.swaps) local = place_[local];
    exchange.unborn = renamed(exchange.unborn);
    candidates = renamed(candidates);
  }

  void rename_sweep(Sweep& sweep, std::size_t next_exchange) {
    sweep.unborn = renamed(sweep.unborn);
    for (Birth& birth : sweep.births) birth.bit = place_[birth.bit];
    std::ranges::sort(sweep.births, {}, &Birth::bit);
    for (PlanOp& op : sweep.ops) {
      for (std::size_t j = 0; j < op.target_count; ++j) op.targets[j] = place_[op.targets[j]];
      op.control_mask = renamed(op.control_mask);
      op.control_value = renamed(op.control_value);
    }
    for (PhaseTerm& term : sweep.phases) term.mask = renamed(term.mask);
    Index active = 0;
    for (const Bit bit : sweep.active) active |= bit_mask(bit);
    struct Move {
      Bit place = 0, after = 0;  // its name after the store
      Index reach = 0;
    };
    std::vector<Move> moves;
    for (std::size_t i = 0; i < sweep.active.size(); ++i)
      moves.push_back({place_[sweep.active[i]], sweep.store[i], renamed(reach_of(sweep, i))});
    std::ranges::sort(moves, {}, &Move::place);
    improve(next_exchange, [&](Bit a, Bit b) { return test_bit(active, a) && test_bit(active, b); });
    for (std::size_t i = 0; i < moves.size(); ++i) {
      sweep.active[i] = moves[i].place;
      sweep.store[i] = place_[moves[i].after];
      if (!sweep.reach.empty()) sweep.reach[i] = moves[i].reach;
    }
  }

  Plan& plan_;
  ExchangePlaces& places_;
  const unsigned top_;  // local bits
  const unsigned turn_;
  std::array<Bit, kMaxQubits> place_{}, name_{};  // name -> place now, and back
};

// What renaming looks at: everything but the operations.
Plan without_operations(const Plan& plan) {
  Plan bare;
  bare.qubits = plan.qubits;
  bare.rank_bits = plan.rank_bits;
  bare.start = plan.start;
  for (const Stage& stage : plan.stages) {
    bare.stages.push_back({stage.exchange, {}, {}});
    for (const Sweep& sweep : stage.sweeps) {
      Sweep& copy = bare.stages.back().sweeps.emplace_back();
      copy.active = sweep.active;
      copy.store = sweep.store;
      copy.reach = sweep.reach;
      copy.bundle = sweep.bundle;
      copy.births = sweep.births;
    }
  }
  return bare;
}

// Runs of memory that all exchanges move, over the shard's amplitudes.
double runs(const Plan& plan, const ExchangePlaces& places) {
  double total = 0;
  for (std::size_t s = 1; s < plan.stages.size(); ++s) {
    unsigned lowest = plan.local_bits();
    for (const auto& [local, global] : plan.stages[s].exchange->swaps) lowest = std::min<unsigned>(lowest, local);
    int wanted = places.wanted[s];
    for (unsigned bit = plan.local_bits(); bit-- > 0 && wanted > 0;) {
      if (!test_bit(places.candidates[s], bit)) continue;
      lowest = std::min(lowest, bit);
      --wanted;
    }
    total += std::ldexp(1.0, -static_cast<int>(lowest));
  }
  return total;
}

constexpr std::size_t kManySweeps = 256;  // longer plans try one renaming

}  // namespace

void place_exchanges(Plan& plan, ExchangePlaces& places) {
  if (plan.stages.size() < 2) return;
  std::size_t sweeps = 0;
  for (const Stage& stage : plan.stages) sweeps += stage.sweeps.size();
  const Plan bare = without_operations(plan);
  const unsigned turns = sweeps > kManySweeps ? 1 : plan.local_bits();
  double best = runs(bare, places);  // of the plan as it is
  int best_turn = -1;
  for (unsigned turn = 0; turn < turns; ++turn) {
    Plan tried = bare;
    ExchangePlaces moved = places;
    Renaming(tried, moved, turn).run();
    const double reached = runs(tried, moved);
    if (reached >= best) continue;
    best = reached;
    best_turn = static_cast<int>(turn);
  }
  if (best_turn >= 0) Renaming(plan, places, static_cast<unsigned>(best_turn)).run();
}

}  // namespace qsim
