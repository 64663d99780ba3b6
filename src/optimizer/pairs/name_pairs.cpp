// A quarter turn about ZZ is a CZ gate with an S gate on either qubit, and a phase; about other letters it is that
// between gates that take those letters to Z and back. An ECR gate is a flip of its first qubit behind a quarter turn
// about ZX.
#include "optimizer/pairs/name_pairs.h"

#include <array>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/operations.h"
#include "optimizer/pairs/letters.h"
#include "optimizer/pairs/pair_turns.h"
#include "optimizer/paths/turn_run.h"
#include "optimizer/sums/path_sum.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

/// exp(-i angle/2 PQ), P and Q letters of the first and the second qubit.
struct PairTurn {
  std::array<unsigned, 2> letters{};
  double angle = 0;
  bool flips_first = false;  // the first qubit, afterwards

  /// Half of the angle: by a whole turn of the angle it is -1.
  std::uint64_t half() const { return turns_of(0.5 * angle); }
  bool is_quarter() const { return half() % kQuarterTurn == kEighthTurn; }
};

std::optional<PairTurn> pair_turn(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate || op.controls != 0) return std::nullopt;
  if (op.gate == Gate::kEcr) return PairTurn{{kLetterZ, kLetterX}, 0.5 * std::numbers::pi, true};
  const auto steps = steps_of(circuit, op, std::array{0U, 1U});
  if (!steps || steps->size() != 1) return std::nullopt;
  const PairStep& step = steps->front();
  return PairTurn{{letter_of(step.axis, 0), letter_of(step.axis, 1)}, step.angle};
}

/// But for a phase, which it gives.
std::uint64_t append(Circuit& out, const PairTurn& turn, std::span<const Qubit> qubits) {
  const std::uint64_t half = turn.half();
  const bool quarter = turn.is_quarter();
  for (unsigned k = 0; k < 2; ++k) append_to_letter(out, qubits[k], turn.letters[k], kLetterZ);
  if (quarter) {
    out.cz(qubits[0], qubits[1]);
  } else {
    out.rzz(turn.angle, qubits[0], qubits[1]);
  }
  for (unsigned k = 0; k < 2; ++k) {
    if (quarter) out.add_gate(half % kHalfTurn == kEighthTurn ? Gate::kS : Gate::kSdg, {}, qubits.subspan(k, 1));
    append_from_letter(out, qubits[k], turn.letters[k], kLetterZ);
  }
  if (turn.flips_first) out.x(qubits[0]);
  return quarter ? 0 - half : 0;
}

}  // namespace

bool name_pairs(const Circuit& circuit, Rewritten& result) {
  const auto& operations = circuit.operations();
  std::vector<std::optional<PairTurn>> turns(operations.size());
  bool any = false, flips = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (skipped(op) || op.controls + op.targets < 2) continue;
    if (is_cz(op)) {
      flips = true;
      continue;
    }
    turns[i] = pair_turn(circuit, op);
    if (!turns[i]) return false;
    any = true;
    flips = flips || turns[i]->is_quarter();
  }
  if (!any || !flips) return false;
  Rewriter rewriter(circuit, result);
  std::uint64_t common = 0;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (skipped(operations[i])) continue;
    if (!turns[i]) {
      rewriter.copy(i);
      continue;
    }
    common += append(rewriter.append_for(i), *turns[i], circuit.targets(operations[i]));
    rewriter.count_here(i);
  }
  append_common(result.circuit, common);
  return true;
}

}  // namespace qsim
