// Flow programs made smaller, and as circuits where no measurement decides anything.
#include <algorithm>
#include <array>

#include "base/file/source_lines.h"
#include "classical/flow.h"

namespace qsim {
namespace {

using Kind = FlowStep::Kind;

// Variables that something reads: branches, the end, and assignments of such variables.
std::vector<bool> variables_read(const Control& flow) {
  std::vector<bool> read(flow.variables.size());
  for (const FlowOutput& output : flow.outputs) {
    for (const FlowValue& value : output.values) {
      if (!value.known) read[value.variable] = true;
    }
  }
  std::vector<bool> done(flow.steps.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = flow.steps.size(); i-- > 0;) {
      const FlowStep& step = flow.steps[i];
      const bool reads = step.kind == Kind::kBranch || (step.kind == Kind::kAssign && read[step.a]);
      if (done[i] || !reads) continue;
      done[i] = more = true;
      const std::uint32_t expression = step.kind == Kind::kBranch ? step.a : step.b;
      flow.for_each_variable(expression, [&](std::uint32_t variable) { read[variable] = true; });
    }
  }
  return read;
}

// Where a jump to `target` ends once jumps on the way are followed.
std::uint32_t final_target(const Control& flow, std::uint32_t target) {
  for (std::size_t hops = 0; hops < flow.steps.size(); ++hops) {
    if (target >= flow.steps.size() || flow.steps[target].kind != Kind::kJump) return target;
    target = flow.steps[target].b;
  }
  return target;
}

std::vector<bool> steps_reached(const Control& flow) {
  std::vector<bool> reached(flow.steps.size());
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    std::uint32_t at = open.back();
    open.pop_back();
    while (at < flow.steps.size() && !reached[at]) {
      reached[at] = true;
      const FlowStep& step = flow.steps[at];
      if (jumps(step)) open.push_back(step.b);
      if (step.kind == Kind::kJump) break;
      ++at;
    }
  }
  return reached;
}

// Removes the steps that are not kept; jumps to them go to the next one that is.
bool keep_steps(Control& flow, const std::vector<bool>& keep) {
  std::vector<std::uint32_t> place(flow.steps.size() + 1);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < flow.steps.size(); ++i) {
    place[i] = kept;
    if (keep[i]) ++kept;
  }
  place[flow.steps.size()] = kept;
  if (kept == flow.steps.size()) return false;
  std::vector<FlowStep> steps;
  steps.reserve(kept);
  for (std::size_t i = 0; i < flow.steps.size(); ++i) {
    if (!keep[i]) continue;
    FlowStep step = flow.steps[i];
    if (jumps(step)) step.b = place[step.b];
    steps.push_back(step);
  }
  flow.steps = std::move(steps);
  return true;
}

}  // namespace

void tidy(Control& flow) {
  const std::vector<bool> read = variables_read(flow);
  std::vector<bool> keep(flow.steps.size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    keep[i] = flow.steps[i].kind != Kind::kAssign || read[flow.steps[i].a];
  }
  keep_steps(flow, keep);
  for (bool changed = true; changed;) {
    for (FlowStep& step : flow.steps) {
      if (jumps(step)) step.b = final_target(flow, step.b);
    }
    keep = steps_reached(flow);
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (jumps(flow.steps[i]) && flow.steps[i].b == i + 1) keep[i] = false;
    }
    changed = keep_steps(flow, keep);
  }
}

