// The best of the plans that several searches find of several forms of a circuit. A search counts sweeps and exchanges,
// not what is in them: schedules as short as each other differ in arithmetic and in what they hide of an exchange, so
// they are held against each other by what is predicted. All are always made, on as many threads as there are: a plan
// must not depend on the machine that makes it.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <future>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/threads/thread_team.h"
#include "optimizer/axes/axis_form.h"
#include "optimizer/axes/straighten_axes.h"
#include "optimizer/flips/orient_flips.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/name_pairs.h"
#include "optimizer/paths/path_steps.h"
#include "optimizer/pipeline.h"
#include "optimizer/strings/gather_strings.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/planners.h"
#include "plan/make/search.h"
#include "plan/plan.h"
#include "plan/timeline/timeline.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

// Operations of circuits that are searched so often; those that are searched once are not packed in order as well.
constexpr std::size_t kSearchedTwice = 4000, kSearchedThrice = 2000, kSearchedWhole = 20000;

// Weights beside those of the circuit as it is written with which one with straight axes, or of strings, is planned as
// well, and, of gates about no axis, alone.
constexpr double kMuchLighter = 0.9, kNotHopeless = 2, kAlone = 0.75, kHalf = 0.5;
constexpr double kOfStructure = 1.6;
constexpr std::size_t kMostChoices = 4;
// The same of strings: ladders of CX gates and what they leave of each other may weigh as much as the strings and take
// more sweeps.
constexpr double kHardlyHeavier = 1.05;
constexpr std::size_t kMostStraightened = 400'000;  // operations
// A long circuit has its axes straightened where its pairs are so many times fewer then; a short one whose pairs turn
// about other letters than Z is planned so beside others.
constexpr std::size_t kPairsOfOne = 3, kPairsOfOneOfFew = 2;

// A plan that takes so many times as long with what births add is looked for once more with whole lines: every one but
// those of long circuits; and what another one takes at most to be worth it.
constexpr double kDearBirths = 1.001, kMuchLess = 0.97;

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

/// Where the second of two searches begins.
SearchBeginning packed(std::shared_future<double> at_hand = {}) {
  return {.seed = 2, .pack = true, .pairs = Pairs::kLeft, .at_hand = std::move(at_hand)};
}

class Tasks {
 public:
  void add(std::function<void()> task) { tasks_.push_back(std::move(task)); }
  /// Does all of them.
  void run(int threads) {
    ThreadTeam team(std::min(threads, std::max(1, static_cast<int>(tasks_.size()))));
    team.run(tasks_.size(), [&](std::uint64_t task, int) { tasks_[task](); });
    tasks_.clear();
  }

 private:
  std::vector<std::function<void()>> tasks_;
};

/// Seconds of the best of several plans, known when none of them is in the making any more: nobody holds it then.
class AtHand {
 public:
  ~AtHand() { seconds_.set_value(least_); }
  std::shared_future<double> seconds() { return seconds_.get_future().share(); }
  void add(double seconds) {
    const std::scoped_lock lock(mutex_);
    least_ = std::min(least_, seconds);
  }

 private:
  std::mutex mutex_;
  double least_ = std::numeric_limits<double>::infinity();
  std::promise<double> seconds_;
};

/// What births add hardly differs between schedules, but for whole lines: they are looked for as if it were nothing,
/// and plans are chosen from by all that they cost.
struct Machines {
  const Machine &level, &priced;
};

/// A way to write the circuit, and the plans that are made of it.
class Written {
 public:
  /// `options`: with the passes that are left out here. `in_order`: it may be packed in order as well, by the greedy
  /// planner, which multiplies as it goes.
  Written(Lowered of, Optimizer& optimizer, const Machines& machines, const PlanOptions& options, bool in_order = true)
      : lowered_(std::move(of)), machine_(machines.level), priced_(machines.priced), options_(options) {
    check_targets_fit(lowered_, lowered_.qubits - options_.rank_bits);
    if (in_order && lowered_.ops.size() <= kSearchedTwice) {
      in_order_ = lower_optimized(optimizer, options_.disabled_passes);
    }
  }

  const Lowered& lowered() const { return lowered_; }

  void add_look(Tasks& tasks) {
    tasks.add([this] { worth_whole_ = lowered_.qubits >= kManyQubits && is_worth_whole(lowered_); });
  }

