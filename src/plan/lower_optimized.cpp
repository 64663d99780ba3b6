// Chains optimizer and lowering so that every gate of the circuit stays accounted for.
#include "plan/lower_optimized.h"

#include <algorithm>
#include <array>

#include "optimizer/pipeline.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::array<std::string_view, 4> kPlannerPasses{"merge_runs", "move_flips", "merge_diagonals",
                                                         "split_controls"};

void check_names(const std::vector<std::string>& disabled) {
  const std::vector<std::string_view> known = pass_names();
  for (const std::string& name : disabled) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string_view pass : known) list += (list.empty() ? "" : ", ") + std::string(pass);
    throw UsageError("unknown optimizer pass '" + name + "'", "known passes: " + list);
  }
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : optimizer_passes()) names.push_back(pass.name);
  names.insert(names.end(), kPlannerPasses.begin(), kPlannerPasses.end());
  return names;
}

Lowered lower_optimized(const Circuit& circuit, const std::vector<std::string>& disabled) {
  check_names(disabled);
  Rewritten rewritten;
  if (!circuit.measurements_are_terminal() || !optimize(circuit, disabled, rewritten)) return lower(circuit);
  Lowered lowered = lower(rewritten.circuit);
  // A second operation with the same origin stands for no gate of its own.
  const auto extra = [&](std::uint32_t source) {
    return source > 0 && rewritten.origin[source] == rewritten.origin[source - 1];
  };
  lowered.gates = rewritten.removed.size();
  for (LoweredOp& op : lowered.ops) {
    if (extra(op.source)) op.gates = 0;
    op.source = rewritten.origin[op.source];
    lowered.gates += op.gates;
  }
  std::erase_if(lowered.removed, [&](const RemovedGate& gate) { return extra(gate.source); });
  for (RemovedGate& gate : lowered.removed) gate.source = rewritten.origin[gate.source];
  lowered.gates += lowered.removed.size();
  for (const auto& [source, reason] : rewritten.removed) lowered.removed.push_back({source, reason});
  return lowered;
}

}  // namespace qsim
