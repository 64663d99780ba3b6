// The walk over branches. A waiting branch's state is saved before its measurement where a snapshot is free; otherwise
// it is simulated again from the nearest saved ancestor.
#include "runtime/branch/program_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/layout.h"
#include "base/text.h"
#include "classical/control.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/check/answer_check.h"
#include "runtime/read_out/observables.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr double kNegligible = 1e-15;  // probability of a branch

std::uint32_t first_tile_bits(const PlannedCircuit& program) {
  return program.plans.empty() ? 1 : std::max(1u, program.plans.front().tile_bits);
}

void add_scaled(std::vector<double>& sum, const std::vector<double>& values, double factor) {
  sum.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
}

}  // namespace

std::optional<VariableResults> take_variables(const Circuit& circuit, Answers& answers, bool drawn) {
  VariableResults results{result_variables(circuit), {}, {}};
  if (results.variables.empty()) return std::nullopt;
  if (drawn) results.counts = std::move(answers.variable_counts);
  if (!answers.variable_distribution.empty()) results.distribution = std::move(answers.variable_distribution);
  return results;
}

ProgramRun::ProgramRun(const PlannedCircuit& program, const Circuit& circuit, DistributedState& state,
                       ExchangePipeline& exchanges, Executor& executor, std::uint32_t snapshots)
    : program_(program),
      circuit_(circuit),
      state_(state),
      exchanges_(exchanges),
      executor_(executor),
      collapse_(state, exchanges, executor, first_tile_bits(program)),
      terminal_(program.terminal_measures, circuit.clbits()),
      variables_(circuit),
      measures_(circuit.measures()),
      drift_(norm_tolerance(state.precision, circuit.operation_count(), circuit.unitarity_defect())) {
  for (std::uint32_t snapshot = snapshots; snapshot-- > 0;) free_snapshots_.push_back(snapshot);
}

void ProgramRun::prepare(bool marginals) {
  if (program_.steps.empty() || program_.steps.front().kind != Step::Kind::kPlan ||
      program_.steps.front().condition >= 0 || program_.plans.at(program_.steps.front().plan).start == Start::kState) {
    throw Error("a program must begin with a plan that makes the start state");
  }
  if (program_.terminal_draw >= kMaxDraws) {
    throw UnsupportedError("a circuit of " + std::to_string(program_.terminal_draw) +
                           " measurements, resets and parts between them: a shot has " + std::to_string(kMaxDraws) +
                           " random words");
  }
  const bool sum_bits = marginals && program_.steps.size() == 1;
  for (const Plan& plan : program_.plans) plan_numbers_.push_back(executor_.prepare(plan, sum_bits));
  Layout layout = program_.plans.front().initial_layout;
  for (const Step& step : program_.steps) {
    if (step.kind == Step::Kind::kPlan) {
      const Plan& plan = program_.plans.at(step.plan);
      const bool anywhere = step.condition >= 0 || (program_.control && step.plan != 0);
      if (anywhere && plan.final_layout != plan.initial_layout) {
        throw Error("a plan that may be left out moves qubits");
      }
      layout = plan.final_layout;
    } else if (step.kind == Step::Kind::kMeasure || step.kind == Step::Kind::kReset) {
      collapse_.prepare(layout.bit_of.at(step.qubit), step.kind == Step::Kind::kReset);
    }
  }
  state_.backend.finish_preparing();
}

bool ProgramRun::applies(const Step& step, const ClassicalBits& bits) const {
  return step.condition < 0 ||
         condition_holds(program_.conditions[static_cast<std::size_t>(step.condition)], bits, circuit_.cregs());
}

Answers ProgramRun::run(const ReadOuts& read_outs) {
  read_outs_ = read_outs;
  answers_ = {};
  answers_.probabilities.resize(read_outs.probabilities.size());
  done_ = 0;
  waiting_.clear();
  if (!program_.dynamic) executor_.on_progress = on_progress;
  Branch first = root();
  if (program_.dynamic) {
    first.shots.resize(read_outs.shots);
    std::iota(first.shots.begin(), first.shots.end(), std::uint64_t{0});
  } else {
    first.shot_count = read_outs.shots;
  }
  follow(std::move(first));
  while (!waiting_.empty()) {
    Branch branch = std::move(waiting_.back());
    waiting_.pop_back();
    recover(branch);
    const Step& step = program_.steps[branch.step];
    take(branch, step, branch.next);
    ++branch.step;
    follow(std::move(branch));
  }
  check_answers(answers_, read_outs_, terminal_, state_, drift_);
  answers_.exchange_seconds = exchanges_.seconds() - read_exchange_seconds_;
  answers_.exchange_bytes = exchanges_.bytes_sent() - read_exchange_bytes_;
  return std::move(answers_);
}

