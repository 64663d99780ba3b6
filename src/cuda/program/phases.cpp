// Terms by their part in registers: alone or in pairs they become factors of register halves and quarters; what they
// depend on outside (threads, tiles) is in tables and tile factors. Other shapes become guarded multiplications: those
// of terms that depend on the tile alike are one for each set of registers that they treat alike. Many terms on few
// bits are a table of all values of those bits, where programs may have them.
#include "cuda/program/phases.h"

#include <algorithm>
#include <compare>
#include <map>
#include <numbers>
#include <ranges>
#include <set>

#include "base/bits.h"

namespace qsim::cuda {
namespace {

/// A term with its in-tile part split by where the coordinates are.
struct Placed {
  std::uint32_t reg = 0, thread = 0;  // plain terms: masks over slots and over the thread's number
  Index tile = 0;
  double angle = 0;
};

/// What terms that are no factors depend on outside the tile. With a parity: whether that of the base's bits is odd.
struct Outside {
  Index mask = 0, value = 0, parity = 0;
  friend auto operator<=>(const Outside&, const Outside&) = default;
};

/// All that one register part (a mask over slots) is multiplied with.
struct Group {
  std::vector<Placed> constant, by_thread, by_tile;
  std::map<std::uint32_t, std::vector<Placed>> by_both;  // thread bit -> terms
};

constexpr unsigned kMostOutside = 8;           // bits of the tile whose products a tile factor is written by
constexpr std::size_t kMostEntries = 64;       // tables or tile factors of one factor
constexpr std::size_t kMostTileFactors = 512;  // of a program, each made once a tile
constexpr unsigned kMostLookupBits = 10;       // of one lookup
constexpr std::size_t kMostLookups = 1 << 13;  // entries of a program's
constexpr std::size_t kMostClusters = 64;      // that lookups are looked for in

class PhaseMerger {
 public:
  PhaseMerger(bool may_look_up, TileProgram& program, Epoch& epoch)
      : may_look_up_(may_look_up), program_(program), epoch_(epoch) {
    threads_ = std::uint32_t{1} << epoch.thread.size();
    registers_ = std::uint32_t{1} << epoch.reg.size();
  }

  void merge(std::span<const Term> terms) {
    open_ = std::ranges::any_of(terms, &Term::open);
    for (const Term& term : terms) {
      const Placed placed = place(term);
      const bool simple =
          term.plain() && count_bits(placed.reg) <= 2 && (placed.tile == 0 || count_bits(placed.thread) <= 1);
      if (simple)
        add(placed);
      else
        others_[{term.tile_mask, term.tile_value, term.tile_parity}].push_back(term);
    }
    if (may_look_up_) look_up();
    multiply_parities();
    for (const auto& [outside, others] : others_) multiply_where(outside, others);
    emit_pairs();
  }

 private:
  /// Angles by thread, and the registers that have them.
  using Sets = std::map<std::vector<double>, std::uint32_t>;

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
    return add_tile_factor(std::move(list));
  }

  int add_tile_factor(std::vector<TileTerm> terms) {
    program_.tile_factors.push_back(std::move(terms));
    return static_cast<int>(program_.tile_factors.size()) - 1;
  }

