// Follows the start state gate by gate for as long as it is a product of single wires, of pairs of them and of the
// global wires' group, which may be one of a pair. What acts on a pair stays where it is until the pair is a product
// again; then it is dropped.
#include "plan/lower/known.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/numbers/phase.h"
#include "base/numbers/rounding.h"
#include "plan/plan.h"

namespace qsim {
namespace {

/// A local wire and another one, or all global wires that are still known, which nothing else has acted on together
/// with them: what they hold, that wire being the highest bit, and which of the operations kept so far have made it.
struct Pair {
  Index mask = 0;
  Qubit high = 0;
  std::vector<Complex> state;
  std::vector<std::size_t> kept;
};

/// The factors, of the lower bits and of the highest one, of what is a product of them within rounding.
struct Factors {
  std::vector<Complex> low;
  std::array<Complex, 2> high{};
};
std::optional<Factors> factors_of(const std::vector<Complex>& state) {
  const auto less = [](Complex a, Complex b) { return std::norm(a) < std::norm(b); };
  const auto most = static_cast<std::size_t>(std::ranges::max_element(state, less) - state.begin());
  // What the lower bits hold where the highest one is as in the largest amplitude: of length 1, and real there.
  const std::size_t half = state.size() / 2;
  const auto begin = state.begin() + static_cast<std::ptrdiff_t>(most / half * half);
  Factors factors{{begin, begin + static_cast<std::ptrdiff_t>(half)}, {}};
  double length = 0;
  for (const Complex entry : factors.low) length += std::norm(entry);
  const Complex turn = std::conj(state[most]) / (std::abs(state[most]) * std::sqrt(length));
  for (Complex& entry : factors.low) entry *= turn;
  for (std::size_t i = 0; i < state.size(); ++i) factors.high[i / half] += state[i] * std::conj(factors.low[i % half]);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!(std::abs(state[i] - factors.high[i / half] * factors.low[i % half]) <= kRecomposed)) return std::nullopt;
  }
  const auto whole = [](double part) { return std::abs(part) <= kRounding ? 0 : part; };
  for (Complex& entry : factors.low) entry = {whole(entry.real()), whole(entry.imag())};
  for (Complex& entry : factors.high) entry = {whole(entry.real()), whole(entry.imag())};
  return factors;
}

class Absorber {
 public:
  Absorber(Lowered& lowered, std::span<const Qubit> global_wires, Pairs pairs)
      : lowered_(lowered),
        start_(plain_start(lowered, global_wires.size())),
        place_(lowered.qubits),
        pairs_(lowered.qubits + 1),
        pair_of_(lowered.qubits + 1, kNone),
        party_(lowered.qubits),
        meets_(lowered.qubits + 1),
        follows_(pairs == Pairs::kFollowed) {
    for (std::size_t j = 0; j < global_wires.size(); ++j) {
      group_ |= bit_mask(global_wires[j]);
      place_[global_wires[j]] = static_cast<Bit>(j);
    }
    all_global_ = group_;
    product_ = (bit_mask(lowered.qubits) - 1) & ~group_;
    known_ = product_ | group_;
  }

  KnownStart run() {
    // In place: what stays is never more than what was.
    std::size_t kept = 0;
    for (LoweredOp& op : lowered_.ops) {
      const char* reason = absorb(op);
      if (reason != nullptr) {
        lowered_.remove(op, reason);
        continue;
      }
      if (op.form == Form::kPhases) {
        op.data_count = static_cast<std::uint32_t>(terms_.size());
        std::ranges::copy(terms_, lowered_.phases.begin() + op.data_begin);
      }
      set_basis_masks(op, op.form == Form::kMatrix ? lowered_.matrix(op) : std::span<const Complex>(), terms_);
      lowered_.ops[kept] = op;
      const Index alone = product_ | group_;
      product_ &= ~op.support;
      group_ &= ~op.support;
      known_ &= ~op.support;
      if (follows_) follow_pairs(kept, alone);
      ++kept;
    }
    lowered_.ops.resize(kept);
    drop_of_pairs();
    for (Complex& entry : start_.global_start) entry *= scalar_;
    for (Qubit wire = 0; wire < lowered_.qubits; ++wire) {
      const bool zero = start_.factor[wire] == std::array<Complex, 2>{Complex(1), Complex(0)};
      if (zero && (all_global_ >> wire & 1) == 0) start_.zero_wires |= bit_mask(wire);
    }
    return std::move(start_);
  }

