// Names, operands and calls of subroutines.
#include <algorithm>

#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {

using qasm::quoted;

Lowering::Binding& Lowering::binding(SymbolId id) {
  const Symbol& symbol = model_.symbols[id];
  if (symbol.global || !in_function_) return globals_[symbol.index];
  return frames_[frame_begin_ + symbol.index];
}

// Consecutive numbers stay a range.
Lowering::Binding Lowering::listed(const std::vector<std::uint32_t>& ids) {
  const auto count = static_cast<std::uint32_t>(ids.size());
  const bool consecutive =
      std::adjacent_find(ids.begin(), ids.end(), [](auto a, auto b) { return b != a + 1; }) == ids.end();
  if (ids.empty() || consecutive) return {ids.empty() ? 0 : ids.front(), count, false};
  const auto first = static_cast<std::uint32_t>(pool_.size());
  pool_.insert(pool_.end(), ids.begin(), ids.end());
  return {first, count, true};
}

// Physical qubits are numbered as they come; finish() puts them in the order of their numbers.
std::uint32_t Lowering::physical(std::uint32_t place) {
  if (physical_.size() <= place) physical_.resize(place + std::size_t{1});
  if (physical_[place] == 0) {
    flow_.circuit.add_qreg("$" + std::to_string(model_.physical[place]), 1);
    physical_[place] = flow_.circuit.qubits();
  }
  return physical_[place] - 1;
}

// Qubits, or what an alias names.
void Lowering::operand(NodeId node, std::vector<std::uint32_t>& qubits) {
  const Type& type = model_.note(node).type;
  if (type.kind == TypeKind::kQubits && type.size != kUnknownSize) require_room({type.size, 0}, tree_[node].at);
  select(node, qubits);
}

// The qubit that an operand is, when it is one and no register.
bool Lowering::single_qubit(NodeId id, Qubit& qubit) {
  const Node& node = tree_[id];
  if (model_.note(id).type.kind != TypeKind::kQubit) return false;
  if (node.kind == NodeKind::kName) {
    qubit = bound(binding(model_.note(id).symbol), 0);
    return true;
  }
  if (node.kind == NodeKind::kPhysical) {
    qubit = physical(node.b);
    return true;
  }
  if (tree_[node.a].kind != NodeKind::kName) return false;
  const Binding& of = binding(model_.note(node.a).symbol);
  const std::int64_t index = integer(node.b), place = position_of(index, of.count);
  if (place < 0) {
    throw Failure{node.at,
                  "index " + std::to_string(index) + " is out of range for " +
                      quoted(model_.names.text(tree_[node.a].name)) + " of " + std::to_string(of.count),
                  ""};
  }
  qubit = bound(of, static_cast<std::uint32_t>(place));
  return true;
}

bool Lowering::has_twice(std::vector<std::uint32_t> ids) {
  std::sort(ids.begin(), ids.end());
  return std::adjacent_find(ids.begin(), ids.end()) != ids.end();
}

void Lowering::bind_argument(NodeId node, SymbolId argument, Binding& of, ArgumentShapes& shapes) {
  const Type type = model_.symbols[argument].type;
  std::vector<std::uint32_t> ids;
  if (type.is_quantum()) {
    operand(node, ids);
    const bool fits = type.size == kUnknownSize || ids.size() == type.size;
    if (!fits) {
      throw Failure{tree_[node].at,
                    std::to_string(ids.size()) + " qubits where " + model_.type_text(type) + " is needed", ""};
    }
    of = listed(ids);
    return;
  }
  if (type.kind == TypeKind::kArray) {
    Shapes::Shape shape;
    select_array(node, ids, shape);
    if (type.size != kUnknownSize && shape != model_.shapes[type.shape]) {
      throw Failure{tree_[node].at, "the sizes of this array do not fit " + model_.type_text(type), ""};
    }
    of = listed(ids);
    shapes[argument] = shape;
    return;
  }
  const Type from = model_.note(node).type;
  const std::vector<Value> values = fitted(elements(node, from), from, type, tree_[node].at);
  const auto count = static_cast<std::uint32_t>(values.size());
  of = {memory_.allocate(count, values.empty() ? Value{} : values.front(), name_of(argument)), count, false};
  for (std::uint32_t i = 0; i < count; ++i) keep(of.first + i, stored(values[i]));
}