  Factor factor_of(const Group& group) {
    Factor factor;
    factor.present = true;
    double angle = 0;
    for (const Placed& term : group.constant) angle += term.angle;
    factor.constant = std::polar(1.0, angle);
    if (!group.by_thread.empty()) {
      std::vector<double> angles(threads_);
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        for (const Placed& term : group.by_thread) {
          if ((thread & term.thread) == term.thread) angles[thread] += term.angle;
        }
      }
      factor.table = add_table(program_, angles);
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

  /// Parities that the tile has a part in: exp(i angle parity) is exp(i angle/2) times exp(-+i angle/2), by the sign of
  /// (-1)^parity. So those with the same part in registers are one multiplication, by a product of tables, each turned
  /// by its parity outside, or of tile factors, each mirrored by its parity among the threads.
  void multiply_parities() {
    std::map<std::uint32_t, std::vector<Term>> parts;  // by the part in registers
    for (auto& [where, terms] : others_) {
      if (where.mask != 0 || where.parity == 0) continue;
      std::erase_if(terms, [&](const Term& term) {
        if (term.mask == 0) parts[gather(term.parity, epoch_.reg)].push_back(term);
        return term.mask == 0;
      });
    }
    for (const auto& [reg, terms] : parts) {
      std::set<Coordinate> inside;
      std::set<Index> kinds;
      Index outside = 0;
      for (const Term& term : terms) {
        inside.insert(term.parity);
        kinds.insert(term.tile_parity);
        outside |= term.tile_parity;
      }
      const auto fit = [&](std::size_t count) {
        return count <= kMostEntries && program_.tile_factors.size() + 2 * count <= kMostTileFactors;
      };
      // Tables are fetched, tile factors are at hand.
      const bool mirrors =
          inside.size() <= 2 * kinds.size() && count_bits(outside) <= kMostOutside && fit(inside.size());
      if (terms.size() == 1 || (!mirrors && !fit(kinds.size()))) {
        for (const Term& term : terms) {
          if (!multiply_parity(term)) others_[{0, 0, term.tile_parity}].push_back(term);
        }
        continue;
      }
      double half = 0;
      for (const Term& term : terms) half += 0.5 * term.angle;
      const std::vector<double> halves(threads_, half);
      for (const bool odd : {false, true}) {
        std::uint32_t set = 0;
        for (std::uint32_t j = 0; j < registers_; ++j) set |= odd_parity(j & reg) == odd ? 1u << j : 0;
        if (set != 0) multiply_set(set, halves, mirrors ? mirrored(terms, odd) : turned(terms, kinds, odd));
      }
    }
  }

  void multiply_set(std::uint32_t set, std::span<const double> angles, Factor factor, const TileGuard& guard = {}) {
    TileOp op;
    op.kind = TileOpKind::kMultiply;
    op.guard = guard;
    op.set = set;
    factor.present = true;
    set_factor(angles, factor);
    op.factor[0] = std::move(factor);
    epoch_.ops.push_back(std::move(op));
  }

  /// One parity that threads have a part in as well: its phase or 1. Conditions on the tile alone would leave tables by
  /// thread, fetched where they hold and waited for.
  bool multiply_parity(const Term& term) {
    const ParityPart part{gather(term.parity, epoch_.thread), term.tile_parity, true};
    if (part.threads == 0) return false;
    const std::uint32_t reg = gather(term.parity, epoch_.reg);
    for (const bool odd : {false, true}) {
      Factor factor;
      factor.where = part;
      factor.where->odd = !odd;
      std::uint32_t set = 0;
      for (std::uint32_t j = 0; j < registers_; ++j) set |= odd_parity(j & reg) == odd ? 1u << j : 0;
      if (set != 0) multiply_set(set, {&term.angle, 1}, std::move(factor));
    }
    return true;
  }

  /// `odd`: the parity in registers.
  Factor turned(std::span<const Term> terms, const std::set<Index>& kinds, bool odd) {
    Factor factor;
    for (const Index kind : kinds) {
      std::vector<double> angles(threads_);
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        const Coordinate v = epoch_.coordinate(thread, 0);
        for (const Term& term : terms) {
          if (term.tile_parity == kind)
            angles[thread] += (odd_parity(v & term.parity) != odd ? 0.5 : -0.5) * term.angle;
        }
      }
      factor.turned.push_back(turned_entry(angles, kind));
    }
    return factor;
  }

  Factor mirrored(std::span<const Term> terms, bool odd) {
    std::map<std::uint32_t, std::vector<Term>> by_thread;
    for (const Term& term : terms) by_thread[gather(term.parity, epoch_.thread)].push_back(term);
    Factor factor;
    for (const auto& [threads, those] : by_thread)
      factor.mirrored.emplace_back(parity_factor(those, odd ? 0.5 : -0.5), threads);
    return factor;
  }

  /// exp(i angle) of sums over the terms: `half` times the angle where the tile's parity is even, less that where it is
  /// odd. Written by products of the tile's bits, which is what tile factors are made of.
  int parity_factor(std::span<const Term> terms, double half) {
    Index outside = 0;
    for (const Term& term : terms) outside |= term.tile_parity;
    std::vector<Index> bits;
    for_each_bit(outside, [&](unsigned bit) { bits.push_back(bit_mask(bit)); });
    const auto spread = [&](std::size_t x) {
      Index index = 0;
      for (std::size_t b = 0; b < bits.size(); ++b) index |= (x >> b & 1) != 0 ? bits[b] : 0;
      return index;
    };
    std::vector<double> angle(std::size_t{1} << bits.size());
    for (std::size_t x = 0; x < angle.size(); ++x) {
      for (const Term& term : terms) angle[x] += (odd_parity(spread(x) & term.tile_parity) ? -half : half) * term.angle;
    }
    for (std::size_t b = 0; b < bits.size(); ++b) {
      for (std::size_t x = 0; x < angle.size(); ++x) {
        if ((x >> b & 1) != 0) angle[x] -= angle[x ^ std::size_t{1} << b];
      }
    }
    std::vector<TileTerm> list;
    for (std::size_t x = 0; x < angle.size(); ++x) {
      if (angle[x] != 0) list.push_back({spread(x), angle[x]});
    }
    return add_tile_factor(std::move(list));
  }

