// The search planner: known start, stages, sets of sweeps, and the plan that follows from them.
#include "plan/make/search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/layout.h"
#include "base/threads/thread_team.h"
#include "optimizer/diagonal_term.h"
#include "plan/build/builder.h"
#include "plan/build/low_bits.h"
#include "plan/cost/cost.h"
#include "plan/cost/state_bytes.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/planners.h"
#include "plan/search/budget.h"
#include "plan/search/early_phase.h"
#include "plan/search/late_births.h"
#include "plan/search/search_stages.h"
#include "plan/search/set_search.h"
#include "plan/sweep/sweep_program.h"
#include "plan/timeline/timeline.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::size_t kPartOperations = 8000;  // a longer circuit is planned in parts of this length
constexpr std::uint64_t kPartBudget = 8000;    // moves of the set search for each of them
constexpr std::uint64_t kStageBudget = 4000;
constexpr double kLeastLeft = 0.35;  // of a plan's time, where wires are born later

enum class Births { kLate, kFirstWrite };  // when wires that start as a product state become dimensions of memory

class Planner {
 public:
  Planner(const Lowered& lowered, const Machine& machine, const PlanOptions& options, Births births,
          const SearchBeginning& beginning)
      : machine_(machine),
        priced_(beginning.priced != nullptr ? *beginning.priced : machine),
        options_(options),
        births_(births),
        beginning_(beginning),
        given_(lowered),
        lowered_(lowered),
        wires_(lowered.qubits),
        local_(static_cast<int>(lowered.qubits - options.rank_bits)) {
    known_ = options.knows_zero();
    fixed_ = options.initial_layout || options.start == Start::kState;
  }

  /// False when a plan with all births in the first write cannot be better than `plan`, this one's.
  bool first_write_may_win(const Plan& plan) const {
    if (!births_matter_) return false;
    const std::uint64_t few = plan.stages.size() == 1 ? 16 : 6;  // in longer plans the first write is a small part
    const PlanWork work = plan_work(plan);
    const std::uint64_t write = state_bytes(plan.precision, plan.local_bits());
    const auto sweeps = static_cast<std::uint64_t>(std::max(1, first_write_sweeps_));
    return work.sweeps <= few && work.bytes_swept_per_rank > saturating_multiply(write, 2 * sweeps - 1);
  }

  /// The plan with all births in the first write, unless run() has made it.
  Plan with_first_write() {
    if (first_write_) return *std::move(first_write_);
    return Planner(given_, machine_, options_, Births::kFirstWrite, beginning_).run();
  }

  Plan run() {
    choose_first_stage();
    std::vector<Qubit> global = qubits_of(all_wires() & ~stages_.front());
    if (fixed_) std::ranges::sort(global, {}, [&](Qubit wire) { return initial_.bit_of[wire]; });
    start_ =
        known_ ? absorb_known_start(lowered_, global, beginning_.pairs) : plain_start(lowered_, options_.rank_bits);
    out_.qubits = lowered_.qubits;
    out_.wire_of = lowered_.wire_of;
    out_.gates = lowered_.gates;
    out_.removed = lowered_.removed;
    out_.ops.reserve(lowered_.ops.size());
    out_.matrices.reserve(lowered_.matrices.size());
    out_.phases.reserve(lowered_.phases.size());
    const std::size_t total = lowered_.ops.size();
    const std::size_t parts = std::max<std::size_t>(1, (total + kPartOperations - 1) / kPartOperations);
    if (parts == 1) return best_of_births(search_part(0, total, 1));
    // Parts are looked for in a row; what their sets do, which takes longer, is written beside that, several a thread.
    ThreadTeam team(static_cast<int>(std::min<std::size_t>(parts, static_cast<std::size_t>(affinity_threads()))));
    std::vector<Part> some, next;
    for (std::size_t i = 0; i < parts || !next.empty();) {
      some = std::exchange(next, {});
      std::vector<SweepPrograms> programs(some.size());
      team.run(some.size() + 1, [&](std::uint64_t k, int) {
        if (k != 0) return void(programs[k - 1] = programs_of(some[k - 1], Pace::kEager));
        for (int more = 0; more < 2 * team.size() && i < parts; ++more, ++i) {
          next.push_back(search_part(total * i / parts, total * (i + 1) / parts, parts));
        }
      });
      for (std::size_t k = 0; k < some.size(); ++k) emit(some[k], std::move(programs[k]));
    }
    Plan plan = finished();
    predict(plan, priced_);
    return plan;
  }

