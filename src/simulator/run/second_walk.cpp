// Every unitary operation is a plan of its own and every condition a step's own: nothing is merged, moved or left out.
#include "simulator/run/second_walk.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "circuit/circuit_analysis.h"
#include "classical/control.h"
#include "plan/program/layout.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/answer/read_outs.h"

namespace qsim {
namespace {

/// By operation: whether it is one of the measurements that `program` reads from the final state.
std::vector<bool> find_terminal(const Circuit& circuit, const PlannedCircuit& program) {
  const auto& operations = circuit.operations();
  std::vector<bool> terminal(operations.size(), false);
  std::size_t left = program.terminal_measures.size();
  // Nothing uses the qubit of a terminal measurement again, so from the end the first one that matches is it.
  for (std::size_t i = operations.size(); i-- > 0 && left > 0;) {
    const Operation& op = operations[i];
    if (op.kind != OpKind::kMeasure || op.condition >= 0) continue;
    terminal[i] = program.terminal_measures[left - 1] == std::pair{circuit.targets(op)[0], circuit.clbit(op)};
    if (terminal[i]) --left;
  }
  if (left > 0) throw VerificationError("the program reads a measurement at the end that the circuit does not have");
  return terminal;
}

class StepMaker {
 public:
  StepMaker(const Circuit& circuit, const Machine& machine, const PlanOptions& options)
      : circuit_(circuit), machine_(machine), options_(options) {
    options_.strategy = Strategy::kNaive;
    options_.known_zeros = false;
    options_.tile_bits.reset();
  }

  PlannedCircuit run(const PlannedCircuit& first) {
    if (circuit_.control() != nullptr) return plan_circuit(with_single_blocks(), machine_, options_);
    const std::vector<bool> terminal = find_terminal(circuit_, first);
    program_.conditions = circuit_.conditions();
    program_.terminal_measures = first.terminal_measures;
    program_.dynamic = true;
    add_plan(Circuit(circuit_.qubits()), -1);  // writes the start state
    for (std::size_t i = 0; i < terminal.size(); ++i) {
      const Operation& op = circuit_.operations()[i];
      if (terminal[i] || op.kind == OpKind::kBarrier) continue;
      if (op.kind == OpKind::kMeasure || op.kind == OpKind::kReset) {
        program_.steps.push_back(collapse_step(circuit_, op, op.condition));
      } else {
        Circuit one(circuit_.qubits());
        one.append(circuit_, op, false);
        add_plan(one, op.condition);
      }
    }
    if (first.collapses() != program_.collapses()) {
      throw VerificationError("the program has " + std::to_string(first.collapses()) +
                              " measurements and resets on its way, and the circuit " +
                              std::to_string(program_.collapses()));
    }
    return std::move(program_);
  }

 private:
  /// The circuit with each operation a block of its own.
  Circuit with_single_blocks() const {
    Circuit circuit = circuit_;
    Control control = *circuit_.control();
    std::vector<std::uint32_t> places;  // of each step among the new ones
    std::vector<FlowStep> steps;
    for (FlowStep step : control.steps) {
      places.push_back(static_cast<std::uint32_t>(steps.size()));
      const bool block = step.kind == FlowStep::Kind::kRun;
      for (; block && step.a + 1 < step.b; ++step.a) {
        steps.push_back(step);
        steps.back().b = step.a + 1;
      }
      steps.push_back(step);
    }
    places.push_back(static_cast<std::uint32_t>(steps.size()));
    for (FlowStep& step : steps) {
      if (jumps(step)) step.b = places.at(step.b);
    }
    control.steps = std::move(steps);
    circuit.set_control(std::make_shared<const Control>(std::move(control)));
    return circuit;
  }

  void add_plan(const Circuit& part, std::int32_t condition) {
    Step step;
    step.condition = condition;
    step.plan = static_cast<std::uint32_t>(program_.plans.size());
    program_.plans.push_back(make_plan(part, machine_, options_));
    program_.steps.push_back(step);
    options_.start = Start::kState;
    options_.initial_layout = program_.plans.back().final_layout;
    options_.preserve_layout = true;
  }

  const Circuit& circuit_;
  const Machine& machine_;
  PlanOptions options_;
  PlannedCircuit program_;
};

/// Shots that fell otherwise in the second walk.
std::uint64_t moved_shots(const Answers& first, const Answers& second) {
  std::uint64_t moved = 0;
  visit_both(first.counts.value(), second.counts.value(),
             [&](OutcomeWords, std::uint64_t once, std::uint64_t again) { moved += once > again ? once - again : 0; });
  return moved;
}

/// One branch after the other, so that none is made one with another; side by side where that takes too many.
Answers walk(ProgramRun& run, const ReadOuts& read_outs) {
  run.one_by_one = true;
  try {
    return run.run(read_outs);
  } catch (const UnsupportedError&) {
    run.one_by_one = false;
    return run.run(read_outs);
  }
}

}  // namespace

SecondWalk::SecondWalk(const Circuit& circuit, const PlannedCircuit& first, const Machine& machine,
                       const PlanOptions& options)
    : circuit_(circuit), precision_(options.precision), program_(StepMaker(circuit, machine, options).run(first)) {}

bool SecondWalk::add_to(PoolLayout& pool, const Machine& machine, std::uint32_t rank_bits,
                        std::uint64_t usable_bytes) const {
  const PoolLayout both = joined(pool, program_layout(program_, machine, rank_bits));
  if (both.total_bytes() > usable_bytes) return false;
  pool = both;
  return true;
}

void SecondWalk::compare(const Answers& first, ProgramRun& run, const ReadOuts& read_outs) const {
  const Answers second = walk(run, read_outs);
  for (const ReadOut& row : read_out_table()) {
    if (row.compare != nullptr) row.compare(Comparison(2 * tolerance(), circuit_.cregs()), first, second);
  }
  if (read_outs.shots > 0) compare_shots(read_outs, first, second);
}

double SecondWalk::tolerance() const {
  return amplitude_tolerance(precision_, 2 * circuit_.depth()) + unitarity_defect(circuit_);
}

/// Both walks draw with the same random words: a shot falls otherwise only where a word lies within rounding of the
/// border between two outcomes.
void SecondWalk::compare_shots(const ReadOuts& read_outs, const Answers& first, const Answers& second) const {
  const double shots = static_cast<double>(read_outs.shots);
  const double borders = static_cast<double>(program_.collapses() + circuit_.qubits());
  const double expected = shots * std::min(1.0, 2 * borders * tolerance());
  const double allowed = expected < 1e-6 ? 0 : expected + 6 * std::sqrt(expected) + 6;
  const std::uint64_t moved = moved_shots(first, second);
  if (static_cast<double>(moved) > allowed) {
    throw VerificationError(std::to_string(moved) + " of " + std::to_string(read_outs.shots) +
                            " shots fall otherwise in a second walk that does one operation at a time (rounding " +
                            "allows " + format_number(allowed) + "): the result is wrong and is not shown");
  }
  if (moved > 0) return;
  // What the shots' bits say of their branches, the state itself says of the rest.
  Comparison(2 * tolerance() + allowed / shots, circuit_.cregs())
      .compare("the shots' average of marginal", first.shot_marginals, second.shot_marginals);
}

}  // namespace qsim
