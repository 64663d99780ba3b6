// The greedy planner: the optimizer's passes, then fill sweep after sweep with whatever commutes to the front.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/build/builder.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower.h"
#include "plan/lower/merge_terms.h"
#include "plan/make/planners.h"
#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::size_t kScanLimit = 2048;      // operations looked at for a sweep: keeps planning linear
constexpr std::size_t kCompareLimit = 20000;  // operations up to which two initial layouts are compared
constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

// When diagonals run that no step waits for: in the first sweep that has room, or in the one that needs them.
enum class Diagonals { kEarly, kLate };

// Operations not yet in a sweep, in order, as a linked list.
class Packer {
 public:
  Packer(Lowered& lowered, PlanBuilder& builder, Diagonals diagonals)
      : lowered_(lowered),
        builder_(builder),
        diagonals_(diagonals),
        end_(static_cast<std::uint32_t>(lowered.ops.size())) {
    next_.resize(lowered.ops.size() + 1);
    std::iota(next_.begin(), next_.end(), 0u);  // next_[i]: first operation after the one before i; the end is size
  }

  void run() {
    while (first() != end()) {
      const std::vector<std::uint32_t> ops = take_sweep();
      if (ops.empty()) {
        exchange();
        continue;
      }
      builder_.add_sweep(active_, lowered_, merge_terms(lowered_, ops, stands_for_));
      if (builder_.low_bits() > 0) keep_low();
    }
  }

  /// (operation, merged operation that it is in), for those that were merged.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& stands_for() const { return stands_for_; }

 private:
  std::uint32_t end() const { return end_; }
  // The link before operation i is next_[i] of the place before it: place s names the operation that follows s - 1.
  std::uint32_t first() { return follow(0); }
  // First remaining operation at or after i (path halving over removed ones).
  std::uint32_t follow(std::uint32_t i) {
    while (next_[i] != i) {
      next_[i] = next_[next_[i]];
      i = next_[i];
    }
    return i;
  }

  std::vector<std::uint32_t> take_sweep() {
    const Index local = builder_.local_wires(), all = bit_mask(lowered_.qubits) - 1;
    Index low = builder_.wires_at(bit_mask(builder_.low_bits()) - 1);
    std::vector<std::uint32_t> taken;
    CommutingWith skipped;  // while scanning: an operation may pass only if it commutes with all of it
    active_ = 0;
    std::size_t scanned = 0;
    for (std::uint32_t i = first(); i != end() && scanned < kScanLimit; i = follow(i + 1)) {
      const LoweredOp& op = lowered_.ops[i];
      if (fits(op, local, low) && skipped.all(op)) {
        active_ |= op.target_mask();
        taken.push_back(i);
      } else {
        skipped.add(op);
        ++scanned;
        if (skipped.closed() == all) break;
      }
    }
    if (diagonals_ == Diagonals::kLate && active_ != 0) leave_diagonals(taken);
    for (const std::uint32_t i : taken) next_[i] = i + 1;
    return taken;
  }

  // Leaves the diagonals that no later step of the sweep waits for.
  void leave_diagonals(std::vector<std::uint32_t>& taken) const {
    Index changed = 0;  // by what comes later in the sweep
    std::vector<std::uint32_t> kept;
    for (std::size_t at = taken.size(); at-- > 0;) {
      const LoweredOp& op = lowered_.ops[taken[at]];
      if (op.form == Form::kPhases && (op.support & changed) == 0) continue;
      changed |= op.support & ~op.z_mask;
      kept.push_back(taken[at]);
    }
    taken.assign(kept.rbegin(), kept.rend());
  }

  bool fits(const LoweredOp& op, Index local, Index& low) const {
    const Index targets = op.target_mask();
    if ((targets & ~local) != 0) return false;
    const auto count = [](Index wires) { return static_cast<std::uint32_t>(popcount(wires)); };
    if (count(active_ | targets | low) <= builder_.tile_bits()) return true;
    if (active_ != 0) return false;
    low = 0;  // an operation that needs the whole tile, or more
    return true;
  }

