// Gate calls: parameters, broadcast, modifiers, bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/bits.h"
#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {

using qasm::quoted;

namespace {

// Sums of many stay finite.
double within_period(double angle) {
  return std::abs(angle) <= 2 * std::numbers::pi ? angle : std::atan2(std::sin(angle), std::cos(angle));
}

constexpr std::size_t kFew = 8;  // operands and parameters that need no memory of their own

// Angles of the table's gate e^(i gamma) u(theta, phi, lambda) for u2 and u3 of stdgates.inc.
std::array<double, 4> u3_angles(std::span<const double> p) {
  const double theta = p.size() == 2 ? std::numbers::pi / 2 : p[0];
  const double phi = p[p.size() - 2], lambda = p[p.size() - 1];
  return {theta, phi, lambda, -(phi + lambda) / 2};
}

}  // namespace

void Lowering::gate_call(NodeId id) {
  const Node node = tree_[id];
  const SymbolId symbol = model_.note(id).symbol;
  const GateDefinition gate = model_.gates[symbol == 0 ? 1 : model_.symbols[symbol].index];
  if (gate.kind == GateKind::kCalibrated) {
    throw Failure{node.at,
                  "gate " + quoted(model_.names.text(node.name)) + " has a calibration, but nothing says what it does",
                  "define it with 'gate'", ExitCode::kUnsupported};
  }
  std::array<double, kFew> few{};
  std::vector<double> many;
  if (gate.parameters > kFew) many.resize(gate.parameters);
  double* const values = many.empty() ? few.data() : many.data();
  std::size_t count = 0;
  for (NodeId each = node.b; each != 0; each = tree_[each].next) values[count++] = real(each);
  const std::span<const double> parameters(values, count);
  std::array<Qubit, kFew> qubits{};
  std::size_t operands = 0;
  NodeId each = node.c;
  for (; each != 0 && operands < kFew; each = tree_[each].next) {
    if (!single_qubit(each, qubits[operands])) break;
    ++operands;
  }
  if (each != 0) return apply_broadcast(node, gate, parameters);
  const std::span<const Qubit> all(qubits.data(), operands);
  for (std::size_t i = 1; i < operands; ++i) {
    if (std::find(qubits.begin(), qubits.begin() + i, qubits[i]) != qubits.begin() + i) {
      throw Failure{node.at, quoted(model_.names.text(node.name)) + ": the same qubit is used twice", ""};
    }
  }
  require_room({gate.operations, 0}, node.at);
  apply_modified(node, gate, parameters, all);
}

// Registers are walked in step; single qubits are repeated.
void Lowering::apply_broadcast(const Node& node, const GateDefinition& gate, std::span<const double> parameters) {
  const std::string name = quoted(model_.names.text(node.name));
  std::vector<std::vector<Qubit>> operands;
  std::vector<bool> repeats;
  std::size_t size = 1;
  bool has_register = false;
  for (NodeId each = node.c; each != 0; each = tree_[each].next) {
    operand(each, operands.emplace_back());
    repeats.push_back(model_.note(each).type.kind == TypeKind::kQubit);
    if (repeats.back()) continue;
    if (has_register && operands.back().size() != size) {
      throw Failure{tree_[each].at,
                    name + ": register sizes differ (" + std::to_string(size) + " and " +
                        std::to_string(operands.back().size()) + ")",
                    ""};
    }
    size = operands.back().size();
    has_register = true;
  }
  require_room({saturating_multiply(gate.operations, size), saturating_multiply(size, 2)}, node.at);
  std::vector<Qubit> qubits(operands.size());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) qubits[k] = operands[k][repeats[k] ? 0 : i];
    if (has_twice(qubits)) throw Failure{node.at, name + ": the same qubit is used twice", ""};
    charge(0, 1, node.at);
    apply_modified(node, gate, parameters, qubits);
  }
}

