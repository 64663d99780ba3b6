// Sweeps, exchanges and the restoring of a layout, in terms of wires.
#include "plan/build/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/build/exchange_places.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/cost/state_bytes.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr double kCover = 1.3;  // sweeps beside an exchange may take so much of its time: the first and last chunk wait

/// Bits that may cut `sweep` into chunks: inactive, and born when it is done.
Index chunk_bits_of(const Sweep& sweep) {
  if (!sweep.reach.empty() || sweep.permutes()) return 0;
  Index bits = ~sweep.unborn;
  for (const Birth& birth : sweep.births) bits |= bit_mask(birth.bit);
  for (const Bit bit : sweep.active) bits &= ~bit_mask(bit);
  return bits;
}

std::uint32_t choose_tile_bits(const PlanOptions& options, const Machine& machine, std::uint32_t local_bits) {
  return std::min(options.tile_bits.value_or(machine.max_tile_bits), local_bits);
}

}  // namespace

PlanBuilder::PlanBuilder(std::uint32_t qubits, const PlanOptions& options, const Machine& machine, Layout initial,
                         const KnownStart& known)
    : machine_(machine), trace_(options.trace), layout_(std::move(initial)), known_(known) {
  plan_.qubits = qubits;
  plan_.rank_bits = options.rank_bits;
  plan_.precision = options.precision;
  plan_.start = options.start;
  plan_.initial_layout = layout_;
  plan_.tile_bits = choose_tile_bits(options, machine, plan_.local_bits());
  local_mask_ = bit_mask(plan_.local_bits()) - 1;
  if (plan_.start == Start::kZero) {
    unborn_ = local_mask_;
    plan_.global_start = known_.global_start;
  }
  // A small tile cannot afford low bits that no gate needs.
  const std::uint32_t spare = plan_.tile_bits > 3 ? plan_.tile_bits - 3 : 0;
  low_bits_ = std::min(machine.low_bits, spare);
  plan_.stages.push_back({std::nullopt, layout_, {}});
  unborn_at_stage_.push_back(unborn_);
}

Index PlanBuilder::wires_at(Index bits) const {
  Index wires = 0;
  for (Qubit wire = 0; wire < plan_.qubits; ++wire) wires |= (bits >> layout_.bit_of[wire] & 1) << wire;
  return wires;
}

Stage& PlanBuilder::stage() { return plan_.stages.back(); }

// Adds the lowest bits to a mask of active bits until the tile is full; born bits first, so that births stay late.
Index PlanBuilder::fill(Index active) const {
  for (const bool births : {false, true}) {
    const std::uint32_t enough =
        births ? std::min({machine_.min_tile_bits, plan_.tile_bits, plan_.local_bits()}) : plan_.tile_bits;
    for (Bit bit = 0; bit < plan_.local_bits(); ++bit) {
      if (static_cast<std::uint32_t>(popcount(active)) >= enough) break;
      if (births || (unborn_ >> bit & 1) == 0) active |= bit_mask(bit);
    }
  }
  return active;
}

// Active bits of the sweep that is added next, where it needs the wires of `active`.
Index PlanBuilder::active_bits(Index active) const {
  Index bits = map_mask(active, layout_);
  const bool first_write = plan_.start == Start::kZero && sweeps_ == 0;
  // As far as there is room: in a layout that was given, the wires may lie elsewhere.
  for (Bit bit = 0; first_write && bit < std::min(low_bits_, plan_.local_bits()); ++bit) {
    if (static_cast<std::uint32_t>(popcount(bits)) < plan_.tile_bits) bits |= bit_mask(bit);
  }
  return fill(bits);
}

