// The list of passes and how their results are chained.
#include "optimizer/pipeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "optimizer/operations.h"

namespace qsim {
namespace {

constexpr std::array<std::string_view, 4> kRecognisers{"recognise_permutations", "recognise_multiplexers",
                                                       "recognise_choices", "recognise_products"};

constexpr std::array<Pass, 14> kPasses{{
    {"extract_controls", "turns matrices that act only where a qubit is 1 into controlled ones", extract_controls},
    {"relabel_swaps", "turns SWAP gates into new names of the qubits that follow", relabel_swaps},
    {"cancel_inverses", "drops neighbouring operations that undo each other", cancel_inverses},
    {"merge_controlled", "turns neighbours under the same controls into one matrix under them", merge_controlled},
    {"recognise_permutations", "turns Hadamard gates with phases between that only permute into flips and phases",
     recognise_permutations},
    {"gather_runs", "turns runs of gates on one qubit into one matrix, but phases beside CX gates", gather_runs},
    {"recognise_multiplexers", "turns rotations about Y between CX gates into rotations about parities",
     recognise_multiplexers},
    {"recognise_choices", "turns matrices between CX gates into rotations about parities around two turns",
     recognise_choices, true},
    {"recognise_rotations", "turns CX ladders around rotations about Z into rotations about parities",
     recognise_rotations},
    {"shorten_cx_networks", "turns CX gates with nothing else between them into fewer that do the same",
     shorten_cx_networks},
    {"merge_diagonals", "adds up equal diagonals between which there are only diagonals", merge_diagonals},
    {"recognise_products", "turns phases about parities into fewer phases of products", recognise_products},
    {"merge_runs", "turns runs of gates on one qubit into one matrix", merge_runs},
    {"split_turns", "turns general gates beside diagonals into phases around a real rotation", split_turns},
}};
constexpr std::size_t kPreparation = 4, kRecognised = 12;  // where recognition begins and ends in the list
static_assert(kPasses[kPreparation].name == kRecognisers.front() &&
              kPasses[kRecognised - 1].name == kRecognisers.back());

/// `result`, where it is `changed` already, and then `next`.
void chain(Rewritten& result, bool& changed, Rewritten next) {
  if (!std::exchange(changed, true)) {
    result = std::move(next);
    return;
  }
  std::vector<const char*> reason(next.place.size(), nullptr);
  for (const auto& [source, why] : next.removed) reason[source] = why;
  for (std::uint32_t i = 0; i < result.place.size(); ++i) {
    std::uint32_t& place = result.place[i];
    if (place == kNoPlace) continue;
    if (next.place[place] == kNoPlace) result.removed.emplace_back(i, reason[place]);
    place = next.place[place];
  }
  if (result.wire_of.empty()) {
    result.wire_of = std::move(next.wire_of);
  } else if (!next.wire_of.empty()) {
    for (Qubit& wire : result.wire_of) wire = next.wire_of[wire];
  }
  result.refused += next.refused;
  result.recognised.insert(result.recognised.end(), next.recognised.begin(), next.recognised.end());
  result.circuit = std::move(next.circuit);
}

bool recognises(const Pass& pass) { return std::ranges::find(kRecognisers, pass.name) != kRecognisers.end(); }

/// `passes` in their order, over `circuit`. False when nothing changed.
bool run_passes(std::span<const Pass> passes, const std::vector<std::string_view>& disabled, const Circuit& circuit,
                Rewritten& result) {
  bool changed = false;
  double cost = circuit_cost(circuit);
  for (const Pass& pass : passes) {
    if (std::ranges::find(disabled, pass.name) != disabled.end()) continue;
    Rewritten next;
    if (!pass.run(changed ? result.circuit : circuit, next)) continue;
    const double now = circuit_cost(next.circuit);
    const bool judged_by_plan = pass.weighs_itself && circuit.operations().size() <= kFewOperations;
    if (now > cost * (1 + 1e-9) && !judged_by_plan) continue;
    cost = now;
    if (recognises(pass)) next.recognised = {pass.name};
    chain(result, changed, std::move(next));
  }
  return changed;
}

}  // namespace

std::span<const Pass> optimizer_passes() { return kPasses; }
std::span<const std::string_view> recognising_passes() { return kRecognisers; }

bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result,
              const Rewritten* form) {
  const std::span<const Pass> passes = kPasses;
  const std::span<const Pass> first = passes.first(kPreparation), last = passes.subspan(kRecognised);
  const std::span<const Pass> recognition = passes.subspan(kPreparation, kRecognised - kPreparation);
  std::vector<std::string_view> left_out(disabled.begin(), disabled.end());

  bool changed = form != nullptr;
  if (changed) result = *form;
  const auto so_far = [&]() -> const Circuit& { return changed ? result.circuit : circuit; };

  Rewritten next;
  if (run_passes(first, left_out, so_far(), next)) chain(result, changed, std::move(next));
  next = Rewritten();
  bool found = false;
  const auto enabled = [&](std::string_view pass) { return std::ranges::find(left_out, pass) == left_out.end(); };
  if (std::ranges::any_of(kRecognisers, enabled)) found = run_passes(recognition, left_out, so_far(), next);
  if (next.recognised.empty() && circuit.operations().size() <= kFewOperations) {
    // Without what it prepares for, the preparation is of little use: at times it hides what the other passes find.
    left_out.insert(left_out.end(), kRecognisers.begin(), kRecognisers.end());
    left_out.push_back("gather_runs");
    next = Rewritten();
    found = run_passes(recognition, left_out, so_far(), next);
  }
  if (found) chain(result, changed, std::move(next));
  next = Rewritten();
  if (run_passes(last, left_out, so_far(), next)) chain(result, changed, std::move(next));
  return changed;
}

}  // namespace qsim
