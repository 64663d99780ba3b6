// What circuits are made of: gates, angles, conditions, operations.
#pragma once

#include <string>
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

/// A number that a circuit leaves open, by its name.
struct Parameter {
  std::string name;
};

/// Radians: a constant plus multiples of parameters, as 2 * Parameter{"theta"} + 0.5.
struct Angle {
  Angle(double radians) : constant(radians) {}                                    // implicit: angles are mostly numbers
  Angle(const Parameter& parameter) : constant(0), terms{{parameter.name, 1}} {}  // implicit likewise
  double constant;
  std::vector<std::pair<std::string, double>> terms = {};  // name and factor; a name may stand more than once
};
Angle operator+(Angle a, const Angle& b), operator-(const Angle& a), operator-(const Angle& a, const Angle& b);
Angle operator*(double factor, Angle angle);

/// A control that is met where `qubit` is `value`.
struct ControlQubit {
  ControlQubit(Qubit on, bool is = true) : qubit(on), value(is) {}  // implicit: most controls are on 1
  Qubit qubit;
  bool value;
};

/// A named register: bits [first, first + size) of all qubits (or classical bits) in declaration order.
struct Register {
  std::string name;
  std::uint32_t first = 0, size = 0;
  friend bool operator==(const Register&, const Register&) = default;
};

enum class OpKind : std::uint8_t {
  kGate,           // row of the gate table with controls
  kUnitary,        // arbitrary 2^t x 2^t matrix on t targets, with controls
  kPauliRotation,  // exp(-i angle/2 P), P a product of X, Y, Z on the targets, with controls
  kMeasure,        // target qubit -> classical bit
  kReset,
  kBarrier,
};

/// Holds when the classical register number `creg`, read as an unsigned number, equals `value` (`negated`: differs).
struct Condition {
  std::uint32_t creg = 0;
  Index value = 0;
  bool negated = false;
  std::vector<Index> high = {};  // bits 64.. of the number, 64 a word; never set for registers of fewer than 64 bits
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// One operation; its operands live in the circuit's pools and are read through Circuit's accessors.
struct Operation {
  OpKind kind = OpKind::kGate;
  Gate gate = Gate::kId;  // kGate only
  std::uint16_t controls = 0;
  std::uint32_t targets = 0;
  std::uint32_t operand_begin = 0;  // controls, targets, a letter 1..3 = X..Z for each or the classical bit
  std::uint64_t param_begin = 0;    // angles; kUnitary: re, im pairs of the matrix, row-major
  std::int32_t condition = -1;      // index into Circuit::conditions(), -1 = always
  std::uint32_t line = 0;           // source line, 0 = none
};

}  // namespace qsim
