#include "optimizer/axes/form_end.h"

#include <cmath>
#include <optional>
#include <span>

#include "base/numbers/rounding.h"
#include "optimizer/pairs/letters.h"

namespace qsim {
namespace {

/// With the phases beside a Hadamard gate or a rotation where it is that. `rounding`: what its angles may be off.
/// Returns the phase that is not in what was appended.
double append_local_gate(Circuit& out, Qubit wire, const Matrix2& matrix, double rounding) {
  const std::span<const Qubit> wires(&wire, 1);
  const std::optional<RotationAngles> parts = rotation_angles(matrix);
  if (!parts) {
    out.add_unitary(matrix, {}, wires, false);
    return 0;
  }
  const double left = simple_angle(parts->left, rounding), right = simple_angle(parts->right, rounding);
  const double turn = simple_angle(2 * std::atan2(parts->sine, parts->cosine), rounding);
  const auto gate = [&](Gate name) { out.add_gate(name, {}, wires); };
  const auto rotation = [&](Gate name, double angle) { out.add_gate(name, {}, wires, std::span(&angle, 1)); };
  const auto phase = [&](double angle) {
    angle = simple_angle(angle, rounding);
    if (angle != 0) rotation(Gate::kPhase, angle);
  };
  // around diag(1, left) [[c, -s], [s, c]] diag(1, right)
  if (turn == 0) {
    phase(left + right);
    return parts->around;
  }
  if (turn == kPi) {  // [[0, -r], [l, 0]] = l X diag(1, -r / l)
    phase(right - left + kPi);
    gate(Gate::kX);
    return parts->around + left;
  }
  if (turn == kPi / 2) {  // [[1, -1], [1, 1]] = H diag(1, -1)
    phase(right + kPi);
    gate(Gate::kH);
    phase(left);
    return parts->around;
  }
  const bool quarters = is_of_parts(left, 4) && is_of_parts(right, 4);
  if (quarters && (left != 0 || right != 0 || is_of_parts(turn, 8))) {
    // RY = S H RZ H S^-1
    phase(right - kPi / 2);
    gate(Gate::kH);
    rotation(Gate::kRz, turn);
    gate(Gate::kH);
    phase(left + kPi / 2);
    return parts->around;
  }
  phase(right);
  rotation(Gate::kRy, turn);
  phase(left);
  return parts->around;
}

}  // namespace

void end_form(const Circuit& circuit, const AxisForm& form, std::span<const Matrix2> after, double phase,
              std::span<const std::uint32_t> place_of_step, std::size_t before, Rewriter& rewriter, Rewritten& result) {
  Circuit& out = result.circuit;
  for (Qubit wire = 0; wire < after.size(); ++wire) {
    phase += append_local_gate(out, wire, after[wire], form.rounding[wire]);
  }
  phase = std::remainder(phase, 2 * kPi);
  if (std::abs(phase) > kRounding) out.add_pauli_rotation(-2 * phase, "", {});
  const bool more = out.operations().size() > before;
  for (std::uint32_t i = 0; i < form.step_of.size(); ++i) {
    if (skipped(circuit.operations()[i])) continue;
    const std::uint32_t step = form.step_of[i];
    if (step != AxisForm::kAfter && place_of_step[step] != kNoPlace) {
      rewriter.count_on(i, place_of_step[step]);
    } else if (more) {
      rewriter.count_on(i, rewriter.last());
    } else {
      rewriter.remove(i, "cancelled");
    }
  }
  result.wire_of = form.wire_of;
}

}  // namespace qsim
