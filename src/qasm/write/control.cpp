// Ifs and loops are found by recursion over ranges of steps: jumps forward make ifs, jumps back make loops.
#include "qasm/write/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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
    if (is_unary(node.op)) {
      const bool sign = node.op == Operator::kNot || node.op == Operator::kInvert || node.op == Operator::kNegate;
      return sign ? fmt::format("({}{})", op, of(node.a)) : fmt::format("{}({})", op, of(node.a));
    }
    const bool function = node.op == Operator::kMod || node.op == Operator::kPow || node.op == Operator::kRotl ||
                          node.op == Operator::kRotr;
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
      : control_(control), operation_(operation), prefix_(prefix), expressions_(control, prefix) {
    for (std::uint32_t i = 0; i < control.steps.size(); ++i) {
      if (jumps(control.steps[i]) && control.steps[i].b <= i) jumps_back_.emplace_back(i, control.steps[i].b);
    }
  }

  std::string nested(const std::string& indent) {
    const auto steps = static_cast<std::uint32_t>(control_.steps.size());
    if (range(0, steps, indent)) return text_;
    text_.clear();
    return by_number(indent);
  }

 private:
  /// A loop that is open: where `continue` and `break` go.
  struct Loop {
    std::uint32_t begin, end;
  };
  static constexpr std::size_t kMostNesting = 100;

  void line(const std::string& indent, const std::string& text) { text_ += indent + text + '\n'; }

  // Behind the last step of the loop that begins at `at`; at once where none does.
  std::uint32_t loop_end(std::uint32_t at) const {
    std::uint32_t end = at;
    for (const auto& [from, to] : jumps_back_) {
      if (to == at) end = std::max(end, from + 1);
    }
    // Loops that begin inside end inside.
    for (bool more = end > at; more;) {
      more = false;
      for (const auto& [from, to] : jumps_back_) {
        if (to < at || to >= end || from < end) continue;
        end = from + 1;
        more = true;
      }
    }
    return end;
  }

  // Steps [at, end); false where they are no nested statements.
  bool range(std::uint32_t at, std::uint32_t end, const std::string& indent) {
    if (indent.size() > 2 * kMostNesting) return false;
    while (at < end) {
      const bool open = !loops_.empty() && loops_.back().begin == at;
      const std::uint32_t after = open ? at : loop_end(at);
      if (after > end) return false;
      if (after == at) {
        if (!step(at, end, indent)) return false;
        continue;
      }
      line(indent, "while (true) {");
      loops_.push_back({at, after});
      const FlowStep& last = control_.steps[after - 1];
      const bool repeats = last.kind == FlowStep::Kind::kJump && last.b == at;
      if (!body(at, repeats ? after - 1 : after, indent + "  ")) return false;
      if (!repeats && closed_ != after) line(indent + "  ", "break;");
      loops_.pop_back();
      closed_ = after;
      line(indent, "}");
      at = after;
    }
    return true;
  }

  // The loop that is open begins at `at`, which is no second one.
  bool body(std::uint32_t at, std::uint32_t end, const std::string& indent) {
    if (at < end && !step(at, end, indent)) return false;
    return range(at, end, indent);
  }

  // One statement from step `at` on, which moves behind it.
  bool step(std::uint32_t& at, std::uint32_t end, const std::string& indent) {
    const FlowStep& step = control_.steps[at];
    switch (step.kind) {
      case FlowStep::Kind::kAssign:
        line(indent, fmt::format("{}{} = {};", prefix_, step.a, expressions_.of(step.b)));
        break;
      case FlowStep::Kind::kBranch:
        return choice(at, end, indent);
      case FlowStep::Kind::kJump: {
        const std::optional<std::string> leave = leaving(step.b);
        if (!leave) return false;
        line(indent, *leave);
        break;
      }
      case FlowStep::Kind::kRun:
      case FlowStep::Kind::kMeasure:
      case FlowStep::Kind::kReset:
        text_ += operation_(step, indent);
        break;
    }
    ++at;
    return true;
  }

  // What jumps to `target` out of the innermost loop, or back to its begin.
  std::optional<std::string> leaving(std::uint32_t target) const {
    if (loops_.empty()) return std::nullopt;
    const Loop& inner = loops_.back();
    if (target == inner.begin) return "continue;";
    const Loop* const outer = loops_.size() > 1 ? &loops_[loops_.size() - 2] : nullptr;
    // A loop at the very end of another: behind it the other one begins again.
    const bool shared = outer != nullptr && outer->end == inner.end;
    if (target == (shared ? outer->begin : inner.end)) return "break;";
    return std::nullopt;
  }

  bool choice(std::uint32_t& at, std::uint32_t end, const std::string& indent) {
    const FlowStep& step = control_.steps[at];
    const std::string condition = expressions_.of(step.a);
    if (const std::optional<std::string> leave = leaving(step.b)) {
      line(indent, fmt::format("if (!{}) {{ {} }}", condition, *leave));
      ++at;
      return true;
    }
    if (step.b <= at || step.b > end) return false;
    // What jumps over the rest at the end of the first part has an else.
    const FlowStep& last = control_.steps[step.b - 1];
    const bool has_else = step.b - 1 > at && last.kind == FlowStep::Kind::kJump && last.b > step.b && last.b <= end;
    line(indent, fmt::format("if ({}) {{", condition));
    if (!range(at + 1, has_else ? step.b - 1 : step.b, indent + "  ")) return false;
    if (has_else) {
      line(indent, "} else {");
      if (!range(step.b, last.b, indent + "  ")) return false;
    }
    line(indent, "}");
    at = has_else ? last.b : step.b;
    return true;
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

  // A loop that holds the number of the step that comes next; in the order of the steps, so that each pass does many.
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
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_back_;  // from, to
  std::vector<Loop> loops_;
  std::uint32_t closed_ = 0;  // where the loop that was written last ends
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
  return StepsText(control, operation, prefix).nested(indent);
}

}  // namespace qsim
