#include "batch/lower.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <string>

#include "optimizer/operations.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Fixed gates put together by the optimizer's passes that take no notice of open angles and leave qubits in place.
Circuit with_fewer_gates(const Circuit& circuit) {
  constexpr std::array<std::string_view, 3> kPasses{"cancel_inverses", "merge_controlled", "merge_runs"};
  std::vector<std::string> others;
  for (const Pass& pass : optimizer_passes()) {
    if (std::ranges::find(kPasses, pass.name) == kPasses.end()) others.emplace_back(pass.name);
  }
  Rewritten result;
  return optimize(circuit, others, result) ? std::move(result.circuit) : circuit;
}

class Lowering {
 public:
  explicit Lowering(const Circuit& circuit) : circuit_(circuit) {
    batch_.program.qubits = circuit.qubits();
    batch_.program.parameters = static_cast<std::uint32_t>(circuit.parameters().size());
  }

  LoweredBatch run() {
    for (const Operation& op : circuit_.operations()) {
      if (op.kind == OpKind::kMeasure || op.kind == OpKind::kBarrier) continue;
      controls_ = 0;
      for (const Qubit control : circuit_.controls(op)) controls_ |= 1u << control;
      const std::span<const Qubit> targets = circuit_.targets(op);
      if (is_open(circuit_, op)) {
        add_open(op, targets);
      } else if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
        add(BatchForm::kFlip, targets[0], {});
      } else if (!(op.kind == OpKind::kGate && op.gate == Gate::kId)) {
        add_matrix(circuit_.matrix(op), targets);
      }
    }
    return std::move(batch_);
  }

 private:
  /// Angle number `i` of the operation; one of several parameters becomes a value of its own.
  BatchAngle angle(const Operation& op, std::size_t i) {
    const std::span<const Circuit::OpenTerm> terms = circuit_.open_terms(op.param_begin + i);
    const double constant = circuit_.params(op)[i];
    if (terms.empty()) return {0, 0, constant};
    if (terms.size() == 1) return {terms[0].parameter, terms[0].factor, constant};
    batch_.sums.emplace_back(terms.begin(), terms.end());
    return {batch_.program.parameters++, 1, constant};
  }

  void add(BatchForm form, Qubit target, std::span<const BatchAngle> angles, bool controlled = true) {
    BatchOp op;
    op.form = form;
    op.targets[0] = static_cast<std::uint8_t>(target);
    op.controls = controlled ? controls_ : 0;
    op.angle_begin = static_cast<std::uint32_t>(program_.angles.size());
    program_.angles.insert(program_.angles.end(), angles.begin(), angles.end());
    program_.ops.push_back(op);
  }

  void add_matrix(const Matrix& matrix, std::span<const Qubit> targets) {
    if (targets.size() > kMaxBatchTargets) {
      throw UnsupportedError("a batch has matrices of up to " + std::to_string(kMaxBatchTargets) + " qubits, not " +
                             std::to_string(targets.size()));
    }
    BatchOp op;
    op.form = BatchForm::kMatrix;
    op.target_count = static_cast<std::uint8_t>(targets.size());
    for (std::size_t j = 0; j < targets.size(); ++j) op.targets[j] = static_cast<std::uint8_t>(targets[j]);
    op.controls = controls_;
    op.matrix_begin = static_cast<std::uint32_t>(program_.matrices.size());
    program_.matrices.insert(program_.matrices.end(), matrix.begin(), matrix.end());
    program_.ops.push_back(op);
  }

  void add_open(const Operation& op, std::span<const Qubit> targets) {
    std::vector<BatchAngle> angles;
    for (std::size_t i = 0; i < circuit_.params(op).size(); ++i) angles.push_back(angle(op, i));
    switch (op.kind == OpKind::kGate ? op.gate : Gate::kId) {
      case Gate::kRx:
        return add(BatchForm::kRx, targets[0], angles);
      case Gate::kRy:
        return add(BatchForm::kRy, targets[0], angles);
      case Gate::kRz:
        return add(BatchForm::kRz, targets[0], angles);
      case Gate::kPhase:
        return add(BatchForm::kPhase, targets[0], angles);
      case Gate::kU:
        return add(BatchForm::kU, targets[0], angles);
      case Gate::kU2: {
        const std::array<BatchAngle, 3> all{BatchAngle{0, 0, std::numbers::pi / 2}, angles[0], angles[1]};
        return add(BatchForm::kU, targets[0], all);
      }
      case Gate::kRxx:
      case Gate::kRyy:
      case Gate::kRzz:
        return add_pair_rotation(op.gate, targets, angles);
      default:
        throw UnsupportedError("open angles of a batch are those of rx, ry, rz, p, u2, u, rxx, ryy and rzz",
                               {"", op.line, 0});
    }
  }

  /// exp(-i angle/2 P P): a turn of both qubits to Z, a parity and a controlled rz. What undoes itself needs no
  /// control.
  void add_pair_rotation(Gate gate, std::span<const Qubit> targets, std::span<const BatchAngle> angles) {
    const auto turn = [&](double sign) {
      for (const Qubit target : targets) {
        const BatchAngle quarter{0, 0, sign * std::numbers::pi / 2};
        if (gate == Gate::kRxx) add(BatchForm::kRy, target, {&quarter, 1}, false);
        if (gate == Gate::kRyy) add(BatchForm::kRx, target, {&quarter, 1}, false);
      }
    };
    const auto parity = [&] {
      add(BatchForm::kFlip, targets[1], {}, false);
      program_.ops.back().controls = 1u << targets[0];
    };
    // Ry(-90 degrees) takes X to Z; Rx(90 degrees) takes Y to Z.
    turn(gate == Gate::kRxx ? -1 : 1);
    parity();
    add(BatchForm::kRz, targets[1], angles);
    parity();
    turn(gate == Gate::kRxx ? 1 : -1);
  }

  const Circuit& circuit_;
  LoweredBatch batch_;
  BatchProgram& program_ = batch_.program;
  std::uint32_t controls_ = 0;
};

}  // namespace

LoweredBatch lower_batch(const Circuit& circuit) {
  if (circuit.qubits() < 1 || circuit.qubits() > kMaxBatchQubits) {
    throw UnsupportedError("a batch is of circuits of 1 to " + std::to_string(kMaxBatchQubits) + " qubits, not " +
                           std::to_string(circuit.qubits()));
  }
  if (!circuit.measurements_are_terminal()) {
    throw UnsupportedError("a circuit that measures, resets or branches before its end prepares no single state");
  }
  return Lowering(with_fewer_gates(circuit)).run();
}

std::vector<double> with_sums(const LoweredBatch& batch, std::span<const double> values, std::size_t evaluations) {
  const std::size_t all = batch.program.parameters, given = all - batch.sums.size();
  std::vector<double> extended(evaluations * all);
  for (std::size_t e = 0; e < evaluations; ++e) {
    double* const to = std::copy_n(values.data() + e * given, given, extended.data() + e * all);
    for (std::size_t i = 0; i < batch.sums.size(); ++i) {
      for (const Circuit::OpenTerm& term : batch.sums[i]) to[i] += term.factor * values[e * given + term.parameter];
    }
  }
  return extended;
}

}  // namespace qsim
