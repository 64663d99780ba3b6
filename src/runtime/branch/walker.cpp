// Steps of a program, one at a time.
#include "runtime/branch/walker.h"

#include <algorithm>
#include <cmath>
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
    } else if (step.kind == Step::Kind::kMeasure || step.kind == Step::Kind::kReset) {
      collapse_.prepare(layout.bit_of.at(step.qubit), step.kind == Step::Kind::kReset);
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
           " times in one branch (--max-iterations allows more)");
  }
  if (++branch.taken > kMaxClassicalSteps) {
    refuse("a branch took more than " + std::to_string(kMaxClassicalSteps) + " classical steps");
  }
}

/// What either outcome would be, and the branch's shots by outcome. Shots are drawn in integers, exact answers take
/// each outcome's own sum: 1 less the other's share would have no digits left of a rare one.
std::array<Choice, 2> Walker::weigh(const Branch& branch, const Step& step, std::array<ShotLists, 2>& shots) {
  if (test_bit(branch.known, step.qubit)) return know(branch, step, shots);
  std::array<double, 2> weights{};
  if (!branch.shots.empty() || !read_outs_.exact()) {
    const std::array<std::uint64_t, 2> units = collapse_.weigh_in_units(step.qubit);
    for (const ShotList& list : branch.shots) {
      // A step that runs again draws again: its number is that of the draw in the shot's own history.
      const std::uint32_t draw = program_.control ? list.draws : step.draw;
      require_draws(draw + 1);
      std::array<ShotList, 2> by_outcome;
      for (const std::uint64_t shot : list.shots) {
        const bool one = scale_word(shot_word(read_outs_.seed, shot, draw), units[0] + units[1]) >= units[0];
        by_outcome[one ? 1 : 0].shots.push_back(shot);
      }
      for (const std::size_t outcome : {0, 1}) {
        if (by_outcome[outcome].shots.empty()) continue;
        by_outcome[outcome].draws = list.draws + (program_.control ? 1 : 0);
        shots[outcome].push_back(std::move(by_outcome[outcome]));
      }
    }
    for (const std::size_t outcome : {0, 1}) weights[outcome] = std::ldexp(static_cast<double>(units[outcome]), -62);
  }
  if (read_outs_.exact()) weights = collapse_.weigh(step.qubit);
  const double total = weights[0] + weights[1];
  return {Choice{false, weights[0] / total, weights[0]}, Choice{true, weights[1] / total, weights[1]}};
}

/// The same for a qubit whose value is known: its shots draw, but whatever they draw decides nothing.
std::array<Choice, 2> Walker::know(const Branch& branch, const Step& step, std::array<ShotLists, 2>& shots) const {
  const bool one = test_bit(branch.known_one, step.qubit);
  shots[one ? 1 : 0] = branch.shots;
  for (ShotList& list : shots[one ? 1 : 0]) {
    if (program_.control) ++list.draws;
    require_draws(list.draws);
  }
  std::array<Choice, 2> choices{Choice{false, 0, 0}, Choice{true, 0, 0}};
  choices[one ? 1 : 0] = {one, 1, branch.norm};
  return choices;
}

Walker::Fork Walker::fork(const Branch& branch) {
  const Step& step = program_.steps[branch.step];
  Fork fork;
  fork.choices = weigh(branch, step, fork.shots);
  for (const std::size_t outcome : {0, 1}) {
    // A loop that measures would go on for ever: what is left of it is noise at some time.
    const double share = fork.choices[outcome].share, of = program_.control ? branch.weight : 1;
    const bool possible =
        share > noise_probability(parts_.state.precision) && share * of > (program_.control ? kNegligible : 0);
    fork.wanted[outcome] = !fork.shots[outcome].empty() || (read_outs_.exact() && possible);
    if (!fork.wanted[outcome]) fork.left_out += branch.weight * share;
  }
  if (fork.wanted[0] || fork.wanted[1]) return fork;
  if (read_outs_.exact() && program_.control) return fork;
  fork.wanted[fork.choices[1].share > 0.5 ? 1 : 0] = true;  // where nothing is asked for, the likelier one is followed
  return fork;
}

void Walker::take(Branch& branch, const Choice& choice) {
  const Step& step = program_.steps[branch.step];
  const bool reset = step.kind == Step::Kind::kReset;
  if (!test_bit(branch.known, step.qubit) || (reset && choice.one)) {
    branch.norm = collapse_.keep(step.qubit, choice.one, reset, choice.probability, read_outs_.exact());
  }
  const Index qubit = bit_mask(step.qubit);
  branch.known |= qubit;
  branch.known_one = choice.one && !reset ? branch.known_one | qubit : branch.known_one & ~qubit;
  branch.weight *= choice.share;
  ++branch.step;
  if (step.kind != Step::Kind::kMeasure) return;
  if (program_.control) {
    branch.memory.set(step.clbit, make_bit(choice.one));
  } else {
    branch.bits[step.clbit] = choice.one;
  }
}

}  // namespace qsim
