// The gates. Controlled gates are a base gate plus control qubits.
#pragma once

#include <string_view>
#include <vector>

#include "qsim/types.h"

namespace QSIM_PUBLIC qsim {

/// Base gates. `cx`, `ccx`, `c3x`, `c4x` are kX with 1..4 controls; `cu3` is kU with one control; and so on.
// clang-format off
enum class Gate : std::uint8_t {
  kId, kX, kY, kZ, kH, kS, kSdg, kT, kTdg, kSx, kSxdg, kRx, kRy, kRz, kPhase, kU2, kU, kU0,
  kUPhase,  // e^{i gamma} U(theta, phi, lambda): the base of OpenQASM's cu(theta, phi, lambda, gamma)
  kSwap, kRxx, kRyy, kRzz, kRccx, kRc3x,
  kRc3xdg,  // inverse of kRc3x; OpenQASM has no name for it
  kR,       // turn by theta about the axis cos(phi) X + sin(phi) Y
  kDcx,     // cx from the first qubit to the second, then back
  kDcxdg, kIswap,
  kEcr,        // (X on the first qubit - Y on the first, X on the second) / sqrt(2)
  kRzx,        // exp(-i theta/2 Z X), Z on the first qubit
  kXxMinusYy,  // Qiskit's, of (theta, beta): a turn between 00 and 11
  kXxPlusYy,   // between 01 and 10
};
// clang-format on
constexpr Gate kLastGate = Gate::kXxPlusYy;

/// A gate as it is called: its operands are `controls` qubits, then `targets` qubits.
struct GateSpelling {
  std::string_view name;  // "cx", "crz", "rxx"
  Gate gate = Gate::kId;
  int controls = 0, targets = 0, angles = 0;
};
/// Every name that Circuit::apply() knows, in the order of the gates: those of qelib1.inc, the other standard gates of
/// Qiskit ("ryy", "iswap", "cs", ...), and "uphase", "rc3xdg" and "dcxdg" for gates that neither has a name for.
std::vector<GateSpelling> gate_spellings();
/// How `gate` with `controls` controls is called; "" where it has no name of its own.
std::string_view gate_spelling(Gate gate, int controls);

/// Square matrix of order 2^targets, row-major. Bit j of a row or column index is the gate's j-th target.
using Matrix = std::vector<Complex>;

}  // namespace qsim