// What a part of the sweep that is added next costs as much as: its first part makes the births.
Sweep PlanBuilder::part_of(Index active_bits, bool first, const Lowered& lowered,
                           std::span<const std::uint32_t> ops) const {
  Sweep sweep;
  sweep.reads = !first || plan_.start != Start::kZero || sweeps_ > 0;
  sweep.unborn = first ? unborn_ : unborn_ & ~active_bits;
  for (Bit bit = 0; bit < plan_.local_bits(); ++bit) {
    if (!test_bit(active_bits, bit)) continue;
    sweep.active.push_back(bit);
    if (test_bit(sweep.unborn, bit)) sweep.births.push_back({bit});
  }
  for (const std::uint32_t index : ops) append_to_sweep(sweep, lowered, lowered.ops[index], layout_);
  return sweep;
}

// Where the parts of a sweep end that take the least time together: instructions that leave the cache cost more than
// further trips over memory. Parts have equal shares of the instructions. Empty: it stays whole.
std::vector<std::size_t> PlanBuilder::cuts(Index active_bits, const Lowered& lowered,
                                           std::span<const std::uint32_t> ops) const {
  const CostTable& cost = machine_.cost(plan_.precision);
  const double cached = cost.cached_instructions - cost.kernel_instructions;
  if (ops.size() < 2 || cached <= 0) return {};
  const Sweep whole = part_of(active_bits, true, lowered, ops);
  const std::vector<Arithmetic> each = operation_arithmetic(whole, plan_.precision, machine_);
  Arithmetic total;
  for (const Arithmetic& one : each) {
    total.nanoseconds += one.nanoseconds;
    total.instructions += one.instructions;
  }
  if (total.instructions <= cached) return {};
  const Sweep begins = part_of(active_bits, true, lowered, {}), goes_on = part_of(active_bits, false, lowered, {});
  const auto seconds = [&](const Sweep& part, const Arithmetic& arithmetic) {
    return sweep_seconds(part, arithmetic, plan_.local_bits(), plan_.precision, machine_);
  };
  // With fewer amplitudes while they are born, the first part may take more of the operations; that is not tried.
  const auto in_parts = [&](std::size_t count) {
    const auto parts = static_cast<double>(count);
    const Arithmetic share{total.nanoseconds / parts, total.instructions / parts};
    return seconds(begins, share) + (parts - 1) * seconds(goes_on, share);
  };
  const auto most = std::min(ops.size(), static_cast<std::size_t>(2 * total.instructions / cached) + 2);
  std::size_t best = 1;
  double least = in_parts(1);
  for (std::size_t count = 2; count <= most; ++count) {
    if (const double time = in_parts(count); time < least) best = count, least = time;
  }
  const auto equal_parts = [&](std::size_t count) {
    std::vector<std::size_t> ends;
    double done = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      done += each[i].instructions;
      const auto next = static_cast<double>(ends.size() + 1);
      if (ends.size() + 1 < count && done >= total.instructions * next / static_cast<double>(count))
        ends.push_back(i + 1);
    }
    if (ends.empty() || ends.back() != ops.size()) ends.push_back(ops.size());
    return ends;
  };
  const auto part_seconds = [&](std::size_t begin, std::size_t end) {
    const Sweep part = part_of(active_bits, begin == 0, lowered, ops.subspan(begin, end - begin));
    return sweep_seconds(part, plan_.local_bits(), plan_.precision, machine_);
  };
  const auto exact = [&](const std::vector<std::size_t>& ends) {
    double time = 0;
    for (std::size_t begin = 0; const std::size_t end : ends) time += part_seconds(std::exchange(begin, end), end);
    return time;
  };
  std::vector<std::size_t> chosen;
  double time = exact({ops.size()});
  for (const std::vector<std::size_t>& ends :
       {equal_parts(best), equal_parts(best + 1), std::vector<std::size_t>{ops.size() / 2, ops.size()}}) {
    if (const double of_these = exact(ends); of_these < time) chosen = ends, time = of_these;
  }
  // Equal shares need not be the best: a part whose halves take less is cut again.
  for (std::size_t i = 0, begin = 0; i < chosen.size();) {
    const std::size_t end = chosen[i], middle = begin + (end - begin) / 2;
    if (middle > begin && part_seconds(begin, middle) + part_seconds(middle, end) < part_seconds(begin, end)) {
      chosen.insert(chosen.begin() + static_cast<std::ptrdiff_t>(i), middle);
    } else {
      begin = end;
      ++i;
    }
  }
  return chosen;
}

