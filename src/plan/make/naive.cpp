// The planners that take gates as they are written. The naive one: SWAP gates rename qubits; no other rewriting, no
// merging, no look-ahead, an exchange only when a target is global.
#include <algorithm>
#include <numeric>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/build/builder.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/planners.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

void check_targets_fit(const Lowered& lowered, std::uint32_t local_bits) {
  for (const LoweredOp& op : lowered.ops) {
    if (op.target_count <= local_bits) continue;
    const auto sources = lowered.sources(op.source);
    throw UsageError("operation " + std::to_string(sources.empty() ? op.source : sources.front()) + " acts on " +
                         std::to_string(op.target_count) + " qubits but each rank holds only " +
                         std::to_string(local_bits) + " bits of the index",
                     "use fewer ranks");
  }
}

namespace {

// Trades each global target for the highest local bit that the operation does not act on.
std::vector<std::pair<Bit, Bit>> make_local(const LoweredOp& op, const PlanBuilder& builder) {
  const Index targets = map_mask(op.target_mask(), builder.layout());
  std::vector<std::pair<Bit, Bit>> swaps;
  auto local = static_cast<Bit>(builder.local_bits());
  for (std::size_t j = 0; j < op.target_count; ++j) {
    const Bit bit = builder.layout().bit_of[op.targets[j]];
    if (bit < builder.local_bits()) continue;
    do --local;
    while (targets >> local & 1);
    swaps.emplace_back(local, bit);
  }
  return swaps;
}

void fill_trace(Plan& plan, const Lowered& lowered, const PlanBuilder& builder) {
  for (const auto& place : builder.places()) {
    const LoweredOp& op = lowered.ops[place.index];
    if (op.gates == 0) continue;
    for (const std::uint32_t source : lowered.sources(op.source))
      plan.trace.push_back({source, place.stage, place.sweep, place.op, ""});
  }
  for (const RemovedGate& gate : lowered.removed) plan.trace.push_back({gate.source, -1, -1, -1, gate.reason});
  std::stable_sort(plan.trace.begin(), plan.trace.end(),
                   [](const TraceEntry& a, const TraceEntry& b) { return a.operation < b.operation; });
}

std::vector<std::string> all_passes_but(std::string_view kept) {
  std::vector<std::string> names;
  for (const std::string_view name : pass_names())
    if (name != kept) names.emplace_back(name);
  return names;
}

}  // namespace

Plan naive_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  const Lowered lowered = lower_optimized(circuit, all_passes_but("relabel_swaps"));
  const Layout initial = options.initial_layout.value_or(Layout::identity(static_cast<int>(lowered.qubits)));
  PlanBuilder builder(lowered.qubits, options, machine, initial, plain_start(lowered, options.rank_bits));
  check_targets_fit(lowered, builder.local_bits());
  if (options.start == Start::kZero) builder.add_sweep(0, lowered, {});
  for (std::uint32_t i = 0; i < lowered.ops.size(); ++i) {
    auto swaps = make_local(lowered.ops[i], builder);
    if (!swaps.empty()) builder.add_exchange(std::move(swaps));
    builder.add_sweep(lowered.ops[i].target_mask(), lowered, std::span(&i, 1));
  }
  if (options.preserve_layout) builder.restore_qubits(lowered, initial);
  Plan plan = builder.finish(lowered);
  if (options.trace) fill_trace(plan, lowered, builder);
  return plan;
}

Plan written_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  const Lowered lowered = lower(circuit);
  const Layout initial = options.initial_layout.value_or(Layout::identity(static_cast<int>(lowered.qubits)));
  PlanBuilder builder(lowered.qubits, options, machine, initial, plain_start(lowered, 0));
  check_targets_fit(lowered, builder.local_bits());
  std::vector<std::uint32_t> all(lowered.ops.size());
  std::iota(all.begin(), all.end(), 0u);
  builder.add_sweep(low_mask(lowered.qubits), lowered, all);
  if (options.preserve_layout) builder.restore_qubits(lowered, initial);
  Plan plan = builder.finish(lowered);
  for (Sweep& sweep : plan.stages.back().sweeps) sweep.once = true;
  if (options.trace) fill_trace(plan, lowered, builder);
  return plan;
}

}  // namespace qsim