  // For each wire, how many operations from now it is next a target of; stops early once all wires are found.
  std::vector<std::uint32_t> next_uses(Index wires) {
    std::vector<std::uint32_t> use(lowered_.qubits, kNever);
    std::uint32_t when = 0;
    for (std::uint32_t i = first(); i != end() && when < kScanLimit && wires != 0; i = follow(i + 1), ++when) {
      const Index found = lowered_.ops[i].target_mask() & wires;
      for (Index rest = found; rest != 0; rest &= rest - 1)
        use[static_cast<std::size_t>(std::countr_zero(rest))] = when;
      wires &= ~found;
    }
    return use;
  }

  // The wires needed soonest stay at the low bits, which every sweep keeps active.
  void keep_low() {
    const std::vector<std::uint32_t> use = next_uses(active_);
    std::vector<Qubit> order;
    for (Qubit wire = 0; wire < lowered_.qubits; ++wire) {
      if (active_ >> wire & 1 && use[wire] != kNever) order.push_back(wire);
    }
    std::stable_sort(order.begin(), order.end(), [&](Qubit a, Qubit b) { return use[a] < use[b]; });
    if (order.size() > builder_.low_bits()) order.resize(builder_.low_bits());
    builder_.store_low(order);
  }

  // Makes the wires local that are targets soonest, in the places of those that are not needed for longest.
  void exchange() {
    const Index local = builder_.local_wires();
    const std::vector<std::uint32_t> use = next_uses(bit_mask(lowered_.qubits) - 1);
    std::vector<Qubit> order(lowered_.qubits);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](Qubit a, Qubit b) {
      if (use[a] != use[b]) return use[a] < use[b];
      return (local >> a & 1) > (local >> b & 1);
    });
    std::vector<Qubit> in, out;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const bool wanted = i < builder_.local_bits(), here = (local >> order[i] & 1) != 0;
      if (wanted && !here) in.push_back(order[i]);
      if (!wanted && here) out.push_back(order[i]);
    }
    builder_.store_high(out);  // so that what travels lies in long runs
    const auto& bit_of = builder_.layout().bit_of;
    std::vector<std::pair<Bit, Bit>> swaps;
    for (std::size_t i = 0; i < in.size(); ++i) swaps.emplace_back(bit_of[out[i]], bit_of[in[i]]);
    builder_.add_exchange(std::move(swaps));
  }

  Lowered& lowered_;
  PlanBuilder& builder_;
  const Diagonals diagonals_;
  const std::uint32_t end_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stands_for_;
  std::vector<std::uint32_t> next_;  // next_[i] == i: operation i remains; else where to look on
  Index active_ = 0;                 // wires of the sweep being filled
};

// Wires by first use as a target.
std::vector<Qubit> by_first_use(const Lowered& lowered) {
  std::vector<std::uint32_t> use(lowered.qubits, kNever);
  Index missing = bit_mask(lowered.qubits) - 1;
  for (std::uint32_t i = 0; i < lowered.ops.size() && missing != 0; ++i) {
    const Index found = lowered.ops[i].target_mask() & missing;
    for (Index rest = found; rest != 0; rest &= rest - 1) use[static_cast<std::size_t>(std::countr_zero(rest))] = i;
    missing &= ~found;
  }
  std::vector<Qubit> order(lowered.qubits);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](Qubit a, Qubit b) { return use[a] < use[b]; });
  return order;
}

Layout layout_of(std::span<const Qubit> wire_at) {
  Layout layout;
  layout.bit_of.resize(wire_at.size());
  for (std::size_t bit = 0; bit < wire_at.size(); ++bit) layout.bit_of[wire_at[bit]] = static_cast<Bit>(bit);
  return layout;
}