 private:
  // Operations of the circuit and the sets that play them.
  struct Part {
    Timeline timeline;
    SetProblem problem;
    SetRules rules;
    SetSchedule schedule;
    Index unborn = 0;
  };

  // The plan of a part; from a known start the better of this and one whose wires are born later by what this takes.
  Plan best_of_births(const Part& part) {
    const bool young = part.unborn != 0 && births_ == Births::kLate && part.schedule.complete;
    if (!young || part.schedule.sets.size() < 2) return best_of_paces(part);
    const Planner start = *this;
    Plan plan = best_of_paces(part);
    const double seconds = seconds_on(machine_, plan);
    const double worth = std::ldexp(seconds, static_cast<int>(options_.rank_bits));  // of all ranks
    const LateBirthBudget budget = late_birth_budget(part.timeline.turns.size(), worth, machine_);
    if (budget.moves == 0) return plan;
    if (beginning_.at_hand.valid() && kLeastLeft * seconds > beginning_.at_hand.get()) return plan;
    std::vector<Plan> later;
    ThreadTeam(team_size(2)).run(first_write_may_win(plan) ? 2 : 1, [&](std::uint64_t k, int) {
      if (k == 0) return void(later = start.later_births(part, seconds, budget));
      first_write_ = with_first_write();
    });
    for (Plan& other : later)
      if (cheaper(other, plan, options_)) plan = std::move(other);
    return plan;
  }

  // Plans of the part's operations whose wires are born later than its schedule, which takes `seconds`, has them.
  std::vector<Plan> later_births(const Part& part, double seconds, const LateBirthBudget& budget) const {
    const MemoryCosts memory = memory_costs(machine_.cost(options_.precision), options_.precision, local_);
    const auto schedules = with_later_births(part.problem, part.rules, part.schedule, memory, seconds, budget,
                                             team_size(2 * budget.looks));
    std::vector<Plan> later(schedules.size());
    ThreadTeam(team_size(later.size())).run(later.size(), [&](std::uint64_t k, int) {
      Part other = part;
      other.schedule = schedules[k];
      later[k] = Planner(*this).best_of_paces(other);
    });
    return later;
  }

  // A sweep's set says what it may do; that some of it can wait may make sweeps more even.
  Plan best_of_paces(const Part& part) {
    Planner other = *this;
    Plan eager, even;
    ThreadTeam(team_size(2)).run(2, [&](std::uint64_t k, int) {
      Planner& planner = k == 0 ? *this : other;
      planner.emit(part, planner.programs_of(part, k == 0 ? Pace::kEager : Pace::kEven));
      (k == 0 ? eager : even) = planner.finished();
    });
    if (cheaper(even, eager, options_)) eager = std::move(even);
    predict(eager, priced_);
    return eager;
  }

  // Threads of so many things that can be done at once; searches run beside each other as well.
  int team_size(std::size_t things) const {
    return wires_ >= kManyQubits ? std::clamp(affinity_threads(), 1, std::max(1, static_cast<int>(things))) : 1;
  }

  Plan finished() {
    if (options_.preserve_layout) builder_->restore_qubits(out_, initial_);
    note_removed();
    using Places = PlanBuilder::Places;
    const Places moves = options_.preserve_layout ? Places::kKept : fixed_ ? Places::kStores : Places::kFree;
    Plan plan = builder_->finish(out_, moves);
    describe(plan);
    return plan;
  }

  Index all_wires() const { return low_mask(wires_); }

  // stages_ = local wires of the first stage, and of the later ones where they are known already.
  void choose_first_stage() {
    if (fixed_) {
      initial_ = options_.initial_layout.value_or(Layout::identity(static_cast<int>(wires_)));
      Index local = 0;
      for (Qubit w = 0; w < wires_; ++w) local |= Index{initial_.bit_of[w] < static_cast<Bit>(local_)} << w;
      stages_ = {local};
      return;
    }
    if (options_.rank_bits == 0) {
      stages_ = {all_wires()};
      return;
    }
    if (known_) return choose_known_stages();
    const Timeline timeline = build_timeline(lowered_, source(0, first_part(), 0));
    stages_ = choose_stages(SetProblem(timeline), local_, 0, kStageBudget, beginning_.seed);
  }

  std::size_t first_part() const { return std::min(lowered_.ops.size(), kPartOperations); }

