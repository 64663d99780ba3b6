// Classical control of a circuit: statements over classical variables that say in which order blocks of operations,
// measurements and resets run. Everything that no measurement decides is already evaluated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "classical/classical.h"

namespace qsim {

/// A value of classical variables; children stand before their parents.
struct FlowExpression {
  enum class Kind : std::uint8_t {
    kConstant,   // a: index into Flow::constants
    kVariable,   // a: index into Flow::variables
    kOperation,  // op of a and (unless it is unary) b
    kConvert,    // a as `type`
    kBitAt,      // bit b (a number) of a
    kSetBit,     // a with bit c (a number) set to b
    kJoin,       // uint: the bits of a, above them the bit b
  };
  Kind kind = Kind::kConstant;
  Operator op = Operator::kAdd;
  ScalarType type;
  std::uint32_t a = 0, b = 0, c = 0;
};

/// One step; without a jump the next one follows.
struct FlowStep {
  enum class Kind : std::uint8_t {
    kRun,      // operations [a, b) of the circuit: gates, matrices and barriers
    kMeasure,  // qubit a into variable b, a bit
    kReset,    // qubit a
    kAssign,   // variable a becomes expression b
    kBranch,   // to step b unless expression a holds
    kJump,     // to step b
    kFail,     // the program is wrong here: message a
  };
  Kind kind = Kind::kRun;
  std::uint32_t a = 0, b = 0;
  std::uint32_t line = 0;
};

/// A value at the end: a constant or a variable.
struct FlowValue {
  bool known = true;
  Scalar constant;
  std::uint32_t variable = 0;
};

/// A variable of the program's global scope when it ends.
struct FlowOutput {
  std::string name;
  bool is_register = false;          // of bits; else a scalar, or the elements of an array, the last index fastest
  std::vector<std::uint32_t> shape;  // of an array
  bool declared_output = false;
  std::vector<FlowValue> values;  // of a register: bit 0 first
};

/// Begins at step 0 with all variables zero; ends behind the last step.
struct Control {
  std::vector<FlowStep> steps;
  std::vector<ScalarType> variables;
  std::vector<FlowExpression> expressions;
  std::vector<Scalar> constants;
  std::vector<std::string> failures;  // texts of kFail
  std::vector<FlowOutput> outputs;    // in order of declaration

  /// Whether a measurement decides what happens: there is a branch, an assignment or a jump.
  bool branches() const;
  bool measures() const;
};

/// Value of `expression` with these values of the variables. ArithmeticFault.
Scalar evaluate(const Control& control, std::uint32_t expression, const std::vector<Scalar>& variables);

}  // namespace qsim
