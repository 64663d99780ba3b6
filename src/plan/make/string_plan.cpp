// Plans of the stretches of a circuit, one after the other in the same layout, joined.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/lower/pauli_strings.h"
#include "plan/make/builder.h"
#include "plan/make/planners.h"
#include "plan/make/search.h"
#include "plan/sweep/string_sweeps.h"

namespace qsim {
namespace {

// Stretches whose sweeps are not fewer than this share of those that are spanned by wires are not looked at further.
constexpr double kWorthwhile = 0.75;

class Joiner {
 public:
  Joiner(const Lowered& lowered, const Machine& machine, const PlanOptions& options)
      : lowered_(lowered), machine_(machine), options_(options), open_(lowered.open), matrices_(lowered.matrices) {
    tile_.layout = options.initial_layout.value_or(Layout::identity(static_cast<int>(lowered.qubits)));
    tile_.size = std::min(options.tile_bits.value_or(machine.max_tile_bits), lowered.qubits);
    tile_.low = std::min(machine.low_bits, tile_.size - std::min(tile_.size, 3u));
    // A processor moves amplitudes by vectors, whose lanes are the lowest bits; to a GPU's threads a line is a line.
    tile_.kept = machine.kind == BackendKind::kCpu ? tile_.low : 0;
  }

  std::vector<StringStretch> stretches() {
    std::vector<StringStretch> found = string_stretches(lowered_, options_.knows_zero(), open_);
    std::erase_if(found, [&](const StringStretch& stretch) { return !worthwhile(stretch); });
    return found;
  }

  /// Nothing where open angles are in more than one part: their numbers are each part's own.
  std::optional<Plan> run(std::vector<StringStretch> stretches) {
    std::vector<LoweredOp> between;
    const auto add_rests = [&](const StringStretch& stretch) {
      for (const StringRest& rest : stretch.rests) add_rest(rest, between);
    };
    std::size_t next = 0;
    for (StringStretch& stretch : stretches) {
      add_operations(next, stretch.first, between);
      for (const std::uint32_t index : stretch.before) between.push_back(lowered_.ops[index]);
      next = stretch.last;
      // Gates on |0...0> cost nothing, and gates after the last stretch might be the only ones there.
      const bool before =
          (stretch.first == 0 && options_.knows_zero()) || (!between.empty() && next == lowered_.ops.size());
      if (before) {
        put_rests_first(stretch, open_);
        add_rests(stretch);
      }
      plan_between(between);
      plan_strings(stretch);
      if (!before) add_rests(stretch);
    }
    add_operations(next, lowered_.ops.size(), between);
    plan_between(between);
    if (open_parts_ > 1) return std::nullopt;
    return finished();
  }

 private:
  bool worthwhile(const StringStretch& stretch) const {
    const StringCounts counts = count_string_sweeps(stretch.rotations, tile_);
    return static_cast<double>(counts.by_strings) <= kWorthwhile * static_cast<double>(counts.by_wires);
  }

  /// No operation, but where they come from.
  Lowered empty() const {
    Lowered part;
    part.qubits = lowered_.qubits;
    part.wire_of = Layout::identity(static_cast<int>(lowered_.qubits)).qubit_at();
    part.source_begin = lowered_.source_begin;
    part.source_items = lowered_.source_items;
    part.open = open_;
    return part;
  }

  /// From where the plan so far ends.
  PlanOptions here() const {
    PlanOptions options = options_;
    if (!plan_) return options;
    options.start = Start::kState;
    options.known_zeros = false;
    options.initial_layout = tile_.layout;
    return options;
  }

  void add_operations(std::size_t first, std::size_t last, std::vector<LoweredOp>& between) const {
    between.insert(between.end(), lowered_.ops.begin() + static_cast<std::ptrdiff_t>(first),
                   lowered_.ops.begin() + static_cast<std::ptrdiff_t>(last));
  }

  void plan_between(std::vector<LoweredOp>& between) {
    Lowered part = empty();
    part.matrices = matrices_;
    part.phases = lowered_.phases;
    part.ops = std::exchange(between, {});
    for (const LoweredOp& op : part.ops) part.gates += op.gates;
    if (!part.ops.empty()) join(searched_plan(part, machine_, here(), {}));
  }

  void add_rest(const StringRest& rest, std::vector<LoweredOp>& between) {
    if (is_identity(rest.matrix)) {
      for (const std::uint32_t member : rest.members) remove(lowered_.ops[member]);
      return;
    }
    LoweredOp op;
    op.target_count = 1;
    op.targets[0] = static_cast<Bit>(rest.wire);
    op.data_begin = static_cast<std::uint32_t>(matrices_.size());
    op.data_count = 4;
    for (const std::uint32_t member : rest.members) op.gates += lowered_.ops[member].gates;
    if (!rest.members.empty()) op.source = lowered_.ops[rest.members.front()].source;
    matrices_.insert(matrices_.end(), rest.matrix.begin(), rest.matrix.end());
    set_basis_masks(op, rest.matrix, {});
    between.push_back(op);
  }

