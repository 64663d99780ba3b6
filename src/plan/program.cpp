// Programs: a dynamic circuit as plans joined by measurements and resets.
#include <algorithm>
#include <cmath>

#include "qsim/error.h"
#include "qsim/plan.h"

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

// Appends a unitary operation without its condition.
void append_unconditional(Circuit& out, const Circuit& circuit, const Operation& op) {
  const auto controls = circuit.controls(op), targets = circuit.targets(op);
  const auto params = circuit.params(op);
  out.set_line(op.line);
  switch (op.kind) {
    case OpKind::kGate:
      out.add_gate(op.gate, controls, targets, params);
      return;
    case OpKind::kUnitary:
      out.add_unitary(circuit.matrix(op), controls, targets, false);
      return;
    case OpKind::kPauliRotation: {
      std::string letters;
      for (const std::uint32_t letter : circuit.letters(op)) letters.push_back("IXYZ"[letter]);
      out.add_pauli_rotation(params[0], letters, targets, controls);
      return;
    }
    case OpKind::kMeasure:
    case OpKind::kReset:
    case OpKind::kBarrier:
      break;
  }
  throw Error("only unitary operations belong in a plan");
}

class ProgramMaker {
 public:
  ProgramMaker(const Circuit& circuit, const Machine& machine, const PlanOptions& options)
      : circuit_(circuit), machine_(machine), options_(options), part_(circuit.qubits()) {}

  Program run() {
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
        if (condition != part_condition_) finish_part();
        part_condition_ = condition;
        append_unconditional(part_, circuit_, op);
        sources_.push_back(static_cast<std::uint32_t>(i));
      }
    }
    finish_part();
    if (program_.plans.empty()) add_plan(-1);
    program_.dynamic = !(program_.steps.size() == 1 && program_.steps[0].condition < 0);
    return std::move(program_);
  }

 private:
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
    if (program_.plans.empty()) add_plan(-1);  // something must write the start state
    Step step;
    step.kind = op.kind == OpKind::kMeasure ? Step::Kind::kMeasure : Step::Kind::kReset;
    step.condition = condition_of(op);
    step.qubit = circuit_.targets(op)[0];
    if (op.kind == OpKind::kMeasure) step.clbit = circuit_.clbit(op);
    program_.steps.push_back(step);
  }

  void finish_part() {
    if (sources_.empty()) return;
    if (part_condition_ >= 0 && program_.plans.empty()) {
      Circuit part(circuit_.qubits());
      std::vector<std::uint32_t> sources;
      std::swap(part, part_);
      std::swap(sources, sources_);
      add_plan(-1);
      std::swap(part, part_);
      std::swap(sources, sources_);
    }
    add_plan(part_condition_);
  }

  void add_plan(std::int32_t condition) {
    PlanOptions options = options_;
    if (!program_.plans.empty()) {
      options.start = Start::kState;
      options.initial_layout = program_.plans.back().final_layout;
    }
    // A conditional part may be left out, so the layout must not depend on it.
    options.preserve_layout = options_.preserve_layout || condition >= 0;
    Plan plan = make_plan(part_, machine_, options);
    for (TraceEntry& entry : plan.trace) entry.operation = sources_[entry.operation];
    Step step;
    step.condition = condition;
    step.plan = static_cast<std::uint32_t>(program_.plans.size());
    program_.plans.push_back(std::move(plan));
    program_.steps.push_back(step);
    part_ = Circuit(circuit_.qubits());
    sources_.clear();
    part_condition_ = -1;
  }

  const Circuit& circuit_;
  const Machine& machine_;
  const PlanOptions& options_;
  Program program_;
  Circuit part_;                        // unitary operations that the next plan stands for
  std::vector<std::uint32_t> sources_;  // their indices in the circuit
  std::int32_t part_condition_ = -1;
};

}  // namespace

Program make_program(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  return ProgramMaker(circuit, machine, options).run();
}

}  // namespace qsim
