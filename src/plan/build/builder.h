// Grows a plan sweep by sweep, keeping track of where every wire is and which bits are unborn.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/lower/known.h"
#include "plan/lower/lower.h"
#include "plan/plan.h"
#include "plan/plan_options.h"

namespace qsim {

class PlanBuilder {
 public:
  /// `initial` is the layout of the wires; `known` the start state of a plan from |0...0> in that layout.
  PlanBuilder(std::uint32_t qubits, const PlanOptions& options, const Machine& machine, Layout initial,
              const KnownStart& known);

  std::uint32_t local_bits() const { return plan_.local_bits(); }
  std::uint32_t tile_bits() const { return plan_.tile_bits; }
  std::uint32_t low_bits() const { return low_bits_; }
  const Layout& layout() const { return layout_; }  // of the wires, now
  Index wires_at(Index bits) const;                 // mask over bits -> mask over wires
  Index local_wires() const { return wires_at(local_mask_); }

  /// Appends a sweep of `ops` (indices into lowered.ops), or several where they are too many for one, with at least the
  /// wires of `active` active, filled up to the tile size. Active bits are born where they are not yet; the first write
  /// also bears every wire with a factor.
  void add_sweep(Index active, const Lowered& lowered, std::span<const std::uint32_t> ops);
  /// The same for operations over coordinates: each of `reach` is an active wire and the wires that it flips in memory
  /// (Sweep::reach). All bits are born before.
  void add_reaching_sweep(const std::vector<std::pair<Qubit, Index>>& reach, const Lowered& lowered,
                          std::span<const std::uint32_t> ops);
  /// Appends a sweep that permutes, of what may_permute(). `whole`: all of the shard as one bundle, as the first write
  /// always is, else bundles that are as small as the machine moves well. The first write takes a start that is known
  /// as one without global wires; other flips have local targets.
  void add_permuting_sweep(const Lowered& lowered, std::span<const std::uint32_t> ops, bool whole);
  /// Lets the last sweep store its active wires so that those in `order`, first to last, lie at its lowest bits.
  void store_low(std::span<const Qubit> order);
  /// Lets the last sweep of the stage store those of `wires` that are active at its highest bits.
  void store_high(std::span<const Qubit> wires);
  /// Swaps local with global bits; bears the local ones first.
  void add_exchange(std::vector<std::pair<Bit, Bit>> swaps);
  /// Moves every wire to its bit in `wanted`.
  void restore(const Layout& wanted);
  /// Moves every wire so that the qubits' final layout is `wanted`.
  void restore_qubits(const Lowered& lowered, const Layout& wanted);
  /// Births of what is left; chunk bits and predictions. `lowered` gives the final layout and the gate counts.
  /// `moves`: what may be renamed so that exchanges swap high bits.
  enum class Places { kKept, kStores, kFree };  // nothing; stores of sweeps; those and the start layout
  Plan finish(const Lowered& lowered, Places moves = Places::kKept);

  /// Where each operation given to add_sweep went: (stage, sweep, op), in the order given.
  struct Place {
    std::uint32_t index;
    std::int32_t stage, sweep, op;
  };
  const std::vector<Place>& places() const { return places_; }

 private:
  Stage& stage();
  Index fill(Index active) const;
  Index active_bits(Index active) const;
  void append_ops(Sweep& sweep, const Lowered& lowered, std::span<const std::uint32_t> ops);
  void add_whole_sweep(Index active, const Lowered& lowered, std::span<const std::uint32_t> ops);
  /// Bears `bits` in `sweep`, by what is known of them.
  void bear_known(Sweep& sweep, Index bits);
  Sweep part_of(Index active_bits, bool first, const Lowered& lowered, std::span<const std::uint32_t> ops) const;
  std::vector<std::size_t> cuts(Index active_bits, const Lowered& lowered, std::span<const std::uint32_t> ops) const;
  void bear(Index bits);
  void store_in_order(std::span<const Qubit> order, bool from_top);
  void restore_global(const Layout& wanted);
  void restore_local(const Layout& wanted);
  void move_bits(Sweep& sweep, std::span<const Bit> destination);
  std::vector<Index> choose_overlaps(const std::vector<bool>& may_extend);
  int chunk_bits(const Exchange& exchange) const;
  Bit long_run_bit() const;
  void cut_exchanges(Places moves, const std::vector<bool>& may_extend);
  void choose_chunks(Places moves);

  const Machine& machine_;
  bool trace_;
  Plan plan_;
  Layout layout_;
  KnownStart known_;
  Index local_mask_ = 0, unborn_ = 0;
  std::uint32_t low_bits_ = 0;
  std::uint64_t sweeps_ = 0;
  std::vector<Index> unborn_at_stage_;
  std::vector<Place> places_;
};

}  // namespace qsim
