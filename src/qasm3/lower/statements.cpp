// Statements, one after the other.
#include <algorithm>

#include "base/file/source_lines.h"
#include "qasm/text/expansion.h"
#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {
namespace {

constexpr int kMaxExecutionDepth = 800;  // blocks and calls inside each other, all together

}  // namespace

void Lowering::run(NodeId statement, std::uint32_t line) {
  if (ended_) return;
  fixed_line_ = line;
  if (globals_.size() < model_.global_frame) globals_.resize(model_.global_frame);
  const Cost least = checker_.cost(statement);
  require_room(least, tree_[statement].at);
  const Status status = execute(statement);
  if (status == Status::kEnd) {
    if (!ends_.empty()) end_here();
    ended_ = true;
  } else if (status == Status::kDead) {
    ended_ = true;
  }
}

Lowering::Status Lowering::execute(NodeId statement) {
  const Node& node = tree_[statement];
  if (gates_ == 0) {
    line_ = line_of(node);
    SourceLines::set(*out_, line_);
  }
  at_ = node.at;
  charge(0, 1, node.at);
  if (depth_ >= kMaxExecutionDepth) {
    throw Failure{node.at, "calls and blocks nested deeper than " + std::to_string(kMaxExecutionDepth) + " levels",
                  "does a subroutine call itself without end?", ExitCode::kUnsupported};
  }
  ++depth_;
  Status status = Status::kNext;
  try {
    status = guarded(node.at, [&] { return execute_kind(statement); });
  } catch (const Ended& ended) {
    status = ended.status;
  }
  --depth_;
  return status;
}

Lowering::Status Lowering::execute_kind(NodeId id) {
  const Node node = tree_[id];
  switch (node.kind) {
    case NodeKind::kGateCall:
      gate_call(id);
      return Status::kNext;
    case NodeKind::kDeclare:
      return declare(id);
    case NodeKind::kAssign:
      assign(id);
      return Status::kNext;
    case NodeKind::kAlias:
      alias(id);
      return Status::kNext;
    case NodeKind::kExpression: {
      const Type& type = model_.note(node.a).type;
      if (tree_[node.a].kind == NodeKind::kMeasure) {
        measured(node.a);
      } else if (type.kind == TypeKind::kNothing) {
        call(node.a);
      } else if (!type.is_quantum()) {
        elements(node.a, type);
      }
      return Status::kNext;
    }
    case NodeKind::kReset:
      reset(id);
      return Status::kNext;
    case NodeKind::kBarrier:
      barrier(id);
      return Status::kNext;
    case NodeKind::kBox:
      return block(node.b);
    case NodeKind::kBlock:
      return block(id);
    case NodeKind::kIf:
      return if_statement(id);
    case NodeKind::kFor:
      return for_loop(id);
    case NodeKind::kWhile:
      return while_loop(id);
    case NodeKind::kSwitch:
      return switch_statement(id);
    case NodeKind::kBreak:
      return Status::kBreak;
    case NodeKind::kContinue:
      return Status::kContinue;
    case NodeKind::kEnd:
      return Status::kEnd;
    case NodeKind::kReturn:
      return return_value(id);
    default:
      return Status::kNext;  // definitions and what has no effect
  }
}

Lowering::Status Lowering::block(NodeId node) {
  const std::uint32_t cells = memory_.size();
  const std::size_t pool = pool_.size();
  const Status status = statements(tree_[node].a);
  memory_.release(std::min(cells, memory_.size()));
  pool_.resize(pool);
  return status;
}

Lowering::Status Lowering::statements(NodeId list) {
  for (NodeId each = list; each != 0; each = tree_[each].next) {
    const Status status = execute(each);
    if (status != Status::kNext) return status;
  }
  return Status::kNext;
}

// ---- declarations and assignments

