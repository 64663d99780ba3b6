#include "optimizer/axes/local_gate.h"

#include <cmath>
#include <optional>
#include <span>

#include "optimizer/axes/axis_form.h"
#include "optimizer/axes/letters.h"

namespace qsim {

bool is_of_parts(double angle, unsigned parts) {
  const double part = 2 * kPi / parts;
  return std::abs(std::remainder(angle, part)) <= 1e-9;
}

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

}  // namespace qsim