void PlanBuilder::add_sweep(Index active, const Lowered& lowered, std::span<const std::uint32_t> ops) {
  std::size_t begin = 0;
  for (const std::size_t end : cuts(active_bits(active), lowered, ops)) {
    add_whole_sweep(active, lowered, ops.subspan(begin, end - begin));
    begin = end;
  }
  if (begin == 0) add_whole_sweep(active, lowered, ops);
}

void PlanBuilder::add_reaching_sweep(const std::vector<std::pair<Qubit, Index>>& reach, const Lowered& lowered,
                                     std::span<const std::uint32_t> ops) {
  bear(local_mask_);
  Index active = 0;
  for (const auto& [wire, wires] : reach) active |= bit_mask(wire);
  const std::size_t before = stage().sweeps.size();
  add_sweep(active, lowered, ops);
  for (std::size_t i = before; i < stage().sweeps.size() && !reach.empty(); ++i) {
    Sweep& sweep = stage().sweeps[i];
    for (const Bit bit : sweep.active) sweep.reach.push_back(bit_mask(bit));
    for (const auto& [wire, wires] : reach) {
      const auto at = std::ranges::find(sweep.active, layout_.bit_of[wire]) - sweep.active.begin();
      sweep.reach[static_cast<std::size_t>(at)] = map_mask(wires, layout_);
    }
  }
}

void PlanBuilder::add_whole_sweep(Index active, const Lowered& lowered, std::span<const std::uint32_t> ops) {
  Sweep sweep;
  const bool first_write = plan_.start == Start::kZero && sweeps_ == 0;
  sweep.reads = !first_write;
  sweep.unborn = unborn_;
  const Index active_now = active_bits(active);
  for (Bit bit = 0; bit < plan_.local_bits(); ++bit) {
    if (test_bit(active_now, bit)) sweep.active.push_back(bit);
  }
  sweep.store = sweep.active;
  const Index with_factors = map_mask(first_write ? ~known_.zero_wires & low_mask(plan_.qubits) : 0, layout_);
  bear_known(sweep, unborn_ & (with_factors | active_now));
  append_ops(sweep, lowered, ops);
  stage().sweeps.push_back(std::move(sweep));
  ++sweeps_;
}

void PlanBuilder::bear_known(Sweep& sweep, Index bits) {
  for (Qubit wire = 0; wire < plan_.qubits; ++wire) {
    const Bit bit = layout_.bit_of[wire];
    if (!test_bit(bits, bit)) continue;
    sweep.births.push_back({bit, known_.factor[wire], known_.open.empty() ? 0 : known_.open[wire]});
    unborn_ &= ~bit_mask(bit);
  }
  std::ranges::sort(sweep.births, {}, &Birth::bit);
}

void PlanBuilder::append_ops(Sweep& sweep, const Lowered& lowered, std::span<const std::uint32_t> ops) {
  for (const std::uint32_t index : ops) {
    if (trace_) {
      places_.push_back({index, static_cast<std::int32_t>(plan_.stages.size()) - 1,
                         static_cast<std::int32_t>(stage().sweeps.size()),
                         static_cast<std::int32_t>(sweep.ops.size())});
    }
    append_to_sweep(sweep, lowered, lowered.ops[index], layout_);
  }
}

// `destination[i]` is the new bit of what lies at active[i] after the store so far; a permutation of the active bits.
void PlanBuilder::move_bits(Sweep& sweep, std::span<const Bit> destination) {
  std::array<Bit, kMaxQubits> to{};
  for (Bit bit = 0; bit < plan_.qubits; ++bit) to[bit] = bit;
  for (std::size_t i = 0; i < sweep.active.size(); ++i) to[sweep.active[i]] = destination[i];
  for (Bit& bit : sweep.store) bit = to[bit];
  for (Bit& bit : layout_.bit_of) bit = to[bit];
}

