#include "picture/circuit/control.h"

#include <algorithm>
#include <span>
#include <utility>

#include "classical/structure.h"
#include "picture/circuit/items.h"
#include "picture/circuit/values.h"
#include "qsim/error.h"

namespace qsim::picture {
namespace {

using Kind = Statement::Kind;

/// Wires from the first to the last; none where first > last.
struct Span {
  std::uint32_t first = UINT32_MAX, last = 0;
  bool empty() const { return first > last; }
  void add(std::uint32_t wire) {
    first = std::min(first, wire);
    last = std::max(last, wire);
  }
  void add(const Span& other) {
    if (other.empty()) return;
    add(other.first);
    add(other.last);
  }
};

class Builder {
 public:
  Builder(const Circuit& circuit, const std::string& pi, CircuitLayout& layout)
      : circuit_(circuit), control_(*circuit.control()), pi_(pi), values_(circuit, circuit.qubits()), layout_(layout) {
    layout.labels.insert(layout.labels.end(), values_.labels().begin(), values_.labels().end());
  }

  void build(const Statements& statements) {
    Columns columns(layout_);
    columns_ = &columns;
    draw(statements, {});
    for (const auto& [wire, text] : values_.written_at_end()) columns.place({{{wire, Mark::kAssign, text}}, {}});
  }

 private:
  bool is_drawn(const Statement& statement) const {
    switch (statement.kind) {
      case Kind::kStep:
        return control_.steps[statement.step].kind != FlowStep::Kind::kAssign || !values_.is_copy(statement.step);
      case Kind::kIf:
        return is_drawn(statement.body) || is_drawn(statement.otherwise);
      case Kind::kLoop:
      case Kind::kContinue:
      case Kind::kBreak:
        return true;
    }
    return true;
  }
  bool is_drawn(const Statements& statements) const {
    return std::any_of(statements.begin(), statements.end(), [&](const Statement& each) { return is_drawn(each); });
  }

  /// The wires that a frame around the statements takes. Bits that are measured inside may lie below it.
  Span span_of(const Statements& statements) const {
    Span all;
    for (const Statement& each : statements) {
      if (each.kind == Kind::kStep) {
        add_step(control_.steps[each.step], each.step, all);
      } else if (is_drawn(each) && (each.kind == Kind::kLoop || each.kind == Kind::kIf) &&
                 leaving(each).how == nullptr) {
        all.add(frame_of(each));
      }
    }
    return all;
  }

  void add_step(const FlowStep& step, std::uint32_t number, Span& all) const {
    switch (step.kind) {
      case FlowStep::Kind::kRun:
        for (std::uint32_t k = step.a; k < step.b; ++k) {
          const Operation& op = circuit_.operations()[k];
          for (const Qubit qubit : circuit_.controls(op)) all.add(qubit);
          for (const Qubit qubit : circuit_.targets(op)) all.add(qubit);
        }
        return;
      case FlowStep::Kind::kMeasure:
      case FlowStep::Kind::kReset:
        return all.add(step.a);
      case FlowStep::Kind::kAssign:
        if (!values_.is_copy(number)) all.add(values_.wire(step.a));
        return;
      case FlowStep::Kind::kBranch:
      case FlowStep::Kind::kJump:
        return;
    }
  }

  /// Where nothing inside has a wire, those that the condition reads.
  Span frame_of(const Statement& statement) const {
    Span span = span_of(statement.body);
    span.add(span_of(statement.otherwise));
    const Statement* const test = statement.kind == Kind::kIf ? &statement : while_of(statement);
    if (test != nullptr) {
      const std::vector<std::uint32_t> read = values_.wires_read(test->step);
      const bool nothing = span.empty();
      for (const std::uint32_t wire : read) {
        if (nothing || wire < span.first) span.add(wire);
      }
    }
    if (span.empty()) span.add(0);
    return span;
  }

  /// The last statement where that leaves a loop, or begins it again, and nothing else is drawn.
  const Statement* only_leaves(const Statements& statements) const {
    if (statements.empty()) return nullptr;
    const Statement& last = statements.back();
    if (last.kind != Kind::kBreak && last.kind != Kind::kContinue) return nullptr;
    const bool alone =
        std::none_of(statements.begin(), statements.end() - 1, [&](const Statement& each) { return is_drawn(each); });
    return alone ? &last : nullptr;
  }

  /// A test that only leaves a loop, or begins it again.
  struct Leaving {
    const Statement* how = nullptr;  // null: it is another test
    bool negated = false;            // where the condition does not hold
  };
  Leaving leaving(const Statement& test) const {
    if (test.kind != Kind::kIf) return {};
    if (!is_drawn(test.body)) return {only_leaves(test.otherwise), true};
    if (!is_drawn(test.otherwise)) return {only_leaves(test.body), test.negated};
    return {};
  }