 private:
  // Returns why the operation is not needed, or null with `op` simplified and `terms_` its phase terms.
  const char* absorb(LoweredOp& op) {
    terms_.clear();
    if (is_open(op)) {  // the timeline takes it into a birth
      terms_.assign(lowered_.terms(op).begin(), lowered_.terms(op).end());
      return nullptr;
    }
    const Index known_controls = op.control_mask & known_;
    if ((op.control_value & known_controls) != (ones_ & known_controls)) return "control never met";
    op.control_mask &= ~known_controls;
    op.control_value &= ~known_controls;
    if (op.form == Form::kPhases) return absorb_phases(op);
    const Index targets = op.target_mask();
    if (op.control_mask == 0 && op.target_count == 1 && (targets & product_) != 0) {
      apply_to_wire(op);
      return "first write";
    }
    if (((targets | op.control_mask) & ~group_) == 0) {
      apply_to_group(op);
      return "first write";
    }
    return nullptr;
  }

  bool is_open(const LoweredOp& op) const {
    return op.form == Form::kPhases &&
           std::ranges::any_of(lowered_.terms(op), [](const PhaseTerm& term) { return term.open != 0; });
  }

  const char* absorb_phases(const LoweredOp& op) {
    const auto terms = lowered_.terms(op);
    if (op.control_mask != 0) {
      terms_.assign(terms.begin(), terms.end());
      return nullptr;
    }
    for (PhaseTerm term : terms) {
      const Index ones = term.mask & known_ & ones_, zeros = term.mask & known_ & ~ones_;
      if (term.parity) {
        if (popcount(ones) % 2 != 0) {
          scalar_ *= phase_by(term.angle);
          term.angle = -term.angle;
        }
      } else if (zeros != 0) {
        continue;
      }
      term.mask &= ~known_;
      if (term.mask == 0) {
        if (!term.parity) scalar_ *= phase_by(term.angle);
      } else if (std::has_single_bit(term.mask) && (term.mask & product_) != 0) {
        const auto wire = static_cast<Qubit>(std::countr_zero(term.mask));
        start_.factor[wire][1] *= phase_by(term.angle);
      } else if ((term.mask & ~group_) == 0) {
        multiply(term, op, start_.global_start);
        if (is_paired(group())) multiply(term, op, pairs_[group()].state);
      } else {
        terms_.push_back(term);
      }
    }
    return terms_.empty() ? "known state" : nullptr;
  }

  void apply_to_wire(const LoweredOp& op) {
    const Qubit wire = op.targets[0];
    auto& factor = start_.factor[wire];
    if (op.form == Form::kFlip) {
      std::swap(factor[0], factor[1]);
    } else {
      const auto m = lowered_.matrix(op);
      factor = {m[0] * factor[0] + m[1] * factor[1], m[2] * factor[0] + m[3] * factor[1]};
    }
    set_known(wire, factor[1] == Complex(0), factor[0] == Complex(0));
  }

  void set_known(Qubit wire, bool zero, bool one) {
    known_ = zero || one ? known_ | bit_mask(wire) : known_ & ~bit_mask(wire);
    ones_ = one ? ones_ | bit_mask(wire) : ones_ & ~bit_mask(wire);
  }

  // Of wires of the group or of one pair, to what their state is indexed by.
  Index to_place(Index wires) const {
    Index value = 0;
    for (; wires != 0; wires &= wires - 1) value |= bit_mask(place_[static_cast<std::size_t>(std::countr_zero(wires))]);
    return value;
  }

  void multiply(const PhaseTerm& term, const LoweredOp& op, std::span<Complex> state) const {
    const Index mask = to_place(term.mask), controls = to_place(op.control_mask), wanted = to_place(op.control_value);
    for (Index value = 0; value < state.size(); ++value) {
      const bool applies = term.parity ? popcount(value & mask) % 2 != 0 : (value & mask) == mask;
      if (applies && (value & controls) == wanted) state[value] *= phase_by(term.angle);
    }
  }