std::vector<Value> Lowering::call(NodeId id) {
  const Node node = tree_[id];
  const SymbolId symbol = model_.note(id).symbol;
  const Subroutine& called = model_.subroutines[model_.symbols[symbol].index];
  const std::string_view name = model_.names.text(node.name);
  if (called.is_extern) {
    throw Failure{node.at, "external function " + quoted(name) + " is called, but nothing says what it does",
                  "define it with 'def'", ExitCode::kUnsupported};
  }
  if (calls_.size() >= limits_.call_depth) {
    throw Failure{node.at, "calls nested deeper than " + std::to_string(limits_.call_depth) + " levels",
                  "does " + quoted(name) + " call itself without end?", ExitCode::kUnsupported};
  }
  const std::uint32_t cells = memory_.size();
  const std::size_t pool = pool_.size();
  const Type result = called.result;
  Call open;
  if (result.kind != TypeKind::kNothing) {
    const ScalarType scalar = result.kind == TypeKind::kBits ? ScalarType{ScalarKind::kBit, 1} : result.scalar;
    const std::uint32_t count = result.is_scalar() || result.size == kUnknownSize ? 1 : result.size;
    const std::uint32_t first = memory_.allocate(count, known_value(make_zero(scalar)));
    for (std::uint32_t i = 0; i < count; ++i) open.result.push_back(first + i);
  }
  std::vector<Binding> arguments(called.arguments.size());
  std::vector<std::uint32_t> qubits;
  std::size_t position = 0;
  ArgumentShapes shapes = argument_shapes_;
  for (const NodeId each : List(tree_, node.a)) {
    const SymbolId argument = called.arguments[position];
    bind_argument(each, argument, arguments[position], shapes);
    if (model_.symbols[argument].type.is_quantum()) {
      for (std::uint32_t i = 0; i < arguments[position].count; ++i) qubits.push_back(bound(arguments[position], i));
    }
    ++position;
  }
  if (has_twice(qubits)) throw Failure{node.at, "the same qubit is passed twice", ""};
  open.type = result;
  const std::vector<Value> values = enter(called, arguments, std::move(open), std::move(shapes));
  memory_.release(std::min(cells, memory_.size()));
  pool_.resize(pool);
  return values;
}

// Runs a subroutine's body in a frame of its own; returns what it returns.
std::vector<Value> Lowering::enter(const Subroutine& called, const std::vector<Binding>& arguments, Call open,
                                   ArgumentShapes shapes) {
  std::swap(argument_shapes_, shapes);
  const std::size_t frame = frame_begin_, loops = loops_.size();
  const bool inside = std::exchange(in_function_, true);
  frame_begin_ = frames_.size();
  frames_.resize(frame_begin_ + called.frame);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    frames_[frame_begin_ + model_.symbols[called.arguments[i]].index] = arguments[i];
  }
  const std::vector<std::uint32_t> result = open.result;
  memory_.mark();
  open.mark = memory_.marks() - 1;
  calls_.push_back(std::move(open));
  Status status = statements(tree_[called.body].a);
  Edges returns = std::move(calls_.back().returns);
  if (!returns.empty()) {
    if (status == Status::kNext || status == Status::kReturn) {
      returns.push_back(leave(memory_.marks() - 1));
    } else {
      leave_as(status);
    }
    memory_.undo();
    memory_.forget();
    join(returns);
    status = Status::kNext;
  } else {
    memory_.forget();
  }
  calls_.pop_back();
  loops_.resize(loops);
  frames_.resize(frame_begin_);
  frame_begin_ = frame;
  in_function_ = inside;
  std::swap(argument_shapes_, shapes);
  if (status == Status::kEnd || status == Status::kDead) throw Ended{status};
  std::vector<Value> values;
  for (const std::uint32_t cell : result) values.push_back(load(cell));
  return values;
}

Lowering::Status Lowering::return_value(NodeId id) {
  const NodeId value = tree_[id].a;
  if (value == 0) return Status::kReturn;
  const Type from = model_.note(value).type, to = calls_.back().type;
  const std::vector<Value> values = fitted(elements(value, from), from, to, tree_[value].at);
  const std::vector<std::uint32_t>& cells = calls_.back().result;
  for (std::size_t i = 0; i < cells.size() && i < values.size(); ++i) keep(cells[i], stored(values[i]));
  return Status::kReturn;
}

}  // namespace qsim::qasm3
