// Programs: a dynamic circuit as plans joined by measurements and resets.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classical/control.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

// By operation: whether it is a measurement whose qubit and bit nothing later uses.
std::vector<bool> find_terminal_measures(const Circuit& circuit) {
  const auto& operations = circuit.operations();
  std::vector<bool> terminal(operations.size(), false);
  std::vector<bool> qubit_used(circuit.qubits(), false), bit_used(circuit.clbits(), false);
  for (std::size_t i = operations.size(); i-- > 0;) {
    const Operation& op = operations[i];
    if (op.kind == OpKind::kBarrier) continue;
    if (op.kind == OpKind::kMeasure) {
      const Qubit qubit = circuit.targets(op)[0];
      const Clbit bit = circuit.clbit(op);
      terminal[i] = op.condition < 0 && !qubit_used[qubit] && !bit_used[bit];
      bit_used[bit] = true;
    }
    for (const Qubit qubit : circuit.controls(op)) qubit_used[qubit] = true;
    for (const Qubit qubit : circuit.targets(op)) qubit_used[qubit] = true;
    if (op.condition < 0) continue;
    const Register& creg = circuit.cregs()[circuit.conditions()[static_cast<std::size_t>(op.condition)].creg];
    std::fill_n(bit_used.begin() + creg.first, creg.size, true);
  }
  return terminal;
}

// Unitary operations in a row under one condition: what one plan stands for.
struct Part {
  explicit Part(std::uint32_t qubits, std::int32_t condition_index = -1)
      : circuit(qubits), condition(condition_index) {}
  Circuit circuit;                     // the operations without the condition
  std::vector<std::uint32_t> sources;  // their indices in the whole circuit
  std::int32_t condition;              // index in the program, -1: always
};

class ProgramMaker {
 public:
  ProgramMaker(const Circuit& circuit, const Machine& machine, const PlanOptions& options)
      : circuit_(circuit), machine_(machine), options_(options) {}

  PlannedCircuit run() {
    if (circuit_.control() != nullptr) return run_controlled(*circuit_.control());
    const std::vector<bool> terminal = find_terminal_measures(circuit_);
    for (std::size_t i = 0; i < terminal.size(); ++i) {
      const Operation& op = circuit_.operations()[i];
      if (op.kind == OpKind::kBarrier) continue;
      if (terminal[i]) {
        program_.terminal_measures.emplace_back(circuit_.targets(op)[0], circuit_.clbit(op));
      } else if (op.kind == OpKind::kMeasure || op.kind == OpKind::kReset) {
        add_collapse(op);
      } else {
        const std::int32_t condition = condition_of(op);
        if (part_ && part_->condition != condition) finish_part();
        if (!part_) part_.emplace(circuit_.qubits(), condition);
        part_->circuit.append(circuit_, op, false);
        part_->sources.push_back(static_cast<std::uint32_t>(i));
      }
    }
    finish_part();
    write_start();
    program_.dynamic = program_.steps.size() > 1;  // the first one always is a plan without a condition
    return std::move(program_);
  }

 private:
  // Blocks whose order measurements decide: every plan begins and ends with the layout that the first one leaves.
  PlannedCircuit run_controlled(const Control& control) {
    program_.control = control;
    program_.control->steps.clear();
    program_.dynamic = true;
    write_start();
    std::vector<std::uint32_t> places;
    for (const FlowStep& step : control.steps) {
      places.push_back(static_cast<std::uint32_t>(program_.steps.size()));
      add_controlled(step);
    }
    places.push_back(static_cast<std::uint32_t>(program_.steps.size()));
    for (Step& step : program_.steps) {
      if (jumps(step.flow)) step.flow.b = places.at(step.flow.b);
    }
    return std::move(program_);
  }

  void add_controlled(const FlowStep& from) {
    if (from.kind == FlowStep::Kind::kRun) return add_block(from);
    Step step;
    step.flow = from;
    if (is_classical(from.kind)) {
      step.kind = Step::Kind::kClassical;
    } else {
      const bool measures = from.kind == FlowStep::Kind::kMeasure;
      step.kind = Step::Kind::kInstrument;
      step.instrument = measures ? PlannedCircuit::kMeasurement : PlannedCircuit::kReset;
      step.qubit = from.a;
      step.clbit = from.b;
    }
    program_.steps.push_back(step);
  }