// Controls go with every other modifier, so they are taken off first; they own the left-most qubits.
void Lowering::apply_modified(const Node& node, const GateDefinition& gate, std::span<const double> parameters,
                              std::span<const Qubit> qubits) {
  if (node.a == 0) return apply_gate(gate, parameters, qubits, node.at);
  std::vector<double> exponents;
  std::vector<ControlQubit> own;
  std::size_t flips = 0;
  for (NodeId each = node.a; each != 0; each = tree_[each].next) {
    const Node modifier = tree_[each];
    if (modifier.word == kWordInv) {
      exponents.push_back(-1);
    } else if (modifier.word == kWordPow) {
      exponents.push_back(real(modifier.a));
    } else {
      const std::int64_t count = modifier.a == 0 ? 1 : integer(modifier.a);
      for (std::int64_t i = 0; i < count; ++i) {
        const bool on_zero = modifier.word == kWordNegctrl;
        own.emplace_back(qubits[own.size()], !on_zero);
        flips += on_zero ? 1 : 0;
      }
    }
  }
  std::reverse(exponents.begin(), exponents.end());
  charge(2 * flips, flips, node.at);
  const std::size_t outer = controls_.size();
  const std::span<const Qubit> targets = qubits.subspan(own.size());
  out_->between_flips(own, [&](std::span<const Qubit> controls) {
    controls_.insert(controls_.end(), controls.begin(), controls.end());
    if (exponents.empty()) {
      apply_gate(gate, parameters, targets, node.at);
    } else {
      apply_powers(gate, parameters, targets, exponents, node.at);
    }
    controls_.resize(outer);
  });
}

void Lowering::apply_gate(const GateDefinition& gate, std::span<const double> parameters, std::span<const Qubit> qubits,
                          std::uint32_t at) {
  switch (gate.kind) {
    case GateKind::kTable:
      charge(1, 1, at);
      return add_operation(gate.gate, qubits.first(gate.controls), qubits.subspan(gate.controls), parameters);
    case GateKind::kU: {
      charge(1, 1, at);
      const double factor = parameters[0] / 2;
      if (!controls_.empty()) {
        const std::array<double, 4> angles = {parameters[0], parameters[1], parameters[2], factor};
        return add_operation(Gate::kUPhase, {}, qubits, angles);
      }
      phase_ += within_period(factor);
      return add_operation(Gate::kU, {}, qubits, parameters);
    }
    case GateKind::kU3: {
      charge(1, 1, at);
      const std::array<double, 4> angles = u3_angles(parameters);
      if (!controls_.empty()) return add_operation(Gate::kUPhase, {}, qubits, angles);
      phase_ += within_period(angles[3]);
      return add_operation(Gate::kU, {}, qubits, std::span(angles).first(3));
    }
    case GateKind::kGlobalPhase:
      charge(1, 1, at);
      return add_phase(parameters[0]);
    case GateKind::kBody:
      return apply_body(gate, parameters, qubits);
    case GateKind::kCalibrated:
      break;
  }
  throw Error("a gate without a meaning was applied");
}

void Lowering::apply_body(const GateDefinition& gate, std::span<const double> parameters,
                          std::span<const Qubit> qubits) {
  const std::size_t frame = frame_begin_;
  const bool inside = std::exchange(in_function_, true);
  const std::uint32_t cells = memory_.size();
  frame_begin_ = frames_.size();
  frames_.resize(frame_begin_ + gate.frame);
  Binding* at = frames_.data() + frame_begin_;
  for (const double parameter : parameters) {
    const Scalar value = make_real({ScalarKind::kFloat, 64}, parameter);
    *at++ = {memory_.allocate(1, known_value(value)), 1, false};
  }
  for (const Qubit qubit : qubits) *at++ = {qubit, 1, false};
  ++gates_;
  block(gate.body);
  --gates_;
  frames_.resize(frame_begin_);
  frame_begin_ = frame;
  in_function_ = inside;
  memory_.release(cells);
}

void Lowering::add_operation(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                             std::span<const double> parameters) {
  if (controls_.empty()) {
    out_->add_gate(gate, controls, targets, parameters);
    return;
  }
  std::vector<Qubit> all = controls_;
  all.insert(all.end(), controls.begin(), controls.end());
  out_->add_gate(gate, all, targets, parameters);
}

// A phase under controls is a phase gate on the last of them.
void Lowering::add_phase(double angle) {
  if (controls_.empty()) {
    phase_ += within_period(angle);
    return;
  }
  const std::span<const Qubit> all(controls_);
  out_->add_gate(Gate::kPhase, all.first(all.size() - 1), all.last(1), {&angle, 1});
}

}  // namespace qsim::qasm3