void PlanBuilder::store_low(std::span<const Qubit> order) { store_in_order(order, false); }

void PlanBuilder::store_high(std::span<const Qubit> wires) {
  if (!stage().sweeps.empty()) store_in_order(wires, true);
}

// Gives the wires of `order` the lowest (or, from the top, the highest) active bits of the last sweep.
void PlanBuilder::store_in_order(std::span<const Qubit> order, bool from_top) {
  Sweep& sweep = stage().sweeps.back();
  if (!sweep.reach.empty() || sweep.permutes()) return;
  std::vector<Bit> destination(sweep.active);
  std::size_t next = 0;
  for (const Qubit wire : order) {
    const auto found = std::find(sweep.active.begin(), sweep.active.end(), layout_.bit_of[wire]);
    if (found == sweep.active.end()) continue;
    const Bit place = sweep.active[from_top ? sweep.active.size() - 1 - next : next];
    // Trade destinations with whatever was going there.
    const auto from = static_cast<std::size_t>(found - sweep.active.begin());
    const auto holder =
        static_cast<std::size_t>(std::find(destination.begin(), destination.end(), place) - destination.begin());
    std::swap(destination[from], destination[holder]);
    ++next;
  }
  move_bits(sweep, destination);
}

void PlanBuilder::add_exchange(std::vector<std::pair<Bit, Bit>> swaps) {
  Index swapped = 0;
  for (const auto& [local, global] : swaps) swapped |= bit_mask(local);
  bear(swapped);
  for (Bit& bit : layout_.bit_of) {
    for (const auto& [local, global] : swaps) {
      if (bit == local) {
        bit = global;
        break;
      }
      if (bit == global) {
        bit = local;
        break;
      }
    }
  }
  Exchange exchange;
  exchange.swaps = std::move(swaps);
  exchange.unborn = unborn_ & local_mask_;
  plan_.stages.push_back({std::move(exchange), layout_, {}});
  unborn_at_stage_.push_back(unborn_);
}

// What is unborn after the first write is |0>, so the last sweep can bear it inactive.
void PlanBuilder::bear(Index bits) {
  if (plan_.start == Start::kZero && sweeps_ == 0) add_sweep(0, {}, {});
  bits &= unborn_;
  if (bits == 0) return;
  if (stage().sweeps.empty()) add_sweep(0, {}, {});
  Sweep& sweep = stage().sweeps.back();
  bits &= unborn_;
  for (Bit bit = 0; bit < plan_.local_bits(); ++bit) {
    if (bits >> bit & 1) sweep.births.push_back({bit, {Complex(1), Complex(0)}});
  }
  std::sort(sweep.births.begin(), sweep.births.end(), [](const Birth& a, const Birth& b) { return a.bit < b.bit; });
  unborn_ &= ~bits;
}

void PlanBuilder::restore(const Layout& wanted) {
  bear(local_mask_);
  restore_global(wanted);
  while (layout_ != wanted) restore_local(wanted);
}

void PlanBuilder::restore_qubits(const Lowered& lowered, const Layout& wanted) {
  Layout wires;
  wires.bit_of.resize(plan_.qubits);
  for (Qubit q = 0; q < plan_.qubits; ++q) wires.bit_of[lowered.wire_of[q]] = wanted.bit_of[q];
  restore(wires);
}

void PlanBuilder::restore_global(const Layout& wanted) {
  const auto wire_for = wanted.qubit_at();
  for (;;) {
    std::vector<std::pair<Bit, Bit>> swaps;
    std::vector<Bit> waiting;  // global bits whose wire is at another global bit
    for (auto global = static_cast<Bit>(plan_.local_bits()); global < plan_.qubits; ++global) {
      const Bit from = layout_.bit_of[wire_for[global]];
      if (from == global) continue;
      if (from >= plan_.local_bits()) {
        waiting.push_back(global);
        continue;
      }
      swaps.emplace_back(from, global);
    }
    if (swaps.empty() && waiting.empty()) return;
    if (plan_.local_bits() == 0) {
      throw UsageError("qubits that SWAP gates have exchanged cannot be moved back: a rank holds only one amplitude",
                       "use fewer ranks");
    }
    // A cycle among global bits is opened through a local bit.
    if (swaps.empty()) swaps.emplace_back(static_cast<Bit>(plan_.local_bits() - 1), waiting.front());
    add_exchange(std::move(swaps));
  }
}