  // Tries several first stages on what the known start leaves of the circuit and keeps the one with fewest exchanges.
  void choose_known_stages() {
    struct Candidate {
      Index first = 0;
      std::uint64_t left = 0;  // turns after the first stage
    };
    std::vector<Candidate> candidates;
    for (const Index first : first_stages()) {
      const auto same = [&](const Candidate& c) { return c.first == first; };
      if (std::ranges::any_of(candidates, same)) continue;
      with_first_stage(first, [&](const SetProblem& problem) {
        Positions at{};
        problem.advance(at, first);
        std::uint64_t done = 0;
        for (Qubit w = 0; w < wires_; ++w) done += at[w];
        candidates.push_back({first, problem.turns() - done});
      });
    }
    std::ranges::stable_sort(candidates, {}, &Candidate::left);
    std::vector<Index> best;
    for (std::size_t i = 0; i < std::min<std::size_t>(2, candidates.size()) && best.size() != 1; ++i) {
      with_first_stage(candidates[i].first, [&](const SetProblem& problem) {
        const auto stages = choose_stages(problem, local_, candidates[i].first, kStageBudget / 4, beginning_.seed);
        if (best.empty() || stages.size() < best.size()) best = stages;
      });
    }
    stages_ = std::move(best);
  }

  template <typename Visit>
  void with_first_stage(Index first, const Visit& visit) {
    const Lowered original = lowered_;
    start_ = absorb_known_start(lowered_, qubits_of(all_wires() & ~first), beginning_.pairs);
    stages_ = {first};
    const Timeline timeline = build_timeline(lowered_, source(0, first_part(), born_wires()));
    visit(SetProblem(timeline));
    lowered_ = original;
  }

  std::vector<Index> first_stages() {
    Lowered simplified = lowered_;
    start_ = absorb_known_start(simplified, {}, beginning_.pairs);
    const std::size_t last = std::min(simplified.ops.size(), kPartOperations);
    const Timeline timeline = build_timeline(simplified, source(0, last, all_wires()));
    Positions start{};
    for (Qubit w = 0; w < wires_; ++w) start[w] = 1;  // births cost nothing here
    std::vector<Index> found = known_first_stages(SetProblem(timeline), local_, start);
    // Wires used last become global; wires used first are done with before the first write.
    const auto late = wires_by_first_use(simplified), early = wires_by_first_use(lowered_);
    Index late_local = 0, early_local = 0;
    for (std::size_t i = 0; i < wires_; ++i) {
      if (i < static_cast<std::size_t>(local_)) late_local |= bit_mask(late[i]);
      if (i >= options_.rank_bits) early_local |= bit_mask(early[i]);
    }
    found.insert(found.end(), {late_local, early_local});
    return found;
  }

  bool enabled(std::string_view pass) const { return pass_enabled(options_.disabled_passes, pass); }

  TimelineSource source(std::size_t first, std::size_t last, Index unborn) const {
    TimelineSource part{first, last, unborn, start_.factor, options_.trace};
    part.merge_runs = enabled("merge_runs");
    part.move_flips = enabled("move_flips");
    part.merge_diagonals = enabled("merge_diagonals");
    part.split_controls = enabled("split_controls");
    return part;
  }

  // Local wires that must be born: all that have a state or an operation.
  Index born_wires() const {
    Index used = 0;
    for (const LoweredOp& op : lowered_.ops) used |= op.support;
    for (Qubit w = 0; w < wires_; ++w) {
      const bool zero = start_.factor[w] == std::array<Complex, 2>{Complex(1), Complex(0)};
      if (!zero) used |= bit_mask(w);
    }
    return used & stages_.front();
  }

  Part search_part(std::size_t first, std::size_t last, std::size_t parts) {
    const bool from_known = known_ && first == 0;
    const Index unborn = from_known ? born_wires() : 0;
    Timeline timeline = build_timeline(lowered_, source(first, last, unborn));
    SetProblem problem(timeline);
    if (options_.rank_bits > 0 && !stages_suffice(problem, stages_))
      stages_ = choose_stages(problem, local_, stages_.front(), kStageBudget, beginning_.seed);
    SetRules rules;
    rules.seed = beginning_.seed;
    rules.pack = beginning_.pack;
    rules.segments = stages_;
    set_tile(timeline, machine_, options_, local_, rules);
    rules.budget = set_search_budget(timeline.turns.size(), machine_, options_, local_);
    if (parts > 1)
      rules.budget = std::min(rules.budget, kPartBudget);
    else
      rules.more = set_search_more(timeline.turns.size(), machine_, options_, local_);
    if (from_known) {
      births_matter_ = problem.turns() > 0 && popcount(problem.turning()) > rules.size;
      rules.late_first_turns = births_ == Births::kLate;
      rules.born_before = births_before_exchanges(stages_, unborn);
      if (births_ == Births::kFirstWrite) {
        rules.budget /= 2;
        for (const Qubit w : qubits_of(unborn)) rules.start[w] = 1;
      }
    }
    rules.before = first == 0 ? low_wires(rules.low) : last_set_;
    const bool two_phases = from_known && births_ == Births::kLate && stages_.size() == 1 && parts == 1;
    if (two_phases) rules.budget /= 2;
    SetSchedule schedule = find_sets(problem, rules);
    if (two_phases) {
      first_write_sweeps_ = fewest_sets(problem, rules, unborn);
      schedule = plan_early_phase(timeline, problem, rules, local_, schedule);
    }
    const bool anything = !timeline.diagonals.empty() || timeline.global_phase.value != 0 || !lowered_.ops.empty();
    if (schedule.sets.empty() && anything) {
      schedule.sets.push_back(0);
      schedule.segment.push_back(0);
    }
    if (!schedule.sets.empty()) {  // where the next part begins
      last_set_ = schedule.sets.back();
      stages_ = {stages_[schedule.segment.back()]};
    }
    return {std::move(timeline), std::move(problem), std::move(rules), std::move(schedule), unborn};
  }

