// Rotations of a qubit about Y with CX gates between them that have it for their target: what a rotation whose angle
// other qubits choose is written as, and what a controlled one is. A turn about X takes Y to Z and leaves the CX gates
// as they are; then all of them together are rotations about parities, and at the end the CX gates without a twin.
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/bits.h"
#include "base/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

/// exp(-i angle/2 Z...Z) on the qubits of `parity`, once Y is Z, in the place of operation `at`.
struct Rotation {
  Index parity = 0;
  double angle = 0;
  std::uint32_t at = 0;
};

/// Operations on a qubit, its own rotations about Y and flips alone, as far as they are a run.
struct Run {
  Index open = 0;        // controls of CX gates that have not met their twins
  bool flipped = false;  // an odd number of X gates
  std::vector<std::uint32_t> members;
  std::vector<Rotation> rotations;
  double weight = 0;  // of the members
};

class MultiplexerRecogniser {
 public:
  explicit MultiplexerRecogniser(const Circuit& circuit)
      : circuit_(circuit), runs_(circuit.qubits()), opened_(circuit.qubits(), 0) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) close(q);
    if (taken_.empty()) return false;
    build(result);
    return true;
  }

 private:
  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Reach reach = reach_of(circuit_, op);
    // A control that is no longer what it was when its CX gate ran.
    for_each_bit(reach.all & ~reach.diagonal,
                 [&](unsigned c) { for_each_bit(Index{opened_[c]}, [&](unsigned q) { close(q); }); });
    const Qubit target = op.targets == 1 ? circuit_.targets(op)[0] : 0;
    const bool joins = op.targets == 1 && op.controls <= 1 && join(i, target);
    for_each_bit(reach.all, [&](unsigned q) {
      if (!joins || q != target) close(q);
    });
  }

  /// True where the operation is part of the run of its target.
  bool join(std::uint32_t i, Qubit target) {
    const Operation& op = circuit_.operations()[i];
    Run& run = runs_[target];
    const Index control = op.controls == 1 ? bit_mask(circuit_.controls(op)[0]) : 0;
    if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
      if (control == 0) run.flipped = !run.flipped;
      toggle(run, target, control);
      run.weight += control == 0 ? weight::kFlip : weight::kControlledFlip;
    } else {
      const std::optional<double> angle = angle_of(op);
      if (!angle) return false;
      const double turned = run.flipped ? -*angle : *angle;
      const Index parity = bit_mask(target) | run.open;
      if (control == 0) {
        run.rotations.push_back({parity, turned, i});
      } else {  // half of it, and half of it back where the control is 0
        run.rotations.push_back({parity, 0.5 * turned, i});
        run.rotations.push_back({parity ^ control, -0.5 * turned, i});
      }
      run.weight += control == 0 ? weight::kRealTurn : weight::kGeneral;
    }
    run.members.push_back(i);
    return true;
  }

  void toggle(Run& run, Qubit target, Index control) {
    run.open ^= control;
    for_each_bit(control, [&](unsigned c) { opened_[c] ^= bit_mask(target); });
  }

  /// Of exp(-i angle/2 Y), which the operation is on its target.
  std::optional<double> angle_of(const Operation& op) const {
    if (op.kind == OpKind::kGate && op.gate == Gate::kRy) return circuit_.params(op)[0];
    if (op.controls != 0) return std::nullopt;
    const auto matrix = single_qubit_matrix(circuit_, op);
    if (!matrix) return std::nullopt;
    const double angle = 2 * std::atan2((*matrix)[2].real(), (*matrix)[0].real());
    const double c = std::cos(0.5 * angle), s = std::sin(0.5 * angle);
    const Matrix2 made{c, -s, s, c};
    if (is_diagonal(made) || !recomposes(made, *matrix)) return std::nullopt;
    return angle;
  }

  void close(Qubit q) {
    Run& run = runs_[q];
    if (run.members.empty()) return;
    for_each_bit(run.open, [&](unsigned c) { opened_[c] &= ~bit_mask(q); });
    if (!run.rotations.empty() && weight_of(run) < run.weight - 1e-9) {
      for (const std::uint32_t i : run.members) run_of_[i] = static_cast<std::uint32_t>(taken_.size());
      taken_.push_back({q, std::move(run)});
    }
    run = {};
  }

  /// As rotations about parities, those about the same one as one, between two turns.
  static double weight_of(const Run& run) {
    std::unordered_set<Index> parities;
    for (const Rotation& rotation : run.rotations) parities.insert(rotation.parity);
    double sum = 2 * weight::kGeneral + (run.flipped ? weight::kFlip : 0) +
                 weight::kControlledFlip * static_cast<double>(count_bits(run.open));
    for (const Index parity : parities) sum += weight::diagonal(count_bits(parity));
    return sum;
  }

  struct Taken {
    Qubit qubit;
    Run run;
  };

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    std::vector<std::size_t> next(taken_.size(), 0);  // rotation that has not been appended
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const auto found = run_of_.find(i);
      if (found == run_of_.end()) {
        rewriter.copy(i);
        continue;
      }
      const auto& [qubit, run] = taken_[found->second];
      if (i == run.members.front()) rewriter.append_for(i).rx(0.5 * std::numbers::pi, qubit);
      std::size_t& rotation = next[found->second];
      for (; rotation < run.rotations.size() && run.rotations[rotation].at == i; ++rotation) {
        append(rewriter.append_for(i), {0, run.rotations[rotation].parity, run.rotations[rotation].angle});
        rewriter.count_here(i);
      }
      if (i == run.members.back()) {
        Circuit& out = rewriter.append_for(i);
        for_each_bit(run.open, [&](unsigned c) { out.cx(c, qubit); });
        if (run.flipped) out.x(qubit);
        out.rx(-0.5 * std::numbers::pi, qubit);
      }
      if (result.place[i] == kNoPlace) rewriter.remove(i, "recognised as multiplexers");
    }
  }

  const Circuit& circuit_;
  std::vector<Run> runs_;      // by qubit
  std::vector<Index> opened_;  // by qubit: those in whose runs it is an open control
  std::vector<Taken> taken_;
  std::unordered_map<std::uint32_t, std::uint32_t> run_of_;  // by operation: of those that are taken
};

}  // namespace

bool recognise_multiplexers(const Circuit& circuit, Rewritten& result) {
  return MultiplexerRecogniser(circuit).run(result);
}

}  // namespace qsim