  // A flip or a matrix.
  void apply(const LoweredOp& op, std::span<Complex> state) const {
    const Index mask = to_place(op.control_mask), wanted = to_place(op.control_value);
    const Index targets = to_place(op.target_mask());
    const std::size_t order = std::size_t{1} << op.target_count;
    std::vector<Index> offset(order, 0);
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = 0; j < op.target_count; ++j) {
        if (i >> j & 1) offset[i] |= bit_mask(place_[op.targets[j]]);
      }
    }
    std::vector<Complex> in(order);
    for (Index base = 0; base < state.size(); ++base) {
      if ((base & targets) != 0 || (base & mask) != wanted) continue;
      for (std::size_t i = 0; i < order; ++i) in[i] = state[base | offset[i]];
      for (std::size_t i = 0; i < order; ++i) {
        Complex sum = 0;
        if (op.form == Form::kFlip) {
          sum = in[i ^ 1];
        } else {
          const auto matrix = lowered_.matrix(op);
          for (std::size_t j = 0; j < order; ++j) sum += matrix[i * order + j] * in[j];
        }
        state[base | offset[i]] = sum;
      }
    }
  }

  void apply_to_group(const LoweredOp& op) {
    apply(op, start_.global_start);
    if (is_paired(group())) apply(op, pairs_[group()].state);
    for (std::size_t j = 0; j < op.target_count; ++j) refresh_group_wire(op.targets[j]);
  }

  void refresh_group_wire(Qubit wire) {
    bool zero = true, one = true;
    for (Index value = 0; value < start_.global_start.size(); ++value) {
      if (start_.global_start[value] == Complex(0)) continue;
      (value >> place_[wire] & 1 ? zero : one) = false;
    }
    set_known(wire, zero, one);
  }

  // What the operation that is kept as the `kept`-th does to pairs, to each of which its phases belong by themselves.
  // Two that were `alone` before it, wires or all known global ones as one, become a pair where it acts on no third
  // together with them.
  void follow_pairs(std::size_t kept, Index alone) {
    const LoweredOp& op = lowered_.ops[kept];
    const bool open = op.open != 0 || is_open(op);
    parts_.assign(1, op.support);
    if (op.form == Form::kPhases && op.control_mask == 0) {
      parts_.clear();
      for (const PhaseTerm& term : lowered_.terms(op)) parts_.push_back(term.mask);
    }
    for_each_bit(op.support, [&](Qubit wire) {
      party_[wire] = party_of(wire, alone);
      meets_[party_[wire]] = with_its_pair(wire, alone);
    });
    for (const Index part : parts_) {
      Index whole = 0;
      for_each_bit(part, [&](Qubit wire) { whole |= with_its_pair(wire, alone); });
      for_each_bit(part, [&](Qubit wire) { meets_[party_[wire]] |= whole; });
    }
    for_each_bit(op.support, [&](Qubit wire) {
      const std::size_t party = party_[wire];
      if (is_paired(party) && (open || meets_[party] != pairs_[pair_of_[party]].mask)) part_ways(party);
    });
    if (open) return;
    touched_.clear();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Index both = 0;
      for_each_bit(parts_[i], [&](Qubit wire) { both |= meets_[party_[wire]]; });
      if (parties(both) != 2) continue;
      const bool grouped = (both & all_global_) != 0;
      const std::size_t party = grouped ? group() : static_cast<std::size_t>(std::countr_zero(both));
      if (is_paired(party) ? pairs_[pair_of_[party]].mask != both : (both & ~alone) != 0) continue;
      if (!is_paired(party)) begin_pair(party, both);
      const std::size_t pair = pair_of_[party];
      if (std::ranges::find(touched_, pair) == touched_.end()) touched_.push_back(pair);
      if (op.form == Form::kPhases) {
        const auto terms = lowered_.terms(op);
        const bool by_itself = op.control_mask == 0;
        for (const PhaseTerm& term : by_itself ? terms.subspan(i, 1) : terms) multiply(term, op, pairs_[pair].state);
      } else {
        apply(op, pairs_[pair].state);
      }
    }
    for (const std::size_t pair : touched_) {
      pairs_[pair].kept.push_back(kept);
      settle(pair);
    }
  }

  // The global wires that are known are one party, every other wire is one.
  std::size_t group() const { return lowered_.qubits; }
  std::size_t party_of(Qubit wire, Index alone) const {
    const Index grouped = is_paired(group()) ? pairs_[group()].mask : alone;
    return (bit_mask(wire) & all_global_ & grouped) != 0 ? group() : wire;
  }
  Index with_its_pair(Qubit wire, Index alone) const {
    const std::size_t party = party_of(wire, alone);
    if (is_paired(party)) return pairs_[pair_of_[party]].mask;
    return party == group() ? alone & all_global_ : bit_mask(wire);
  }
  int parties(Index wires) const { return popcount(wires & ~all_global_) + ((wires & all_global_) != 0 ? 1 : 0); }

  void begin_pair(std::size_t party, Index mask) {
    Pair& pair = pairs_[party];
    const Index low = party == group() ? mask & all_global_ : mask & -mask;
    pair = {mask, static_cast<Qubit>(std::countr_zero(mask & ~low)), {}, {}};
    if (party != group()) place_[party] = 0;
    place_[pair.high] = static_cast<Bit>(party == group() ? std::countr_zero(start_.global_start.size()) : 1);
    const auto& factor = start_.factor;
    for (const Complex high : factor[pair.high]) {
      if (party == group()) {
        for (const Complex entry : start_.global_start) pair.state.push_back(high * entry);
      } else {
        for (const Complex entry : factor[party]) pair.state.push_back(high * entry);
      }
    }
    pair_of_[party] = pair_of_[pair.high] = party;
  }

  // A pair that is a product again is two parties that are alone, and what has acted on it does not act on the state.
  void settle(std::size_t party) {
    const Pair& pair = pairs_[party];
    const auto factors = factors_of(pair.state);
    if (!factors) return;
    for (const std::size_t kept : pair.kept) dropped_.emplace_back(kept, pair.mask);
    set_factor(pair.high, factors->high);
    if (party != group()) {
      set_factor(static_cast<Qubit>(party), {factors->low[0], factors->low[1]});
    } else {
      start_.global_start = factors->low;
      group_ |= pair.mask & all_global_;
      for_each_bit(pair.mask & all_global_, [&](Qubit wire) { refresh_group_wire(wire); });
    }
    part_ways(party);
  }

  void set_factor(Qubit wire, const std::array<Complex, 2>& factor) {
    start_.factor[wire] = factor;
    set_known(wire, factor[1] == Complex(0), factor[0] == Complex(0));
    product_ |= bit_mask(wire);
  }

  bool is_paired(std::size_t party) const { return pair_of_[party] != kNone; }
  void part_ways(std::size_t party) {
    const std::size_t pair = pair_of_[party];
    pair_of_[pair] = pair_of_[pairs_[pair].high] = kNone;
  }

  void drop_of_pairs() {
    if (dropped_.empty()) return;
    std::vector<Index> within(lowered_.ops.size(), 0);  // by operation: the pairs whose part of it is dropped
    for (const auto& [kept, mask] : dropped_) within[kept] |= mask;
    std::size_t left = 0;
    for (std::size_t i = 0; i < lowered_.ops.size(); ++i) {
      LoweredOp& op = lowered_.ops[i];
      if ((op.support & ~within[i]) == 0 && within[i] != 0) {
        lowered_.remove(op, op.form == Form::kPhases ? "known state" : "first write");
        continue;
      }
      if (within[i] != 0) {  // phases, of which some are left
        const auto terms = std::span(lowered_.phases).subspan(op.data_begin, op.data_count);
        const auto gone = [&](const PhaseTerm& term) { return (term.mask & ~within[i]) == 0; };
        op.data_count -= static_cast<std::uint32_t>(std::ranges::remove_if(terms, gone).size());
        set_basis_masks(op, {}, lowered_.terms(op));
      }
      lowered_.ops[left++] = op;
    }
    lowered_.ops.resize(left);
  }

  static constexpr std::size_t kNone = ~std::size_t{0};

  Lowered& lowered_;
  KnownStart start_;
  std::vector<Bit> place_;            // of wires in what their state is indexed by: global_start or a pair's
  std::vector<Pair> pairs_;           // by the party of their lower bits
  std::vector<std::size_t> pair_of_;  // by party: its pair, or kNone
  std::vector<std::size_t> party_;    // by wire of an operation
  std::vector<Index> meets_;          // by party of an operation: its pair and what the operation's parts hold with it
  std::vector<Index> parts_;
  std::vector<std::size_t> touched_;
  std::vector<std::pair<std::size_t, Index>> dropped_;  // (operation that is kept, pair whose part of it is not)
  const bool follows_;
  Index product_ = 0;  // local wires that are still alone
  Index group_ = 0;    // global wires that are entangled with each other at most
  Index all_global_ = 0;
  Index known_ = 0, ones_ = 0;  // wires in a basis state, and those of them that are 1
  Complex scalar_{1, 0};
  std::vector<PhaseTerm> terms_;
};

}  // namespace

KnownStart plain_start(const Lowered& lowered, std::size_t global_wires) {
  KnownStart start;
  start.factor.assign(lowered.qubits, {Complex(1), Complex(0)});
  start.global_start.assign(std::size_t{1} << global_wires, Complex(0));
  start.global_start[0] = 1;
  return start;
}

KnownStart absorb_known_start(Lowered& lowered, std::span<const Qubit> global_wires, Pairs pairs) {
  return Absorber(lowered, global_wires, pairs).run();
}

}  // namespace qsim
