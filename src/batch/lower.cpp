#include "batch/lower.h"

#include <array>
#include <numbers>
#include <string>

#include "qsim/error.h"

namespace qsim {
namespace {

class Lowering {
 public:
  explicit Lowering(const ParametricCircuit& circuit) : circuit_(circuit) {
    program_.qubits = circuit.qubits();
    program_.parameters = circuit.parameters();
  }

  BatchProgram run() {
    const Circuit& shape = circuit_.shape();
    std::span<const Angle> angles = circuit_.angles();
    for (const Operation& op : shape.operations()) {
      controls_ = 0;
      for (const Qubit control : shape.controls(op)) controls_ |= 1u << control;
      const std::span<const Qubit> targets = shape.targets(op);
      const std::size_t own = op.kind == OpKind::kGate ? shape.params(op).size() : 0;
      const std::span<const Angle> mine = angles.first(own);
      angles = angles.subspan(own);
      bool bound = false;
      for (const Angle& angle : mine) bound = bound || angle.parameter.has_value();
      if (bound) {
        add_bound(op.gate, targets, mine);
      } else if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
        add(BatchForm::kFlip, targets[0], {});
      } else if (!(op.kind == OpKind::kGate && op.gate == Gate::kId)) {
        add_matrix(shape.matrix(op), targets);
      }
    }
    return std::move(program_);
  }

 private:
  void add(BatchForm form, Qubit target, std::span<const Angle> angles, bool controlled = true) {
    BatchOp op;
    op.form = form;
    op.targets[0] = static_cast<std::uint8_t>(target);
    op.controls = controlled ? controls_ : 0;
    op.angle_begin = static_cast<std::uint32_t>(program_.angles.size());
    for (const Angle& angle : angles) {
      program_.angles.push_back({angle.parameter.value_or(0), angle.parameter ? angle.scale : 0, angle.offset});
    }
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

  void add_bound(Gate gate, std::span<const Qubit> targets, std::span<const Angle> angles) {
    switch (gate) {
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
        const std::array<Angle, 3> all{Angle(std::numbers::pi / 2), angles[0], angles[1]};
        return add(BatchForm::kU, targets[0], all);
      }
      case Gate::kRxx:
      case Gate::kRyy:
      case Gate::kRzz:
        return add_pair_rotation(gate, targets, angles);
      default:
        throw UnsupportedError("the angles of " + std::string(gate_info(gate).name) + " cannot be parameters");
    }
  }

  /// exp(-i angle/2 P P): a turn of both qubits to Z, a parity and a controlled rz. What undoes itself needs no
  /// control.
  void add_pair_rotation(Gate gate, std::span<const Qubit> targets, std::span<const Angle> angles) {
    const auto turn = [&](double sign) {
      for (const Qubit target : targets) {
        const Angle quarter(sign * std::numbers::pi / 2);
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

  const ParametricCircuit& circuit_;
  BatchProgram program_;
  std::uint32_t controls_ = 0;
};

}  // namespace

BatchProgram batch_program(const ParametricCircuit& circuit) { return Lowering(circuit).run(); }

}  // namespace qsim
