// Types of expressions; what is constant is evaluated here, once.
#include <charconv>
#include <cmath>

#include "qasm3/syntax/nesting.h"
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {
namespace {

using qasm::quoted;

// Digits of an integer of any base as a number; false when it has more than 128 bits.
bool read_integer(std::string_view text, Wide& value) {
  unsigned base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : mark == 'o' || mark == 'O' ? 8 : 10;
    if (base != 10) text.remove_prefix(2);
  }
  value = 0;
  for (const char c : text) {
    if (c == '_') continue;
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    if (value > (~Wide{0} - digit) / base) return false;
    value = value * base + digit;
  }
  return true;
}

bool read_real(std::string_view text, double& value) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits += c;
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc{} && std::isfinite(value);
}

}  // namespace

Type Checker::expression(NodeId node) {
  const Nesting guard(depth_, tree_[node].at);
  const Type type = expression_kind(node);
  model_.notes[node].type = type;
  return type;
}

Type Checker::expression_kind(NodeId node) {
  switch (tree_[node].kind) {
    case NodeKind::kInteger:
    case NodeKind::kReal:
    case NodeKind::kImaginary:
    case NodeKind::kBitString:
    case NodeKind::kTruth:
      return literal(node);
    case NodeKind::kTime:
      return scalar_type(ScalarKind::kDuration, 0);
    case NodeKind::kDurationOf:
      block(tree_[node].a);
      return scalar_type(ScalarKind::kDuration, 0);
    case NodeKind::kName:
      return name(node);
    case NodeKind::kPhysical:
      return operand(node);
    case NodeKind::kUnary:
    case NodeKind::kBinary:
      return operation(node);
    case NodeKind::kIndex:
      return index(node);
    case NodeKind::kCall:
      return call(node);
    case NodeKind::kCast:
      return cast(node);
    case NodeKind::kConcat:
      return concatenation(node);
    case NodeKind::kMeasure:
      return measurement(node);
    default:
      break;
  }
  throw Failure{tree_[node].at, "this is not a value", ""};
}

Type Checker::value(NodeId node) {
  const Type type = expression(node);
  if (type.is_quantum()) {
    const Node& at = tree_[node];
    const std::string what = at.kind == NodeKind::kName ? quoted(model_.names.text(at.name)) : "this";
    throw Failure{at.at, what + " is a " + model_.type_text(type) + ", not a value", ""};
  }
  if (type.kind == TypeKind::kNothing)
    throw Failure{tree_[node].at, "a subroutine that returns nothing has no value", ""};
  return type;
}

Type Checker::integer(NodeId node) {
  const Type type = value(node);
  using enum ScalarKind;
  if (type.is(kInt) || type.is(kUint) || type.is(kBit) || type.is(kBool)) return type;
  throw Failure{tree_[node].at, model_.type_text(type) + " where an integer is needed", ""};
}

Type Checker::literal(NodeId id) {
  const Node node = tree_[id];
  if (node.kind == NodeKind::kTruth) {
    set_constant(id, make_bool(node.a != 0));
    return scalar_type(ScalarKind::kBool, 1);
  }
  std::string_view text = model_.text(node);
  const auto too_large = [&] { return Failure{node.at, "number " + quoted(text, 40) + " is out of range", ""}; };
  if (node.kind == NodeKind::kBitString) {
    Wide word = 0;
    std::uint32_t size = 0;
    for (const char c : text) {
      if (c != '0' && c != '1') continue;
      word = word << 1 | static_cast<Wide>(c - '0');
      ++size;
    }
    if (size <= kMaxScalarBits)
      set_constant(id, make_word({ScalarKind::kUint, static_cast<std::uint16_t>(size)}, word));
    return bits_type(size);
  }
  Type type;
  if (node.kind == NodeKind::kInteger) {
    Wide word = 0;
    if (!read_integer(text, word)) throw too_large();
    type = word >> 63 == 0   ? scalar_type(ScalarKind::kInt, 64)
           : word >> 64 == 0 ? scalar_type(ScalarKind::kUint, 64)
                             : scalar_type(ScalarKind::kUint, 128);
    set_constant(id, make_word(type.scalar, word));
    return type;
  }
  double number = 0;
  const bool imaginary = node.kind == NodeKind::kImaginary;
  if (imaginary) text = text.substr(0, text.find_first_not_of("0123456789_.eE+-"));
  if (!read_real(text, number)) throw too_large();
  type = scalar_type(imaginary ? ScalarKind::kComplex : ScalarKind::kFloat, 64);
  set_constant(id, make_complex(type.scalar, imaginary ? Complex(0, number) : Complex(number)));
  return type;
}

