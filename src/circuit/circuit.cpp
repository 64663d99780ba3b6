// Circuit: appending operations with their checks, and reading them back.
#include "qsim/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "base/text.h"
#include "circuit/circuit_analysis.h"
#include "circuit/gate_table.h"
#include "classical/control.h"
#include "qsim/error.h"

namespace qsim {
namespace {

// Rows of the table without an OpenQASM spelling still need a name in messages.
std::string_view label(Gate gate) {
  const GateInfo& info = gate_info(gate);
  if (!info.name.empty()) return info.name;
  if (!info.controlled_names.empty()) return info.controlled_names.front();
  return gate_spelling(gate, 0);
}

// Adds it behind the `used` bits of those before it.
std::uint32_t add_register(std::vector<Register>& registers, const std::string& name, std::uint32_t size,
                           std::uint32_t& used) {
  if (size > std::numeric_limits<std::uint32_t>::max() - used) {
    throw CircuitError(fmt::format("register {}[{}] makes more than 2^32 bits", name, size));
  }
  registers.push_back({name, used, size});
  used += size;
  return static_cast<std::uint32_t>(registers.size() - 1);
}

/// As Circuit::between_flips(), for every gate that is appended by its name: without a call through a function object.
template <class Append>
Circuit& append_between_flips(Circuit& circuit, std::span<const ControlQubit> controls, const Append& append) {
  std::vector<Qubit> qubits;
  for (const ControlQubit& control : controls) qubits.push_back(control.qubit);
  const auto flip_zeros = [&] {
    for (const ControlQubit& control : controls) {
      if (!control.value) circuit.x(control.qubit);
    }
  };
  const std::size_t before = circuit.operations().size();
  try {
    flip_zeros();
    append(qubits);
    flip_zeros();
  } catch (...) {
    circuit.truncate(before);
    throw;
  }
  return circuit;
}

}  // namespace

Circuit::Circuit(std::uint32_t qubits, std::uint32_t clbits) {
  if (qubits > 0) add_qreg("q", qubits);
  if (clbits > 0) add_creg("c", clbits);
}

std::uint32_t Circuit::add_qreg(const std::string& name, std::uint32_t size) {
  if (name.empty()) throw CircuitError("a quantum register needs a name");
  return add_register(qregs_, name, size, qubits_);
}

std::uint32_t Circuit::add_creg(const std::string& name, std::uint32_t size) {
  if (!name.empty() && !cregs_.empty() && cregs_.back().name.empty()) {
    throw CircuitError(fmt::format("register {} behind one without a name: those come last", name));
  }
  return add_register(cregs_, name, size, clbits_);
}

std::vector<Register> Circuit::shown_cregs() const {
  std::vector<Register> shown;
  std::ranges::copy_if(cregs_, std::back_inserter(shown), [](const Register& creg) { return !creg.name.empty(); });
  return shown;
}

void Circuit::set_initial(Clbit clbit, bool value) {
  if (clbit >= clbits_) {
    throw CircuitError(fmt::format("classical bit {} does not exist: the circuit has {}", clbit, clbits_));
  }
  if (clbit >= initial_.size()) initial_.resize(clbit + std::size_t{1});
  initial_[clbit] = value;
}

void Circuit::set_control(std::shared_ptr<const Control> control) {
  for (const FlowStep& step : control->steps) {
    const bool run = step.kind == FlowStep::Kind::kRun;
    if (run && (step.a > step.b || step.b > operations_.size())) {
      throw CircuitError(
          fmt::format("a block of operations {} to {}: there are {}", step.a, step.b, operations_.size()));
    }
    const bool collapse = step.kind == FlowStep::Kind::kMeasure || step.kind == FlowStep::Kind::kReset;
    if (collapse && step.a >= qubits_) {
      throw CircuitError(fmt::format("qubit {} does not exist: the circuit has {} qubits", step.a, qubits_));
    }
  }
  control_ = std::move(control);
}

void Circuit::set_finish(std::shared_ptr<const Finish> finish) {
  for (const FlowStep& step : finish->control.steps) {
    if (!is_classical(step.kind)) throw CircuitError("the classical end of a circuit has an operation");
  }
  for (const std::optional<Clbit>& bit : finish->bit_of) {
    if (bit && *bit >= clbits_) {
      throw CircuitError(fmt::format("classical bit {} does not exist: the circuit has {}", *bit, clbits_));
    }
  }
  finish_ = std::move(finish);
}

Circuit Circuit::without_operations() const {
  Circuit empty;
  empty.qubits_ = qubits_;
  empty.clbits_ = clbits_;
  empty.qregs_ = qregs_;
  empty.cregs_ = cregs_;
  empty.initial_ = initial_;
  empty.finish_ = finish_;
  empty.parameters_ = parameters_;
  empty.numbers_ = numbers_;
  empty.operations_.reserve(operations_.size());
  empty.operands_.reserve(operands_.size());
  empty.params_.reserve(params_.size());
  return empty;
}

void Circuit::truncate(std::size_t operations) {
  if (operations >= operations_.size()) return;
  open_.erase(open_.lower_bound(operations_[operations].param_begin), open_.end());
  operands_.resize(operations_[operations].operand_begin);
  params_.resize(operations_[operations].param_begin);
  operations_.resize(operations);
}

// Checks the operands and appends them to the pool.
Operation& Circuit::append_operation(OpKind kind, std::span<const Qubit> controls, std::span<const Qubit> targets) {
  if (operands_.size() + controls.size() + 2 * targets.size() + 1 > std::numeric_limits<std::uint32_t>::max()) {
    throw CircuitError("more than 2^32 operands in one circuit");
  }
  if (controls.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw CircuitError(fmt::format("{} controls on one operation; at most 65535", controls.size()));
  }
  const std::size_t begin = operands_.size();
  operands_.insert(operands_.end(), controls.begin(), controls.end());
  operands_.insert(operands_.end(), targets.begin(), targets.end());
  const auto refuse = [&](const std::string& message) {
    operands_.resize(begin);
    throw CircuitError(message);
  };
  // Two masks of 64 qubits would not do for wide circuits; short operand lists are compared pairwise, long ones sorted.
  const std::span<const std::uint32_t> all(operands_.data() + begin, operands_.size() - begin);
  for (const Qubit qubit : all) {
    if (qubit >= qubits_) refuse(fmt::format("qubit {} does not exist: the circuit has {} qubits", qubit, qubits_));
  }
  if (all.size() <= 16) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (all[i] == all[j]) refuse(fmt::format("qubit {} is used twice by one operation", all[i]));
      }
    }
  } else {
    std::vector<std::uint32_t> sorted(all.begin(), all.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) refuse(fmt::format("qubit {} is used twice by one operation", *twice));
  }
  Operation op;
  op.kind = kind;
  op.controls = static_cast<std::uint16_t>(controls.size());
  op.targets = static_cast<std::uint32_t>(targets.size());
  op.operand_begin = static_cast<std::uint32_t>(begin);
  op.param_begin = params_.size();
  op.condition = current_condition_;
  op.line = current_line_;
  return operations_.emplace_back(op);
}

