// What each gate is, made of Hadamard gates, flips and phases.
#include "optimizer/paths/path_steps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "base/bits.h"
#include "circuit/gate_table.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

class Steps {
 public:
  Steps(const Circuit& circuit, const Operation& op, std::vector<PathStep>& steps) : steps_(steps) {
    for (const Qubit c : circuit.controls(op)) controls_ |= bit_mask(c);
    for (const Qubit t : circuit.targets(op)) targets_.push_back(t);
  }

  void turn() { steps_.push_back({PathStep::Kind::kTurn, targets_[0]}); }
  void flip(std::size_t target, Index more = 0) {
    steps_.push_back({PathStep::Kind::kFlip, targets_[target], controls_ | more});
  }
  void phase(Index ones, double angle) { steps_.push_back({PathStep::Kind::kPhase, 0, ones, 0, turns_of(angle)}); }
  void rotation(Index ones, Index parity, double angle) {
    const std::uint64_t half = turns_of(0.5 * angle);
    steps_.push_back({PathStep::Kind::kPhase, 0, ones, 0, -half});
    steps_.push_back({PathStep::Kind::kPhase, 0, ones, parity, 2 * half});
  }
  void phase_of_target(double angle, bool controlled = true) { phase((controlled ? controls_ : 0) | mask(0), angle); }
  /// exp(-i angle/2 X) under the controls.
  void rx(double angle) {
    turn();
    rotation(controls_, mask(0), angle);
    turn();
  }
  void ry(double angle) {
    phase_of_target(-kPi / 2, false);
    rx(angle);
    phase_of_target(kPi / 2, false);
  }
  void u(double theta, double phi, double lambda) {
    phase_of_target(lambda);
    ry(theta);
    phase_of_target(phi);
  }
  /// Both gates flip target `flipped` under the others, after phases.
  void rccx() {
    phase(mask(0) | mask(2), kPi);
    phase(mask(0) | mask(1), kPi / 2);
    flip(2, mask(0) | mask(1));
  }
  void rc3x(bool inverse) {
    const Index pair = mask(0) | mask(1);
    if (inverse) flip(3, pair | mask(2));
    phase(pair, inverse ? -kPi / 2 : kPi / 2);
    phase(pair | mask(2), inverse ? -kPi / 2 : kPi / 2);
    phase(pair | mask(3), kPi);
    if (!inverse) flip(3, pair | mask(2));
  }

  Index mask(std::size_t target) const { return bit_mask(targets_[target]); }
  Index controls() const { return controls_; }

 private:
  std::vector<PathStep>& steps_;
  Index controls_ = 0;
  std::vector<Qubit> targets_;
};

bool append_gate(const Circuit& circuit, const Operation& op, Steps& steps) {
  const std::span<const double> angles = circuit.params(op);
  switch (op.gate) {
    case Gate::kX:
      steps.flip(0);
      return true;
    case Gate::kY:  // i X Z
      steps.phase_of_target(kPi);
      steps.flip(0);
      steps.phase(steps.controls(), kPi / 2);
      return true;
    case Gate::kH:
      if (op.controls != 0) return false;
      steps.turn();
      return true;
    case Gate::kSx:
    case Gate::kSxdg:
      steps.turn();
      steps.phase_of_target(op.gate == Gate::kSx ? kPi / 2 : -kPi / 2);
      steps.turn();
      return true;
    case Gate::kRx:
      if (!is_part_of_turn(angles[0])) return false;
      steps.rx(angles[0]);
      return true;
    case Gate::kRy:
      if (!is_part_of_turn(angles[0])) return false;
      steps.ry(angles[0]);
      return true;
    case Gate::kU:
      if (!is_part_of_turn(angles[0])) return false;
      steps.u(angles[0], angles[1], angles[2]);
      return true;
    case Gate::kU2:
      steps.u(kPi / 2, angles[0], angles[1]);
      return true;
    case Gate::kRccx:
      if (op.controls != 0) return false;
      steps.rccx();
      return true;
    case Gate::kRc3x:
    case Gate::kRc3xdg:
      if (op.controls != 0) return false;
      steps.rc3x(op.gate == Gate::kRc3xdg);
      return true;
    case Gate::kSwap:
      steps.flip(0, steps.mask(1));
      steps.flip(1, steps.mask(0));
      steps.flip(0, steps.mask(1));
      return true;
    default:
      return false;
  }
}

bool is_part(const Circuit& circuit, const Operation& op) {
  return !is_open(circuit, op) && is_part_of_turn(circuit.params(op)[0]);
}

bool is_fine(const Circuit& circuit, const Operation& op) {
  if (op.kind == OpKind::kPauliRotation) {
    const auto letters = circuit.letters(op);
    return std::ranges::all_of(letters, [](std::uint32_t l) { return l == 3; }) && is_part(circuit, op);
  }
  if (op.kind != OpKind::kGate) return false;
  switch (op.gate) {
    case Gate::kT:
    case Gate::kTdg:
      return true;
    case Gate::kS:
    case Gate::kSdg:
      return op.controls != 0;
    case Gate::kRz:
    case Gate::kPhase:
    case Gate::kRzz:
      return is_part(circuit, op);
    default:
      return false;
  }
}

}  // namespace

bool turns(const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate) return false;
  switch (op.gate) {
    case Gate::kH:
      return op.controls == 0;
    case Gate::kSx:
    case Gate::kSxdg:
      return true;
    case Gate::kRx:
    case Gate::kRy:
    case Gate::kU:
      return is_part(circuit, op);
    case Gate::kU2:
      return !is_open(circuit, op);
    default:
      return false;
  }
}

bool is_promising(const Circuit& circuit) {
  std::vector<bool> open(circuit.qubits(), false), fine(circuit.qubits(), false);
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kGate && op.gate == Gate::kX) continue;
    if (skipped(op)) continue;
    if (is_fine(circuit, op)) {
      for_each_qubit(circuit, op, [&](Qubit q) { fine[q] = open[q]; });
    } else if (op.kind != OpKind::kGate || !gate_info(op.gate).diagonal) {
      const bool sees_through = turns(circuit, op);
      for (const Qubit q : circuit.targets(op)) {
        if (sees_through && (fine[q] || op.controls != 0)) return true;
        open[q] = sees_through;
        fine[q] = false;
      }
    }
  }
  return false;
}

bool append_steps(const Circuit& circuit, const Operation& op, std::vector<PathStep>& steps) {
  if (is_open(circuit, op)) return false;
  Steps made(circuit, op, steps);
  if (support_of(circuit, op).is_diagonal()) {
    const std::optional<DiagonalTerm> term = term_of(circuit, op);
    if (!term) return false;
    if (term->parity != 0) {
      made.rotation(term->ones, term->parity, term->angle);
    } else {
      made.phase(term->ones, term->angle);
    }
    return true;
  }
  return op.kind == OpKind::kGate && append_gate(circuit, op, made);
}

bool append_to(PathSum& sum, const PathStep& step) {
  switch (step.kind) {
    case PathStep::Kind::kTurn:
      return sum.turn(step.target);
    case PathStep::Kind::kFlip:
      return sum.flip(step.target, step.ones);
    case PathStep::Kind::kPhase:
      return sum.phase(step.ones, step.parity, step.turns);
  }
  return false;
}

}  // namespace qsim
