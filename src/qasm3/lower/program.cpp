// Steps, expressions and variables of the flow program as it grows.
#include <algorithm>
#include <array>

#include "base/bits.h"
#include "qasm/text/expansion.h"
#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {

Lowering::Lowering(Model& model, Checker& checker, const LoweringLimits& limits)
    : model_(model), checker_(checker), tree_(model.tree), limits_(limits), out_(&flow_.circuit) {
  flow_.expressions.resize(1);  // 0 says that a value is known
}

// Operations since the last step become one.
void Lowering::close_run() {
  const auto end = static_cast<std::uint32_t>(flow_.circuit.operations().size());
  if (end == run_begin_) return;
  flow_.steps.push_back({FlowStep::Kind::kRun, run_begin_, end, line_});
  run_begin_ = end;
}

std::uint32_t Lowering::here() {
  close_run();
  return static_cast<std::uint32_t>(flow_.steps.size());
}

std::uint32_t Lowering::add_step(FlowStep::Kind kind, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t place = here();
  if (place >= limits_.flow_steps) {
    throw Failure{at_, "more than " + std::to_string(limits_.flow_steps) + " steps that depend on measurements", "",
                  ExitCode::kUnsupported, true};
  }
  flow_.steps.push_back({kind, a, b, line_});
  return place;
}

std::uint32_t Lowering::add_expression(const FlowExpression& expression) {
  flow_.expressions.push_back(expression);
  return static_cast<std::uint32_t>(flow_.expressions.size() - 1);
}

std::uint32_t Lowering::add_variable(ScalarType type, std::vector<Scalar> possible) {
  const auto variable = static_cast<std::uint32_t>(flow_.variables.size());
  flow_.variables.push_back(type);
  possible_.push_back(std::move(possible));
  variable_leaf_.push_back(add_expression({FlowExpression::Kind::kVariable, Operator::kAdd, type, variable, 0, 0}));
  return variable;
}

// The number of a variable's name, from 1.
std::uint32_t Lowering::name_of(SymbolId symbol) {
  // Behind a scope the numbers of its symbols are those of others.
  const auto name = static_cast<std::uint32_t>(model_.symbols[symbol].name);
  const auto next = static_cast<std::uint32_t>(flow_.names.size() + 1);
  const auto [at, fresh] = names_.try_emplace({static_cast<std::uint32_t>(symbol), name}, next);
  if (fresh) flow_.names.emplace_back(model_.names.text(model_.symbols[symbol].name));
  return at->second;
}

// Puts a value into a cell, and calls its variable by the cell's name where it has none yet.
void Lowering::keep(std::uint32_t cell, const Value& value) {
  const FlowName name = memory_.name(cell);
  if (name.name != 0 && !value.known() && flow_.expressions[value.expression].kind == FlowExpression::Kind::kVariable) {
    flow_.called.resize(flow_.variables.size());
    FlowName& called = flow_.called[flow_.expressions[value.expression].a];
    if (called.name == 0) called = name;
  }
  memory_.write(cell, value);
}

// A variable's value: known where a case split has assumed it.
Value Lowering::variable_value(std::uint32_t variable) {
  for (const auto& [assumed, value] : assumed_) {
    if (assumed == variable) return known_value(value);
  }
  Value value;
  value.scalar.type = flow_.variables[variable];
  value.expression = variable_leaf_[variable];
  return value;
}

std::uint32_t Lowering::expression_of(const Value& value) {
  if (!value.known()) return value.expression;
  flow_.constants.push_back(value.scalar);
  const auto index = static_cast<std::uint32_t>(flow_.constants.size() - 1);
  return add_expression({FlowExpression::Kind::kConstant, Operator::kAdd, value.type(), index, 0, 0});
}

// A value as a cell may hold it: known or a variable, so that expressions do not grow from statement to statement.
Value Lowering::stored(const Value& value) {
  if (value.known() || flow_.expressions[value.expression].kind == FlowExpression::Kind::kVariable) return value;
  const std::vector<Scalar>* possible = possible_values(value.expression);
  const std::uint32_t variable = add_variable(value.type(), possible == nullptr ? std::vector<Scalar>{} : *possible);
  add_step(FlowStep::Kind::kAssign, variable, value.expression);
  return variable_value(variable);
}

