// Values of the expressions of classical control.
#include "classical/control.h"

#include <algorithm>

#include "qsim/error.h"

namespace qsim {

bool Control::branches() const {
  return std::ranges::any_of(steps, [](const FlowStep& step) {
    return step.kind != FlowStep::Kind::kRun && step.kind != FlowStep::Kind::kMeasure &&
           step.kind != FlowStep::Kind::kReset;
  });
}

bool Control::measures() const {
  return std::ranges::any_of(steps, [](const FlowStep& step) { return step.kind == FlowStep::Kind::kMeasure; });
}

Scalar evaluate(const Control& control, std::uint32_t expression, const std::vector<Scalar>& variables) {
  const FlowExpression& node = control.expressions[expression];
  const auto value = [&](std::uint32_t child) { return evaluate(control, child, variables); };
  switch (node.kind) {
    case FlowExpression::Kind::kConstant:
      return control.constants[node.a];
    case FlowExpression::Kind::kVariable:
      return variables[node.a];
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
