// Gates of one phase, by name or by matrix, and the gates that terms become.
#include "optimizer/diagonal_term.h"

#include <string>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/operations.h"

namespace qsim {
namespace {

std::optional<double> phase_angle(const Circuit& circuit, const Operation& op) {
  if (op.targets != 1 || (op.kind != OpKind::kGate && op.kind != OpKind::kUnitary)) return std::nullopt;
  const Matrix matrix = circuit.matrix(op);
  if (matrix[0] != Complex(1) || matrix[1] != Complex(0) || matrix[2] != Complex(0)) return std::nullopt;
  if (op.kind == OpKind::kGate && op.gate == Gate::kPhase) return circuit.params(op)[0];
  return is_phase(matrix[3]) ? std::optional(std::arg(matrix[3])) : std::nullopt;
}

bool is_rotation(const Operation& op) {
  return op.kind == OpKind::kPauliRotation ||
         (op.kind == OpKind::kGate && (op.gate == Gate::kRz || op.gate == Gate::kRzz));
}

}  // namespace

std::vector<Qubit> qubits_of(Index mask) {
  std::vector<Qubit> list;
  for_each_bit(mask, [&](unsigned q) { list.push_back(q); });
  return list;
}

std::optional<DiagonalTerm> term_of(const Circuit& circuit, const Operation& op) {
  if (is_open(circuit, op)) return std::nullopt;
  DiagonalTerm term;
  for (const Qubit q : circuit.controls(op)) term.ones |= bit_mask(q);
  Index targets = 0;
  for (const Qubit q : circuit.targets(op)) targets |= bit_mask(q);
  if (targets == 0) return std::nullopt;
  if (is_rotation(op)) {
    term.parity = targets;
    term.angle = circuit.params(op)[0];
    return term;
  }
  const auto angle = phase_angle(circuit, op);
  if (!angle) return std::nullopt;
  term.ones |= targets;
  term.angle = *angle;
  return term;
}

double wrapped(const DiagonalTerm& term) {
  return term.parity != 0 ? 2 * wrap_angle(0.5 * term.angle) : wrap_angle(term.angle);
}

void append(Circuit& circuit, const DiagonalTerm& term) {
  const double angle = term.angle;
  if (term.parity == 0) {
    const Index target = term.ones & (~term.ones + 1);
    circuit.add_gate(Gate::kPhase, qubits_of(term.ones & ~target), qubits_of(target), std::span(&angle, 1));
    return;
  }
  const std::vector<Qubit> controls = qubits_of(term.ones), targets = qubits_of(term.parity);
  if (targets.size() == 1) {
    circuit.add_gate(Gate::kRz, controls, targets, std::span(&angle, 1));
  } else {
    circuit.add_pauli_rotation(angle, std::string(targets.size(), 'Z'), targets, controls);
  }
}

}  // namespace qsim