  /// Plans of other kinds than searches find, of all ways before any search, which may wait for them.
  void add_others(Tasks& tasks, const std::shared_ptr<AtHand>& at_hand) {
    const auto add = [&](std::optional<Plan>& plan, auto make) {
      tasks.add([this, &plan, make, held = at_hand]() mutable {
        const std::shared_ptr<AtHand> until_made = std::move(held);
        plan = make(lowered_, machine_, options_);
        if (!plan) return;
        predict(*plan, priced_);
        until_made->add(plan_work(*plan).total_seconds);
      });
    };
    add(strings_, string_plan);
    add(permuting_, permutation_plan);
  }

  /// After the look. `at_hand`: seconds of what is there without searches.
  void add_searches(Tasks& tasks, const std::shared_future<double>& at_hand) {
    const std::size_t size = lowered_.ops.size();
    if (size > kSearchedTwice && !worth_whole_)
      return add_search(tasks, first_, options_, {});  // whatever is beside it
    const SearchBeginning first{.at_hand = at_hand}, second = packed(at_hand);
    if (worth_whole_) {
      PlanOptions whole = options_;
      whole.disabled_passes.emplace_back("split_controls");
      tasks.add([this, whole, beginning = second]() mutable {
        const Machine priced = with_flips_in_a_row(priced_);
        beginning.priced = &priced;
        whole_ = searched_plan(lowered_, with_flips_in_a_row(machine_), whole, beginning);
      });
    }
    add_search(tasks, first_, options_, first);
    const bool again = !worth_whole_ || size <= kSearchedThrice;
    if (again && lowered_.qubits >= kManyQubits) add_search(tasks, second_, options_, second);
    // Packing in order may touch less memory while it is young.
    if (!in_order_) return;
    tasks.add([this] {
      greedy_ = greedy_plan(*in_order_, machine_, options_);
      predict(*greedy_, priced_);
    });
  }

  /// The best that searches find for `machine` instead.
  Plan searched_for(const Machine& machine, int threads) const {
    std::array<std::optional<Plan>, 2> found;
    Tasks tasks;
    tasks.add([&] { found[0] = searched_plan(lowered_, machine, options_, {}); });
    tasks.add([&] { found[1] = searched_plan(lowered_, machine, options_, packed()); });
    tasks.run(threads);
    return cheaper(*found[1], *found[0], options_) ? *std::move(found[1]) : *std::move(found[0]);
  }

  /// After the searches.
  Plan best() {
    Plan plan = *std::move(first_);
    if (whole_ && second_ && cheaper(*second_, *whole_, options_)) whole_.reset();
    for (std::optional<Plan>* const other : {&whole_, &second_}) {
      if (!*other) continue;
      if (cheaper(**other, plan, options_)) plan = **std::move(other);
      break;
    }
    const auto sweeps = [](const Plan& of) { return plan_work(of).sweeps; };
    if (greedy_ && (options_.knows_zero() || sweeps(*greedy_) <= sweeps(plan)) && cheaper(*greedy_, plan, options_)) {
      plan = *std::move(greedy_);
    }
    for (std::optional<Plan>* const other : {&strings_, &permuting_}) {
      if (*other && cheaper(**other, plan, options_)) plan = **std::move(other);
    }
    return plan;
  }

 private:
  void add_search(Tasks& tasks, std::optional<Plan>& plan, const PlanOptions& options, SearchBeginning beginning) {
    beginning.priced = &priced_;
    tasks.add([this, &plan, &options, beginning] { plan = searched_plan(lowered_, machine_, options, beginning); });
  }

  const Lowered lowered_;
  std::optional<Lowered> in_order_;  // for packing in order
  const Machine &machine_, &priced_;
  const PlanOptions options_;
  bool worth_whole_ = false;
  std::optional<Plan> strings_, permuting_, first_, second_, whole_, greedy_;
};

Lowered form_of(Optimizer& optimizer, const PlanOptions& options, std::size_t choice = 0) {
  // The timeline would join split gates again; each sweep splits its own turns, beside its own diagonals.
  std::vector<std::string> left_out = options.disabled_passes;
  left_out.emplace_back("split_turns");
  return lower_optimized(optimizer, left_out, choice);
}

bool has_turned_pairs(const Circuit& circuit) {
  return std::ranges::any_of(circuit.operations(), [](const Operation& op) {
    return op.kind == OpKind::kGate && (op.gate == Gate::kRxx || op.gate == Gate::kRyy);
  });
}

enum class Way : std::uint8_t { kCircuit, kOpen, kStraight };

struct Ways {
  std::list<Written> all;  // the first one is the circuit after all passes
  double lightest = 0;     // of their weights
};

