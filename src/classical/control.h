// Classical control of a circuit: statements over classical variables that say in which order blocks of operations,
// measurements and resets run. Everything that no measurement decides is already evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "classical/classical.h"
#include "classical/variables.h"
#include "qsim/types.h"

namespace qsim {

class Circuit;

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
  };
  Kind kind = Kind::kRun;
  std::uint32_t a = 0, b = 0;
  std::uint32_t line = 0;  // of the program; 0 for an assignment that only keeps a value where ways meet
};

inline bool jumps(const FlowStep& step) {
  return step.kind == FlowStep::Kind::kJump || step.kind == FlowStep::Kind::kBranch;
}

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
  std::uint32_t name_number = 0;  // as FlowName::name
};

/// What a program calls a variable: element `element` of Control::names[name - 1]; 0: nothing.
struct FlowName {
  std::uint32_t name = 0, element = 0;
  friend bool operator==(const FlowName&, const FlowName&) = default;
};

/// Begins at step 0 with all variables zero; ends behind the last step.
struct Control {
  std::vector<FlowStep> steps;
  std::vector<ScalarType> variables;
  std::vector<FlowExpression> expressions;
  std::vector<Scalar> constants;
  std::vector<FlowOutput> outputs;  // in order of declaration
  std::vector<std::string> names;   // of the program's variables, for those who show it
  std::vector<FlowName> called;     // by variable: where its value was first kept; may be shorter

  /// Whether a measurement decides what happens: there is a branch, an assignment or a jump.
  bool branches() const;
  bool measures() const;
  /// `visit(variable)` for every variable that `expression` reads, from left to right, each time that it is named.
  template <class Visit>
  void for_each_variable(std::uint32_t expression, const Visit& visit) const;
};

template <class Visit>
void Control::for_each_variable(std::uint32_t expression, const Visit& visit) const {
  std::vector<std::uint32_t> open{expression};
  while (!open.empty()) {
    const FlowExpression& node = expressions[open.back()];
    open.pop_back();
    switch (node.kind) {
      case FlowExpression::Kind::kVariable:
        visit(node.a);
        break;
      case FlowExpression::Kind::kConstant:
        break;
      case FlowExpression::Kind::kOperation:
      case FlowExpression::Kind::kSetBit:
      case FlowExpression::Kind::kJoin:
        if (node.kind != FlowExpression::Kind::kOperation || !is_unary(node.op)) open.push_back(node.b);
        open.push_back(node.a);
        break;
      case FlowExpression::Kind::kConvert:
      case FlowExpression::Kind::kBitAt:
        open.push_back(node.a);
        break;
    }
  }
}

/// The classical end of a circuit whose order no measurement decides: assignments, branches and jumps behind the last
/// operation.
struct Finish {
  Control control;
  std::vector<std::optional<Clbit>> bit_of;  // by variable: the classical bit that it begins with; else zero
};

/// Whether a step moves classical values alone.
bool is_classical(FlowStep::Kind kind);
/// Does a classical step, number `place`, and returns the number of the next one. ArithmeticFault.
std::size_t run_classical(const Control& control, const FlowStep& step, std::size_t place, Variables& variables);

/// What a variable holds, by its number.
using ValueOf = std::function<Scalar(std::uint32_t variable)>;
/// What `output` holds with these values of the variables.
std::vector<Scalar> output_values(const FlowOutput& output, const ValueOf& value_of);
/// Value of `expression` with these values of the variables. ArithmeticFault.
Scalar evaluate(const Control& control, std::uint32_t expression, const ValueOf& value_of);

/// The same where `memory[variable]` is what a variable holds.
template <class Memory>
std::vector<Scalar> output_values(const FlowOutput& output, const Memory& memory) {
  return output_values(output, ValueOf([&memory](std::uint32_t variable) { return Scalar(memory[variable]); }));
}
template <class Memory>
Scalar evaluate(const Control& control, std::uint32_t expression, const Memory& memory) {
  return evaluate(control, expression, ValueOf([&memory](std::uint32_t variable) { return Scalar(memory[variable]); }));
}

/// Those of `outputs` that results hold by value: the declared ones; without any, all where one is no register.
std::vector<FlowOutput> outputs_by_value(const std::vector<FlowOutput>& outputs);
/// Those of a circuit with control or a classical end.
std::vector<FlowOutput> result_variables(const Circuit& circuit);

}  // namespace qsim
