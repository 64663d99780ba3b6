// A quarter turn about ZZ is a CZ gate with an S gate on either qubit, and a phase; about other letters it is that
// between gates that take those letters to Z and back. An ECR gate is a flip of its first qubit behind a quarter turn
// about ZX.
#include "optimizer/flips/name_pairs.h"

#include <array>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/operations.h"
#include "optimizer/paths/path_sum.h"
#include "optimizer/paths/turn_run.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

/// exp(-i angle/2 PQ), P and Q letters of the first and the second qubit.
struct PairTurn {
  std::array<char, 2> letters{};
  double angle = 0;
  bool flips_first = false;  // the first qubit, afterwards
};

std::optional<PairTurn> pair_turn(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate || op.controls != 0 || is_open(circuit, op)) return std::nullopt;
  if (op.gate == Gate::kEcr) return PairTurn{{'Z', 'X'}, 0.5 * std::numbers::pi, true};
  const auto about = [&](char first, char second) { return PairTurn{{first, second}, circuit.params(op)[0]}; };
  switch (op.gate) {
    case Gate::kRxx:
      return about('X', 'X');
    case Gate::kRyy:
      return about('Y', 'Y');
    case Gate::kRzz:
      return about('Z', 'Z');
    case Gate::kRzx:
      return about('Z', 'X');
    default:
      return std::nullopt;
  }
}

/// Half of the angle, of which a whole turn of the angle is -1.
std::uint64_t half_of(const PairTurn& turn) { return turns_of(0.5 * turn.angle); }
bool is_quarter(const PairTurn& turn) { return half_of(turn) % kQuarterTurn == kEighthTurn; }

/// But for a phase, which it gives.
std::uint64_t append(Circuit& out, const PairTurn& turn, std::span<const Qubit> qubits) {
  const auto gate = [&](Gate name, unsigned k) { out.add_gate(name, {}, qubits.subspan(k, 1)); };
  const bool quarter = is_quarter(turn), forward = half_of(turn) % kHalfTurn == kEighthTurn;
  for (unsigned k = 0; k < 2; ++k) {
    if (turn.letters[k] == 'Y') gate(Gate::kSdg, k);
    if (turn.letters[k] != 'Z') gate(Gate::kH, k);
  }
  if (quarter) {
    out.cz(qubits[0], qubits[1]);
  } else {
    out.rzz(turn.angle, qubits[0], qubits[1]);
  }
  for (unsigned k = 0; k < 2; ++k) {
    if (quarter) gate(forward ? Gate::kS : Gate::kSdg, k);
    if (turn.letters[k] != 'Z') gate(Gate::kH, k);
    if (turn.letters[k] == 'Y') gate(Gate::kS, k);
  }
  if (turn.flips_first) gate(Gate::kX, 0);
  return quarter ? 0 - half_of(turn) : 0;
}

}  // namespace

bool name_pairs(const Circuit& circuit, Rewritten& result) {
  const auto& operations = circuit.operations();
  std::vector<std::optional<PairTurn>> turns(operations.size());
  bool any = false, flips = false;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (skipped(op) || op.controls + op.targets < 2) continue;
    flips = flips || is_cz(op);
    if (is_cz(op)) continue;
    turns[i] = pair_turn(circuit, op);
    if (!turns[i]) return false;
    any = true;
    flips = flips || is_quarter(*turns[i]);
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
