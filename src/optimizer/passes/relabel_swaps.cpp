// SWAP gates as new names: no data moves for them, not even at the end.
#include <numeric>

#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

bool is_swap(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kSwap && op.controls == 0; }

// The phases of a phased SWAP's four columns.
std::optional<std::array<Complex, 4>> phased_swap(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kUnitary || op.controls != 0 || op.targets != 2) return std::nullopt;
  const Matrix matrix = circuit.matrix(op);
  constexpr std::array<std::size_t, 4> kRow{0, 2, 1, 3};
  std::array<Complex, 4> phases;
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 4; ++row) {
      const Complex entry = matrix[4 * row + column];
      if (row == kRow[column] ? !is_phase(entry) : !is_tiny(entry)) return std::nullopt;
    }
    phases[column] = std::polar(1.0, std::arg(matrix[4 * kRow[column] + column]));
  }
  return phases;
}

}  // namespace

bool relabel_swaps(const Circuit& circuit, Rewritten& result) {
  const auto& operations = circuit.operations();
  bool found = false;
  for (const Operation& op : operations) found = found || is_swap(op) || phased_swap(circuit, op);
  if (!found) return false;
  Rewriter rewriter(circuit, result);
  std::vector<Qubit>& wire_of = result.wire_of;
  wire_of.resize(circuit.qubits());
  std::iota(wire_of.begin(), wire_of.end(), Qubit{0});
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (skipped(op)) continue;
    const auto phases = phased_swap(circuit, op);
    if (!is_swap(op) && !phases) {
      rewriter.copy_renamed(i, wire_of);
      continue;
    }
    const auto targets = circuit.targets(op);
    const std::array<Qubit, 2> wires{wire_of[targets[0]], wire_of[targets[1]]};
    if (phases && *phases != std::array<Complex, 4>{1, 1, 1, 1}) {
      Matrix diagonal(16);
      for (std::size_t j = 0; j < 4; ++j) diagonal[5 * j] = (*phases)[j];
      rewriter.append_for(i).add_unitary(diagonal, {}, wires, false);
      rewriter.count_here(i);
    } else {
      rewriter.remove(i, "relabelled");
    }
    std::swap(wire_of[targets[0]], wire_of[targets[1]]);
  }
  return true;
}

}  // namespace qsim
