// Bit registers, arrays, and the places that assignments write.
#include <algorithm>

#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {

std::vector<Value> Lowering::elements(NodeId node, const Type& type) {
  if (type.kind == TypeKind::kBits) return bits(node);
  if (type.kind != TypeKind::kArray) return {scalar(node)};
  if (tree_[node].kind == NodeKind::kArrayLiteral) return array_literal(node, type);
  if (tree_[node].kind == NodeKind::kCall) return call(node);
  std::vector<std::uint32_t> cells;
  select(node, cells);
  std::vector<Value> values;
  for (const std::uint32_t cell : cells) values.push_back(load(cell));
  return values;
}

std::vector<Value> Lowering::bits(NodeId id) {
  const Node node = tree_[id];
  const Type type = model_.note(id).type;
  if (const Scalar* constant = model_.constant(id); constant != nullptr) {
    return bits_of(known_value(*constant), type.size);
  }
  switch (node.kind) {
    case NodeKind::kBitString: {
      const std::string_view text = model_.text(node);
      std::vector<Value> values;
      for (auto c = text.rbegin(); c != text.rend(); ++c) {
        if (*c == '0' || *c == '1') values.push_back(known_value(make_bit(*c == '1')));
      }
      return values;
    }
    case NodeKind::kUnary:
    case NodeKind::kBinary:
      return bit_operation(id);
    case NodeKind::kCall:
      return model_.note(id).symbol != 0 ? call(id) : bit_operation(id);
    case NodeKind::kCast: {
      const Type from = model_.note(node.b).type;
      return fitted(elements(node.b, from), from, type, node.at);
    }
    case NodeKind::kMeasure:
      return measured(id);
    default:
      break;
  }
  return read(place(id));
}

// ~ & | ^ bit by bit; shifts and rotations.
std::vector<Value> Lowering::bit_operation(NodeId id) {
  const Node node = tree_[id];
  const Operator op = model_.note(id).op;
  std::vector<Value> left = bits(node.a);
  const NodeId second = node.kind == NodeKind::kCall ? tree_[node.a].next : node.kind == NodeKind::kBinary ? node.b : 0;
  if (op == Operator::kInvert) {
    for (Value& bit : left) bit = combine(op, bit, {}, node.at);
    return left;
  }
  if (op == Operator::kBitAnd || op == Operator::kBitOr || op == Operator::kBitXor) {
    const std::vector<Value> right = bits(second);
    if (right.size() != left.size()) {
      throw Failure{
          node.at,
          "sizes differ: bit[" + std::to_string(left.size()) + "] and bit[" + std::to_string(right.size()) + "]", ""};
    }
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = combine(op, left[i], right[i], node.at);
    return left;
  }
  const std::int64_t by = integer(second), size = static_cast<std::int64_t>(left.size());
  if (op == Operator::kShiftLeft || op == Operator::kShiftRight) {
    if (by < 0) throw Failure{node.at, "shift by a negative number", ""};
    return shifted(left, op == Operator::kShiftLeft ? by : -by);
  }
  if (left.empty()) return left;
  const std::int64_t up = ((op == Operator::kRotl ? by : -by) % size + size) % size;
  std::rotate(left.begin(), left.end() - static_cast<std::ptrdiff_t>(up), left.end());
  return left;
}

// Moved up by `up` places, zeros coming in.
std::vector<Value> Lowering::shifted(const std::vector<Value>& bits, std::int64_t up) {
  std::vector<Value> moved(bits.size(), known_value(make_bit(false)));
  const auto size = static_cast<std::int64_t>(bits.size());
  for (std::int64_t i = 0; i < size; ++i) {
    if (i - up >= 0 && i - up < size) moved[static_cast<std::size_t>(i)] = bits[static_cast<std::size_t>(i - up)];
  }
  return moved;
}

std::vector<Value> Lowering::array_literal(NodeId node, const Type& type) {
  std::vector<Value> values;
  for (const NodeId each : List(tree_, tree_[node].a)) {
    if (tree_[each].kind == NodeKind::kArrayLiteral) {
      const std::vector<Value> inner = array_literal(each, type);
      values.insert(values.end(), inner.begin(), inner.end());
      continue;
    }
    const Type from = model_.note(each).type;
    for (const Value& value : elements(each, from)) {
      values.push_back(converted(value, type.scalar, tree_[each].at));
    }
  }
  return values;
}

// The lowest bits of a number.
std::vector<Value> Lowering::bits_of(const Value& number, std::uint32_t count) {
  if (count == kUnknownSize) count = number.type().width;
  std::vector<Value> values;
  const Value value = number.known() ? number : stored(number);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (value.known()) {
      const bool beyond = i >= kMaxScalarBits;
      values.push_back(known_value(beyond ? make_bit(false) : bit_at(value.scalar, i)));
    } else if (i >= value.type().width) {
      values.push_back(known_value(make_bit(false)));
    } else {
      Value bit;
      bit.scalar.type = {ScalarKind::kBit, 1};
      bit.expression =
          add_expression({FlowExpression::Kind::kBitAt, Operator::kAdd, bit.scalar.type, value.expression, i, 0});
      values.push_back(bit);
    }
  }
  return values;
}

