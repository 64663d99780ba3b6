// The list of passes and how their results are chained.
#include "optimizer/pipeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/threads/thread_team.h"
#include "optimizer/operations.h"

namespace qsim {
namespace {

constexpr std::array<std::string_view, 10> kRecognisers{
    "gather_products",    "recognise_exchanges",  "recognise_permutations", "recognise_flips",
    "cancel_flips",       "recognise_controlled", "recognise_multiplexers", "recognise_choices",
    "recognise_products", "join_controlled"};

constexpr std::string_view kCancelFlips = "cancel_flips", kPermutations = "recognise_permutations";
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
    {"recognise_permutations", nullptr, recognise_permutations},
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
constexpr std::size_t kProducts = 6, kPermuted = 9, kShared = 11, kRecognised = 20, kLast = kPasses.size() - 1;
static_assert(kPasses[kProducts].name == kRecognisers[0] && kPasses[kPermuted - 1].name == kPermutations &&
              kPasses[kShared - 1].name == kRecognisers[4] && kPasses[kRecognised - 1].name == kRecognisers.back() &&
              kPasses[kLast].name == "split_turns");

constexpr PassSet bit_of(std::size_t pass) { return PassSet{1} << pass; }

bool is_among(std::string_view name, const auto& names) { return std::ranges::find(names, name) != std::end(names); }

PassSet set_of(const auto& names) {
  PassSet set = 0;
  for (std::size_t i = 0; i < kPasses.size(); ++i) set |= is_among(kPasses[i].name, names) ? bit_of(i) : 0;
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

std::vector<Rewritten> Pass::run(const Circuit& circuit, bool from_zero) const {
  if (make_several != nullptr) return make_several(circuit, from_zero);
  std::vector<Rewritten> found(1);
  if (!make(circuit, found.front())) found.clear();
  return found;
}

std::span<const Pass> optimizer_passes() { return kPasses; }
std::span<const std::string_view> recognising_passes() { return kRecognisers; }

double Optimizer::cost_of(const Circuit& permuted) const {
  return is_short() ? cost_in_pieces(permuted) : circuit_cost(permuted);
}

void Optimizer::run_passes(std::size_t first, std::size_t end, PassSet left_out, Made& made,
                           std::vector<Made>* others) const {
  for (std::size_t i = first; i < end; ++i) {
    if ((left_out & bit_of(i)) != 0) continue;
    const Pass& pass = kPasses[i];
    const Circuit& before = made.changed ? made.result.circuit : circuit_;
    std::vector<Rewritten> found = pass.run(before, from_zero_);
    for (Rewritten& next : found) next.cost = circuit_cost(next.circuit);
    std::erase_if(found, [&](const Rewritten& next) {
      const bool judged_by_plan = pass.weighs_itself && is_short();
      return next.cost > made.result.cost * (1 + 1e-9 - pass.least_saving) && !judged_by_plan;
    });
    if (found.empty()) continue;
    if (found.size() > 1) {
      std::ranges::stable_sort(found, {}, [&](const Rewritten& next) { return cost_of(next.circuit); });
    }
    const auto take = [&](Rewritten& next, Made& into) {
      if (is_among(pass.name, kRecognisers)) next.recognised = {pass.name};
      chain(into.result, into.changed, std::move(next));
    };
    for (std::size_t k = 1; k < found.size() && others != nullptr; ++k) {
      others->push_back(made);
      take(found[k], others->back());
      run_passes(i + 1, end, left_out, others->back());
    }
    take(found.front(), made);
  }
}

std::vector<Optimizer::Made> Optimizer::permuted(Made made, std::size_t first, PassSet left_out) const {
  std::vector<Made> choices;
  run_passes(first, kPermuted, left_out, made, is_short() ? &choices : nullptr);
  choices.insert(choices.begin(), std::move(made));
  return choices;
}

const std::vector<Optimizer::Made>& Optimizer::beginning(PassSet left_out) {
  const auto [found, fresh] = beginnings_.try_emplace(left_out & (bit_of(kShared) - 1));
  std::vector<Made>& choices = found->second;
  if (!fresh) return choices;
  // What sums over paths make of either decides: at times they see more in CX gates and phases.
  const std::array<PassSet, 2> sets{left_out | bit_of(kProducts), left_out};
  std::array<Made, 2> before;
  Made& written = before[0];
  if (form_ != nullptr) written = {*form_, true};
  written.result.cost = circuit_cost(form_ != nullptr ? form_->circuit : circuit_);
  run_passes(0, kProducts, left_out, written);
  Made& gathered = before[1] = written;
  run_passes(kProducts, kProducts + 1, left_out, gathered);
  const std::size_t ways = is_among(kPasses[kProducts].name, gathered.result.recognised) ? 2 : 1;
  std::array<std::vector<Made>, 2> seen;
  ThreadTeam(std::min(affinity_threads(), static_cast<int>(ways))).run(ways, [&](std::uint64_t k, int) {
    const auto known = permuted_.find(sets[k] & (bit_of(kPermuted) - 1));
    seen[k] = known != permuted_.end() ? known->second : permuted(std::move(before[k]), kProducts + 1, sets[k]);
  });
  for (std::size_t k = 0; k < ways; ++k) {
    permuted_.try_emplace(sets[k] & (bit_of(kPermuted) - 1), seen[k]);
    for (Made& made : seen[k]) run_passes(kPermuted, kShared, sets[k], made);
  }
  choices = std::move(seen[0]);
  if (ways == 1) return choices;
  const auto is_less = [&](const Made& a, const Made& b) {
    const bool permutes = is_among(kPermutations, a.result.recognised) || is_among(kPermutations, b.result.recognised);
    const auto cost = [&](const Made& of) {
      return permutes ? cost_of(of.changed ? of.result.circuit : circuit_) : of.result.cost;
    };
    return cost(a) < cost(b);
  };
  if (is_less(seen[1].front(), choices.front())) std::swap(seen[1], choices);
  // What is lighter, but in more pieces, may be better where pieces do not matter.
  const bool lighter = seen[1].front().result.cost < choices.front().result.cost;
  choices.insert(choices.end(), seen[1].begin() + (lighter ? 0 : 1), seen[1].end());
  std::stable_sort(choices.begin() + 1, choices.end(), is_less);
  return choices;
}

std::size_t Optimizer::choices(const std::vector<std::string>& disabled) {
  return is_short() && operations() < 2 * part_operations_ ? beginning(set_of(disabled)).size() : 1;
}

Optimizer::Made Optimizer::run_without(PassSet left_out, std::size_t choice) {
  const PassSet recognisers = set_of(kRecognisers);
  // Without what it prepares for, the preparation is of little use: at times it hides what the other passes find.
  const PassSet in_vain = recognisers | set_of(std::array{std::string_view("gather_runs")});
  if ((recognisers & ~left_out) == 0) left_out |= in_vain;
  const auto until_recognised = [&] {
    // Without recognisers there may be fewer.
    const std::vector<Made>& choices = beginning(left_out);
    Made made = choices[choice < choices.size() ? choice : 0];
    run_passes(kShared, kRecognised, left_out, made);
    return made;
  };
  Made made = until_recognised();
  if (made.result.recognised.empty() && is_short() && (in_vain & ~left_out) != 0) {
    left_out |= in_vain;
    made = until_recognised();
  }
  run_passes(kRecognised, kLast, left_out, made);
  return made;
}

Optimizer::Made Optimizer::until_last(PassSet left_out, std::size_t choice) {
  const PassSet and_cancel_flips = left_out | set_of(std::array{kCancelFlips});
  if (!is_short()) return run_without(and_cancel_flips, choice);
  const auto [found, fresh] = made_.try_emplace({left_out, choice});
  Made& made = found->second;
  if (!fresh) return made;
  made = run_without(left_out, choice);
  // What is gone from a ladder of CX gates hides the parity that it is for.
  if (choice > 0 || !is_among(kCancelFlips, made.result.recognised)) return made;
  Made whole = run_without(and_cancel_flips, choice);
  if (whole.result.cost < made.result.cost * (1 + kCancelled)) made = std::move(whole);
  return made;
}

bool Optimizer::run(const std::vector<std::string>& disabled, Rewritten& result, std::size_t choice) {
  const PassSet left_out = set_of(disabled);
  return operations() < 2 * part_operations_ ? run_whole(left_out, result, choice) : run_in_parts(left_out, result);
}

bool Optimizer::run_whole(PassSet left_out, Rewritten& result, std::size_t choice) {
  Made made = until_last(left_out | bit_of(kLast), choice);
  run_passes(kLast, kPasses.size(), left_out, made);
  result = std::move(made.result);
  return made.changed;
}

bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result) {
  return Optimizer(circuit, false).run(disabled, result);
}

}  // namespace qsim
