// A circuit of gates on one and two qubits by the axes that its pairs of qubits interact about, with every gate on one
// qubit moved on until something does not commute with it. However local gates were spread over the circuit, what is
// left here is the same.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/numbers/matrix2.h"
#include "qsim/circuit.h"

namespace qsim {

/// Letters are 1, 2, 3 = X, Y, Z.
struct AxisStep {
  enum class Kind : std::uint8_t {
    kRotation,  // exp(-i angle/2 P) on wires[0]
    kFlip,      // (1 + P + Q - PQ) / 2: of ZX a CX gate, of ZZ a CZ gate
    kTurn,      // exp(i angle PQ)
  };
  Kind kind = Kind::kRotation;
  bool beside_others = false;  // a turn that is one of several of its pair
  std::array<Qubit, 2> wires{};
  std::array<unsigned, 2> letters{};
  double angle = 0;
  int control = -1;      // kFlip: which of both was the control of a lone CX gate; -1: neither was
  std::uint32_t of = 0;  // the operation that it stands for
};

struct AxisForm {
  std::vector<AxisStep> steps;
  std::vector<Matrix2> after;          // by wire: what is left behind all steps, with all phases
  std::vector<double> rounding;        // by wire: what angles in `after` may be off
  std::vector<Qubit> wire_of;          // qubit q is on this wire at the end
  std::vector<std::uint32_t> step_of;  // by operation; kAfter: it went into `after`
  static constexpr std::uint32_t kAfter = ~std::uint32_t{0};
};

/// The angle between -pi and pi, and where it is a simple part of a turn but for `rounding` exactly that.
double simple_angle(double angle, double rounding);

/// Nothing for circuits with other operations than unitary ones on one or two qubits, with open angles, or with a pair
/// that is not what was made of it.
std::optional<AxisForm> axis_form(const Circuit& circuit);

/// By step and wire of it: what X, Y and Z are seen as there, a place in kAxisFrames.
using AxisFrames = std::vector<std::array<std::uint8_t, 2>>;
constexpr std::array<std::array<unsigned, 3>, 6> kAxisFrames{
    {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}}};
/// Hadamard (H) and S gates that lead from one frame to another.
const std::vector<Gate>& between_frames(unsigned from, unsigned to);
/// Frames in which rotations and turns are about Z and flips have a control, with few Hadamard gates between them.
AxisFrames choose_frames(const AxisForm& form);

}  // namespace qsim