ProgramRun::Branch ProgramRun::root() const {
  Branch root;
  root.bits = initial_bits(circuit_);
  if (program_.control) {
    for (const ScalarType type : program_.control->variables) root.memory.push_back(make_zero(type));
  }
  return root;
}

bool ProgramRun::run_classical(Branch& branch, const Step& step) const {
  if (step.kind != Step::Kind::kClassical) return false;
  const std::size_t place = branch.step;
  branch.step = do_classical(*program_.control, step.flow, place, branch.memory);
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError("line " + std::to_string(step.flow.line) + ": " + what + "; " + format_number(left()) +
                               " of the probability is left",
                           {"", step.flow.line, 0});
  };
  if (branch.step <= place && ++branch.iterations > read_outs_.max_iterations) {
    refuse("loops that measurements decide ran more than " + std::to_string(read_outs_.max_iterations) +
           " times in one branch (--max-iterations allows more)");
  }
  if (++branch.taken > kMaxClassicalSteps) {
    refuse("a branch took more than " + std::to_string(kMaxClassicalSteps) + " classical steps");
  }
  return true;
}

/// The probability of the branches that have not ended.
double ProgramRun::left() const { return std::clamp(1 - answers_.weight - answers_.branches_left_out, 0.0, 1.0); }

/// The registers at the end of a branch.
ClassicalBits ProgramRun::final_bits(const Branch& branch) const {
  if (!program_.control) return branch.bits;
  ClassicalBits bits;
  for (const FlowOutput& output : program_.control->outputs) {
    if (!output.is_register) continue;
    for (const Scalar& bit : output_values(output, branch.memory)) bits.push_back(truth(bit));
  }
  return bits;
}

void ProgramRun::follow(Branch branch) {
  while (branch.step < program_.steps.size()) {
    const Step& step = program_.steps[branch.step];
    if (run_classical(branch, step)) continue;
    const std::size_t place = branch.step;
    if (!applies(step, branch.bits)) {
      branch.step = place + 1;
      continue;
    }
    if (step.kind == Step::Kind::kPlan) {
      executor_.run(plan_numbers_[step.plan], branch.norm, read_outs_.start_seed);
    } else if (!split(branch, step)) {
      done_ += branch.weight;
      return;
    }
    branch.step = place + 1;
  }
  const auto start = std::chrono::steady_clock::now();
  const double exchange_seconds = exchanges_.seconds();
  const std::uint64_t exchange_bytes = exchanges_.bytes_sent();
  Profile* const profile = executor_.profile;
  const Moment begin = profile != nullptr ? profile->now() : Moment{};
  read(branch);
  if (profile != nullptr) profile->add(Span::Kind::kReadOut, 0, 0, begin, profile->now());
  read_exchange_seconds_ += exchanges_.seconds() - exchange_seconds;
  read_exchange_bytes_ += exchanges_.bytes_sent() - exchange_bytes;
  answers_.read_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  done_ += branch.weight;
  if (program_.dynamic && on_progress) on_progress(std::min(1.0, done_));
}

