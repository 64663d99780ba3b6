// The end of a program: what its variables are, the global phase, the order of physical qubits.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/file/source_lines.h"
#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {

Flow Lowering::finish() {
  if (!ends_.empty()) {
    if (!ended_) end_here();
    // Variables that were not declared when an edge left are zero there.
    for (const std::uint32_t cell : result_cells()) memory_.write(cell, known_value(make_zero(memory_[cell].type())));
    join(ends_);
  }
  close_run();
  // A global phase shows in amplitudes alone; where measurements decide what happens there are none.
  if (!flow_.branches()) flow_.global_phase = std::remainder(phase_, 2 * std::numbers::pi);
  for (std::uint32_t place = 0; place < model_.physical.size(); ++place) physical(place);
  add_outputs(flow_);
  number_physical(flow_);
  return std::move(flow_);
}

// The cells of the variables of global scope so far, rising.
std::vector<std::uint32_t> Lowering::result_cells() {
  std::vector<std::uint32_t> cells;
  for (const SymbolId symbol : global_variables_) {
    const Binding& of = binding(symbol);
    for (std::uint32_t i = 0; i < of.count; ++i) cells.push_back(bound(of, i));
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

void Lowering::add_outputs(Flow& flow) {
  for (const SymbolId id : global_variables_) {
    const Symbol& symbol = model_.symbols[id];
    if ((symbol.flags & (kConst | kInput)) != 0 || symbol.type.is(ScalarKind::kDuration)) continue;
    FlowOutput output;
    output.name_number = name_of(id);
    output.name = model_.names.text(symbol.name);
    output.declared_output = (symbol.flags & kOutput) != 0;
    output.is_register = symbol.type.kind == TypeKind::kBits || symbol.type.is(ScalarKind::kBit);
    if (symbol.type.kind == TypeKind::kArray) output.shape = model_.shapes[symbol.type.shape];
    const Binding& of = binding(id);
    for (std::uint32_t i = 0; i < of.count; ++i) {
      const Value& value = memory_[bound(of, i)];
      FlowValue end;
      end.known = value.known();
      end.constant = value.scalar;
      if (!end.known) end.variable = flow.expressions[value.expression].a;
      output.values.push_back(end);
    }
    flow.outputs.push_back(std::move(output));
  }
}

// Physical qubits make one register "$" behind the declared ones, in the order of their numbers.
void Lowering::number_physical(Flow& flow) {
  if (physical_.empty()) return;
  const Circuit& from = flow.circuit;
  require_room({from.qubits(), 0}, 0);
  std::vector<std::uint32_t> order(physical_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return model_.physical[a] < model_.physical[b]; });
  Circuit to;
  std::vector<Qubit> renamed(from.qubits());
  for (const Register& qreg : from.qregs()) {
    if (qreg.name.front() == '$') continue;
    const Qubit first = to.qubits();
    to.add_qreg(qreg.name, qreg.size);
    for (std::uint32_t i = 0; i < qreg.size; ++i) renamed[qreg.first + i] = first + i;
  }
  const Qubit first = to.qubits();
  to.add_qreg("$", static_cast<std::uint32_t>(physical_.size()));
  for (std::uint32_t i = 0; i < order.size(); ++i) renamed[physical_[order[i]] - 1] = first + i;
  const auto mapped = [&](std::span<const Qubit> qubits) {
    std::vector<Qubit> result;
    for (const Qubit qubit : qubits) result.push_back(renamed[qubit]);
    return result;
  };
  for (const Operation& op : from.operations()) {
    SourceLines::set(to, op.line);
    const std::vector<Qubit> controls = mapped(from.controls(op)), targets = mapped(from.targets(op));
    if (op.kind == OpKind::kGate) {
      to.add_gate(op.gate, controls, targets, from.params(op));
    } else if (op.kind == OpKind::kUnitary) {
      to.add_unitary(from.matrix(op), controls, targets, false);
    } else {
      to.add_barrier(targets);
    }
  }
  for (FlowStep& step : flow.steps) {
    if (step.kind == FlowStep::Kind::kMeasure || step.kind == FlowStep::Kind::kReset) step.a = renamed[step.a];
  }
  flow.circuit = std::move(to);
}

}  // namespace qsim::qasm3