// All values that an expression can have, from those of its variables; null when they are too many to list.
const std::vector<Scalar>* Lowering::possible_values(std::uint32_t expression) {
  const FlowExpression node = flow_.expressions[expression];
  if (node.kind == FlowExpression::Kind::kVariable) {
    const std::vector<Scalar>& values = possible_[node.a];
    return values.empty() ? nullptr : &values;
  }
  if (const auto found = possible_of_.find(expression); found != possible_of_.end()) {
    return found->second.empty() ? nullptr : &found->second;
  }
  std::vector<Scalar>& values = possible_of_[expression];
  if (node.kind == FlowExpression::Kind::kConstant) {
    values.push_back(flow_.constants[node.a]);
    return &values;
  }
  const bool two = node.kind == FlowExpression::Kind::kSetBit || node.kind == FlowExpression::Kind::kJoin ||
                   (node.kind == FlowExpression::Kind::kOperation && !is_unary(node.op));
  const std::vector<Scalar>* left = possible_values(node.a);
  const std::vector<Scalar>* right = two ? possible_values(node.b) : nullptr;
  if (left == nullptr || (two && right == nullptr)) return nullptr;
  const std::size_t pairs = left->size() * (two ? right->size() : 1);
  if (pairs > 16 * std::size_t{limits_.possible_values}) return nullptr;
  charge(0, pairs, at_);
  // The expression over two variables that take these values.
  Flow small;
  small.expressions = {{FlowExpression::Kind::kVariable, Operator::kAdd, flow_.expressions[node.a].type, 0, 0, 0},
                       {FlowExpression::Kind::kVariable, Operator::kAdd, {}, 1, 0, 0},
                       node};
  small.expressions[2].a = 0;
  if (two) small.expressions[2].b = 1;
  ValueSet found;
  for (const Scalar& a : *left) {
    for (std::size_t j = 0; j < (two ? right->size() : 1); ++j) {
      try {
        found.add(evaluate(small, 2, std::array{a, two ? (*right)[j] : Scalar{}}));
      } catch (const ArithmeticFault&) {  // no value: the program fails there if it ever comes to it
      }
      if (found.size() > limits_.possible_values) return nullptr;
    }
  }
  std::vector<Scalar>& kept = possible_of_[expression];
  kept = found.take();
  return kept.empty() ? nullptr : &kept;
}

void Lowering::charge(std::uint64_t operations, std::uint64_t steps, std::uint32_t at) {
  operations_ = saturating_add(operations_, operations);
  steps_ = saturating_add(steps_, steps);
  require_room({0, 0}, at);
}

// What costs too much is refused before any of it is done.
void Lowering::require_room(const Cost& cost, std::uint32_t at) const {
  const qasm::Expansion most(limits_.operations, flow_.circuit.qubits());
  if (!most.holds(saturating_add(operations_, cost.operations), saturating_add(steps_, cost.steps))) {
    throw most.failure(at, "loops and calls");
  }
}

Lowering::Checkpoint Lowering::checkpoint() {
  close_run();
  return {flow_.steps.size(),
          flow_.expressions.size(),
          flow_.variables.size(),
          flow_.constants.size(),
          flow_.circuit.operations().size(),
          run_begin_,
          phase_};
}

void Lowering::back_to(const Checkpoint& point) {
  flow_.steps.resize(point.steps);
  flow_.expressions.resize(point.expressions);
  flow_.variables.resize(point.variables);
  flow_.called.resize(std::min(flow_.called.size(), point.variables));
  possible_.resize(point.variables);
  variable_leaf_.resize(point.variables);
  possible_of_.erase(possible_of_.lower_bound(static_cast<std::uint32_t>(point.expressions)), possible_of_.end());
  flow_.constants.resize(point.constants);
  flow_.circuit.truncate(point.operations);
  run_begin_ = point.run_begin;
  phase_ = point.phase;
}

void Lowering::fail_dynamic(std::uint32_t at, const std::string& what) const {
  throw Failure{at, what + " depends on measurements in more than " + std::to_string(limits_.possible_values) + " ways",
                "give it a small type, as uint[4]", ExitCode::kUnsupported};
}

// The value, or a case split over the first of its variables that has few enough values.
Scalar Lowering::require_known(const Value& value, std::uint32_t at) {
  if (value.known()) return value.scalar;
  flow_.for_each_variable(value.expression, [&](std::uint32_t variable) {
    if (!possible_[variable].empty()) throw NeedSplit{variable, at};
  });
  fail_dynamic(at, "what happens here");
}

}  // namespace qsim::qasm3
