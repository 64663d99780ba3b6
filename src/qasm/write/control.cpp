// Nested statements as they are written, or a loop over the number of the next step.
#include "qasm/write/control.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "classical/structure.h"
#include "qasm/write/expand.h"
#include "qsim/error.h"

namespace qsim {
namespace {

std::string word_bits(const Scalar& value) {
  std::string bits;
  for (unsigned i = value.type.width; i-- > 0;) bits += (value.word >> i & 1) != 0 ? '1' : '0';
  return '"' + bits + '"';
}

class ExpressionText {
 public:
  ExpressionText(const Control& control, const std::string& prefix) : control_(control), prefix_(prefix) {}

  std::string of(std::uint32_t expression) const {
    const FlowExpression& node = control_.expressions[expression];
    switch (node.kind) {
      case FlowExpression::Kind::kConstant:
        return constant_text(control_.constants[node.a]);
      case FlowExpression::Kind::kVariable:
        return prefix_ + std::to_string(node.a);
      case FlowExpression::Kind::kConvert:
        return fmt::format("{}({})", type_text(node.type), of(node.a));
      case FlowExpression::Kind::kBitAt:
        return bit_at(node);
      case FlowExpression::Kind::kSetBit:
        return with_bit(node);
      case FlowExpression::Kind::kJoin: {
        const std::string type = type_text(node.type);
        return fmt::format("({}({}) | ({}({}) << {}))", type, of(node.a), type, of(node.b), node.type.width - 1);
      }
      case FlowExpression::Kind::kOperation:
        break;
    }
    const std::string_view op = operator_text(node.op);
    const bool function = is_function(node.op);
    if (is_unary(node.op)) {
      return function ? fmt::format("{}({})", op, of(node.a)) : fmt::format("({}{})", op, of(node.a));
    }
    if (function) return fmt::format("{}({}, {})", op, of(node.a), of(node.b));
    return fmt::format("({} {} {})", of(node.a), op, of(node.b));
  }

 private:
  // The bits of an angle as a register, which the language has operators for.
  std::string bits_of(std::uint32_t angle) const {
    return fmt::format("bit[{}]({})", control_.expressions[angle].type.width, of(angle));
  }
  static std::string mask(unsigned width, unsigned bit, char set, char others) {
    std::string bits(width, others);
    bits[width - 1 - bit] = set;
    return '"' + bits + '"';
  }

  std::string with_bit(const FlowExpression& node) const {
    const unsigned width = node.type.width;
    const std::string type = type_text(node.type);
    if (node.type.kind != ScalarKind::kAngle) {
      return fmt::format("(({} & ~({}(1) << {})) | ({}({}) << {}))", of(node.a), type, node.c, type, of(node.b),
                         node.c);
    }
    return fmt::format("{}(({} & {}) | bit[{}](uint[{}]({}) << {}))", type, bits_of(node.a),
                       mask(width, node.c, '0', '1'), width, width, of(node.b), node.c);
  }

  std::string bit_at(const FlowExpression& node) const {
    const FlowExpression& from = control_.expressions[node.a];
    if (from.kind == FlowExpression::Kind::kVariable) return fmt::format("{}[{}]", of(node.a), node.b);
    if (from.type.kind != ScalarKind::kAngle) {
      return fmt::format("bit(({} >> {}) & {}(1))", of(node.a), node.b, type_text(from.type));
    }
    return fmt::format("bit(({} & {}) != \"{}\")", bits_of(node.a), mask(from.type.width, node.b, '1', '0'),
                       std::string(from.type.width, '0'));
  }

  const Control& control_;
  const std::string& prefix_;
};

class StepsText {
 public:
  StepsText(const Control& control, const OperationText& operation, const std::string& prefix)
      : control_(control), operation_(operation), prefix_(prefix), expressions_(control, prefix) {}

  std::string write(const std::string& indent) {
    const std::optional<Statements> nested = nested_statements(control_);
    if (!nested) return by_number(indent);
    statements(*nested, indent);
    return text_;
  }

 private:
  void line(const std::string& indent, const std::string& text) { text_ += indent + text + '\n'; }

  void statements(const Statements& all, const std::string& indent) {
    for (const Statement& each : all) {
      switch (each.kind) {
        case Statement::Kind::kStep:
          step(control_.steps[each.step], indent);
          break;
        case Statement::Kind::kIf:
          choice(each, indent);
          break;
        case Statement::Kind::kLoop:
          line(indent, "while (true) {");
          statements(each.body, indent + "  ");
          line(indent, "}");
          break;
        case Statement::Kind::kContinue:
          line(indent, "continue;");
          break;
        case Statement::Kind::kBreak:
          line(indent, "break;");
          break;
      }
    }
  }

