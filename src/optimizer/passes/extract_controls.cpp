// Controls inside matrices: a target on whose 0 nothing happens is a control.

#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

// The block of `matrix` where bit j is 1, if it is the identity where bit j is 0 and never changes bit j.
std::optional<Matrix> controlled_block(const Matrix& matrix, std::size_t targets, std::size_t j) {
  const std::size_t order = std::size_t{1} << targets, bit = std::size_t{1} << j;
  Matrix block;
  block.reserve(matrix.size() / 4);
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t column = 0; column < order; ++column) {
      const Complex entry = matrix[row * order + column];
      if ((row & column & bit) != 0) {
        block.push_back(entry);
      } else if (!is_tiny(entry - (row == column ? 1.0 : 0.0))) {
        return std::nullopt;
      }
    }
  }
  return block;
}

struct Controlled {
  Matrix matrix;
  std::vector<Qubit> controls, targets;
};

Controlled extract(const Circuit& circuit, const Operation& op) {
  const auto controls = circuit.controls(op), targets = circuit.targets(op);
  Controlled result{
      circuit.matrix(op), {controls.begin(), controls.end()}, std::vector<Qubit>(targets.begin(), targets.end())};
  for (std::size_t j = 0; j < result.targets.size() && result.targets.size() > 1;) {
    auto block = controlled_block(result.matrix, result.targets.size(), j);
    if (!block) {
      ++j;
      continue;
    }
    result.matrix = std::move(*block);
    result.controls.push_back(result.targets[j]);
    result.targets.erase(result.targets.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return result;
}

Circuit& append(Circuit& circuit, const Controlled& op) {
  if (op.targets.size() == 1) {
    const Matrix2 m{op.matrix[0], op.matrix[1], op.matrix[2], op.matrix[3]};
    if (m == kFlip2) return circuit.add_gate(Gate::kX, op.controls, op.targets);
    if (m[0] == Complex(1) && m[1] == Complex(0) && m[2] == Complex(0) && is_phase(m[3])) {
      const double angle = std::arg(m[3]);
      return circuit.add_gate(Gate::kPhase, op.controls, op.targets, std::span(&angle, 1));
    }
  }
  return circuit.add_unitary(op.matrix, op.controls, op.targets, false);
}

bool candidate(const Operation& op) {
  constexpr std::uint32_t kMostTargets = 8;  // two controls make a matrix of that size one that a plan can hold
  return op.kind == OpKind::kUnitary && op.targets > 1 && op.targets <= kMostTargets;
}

}  // namespace

bool extract_controls(const Circuit& circuit, Rewritten& result) {
  const auto& operations = circuit.operations();
  bool found = false;
  for (const Operation& op : operations)
    found = found || (candidate(op) && extract(circuit, op).targets.size() < op.targets);
  if (!found) return false;
  Rewriter rewriter(circuit, result);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (skipped(operations[i])) continue;
    if (candidate(operations[i])) {
      const Controlled op = extract(circuit, operations[i]);
      if (op.targets.size() < operations[i].targets) {
        append(rewriter.append_for(i), op);
        rewriter.count_here(i);
        continue;
      }
    }
    rewriter.copy(i);
  }
  return true;
}

}  // namespace qsim