/// The circuit after all passes, `lowered`, and without some where those that gave back structure may hide other
/// structure.
Ways ways_of(Lowered lowered, Optimizer& optimizer, const Machines& machines, const PlanOptions& options, Way way) {
  Ways made{{}, lowered.weight};
  std::list<Written>& ways = made.all;
  double& lightest = made.lightest;
  std::vector<std::string_view> recognised = lowered.recognised;
  const bool in_order = way != Way::kOpen;
  ways.emplace_back(std::move(lowered), optimizer, machines, options, in_order);
  if (!optimizer.is_short()) return made;
  const auto try_without = [&](std::span<const std::string_view> passes, double hopeless = 4) {
    PlanOptions fewer = options;
    fewer.disabled_passes.insert(fewer.disabled_passes.end(), passes.begin(), passes.end());
    Lowered other = form_of(optimizer, fewer);
    // What is so much heavier as it is written is not faster; where three forms are planned already less is.
    const bool worth = other.weight <= (ways.size() < 3 ? hopeless : std::min(hopeless, 2.0)) * lightest;
    lightest = std::min(lightest, other.weight);
    std::vector<std::string_view> found = other.recognised;
    if (worth) ways.emplace_back(std::move(other), optimizer, machines, fewer, in_order);
    return found;
  };
  const auto among = [&](std::string_view pass) { return std::ranges::find(recognised, pass) != recognised.end(); };
  // What was put together first may hide from sums over paths what they would have seen; turns around half turns may be
  // cheaper than flips where other turns are beside them.
  constexpr std::string_view kProducts = "gather_products", kChoices = "recognise_choices",
                             kExchanges = "recognise_exchanges", kJoined = "join_controlled";
  constexpr std::array<std::string_view, 2> kFlips{"recognise_flips", "cancel_flips"};
  if (among(kProducts)) try_without({&kProducts, 1});
  if (among(kExchanges)) try_without({&kExchanges, 1}, 1.25);
  if (among(kJoined) && recognised.size() > 1) try_without({&kJoined, 1}, 1.25);
  if (among(kFlips.front())) try_without(kFlips);
  // The pass that no other judges is first left out alone.
  if (among(kChoices)) recognised = try_without({&kChoices, 1});
  // Without any the one with straight axes has nothing before the circuit.
  if (!recognised.empty() && way != Way::kStraight) try_without(recognising_passes());
  return made;
}

/// Other forms of a circuit, and whether that or one of them is of few operations.
struct OtherForms {
  const Circuit& written;
  const Machines& machines;
  const PlanOptions& options;
  std::list<Written> ways;
  bool few = false;
  double lightest = 0;                            // of all weights
  std::optional<Rewritten> named = std::nullopt;  // with its gates on pairs as CZ gates

  bool may(std::string_view pass) const { return pass_enabled(options.disabled_passes, pass); }
  /// What the forms are made of.
  const Circuit& circuit() const { return named ? named->circuit : written; }
  /// What is made of that, as a form of the circuit as it is written.
  Rewritten form(Rewritten made) const {
    if (!named) return made;
    Rewritten whole = *named;
    bool changed = true;
    chain(whole, changed, std::move(made));
    return whole;
  }
};

/// What sums over paths may make as well is planned beside the lightest: by how many run at once, and from zero by
/// whether they know it, they leave turns that others see gone.
void add_choices(const Written& lightest, Optimizer& optimizer, OtherForms& others) {
  std::vector<double> weights{lightest.lowered().weight};
  const std::size_t choices = std::min(kMostChoices, optimizer.choices(others.options.disabled_passes));
  for (std::size_t choice = 1; choice < choices; ++choice) {
    Lowered lowered = form_of(optimizer, others.options, choice);
    const double weight = lowered.weight;
    if (weight >= kOfStructure * weights.front() || std::ranges::find(weights, weight) != weights.end()) continue;
    weights.push_back(weight);
    others.ways.emplace_back(std::move(lowered), optimizer, others.machines, others.options, false);
  }
}

/// As rotations about Pauli strings, where that is hardly more.
void add_strings(const AxisForm& axis, double lightest, OtherForms& others) {
  Rewritten strings;
  if (!others.may(kGatherStrings) || !gather_strings(others.circuit(), axis, strings)) return;
  const Rewritten form = others.form(std::move(strings));
  Optimizer of_strings(others.written, others.options.knows_zero(), &form);
  Lowered lowered = form_of(of_strings, others.options);
  if (lowered.weight >= kHardlyHeavier * lightest) return;
  others.ways.emplace_back(std::move(lowered), of_strings, others.machines, others.options);
}