namespace {

// Makes the classical registers; by variable the bits that hold it at the end.
std::vector<std::vector<Clbit>> add_registers(const Control& flow, Circuit& circuit) {
  std::vector<std::vector<Clbit>> bits_of(flow.variables.size());
  for (const FlowOutput& output : flow.outputs) {
    if (!output.is_register) continue;
    Clbit bit = circuit.clbits();
    circuit.add_creg(output.name, static_cast<std::uint32_t>(output.values.size()));
    for (const FlowValue& value : output.values) {
      if (!value.known) {
        bits_of[value.variable].push_back(bit);
      } else if (truth(value.constant)) {
        circuit.set_initial(bit, true);
      }
      ++bit;
    }
  }
  return bits_of;
}

// By step: whether something acts on the step's qubit after it.
std::vector<bool> used_later(const Control& flow, const Circuit& circuit) {
  std::vector<bool> used(circuit.qubits()), later(flow.steps.size());
  for (std::size_t i = flow.steps.size(); i-- > 0;) {
    const FlowStep& step = flow.steps[i];
    if (step.kind == Kind::kRun) {
      for (std::uint32_t k = step.a; k < step.b; ++k) {
        const Operation& op = circuit.operations()[k];
        if (op.kind == OpKind::kBarrier) continue;
        for (const Qubit qubit : circuit.controls(op)) used[qubit] = true;
        for (const Qubit qubit : circuit.targets(op)) used[qubit] = true;
      }
    } else {
      later[i] = used[step.a];
      used[step.a] = true;
    }
  }
  return later;
}

// Gives hidden bits to the measurements that write no register although something reads them (`read`, by variable) or
// acts on their qubit later.
void add_hidden_bits(const Control& control, const std::vector<bool>& later, const std::vector<bool>& read,
                     std::vector<std::vector<Clbit>>& bits_of, Circuit& circuit) {
  std::vector<std::uint32_t> hidden;
  for (std::size_t i = 0; i < control.steps.size(); ++i) {
    if (control.steps[i].kind != Kind::kMeasure) continue;
    const std::uint32_t variable = control.steps[i].b;
    if (bits_of[variable].empty() && (later[i] || read[variable])) hidden.push_back(variable);
  }
  if (hidden.empty()) return;
  Clbit bit = circuit.clbits();
  circuit.add_creg("", static_cast<std::uint32_t>(hidden.size()));
  for (const std::uint32_t variable : hidden) bits_of[variable] = {bit++};
}

// What is left to compute when `flow` has run; the outputs by value are all that counts.
Control classical_end(const Flow& flow) {
  Control end;
  end.outputs = outputs_by_value(flow.outputs);
  end.variables = flow.variables;
  if (end.outputs.empty()) return end;
  end.expressions = flow.expressions;
  end.constants = flow.constants;
  end.steps = flow.steps;
  std::vector<bool> keep;
  for (const FlowStep& step : end.steps) keep.push_back(is_classical(step.kind));
  keep_steps(end, keep);
  tidy(end);
  return end;
}

// Steps from `first` on behind the operations that `circuit` has already.
void append_steps(const Control& control, std::size_t first, const Circuit& from,
                  const std::vector<std::vector<Clbit>>& bits_of, Circuit& circuit) {
  for (std::size_t i = first; i < control.steps.size(); ++i) {
    const FlowStep& step = control.steps[i];
    SourceLines::set(circuit, step.line);
    if (step.kind == Kind::kReset) circuit.add_reset(step.a);
    if (step.kind == Kind::kMeasure) {
      for (const Clbit bit : bits_of[step.b]) circuit.add_measure(step.a, bit);
    }
    if (step.kind != Kind::kRun) continue;
    for (std::uint32_t k = step.a; k < step.b; ++k) circuit.append(from, from.operations()[k]);
  }
}

}  // namespace

Circuit controlled_circuit(Flow flow) {
  Circuit circuit = std::move(flow.circuit);
  flow.circuit = Circuit();
  add_registers(flow, circuit);
  circuit.set_control(std::make_shared<const Control>(std::move(flow)));
  return circuit;
}

std::optional<Circuit> straight_circuit(Flow& flow) {
  Control control = flow;
  std::erase_if(control.outputs, [](const FlowOutput& output) { return !output.is_register; });
  tidy(control);
  if (control.branches()) return std::nullopt;
  Control end = classical_end(flow);
  const auto first = static_cast<std::size_t>(
      std::ranges::find_if(control.steps, [](const FlowStep& step) { return step.kind != Kind::kRun; }) -
      control.steps.begin());
  // Gates up to the first measurement stay where they are; those behind it are copied.
  const bool more = std::any_of(control.steps.begin() + static_cast<std::ptrdiff_t>(first), control.steps.end(),
                                [](const FlowStep& step) { return step.kind == Kind::kRun; });
  const Circuit all = more ? flow.circuit : Circuit();
  const std::vector<bool> later = used_later(control, flow.circuit);
  Circuit circuit = std::move(flow.circuit);
  flow.circuit = Circuit();
  circuit.truncate(first == 0 ? 0 : control.steps[first - 1].b);
  if (flow.global_phase != 0 && circuit.qubits() > 0) {
    const Qubit qubit = 0;
    const std::array<double, 4> angles = {0, 0, 0, flow.global_phase};
    circuit.add_gate(Gate::kUPhase, {}, {&qubit, 1}, angles);
  }
  std::vector<std::vector<Clbit>> bits_of = add_registers(control, circuit);
  add_hidden_bits(control, later, variables_read(end), bits_of, circuit);
  append_steps(control, first, all, bits_of, circuit);
  if (end.outputs.empty()) return circuit;
  Finish finish;
  for (const std::vector<Clbit>& bits : bits_of) {
    finish.bit_of.push_back(bits.empty() ? std::nullopt : std::optional(bits.front()));
  }
  finish.control = std::move(end);
  circuit.set_finish(std::make_shared<const Finish>(std::move(finish)));
  return circuit;
}

}  // namespace qsim