/// What either outcome would be, and the branch's shots by outcome. Shots are drawn in integers, exact answers take
/// each outcome's own sum: 1 less the other's share would have no digits left of a rare one.
std::array<ProgramRun::Choice, 2> ProgramRun::weigh(Branch& branch, const Step& step,
                                                    std::array<std::vector<std::uint64_t>, 2>& shots) {
  std::array<double, 2> weights{};
  if (!branch.shots.empty() || !read_outs_.exact()) {
    const std::array<std::uint64_t, 2> units = collapse_.weigh_in_units(step.qubit);
    // A step that runs again draws again: its number is that of the draw in the branch's own history.
    const auto draw = program_.control ? static_cast<std::uint32_t>(branch.path.size()) : step.draw;
    if (draw >= kMaxDraws) throw UnsupportedError("a branch of more than " + std::to_string(kMaxDraws) + " draws");
    for (const std::uint64_t shot : branch.shots) {
      const bool one = scale_word(shot_word(read_outs_.seed, shot, draw), units[0] + units[1]) >= units[0];
      shots[one ? 1 : 0].push_back(shot);
    }
    for (std::size_t outcome : {0, 1}) weights[outcome] = std::ldexp(static_cast<double>(units[outcome]), -62);
  }
  if (read_outs_.exact()) weights = collapse_.weigh(step.qubit);
  const double total = weights[0] + weights[1];
  return {Choice{false, weights[0] / total, weights[0]}, Choice{true, weights[1] / total, weights[1]}};
}

/// Takes the outcomes that are wanted: those that shots fall on and, for exact answers, all that are possible. False
/// where the branch ends here because none is.
bool ProgramRun::split(Branch& branch, const Step& step) {
  std::array<std::vector<std::uint64_t>, 2> shots;
  const std::array<Choice, 2> choices = weigh(branch, step, shots);
  std::array<bool, 2> wanted{};
  for (std::size_t outcome : {0, 1}) {
    // A loop that measures would go on for ever: what is left of it is noise at some time.
    const double of = program_.control ? branch.weight : 1;
    const bool possible = choices[outcome].share > noise_probability(state_.precision) &&
                          choices[outcome].share * of > (program_.control ? kNegligible : 0);
    wanted[outcome] = !shots[outcome].empty() || (read_outs_.exact() && possible);
    if (!wanted[outcome]) answers_.branches_left_out += branch.weight * choices[outcome].share;
  }
  if (!wanted[0] && !wanted[1]) {
    if (read_outs_.exact() && program_.control) return false;
    wanted[choices[1].share > 0.5 ? 1 : 0] = true;  // where nothing is asked for, the likelier one is followed
  }
  if (wanted[0] && wanted[1]) {
    Branch other = branch;
    other.shots = std::move(shots[1]);
    other.next = choices[1];
    wait(std::move(other));
  }
  const std::size_t next = wanted[0] ? 0 : 1;
  branch.shots = std::move(shots[next]);
  take(branch, step, choices[next]);
  return true;
}

void ProgramRun::take(Branch& branch, const Step& step, const Choice& choice) {
  branch.norm =
      collapse_.keep(step.qubit, choice.one, step.kind == Step::Kind::kReset, choice.probability, read_outs_.exact());
  branch.path.push_back(choice);
  branch.weight *= choice.share;
  if (step.kind != Step::Kind::kMeasure) return;
  if (program_.control) {
    branch.memory[step.clbit] = make_bit(choice.one);
  } else {
    branch.bits[step.clbit] = choice.one;
  }
}

void ProgramRun::wait(Branch branch) {
  if (read_outs_.exact() && answers_.branches + waiting_.size() + 2 > kMaxBranches) throw_too_many_branches();
  if (!free_snapshots_.empty()) {
    branch.snapshot = free_snapshots_.back();
    free_snapshots_.pop_back();
    state_.backend.save_state(static_cast<std::uint32_t>(branch.snapshot));
  }
  branch.layout = state_.layout;
  waiting_.push_back(std::move(branch));
}

/// Makes the state that `branch` waited with.
void ProgramRun::recover(Branch& branch) {
  state_.moves.clear();
  if (branch.snapshot >= 0) {
    state_.backend.restore_state(static_cast<std::uint32_t>(branch.snapshot));
    state_.layout = branch.layout;
    free_snapshots_.push_back(static_cast<std::uint32_t>(branch.snapshot));
    branch.snapshot = -1;
    return;
  }
  // All waiting branches are siblings of this one's ancestors: their saved states lie on its path.
  const auto saved =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [](const Branch& other) { return other.snapshot >= 0; });
  Branch from = root();
  if (saved != waiting_.rend()) {
    from.step = saved->step;
    from.path = saved->path;
    from.bits = saved->bits;
    from.memory = saved->memory;
    from.weight = saved->weight;
    from.norm = saved->norm;
    state_.backend.restore_state(static_cast<std::uint32_t>(saved->snapshot));
    state_.layout = saved->layout;
  }
  replay(from, branch);
}