  // The wires at the low bits of a fixed start layout: as if a sweep had had them active.
  Index low_wires(int low) const {
    if (!fixed_) return 0;
    Index wires = 0;
    for (Qubit w = 0; w < wires_; ++w) wires |= Index{initial_.bit_of[w] < static_cast<Bit>(low)} << w;
    return wires;
  }

  // Wires that are active early lie low, so that what is unborn lies high; global wires on top.
  void make_builder(const Part& part) {
    const SetSchedule& schedule = part.schedule;
    if (!fixed_) {
      std::vector<std::size_t> use(wires_, schedule.sets.size());
      for (std::size_t i = schedule.sets.size(); i-- > 0;)
        for (const Qubit w : qubits_of(schedule.sets[i])) use[w] = i;
      std::vector<Qubit> order = qubits_of(part.rules.segments.front());
      std::stable_sort(order.begin(), order.end(), [&](Qubit a, Qubit b) { return use[a] < use[b]; });
      for (const Qubit w : qubits_of(all_wires() & ~part.rules.segments.front())) order.push_back(w);
      initial_.bit_of.resize(wires_);
      for (std::size_t bit = 0; bit < order.size(); ++bit) initial_.bit_of[order[bit]] = static_cast<Bit>(bit);
      if (!schedule.sets.empty()) put_low(initial_, wires_that_stay(schedule, 0), static_cast<Bit>(part.rules.low));
    }
    KnownStart start = start_;
    if (known_) {
      for (const Qubit w : qubits_of(part.unborn)) {
        const Turn& birth = part.timeline.turns[part.timeline.line[w].front()];
        const auto matrix = part.timeline.matrix(birth);
        start.factor[w] = {matrix[0], matrix[2]};
        if (!birth.open.empty()) start.open.resize(wires_), start.open[w] = out_.open.product(birth.open);
      }
      // The builder bears what is not called zero in the first write, the rest when it becomes active.
      start.zero_wires = births_ == Births::kLate ? all_wires() : all_wires() & ~part.unborn;
    }
    builder_.emplace(wires_, options_, machine_, initial_, start);
  }

  SweepPrograms programs_of(const Part& part, Pace pace) const {
    const SweepRewrites rewrites{enabled("recombine_flips"), enabled("recombine_controls"), enabled("fuse_matrices"),
                                 enabled("split_turns")};
    std::vector<Positions> places{part.rules.start};
    const auto after = positions_after(part.problem, part.schedule, part.rules.start, pace, part.unborn);
    places.insert(places.end(), after.begin(), after.end());
    return write_sweeps(part.timeline, places, machine_.register_bits, machine_.cost(options_.precision), rewrites);
  }