  /// The test that a loop begins with; null where it begins otherwise.
  const Statement* while_of(const Statement& loop) const {
    if (loop.kind != Kind::kLoop || loop.body.empty()) return nullptr;
    const Leaving first = leaving(loop.body.front());
    return first.how != nullptr && first.how->kind == Kind::kBreak && first.negated ? &loop.body.front() : nullptr;
  }

  /// A line across the frame with words at its top, and links to what a condition reads.
  void line(Frame frame, const Span& span, const std::string& words, const std::vector<std::uint32_t>& reads = {}) {
    Item item;
    item.frame = frame;
    for (std::uint32_t wire = span.first; wire <= span.last; ++wire) {
      const bool read = std::binary_search(reads.begin(), reads.end(), wire);
      item.cells.push_back({wire, Mark::kFrame, wire == span.first ? words : "", "", read});
    }
    for (const std::uint32_t wire : reads) {
      if (wire <= span.last) continue;
      item.cells.push_back({wire, Mark::kRead});
      item.classical_from = span.last;
    }
    columns_->place(std::move(item));
  }

  void draw(std::span<const Statement> statements, const Span& inside) {
    for (const Statement& each : statements) {
      if (!is_drawn(each)) continue;
      switch (each.kind) {
        case Kind::kStep:
          step(control_.steps[each.step], each.step);
          break;
        case Kind::kIf:
          choice(each, inside);
          break;
        case Kind::kLoop:
          loop(each);
          break;
        case Kind::kContinue:
          line(Frame::kLeave, inside, "continue");
          break;
        case Kind::kBreak:
          line(Frame::kLeave, inside, "break");
          break;
      }
    }
  }

  void step(const FlowStep& step, std::uint32_t number) {
    switch (step.kind) {
      case FlowStep::Kind::kRun:
        for_each_item(circuit_, step.a, step.b, pi_, [&](Item item) { columns_->place(std::move(item)); });
        return;
      case FlowStep::Kind::kMeasure: {
        const Cell bit{values_.wire(step.b), Mark::kBit, values_.element(step.b)};
        return columns_->place({{{step.a, Mark::kMeasure}, bit}, step.a});
      }
      case FlowStep::Kind::kReset:
        return columns_->place({{{step.a, Mark::kReset, "|0>"}}, {}});
      case FlowStep::Kind::kAssign:
        return columns_->place({{{values_.wire(step.a), Mark::kAssign, values_.assignment(number)}}, {}});
      case FlowStep::Kind::kBranch:
      case FlowStep::Kind::kJump:
        return;
    }
  }

  void choice(const Statement& statement, const Span& inside) {
    const std::string condition = values_.condition(statement.step, statement.negated);
    const std::vector<std::uint32_t> reads = values_.wires_read(statement.step);
    if (const Leaving leaves = leaving(statement); leaves.how != nullptr) {
      const std::string how = leaves.how->kind == Kind::kBreak ? "break if " : "continue if ";
      return line(Frame::kLeave, inside, how + values_.condition(statement.step, leaves.negated), reads);
    }
    const Span span = frame_of(statement);
    const bool swapped = !is_drawn(statement.body);
    line(Frame::kOpen, span, "if " + (swapped ? values_.condition(statement.step, true) : condition), reads);
    draw(swapped ? statement.otherwise : statement.body, span);
    if (!swapped) otherwise(statement.otherwise, span);
    line(Frame::kClose, span, "");
  }

  /// "else if" where the other part is one if.
  void otherwise(const Statements& statements, const Span& span) {
    if (!is_drawn(statements)) return;
    const Statement* only = nullptr;
    for (const Statement& each : statements) {
      if (!is_drawn(each)) continue;
      if (only != nullptr || each.kind != Kind::kIf || each.negated || !is_drawn(each.body)) {
        line(Frame::kNext, span, "else");
        return draw(statements, span);
      }
      only = &each;
    }
    line(Frame::kNext, span, "else if " + values_.condition(only->step, false), values_.wires_read(only->step));
    draw(only->body, span);
    otherwise(only->otherwise, span);
  }

  void loop(const Statement& statement) {
    const Span span = frame_of(statement);
    std::span<const Statement> body = statement.body;
    if (const Statement* const test = while_of(statement)) {
      line(Frame::kOpen, span, "while " + values_.condition(test->step, false), values_.wires_read(test->step));
      body = body.subspan(1);
    } else {
      line(Frame::kOpen, span, "loop");
    }
    draw(body, span);
    line(Frame::kClose, span, "");
  }

  const Circuit& circuit_;
  const Control& control_;
  const std::string& pi_;
  const Values values_;
  CircuitLayout& layout_;
  Columns* columns_ = nullptr;
};

}  // namespace

void lay_out_control(const Circuit& circuit, const std::string& pi, CircuitLayout& layout) {
  const std::optional<Statements> statements = nested_statements(*circuit.control());
  if (!statements) {
    throw UnsupportedError("a program whose branches are no nested ifs and loops has no drawing", {},
                           "its text in OpenQASM 3 shows it");
  }
  Builder(circuit, pi, layout).build(*statements);
}

}  // namespace qsim::picture
