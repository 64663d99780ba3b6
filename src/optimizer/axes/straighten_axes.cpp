// Circuits whose gates on one qubit were spread over them, as compilers do that write pairs of qubits anew: from their
// axis form they are written again with Hadamard and S gates, phases, CX and CZ gates where that can be.
#include "optimizer/axes/straighten_axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/file/source_lines.h"
#include "base/numbers/rounding.h"
#include "optimizer/axes/axis_form.h"
#include "optimizer/axes/form_end.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/letters.h"

namespace qsim {
namespace {

using Kind = AxisStep::Kind;

class AxisWriter {
 public:
  AxisWriter(const Circuit& circuit, const AxisForm& form, Rewritten& result)
      : form_(form),
        rewriter_(circuit, result),
        out_(result.circuit),
        frame_(form.after.size(), 0),
        looks_(form.after.size(), kIdentity2) {}

  void run(const AxisFrames& frames, Rewritten& result, const Circuit& circuit) {
    std::vector<std::uint32_t> written(form_.steps.size(), kNoPlace);
    for (const std::size_t i : in_order(frames)) {
      const AxisStep& step = form_.steps[i];
      SourceLines::set(out_, circuit.operations()[step.of].line);
      const unsigned sides = step.kind == Kind::kRotation ? 1 : 2;
      for (unsigned k = 0; k < sides; ++k) look(step.wires[k], frames[i][k]);
      if (step.kind == Kind::kRotation) {
        rotation(step);
      } else if (step.kind == Kind::kFlip) {
        flip(step);
      } else {
        turn(step);
      }
      written[i] = rewriter_.last();
    }
    std::vector<Matrix2> after(form_.after.size());
    for (std::size_t wire = 0; wire < after.size(); ++wire) {
      after[wire] = product(form_.after[wire], adjoint(looks_[wire]));
    }
    end_form(circuit, form_, after, phase_, written, out_.operations().size(), rewriter_, result);
  }

 private:
  /// The steps, of which turns of one pair, which commute, are sorted by what they are seen as: matrices that are made
  /// of neighbours are then alike.
  std::vector<std::size_t> in_order(const AxisFrames& frames) const {
    std::vector<std::size_t> order(form_.steps.size());
    std::iota(order.begin(), order.end(), 0);
    const auto seen_as = [&](std::size_t i) { return kAxisFrames[frames[i][0]][form_.steps[i].letters[0] - 1]; };
    const auto together = [&](std::size_t a, std::size_t b) {
      const AxisStep &left = form_.steps[a], &right = form_.steps[b];
      return left.kind == Kind::kTurn && right.kind == Kind::kTurn && left.beside_others && right.beside_others &&
             left.of == right.of && left.wires == right.wires;
    };
    for (auto first = order.begin(); first != order.end();) {
      const auto end = std::find_if_not(first + 1, order.end(), [&](std::size_t i) { return together(*first, i); });
      std::sort(first, end, [&](std::size_t a, std::size_t b) { return seen_as(a) < seen_as(b); });
      first = end;
    }
    return order;
  }

  void gate(Qubit wire, Gate name) { out_.add_gate(name, {}, std::span(&wire, 1)); }
  void gate(Qubit wire, Gate name, double angle) { out_.add_gate(name, {}, std::span(&wire, 1), std::span(&angle, 1)); }

  void look(Qubit wire, unsigned frame) {
    for (const Gate name : between_frames(frame_[wire], frame)) {
      gate(wire, name);
      const Matrix2 phase{1, 0, 0, kImaginary};
      looks_[wire] = product(name == Gate::kH ? kHadamard2 : phase, looks_[wire]);
    }
    frame_[wire] = frame;
  }

  SignedLetter seen(Qubit wire, unsigned letter) const { return nearest_letter(axis_behind(looks_[wire], letter)); }

  void rotation(const AxisStep& step) {
    const Qubit wire = step.wires[0];
    const auto [letter, sign] = seen(wire, step.letters[0]);
    const double angle = sign * step.angle;
    if (letter == kLetterZ || (letter == kLetterY && !is_of_parts(angle, 8))) {
      gate(wire, letter == kLetterZ ? Gate::kRz : Gate::kRy, angle);
      return;
    }
    append_to_letter(out_, wire, letter, kLetterZ);
    gate(wire, Gate::kRz, angle);
    append_from_letter(out_, wire, letter, kLetterZ);
  }