  // Blocks of the same operations share a plan.
  void add_block(const FlowStep& block) {
    Part part(circuit_.qubits());
    std::string key;
    const auto note = [&key](const auto& values) {
      const auto bytes = std::as_bytes(std::span(values));
      key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    for (std::uint32_t i = block.a; i < block.b; ++i) {
      const Operation& op = circuit_.operations()[i];
      if (op.kind == OpKind::kBarrier) continue;
      part.circuit.append(circuit_, op, false);
      part.sources.push_back(i);
      note(std::array<std::uint64_t, 4>{static_cast<std::uint64_t>(op.kind), static_cast<std::uint64_t>(op.gate),
                                        op.controls, op.targets});
      note(circuit_.controls(op));
      note(circuit_.targets(op));
      note(circuit_.letters(op));
      note(circuit_.params(op));
    }
    if (part.sources.empty()) return;
    const auto [known, is_new] =
        plan_of_block_.emplace(std::move(key), static_cast<std::uint32_t>(program_.plans.size()));
    if (is_new) return add_plan(part);
    Step step;
    step.plan = known->second;
    program_.steps.push_back(step);
  }

  // Index of the operation's condition in the program; equal conditions share one.
  std::int32_t condition_of(const Operation& op) {
    if (op.condition < 0) return -1;
    const Condition& wanted = circuit_.conditions()[static_cast<std::size_t>(op.condition)];
    auto& conditions = program_.conditions;
    const auto found = std::find(conditions.begin(), conditions.end(), wanted);
    if (found == conditions.end()) {
      conditions.push_back(wanted);
      return static_cast<std::int32_t>(conditions.size()) - 1;
    }
    return static_cast<std::int32_t>(found - conditions.begin());
  }

  void add_collapse(const Operation& op) {
    finish_part();
    write_start();
    program_.steps.push_back(collapse_step(circuit_, op, condition_of(op)));
  }

  void finish_part() {
    if (!part_) return;
    const Part part = *std::exchange(part_, std::nullopt);
    if (part.condition >= 0) write_start();
    add_plan(part);
  }

  // Whatever comes next may be left out or needs a state: an empty plan writes it where nothing has yet.
  void write_start() {
    if (program_.plans.empty()) add_plan(Part(circuit_.qubits()));
  }

  void add_plan(const Part& part) {
    PlanOptions options = options_;
    if (!program_.plans.empty()) {
      options.start = Start::kState;
      options.initial_layout = program_.plans.back().final_layout;
    }
    // A conditional part may be left out, and a block may come next to any other: the layout must not depend on them.
    const bool anywhere = part.condition >= 0 || (program_.control && !program_.plans.empty());
    options.preserve_layout = options_.preserve_layout || anywhere;
    Plan plan = make_plan(part.circuit, machine_, options);
    for (TraceEntry& entry : plan.trace) entry.operation = part.sources[entry.operation];
    Step step;
    step.condition = part.condition;
    step.plan = static_cast<std::uint32_t>(program_.plans.size());
    program_.plans.push_back(std::move(plan));
    program_.steps.push_back(step);
  }

  const Circuit& circuit_;
  const Machine& machine_;
  const PlanOptions& options_;
  PlannedCircuit program_;
  std::optional<Part> part_;  // not planned yet
  std::map<std::string, std::uint32_t> plan_of_block_;
};

}  // namespace

std::uint64_t PlannedCircuit::collapses() const {
  return static_cast<std::uint64_t>(std::ranges::count(steps, Step::Kind::kInstrument, &Step::kind));
}

Step collapse_step(const Circuit& circuit, const Operation& op, std::int32_t condition) {
  const bool measures = op.kind == OpKind::kMeasure;
  return {Step::Kind::kInstrument,
          condition,
          0,
          measures ? PlannedCircuit::kMeasurement : PlannedCircuit::kReset,
          circuit.targets(op)[0],
          measures ? circuit.clbit(op) : 0};
}

PlannedCircuit plan_circuit(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  return ProgramMaker(circuit, machine, options).run();
}

}  // namespace qsim