/// With the targets of flips chosen anew, where that is less or gives back structure; of short circuits of CX gates,
/// whose targets somebody chose, where it is half as it stands. Of long circuits it is all that is planned then.
void add_oriented(Ways& written, OtherForms& others) {
  Rewritten oriented;
  if (!others.may(kOrientFlips)) return;
  if (!orient_flips(others.circuit(), oriented)) {
    if (!others.few) return;
    Rewritten chosen;
    bool changed = true;
    flips_between_hadamards(others.circuit(), oriented);
    if (!orient_flips(oriented.circuit, chosen) || chosen.cost >= kHalf * written.lightest) return;
    chain(oriented, changed, std::move(chosen));
  }
  const Rewritten form = others.form(std::move(oriented));
  Optimizer of_oriented(others.written, others.options.knows_zero(), &form);
  Lowered lowered = form_of(of_oriented, others.options);
  others.lightest = std::min(others.lightest, lowered.weight);
  const double worth = lowered.recognised.empty() ? kMuchLighter : kNotHopeless;
  if (lowered.weight < worth * written.lightest) {
    others.ways = ways_of(std::move(lowered), of_oriented, others.machines, others.options, Way::kStraight).all;
    add_choices(others.ways.front(), of_oriented, others);
    if (!others.few) written.all.clear();
  }
  others.few = others.few || of_oriented.is_short();
}

/// Whether gates of pairs were written as several, one behind the other: at least so many in the mean.
bool is_of_fewer_pairs(const Circuit& circuit, std::size_t gates_of_one) {
  using Pair = std::pair<Qubit, Qubit>;
  std::vector<std::optional<Pair>> last(circuit.qubits());
  std::size_t gates = 0, pairs = 0;
  for (const Operation& op : circuit.operations()) {
    if (skipped(op) || op.controls + op.targets != 2) continue;
    Qubit a = circuit.targets(op)[0], b = op.controls == 0 ? circuit.targets(op)[1] : circuit.controls(op)[0];
    if (a > b) std::swap(a, b);
    ++gates;
    if (last[a] != Pair{a, b} || last[b] != Pair{a, b}) ++pairs;
    last[a] = last[b] = Pair{a, b};
  }
  return pairs > 0 && gates_of_one * pairs <= gates;
}

/// With straight axes, and with the targets of flips chosen anew in that.
void add_straight_oriented(Rewritten straight, OtherForms& others) {
  // There is nothing to see but around other phases than Clifford circuits have.
  if (!others.may(kOrientFlips) || !is_promising(straight.circuit)) return;
  Rewritten flips, oriented;
  flips_between_hadamards(straight.circuit, flips);
  bool changed = true;
  chain(straight, changed, std::move(flips));
  if (Rewritten named; others.may(kNamePairs) && name_pairs(straight.circuit, named))
    chain(straight, changed, std::move(named));
  if (!orient_flips(straight.circuit, oriented)) return;
  chain(straight, changed, std::move(oriented));
  const Rewritten form = others.form(std::move(straight));
  Optimizer of_both(others.written, others.options.knows_zero(), &form);
  Lowered lowered = form_of(of_both, others.options);
  // Gates weigh more than what plans make of permutations and of choices.
  constexpr std::array<std::string_view, 3> kMoreThanGates{"recognise_permutations", "recognise_flips",
                                                           "recognise_choices"};
  const bool more = std::ranges::find_first_of(lowered.recognised, kMoreThanGates) != lowered.recognised.end();
  if (lowered.weight >= (more ? kOfStructure : kMuchLighter) * others.lightest) return;
  Ways ways = ways_of(std::move(lowered), of_both, others.machines, others.options, Way::kStraight);
  others.ways.splice(others.ways.end(), ways.all);
}

