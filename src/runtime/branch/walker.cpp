// Steps of a program, one at a time.
#include "runtime/branch/walker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/bits.h"
#include "base/text.h"
#include "classical/control.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr double kNegligible = 1e-15;  // probability of a branch

std::uint32_t first_tile_bits(const PlannedCircuit& program) {
  return program.plans.empty() ? 1 : std::max(1u, program.plans.front().tile_bits);
}

void require_draws(std::uint64_t draws) {
  if (draws > kMaxDraws) throw UnsupportedError("a branch of more than " + std::to_string(kMaxDraws) + " draws");
}

}  // namespace

void throw_too_many_branches(std::size_t branches, std::uint64_t splits) {
  throw UnsupportedError("an exact answer would need more than " + std::to_string(kMaxBranches) +
                         " branches (at least " + std::to_string(branches) + ", at most 2^" + std::to_string(splits) +
                         " for " + std::to_string(splits) +
                         " mid-circuit measurements and resets): draw `shots` instead");
}

Walker::Walker(const PlannedCircuit& program, const Circuit& circuit, const WalkParts& parts)
    : program_(program),
      circuit_(circuit),
      parts_(parts),
      collapse_(parts.state, parts.exchanges, parts.executor, first_tile_bits(program)) {}

std::vector<Layout> Walker::prepare(bool sum_bits) {
  for (const Plan& plan : program_.plans) plan_numbers_.push_back(parts_.executor.prepare(plan, sum_bits));
  for (const Instrument& instrument : program_.instruments) operators_.push_back(transitions(instrument));
  std::vector<Layout> layouts;
  Layout layout = program_.plans.front().initial_layout;
  for (const Step& step : program_.steps) {
    layouts.push_back(layout);
    if (step.kind == Step::Kind::kPlan) {
      const Plan& plan = program_.plans.at(step.plan);
      const bool anywhere = step.condition >= 0 || (program_.control && step.plan != 0);
      if (anywhere && plan.final_layout != plan.initial_layout) {
        throw Error("a plan that may be left out moves qubits");
      }
      layout = plan.final_layout;
    } else if (step.kind == Step::Kind::kInstrument) {
      collapse_.prepare(layout.bit_of.at(step.qubit), operators_.at(step.instrument));
    }
  }
  layouts.push_back(layout);
  parts_.state.backend.finish_preparing();
  return layouts;
}

void Walker::begin(const ReadOuts& read_outs, std::function<double(std::size_t)> left) {
  read_outs_ = read_outs;
  left_ = std::move(left);
}

Branch Walker::root() const {
  Branch root;
  root.bits = initial_bits(circuit_);
  if (program_.control) root.memory = Variables(program_.control->variables);
  return root;
}

bool Walker::applies(const Step& step, const ClassicalBits& bits) const {
  return step.condition < 0 ||
         condition_holds(program_.conditions[static_cast<std::size_t>(step.condition)], bits, circuit_.cregs());
}

bool Walker::step_over(Branch& branch) {
  const Step& step = program_.steps[branch.step];
  if (step.kind == Step::Kind::kClassical) {
    run_classical(branch, step);
    return true;
  }
  if (applies(step, branch.bits)) {
    if (step.kind != Step::Kind::kPlan) return false;
    const Plan& plan = program_.plans[step.plan];
    parts_.executor.before = {branch.gates, branch.defect};
    parts_.executor.run(plan_numbers_[step.plan], branch.norm, read_outs_.start_seed);
    branch.gates += plan.gates;
    branch.defect += plan.unitarity_defect;
    branch.known = branch.known_one = 0;
  }
  ++branch.step;
  return true;
}

void Walker::run_classical(Branch& branch, const Step& step) const {
  const std::size_t place = branch.step;
  branch.step = do_classical(*program_.control, step.flow, place, branch.memory);
  const auto refuse = [&](const std::string& what) {
    throw UnsupportedError("line " + std::to_string(step.flow.line) + ": " + what + "; " + format_number(left_(place)) +
                               " of the probability is left",
                           {"", step.flow.line, 0});
  };
  if (branch.step <= place && ++branch.iterations > read_outs_.max_iterations) {
    refuse("loops that measurements decide ran more than " + std::to_string(read_outs_.max_iterations) +
           " times in one branch (`max_iterations` allows more)");
  }
  if (++branch.taken > kMaxClassicalSteps) {
    refuse("a branch took more than " + std::to_string(kMaxClassicalSteps) + " classical steps");
  }
}