Circuit& Circuit::add_gate(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                           std::span<const double> params) {
  const GateInfo& info = gate_info(gate);
  if (targets.size() != static_cast<std::size_t>(info.targets)) {
    throw CircuitError(fmt::format("{} acts on {} target qubits, not {}", label(gate), info.targets, targets.size()));
  }
  if (params.size() != static_cast<std::size_t>(info.params)) {
    throw CircuitError(fmt::format("{} takes {} angles, not {}", label(gate), info.params, params.size()));
  }
  for (const double angle : params) {
    if (!std::isfinite(angle)) throw CircuitError(fmt::format("an angle of {} is {}", label(gate), angle));
  }
  append_operation(OpKind::kGate, controls, targets).gate = gate;
  // The parameter of u0 is a time.
  for (const double angle : params) params_.push_back(gate == Gate::kU0 ? angle : reduced_angle(angle));
  return *this;
}

Circuit& Circuit::apply(Gate gate, std::span<const ControlQubit> controls, std::span<const Qubit> targets,
                        std::span<const Angle> angles) {
  std::vector<double> constants;
  constants.reserve(angles.size());
  for (const Angle& angle : angles) {
    constants.push_back(angle.constant);
    if (!angle.terms.empty() && gate == Gate::kU0) throw CircuitError("the time of u0 is no angle: it cannot be open");
  }
  return append_between_flips(*this, controls, [&](std::span<const Qubit> qubits) {
    add_gate(gate, qubits, targets, constants);
    for (std::size_t i = 0; i < angles.size(); ++i) open_last(angles[i], angles.size() - 1 - i);
  });
}

Circuit& Circuit::between_flips(std::span<const ControlQubit> controls,
                                const std::function<void(std::span<const Qubit>)>& append) {
  return append_between_flips(*this, controls, append);
}

