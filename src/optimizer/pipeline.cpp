// The list of passes and how their results are chained.
#include "optimizer/pipeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "optimizer/operations.h"

namespace qsim {
namespace {

constexpr std::array<std::string_view, 10> kRecognisers{
    "gather_products",    "recognise_exchanges",  "recognise_permutations", "recognise_flips",
    "cancel_flips",       "recognise_controlled", "recognise_multiplexers", "recognise_choices",
    "recognise_products", "join_controlled"};

constexpr std::string_view kCancelFlips = "cancel_flips";
constexpr double kSaving = 0.05, kCancelled = 0.005;  // parts of a circuit's weight

constexpr std::array<Pass, 23> kPasses{{
    {"absorb_flips", absorb_compiled_flips},
    {"name_turns", name_turns},
    {"extract_controls", extract_controls},
    {"relabel_swaps", relabel_swaps},
    {"cancel_inverses", cancel_inverses},
    {"recognise_exchanges", recognise_exchanges},
    {"gather_products", gather_products, nullptr, false, kSaving},
    {"merge_controlled", merge_controlled},
    {"recognise_permutations", recognise_permutations, recognise_permutations_from_zero},
    {"recognise_flips", recognise_flips},
    {"cancel_flips", cancel_flips},
    {"recognise_controlled", recognise_controlled, nullptr, false, kSaving},
    {"gather_runs", gather_runs},
    {"recognise_multiplexers", recognise_multiplexers},
    {"recognise_choices", recognise_choices, nullptr, true},
    {"recognise_rotations", recognise_rotations},
    {"shorten_cx_networks", shorten_cx_networks},
    {"merge_diagonals", merge_diagonals},
    {"recognise_products", recognise_products},
    {"join_controlled", join_controlled},
    {"split_pairs", split_pairs},
    {"merge_runs", merge_runs},
    {"split_turns", split_turns},
}};
// Places in the list where what several sets of passes share ends, with the dearest pass, where recognition ends, and
// of the pass that searches go without and packing in order does not.
constexpr std::size_t kProducts = 6, kShared = 11, kRecognised = 20, kLast = kPasses.size() - 1;
static_assert(kPasses[kProducts].name == kRecognisers[0] && kPasses[kShared - 1].name == kRecognisers[4] &&
              kPasses[kRecognised - 1].name == kRecognisers.back() && kPasses[kLast].name == "split_turns");

bool is_among(std::string_view name, const auto& names) { return std::ranges::find(names, name) != std::end(names); }

PassSet set_of(const auto& names) {
  PassSet set = 0;
  for (std::size_t i = 0; i < kPasses.size(); ++i) set |= is_among(kPasses[i].name, names) ? PassSet{1} << i : 0;
  return set;
}

}  // namespace

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
  result.cost = next.cost;
}

std::span<const Pass> optimizer_passes() { return kPasses; }
std::span<const std::string_view> recognising_passes() { return kRecognisers; }

void Optimizer::run_passes(std::size_t first, std::size_t end, PassSet left_out, Rewritten& result,
                           bool& changed) const {
  for (std::size_t i = first; i < end; ++i) {
    if ((left_out >> i & 1) != 0) continue;
    const Pass& pass = kPasses[i];
    Rewritten next;
    const auto saves = [&](auto rewrite) {
      next = {};
      if (rewrite == nullptr || !rewrite(changed ? result.circuit : circuit_, next)) return false;
      next.cost = circuit_cost(next.circuit);
      const bool judged_by_plan = pass.weighs_itself && is_short();
      return next.cost <= result.cost * (1 + 1e-9 - pass.least_saving) || judged_by_plan;
    };
    if (!(from_zero_ && saves(pass.run_from_zero)) && !saves(pass.run)) continue;
    if (is_among(pass.name, kRecognisers)) next.recognised = {pass.name};
    chain(result, changed, std::move(next));
  }
}

const Optimizer::Made& Optimizer::beginning(PassSet left_out) {
  const auto [found, fresh] = beginnings_.try_emplace(left_out & ((PassSet{1} << kShared) - 1));
  Made& beginning = found->second;
  if (!fresh) return beginning;
  if (form_ != nullptr) beginning = {*form_, true};
  beginning.result.cost = circuit_cost(form_ != nullptr ? form_->circuit : circuit_);
  run_passes(0, kProducts, left_out, beginning.result, beginning.changed);
  Made gathered = beginning;
  run_passes(kProducts, kProducts + 1, left_out, gathered.result, gathered.changed);
  // What sums over paths make of either decides: at times they see more in CX gates and phases.
  const bool more = !gathered.result.recognised.empty();
  if (more) run_passes(kProducts + 1, kShared, left_out, gathered.result, gathered.changed);
  run_passes(kProducts + 1, kShared, left_out, beginning.result, beginning.changed);
  if (more && gathered.result.cost < beginning.result.cost) beginning = std::move(gathered);
  return beginning;
}

Optimizer::Made Optimizer::run_without(PassSet left_out) {
  const PassSet recognisers = set_of(kRecognisers);
  // Without what it prepares for, the preparation is of little use: at times it hides what the other passes find.
  const PassSet in_vain = recognisers | set_of(std::array{std::string_view("gather_runs")});
  if ((recognisers & ~left_out) == 0) left_out |= in_vain;
  const auto until_recognised = [&] {
    Made made = beginning(left_out);
    run_passes(kShared, kRecognised, left_out, made.result, made.changed);
    return made;
  };
  Made made = until_recognised();
  if (made.result.recognised.empty() && is_short() && (in_vain & ~left_out) != 0) {
    left_out |= in_vain;
    made = until_recognised();
  }
  run_passes(kRecognised, kLast, left_out, made.result, made.changed);
  return made;
}

Optimizer::Made Optimizer::until_last(PassSet left_out) {
  const PassSet and_cancel_flips = left_out | set_of(std::array{kCancelFlips});
  if (!is_short()) return run_without(and_cancel_flips);
  const auto [found, fresh] = made_.try_emplace(left_out);
  Made& made = found->second;
  if (!fresh) return made;
  made = run_without(left_out);
  // What is gone from a ladder of CX gates hides the parity that it is for.
  if (!is_among(kCancelFlips, made.result.recognised)) return made;
  Made whole = run_without(and_cancel_flips);
  if (whole.result.cost < made.result.cost * (1 + kCancelled)) made = std::move(whole);
  return made;
}

bool Optimizer::run(const std::vector<std::string>& disabled, Rewritten& result) {
  const PassSet left_out = set_of(disabled);
  return operations() < 2 * part_operations_ ? run_whole(left_out, result) : run_in_parts(left_out, result);
}

bool Optimizer::run_whole(PassSet left_out, Rewritten& result) {
  Made made = until_last(left_out | PassSet{1} << kLast);
  run_passes(kLast, kPasses.size(), left_out, made.result, made.changed);
  result = std::move(made.result);
  return made.changed;
}

bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result) {
  return Optimizer(circuit, false).run(disabled, result);
}

}  // namespace qsim