/// With straight axes, and as strings what a compiler may have written so.
void add_straight(Ways& written, OtherForms& others) {
  const Circuit& circuit = others.circuit();
  if (circuit.operations().size() > kMostStraightened || !others.may(kStraightenAxes)) return;
  // By other names the pairs of one basis may be of several kinds.
  const Axes axes = std::max(axes_of(circuit), axes_of(others.written));
  const bool as_written = axes == Axes::kAsWritten;
  if (!others.few && (as_written || (axes != Axes::kBent && !is_of_fewer_pairs(circuit, kPairsOfOne)))) return;
  const std::optional<AxisForm> axis = axis_form(circuit);
  if (!axis) return;
  Rewritten straight;
  straighten_axes(circuit, *axis, straight);
  const bool turned_pairs = has_turned_pairs(straight.circuit);
  if (as_written && !turned_pairs && circuit_cost(straight.circuit) >= kNotHopeless * written.lightest) return;
  const Rewritten form = others.form(straight);
  Optimizer of_straight(others.written, others.options.knows_zero(), &form);
  Lowered lowered = form_of(of_straight, others.options);
  const double weight = lowered.weight;
  others.lightest = std::min(others.lightest, weight);
  if (weight < kMuchLighter * written.lightest) {
    Ways ways = ways_of(std::move(lowered), of_straight, others.machines, others.options, Way::kStraight);
    if (!others.few) others.ways.clear();
    // By the number of sweeps, where that comes first, matrices may be better.
    const bool by_time = !others.options.tile_bits, alone = axes == Axes::kBent && weight < kAlone * written.lightest;
    if (!others.few || (by_time && alone)) written.all.clear();
    others.ways.splice(others.ways.end(), ways.all);
  } else if (others.few && weight < kNotHopeless * written.lightest) {
    // Gates do not weigh what plans make of permutations and of turned pairs.
    const bool turned =
        turned_pairs && (!as_written || (has_turned_pairs(circuit) && is_of_fewer_pairs(circuit, kPairsOfOneOfFew)));
    if (axes == Axes::kBent || turned)
      others.ways.emplace_back(std::move(lowered), of_straight, others.machines, others.options);
  }
  if (as_written) return;
  others.few = others.few || of_straight.is_short();
  if (others.few) add_strings(*axis, written.lightest, others);
  add_straight_oriented(std::move(straight), others);
}

/// The circuit as it is written, and in other forms.
std::list<Written> all_ways_of(const Circuit& circuit, const Machines& machines, const PlanOptions& options,
                               const Rewritten* form) {
  Optimizer optimizer(circuit, options.knows_zero(), form);
  const Way way = form != nullptr ? Way::kOpen : Way::kCircuit;
  Ways written = ways_of(form_of(optimizer, options), optimizer, machines, options, way);
  if (form != nullptr) return std::move(written.all);
  OtherForms others{circuit, machines, options, {}, optimizer.is_short(), written.lightest};
  if (Rewritten named; others.may(kNamePairs) && name_pairs(circuit, named)) others.named = std::move(named);
  add_oriented(written, others);
  add_straight(written, others);
  if (others.few && !written.all.empty()) add_choices(written.all.front(), optimizer, others);
  written.all.splice(written.all.end(), others.ways);
  return std::move(written.all);
}

}  // namespace

bool cheaper(const Plan& a, const Plan& b, const PlanOptions& options) {
  const PlanWork left = plan_work(a), right = plan_work(b);
  const auto bytes = [](const PlanWork& work) { return static_cast<double>(work.bytes_swept_per_rank); };
  const bool bytes_first = options.tile_bits.has_value() && options.rank_bits == 0;
  if (bytes_first && std::abs(bytes(left) - bytes(right)) > 0.03 * bytes(right)) return bytes(left) < bytes(right);
  return left.total_seconds < right.total_seconds;
}

Plan search_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options, const Rewritten* form) {
  const Machine level = without_births_and_norm(machine);
  std::list<Written> ways = all_ways_of(circuit, {level, machine}, options, form);
  const int threads = circuit.qubits() >= kManyQubits ? affinity_threads() : 1;
  Tasks tasks;
  for (Written& way : ways) way.add_look(tasks);
  tasks.run(threads);
  auto at_hand = std::make_shared<AtHand>();
  const std::shared_future<double> seconds_at_hand = at_hand->seconds();
  for (Written& way : ways) way.add_others(tasks, at_hand);
  at_hand.reset();
  for (Written& way : ways) way.add_searches(tasks, seconds_at_hand);
  tasks.run(threads);
  const std::optional<Machine> whole_lines = with_whole_lines(machine, options.precision);
  const bool may_look_again = whole_lines && options.knows_zero() && circuit.qubits() >= kManyQubits;
  std::optional<Plan> plan;
  const Written* from = nullptr;  // with the plan that would be best if births added nothing
  double least = std::numeric_limits<double>::infinity(), with_births = 0;
  const auto seconds = [](const Plan& of) { return plan_work(of).total_seconds; };
  for (Written& way : ways) {
    Plan other = way.best();
    const double without = may_look_again ? seconds_on(level, other) : 0;
    if (without < least) {
      least = without;
      with_births = seconds(other);
      from = &way;
    }
    if (!plan || cheaper(other, *plan, options)) plan = std::move(other);
  }
  if (!may_look_again || with_births < kDearBirths * least) return *std::move(plan);
  Plan other = from->searched_for(*whole_lines, threads);
  const bool better = cheaper(other, *plan, options) && seconds(other) < kMuchLess * seconds(*plan);
  return better ? other : *std::move(plan);
}

}  // namespace qsim
