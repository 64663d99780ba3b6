// Circuits with angles that are bound later.
#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "qsim/batch.h"
#include "qsim/error.h"
#include "qsim/gate.h"

namespace qsim {
namespace {

constexpr std::array<Gate, 9> kBindable{Gate::kRx, Gate::kRy,  Gate::kRz,  Gate::kPhase, Gate::kU2,
                                        Gate::kU,  Gate::kRxx, Gate::kRyy, Gate::kRzz};

void check_size(std::uint32_t qubits) {
  if (qubits >= 1 && qubits <= kMaxBatchQubits) return;
  throw UnsupportedError("a batch is of circuits of 1 to " + std::to_string(kMaxBatchQubits) + " qubits, not " +
                         std::to_string(qubits));
}

}  // namespace

ParametricCircuit::ParametricCircuit(std::uint32_t qubits) : circuit_(qubits) { check_size(qubits); }

ParametricCircuit::ParametricCircuit(const Circuit& circuit) : circuit_(circuit.qubits()) {
  check_size(circuit.qubits());
  if (!circuit.measurements_are_terminal()) {
    throw UnsupportedError("a circuit that measures, resets or branches before its end prepares no single state");
  }
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kMeasure || op.kind == OpKind::kBarrier) continue;
    circuit_.append(circuit, op);
    if (op.kind != OpKind::kGate) continue;
    for (const double angle : circuit.params(op)) angles_.emplace_back(angle);
  }
}

void ParametricCircuit::add_gate(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                                 std::span<const Angle> angles) {
  std::vector<double> values;
  for (const Angle& angle : angles) {
    values.push_back(angle.offset);
    if (!angle.parameter) continue;
    if (std::find(kBindable.begin(), kBindable.end(), gate) == kBindable.end()) {
      throw UnsupportedError("the angles of " + std::string(gate_info(gate).name) +
                             " cannot be parameters: those of rx, ry, rz, p, u2, u, rxx, ryy and rzz can");
    }
  }
  circuit_.add_gate(gate, controls, targets, values);
  for (const Angle& angle : angles) {
    angles_.push_back(angle);
    if (angle.parameter) parameters_ = std::max(parameters_, *angle.parameter + 1);
  }
}

void ParametricCircuit::h(Qubit q) { add_gate(Gate::kH, {}, {&q, 1}); }
void ParametricCircuit::cx(Qubit control, Qubit target) { add_gate(Gate::kX, {&control, 1}, {&target, 1}); }
void ParametricCircuit::rx(const Angle& angle, Qubit q) { add_gate(Gate::kRx, {}, {&q, 1}, {&angle, 1}); }
void ParametricCircuit::ry(const Angle& angle, Qubit q) { add_gate(Gate::kRy, {}, {&q, 1}, {&angle, 1}); }
void ParametricCircuit::rz(const Angle& angle, Qubit q) { add_gate(Gate::kRz, {}, {&q, 1}, {&angle, 1}); }

Circuit ParametricCircuit::bind(std::span<const double> values) const {
  if (values.size() != parameters_) {
    throw UsageError(std::to_string(values.size()) + " values for a circuit of " + std::to_string(parameters_) +
                     " parameters");
  }
  Circuit bound(circuit_.qubits());
  std::size_t next = 0;
  for (const Operation& op : circuit_.operations()) {
    if (op.kind != OpKind::kGate) {
      bound.append(circuit_, op);
      continue;
    }
    std::vector<double> angles;
    for (std::size_t i = 0; i < circuit_.params(op).size(); ++i) angles.push_back(angles_[next++].value(values));
    bound.add_gate(op.gate, circuit_.controls(op), circuit_.targets(op), angles);
  }
  return bound;
}

}  // namespace qsim
