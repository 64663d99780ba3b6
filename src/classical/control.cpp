// Values of the expressions of classical control.
#include "classical/control.h"

#include <algorithm>
#include <iterator>

#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

bool Control::branches() const {
  return std::ranges::any_of(steps, [](const FlowStep& step) { return is_classical(step.kind); });
}

bool Control::measures() const {
  return std::ranges::any_of(steps, [](const FlowStep& step) { return step.kind == FlowStep::Kind::kMeasure; });
}

bool is_classical(FlowStep::Kind kind) {
  switch (kind) {
    case FlowStep::Kind::kAssign:
    case FlowStep::Kind::kBranch:
    case FlowStep::Kind::kJump:
      return true;
    case FlowStep::Kind::kRun:
    case FlowStep::Kind::kMeasure:
    case FlowStep::Kind::kReset:
      break;
  }
  return false;
}

std::size_t run_classical(const Control& control, const FlowStep& step, std::size_t place, Variables& variables) {
  if (step.kind == FlowStep::Kind::kJump) return step.b;
  if (step.kind == FlowStep::Kind::kBranch) return truth(evaluate(control, step.a, variables)) ? place + 1 : step.b;
  if (step.kind != FlowStep::Kind::kAssign) throw Error("a step of a program is not classical");
  variables.set(step.a, evaluate(control, step.b, variables));
  return place + 1;
}

std::vector<Scalar> output_values(const FlowOutput& output, const ValueOf& value_of) {
  std::vector<Scalar> values;
  values.reserve(output.values.size());
  for (const FlowValue& value : output.values)
    values.push_back(value.known ? value.constant : value_of(value.variable));
  return values;
}

std::vector<FlowOutput> outputs_by_value(const std::vector<FlowOutput>& outputs) {
  std::vector<FlowOutput> chosen;
  std::ranges::copy_if(outputs, std::back_inserter(chosen), &FlowOutput::declared_output);
  if (!chosen.empty() || std::ranges::all_of(outputs, &FlowOutput::is_register)) return chosen;
  return outputs;
}

std::vector<FlowOutput> result_variables(const Circuit& circuit) {
  if (circuit.control() != nullptr) return outputs_by_value(circuit.control()->outputs);
  return circuit.finish() != nullptr ? outputs_by_value(circuit.finish()->control.outputs) : std::vector<FlowOutput>();
}

Scalar evaluate(const Control& control, std::uint32_t expression, const ValueOf& value_of) {
  const FlowExpression& node = control.expressions[expression];
  const auto value = [&](std::uint32_t child) { return evaluate(control, child, value_of); };
  switch (node.kind) {
    case FlowExpression::Kind::kConstant:
      return control.constants[node.a];
    case FlowExpression::Kind::kVariable:
      return value_of(node.a);
    case FlowExpression::Kind::kConvert:
      return convert(value(node.a), node.type);
    case FlowExpression::Kind::kBitAt:
      return bit_at(value(node.a), node.b);
    case FlowExpression::Kind::kSetBit:
      return with_bit(value(node.a), node.c, truth(value(node.b)));
    case FlowExpression::Kind::kJoin: {
      const Scalar low = value(node.a);
      return with_bit(make_word(node.type, low.word), node.type.width - 1u, truth(value(node.b)));
    }
    case FlowExpression::Kind::kOperation:
      break;
  }
  if (is_unary(node.op)) return apply(node.op, value(node.a));
  const Scalar a = value(node.a);
  // What need not be known is not asked for.
  if (node.op == Operator::kAnd && !truth(a)) return make_bool(false);
  if (node.op == Operator::kOr && truth(a)) return make_bool(true);
  return apply(node.op, a, value(node.b));
}

}  // namespace qsim