  void step(const FlowStep& step, const std::string& indent) {
    if (step.kind == FlowStep::Kind::kAssign) {
      line(indent, fmt::format("{}{} = {};", prefix_, step.a, expressions_.of(step.b)));
    } else {
      text_ += operation_(step, indent);
    }
  }

  void choice(const Statement& made, const std::string& indent) {
    const std::string condition = expressions_.of(control_.steps[made.step].a);
    if (made.negated) {  // what leaves a loop
      const bool leaves = made.body.front().kind == Statement::Kind::kBreak;
      line(indent, fmt::format("if (!{}) {{ {} }}", condition, leaves ? "break;" : "continue;"));
      return;
    }
    line(indent, fmt::format("if ({}) {{", condition));
    statements(made.body, indent + "  ");
    if (!made.otherwise.empty()) {
      line(indent, "} else {");
      statements(made.otherwise, indent + "  ");
    }
    line(indent, "}");
  }

  // By step: whether something jumps there, or before it.
  std::vector<bool> block_begins() const {
    std::vector<bool> begins(control_.steps.size() + 1, false);
    begins.front() = begins.back() = true;
    for (std::size_t i = 0; i < control_.steps.size(); ++i) {
      if (jumps(control_.steps[i])) begins[control_.steps[i].b] = begins[i + 1] = true;
    }
    return begins;
  }

  // A loop that holds the number of the step that comes next; in the order of the steps, so that each round does many.
  std::string by_number(const std::string& indent) {
    const std::vector<bool> begins = block_begins();
    const auto steps = static_cast<std::uint32_t>(control_.steps.size());
    const std::string next = prefix_ + "next", inner = indent + "    ";
    line(indent, fmt::format("uint[32] {} = 0;", next));
    line(indent, fmt::format("while ({} != {}) {{", next, steps));
    for (std::uint32_t at = 0; at < steps;) {
      line(indent + "  ", fmt::format("if ({} == {}) {{", next, at));
      bool open = true;
      do {
        const FlowStep& step = control_.steps[at++];
        open = !jumps(step);
        if (step.kind == FlowStep::Kind::kJump) {
          line(inner, fmt::format("{} = {};", next, step.b));
        } else if (step.kind == FlowStep::Kind::kBranch) {
          line(inner, fmt::format("if ({}) {{ {} = {}; }} else {{ {} = {}; }}", expressions_.of(step.a), next, at, next,
                                  step.b));
        } else if (step.kind == FlowStep::Kind::kAssign) {
          line(inner, fmt::format("{}{} = {};", prefix_, step.a, expressions_.of(step.b)));
        } else {
          text_ += operation_(step, inner);
        }
      } while (!begins[at]);
      if (open) line(inner, fmt::format("{} = {};", next, at));
      line(indent + "  ", "}");
    }
    line(indent, "}");
    return text_;
  }

  const Control& control_;
  const OperationText& operation_;
  const std::string& prefix_;
  ExpressionText expressions_;
  std::string text_;
};

}  // namespace

std::string constant_text(const Scalar& value) {
  switch (value.type.kind) {
    case ScalarKind::kBool:
      return truth(value) ? "true" : "false";
    case ScalarKind::kBit:
      return truth(value) ? "bit(true)" : "bit(false)";
    case ScalarKind::kInt:
    case ScalarKind::kUint:
      return fmt::format("{}({})", type_text(value.type), value_text(value));
    case ScalarKind::kFloat:
      return fmt::format("{}({})", type_text(value.type), qasm_real(value.parts[0]));
    case ScalarKind::kAngle:
      return fmt::format("{}({})", type_text(value.type), word_bits(value));
    case ScalarKind::kComplex:
      return fmt::format("{}({} + {} im)", type_text(value.type), qasm_real(value.parts[0]), qasm_real(value.parts[1]));
    case ScalarKind::kDuration:
      break;
  }
  throw UnsupportedError("a duration is not written");
}

std::string expression_text(const Control& control, std::uint32_t expression, const std::string& prefix) {
  return ExpressionText(control, prefix).of(expression);
}

std::string steps_text(const Control& control, const OperationText& operation, const std::string& prefix,
                       const std::string& indent) {
  return StepsText(control, operation, prefix).write(indent);
}

}  // namespace qsim