// One sweep that puts as many wires in place as its active bits allow.
void PlanBuilder::restore_local(const Layout& wanted) {
  const auto wire_at = layout_.qubit_at();
  const auto goal = [&](Bit bit) { return wanted.bit_of[wire_at[bit]]; };
  const std::uint32_t room = std::max(plan_.tile_bits, std::min(2u, plan_.local_bits()));
  Index chosen = 0;
  if (!stage().sweeps.empty() && stage().sweeps.back().reach.empty()) {  // first what the last sweep can do for nothing
    Index active = 0;
    for (const Bit bit : stage().sweeps.back().active) active |= bit_mask(bit);
    for (const Bit bit : stage().sweeps.back().active) {
      if (goal(bit) != bit && (active >> goal(bit) & 1) != 0) chosen = active;
    }
  }
  if (chosen == 0) {
    for (Bit start = 0; start < plan_.local_bits(); ++start) {
      for (Bit bit = start; goal(bit) != bit && (chosen >> bit & 1) == 0; bit = goal(bit)) {
        if (static_cast<std::uint32_t>(popcount(chosen)) >= room) break;
        chosen |= bit_mask(bit);
      }
    }
    add_sweep(wires_at(chosen), {}, {});
  }
  Sweep& sweep = stage().sweeps.back();
  std::vector<Bit> destination(sweep.active.size());
  Index active = 0, taken = 0;
  for (const Bit bit : sweep.active) active |= bit_mask(bit);
  for (const Bit bit : sweep.active) {
    if (active >> goal(bit) & 1) taken |= bit_mask(goal(bit));
  }
  Index free = active & ~taken;
  for (std::size_t i = 0; i < sweep.active.size(); ++i) {
    const Bit to = goal(sweep.active[i]);
    if (active >> to & 1) {
      destination[i] = to;
    } else {
      destination[i] = static_cast<Bit>(std::countr_zero(free));
      free &= free - 1;
    }
  }
  move_bits(sweep, destination);
}

// What may overlap: the local bits that are born, not swapped and inactive in the neighbouring sweeps may cut an
// exchange into chunks. The sweep next to it on either side is taken where any bit is left, further ones while the
// exchange takes longer than they do and enough bits are left that cut it into long runs. Of a stage's sweeps the
// exchange after it gets half.
std::vector<Index> PlanBuilder::choose_overlaps(const std::vector<bool>& may_extend) {
  predict(plan_, machine_);
  std::vector<Index> by_stage(plan_.stages.size(), 0);
  std::size_t taken = 0;  // first sweeps of the stage before, by its own exchange
  for (std::size_t s = 1; s < plan_.stages.size(); ++s) {
    Exchange& exchange = *plan_.stages[s].exchange;
    const auto& before = plan_.stages[s - 1].sweeps;
    const auto& after = plan_.stages[s].sweeps;
    Index candidates = local_mask_ & ~unborn_at_stage_[s];
    for (const auto& [local, global] : exchange.swaps) candidates &= ~bit_mask(local);
    double cover = 0;
    const auto take = [&](const Sweep& sweep, std::uint32_t& count) {
      const Index left = candidates & chunk_bits_of(sweep);
      if (count == 0 ? left == 0 : !may_extend[s] || popcount(left) < chunk_bits(exchange)) return false;
      candidates = left;
      cover += sweep.predicted_seconds;
      ++count;
      return true;
    };
    const std::size_t most_before = before.size() - taken;
    const std::size_t most_after = s + 1 == plan_.stages.size() ? after.size() : (after.size() + 1) / 2;
    exchange.overlap_before = exchange.overlap_after = 0;
    bool grows_before = true, grows_after = true;
    while (grows_before || grows_after) {
      grows_before = grows_before && exchange.overlap_before < most_before &&
                     take(before[before.size() - 1 - exchange.overlap_before], exchange.overlap_before);
      if (exchange.overlap_after > 0 && cover >= kCover * exchange.predicted_seconds) break;
      grows_after = grows_after && exchange.overlap_after < most_after &&
                    take(after[exchange.overlap_after], exchange.overlap_after);
      if (cover >= kCover * exchange.predicted_seconds) break;
    }
    taken = exchange.overlap_after;
    by_stage[s] = candidates;
  }
  return by_stage;
}

