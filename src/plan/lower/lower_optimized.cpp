// Chains optimizer and lowering so that every gate of the circuit stays accounted for.
#include "plan/lower/lower_optimized.h"

#include <algorithm>
#include <array>

#include "optimizer/axes/straighten_axes.h"
#include "optimizer/flips/orient_flips.h"
#include "optimizer/pairs/name_pairs.h"
#include "optimizer/pipeline.h"
#include "optimizer/strings/gather_strings.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

// Rewrites of what only a plan has: turns, gaps, the steps of a sweep. And those that a circuit is planned with as
// well.
constexpr std::array<std::string_view, 11> kPlannerRewrites{
    kNamePairs,        kOrientFlips,         kStraightenAxes, kGatherStrings, "move_flips", "split_controls",
    "recombine_flips", "recombine_controls", "fuse_matrices", "span_strings", "permute"};

void check_names(const std::vector<std::string>& disabled) {
  const std::vector<std::string_view> known = pass_names();
  for (const std::string& name : disabled) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string_view pass : known) list += (list.empty() ? "" : ", ") + std::string(pass);
    throw UsageError("unknown optimizer pass '" + name + "'", "known passes: " + list);
  }
}

// Lists, by operation of the rewritten circuit, the operations that it stands for.
void set_sources(Lowered& lowered, const Rewritten& rewritten) {
  lowered.source_begin.assign(rewritten.circuit.operations().size() + 1, 0);
  for (const std::uint32_t place : rewritten.place)
    if (place != kNoPlace) ++lowered.source_begin[place + 1];
  for (std::size_t i = 1; i < lowered.source_begin.size(); ++i) lowered.source_begin[i] += lowered.source_begin[i - 1];
  lowered.source_items.resize(lowered.source_begin.back());
  std::vector<std::uint32_t> next(lowered.source_begin.begin(), lowered.source_begin.end() - 1);
  for (std::uint32_t i = 0; i < rewritten.place.size(); ++i)
    if (rewritten.place[i] != kNoPlace) lowered.source_items[next[rewritten.place[i]]++] = i;
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : optimizer_passes()) names.push_back(pass.name);
  names.insert(names.end(), kPlannerRewrites.begin(), kPlannerRewrites.end());
  return names;
}

bool pass_enabled(const std::vector<std::string>& disabled, std::string_view name) {
  return std::find(disabled.begin(), disabled.end(), name) == disabled.end();
}

Lowered lower_optimized(const Circuit& circuit, const std::vector<std::string>& disabled) {
  Optimizer optimizer(circuit, false);
  return lower_optimized(optimizer, disabled);
}

Lowered lower_optimized(Optimizer& optimizer, const std::vector<std::string>& disabled, std::size_t choice) {
  check_names(disabled);
  const Circuit& circuit = optimizer.circuit();
  Rewritten rewritten;
  if (!circuit.measurements_are_terminal() || !optimizer.run(disabled, rewritten, choice)) {
    Lowered lowered = lower(circuit);
    lowered.weight = rewritten.cost;
    return lowered;
  }
  Lowered lowered = lower(rewritten.circuit);
  set_sources(lowered, rewritten);
  lowered.refused = rewritten.refused;
  lowered.recognised = rewritten.recognised;
  lowered.weight = rewritten.cost;
  lowered.gates = 0;
  for (LoweredOp& op : lowered.ops) {
    if (op.gates != 0) op.gates = static_cast<std::uint32_t>(lowered.sources(op.source).size());
    lowered.gates += op.gates;
  }
  const std::vector<RemovedGate> vanished = std::move(lowered.removed);
  lowered.removed.clear();
  for (const auto& [source, reason] : rewritten.removed) lowered.removed.push_back({source, reason});
  for (const RemovedGate& gate : vanished)
    for (const std::uint32_t source : lowered.sources(gate.source)) lowered.removed.push_back({source, gate.reason});
  lowered.gates += lowered.removed.size();
  if (!rewritten.wire_of.empty()) lowered.wire_of = std::move(rewritten.wire_of);
  return lowered;
}

}  // namespace qsim