Type Checker::name(NodeId id) {
  const Node node = tree_[id];
  const SymbolId found = resolve(node.name, node.at);
  const Symbol& symbol = model_.symbols[found];
  if (symbol.kind == SymbolKind::kGate || symbol.kind == SymbolKind::kSubroutine) {
    const bool gate = symbol.kind == SymbolKind::kGate;
    throw Failure{node.at,
                  quoted(model_.names.text(node.name)) + (gate ? " is a gate" : " is a subroutine") + ", not a value",
                  ""};
  }
  model_.notes[id].symbol = found;
  model_.notes[id].constant = symbol.constant;
  return symbol.type;
}

// Keeps the value of a constant expression. What has no value stays as it is: it may never be evaluated.
void Checker::fold(NodeId node, Operator op, NodeId a, NodeId b) {
  const Scalar* left = model_.constant(a);
  const Scalar* right = b == 0 ? left : model_.constant(b);
  if (left == nullptr || right == nullptr) return;
  try {
    const Scalar value = apply(op, *left, *right);
    const bool divides =
        op == Operator::kDivide && (value.type.kind == ScalarKind::kInt || value.type.kind == ScalarKind::kUint);
    if (divides && in_angle_ && integer_value(apply(Operator::kModulo, *left, *right)) != 0) {
      model_.remark(Remark::kIntegerDivision, tree_[node].line);
    }
    set_constant(node, value);
  } catch (const ArithmeticFault&) {
  }
}

// A plain integer takes the type of the integer that it is combined with, where it fits.
void Checker::adapt_literal(const Node& node, Operator op) {
  const bool arithmetic =
      (op >= Operator::kAdd && op <= Operator::kModulo) || (op >= Operator::kBitOr && op <= Operator::kBitAnd);
  const bool left = tree_[node.a].kind == NodeKind::kInteger, right = tree_[node.b].kind == NodeKind::kInteger;
  if (!arithmetic || left == right) return;
  const NodeId literal = left ? node.a : node.b;
  const Type& other = model_.note(left ? node.b : node.a).type;
  if (!other.is(ScalarKind::kInt) && !other.is(ScalarKind::kUint)) return;
  const Scalar before = *model_.constant(literal), after = convert(before, other.scalar);
  if (integer_value(before) != integer_value(after)) return;
  set_constant(literal, after);
  model_.notes[literal].type = other;
}

Type Checker::operation(NodeId id) {
  const Node node = tree_[id];
  const Operator op = node.op;
  model_.notes[id].op = op;
  const bool unary = node.kind == NodeKind::kUnary;
  value(node.a);
  if (!unary) {
    value(node.b);
    adapt_literal(node, op);
  }
  const Type a = model_.note(node.a).type, b = unary ? Type{} : model_.note(node.b).type;
  if (a.kind == TypeKind::kArray || b.kind == TypeKind::kArray) {
    throw Failure{node.at, std::string(operator_text(op)) + " of an array", "name its elements"};
  }
  const Type result = result_type(op, a, b);
  if (result.kind == TypeKind::kNothing) {
    const std::string text = model_.type_text(a) + (unary ? "" : " and " + model_.type_text(b));
    const bool sizes = !unary && a.kind == TypeKind::kBits && b.kind == TypeKind::kBits && a.size != b.size;
    if (sizes) throw Failure{node.at, "sizes differ: " + text, ""};
    throw Failure{node.at, quoted(operator_text(op)) + " has no meaning for " + text, ""};
  }
  fold(id, op, node.a, unary ? 0 : node.b);
  return result;
}