  /// A table of exp(i angle) and the tile factor that turns it where `parity` is odd; the same table, turned the other
  /// way, stands for angles that are another's negative.
  std::pair<int, int> turned_entry(std::span<const double> angles, Index parity) {
    std::vector<double> key(angles.begin(), angles.end());
    const auto first = std::ranges::find_if(key, [](double angle) { return angle != 0; });
    const bool negative = !open_ && first != key.end() && *first < 0;
    if (negative) std::ranges::transform(key, key.begin(), std::negate<>());
    const auto [table, fresh] = turned_tables_.try_emplace(key, 0);
    if (fresh) table->second = add_table(program_, key);
    const auto [sign, unknown] = signs_.try_emplace({parity, negative}, 0);
    if (unknown) {  // (-1)^parity, from half turns
      std::vector<TileTerm> half_turns;
      for_each_bit(parity, [&](unsigned bit) { half_turns.push_back({bit_mask(bit), std::numbers::pi}); });
      if (negative) half_turns.push_back({0, std::numbers::pi});
      sign->second = add_tile_factor(std::move(half_turns));
    }
    return {table->second, sign->second};
  }

  /// exp(i angle) by thread: a constant, or a table.
  void set_factor(std::span<const double> angles, Factor& factor) {
    if (std::ranges::adjacent_find(angles, std::not_equal_to<>()) == angles.end()) {
      factor.constant = std::polar(1.0, angles.front());
      return;
    }
    factor.table = add_table(program_, angles);
  }

  void multiply_where(const Outside& outside, std::span<const Term> terms) {
    TileGuard guard{outside.mask, outside.value, outside.parity, false};
    multiply_sets(terms, guard);
    if (outside.parity == 0) return;
    guard.odd = true;
    multiply_sets(terms, guard);
  }

  /// Together where that is less work than one by one.
  void multiply_sets(std::span<const Term> terms, const TileGuard& guard) {
    const Sets together = sets_of(terms, guard.odd);
    std::vector<Sets> apart;
    for (std::size_t i = 0; i < terms.size(); ++i) apart.push_back(sets_of(terms.subspan(i, 1), guard.odd));
    unsigned each = 0;
    for (const Sets& sets : apart) each += work(sets);
    if (work(together) <= each) apart = {together};
    for (const Sets& sets : apart) {
      std::map<std::uint32_t, Sets::const_pointer> by_register;  // an order that no angle decides
      for (const auto& one : sets) by_register[one.second & (~one.second + 1)] = &one;
      for (const auto& [first, one] : by_register) multiply_set(one->second, one->first, {}, guard);
    }
  }

  /// In units of a product an amplitude: an entry of a table takes two to fetch.
  static unsigned work(const Sets& sets) {
    unsigned sum = 0;
    for (const auto& [angles, set] : sets) sum += count_bits(set) + 2;
    return sum;
  }

  /// `odd`: the parity outside the tile of terms that have one there.
  Sets sets_of(std::span<const Term> terms, bool odd) const {
    Sets sets;
    std::vector<double> angles(threads_);
    for (std::uint32_t j = 0; j < registers_; ++j) {
      bool any = false;
      for (std::uint32_t thread = 0; thread < threads_; ++thread) {
        const Coordinate v = epoch_.coordinate(thread, j);
        angles[thread] = 0;
        for (const Term& term : terms) {
          const bool holds = (v & term.mask) == term.value && (!term.has_parity || odd_parity(v & term.parity) != odd);
          any = any || holds;
          if (holds) angles[thread] += term.angle;
        }
      }
      if (any) sets[angles] |= 1u << j;
    }
    return sets;
  }

  /// Terms about few bits.
  struct Cluster {
    Coordinate inside = 0;
    Index outside = 0;
    std::vector<const Term*> terms;
    unsigned bits() const { return count_bits(inside) + count_bits(outside); }
  };
  static Coordinate inside(const Term& term) { return term.mask | term.parity; }
  static Index outside(const Term& term) { return term.tile_mask | term.tile_parity; }

  /// The terms that are no factors, each with those whose bits it has the most of; not those of too many bits.
  std::vector<Cluster> clusters() const {
    std::vector<std::vector<const Term*>> by_bits(kMostLookupBits + 1);
    for (const auto& [where, those] : others_) {
      for (const Term& term : those) {
        const unsigned bits = count_bits(inside(term)) + count_bits(outside(term));
        if (bits <= kMostLookupBits) by_bits[kMostLookupBits - bits].push_back(&term);
      }
    }
    std::vector<Cluster> found;
    for (const Term* const term : std::views::join(by_bits)) {
      Cluster* best = nullptr;
      unsigned fewest = kMostLookupBits + 1;  // bits that are new to it
      for (Cluster& cluster : found) {
        const Cluster both{cluster.inside | inside(*term), cluster.outside | outside(*term), {}};
        if (both.bits() > kMostLookupBits || both.bits() - cluster.bits() >= fewest) continue;
        best = &cluster;
        fewest = both.bits() - cluster.bits();
      }
      if (best == nullptr && found.size() == kMostClusters) continue;
      if (best == nullptr) best = &found.emplace_back();
      best->inside |= inside(*term);
      best->outside |= outside(*term);
      best->terms.push_back(term);
    }
    return found;
  }