Lowering::Status Lowering::declare(NodeId id) {
  const Node node = tree_[id];
  const SymbolId symbol = model_.note(id).symbol;
  const Type type = model_.symbols[symbol].type;
  if (type.is_quantum()) {
    declare_qubits(node, symbol);
    return Status::kNext;
  }
  const std::uint32_t count = type.is_scalar() ? 1 : type.size;
  if (count > limits_.cells - std::min(limits_.cells, memory_.size())) {
    throw Failure{node.at, "more than " + std::to_string(limits_.cells) + " bits and numbers in classical variables",
                  "", ExitCode::kUnsupported, true};
  }
  charge(0, count, node.at);
  const ScalarType scalar = type.kind == TypeKind::kBits ? ScalarType{ScalarKind::kBit, 1} : type.scalar;
  Binding& of = binding(symbol);
  of = {memory_.allocate(count, known_value(make_zero(scalar)), name_of(symbol)), count, false};
  const std::uint32_t first = of.first;
  if (model_.symbols[symbol].global) global_variables_.push_back(symbol);
  const NodeId initial = (node.flags & kInput) != 0 ? input(model_.symbols[symbol], node.at) : node.b;
  if (initial == 0) return Status::kNext;
  return guarded(node.at, [&] {
    const Type from = model_.note(initial).type;
    const std::vector<Value> values = fitted(elements(initial, from), from, type, tree_[initial].at);
    for (std::uint32_t i = 0; i < count; ++i) keep(first + i, stored(values[i]));
    return Status::kNext;
  });
}

void Lowering::declare_qubits(const Node& node, SymbolId symbol) {
  const Type type = model_.symbols[symbol].type;
  const std::uint32_t first = flow_.circuit.qubits();
  if (std::uint64_t{first} + type.size > qasm::kMaxDeclared) throw qasm::too_many_qubits(node.at);
  flow_.circuit.add_qreg(std::string(model_.names.text(node.name)), type.size);
  binding(symbol) = {first, type.size, false};
}

void Lowering::alias(NodeId id) {
  const Node node = tree_[id];
  std::vector<std::uint32_t> ids;
  try {
    operand(node.a, ids);
  } catch (const NeedSplit&) {
    throw Failure{node.at, "what an alias names depends on measurements", "", ExitCode::kUnsupported};
  }
  if (has_twice(ids)) throw Failure{node.at, "the same qubit or bit twice in an alias", ""};
  charge(0, ids.size(), node.at);
  binding(model_.note(id).symbol) = listed(ids);
}

void Lowering::assign(NodeId id) {
  const Node node = tree_[id];
  const Place at = place(node.a);
  const Type from = model_.note(node.b).type;
  std::vector<Value> values;
  if ((node.flags & kCompound) == 0) {
    values = fitted(elements(node.b, from), from, at.type, tree_[node.b].at);
  } else {
    const Operator op = node.op;
    const bool by_bits = at.type.kind == TypeKind::kBits;
    const Value by = by_bits ? Value{} : scalar(node.b);
    const std::vector<Value> before = read(at);
    if (by_bits) {
      values = compound_bits(op, before, node.b);
    } else {
      values = {converted(combine(op, before.front(), by, node.at), at.type.scalar, node.at)};
    }
  }
  if (values.size() != (at.of_number ? at.bits.size() : at.cells.size())) {
    throw Failure{node.at, "sizes differ in this assignment", ""};
  }
  write(at, values);
}

// register op= value
std::vector<Value> Lowering::compound_bits(Operator op, const std::vector<Value>& before, NodeId by) {
  const std::uint32_t at = tree_[by].at;
  const bool shifts = op == Operator::kShiftLeft || op == Operator::kShiftRight;
  if (shifts) return shifted(before, op == Operator::kShiftLeft ? integer(by) : -integer(by));
  const Type type = model_.note(by).type;
  const std::vector<Value> other =
      fitted(elements(by, type), type, bits_type(static_cast<std::uint32_t>(before.size())), at);
  const bool bitwise = op == Operator::kBitAnd || op == Operator::kBitOr || op == Operator::kBitXor;
  if (!bitwise) {
    const Value number = combine(op, joined(before, at), joined(other, at), at);
    return bits_of(number, static_cast<std::uint32_t>(before.size()));
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < before.size(); ++i) values.push_back(combine(op, before[i], other[i], at));
  return values;
}

