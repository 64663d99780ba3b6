// Terms by their part in registers: alone or in pairs they become factors of register halves and quarters; what they
// depend on outside (threads, tiles) is in tables and tile factors. Rare shapes become guarded multiplications.
#include "cuda/program/phases.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bits.h"

namespace qsim::cuda {
namespace {

/// A term with its in-tile part split by where the coordinates are.
struct Placed {
  std::uint32_t reg = 0, thread = 0;  // plain terms: masks over slots and over the thread's number
  Index tile = 0;
  double angle = 0;
};

/// All that one register part (a mask over slots) is multiplied with.
struct Group {
  std::vector<Placed> constant, by_thread, by_tile;
  std::map<std::uint32_t, std::vector<Placed>> by_both;  // thread bit -> terms
};

class PhaseMerger {
 public:
  PhaseMerger(TileProgram& program, Epoch& epoch) : program_(program), epoch_(epoch) {
    threads_ = std::uint32_t{1} << epoch.thread.size();
    registers_ = std::uint32_t{1} << epoch.reg.size();
  }

  void merge(std::span<const Term> terms) {
    for (const Term& term : terms) {
      const Placed placed = place(term);
      const bool simple =
          term.plain() && count_bits(placed.reg) <= 2 && (placed.tile == 0 || count_bits(placed.thread) <= 1);
      if (simple)
        add(placed);
      else
        multiply_where(term);
    }
    emit_pairs();
  }

 private:
  static std::uint32_t gather(Coordinate mask, const std::vector<std::uint8_t>& places) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < places.size(); ++i) result |= (mask >> places[i] & 1u) << i;
    return result;
  }

  Placed place(const Term& term) const {
    return {gather(term.mask, epoch_.reg), gather(term.mask, epoch_.thread), term.tile_mask, term.angle};
  }

  void add(const Placed& placed) {
    Group& group = groups_[placed.reg];
    if (placed.tile == 0)
      (placed.thread == 0 ? group.constant : group.by_thread).push_back(placed);
    else if (placed.thread == 0)
      group.by_tile.push_back(placed);
    else
      group.by_both[log2_exact(placed.thread)].push_back(placed);
  }

  int tile_factor(const std::vector<Placed>& terms) {
    std::vector<TileTerm> list;
    for (const Placed& term : terms) list.push_back({term.tile, term.angle});
    program_.tile_factors.push_back(std::move(list));
    return static_cast<int>(program_.tile_factors.size()) - 1;
  }

  Factor factor_of(const Group& group) {
    Factor factor;
    factor.present = true;
    double angle = 0;
    for (const Placed& term : group.constant) angle += term.angle;
    factor.constant = std::polar(1.0, angle);
    if (!group.by_thread.empty()) {
      std::vector<Complex> table(threads_);
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        double sum = 0;
        for (const Placed& term : group.by_thread) {
          if ((thread & term.thread) == term.thread) sum += term.angle;
        }
        table[thread] = std::polar(1.0, sum);
      }
      factor.table = static_cast<int>(program_.tables.size());
      program_.tables.push_back(std::move(table));
    }
    if (!group.by_tile.empty()) factor.tile = tile_factor(group.by_tile);
    for (const auto& [bit, terms] : group.by_both) factor.cross.emplace_back(static_cast<int>(bit), tile_factor(terms));
    return factor;
  }

  Factor take(std::uint32_t reg) {
    const auto found = groups_.find(reg);
    if (found == groups_.end()) return {};
    Factor factor = factor_of(found->second);
    groups_.erase(found);
    return factor;
  }

  void emit_pair(unsigned low, unsigned high) {
    TileOp op;
    op.kind = TileOpKind::kPair;
    op.slots = {static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high)};
    op.factor = {take(0), take(1u << low), take(1u << high), take(1u << low | 1u << high)};
    epoch_.ops.push_back(std::move(op));
  }

  void emit_pairs() {
    std::vector<std::uint32_t> pairs;
    for (const auto& [reg, group] : groups_) {
      if (count_bits(reg) == 2) pairs.push_back(reg);
    }
    for (const std::uint32_t reg : pairs) {
      emit_pair(log2_exact(reg & (~reg + 1)), log2_exact(reg & (reg - 1)));
    }
    while (!groups_.empty()) {
      std::vector<unsigned> slots;
      for (const auto& [reg, group] : groups_) {
        if (reg != 0 && slots.size() < 2) slots.push_back(log2_exact(reg));
      }
      for (unsigned spare = 0; slots.size() < 2; ++spare) {
        if (std::find(slots.begin(), slots.end(), spare) == slots.end()) slots.push_back(spare);
      }
      std::sort(slots.begin(), slots.end());
      emit_pair(slots[0], slots[1]);
    }
  }

  /// One guarded multiplication for every set of registers on which the term is the same function of the thread.
  void multiply_where(const Term& term) {
    TileGuard guard{term.tile_mask, term.tile_value, 0, false};
    if (!term.has_parity) return multiply_set(term, guard, true);
    if (term.tile_parity == 0) return multiply_set(term, guard, true);
    guard.parity_mask = term.tile_parity;
    multiply_set(term, guard, true);
    guard.odd = true;
    multiply_set(term, guard, false);
  }

  /// `odd`: the in-tile parity at which the term holds.
  void multiply_set(const Term& term, const TileGuard& guard, bool odd) {
    std::map<std::vector<bool>, std::uint32_t> sets;  // threads where the term holds -> registers
    for (std::uint32_t j = 0; j < registers_; ++j) {
      std::vector<bool> holds(threads_);
      bool any = false;
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        const Coordinate v = epoch_.coordinate(thread, j);
        holds[thread] = (v & term.mask) == term.value && (!term.has_parity || odd_parity(v & term.parity) == odd);
        any = any || holds[thread];
      }
      if (any) sets[holds] |= 1u << j;
    }
    for (const auto& [holds, set] : sets) {
      TileOp op;
      op.kind = TileOpKind::kMultiply;
      op.guard = guard;
      op.set = set;
      Factor& factor = op.factor[0];
      factor.present = true;
      if (std::find(holds.begin(), holds.end(), false) == holds.end()) {
        factor.constant = std::polar(1.0, term.angle);
      } else {
        std::vector<Complex> table(threads_, Complex(1));
        for (std::uint32_t thread = 0; thread < threads_; ++thread) {
          if (holds[thread]) table[thread] = std::polar(1.0, term.angle);
        }
        factor.table = static_cast<int>(program_.tables.size());
        program_.tables.push_back(std::move(table));
      }
      epoch_.ops.push_back(std::move(op));
    }
  }

  TileProgram& program_;
  Epoch& epoch_;
  std::map<std::uint32_t, Group> groups_;
  std::uint32_t threads_ = 0, registers_ = 0;
};

}  // namespace

void lower_phases(std::span<const Term> terms, TileProgram& program, Epoch& epoch) {
  PhaseMerger(program, epoch).merge(terms);
}

}  // namespace qsim::cuda
