#include "plan/make/join.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "base/layout.h"
#include "plan/make/search.h"

namespace qsim {
namespace {

bool is_open(const Plan& part) {
  const auto has_open = [](const Stage& stage) {
    return std::ranges::any_of(stage.sweeps, [](const Sweep& sweep) { return is_open(sweep); });
  };
  return std::ranges::any_of(part.stages, has_open);
}

}  // namespace

PlanJoiner::PlanJoiner(const Lowered& lowered, const Machine& machine, const PlanOptions& options)
    : lowered_(lowered),
      machine_(machine),
      options_(options),
      layout_(options.initial_layout.value_or(Layout::identity(static_cast<int>(lowered.qubits)))),
      open_(lowered.open),
      matrices_(lowered.matrices) {}

Lowered PlanJoiner::empty() const {
  Lowered part;
  part.qubits = lowered_.qubits;
  part.wire_of = Layout::identity(static_cast<int>(lowered_.qubits)).qubit_at();
  part.source_begin = lowered_.source_begin;
  part.source_items = lowered_.source_items;
  part.open = open_;
  return part;
}

PlanOptions PlanJoiner::here() const {
  PlanOptions options = options_;
  if (!plan_) return options;
  options.start = Start::kState;
  options.known_zeros = false;
  options.initial_layout = layout_;
  return options;
}

void PlanJoiner::plan_between(std::vector<LoweredOp>& ops) {
  Lowered part = empty();
  part.matrices = matrices_;
  part.phases = lowered_.phases;
  part.ops = std::exchange(ops, {});
  for (const LoweredOp& op : part.ops) part.gates += op.gates;
  if (!part.ops.empty()) join(searched_plan(part, machine_, here(), {}));
}

void PlanJoiner::join(PlanBuilder& builder, const Lowered& part, const std::vector<Placed>& placed) {
  Plan plan = builder.finish(part);
  removed_.insert(removed_.end(), part.removed.begin(), part.removed.end());
  plan.gates_removed = 0;  // counted with these
  if (options_.trace) {
    std::map<std::uint32_t, PlanBuilder::Place> places;
    for (const PlanBuilder::Place& place : builder.places()) places[place.index] = place;
    for (const Placed& one : placed) {
      const PlanBuilder::Place& place = places.at(one.op);
      for (const std::uint32_t source : lowered_.sources(one.source))
        plan.trace.push_back({source, place.stage, place.sweep, place.op, ""});
    }
  }
  join(std::move(plan));
}

void PlanJoiner::remove(const LoweredOp& op) {
  if (op.gates == 0) return;
  for (const std::uint32_t source : lowered_.sources(op.source)) removed_.push_back({source, "cancelled"});
}

void PlanJoiner::join(Plan part) {
  layout_ = part.final_layout;
  if (is_open(part)) {
    ++open_parts_;
    open_of_part_ = part.open;
  }
  part.open = {};
  if (!plan_) {
    plan_ = std::move(part);
    return;
  }
  // Its first stage goes on with the last one.
  std::vector<Sweep>& sweeps = plan_->stages.back().sweeps;
  const auto stages = static_cast<std::int32_t>(plan_->stages.size() - 1);
  for (TraceEntry& entry : part.trace) {
    if (entry.stage == 0) entry.sweep += static_cast<std::int32_t>(sweeps.size());
    if (entry.stage >= 0) entry.stage += stages;
    plan_->trace.push_back(std::move(entry));
  }
  std::ranges::move(part.stages.front().sweeps, std::back_inserter(sweeps));
  std::move(part.stages.begin() + 1, part.stages.end(), std::back_inserter(plan_->stages));
  plan_->gates += part.gates;
  plan_->gates_removed += part.gates_removed;
  plan_->rewrites_refused += part.rewrites_refused;
  plan_->merged.insert(plan_->merged.end(), part.merged.begin(), part.merged.end());
}

std::optional<Plan> PlanJoiner::finished() {
  if (open_parts_ > 1) return std::nullopt;
  Plan plan = *std::move(plan_);
  plan.open = std::move(open_of_part_);
  plan.final_layout = qubit_layout(lowered_, layout_);
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

}  // namespace qsim