// Values of one type as those of another.
std::vector<Value> Lowering::fitted(std::vector<Value> values, const Type& from, const Type& to, std::uint32_t at) {
  if (to.kind == TypeKind::kArray) {
    if (to.size != kUnknownSize && values.size() != to.size) {
      throw Failure{at, "array sizes differ: " + std::to_string(values.size()) + " and " + std::to_string(to.size), ""};
    }
    for (Value& value : values) value = converted(value, to.scalar, at);
    return values;
  }
  if (to.kind == TypeKind::kBits) {
    const bool is_number =
        from.is_scalar() && from.scalar.kind != ScalarKind::kBit && from.scalar.kind != ScalarKind::kBool;
    if (is_number) return bits_of(values.front(), to.size);
    if (to.size != kUnknownSize && values.size() != to.size) {
      throw Failure{
          at, "sizes differ: bit[" + std::to_string(to.size) + "] and bit[" + std::to_string(values.size()) + "]", ""};
    }
    for (Value& value : values) value = converted(value, {ScalarKind::kBit, 1}, at);
    return values;
  }
  if (from.kind != TypeKind::kBits) return {converted(values.front(), to.scalar, at)};
  if (to.is(ScalarKind::kBit)) {
    if (values.size() != 1) {
      throw Failure{at, "bit[" + std::to_string(values.size()) + "] cannot become bit", ""};
    }
    return values;
  }
  if (!to.is(ScalarKind::kAngle)) return {converted(joined(values, at), to.scalar, at)};
  Value angle = known_value(make_zero(to.scalar));
  for (std::uint32_t i = 0; i < values.size() && i < to.scalar.width; ++i) {
    if (angle.known() && values[i].known()) {
      angle.scalar = with_bit(angle.scalar, i, truth(values[i].scalar));
      continue;
    }
    const std::uint32_t whole = expression_of(angle), bit = expression_of(values[i]);
    angle.scalar.type = to.scalar;
    angle.expression = add_expression({FlowExpression::Kind::kSetBit, Operator::kAdd, to.scalar, whole, bit, i});
  }
  return {angle};
}

// The positions that an item of an index operator names.
void Lowering::positions(NodeId item, std::uint32_t size, std::vector<std::uint32_t>& places) {
  const Node node = tree_[item];
  const auto one = [&](NodeId each) {
    const std::int64_t index = integer(each), place = position_of(index, size);
    if (place < 0) {
      throw Failure{tree_[each].at, "index " + std::to_string(index) + " is out of range for " + std::to_string(size),
                    ""};
    }
    return static_cast<std::uint32_t>(place);
  };
  places.clear();
  if (node.kind == NodeKind::kSet) {
    for (const NodeId each : List(tree_, node.a)) places.push_back(one(each));
    return;
  }
  if (node.kind != NodeKind::kRange) {
    places.push_back(one(item));
    return;
  }
  RangeBounds range;
  const auto last = static_cast<std::int64_t>(size) - 1;
  if (node.b != 0) range.step = integer(node.b);
  if (range.step == 0) throw Failure{node.at, "a range with step 0", ""};
  range.start = node.a != 0 ? integer(node.a) : range.step > 0 ? 0 : last;
  range.stop = node.c != 0 ? integer(node.c) : range.step > 0 ? last : 0;
  if (size == 0) return;
  const auto named = range_positions(range, size);
  if (!named) throw Failure{node.at, "the range leaves what it is taken from (" + std::to_string(size) + ")", ""};
  require_room({named->count, 0}, node.at);
  places.reserve(named->count);
  for (std::uint32_t i = 0; i < named->count; ++i) {
    places.push_back(static_cast<std::uint32_t>(named->first + i * named->step));
  }
}

// Cells or qubits that a name, a part of it or several joined stand for.
void Lowering::select(NodeId id, std::vector<std::uint32_t>& ids) {
  const Node node = tree_[id];
  switch (node.kind) {
    case NodeKind::kPhysical:
      ids.push_back(physical(node.b));
      return;
    case NodeKind::kConcat:
      select(node.a, ids);
      select(node.b, ids);
      return;
    case NodeKind::kName: {
      const Binding of = binding(model_.note(id).symbol);
      require_room({ids.size() + of.count, 0}, node.at);
      for (std::uint32_t i = 0; i < of.count; ++i) ids.push_back(bound(of, i));
      return;
    }
    case NodeKind::kIndex:
      break;
    default:
      throw Failure{node.at, "this names nothing that can be chosen from", ""};
  }
  std::vector<std::uint32_t> places;
  if (model_.note(node.a).type.kind == TypeKind::kArray) {
    Shapes::Shape shape;
    select_array(id, ids, shape);
    return;
  }
  if (tree_[node.a].kind == NodeKind::kName) {  // without a list of the whole register
    const Binding of = binding(model_.note(node.a).symbol);
    positions(node.b, of.count, places);
    for (const std::uint32_t place : places) ids.push_back(bound(of, place));
    return;
  }
  std::vector<std::uint32_t> base;
  select(node.a, base);
  positions(node.b, static_cast<std::uint32_t>(base.size()), places);
  for (const std::uint32_t place : places) ids.push_back(base[place]);
}

