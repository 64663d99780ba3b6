// Dispatch to the planners, and the best of those that search.
#include "plan/make/make_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <optional>
#include <span>
#include <string_view>

#include "base/layout.h"
#include "circuit/circuit_analysis.h"
#include "optimizer/open/open_form.h"
#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/planners.h"
#include "plan/make/search.h"
#include "plan/once.h"
#include "plan/plan.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr std::size_t kSearchedTwice =
    4000;  // operations; longer circuits are searched once, and not also planned greedily
constexpr std::uint32_t kManyQubits = 20;  // smaller states are swept faster than a second search ends
constexpr std::string_view kExchanges = "recognise_exchanges";
constexpr std::size_t kSearchedThrice = 2000, kSearchedWhole = 20000;  // operations

void check_options(const Circuit& circuit, const PlanOptions& options) {
  const std::uint32_t qubits = circuit.qubits();
  if (qubits > static_cast<std::uint32_t>(kMaxQubits)) {
    throw CapacityError(std::to_string(qubits) + " qubits: an amplitude index holds at most " +
                            std::to_string(kMaxQubits) + "; use fewer qubits",
                        0, 0);
  }
  if (options.rank_bits > qubits) {
    throw UsageError("2^" + std::to_string(options.rank_bits) + " ranks for 2^" + std::to_string(qubits) +
                         " amplitudes: a rank needs at least one",
                     "use at most 2^" + std::to_string(qubits) + " ranks");
  }
  if (options.initial_layout) {
    std::vector<Bit> bits = options.initial_layout->bit_of;
    std::sort(bits.begin(), bits.end());
    if (bits != Layout::identity(static_cast<int>(qubits)).bit_of) {
      throw Error("PlanOptions::initial_layout is not a permutation of " + std::to_string(qubits) + " bits");
    }
  }
}

Plan dispatch(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  switch (options.strategy) {
    case Strategy::kNaive:
      return naive_plan(circuit, machine, options);
    case Strategy::kGreedy: {
      // Packed in order, turns of pairs are as a rule cheaper as they are written.
      PlanOptions written = options;
      written.disabled_passes.emplace_back(kExchanges);
      Optimizer optimizer(circuit, options.knows_zero());
      return greedy_plan(optimizer, machine, written);
    }
    case Strategy::kSearch:
      return search_plan(circuit, machine, options);
  }
  throw Error("unknown planner strategy " + std::to_string(static_cast<int>(options.strategy)));
}

Plan checked(Plan plan, const Circuit& circuit) {
  plan.unitarity_defect = unitarity_defect(circuit);
  verify_plan(plan);
  return plan;
}

}  // namespace

bool cheaper(const Plan& a, const Plan& b, const PlanOptions& options) {
  const PlanWork left = plan_work(a), right = plan_work(b);
  const auto bytes = [](const PlanWork& work) { return static_cast<double>(work.bytes_swept_per_rank); };
  const bool bytes_first = options.tile_bits.has_value() && options.rank_bits == 0;
  if (bytes_first && std::abs(bytes(left) - bytes(right)) > 0.03 * bytes(right)) return bytes(left) < bytes(right);
  return left.total_seconds < right.total_seconds;
}

namespace {

Lowered form_of(Optimizer& optimizer, const PlanOptions& options) {
  // The timeline would join split gates again; each sweep splits its own turns, beside its own diagonals.
  std::vector<std::string> left_out = options.disabled_passes;
  left_out.emplace_back("split_turns");
  return lower_optimized(optimizer, left_out);
}

/// Whether a plan whose controlled gates are not split may be better: where what splitting adds in turns does not join
/// turns beside them, and where it saves turns for many more diagonals. Of 131 circuits as they are searched it tells
/// 82 to try, of which 62 take less so; of the other 49 so do 14.
bool is_worth_whole(const Lowered& lowered) {
  const auto controlled = [](const LoweredOp& op) { return op.form != Form::kPhases && op.control_mask != 0; };
  if (lowered.ops.size() > kSearchedWhole || std::ranges::none_of(lowered.ops, controlled)) return false;
  const auto timeline = [&](bool split) {
    TimelineSource source;
    source.last = lowered.ops.size();
    source.split_controls = split;
    return build_timeline(lowered, source);
  };
  const Timeline whole = timeline(false), split = timeline(true);
  const auto is_beyond = [](std::size_t a, std::size_t b) {
    return static_cast<double>(a) > 1.02 * static_cast<double>(b);
  };
  const auto items = [](const Timeline& of) { return of.turns.size() + of.diagonals.size(); };
  return !is_beyond(whole.turns.size(), split.turns.size()) || is_beyond(items(whole), items(split));
}

Plan searched(const Lowered& lowered, Optimizer& optimizer, const Machine& machine, const PlanOptions& options,
              bool open) {
  check_targets_fit(lowered, lowered.qubits - options.rank_bits);
  std::optional<Plan> strings = string_plan(lowered, machine, options);
  std::optional<Plan> permuting = permutation_plan(lowered, machine, options);
  const auto best = [&](Plan plan) {
    for (std::optional<Plan>* const other : {&strings, &permuting}) {
      if (*other && cheaper(**other, plan, options)) plan = **std::move(other);
    }
    return plan;
  };
  const std::size_t size = lowered.ops.size();
  const bool try_whole = lowered.qubits >= kManyQubits && is_worth_whole(lowered);
  if (size > kSearchedTwice && !try_whole) return best(searched_plan(lowered, machine, options, {}));
  double at_hand = 1e300;
  for (const std::optional<Plan>* const plan : {&strings, &permuting}) {
    if (*plan) at_hand = std::min(at_hand, plan_work(**plan).total_seconds);
  }
  // A search counts sweeps and exchanges, not what is in them: schedules as short as each other differ in arithmetic
  // and in what they hide of an exchange, so two of them are held against each other. All are always made: the plan
  // must not depend on the machine that makes it.
  std::future<Plan> other;
  if (lowered.qubits >= kManyQubits) {
    other = std::async(std::launch::async, [&] {
      const SearchBeginning second{.seed = 2, .pack = true, .at_hand = at_hand};
      if (!try_whole) return searched_plan(lowered, machine, options, second);
      PlanOptions whole = options;
      whole.disabled_passes.emplace_back("split_controls");
      Plan plan = searched_plan(lowered, with_flips_in_a_row(machine), whole, second);
      if (size > kSearchedThrice) return plan;
      Plan split = searched_plan(lowered, machine, options, second);
      return cheaper(split, plan, options) ? split : plan;
    });
  }
  Plan plan = searched_plan(lowered, machine, options, {.at_hand = at_hand});
  // Packing in order may touch less memory while it is young.
  std::optional<Plan> greedy;
  if (!open && size <= kSearchedTwice) greedy = greedy_plan(optimizer, machine, options);
  if (other.valid()) {
    Plan second = other.get();
    if (cheaper(second, plan, options)) plan = std::move(second);
  }
  if (greedy && (options.knows_zero() || plan_work(*greedy).sweeps <= plan_work(plan).sweeps) &&
      cheaper(*greedy, plan, options))
    plan = *std::move(greedy);
  return best(std::move(plan));
}

}  // namespace