Circuit& Circuit::apply(std::string_view name, std::span<const Qubit> qubits, std::span<const Angle> angles) {
  const std::optional<GateName> found = find_spelling(name);
  if (!found) throw CircuitError(fmt::format("there is no gate \"{}\"", escape_text(std::string(name))));
  const auto controls = static_cast<std::size_t>(found->controls);
  if (qubits.size() < controls) {
    throw CircuitError(fmt::format("{} has {} controls, and {} qubits were given", name, controls, qubits.size()));
  }
  const std::vector<ControlQubit> on_one(qubits.begin(), qubits.begin() + static_cast<std::ptrdiff_t>(controls));
  return apply(found->gate, on_one, qubits.subspan(controls), angles);
}

Circuit& Circuit::add_unitary(std::span<const Complex> matrix, std::span<const Qubit> controls,
                              std::span<const Qubit> targets, bool check_unitary) {
  constexpr std::size_t kMaxTargets = 15;
  if (targets.size() > kMaxTargets || matrix.size() != std::size_t{1} << (2 * targets.size())) {
    throw CircuitError(fmt::format("a matrix on {} qubits has 4^{} entries (at most {} qubits), not {}", targets.size(),
                                   targets.size(), kMaxTargets, matrix.size()));
  }
  if (check_unitary) {
    constexpr double kTolerance = 1e-10;
    const double error = unitarity_error(matrix, std::size_t{1} << targets.size());
    if (!(error <= kTolerance)) {
      throw CircuitError(
          fmt::format("the matrix is not unitary: an entry of M M^+ - 1 is {:.3g}, at most {:g}", error, kTolerance));
    }
  }
  append_operation(OpKind::kUnitary, controls, targets);
  for (const Complex entry : matrix) {
    params_.push_back(entry.real());
    params_.push_back(entry.imag());
  }
  return *this;
}

Circuit& Circuit::add_pauli_rotation(const Angle& angle, std::string_view letters, std::span<const Qubit> targets,
                                     std::span<const Qubit> controls) {
  if (letters.size() != targets.size()) {
    throw CircuitError(fmt::format("{} Pauli letters for {} qubits", letters.size(), targets.size()));
  }
  if (letters.find_first_not_of("XYZ") != std::string_view::npos) {
    throw CircuitError("the letters of a Pauli rotation are X, Y and Z; leave the other qubits out");
  }
  if (!std::isfinite(angle.constant)) {
    throw CircuitError(fmt::format("the angle of a Pauli rotation is {}", angle.constant));
  }
  append_operation(OpKind::kPauliRotation, controls, targets);
  for (const char letter : letters) operands_.push_back(static_cast<std::uint32_t>(letter - 'X' + 1));
  params_.push_back(reduced_angle(angle.constant));
  open_last(angle);
  return *this;
}

Circuit& Circuit::add_measure(Qubit qubit, Clbit clbit) {
  if (clbit >= clbits_) {
    throw CircuitError(fmt::format("classical bit {} does not exist: the circuit has {}", clbit, clbits_));
  }
  append_operation(OpKind::kMeasure, {}, {&qubit, 1});
  operands_.push_back(clbit);
  return *this;
}

Circuit& Circuit::add_reset(Qubit qubit) {
  append_operation(OpKind::kReset, {}, {&qubit, 1});
  return *this;
}

Circuit& Circuit::add_barrier(std::span<const Qubit> qubits) {
  append_operation(OpKind::kBarrier, {}, qubits);
  return *this;
}

void Circuit::append(const Circuit& other, const Operation& op, bool with_condition) {
  if (&other == this) {
    // Copying within the pools would read them while they grow.
    Circuit single;
    single.qubits_ = qubits_;
    single.clbits_ = clbits_;
    single.cregs_ = cregs_;
    single.append(*this, op, with_condition);
    append(single, single.operations_.front());
    return;
  }
  if (op.kind == OpKind::kMeasure && other.clbit(op) >= clbits_) {
    throw CircuitError(fmt::format("classical bit {} does not exist: the circuit has {}", other.clbit(op), clbits_));
  }
  std::int32_t condition = -1;
  if (with_condition && op.condition >= 0)
    condition = intern_condition(other.conditions_[static_cast<std::size_t>(op.condition)]);
  Operation& copy = append_operation(op.kind, other.controls(op), other.targets(op));
  copy.gate = op.gate;
  copy.line = op.line;
  copy.condition = condition;
  const auto letters = other.letters(op);
  operands_.insert(operands_.end(), letters.begin(), letters.end());
  if (op.kind == OpKind::kMeasure) operands_.push_back(other.clbit(op));
  const auto params = other.params(op);
  if (!other.open_.empty() && op.kind != OpKind::kUnitary) {
    for (std::size_t i = 0; i < params.size(); ++i) {
      for (const OpenTerm& term : other.open_terms(op.param_begin + i)) {
        open_[params_.size() + i].push_back({parameter_index(other.parameters_[term.parameter]), term.factor});
      }
    }
  }
  params_.insert(params_.end(), params.begin(), params.end());
}