  void emit(const Part& part, SweepPrograms programs) {
    const SetSchedule& schedule = part.schedule;
    out_.refused += part.timeline.refused + programs.pool.refused;
    out_.open = std::move(programs.pool.open);  // circuits with open angles are one part
    if (!builder_) make_builder(part);
    const std::uint32_t first = append(out_, programs.pool);
    std::uint32_t stage = 0;
    for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
      if (schedule.segment[i] != stage) exchange(part.rules.segments[stage], part.rules.segments[schedule.segment[i]]);
      stage = schedule.segment[i];
      for (std::uint32_t& op : programs.sweeps[i]) op += first;
      builder_->add_sweep(schedule.sets[i], out_, programs.sweeps[i]);
      if (i + 1 < schedule.sets.size()) {
        const auto low = static_cast<Bit>(part.rules.low);
        builder_->store_low(low_order(builder_->layout(), wires_that_stay(schedule, i), low));
      }
    }
    if (options_.trace) trace_part(part.timeline, programs, first);
  }

  void exchange(Index before, Index after) {
    const std::vector<Qubit> out = qubits_of(before & ~after), in = qubits_of(after & ~before);
    builder_->store_high(out);
    std::vector<std::pair<Bit, Bit>> swaps;
    for (std::size_t j = 0; j < out.size(); ++j)
      swaps.emplace_back(builder_->layout().bit_of[out[j]], builder_->layout().bit_of[in[j]]);
    if (!swaps.empty()) builder_->add_exchange(std::move(swaps));
  }

  void trace_part(const Timeline& timeline, const SweepPrograms& programs, std::uint32_t first) {
    for (const auto& [source, turn] : timeline.turn_sources) {
      const std::uint32_t place = programs.turn_places[turn];
      if (place == SweepProgrammer::kNoOperation) {
        remove(source, timeline.turns[turn].birth ? "first write" : "cancelled");
      } else {
        note(source, first + place);
      }
    }
    for (const auto& [source, diagonal] : timeline.diagonal_sources)
      note(source, first + programs.diagonal_places[diagonal]);
    for (const std::uint32_t source : timeline.vanished_sources) remove(source, "cancelled");
  }

  void note(std::uint32_t lowered_source, std::uint32_t place) {
    for (const std::uint32_t source : lowered_.sources(lowered_source)) traced_.emplace_back(source, place);
  }

  void remove(std::uint32_t lowered_source, const char* reason) {
    for (const std::uint32_t source : lowered_.sources(lowered_source)) out_.removed.push_back({source, reason});
  }

  // Every gate of the circuit is in an operation or among the removed ones.
  void note_removed() {
    std::uint64_t counted = out_.removed.size();
    for (const LoweredOp& op : out_.ops) {
      counted += op.gates;
      const std::uint64_t merged = op.gates > 1 ? op.gates - 1 : 0;
      (op.form == Form::kPhases ? diagonals_merged_ : runs_merged_) += merged;
    }
    const char* reason = known_ ? "first write or cancelled" : "cancelled";
    while (counted++ < out_.gates) out_.removed.push_back({0, reason});
  }

  void describe(Plan& plan) const {
    std::map<std::string, std::uint64_t> counts;
    for (const RemovedGate& gate : out_.removed) ++counts[gate.reason];
    if (runs_merged_ > 0) counts["single-qubit runs"] = runs_merged_;
    if (diagonals_merged_ > 0) counts["diagonals"] = diagonals_merged_;
    plan.merged.assign(counts.begin(), counts.end());
    if (!options_.trace) return;
    std::vector<PlanBuilder::Place> place(out_.ops.size());
    for (const auto& p : builder_->places()) place[p.index] = p;
    for (const auto& [source, op] : traced_)
      plan.trace.push_back({source, place[op].stage, place[op].sweep, place[op].op, ""});
    for (const RemovedGate& gate : out_.removed) plan.trace.push_back({gate.source, -1, -1, -1, gate.reason});
    std::stable_sort(plan.trace.begin(), plan.trace.end(),
                     [](const TraceEntry& a, const TraceEntry& b) { return a.operation < b.operation; });
  }

  const Machine &machine_, &priced_;
  const PlanOptions& options_;
  const Births births_;
  const SearchBeginning beginning_;
  const Lowered& given_;
  Lowered lowered_;  // what the known start leaves of it
  const std::uint32_t wires_;
  const int local_;  // bits of a shard
  bool known_ = false, fixed_ = false, births_matter_ = false;
  int first_write_sweeps_ = 0;
  KnownStart start_;
  Layout initial_;             // of the wires
  std::vector<Index> stages_;  // local wires; the first is that of what is looked for next
  Index last_set_ = 0;         // of what has been looked for
  std::optional<Plan> first_write_;
  std::optional<PlanBuilder> builder_;
  Lowered out_;                                                  // the operations of the plan, over wires
  std::vector<std::pair<std::uint32_t, std::uint32_t>> traced_;  // (operation of the circuit, of out_)
  std::uint64_t runs_merged_ = 0, diagonals_merged_ = 0;
};

}  // namespace

Plan searched_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options,
                   const SearchBeginning& beginning) {
  Planner late(lowered, machine, options, Births::kLate, beginning);
  Plan plan = late.run();
  if (!options.knows_zero() || !late.first_write_may_win(plan)) return plan;
  Plan first = late.with_first_write();
  return cheaper(first, plan, options) ? first : plan;
}

}  // namespace qsim