// ---- measurements

std::uint32_t Lowering::measure_qubit(std::uint32_t qubit) {
  const std::uint32_t variable = add_variable({ScalarKind::kBit, 1}, {make_bit(false), make_bit(true)});
  add_step(FlowStep::Kind::kMeasure, qubit, variable);
  return variable;
}

std::vector<Value> Lowering::measured(NodeId id) {
  std::vector<std::uint32_t> qubits;
  operand(tree_[id].a, qubits);
  charge(qubits.size(), qubits.size(), tree_[id].at);
  std::vector<Value> values;
  for (const std::uint32_t qubit : qubits) values.push_back(variable_value(measure_qubit(qubit)));
  return values;
}

void Lowering::reset(NodeId id) {
  std::vector<std::uint32_t> qubits;
  operand(tree_[id].a, qubits);
  charge(qubits.size(), qubits.size(), tree_[id].at);
  for (const std::uint32_t qubit : qubits) add_step(FlowStep::Kind::kReset, qubit, 0);
}

void Lowering::barrier(NodeId id) {
  std::vector<std::uint32_t> qubits;
  for (const NodeId each : List(tree_, tree_[id].a)) operand(each, qubits);
  if (tree_[id].a == 0) {
    require_room({flow_.circuit.qubits(), 0}, tree_[id].at);
    for (Qubit qubit = 0; qubit < flow_.circuit.qubits(); ++qubit) qubits.push_back(qubit);
  }
  charge(1, qubits.size(), tree_[id].at);
  std::sort(qubits.begin(), qubits.end());
  qubits.erase(std::unique(qubits.begin(), qubits.end()), qubits.end());
  if (!qubits.empty()) out_->add_barrier(qubits);
}

// ---- control flow

Lowering::Status Lowering::if_statement(NodeId id) {
  const Node node = tree_[id];
  const Value condition = truth_of(node.a);
  if (!condition.known()) return branch(id, condition);
  if (truth(condition.scalar)) return block(node.b);
  return node.c == 0 ? Status::kNext : block(node.c);
}

Lowering::Status Lowering::switch_statement(NodeId id) {
  const Node node = tree_[id];
  const Scalar value = require_known(scalar(node.a), node.at);
  for (const NodeId each : List(tree_, node.b)) {
    const Node one = tree_[each];
    if (one.word == kWordDefault) return block(one.b);
    for (const NodeId label : List(tree_, one.a)) {
      if (truth(apply(Operator::kEqual, value, *model_.constant(label)))) return block(one.b);
    }
  }
  return Status::kNext;
}

Lowering::Status Lowering::for_loop(NodeId id) {
  const Node node = tree_[id];
  const SymbolId symbol = model_.note(id).symbol;
  const Type type = model_.symbols[symbol].type;
  const bool is_range = tree_[node.b].kind == NodeKind::kRange;
  const std::uint32_t outer = memory_.size();
  std::vector<Value> values;
  if (!is_range) values = loop_values(node.b, type);
  const Scalar zero = make_zero(type.kind == TypeKind::kBits ? ScalarType{ScalarKind::kBit, 1} : type.scalar);
  const std::uint32_t cell = memory_.allocate(1, known_value(zero), name_of(symbol));
  binding(symbol) = {cell, 1, false};
  memory_.mark();
  loops_.push_back({memory_.marks() - 1, 0, {}, {}});
  Status status = Status::kNext;
  bool goes_on = true;
  if (is_range) {
    for_range(id, cell, status);
  } else {
    for (std::size_t i = 0; goes_on && i < values.size(); ++i) goes_on = iterate(id, cell, values[i], status);
  }
  status = close_loop(status);
  memory_.release(outer);
  return status;
}

std::vector<Value> Lowering::loop_values(NodeId id, const Type& type) {
  const Node node = tree_[id];
  const ScalarType scalar_type = type.kind == TypeKind::kBits ? ScalarType{ScalarKind::kBit, 1} : type.scalar;
  std::vector<Value> values;
  if (node.kind == NodeKind::kSet) {
    for (const NodeId each : List(tree_, node.a)) values.push_back(scalar(each));
  } else {
    values = elements(id, model_.note(id).type);
  }
  for (Value& value : values) value = converted(value, scalar_type, node.at);
  return values;
}