Type Checker::cast(NodeId id) {
  const Node node = tree_[id];
  const Type type = type_of(node.a);
  if (type.kind == TypeKind::kArray || type.is_quantum()) {
    throw Failure{node.at, "nothing can be cast to " + model_.type_text(type), ""};
  }
  const Type from = value(node.b);
  require_convertible(node.b, type, true);
  const Scalar* constant = model_.constant(node.b);
  if (constant != nullptr && (type.kind != TypeKind::kBits || type.size <= kMaxScalarBits)) {
    try {
      set_constant(id, convert(*constant, from, type));
    } catch (const ArithmeticFault&) {
    }
  }
  return type;
}

// How many positions an item of an index operator names among `size`; kUnknownSize where that shows later.
std::uint32_t Checker::items_count(NodeId item, std::uint32_t size) {
  const Node node = tree_[item];
  const auto outside = [&](const Scalar& at) {
    return Failure{node.at, "index " + value_text(at) + " is out of range for " + std::to_string(size), ""};
  };
  const auto check_one = [&](NodeId each) {
    integer(each);
    const Scalar* constant = model_.constant(each);
    if (constant == nullptr || size == kUnknownSize) return;
    if (position_of(static_cast<std::int64_t>(integer_value(*constant)), size) < 0) throw outside(*constant);
  };
  if (node.kind == NodeKind::kSet) {
    std::uint32_t count = 0;
    for (const NodeId each : List(tree_, node.a)) {
      check_one(each);
      ++count;
    }
    return count;
  }
  if (node.kind != NodeKind::kRange) {
    check_one(item);
    return 1;
  }
  bool constant = size != kUnknownSize;
  const auto bound = [&](NodeId each, std::int64_t otherwise) {
    if (each == 0) return otherwise;
    integer(each);
    const Scalar* number = model_.constant(each);
    constant = constant && number != nullptr;
    return number == nullptr ? otherwise : static_cast<std::int64_t>(integer_value(*number));
  };
  RangeBounds range;
  range.step = bound(node.b, 1);
  if (range.step == 0) throw Failure{node.at, "a range with step 0", ""};
  const auto last = size == kUnknownSize ? 0 : static_cast<std::int64_t>(size) - 1;
  range.start = bound(node.a, range.step > 0 ? 0 : last);
  range.stop = bound(node.c, range.step > 0 ? last : 0);
  if (!constant) return kUnknownSize;
  if (size == 0) return 0;
  const auto positions = range_positions(range, size);
  if (!positions) throw Failure{node.at, "the range leaves what it is taken from (" + std::to_string(size) + ")", ""};
  return positions->count;
}

Type Checker::index(NodeId id) {
  const Node node = tree_[id];
  const Type base = expression(node.a);
  switch (base.kind) {
    case TypeKind::kArray:
      return array_index(id, base);
    case TypeKind::kQubits:
    case TypeKind::kBits:
      return part_of(id, base);
    case TypeKind::kScalar:
      if (base.is(ScalarKind::kInt) || base.is(ScalarKind::kUint) || base.is(ScalarKind::kAngle)) {
        Type bits = base;
        bits.kind = TypeKind::kBits;
        bits.size = base.scalar.width;
        return part_of(id, bits);
      }
      break;
    case TypeKind::kQubit:
    case TypeKind::kNothing:
      break;
  }
  const Node& what = tree_[node.a];
  const std::string text = what.kind == NodeKind::kName ? quoted(model_.names.text(what.name)) : "this";
  const std::string kind = base.kind == TypeKind::kQubit ? "one qubit"
                           : base.is(ScalarKind::kBit)   ? "one bit"
                                                         : "a " + model_.type_text(base);
  throw Failure{node.at, text + " is " + kind + " and has no index", ""};
}