  void flip(const AxisStep& step) {
    std::array<Qubit, 2> wires = step.wires;
    std::array<SignedLetter, 2> as{seen(wires[0], step.letters[0]), seen(wires[1], step.letters[1])};
    // Of -P it is the one of P and a Q behind it.
    for (unsigned k = 0; k < 2; ++k) {
      if (as[k].sign > 0) continue;
      Matrix2& other = looks_[wires[1 - k]];
      other = product(kLetterMatrices[as[1 - k].letter - 1], other);
    }
    if (as[0].sign < 0 && as[1].sign < 0) phase_ += kPi;
    if (as[1].letter == kLetterZ && as[0].letter != kLetterZ) {
      std::swap(wires[0], wires[1]);
      std::swap(as[0], as[1]);
    }
    const std::array<unsigned, 2> to{kLetterZ, as[1].letter == kLetterZ ? kLetterZ : kLetterX};
    for (unsigned k = 0; k < 2; ++k) append_to_letter(out_, wires[k], as[k].letter, to[k]);
    out_.add_gate(to[1] == kLetterZ ? Gate::kZ : Gate::kX, std::span(&wires[0], 1), std::span(&wires[1], 1));
    for (unsigned k = 0; k < 2; ++k) append_from_letter(out_, wires[k], as[k].letter, to[k]);
  }

  void turn(const AxisStep& step) {
    const std::array<SignedLetter, 2> as{seen(step.wires[0], step.letters[0]), seen(step.wires[1], step.letters[1])};
    const double angle = -2 * step.angle * as[0].sign * as[1].sign;
    if (as[0].letter == as[1].letter) {
      constexpr std::array<Gate, 3> kGates{Gate::kRxx, Gate::kRyy, Gate::kRzz};
      out_.add_gate(kGates[as[0].letter - 1], {}, step.wires, std::span(&angle, 1));
      return;
    }
    for (unsigned k = 0; k < 2; ++k) append_to_letter(out_, step.wires[k], as[k].letter, kLetterZ);
    out_.add_gate(Gate::kRzz, {}, step.wires, std::span(&angle, 1));
    for (unsigned k = 0; k < 2; ++k) append_from_letter(out_, step.wires[k], as[k].letter, kLetterZ);
  }

  const AxisForm& form_;
  Rewriter rewriter_;
  Circuit& out_;
  std::vector<unsigned> frame_;  // by wire
  std::vector<Matrix2> looks_;   // by wire: the gates that lead to its frame, and flips of what is written since
  double phase_ = 0;
};

/// Whether a run of gates on one qubit is more than a rotation between phases and Hadamard gates would be.
bool is_bent(const Matrix2& matrix) {
  const std::optional<RotationAngles> parts = rotation_angles(matrix);
  if (!parts || parts->sine <= kRounding || parts->cosine <= kRounding) return false;
  const bool left = !is_of_parts(parts->left, 4), right = !is_of_parts(parts->right, 4);
  const bool half = std::abs(parts->sine - parts->cosine) <= 4 * kRounding;
  return half ? left && right : left || right;
}

}  // namespace

Axes axes_of(const Circuit& circuit) {
  constexpr std::size_t kPart = 20;  // of the pairs
  std::vector<Matrix2> run(circuit.qubits(), kIdentity2);
  std::size_t bent = 0, pairs = 0;
  const Operation* basis = nullptr;
  for (const Operation& op : circuit.operations()) {
    if (skipped(op) || op.controls + op.targets == 0) continue;
    if (op.controls + op.targets > 2 || is_open(circuit, op)) return Axes::kAsWritten;
    if (const auto gate = single_qubit_matrix(circuit, op)) {
      Matrix2& all = run[circuit.targets(op)[0]];
      all = unitary_product(*gate, all);
      continue;
    }
    const bool matrix = op.kind == OpKind::kUnitary && op.controls == 0;
    if (!matrix && (op.kind != OpKind::kGate || !circuit.params(op).empty() || op.gate == Gate::kSwap)) {
      return Axes::kAsWritten;
    }
    if (pairs++ == 0) basis = &op;
    if (op.kind != basis->kind || op.gate != basis->gate) return Axes::kAsWritten;
    bent += matrix ? 1 : 0;
    for_each_qubit(circuit, op, [&](Qubit q) {
      if (is_bent(std::exchange(run[q], kIdentity2))) ++bent;
    });
  }
  if (pairs == 0) return Axes::kAsWritten;
  return bent * kPart > pairs ? Axes::kBent : Axes::kOfOneBasis;
}

void straighten_axes(const Circuit& circuit, const AxisForm& form, Rewritten& result) {
  AxisWriter(circuit, form, result).run(choose_frames(form), result, circuit);
}

}  // namespace qsim
