// What passes may not raise: a weight for each operation.
#include <bit>
#include <cmath>
#include <optional>

#include "base/bits.h"
#include "optimizer/operations.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

using namespace weight;

// Diagonals on one qubit since its last operation that was none.
struct Gap {
  bool phases = false, joined = false;
};

// Of what is no matrix on one qubit.
double turning_weight(const Operation& op, const Support& support) {
  if (op.kind == OpKind::kGate && op.gate == Gate::kX) return kControlledFlip;
  if (op.kind == OpKind::kGate && op.gate == Gate::kSwap) return 3 * kControlledFlip;
  if (op.kind == OpKind::kPauliRotation) return diagonal(0) + 2 * kGeneral * popcount(support.all & ~support.diagonal);
  return op.targets == 1 ? kGeneral : 4 * std::ldexp(1.0, static_cast<int>(op.targets));
}

}  // namespace

double circuit_cost(const Circuit& circuit) {
  std::vector<Gap> gaps(circuit.qubits());
  double total = 0;
  const auto close = [&](Qubit q) {
    if (gaps[q].phases && !gaps[q].joined) total += kLonelyPhases;
    gaps[q] = {};
  };
  for (const Operation& op : circuit.operations()) {
    if (skipped(op)) continue;
    const Support support = support_of(circuit, op);
    std::optional<Matrix2> single;
    if (!support.is_diagonal()) single = single_qubit_matrix(circuit, op);
    if (popcount(support.all) == 1 && (support.is_diagonal() || is_diagonal(*single))) {
      gaps[static_cast<std::size_t>(std::countr_zero(support.all))].phases = true;
      total += kPhase;
    } else if (support.is_diagonal()) {
      if (support.all != 0) total += diagonal(count_bits(support.all));
      for_each_bit(support.all, [&](unsigned q) { gaps[q].joined = true; });
    } else {
      total += single ? turn(*single, is_one((*single)[1]) && is_one((*single)[2])) : turning_weight(op, support);
      for_each_bit(support.all & ~support.diagonal, [&](unsigned q) { close(q); });
    }
  }
  for (Qubit q = 0; q < circuit.qubits(); ++q) close(q);
  return total;
}

double cost_in_pieces(const Circuit& circuit) {
  constexpr double kOfPiece = 20;
  // By qubit how often flips and gates that turn have taken turns so far, with what stands on other qubits before: odd
  // behind those that turn.
  std::vector<std::uint32_t> turns(circuit.qubits(), 0);
  std::uint32_t most = 0;
  for (const Operation& op : circuit.operations()) {
    if (skipped(op)) continue;
    std::uint32_t after = 0;
    for_each_qubit(circuit, op, [&](Qubit q) { after = std::max(after, turns[q]); });
    const bool flips = op.kind == OpKind::kGate && (op.gate == Gate::kX || op.gate == Gate::kSwap);
    if (!support_of(circuit, op).is_diagonal()) after += after % 2 == (flips ? 1 : 0) ? 1 : 0;
    for_each_qubit(circuit, op, [&](Qubit q) { turns[q] = after; });
    most = std::max(most, after);
  }
  return circuit_cost(circuit) + kOfPiece * (most / 2);
}

}  // namespace qsim