// One item of a register: a bit or qubit, or a smaller register.
Type Checker::part_of(NodeId id, const Type& base) {
  const NodeId item = tree_[id].b;
  if (tree_[item].next != 0) throw Failure{tree_[tree_[item].next].at, "too many indices", ""};
  const bool quantum = base.kind == TypeKind::kQubits;
  const std::uint32_t count = items_count(item, base.size);
  const bool single = tree_[item].kind != NodeKind::kRange && tree_[item].kind != NodeKind::kSet;
  if (!single) return quantum ? qubits_type(count) : bits_type(count);
  const Scalar *value = model_.constant(tree_[id].a), *at = model_.constant(item);
  if (!quantum && value != nullptr && at != nullptr) {
    const auto place = position_of(static_cast<std::int64_t>(integer_value(*at)), base.size);
    set_constant(id, bit_at(*value, static_cast<unsigned>(place)));
  }
  return quantum ? Type{TypeKind::kQubit, {}, 1, 0} : scalar_type(ScalarKind::kBit, 1);
}

Type Checker::array_index(NodeId id, const Type& base) {
  const Shapes::Shape shape = model_.shapes[base.shape];
  Shapes::Shape left;
  std::size_t level = 0;
  for (const NodeId item : List(tree_, tree_[id].b)) {
    if (level == shape.size()) throw Failure{tree_[item].at, "too many indices", ""};
    if (tree_[item].kind == NodeKind::kSet) throw Failure{tree_[item].at, "an array takes no index set", ""};
    const std::uint32_t count = items_count(item, shape[level++]);
    if (tree_[item].kind == NodeKind::kRange) left.push_back(count);
  }
  left.insert(left.end(), shape.begin() + static_cast<std::ptrdiff_t>(level), shape.end());
  if (left.empty()) return {TypeKind::kScalar, base.scalar, 1, 0};
  Type type = base;
  type.shape = model_.shapes.add(left);
  std::uint64_t elements = 1;
  for (const std::uint32_t size : left) elements = std::min<std::uint64_t>(elements * size, kUnknownSize);
  type.size = static_cast<std::uint32_t>(elements);
  return type;
}

Type Checker::concatenation(NodeId id) {
  const Node node = tree_[id];
  const Type a = expression(node.a), b = expression(node.b);
  const auto size = [&](const Type& type) { return type.is_scalar() || type.kind == TypeKind::kQubit ? 1 : type.size; };
  const std::uint32_t both = size(a) == kUnknownSize || size(b) == kUnknownSize ? kUnknownSize : size(a) + size(b);
  const auto is_bits = [](const Type& type) { return type.kind == TypeKind::kBits || type.is(ScalarKind::kBit); };
  if (a.is_quantum() && b.is_quantum()) return qubits_type(both);
  if (is_bits(a) && is_bits(b)) return bits_type(both);
  if (a.kind == TypeKind::kArray && b.kind == TypeKind::kArray && a.scalar == b.scalar) {
    const Shapes::Shape &x = model_.shapes[a.shape], &y = model_.shapes[b.shape];
    const bool fits = x.size() == y.size() && std::equal(x.begin() + 1, x.end(), y.begin() + 1);
    if (fits) {
      Type type = a;
      Shapes::Shape joined = x;
      joined[0] += y[0];
      type.shape = model_.shapes.add(joined);
      type.size = both;
      return type;
    }
  }
  throw Failure{node.at, "'++' has no meaning for " + model_.type_text(a) + " and " + model_.type_text(b), ""};
}

Type Checker::measurement(NodeId id) {
  require_not_gate(tree_[id], "a measurement");
  const Type type = operand(tree_[id].a);
  return type.kind == TypeKind::kQubit ? scalar_type(ScalarKind::kBit, 1) : bits_type(type.size);
}

}  // namespace qsim::qasm3