std::int32_t Circuit::intern_condition(const Condition& condition) {
  if (condition.creg >= cregs_.size()) {
    throw CircuitError(
        fmt::format("classical register {} does not exist: the circuit has {}", condition.creg, cregs_.size()));
  }
  if (conditions_.empty() || !(conditions_.back() == condition)) conditions_.push_back(condition);
  return static_cast<std::int32_t>(conditions_.size() - 1);
}

Circuit::When Circuit::when(const Condition& condition) {
  const std::int32_t inner = intern_condition(condition);
  return When(this, {std::exchange(current_condition_, inner)});
}

std::span<const Qubit> Circuit::controls(const Operation& op) const {
  return {operands_.data() + op.operand_begin, op.controls};
}

std::span<const Qubit> Circuit::targets(const Operation& op) const {
  return {operands_.data() + op.operand_begin + op.controls, op.targets};
}

std::span<const std::uint32_t> Circuit::letters(const Operation& op) const {
  if (op.kind != OpKind::kPauliRotation) return {};
  return {operands_.data() + op.operand_begin + op.controls + op.targets, op.targets};
}

Clbit Circuit::clbit(const Operation& op) const {
  if (op.kind != OpKind::kMeasure) throw CircuitError("only a measurement has a classical bit");
  return operands_[op.operand_begin + op.controls + op.targets];
}

std::span<const double> Circuit::params(const Operation& op) const {
  std::size_t count = 0;
  switch (op.kind) {
    case OpKind::kGate:
      count = static_cast<std::size_t>(gate_info(op.gate).params);
      break;
    case OpKind::kUnitary:
      count = std::size_t{2} << (2 * op.targets);
      break;
    case OpKind::kPauliRotation:
      count = 1;
      break;
    case OpKind::kMeasure:
    case OpKind::kReset:
    case OpKind::kBarrier:
      break;
  }
  return {params_.data() + op.param_begin, count};
}

namespace {

// cos(angle/2) 1 - i sin(angle/2) P. Column j of P has its one entry at row j ^ flips.
Matrix pauli_rotation_matrix(std::span<const std::uint32_t> letters, double angle) {
  constexpr std::size_t kMaxTargets = 15;
  if (letters.size() > kMaxTargets) {
    throw CircuitError(fmt::format("no matrix is made for a Pauli rotation on {} qubits", letters.size()));
  }
  const std::size_t order = std::size_t{1} << letters.size();
  Index flips = 0, signs = 0;
  unsigned y_count = 0;
  for (unsigned j = 0; j < letters.size(); ++j) {
    if (letters[j] != 3) flips |= bit_mask(j);
    if (letters[j] != 1) signs |= bit_mask(j);
    if (letters[j] == 2) ++y_count;
  }
  static constexpr std::array<Complex, 4> kPowersOfI = {Complex(1, 0), Complex(0, 1), Complex(-1, 0), Complex(0, -1)};
  Matrix matrix(order * order);
  for (Index column = 0; column < order; ++column) {
    matrix[column * order + column] += std::cos(angle / 2);
    const Complex entry = kPowersOfI[y_count % 4] * (odd_parity(column & signs) ? -1.0 : 1.0);
    matrix[(column ^ flips) * order + column] += Complex(0, -std::sin(angle / 2)) * entry;
  }
  return matrix;
}

}  // namespace

Matrix Circuit::matrix(const Operation& op) const {
  const auto values = params(op);
  switch (op.kind) {
    case OpKind::kGate:
      return gate_info(op.gate).matrix(values);
    case OpKind::kPauliRotation:
      return pauli_rotation_matrix(letters(op), values[0]);
    case OpKind::kUnitary: {
      Matrix matrix(values.size() / 2);
      for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = {values[2 * i], values[2 * i + 1]};
      return matrix;
    }
    case OpKind::kMeasure:
    case OpKind::kReset:
    case OpKind::kBarrier:
      break;
  }
  throw CircuitError("a measurement, reset or barrier has no matrix");
}

}  // namespace qsim
