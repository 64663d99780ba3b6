// inv and pow: gates recorded apart and then run backwards, several times, or as the power of their matrix.
#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "circuit/gate_table.h"
#include "circuit/unitary_power.h"
#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {
namespace {

constexpr std::size_t kMostMatrixQubits = 8;
constexpr double kMostRepeats = 64;  // above, the matrix is raised instead

// exp(-i angle P): a power of it is the same gate with another angle.
bool scales(Gate gate) {
  switch (gate) {
    case Gate::kRx:
    case Gate::kRy:
    case Gate::kRz:
    case Gate::kPhase:
    case Gate::kRxx:
    case Gate::kRyy:
    case Gate::kRzz:
    case Gate::kRzx:
      return true;
    default:
      return false;
  }
}

bool is_whole(double number) { return std::nearbyint(number) == number; }

}  // namespace

// Applies a gate to a circuit of its own, free of the controls around it.
Lowering::Recorded Lowering::record(const GateDefinition& gate, std::span<const double> parameters,
                                    std::span<const Qubit> qubits, std::uint32_t at) {
  Recorded recorded;
  recorded.body = Circuit(flow_.circuit.qubits());
  Circuit* const out = std::exchange(out_, &recorded.body);
  const double phase = std::exchange(phase_, 0.0);
  std::vector<Qubit> controls;
  std::swap(controls, controls_);
  apply_gate(gate, parameters, qubits, at);
  std::swap(controls, controls_);
  recorded.phase = std::exchange(phase_, phase);
  out_ = out;
  return recorded;
}

// Powers act one after another, the innermost first; integers among themselves multiply.
void Lowering::apply_powers(const GateDefinition& gate, std::span<const double> parameters,
                            std::span<const Qubit> qubits, std::span<const double> exponents, std::uint32_t at) {
  double product = 1;
  const bool whole = std::ranges::all_of(exponents, is_whole);
  for (const double exponent : exponents) product *= exponent;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (whole && std::abs(product) > kExact) {
    throw Failure{at, "a power beyond 2^53", "", ExitCode::kUnsupported};
  }
  if (gate.kind == GateKind::kTable && gate.controls > 0) {  // its controls go with powers as well
    GateDefinition base = gate;
    base.controls = 0;
    const std::size_t outer = controls_.size();
    controls_.insert(controls_.end(), qubits.begin(), qubits.begin() + gate.controls);
    apply_powers(base, parameters, qubits.subspan(gate.controls), exponents, at);
    controls_.resize(outer);
    return;
  }
  const Recorded recorded = record(gate, parameters, qubits, at);
  if (whole) return repeat(recorded, product, qubits, at);
  apply_matrix(recorded, qubits, exponents, at);
}

void Lowering::repeat(const Recorded& recorded, double exponent, std::span<const Qubit> qubits, std::uint32_t at) {
  const auto& operations = recorded.body.operations();
  const double times = std::abs(exponent);
  if (times == 0) return;
  if (operations.empty()) return add_phase(recorded.phase * exponent);
  const Operation& first = operations.front();
  if (operations.size() == 1 && first.kind == OpKind::kGate && scales(first.gate)) {
    const double angle = recorded.body.params(first)[0] * exponent;
    charge(1, 1, at);
    add_operation(first.gate, recorded.body.controls(first), recorded.body.targets(first), {&angle, 1});
    return add_phase(recorded.phase * exponent);
  }
  if (times > kMostRepeats && qubits.size() <= kMostMatrixQubits) {
    return apply_matrix(recorded, qubits, {&exponent, 1}, at);
  }
  const auto count = static_cast<std::uint64_t>(times);
  const std::uint64_t all = saturating_multiply(count, operations.size() + 1);
  require_room({all, all}, at);
  charge(all, all, at);
  for (std::uint64_t i = 0; i < count; ++i) replay(recorded, exponent < 0);
}

void Lowering::replay(const Recorded& recorded, bool inverse) {
  const auto& operations = recorded.body.operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[inverse ? operations.size() - 1 - i : i];
    const auto controls = recorded.body.controls(op), targets = recorded.body.targets(op);
    const auto parameters = recorded.body.params(op);
    if (op.kind == OpKind::kGate) {
      if (inverse) {
        const GateCall back = gate_info(op.gate).inverse(parameters);
        add_operation(back.gate, controls, targets, back.params);
      } else {
        add_operation(op.gate, controls, targets, parameters);
      }
    } else if (op.kind == OpKind::kUnitary) {
      Matrix matrix = recorded.body.matrix(op);
      if (inverse) matrix = adjoint(matrix);
      std::vector<Qubit> all = controls_;
      all.insert(all.end(), controls.begin(), controls.end());
      out_->add_unitary(matrix, all, targets, false);
    }
  }
  add_phase(inverse ? -recorded.phase : recorded.phase);
}

// The gate's matrix, raised to each exponent in turn by its eigenphases in (-pi, pi].
void Lowering::apply_matrix(const Recorded& recorded, std::span<const Qubit> qubits, std::span<const double> exponents,
                            std::uint32_t at) {
  if (qubits.size() > kMostMatrixQubits) {
    throw Failure{at,
                  "a power that is no integer, of a gate on " + std::to_string(qubits.size()) + " qubits (at most " +
                      std::to_string(kMostMatrixQubits) + ")",
                  "", ExitCode::kUnsupported};
  }
  Matrix matrix = circuit_matrix(recorded.body, qubits);
  const Complex factor(std::cos(recorded.phase), std::sin(recorded.phase));
  for (Complex& entry : matrix) entry *= factor;
  for (const double exponent : exponents) {
    matrix = exponent == -1 ? adjoint(matrix) : unitary_power(matrix, exponent);
  }
  charge(1, matrix.size(), at);
  if (qubits.empty()) return add_phase(std::arg(matrix.front()));
  out_->add_unitary(matrix, controls_, qubits, false);
}

}  // namespace qsim::qasm3