// start : step : stop, its end included. False when the loop was left.
bool Lowering::for_range(NodeId id, std::uint32_t cell, Status& status) {
  const Node range = tree_[tree_[id].b];
  const ScalarType type = model_.symbols[model_.note(id).symbol].type.scalar;
  const bool whole = !model_.note(range.a).type.is(ScalarKind::kFloat) &&
                     (range.b == 0 || !model_.note(range.b).type.is(ScalarKind::kFloat));
  if (whole) {
    const std::int64_t step = range.b == 0 ? 1 : integer(range.b);
    const std::int64_t start = integer(range.a), stop = integer(range.c);
    if (step == 0) throw Failure{range.at, "a range with step 0", ""};
    for (std::int64_t at = start; step > 0 ? at <= stop : at >= stop;) {
      const Scalar value = make_word({ScalarKind::kInt, 64}, static_cast<Wide>(static_cast<SignedWide>(at)));
      if (!iterate(id, cell, converted(known_value(value), type, range.at), status)) return false;
      if (__builtin_add_overflow(at, step, &at)) return true;
    }
    return true;
  }
  const double start = real(range.a), step = range.b == 0 ? 1 : real(range.b), stop = real(range.c);
  if (step == 0) throw Failure{range.at, "a range with step 0", ""};
  const double count = (stop - start) / step;
  for (double i = 0; i <= count; ++i) {
    const Scalar value = make_real({ScalarKind::kFloat, 64}, start + i * step);
    if (!iterate(id, cell, converted(known_value(value), type, range.at), status)) return false;
  }
  return true;
}

// One run of a loop's body; false when nothing comes after it.
bool Lowering::iterate(NodeId id, std::uint32_t cell, const Value& value, Status& status) {
  const Node& node = tree_[id];
  charge(0, 1, node.at);
  keep(cell, value);
  memory_.mark();
  loops_.back().continue_mark = memory_.marks() - 1;
  const NodeId body = node.kind == NodeKind::kFor ? node.c : node.b;
  status = block(body);
  Edges continues = std::move(loops_.back().continues);
  loops_.back().continues.clear();
  if (continues.empty()) {
    memory_.forget();
  } else {
    if (status == Status::kNext || status == Status::kContinue) {
      continues.push_back(leave(memory_.marks() - 1));
    } else {
      leave_as(status);
    }
    memory_.undo();
    memory_.forget();
    join(continues);
    status = Status::kNext;
  }
  if (status == Status::kContinue) status = Status::kNext;
  return status == Status::kNext;
}

Lowering::Status Lowering::while_loop(NodeId id) {
  const Node node = tree_[id];
  const std::uint32_t outer = memory_.size();
  memory_.mark();
  loops_.push_back({memory_.marks() - 1, 0, {}, {}});
  const std::uint32_t cell = memory_.allocate(1, known_value(make_bool(false)));  // iterate's, unused here
  Status status = Status::kNext;
  bool leaves = false;  // a measurement may have ended the loop
  while (true) {
    const Value condition = truth_of(node.a);
    if (!condition.known() || leaves) {
      status = dynamic_while(id);
      break;
    }
    if (!truth(condition.scalar)) break;
    if (++iterations_ > limits_.while_iterations) {
      throw Failure{node.at, "this loop did not end within " + std::to_string(limits_.while_iterations) + " iterations",
                    "", ExitCode::kUnsupported, true};
    }
    const auto exits = [&] {
      return ends_.size() + loops_.back().breaks.size() + (calls_.empty() ? 0 : calls_.back().returns.size());
    };
    const std::size_t before = exits();
    if (!iterate(id, cell, known_value(make_bool(true)), status)) break;
    leaves = exits() != before;
  }
  status = close_loop(status);
  memory_.release(std::min(outer, memory_.size()));
  return status;
}

}  // namespace qsim::qasm3
