#include "optimizer/pairs/pair_turns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/numbers/rounding.h"
#include "optimizer/operations.h"

namespace qsim {
namespace {

constexpr double kQuarter = std::numbers::pi / 2;

/// The angle in quarters of pi, where it is a whole number of them to rounding.
std::optional<int> quarters_of(double angle) {
  const double whole = std::round(angle / kQuarter);
  if (std::abs(whole) > 16 || std::abs(angle - whole * kQuarter) > kRounding) return std::nullopt;
  return static_cast<int>(whole);
}

}  // namespace

std::optional<std::vector<PairStep>> steps_of(const Circuit& circuit, const Operation& op,
                                              std::span<const unsigned> qubits) {
  using Kind = PairStep::Kind;
  if (is_open(circuit, op)) return std::nullopt;
  const auto axis = [&](unsigned first, unsigned second = 0) {
    std::array<unsigned, 2> letters{};
    letters[qubits[0]] = first;
    if (qubits.size() > 1) letters[qubits[1]] = second;
    return pauli_pair(letters[0], letters[1]);
  };
  const auto turn = [&](double angle, unsigned first, unsigned second = 0) {
    return PairStep{Kind::kTurn, axis(first, second), angle, 0};
  };
  std::vector<PairStep> steps;
  const auto params = circuit.params(op);
  if (op.kind == OpKind::kPauliRotation) {
    if (op.controls != 0) return std::nullopt;
    const auto letters = circuit.letters(op);
    steps.push_back(turn(params[0], letters[0], qubits.size() > 1 ? letters[1] : 0));
    return steps;
  }
  if (op.kind != OpKind::kGate) return std::nullopt;
  const bool controlled = op.controls != 0;
  /// Of one qubit about a letter, under a control or not.
  const auto turns = [&](double angle, unsigned letter) {
    if (controlled) {
      steps = {turn(angle / 2, 0, letter), turn(-angle / 2, 3, letter)};
    } else {
      steps = {turn(angle, letter)};
    }
    return steps;
  };
  switch (op.gate) {
    case Gate::kId:
    case Gate::kU0:
      return steps;
    case Gate::kH:
      if (controlled) return std::nullopt;
      return std::vector{PairStep{Kind::kHadamard, {}, 0, qubits[0]}};
    case Gate::kX:
      if (controlled) return std::vector{PairStep{Kind::kFlip, {}, 0, qubits[0]}};
      return turns(2 * kQuarter, 1);
    case Gate::kY:
      if (controlled) return std::nullopt;
      return turns(2 * kQuarter, 2);
    case Gate::kSx:
    case Gate::kSxdg:
      if (controlled) return std::nullopt;
      return turns(op.gate == Gate::kSx ? kQuarter : -kQuarter, 1);
    case Gate::kRx:
      return turns(params[0], 1);
    case Gate::kRy:
      return turns(params[0], 2);
    case Gate::kRz:
      return turns(params[0], 3);
    case Gate::kZ:
    case Gate::kS:
    case Gate::kSdg:
    case Gate::kPhase: {
      const double angle = op.gate == Gate::kPhase ? params[0]
                           : op.gate == Gate::kZ   ? 2 * kQuarter
                           : op.gate == Gate::kS   ? kQuarter
                                                   : -kQuarter;
      turns(angle, 3);
      if (controlled) steps.push_back(turn(angle / 2, 3));
      return steps;
    }
    case Gate::kRxx:
      return std::vector{turn(params[0], 1, 1)};
    case Gate::kRyy:
      return std::vector{turn(params[0], 2, 2)};
    case Gate::kRzz:
      return std::vector{turn(params[0], 3, 3)};
    case Gate::kRzx:
      return std::vector{turn(params[0], 3, 1)};
    case Gate::kXxPlusYy:
    case Gate::kXxMinusYy: {
      if (params[1] != 0) return std::nullopt;
      const double second = op.gate == Gate::kXxPlusYy ? params[0] / 2 : -params[0] / 2;
      return std::vector{turn(params[0] / 2, 1, 1), turn(second, 2, 2)};
    }
    default:
      return std::nullopt;
  }
}

bool Turned::add(const PairStep& step) {
  if (step.kind == PairStep::Kind::kHadamard) {
    behind.hadamard(step.qubit);
    return true;
  }
  if (step.kind == PairStep::Kind::kFlip) {
    behind.flip(step.qubit, 1 - step.qubit);
    return true;
  }
  if (step.angle == 0) return true;
  const PauliPair axis = behind.before(step.axis);
  const bool of_both = letter_of(axis, 0) != 0 && letter_of(axis, 1) != 0;
  if (of_both && std::ranges::all_of(turns, [&](const Turn& turn) { return commute(turn.axis, axis); })) {
    const PauliPair plain = pauli_pair(letter_of(axis, 0), letter_of(axis, 1));
    auto same = std::ranges::find(turns, plain, &Turn::axis);
    if (same == turns.end()) same = turns.insert(same, {plain, 0});
    same->angle += sign_of(axis) * step.angle;
    return true;
  }
  const std::optional<int> quarters = quarters_of(step.angle);
  if (quarters) behind.turn(step.axis, *quarters);
  return quarters.has_value();
}

}  // namespace qsim