Plan search_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options, const Rewritten* form) {
  const bool open = form != nullptr;
  Optimizer optimizer(circuit, options.knows_zero(), form);
  const Lowered lowered = form_of(optimizer, options);
  Plan plan = searched(lowered, optimizer, machine, options, open);
  if (circuit.operations().size() > kFewOperations) return plan;
  double lightest = lowered.weight;
  int forms = 1;
  const auto try_without = [&](std::span<const std::string_view> passes, double hopeless = 4) {
    PlanOptions fewer = options;
    fewer.disabled_passes.insert(fewer.disabled_passes.end(), passes.begin(), passes.end());
    const Lowered other = form_of(optimizer, fewer);
    // What is so much heavier as it is written is not faster; where three forms are planned already less is.
    if (other.weight <= (forms < 3 ? hopeless : std::min(hopeless, 2.0)) * lightest) {
      ++forms;
      Plan without = searched(other, optimizer, machine, fewer, open);
      if (cheaper(without, plan, options)) plan = std::move(without);
    }
    lightest = std::min(lightest, other.weight);
    return other.recognised;
  };
  std::vector<std::string_view> recognised = lowered.recognised;
  const auto among = [&](std::string_view pass) { return std::ranges::find(recognised, pass) != recognised.end(); };
  // What was put together first may hide from sums over paths what they would have seen; turns around half turns may be
  // cheaper than flips where other turns are beside them.
  constexpr std::string_view kProducts = "gather_products", kChoices = "recognise_choices";
  constexpr std::array<std::string_view, 2> kFlips{"recognise_flips", "cancel_flips"};
  if (among(kProducts)) try_without({&kProducts, 1});
  if (among(kExchanges)) try_without({&kExchanges, 1}, 1.25);
  if (among(kFlips.front())) try_without(kFlips);
  // The pass that no other judges is first left out alone.
  if (among(kChoices)) recognised = try_without({&kChoices, 1});
  if (!recognised.empty()) try_without(recognising_passes());
  return plan;
}

Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  return checked(dispatch(circuit, machine, options), circuit);
}

std::optional<Plan> quick_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  const bool free = options.strategy == Strategy::kSearch && !options.tile_bits && options.disabled_passes.empty();
  const bool fits = circuit.qubits() <= kMostOnceBits && circuit.operations().size() <= kMostOnceOperations;
  if (!free || !fits || options.rank_bits != 0) return std::nullopt;
  PlanOptions whole = options;
  whole.tile_bits = circuit.qubits();
  Plan plan = written_plan(circuit, machine, whole);
  // A gate may be written as several operations.
  const auto is_short = [](const Sweep& sweep) { return sweep.ops.size() <= kMostOnceOperations; };
  if (!std::ranges::all_of(plan.stages.back().sweeps, is_short)) return std::nullopt;
  constexpr double kTranslated = 2;  // a plan that is looked for has to be translated too, which takes as long again
  if (plan_work(plan).total_seconds > kTranslated * planning_seconds(circuit)) return std::nullopt;
  return checked(std::move(plan), circuit);
}

double planning_seconds(const Circuit& circuit) {
  // Larger states are searched twice.
  const double an_operation = circuit.qubits() < kManyQubits ? 6e-6 : 20e-6;
  return an_operation * static_cast<double>(circuit.operations().size());
}

Plan make_open_plan(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point,
                    const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  const Rewritten form = open_form(circuit, angles, point);
  return checked(search_plan(circuit, machine, options, &form), circuit);
}

}  // namespace qsim