std::vector<ShotLists> split_shots(const ShotLists& shots, std::span<const std::uint64_t> units, std::uint64_t seed) {
  std::vector<std::uint64_t> ends(units.size());  // of the places that fall on an outcome
  std::partial_sum(units.begin(), units.end(), ends.begin());
  std::vector<ShotLists> split(units.size());
  for (const ShotList& list : shots) {
    const std::uint32_t next = list.draws + 1;
    require_draws(next);
    std::vector<ShotList> by_outcome(units.size(), ShotList{next, {}});
    for (const std::uint64_t shot : list.shots) {
      const std::uint64_t place = scale_word(shot_word(seed, shot, list.draws), ends.back());
      const auto outcome = static_cast<std::size_t>(std::ranges::upper_bound(ends, place) - ends.begin());
      by_outcome[outcome].shots.push_back(shot);
    }
    for (std::size_t outcome = 0; outcome < units.size(); ++outcome) {
      if (!by_outcome[outcome].shots.empty()) split[outcome].push_back(std::move(by_outcome[outcome]));
    }
  }
  return split;
}

/// What each outcome would be, and the shots that fall on it. Shots are drawn in integers, exact answers take each
/// outcome's own sum: 1 less the others' share would have no digits left of a rare one.
std::vector<Walker::Way> Walker::weigh(const Branch& branch, const Step& step) {
  const std::vector<Transition>& operators = operators_[step.instrument];
  std::vector<Way> ways(operators.size());
  for (std::size_t k = 0; k < ways.size(); ++k) ways[k].choice = {static_cast<std::uint32_t>(k), 0, 0};
  if (test_bit(branch.known, step.qubit)) {
    know(branch, step, ways);
    return ways;
  }
  if (!branch.shots.empty() || !read_outs_.exact()) {
    const std::array<std::uint64_t, 2> of_value = collapse_.weigh_in_units(step.qubit);
    std::vector<std::uint64_t> units;
    for (const Transition& each : operators) units.push_back(of_value[each.from ? 1 : 0]);
    std::vector<ShotLists> split = split_shots(branch.shots, units, read_outs_.seed);
    for (std::size_t k = 0; k < ways.size(); ++k) {
      ways[k].shots = std::move(split[k]);
      ways[k].choice.probability = std::ldexp(static_cast<double>(units[k]), -62);
    }
  }
  if (read_outs_.exact()) {
    const std::array<double, 2> of_value = collapse_.weigh(step.qubit);
    for (std::size_t k = 0; k < ways.size(); ++k) ways[k].choice.probability = of_value[operators[k].from ? 1 : 0];
  }
  double total = 0;
  for (const Way& way : ways) total += way.choice.probability;
  for (Way& way : ways) way.choice.share = way.choice.probability / total;
  return ways;
}

/// The same for a qubit whose value is known: its shots draw, but whatever they draw decides nothing.
void Walker::know(const Branch& branch, const Step& step, std::vector<Way>& ways) const {
  const std::vector<Transition>& operators = operators_[step.instrument];
  const auto acts = std::ranges::find(operators, test_bit(branch.known_one, step.qubit), &Transition::from);
  Way& way = ways[static_cast<std::size_t>(acts - operators.begin())];
  way.choice.share = 1;
  way.choice.probability = branch.norm;
  way.shots = branch.shots;
  for (ShotList& list : way.shots) require_draws(++list.draws);
}

Walker::Fork Walker::fork(const Branch& branch) {
  Fork fork;
  std::vector<Way> ways = weigh(branch, program_.steps[branch.step]);
  for (Way& way : ways) {
    // A loop that measures would go on for ever: what is left of it is noise at some time.
    const double share = way.choice.share, of = program_.control ? branch.weight : 1;
    const bool possible =
        share > noise_probability(parts_.state.precision) && share * of > (program_.control ? kNegligible : 0);
    if (!way.shots.empty() || (read_outs_.exact() && possible)) {
      fork.ways.push_back(std::move(way));
    } else {
      fork.left_out += branch.weight * share;
    }
  }
  if (!fork.ways.empty() || (read_outs_.exact() && program_.control)) return fork;
  // Where nothing is asked for, the likeliest one is followed.
  const auto share = [](const Way& way) { return way.choice.share; };
  fork.ways.push_back(std::move(*std::ranges::max_element(ways, {}, share)));
  return fork;
}

void Walker::take(Branch& branch, const Choice& choice) {
  const Step& step = program_.steps[branch.step];
  const Transition acts = operators_[step.instrument][choice.outcome];
  if (!test_bit(branch.known, step.qubit) || acts.from != acts.to) {
    branch.norm = collapse_.keep(step.qubit, acts, choice.probability, read_outs_.exact());
  }
  const Index qubit = bit_mask(step.qubit);
  branch.known |= qubit;
  branch.known_one = acts.to ? branch.known_one | qubit : branch.known_one & ~qubit;
  branch.weight *= choice.share;
  ++branch.step;
  if (!program_.records(step)) return;
  if (program_.control) {
    branch.memory.set(step.clbit, make_bit(choice.outcome == 1));
  } else {
    branch.bits.set(step.clbit, choice.outcome == 1);
  }
}

}  // namespace qsim