// Chunk bits from here on leave runs of a mebibyte, or of a 256th of a small shard.
Bit PlanBuilder::long_run_bit() const {
  const auto mebibyte = static_cast<int>(std::countr_zero((std::uint64_t{1} << 20) / amplitude_bytes(plan_.precision)));
  return static_cast<Bit>(std::clamp(static_cast<int>(plan_.local_bits()) - 8, 0, mebibyte));
}

// Chunks that are small enough for a slot of the ring; at least four, and up to 16 while their parts stay long: the
// first and the last chunk have nothing beside them.
int PlanBuilder::chunk_bits(const Exchange& exchange) const {
  const std::uint64_t part = state_bytes(plan_.precision, plan_.local_bits()) >>
                             (exchange.swaps.size() + static_cast<std::size_t>(popcount(exchange.unborn)));
  int wanted = 2;
  while (wanted < 8 && part >> wanted > machine_.chunk_bytes) ++wanted;
  while (wanted < 4 && part >> (wanted + 1) >= machine_.chunk_bytes / 2) ++wanted;
  return wanted;
}

// Chunk bits are the highest that may be, where places allow right below the swapped ones: chunks are long runs then.
void PlanBuilder::cut_exchanges(Places moves, const std::vector<bool>& may_extend) {
  ExchangePlaces places{low_bits_, moves == Places::kFree, choose_overlaps(may_extend), {}};
  for (const Stage& stage : plan_.stages) places.wanted.push_back(stage.exchange ? chunk_bits(*stage.exchange) : 0);
  if (moves != Places::kKept) place_exchanges(plan_, places);
  for (std::size_t s = 1; s < plan_.stages.size(); ++s) {
    int wanted = places.wanted[s];
    for (Bit bit = static_cast<Bit>(plan_.local_bits()); bit-- > 0 && wanted > 0;) {
      if ((places.candidates[s] >> bit & 1) == 0) continue;
      plan_.stages[s].exchange->chunk_mask |= bit_mask(bit);
      --wanted;
    }
  }
}

// Further sweeps beside an exchange are not worth chunks of short runs.
void PlanBuilder::choose_chunks(Places moves) {
  std::vector<bool> may_extend(plan_.stages.size(), true);
  if (plan_.stages.size() < 2) return;
  const Plan whole = plan_;
  for (bool again = true; again;) {
    cut_exchanges(moves, may_extend);
    again = false;
    for (std::size_t s = 1; s < plan_.stages.size(); ++s) {
      const Exchange& exchange = *plan_.stages[s].exchange;
      const bool extended = exchange.overlap_before > 1 || exchange.overlap_after > 1;
      if (!extended || std::countr_zero(exchange.chunk_mask) >= long_run_bit()) continue;
      may_extend[s] = false;
      again = true;
    }
    if (again) plan_ = whole;
  }
}

Plan PlanBuilder::finish(const Lowered& lowered, Places moves) {
  bear(local_mask_);
  plan_.final_layout = qubit_layout(lowered, layout_);
  plan_.gates = lowered.gates;
  plan_.gates_removed = lowered.removed.size();
  plan_.rewrites_refused = lowered.refused;
  plan_.open = lowered.open;
  choose_chunks(moves);
  predict(plan_, machine_);
  return std::move(plan_);
}

}  // namespace qsim