void fill_trace(Plan& plan, const PlanBuilder& builder, const Packer& packer, const Lowered& lowered) {
  std::vector<std::vector<std::uint32_t>> members(lowered.ops.size());
  for (const auto& [op, merged] : packer.stands_for()) members[merged].push_back(op);
  for (const auto& p : builder.places()) {
    std::vector<std::uint32_t>& stands_for = members[p.index];
    if (stands_for.empty()) stands_for.push_back(p.index);
    for (const std::uint32_t op : stands_for) {
      if (lowered.ops[op].gates == 0) continue;
      for (const std::uint32_t source : lowered.sources(lowered.ops[op].source))
        plan.trace.push_back({source, p.stage, p.sweep, p.op, ""});
    }
  }
  for (const RemovedGate& gate : lowered.removed) plan.trace.push_back({gate.source, -1, -1, -1, gate.reason});
  std::stable_sort(plan.trace.begin(), plan.trace.end(),
                   [](const TraceEntry& a, const TraceEntry& b) { return a.operation < b.operation; });
}

void count_merges(Plan& plan, const Lowered& lowered) {
  std::map<std::string, std::uint64_t> counts;
  for (const RemovedGate& gate : lowered.removed) ++counts[gate.reason];
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps)
      for (const PlanOp& op : sweep.ops)
        if (op.gates > 1) counts[op.form == Form::kPhases ? "diagonals" : "single-qubit runs"] += op.gates - 1;
  }
  plan.merged.assign(counts.begin(), counts.end());
}

Plan plan_from(const Lowered& source, const Machine& machine, const PlanOptions& options, const Layout& initial,
               Diagonals diagonals) {
  Lowered lowered = source;
  const bool known = options.knows_zero();
  const auto wire_at = initial.qubit_at();
  const std::span<const Qubit> global(wire_at.data() + (lowered.qubits - options.rank_bits), options.rank_bits);
  const KnownStart start =
      known ? absorb_known_start(lowered, global, Pairs::kLeft) : plain_start(lowered, options.rank_bits);
  PlanBuilder builder(lowered.qubits, options, machine, initial, start);
  check_targets_fit(lowered, builder.local_bits());
  Packer packer(lowered, builder, diagonals);
  packer.run();
  if (options.preserve_layout) builder.restore_qubits(lowered, initial);
  using Places = PlanBuilder::Places;
  const bool fixed = options.initial_layout || options.start == Start::kState;
  Plan plan = builder.finish(lowered, options.preserve_layout ? Places::kKept
                                      : fixed                 ? Places::kStores
                                                              : Places::kFree);
  count_merges(plan, lowered);
  if (options.trace) fill_trace(plan, builder, packer, lowered);
  return plan;
}

// The less predicted time; from zero sweeps differ in size, so that it matters where diagonals run.
Plan best_plan_from(const Lowered& lowered, const Machine& machine, const PlanOptions& options, const Layout& initial) {
  Plan early = plan_from(lowered, machine, options, initial, Diagonals::kEarly);
  if (options.start != Start::kZero || lowered.ops.size() > kCompareLimit) return early;
  Plan late = plan_from(lowered, machine, options, initial, Diagonals::kLate);
  return plan_work(late).total_seconds < plan_work(early).total_seconds ? late : early;
}

}  // namespace

Plan greedy_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  if (options.initial_layout || options.start == Start::kState) {
    const Layout identity = Layout::identity(static_cast<int>(lowered.qubits));
    return best_plan_from(lowered, machine, options, options.initial_layout.value_or(identity));
  }
  // First uses count from where the known start ends.
  Lowered reduced = lowered;
  if (options.knows_zero()) absorb_known_start(reduced, {}, Pairs::kLeft);
  std::vector<Qubit> order = by_first_use(reduced);
  Plan late_global = best_plan_from(lowered, machine, options, layout_of(order));
  const bool known = options.knows_zero();
  if (options.rank_bits == 0 || !known || lowered.ops.size() > kCompareLimit) return late_global;
  // Global wires that are used first may be done with before the first write.
  const auto first_qubits = by_first_use(lowered);
  std::vector<Qubit> early(first_qubits.begin() + options.rank_bits, first_qubits.end());
  early.insert(early.end(), first_qubits.begin(), first_qubits.begin() + options.rank_bits);
  Plan early_global = best_plan_from(lowered, machine, options, layout_of(early));
  const double late_seconds = plan_work(late_global).total_seconds;
  return plan_work(early_global).total_seconds < late_seconds ? early_global : late_global;
}

}  // namespace qsim