// Elements of an array and their sizes, the last index fastest.
void Lowering::select_array(NodeId id, std::vector<std::uint32_t>& ids, Shapes::Shape& shape) {
  const Node node = tree_[id];
  std::vector<std::uint32_t> base;
  Shapes::Shape sizes;
  if (node.kind == NodeKind::kIndex && model_.note(node.a).type.kind == TypeKind::kArray) {
    select_array(node.a, base, sizes);
  } else {
    select(id, ids);
    shape = model_.shapes[model_.note(id).type.shape];
    const auto open = std::ranges::find(shape, kUnknownSize);
    if (open != shape.end()) {
      const SymbolId symbol = model_.note(id).symbol;
      shape = argument_shapes_.at(symbol);
    }
    return;
  }
  std::size_t level = 0;
  for (const NodeId item : List(tree_, node.b)) {
    std::vector<std::uint32_t> places, kept;
    positions(item, sizes[level], places);
    // base is [outer][sizes[level]][inner] with the outer levels already chosen.
    std::size_t inner = 1;
    for (std::size_t i = level + 1; i < sizes.size(); ++i) inner *= sizes[i];
    const std::size_t block = inner * sizes[level];
    for (std::size_t outer = 0; outer < base.size(); outer += block) {
      for (const std::uint32_t place : places) {
        const auto first = base.begin() + static_cast<std::ptrdiff_t>(outer + place * inner);
        kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(inner));
      }
    }
    base = std::move(kept);
    if (tree_[item].kind == NodeKind::kRange) {
      sizes[level++] = static_cast<std::uint32_t>(places.size());
    } else {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(level));
    }
  }
  ids.insert(ids.end(), base.begin(), base.end());
  shape = sizes;
}

Lowering::Place Lowering::place(NodeId id) {
  const Node node = tree_[id];
  Place at;
  at.type = model_.note(id).type;
  if (node.kind == NodeKind::kIndex) {
    const Type base = model_.note(node.a).type;
    if (base.is_scalar()) {
      at.of_number = true;
      at.cells = place(node.a).cells;
      positions(node.b, base.scalar.width, at.bits);
      return at;
    }
    if (base.kind == TypeKind::kBits && !names_cells(node.a)) {  // part of a value: cells of its own
      std::vector<std::uint32_t> places;
      const std::vector<Value> values = bits(node.a);
      positions(node.b, static_cast<std::uint32_t>(values.size()), places);
      for (const std::uint32_t each : places) at.cells.push_back(memory_.allocate(1, values[each]));
      return at;
    }
  }
  if (at.type.is_scalar() && !names_cells(id)) {
    at.cells.push_back(memory_.allocate(1, scalar(id)));
    return at;
  }
  select(id, at.cells);
  return at;
}

// Whether an expression is a variable or part of one.
bool Lowering::names_cells(NodeId id) const {
  while (tree_[id].kind == NodeKind::kIndex) id = tree_[id].a;
  return tree_[id].kind == NodeKind::kName && model_.note(id).symbol != 0 && model_.note(id).constant == 0;
}

std::vector<Value> Lowering::read(const Place& place) {
  std::vector<Value> values;
  if (!place.of_number) {
    for (const std::uint32_t cell : place.cells) values.push_back(load(cell));
    return values;
  }
  const std::vector<Value> all = bits_of(load(place.cells.front()), kUnknownSize);
  for (const std::uint32_t bit : place.bits) values.push_back(all[bit]);
  return values;
}

void Lowering::write(const Place& place, const std::vector<Value>& values) {
  if (!place.of_number) {
    for (std::size_t i = 0; i < place.cells.size(); ++i) keep(place.cells[i], stored(values[i]));
    return;
  }
  Value number = load(place.cells.front());
  for (std::size_t i = 0; i < place.bits.size(); ++i) {
    if (number.known() && values[i].known()) {
      number.scalar = with_bit(number.scalar, place.bits[i], truth(values[i].scalar));
      continue;
    }
    const std::uint32_t whole = expression_of(number), bit = expression_of(values[i]);
    number.expression =
        add_expression({FlowExpression::Kind::kSetBit, Operator::kAdd, number.type(), whole, bit, place.bits[i]});
  }
  keep(place.cells.front(), stored(number));
}

}  // namespace qsim::qasm3