void ProgramRun::replay(Branch& from, const Branch& target) {
  while (from.step != target.step || from.path.size() != target.path.size()) {
    const Step& step = program_.steps[from.step];
    if (run_classical(from, step)) continue;
    ++from.step;
    if (!applies(step, from.bits)) continue;
    if (step.kind == Step::Kind::kPlan) {
      executor_.run(plan_numbers_[step.plan], from.norm, read_outs_.start_seed);
    } else {
      take(from, step, target.path.at(from.path.size()));
    }
  }
}

void ProgramRun::read(const Branch& branch) {
  ++answers_.branches;
  answers_.weight += branch.weight;
  if (read_outs_.shot_marginals && branch.drawn() != 0) {
    const double share = static_cast<double>(branch.drawn()) / static_cast<double>(read_outs_.shots);
    add_scaled(answers_.shot_marginals, marginals(state_), share / branch.norm);
  }
  if (variables_.any() && !measures_) {
    answers_.variable_distribution = {{variables_.read(branch.bits, branch.memory), 1}};
  }
  if (read_outs_.exact()) read_exact(branch);
  if (branch.drawn() != 0) draw(branch);
}

void ProgramRun::read_exact(const Branch& branch) {
  const double factor = branch.weight / branch.norm;
  if (read_outs_.marginals) add_scaled(answers_.marginals, marginals(state_), factor);
  for (std::size_t i = 0; i < read_outs_.probabilities.size(); ++i) {
    add_scaled(answers_.probabilities[i], qubit_probabilities(state_, read_outs_.probabilities[i]), factor);
  }
  if (!read_outs_.paulis.empty()) {
    add_scaled(answers_.paulis, pauli_expectations(state_, exchanges_, read_outs_.paulis), factor);
  }
  if (!read_outs_.distribution) return;
  ClassicalBits bits = final_bits(branch);
  const OutcomeDistribution distribution = outcome_distribution(state_, terminal_.mask(), kMaxOutcomes);
  answers_.outcomes_left_out += factor * distribution.left_out;
  for (const auto& [value, probability] : distribution.outcomes) {
    terminal_.write(value, bits);
    answers_.distribution[bit_string(bits, circuit_.cregs())] += factor * probability;
    if (variables_.any() && measures_) {
      answers_.variable_distribution[variables_.read(bits, branch.memory)] += factor * probability;
    }
  }
  if (answers_.distribution.size() > kMaxOutcomes) {
    throw UnsupportedError("the exact distribution has more than " + std::to_string(kMaxOutcomes) +
                           " outcomes: draw `shots` instead");
  }
}

void ProgramRun::draw(const Branch& branch) {
  ClassicalBits bits = final_bits(branch);
  const std::uint64_t shots = branch.drawn();
  if (terminal_.mask() == 0) {
    answers_.counts[bit_string(bits, circuit_.cregs())] += shots;
    if (variables_.any()) answers_.variable_counts[variables_.read(bits, branch.memory)] += shots;
    return;
  }
  Sampler sampler(state_, exchanges_);
  require_drawable(sampler.total(), branch.norm, drift_, state_.qubits);
  const OutcomeCounts outcomes =
      sampler.sample(shots, branch.shots, read_outs_.seed, program_.terminal_draw, terminal_.mask());
  for (const auto& [value, times] : outcomes) {
    terminal_.write(value, bits);
    // Outcomes rise, and so do the texts of most circuits: the end is a good guess.
    answers_.counts.try_emplace(answers_.counts.end(), bit_string(bits, circuit_.cregs()), 0)->second += times;
    if (variables_.any()) answers_.variable_counts[variables_.read(bits, branch.memory)] += times;
  }
}

void ProgramRun::throw_too_many_branches() const {
  const std::uint64_t splits = program_.collapses();
  throw UnsupportedError("an exact answer would need more than " + std::to_string(kMaxBranches) +
                         " branches (at least " + std::to_string(answers_.branches + waiting_.size() + 2) +
                         ", at most 2^" + std::to_string(splits) + " for " + std::to_string(splits) +
                         " mid-circuit measurements and resets): draw `shots` instead");
}

}  // namespace qsim