  void remove(const LoweredOp& op) {
    if (op.gates == 0) return;
    for (const std::uint32_t source : lowered_.sources(op.source)) removed_.push_back({source, "cancelled"});
  }

  void plan_strings(const StringStretch& stretch) {
    Lowered part = empty();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> placed;
    const auto sweeps = write_string_sweeps(stretch, tile_, lowered_, part, placed);
    for (const LoweredOp& op : part.ops) part.gates += op.gates;
    const PlanOptions options = here();
    PlanBuilder builder(lowered_.qubits, options, machine_, tile_.layout, plain_start(part, 0));
    for (const StringSweep& sweep : sweeps) builder.add_reaching_sweep(sweep.reach, part, sweep.ops);
    Plan plan = builder.finish(part);
    if (options_.trace) {
      std::map<std::uint32_t, PlanBuilder::Place> places;
      for (const PlanBuilder::Place& place : builder.places()) places[place.index] = place;
      for (const auto& [member, op] : placed) {
        const PlanBuilder::Place& place = places.at(op);
        for (const std::uint32_t source : lowered_.sources(lowered_.ops[member].source))
          plan.trace.push_back({source, place.stage, place.sweep, place.op, ""});
      }
    }
    join(std::move(plan));
  }

  static bool is_open(const Plan& part) {
    return std::ranges::any_of(part.stages.back().sweeps, [](const Sweep& sweep) {
      return std::ranges::any_of(sweep.phases, [](const PhaseTerm& term) { return term.open != 0; }) ||
             std::ranges::any_of(sweep.ops, [](const PlanOp& op) { return op.open != 0; }) ||
             std::ranges::any_of(sweep.births, [](const Birth& birth) { return birth.open != 0; });
    });
  }

  void join(Plan part) {
    tile_.layout = part.final_layout;
    if (is_open(part)) {
      ++open_parts_;
      open_of_part_ = part.open;
    }
    part.open = {};
    if (!plan_) {
      plan_ = std::move(part);
      return;
    }
    std::vector<Sweep>& sweeps = plan_->stages.back().sweeps;
    for (TraceEntry& entry : part.trace) {
      if (entry.stage >= 0) entry.sweep += static_cast<std::int32_t>(sweeps.size());
      plan_->trace.push_back(std::move(entry));
    }
    for (Sweep& sweep : part.stages.back().sweeps) sweeps.push_back(std::move(sweep));
    plan_->gates += part.gates;
    plan_->gates_removed += part.gates_removed;
    plan_->rewrites_refused += part.rewrites_refused;
    plan_->merged.insert(plan_->merged.end(), part.merged.begin(), part.merged.end());
  }

  Plan finished() {
    Plan plan = *std::move(plan_);
    plan.open = std::move(open_of_part_);
    plan.final_layout = qubit_layout(lowered_, tile_.layout);
    plan.rewrites_refused += lowered_.refused;
    plan.gates = lowered_.gates;
    std::map<std::string, std::uint64_t> merged;
    for (const auto& [reason, count] : plan.merged) merged[reason] += count;
    removed_.insert(removed_.end(), lowered_.removed.begin(), lowered_.removed.end());
    for (const RemovedGate& gate : removed_) {
      ++merged[gate.reason];
      if (options_.trace) plan.trace.push_back({gate.source, -1, -1, -1, gate.reason});
    }
    plan.gates_removed += removed_.size();
    plan.merged.assign(merged.begin(), merged.end());
    std::ranges::stable_sort(plan.trace, {}, &TraceEntry::operation);
    return plan;
  }

  const Lowered& lowered_;
  const Machine& machine_;
  const PlanOptions& options_;
  StringTile tile_;                // its layout is that of the wires at the end of the plan so far
  OpenNumbers open_;               // the lowered circuit's, and more
  std::vector<Complex> matrices_;  // of `lowered_` and of the rests
  std::optional<Plan> plan_;
  OpenNumbers open_of_part_;
  int open_parts_ = 0;
  std::vector<RemovedGate> removed_;
};

}  // namespace

std::optional<Plan> string_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  if (options.rank_bits != 0 || options.preserve_layout) return std::nullopt;
  if (!pass_enabled(options.disabled_passes, "span_strings")) return std::nullopt;
  Joiner joiner(lowered, machine, options);
  std::vector<StringStretch> stretches = joiner.stretches();
  if (stretches.empty()) return std::nullopt;
  return joiner.run(std::move(stretches));
}

}  // namespace qsim