  /// Clusters whose phases are read from a table of all values of their bits, where that is less work.
  void look_up() {
    std::set<const Term*> done;
    for (const Cluster& cluster : clusters()) {
      std::size_t used = std::size_t{1} << cluster.bits();
      for (const auto& table : program_.lookups) used += table.size();
      if (used > kMostLookups || lookup_work(cluster) >= merged_work(cluster)) continue;
      multiply_looked_up(cluster);
      done.insert(cluster.terms.begin(), cluster.terms.end());
    }
    for (auto& [where, terms] : others_) std::erase_if(terms, [&](const Term& term) { return done.contains(&term); });
  }

  /// In units of a product an amplitude, as work().
  unsigned lookup_work(const Cluster& cluster) const {
    return registers_ + (2u << count_bits(gather(cluster.inside, epoch_.reg)));
  }

  unsigned merged_work(const Cluster& cluster) const {
    struct Part {
      std::set<Coordinate> inside;
      std::set<Index> outside;
      unsigned terms = 0;
    };
    std::map<std::uint32_t, Part> parts;  // of the parities, by their part in registers
    unsigned sum = 0;
    for (const Term* const term : cluster.terms) {
      if (term->mask != 0 || term->tile_mask != 0 || term->tile_parity == 0) {
        sum += 2 + (registers_ >> count_bits(gather(inside(*term), epoch_.reg)));
        continue;
      }
      Part& part = parts[gather(term->parity, epoch_.reg)];
      part.inside.insert(term->parity);
      part.outside.insert(term->tile_parity);
      ++part.terms;
    }
    for (const auto& [reg, part] : parts) {
      const auto entries = static_cast<unsigned>(std::min(part.inside.size(), part.outside.size()));
      sum += registers_ + (part.terms == 1 ? 2 : 2 * entries);
    }
    return sum;
  }

  void multiply_looked_up(const Cluster& cluster) {
    const std::uint32_t reg = gather(cluster.inside, epoch_.reg), threads = gather(cluster.inside, epoch_.thread);
    const unsigned low = count_bits(threads), high = low + count_bits(cluster.outside);
    std::vector<Complex> values(std::size_t{1} << cluster.bits());
    for (std::size_t place = 0; place < values.size(); ++place) {
      const Index base = deposit_bits(place >> low, cluster.outside);
      const Coordinate v = epoch_.coordinate(static_cast<std::uint32_t>(deposit_bits(place, threads)),
                                             static_cast<std::uint32_t>(deposit_bits(place >> high, reg)));
      double angle = 0;
      for (const Term* const term : cluster.terms) {
        const bool here = (v & term->mask) == term->value && (base & term->tile_mask) == term->tile_value;
        const bool odd = odd_parity(v & term->parity) != odd_parity(base & term->tile_parity);
        if (here && (!term->has_parity || odd)) angle += term->angle;
      }
      values[place] = std::polar(1.0, angle);
    }
    const int table = static_cast<int>(program_.lookups.size());
    program_.lookups.push_back(std::move(values));
    for (std::uint32_t value = 0; value < 1u << count_bits(reg); ++value) {
      TileOp op;
      op.kind = TileOpKind::kMultiply;
      for (std::uint32_t j = 0; j < registers_; ++j) op.set |= extract_bits(j, reg) == value ? 1u << j : 0;
      op.factor[0].present = true;
      op.factor[0].lookup = Lookup{table, threads, cluster.outside, value << high};
      epoch_.ops.push_back(std::move(op));
    }
  }

  const bool may_look_up_;
  bool open_ = false;  // angles may be put in again
  TileProgram& program_;
  Epoch& epoch_;
  std::map<std::uint32_t, Group> groups_;
  std::map<Outside, std::vector<Term>> others_;
  std::map<std::vector<double>, int> turned_tables_;  // angles by thread, the first that is not 0 positive
  std::map<std::pair<Index, bool>, int> signs_;       // bits outside, and whether the other way -> tile factor
  std::uint32_t threads_ = 0, registers_ = 0;
};

}  // namespace

void lower_phases(std::span<const Term> terms, bool may_look_up, TileProgram& program, Epoch& epoch) {
  PhaseMerger(may_look_up, program, epoch).merge(terms);
}

}  // namespace qsim::cuda
