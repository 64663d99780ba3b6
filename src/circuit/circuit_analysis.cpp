// What can be said about a circuit as a whole: depth, inverse, terminal measurements, idle resets.
#include "circuit/circuit_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/file/source_lines.h"
#include "circuit/gate_table.h"
#include "circuit/unitary_power.h"
#include "classical/control.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

std::uint64_t Circuit::depth() const {
  // One level counter a qubit, then one a classical bit.
  std::vector<std::uint64_t> level(std::size_t{qubits_} + clbits_, 0);
  std::uint64_t deepest = 0;
  const auto for_each_place = [&](const Operation& op, auto&& visit) {
    for (const Qubit qubit : controls(op)) visit(level[qubit]);
    for (const Qubit qubit : targets(op)) visit(level[qubit]);
    if (op.kind == OpKind::kMeasure) visit(level[qubits_ + clbit(op)]);
    if (op.condition < 0) return;
    const Register& creg = cregs_[conditions_[static_cast<std::size_t>(op.condition)].creg];
    for (std::uint32_t i = 0; i < creg.size; ++i) visit(level[qubits_ + creg.first + i]);
  };
  for (const Operation& op : operations_) {
    std::uint64_t reached = 0;
    for_each_place(op, [&](std::uint64_t place) { reached = std::max(reached, place); });
    if (op.kind != OpKind::kBarrier) ++reached;
    for_each_place(op, [&](std::uint64_t& place) { place = reached; });
    deepest = std::max(deepest, reached);
  }
  return deepest;
}

std::uint64_t Circuit::operation_count() const {
  return static_cast<std::uint64_t>(std::count_if(operations_.begin(), operations_.end(),
                                                  [](const Operation& op) { return op.kind != OpKind::kBarrier; }));
}

Circuit Circuit::inverse() const {
  if (control_) throw UnsupportedError("a circuit whose measurements decide what runs has no inverse");
  Circuit inverse;
  for (const Register& qreg : qregs_) inverse.add_qreg(qreg.name, qreg.size);
  for (const Register& creg : cregs_) inverse.add_creg(creg.name, creg.size);
  for (auto op = operations_.rbegin(); op != operations_.rend(); ++op) {
    SourceLines::set(inverse, op->line);
    if (op->condition >= 0) throw UnsupportedError("a circuit with an if has no inverse", {"", op->line, 0});
    switch (op->kind) {
      case OpKind::kGate: {
        const GateCall call = gate_info(op->gate).inverse(params(*op));
        inverse.add_gate(call.gate, controls(*op), targets(*op), call.params);
        if (!open_.empty()) inverse.open_inverse(*this, *op);
        break;
      }
      case OpKind::kUnitary:
        inverse.add_unitary(adjoint(matrix(*op)), controls(*op), targets(*op), false);
        break;
      case OpKind::kPauliRotation: {
        std::string text;
        for (const std::uint32_t letter : letters(*op)) text += "IXYZ"[letter];
        inverse.add_pauli_rotation(-params(*op)[0], text, targets(*op), controls(*op));
        if (!open_.empty()) inverse.open_inverse(*this, *op);
        break;
      }
      case OpKind::kBarrier:
        inverse.add_barrier(targets(*op));
        break;
      case OpKind::kMeasure:
        throw UnsupportedError("a circuit with a measurement has no inverse", {"", op->line, 0});
      case OpKind::kReset:
        throw UnsupportedError("a circuit with a reset has no inverse", {"", op->line, 0});
    }
  }
  return inverse;
}

bool Circuit::measures() const {
  if (control_) return control_->measures();
  return std::any_of(operations_.begin(), operations_.end(),
                     [](const Operation& op) { return op.kind == OpKind::kMeasure; });
}

bool Circuit::measurements_are_terminal() const {
  if (control_) return false;
  std::vector<bool> qubit_measured(qubits_, false), clbit_written(clbits_, false);
  for (const Operation& op : operations_) {
    if (op.kind == OpKind::kBarrier) continue;
    if (op.kind == OpKind::kReset || op.condition >= 0) return false;
    for (const Qubit qubit : controls(op)) {
      if (qubit_measured[qubit]) return false;
    }
    for (const Qubit qubit : targets(op)) {
      if (qubit_measured[qubit]) return false;
    }
    if (op.kind != OpKind::kMeasure) continue;
    if (clbit_written[clbit(op)]) return false;
    qubit_measured[targets(op)[0]] = true;
    clbit_written[clbit(op)] = true;
  }
  return true;
}

CircuitSummary summarize(const Circuit& circuit) {
  CircuitSummary summary;
  summary.qubits = circuit.qubits();
  summary.operations = circuit.operation_count();
  summary.depth = circuit.depth();
  summary.qregs = circuit.qregs();
  summary.cregs = circuit.shown_cregs();
  for (const Register& creg : summary.cregs) summary.clbits += creg.size;
  return summary;
}

std::optional<Circuit> without_idle_resets(const Circuit& circuit) {
  std::vector<bool> touched(circuit.qubits(), false);
  std::vector<bool> idle(circuit.operations().size(), false);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const Operation& op = circuit.operations()[i];
    if (op.kind == OpKind::kBarrier) continue;
    if (op.kind == OpKind::kReset && !touched[circuit.targets(op)[0]]) {
      idle[i] = true;
      continue;
    }
    for (const Qubit qubit : circuit.controls(op)) touched[qubit] = true;
    for (const Qubit qubit : circuit.targets(op)) touched[qubit] = true;
  }
  if (std::find(idle.begin(), idle.end(), true) == idle.end()) return std::nullopt;
  Circuit kept = circuit.without_operations();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (!idle[i]) kept.append(circuit, circuit.operations()[i]);
  }
  return kept;
}

double unitarity_error(std::span<const Complex> matrix, std::size_t order) {
  double worst = 0;
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t other = row; other < order; ++other) {
      Complex sum = row == other ? -1.0 : 0.0;
      for (std::size_t k = 0; k < order; ++k) sum += matrix[row * order + k] * std::conj(matrix[other * order + k]);
      if (!std::isfinite(sum.real()) || !std::isfinite(sum.imag())) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

double unitarity_defect(const Circuit& circuit) {
  double defect = 0;
  for (const Operation& op : circuit.operations()) {
    if (op.kind != OpKind::kUnitary) continue;
    const std::size_t order = std::size_t{1} << op.targets;
    defect += static_cast<double>(order) * unitarity_error(circuit.matrix(op), order);
  }
  return defect;
}

}  // namespace qsim
