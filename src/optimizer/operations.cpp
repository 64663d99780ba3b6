// Operations as passes see them: where they are diagonal, their 2x2 matrices, and copies under other names.
#include "optimizer/operations.h"

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/file/source_lines.h"
#include "circuit/gate_table.h"

namespace qsim {
namespace {

bool is_diagonal_matrix(std::span<const double> parts, std::size_t targets) {
  const std::size_t order = std::size_t{1} << targets;
  for (std::size_t i = 0; i < order * order; ++i) {
    const bool on_diagonal = i / order == i % order;
    if (!on_diagonal && (parts[2 * i] != 0 || parts[2 * i + 1] != 0)) return false;
  }
  return true;
}

}  // namespace

bool is_of_cx(const Circuit& circuit) {
  return std::ranges::all_of(circuit.operations(), [](const Operation& op) {
    return skipped(op) || op.controls + op.targets < 2 || is_cx(op);
  });
}

Support support_of(const Circuit& circuit, const Operation& op) {
  Support support;
  for (const Qubit q : circuit.controls(op)) support.diagonal |= bit_mask(q);
  Index targets = 0;
  for (const Qubit q : circuit.targets(op)) targets |= bit_mask(q);
  support.all = support.diagonal | targets;
  switch (op.kind) {
    case OpKind::kGate:
      if (gate_info(op.gate).diagonal) support.diagonal |= targets;
      break;
    case OpKind::kUnitary:
      if (is_diagonal_matrix(circuit.params(op), op.targets)) support.diagonal |= targets;
      break;
    case OpKind::kPauliRotation: {
      const auto letters = circuit.letters(op);
      for (std::size_t j = 0; j < letters.size(); ++j)
        if (letters[j] == 3) support.diagonal |= bit_mask(circuit.targets(op)[j]);
      break;
    }
    case OpKind::kMeasure:
    case OpKind::kReset:
    case OpKind::kBarrier:
      break;
  }
  return support;
}

std::size_t count_runs(const Circuit& circuit) {
  std::vector<bool> goes_on(circuit.qubits(), false);
  std::size_t count = 0;
  for (const Operation& op : circuit.operations()) {
    if (skipped(op)) continue;
    const bool single = op.controls + op.targets == 1;
    if (!single || !goes_on[circuit.targets(op)[0]]) ++count;
    for_each_qubit(circuit, op, [&](Qubit q) { goes_on[q] = single; });
  }
  return count;
}

bool is_open(const Circuit& circuit, const Operation& op) {
  if (circuit.parameters().empty() || (op.kind != OpKind::kGate && op.kind != OpKind::kPauliRotation)) return false;
  const std::size_t angles = circuit.params(op).size();
  for (std::size_t i = 0; i < angles; ++i) {
    if (!circuit.open_terms(op.param_begin + i).empty()) return true;
  }
  return false;
}

Angle whole_angle(const Circuit& circuit, const Operation& op) {
  Angle angle = circuit.params(op)[0];
  for (const Circuit::OpenTerm& term : circuit.open_terms(op.param_begin)) {
    angle.terms.emplace_back(circuit.parameters()[term.parameter], term.factor);
  }
  return angle;
}

std::optional<Matrix2> single_qubit_matrix(const Circuit& circuit, const Operation& op) {
  if (op.controls != 0 || op.targets != 1 || is_open(circuit, op)) return std::nullopt;
  if (op.kind != OpKind::kGate && op.kind != OpKind::kUnitary && op.kind != OpKind::kPauliRotation) return std::nullopt;
  if (op.kind == OpKind::kUnitary) {
    const auto parts = circuit.params(op);
    return Matrix2{Complex(parts[0], parts[1]), Complex(parts[2], parts[3]), Complex(parts[4], parts[5]),
                   Complex(parts[6], parts[7])};
  }
  const Matrix matrix = circuit.matrix(op);
  return Matrix2{matrix[0], matrix[1], matrix[2], matrix[3]};
}

void append_renamed(Circuit& out, const Circuit& circuit, const Operation& op, std::span<const Qubit> wire_of) {
  std::vector<Qubit> controls, targets;
  for (const Qubit q : circuit.controls(op)) controls.push_back(wire_of[q]);
  for (const Qubit q : circuit.targets(op)) targets.push_back(wire_of[q]);
  switch (op.kind) {
    case OpKind::kGate:
      if (is_open(circuit, op)) {
        const std::vector<ControlQubit> on_one(controls.begin(), controls.end());
        const Angle angle = whole_angle(circuit, op);
        out.apply(op.gate, on_one, targets, {&angle, 1});
      } else {
        out.add_gate(op.gate, controls, targets, circuit.params(op));
      }
      break;
    case OpKind::kUnitary:
      out.add_unitary(circuit.matrix(op), controls, targets, false);
      break;
    case OpKind::kPauliRotation: {
      std::string letters;
      for (const std::uint32_t letter : circuit.letters(op)) letters += "IXYZ"[letter];
      out.add_pauli_rotation(whole_angle(circuit, op), letters, targets, controls);
      break;
    }
    case OpKind::kMeasure:
    case OpKind::kReset:
    case OpKind::kBarrier:
      break;  // not in a unitary circuit
  }
}

Rewriter::Rewriter(const Circuit& circuit, Rewritten& result) : circuit_(circuit), result_(result) {
  result_.circuit = circuit.without_operations();
  result_.place.assign(circuit.operations().size(), kNoPlace);
}

void Rewriter::copy(std::uint32_t i) {
  result_.circuit.append(circuit_, circuit_.operations()[i]);
  count_here(i);
}

void Rewriter::copy_renamed(std::uint32_t i, std::span<const Qubit> wire_of) {
  append_renamed(append_for(i), circuit_, circuit_.operations()[i], wire_of);
  count_here(i);
}

void Rewriter::add_matrix(std::uint32_t i, Qubit qubit, const Matrix2& matrix) {
  append_for(i).add_unitary(matrix, {}, std::span(&qubit, 1), false);
}

Circuit& Rewriter::append_for(std::uint32_t i) {
  SourceLines::set(result_.circuit, circuit_.operations()[i].line);
  return result_.circuit;
}

}  // namespace qsim
