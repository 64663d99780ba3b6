// Values of scalar expressions.
#include <algorithm>
#include <cmath>

#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {
namespace {

constexpr ScalarType kTruthType{ScalarKind::kBool, 1};

template <typename Compute>
Scalar computed(std::uint32_t at, const Compute& compute) {
  try {
    return compute();
  } catch (const ArithmeticFault& fault) {
    throw Failure{at, fault.what(), ""};
  }
}

}  // namespace

Value Lowering::load(std::uint32_t cell) {
  const Value& value = memory_[cell];
  if (value.known() || assumed_.empty()) return value;
  const FlowExpression& node = flow_.expressions[value.expression];
  return node.kind == FlowExpression::Kind::kVariable ? variable_value(node.a) : value;
}

Value Lowering::scalar(NodeId node) {
  if (const Scalar* constant = model_.constant(node); constant != nullptr) return known_value(*constant);
  if (model_.note(node).type.kind == TypeKind::kBits) return joined(bits(node), tree_[node].at);
  return scalar_kind(node);
}

Value Lowering::scalar_kind(NodeId id) {
  const Node node = tree_[id];
  switch (node.kind) {
    case NodeKind::kName:
      return load(bound(binding(model_.note(id).symbol), 0));
    case NodeKind::kUnary:
      return operation(id, node.a, 0);
    case NodeKind::kBinary:
      return operation(id, node.a, node.b);
    case NodeKind::kIndex: {
      const Place at = place(id);
      return read(at).front();
    }
    case NodeKind::kCall: {
      const Note& note = model_.note(id);
      if (note.symbol != 0) return call(id).front();
      if (model_.names.text(node.name) == "sizeof") {
        throw Failure{node.at, "the size of this array is not known here", "", ExitCode::kUnsupported};
      }
      return operation(id, node.a, is_unary(note.op) ? 0 : tree_[node.a].next);
    }
    case NodeKind::kCast: {
      const Type &from = model_.note(node.b).type, &to = model_.note(id).type;
      return fitted(elements(node.b, from), from, to, node.at).front();
    }
    case NodeKind::kMeasure:
      return measured(id).front();
    case NodeKind::kTime:
    case NodeKind::kDurationOf:
      return known_value(make_zero({ScalarKind::kDuration, 0}));
    default:
      break;
  }
  throw Failure{node.at, "this has no value", ""};
}

Value Lowering::operation(NodeId id, NodeId a, NodeId b) {
  const Operator op = model_.note(id).op;
  const std::uint32_t at = tree_[id].at;
  const Value left = scalar(a);
  if (b == 0) return combine(op, left, {}, at);
  // What need not be known is not asked for.
  if (left.known() && (op == Operator::kAnd || op == Operator::kOr) && truth(left.scalar) == (op == Operator::kOr)) {
    return known_value(make_bool(op == Operator::kOr));
  }
  return combine(op, left, scalar(b), at);
}

Value Lowering::combine(Operator op, const Value& a, const Value& b, std::uint32_t at) {
  const bool unary = is_unary(op);
  if (a.known() && (unary || b.known())) {
    return known_value(computed(at, [&] { return apply(op, a.scalar, b.scalar); }));
  }
  if (op == Operator::kAnd || op == Operator::kOr) {
    const Value& other = a.known() ? a : b;
    if (other.known() && truth(other.scalar) == (op == Operator::kOr))
      return known_value(make_bool(op == Operator::kOr));
  }
  const auto type = result_type(op, a.type(), unary ? ScalarType{} : b.type());
  if (!type) throw Failure{at, "this operator has no meaning for its operands", ""};
  Value value;
  value.scalar.type = *type;
  const std::uint32_t left = expression_of(a), right = unary ? 0 : expression_of(b);
  value.expression = add_expression({FlowExpression::Kind::kOperation, op, *type, left, right, 0});
  return value;
}

Value Lowering::converted(const Value& value, ScalarType type, std::uint32_t at) {
  if (value.type() == type) return value;
  if (value.known()) return known_value(computed(at, [&] { return convert(value.scalar, type); }));
  Value result;
  result.scalar.type = type;
  result.expression = add_expression({FlowExpression::Kind::kConvert, Operator::kAdd, type, value.expression, 0, 0});
  return result;
}

// Bits as the number that they are, bit 0 lowest.
Value Lowering::joined(std::span<const Value> bits, std::uint32_t at) {
  if (bits.size() > kMaxScalarBits) {
    throw Failure{at, "a register of more than " + std::to_string(kMaxScalarBits) + " bits is no number here", "",
                  ExitCode::kUnsupported};
  }
  Wide word = 0;
  bool known = true;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    known = known && bits[i].known();
    if (bits[i].known() && truth(bits[i].scalar)) word |= Wide{1} << i;
  }
  const auto width = [](std::size_t size) { return static_cast<std::uint16_t>(size); };
  if (known) return known_value(make_word({ScalarKind::kUint, width(bits.size())}, word));
  Value value = converted(bits[0], {ScalarKind::kUint, 1}, at);
  for (std::size_t i = 1; i < bits.size(); ++i) {
    const ScalarType type{ScalarKind::kUint, width(i + 1)};
    const std::uint32_t low = expression_of(value), high = expression_of(bits[i]);
    value.scalar.type = type;
    value.expression = add_expression({FlowExpression::Kind::kJoin, Operator::kAdd, type, low, high, 0});
  }
  return value;
}

Value Lowering::truth_of(NodeId node) {
  const Value value = scalar(node);
  if (value.type().kind == ScalarKind::kDuration) {
    throw Failure{tree_[node].at, "durations have no values in a simulation", "", ExitCode::kUnsupported};
  }
  return converted(value, kTruthType, tree_[node].at);
}

std::int64_t Lowering::integer(NodeId node) {
  const Scalar value = require_known(scalar(node), tree_[node].at);
  const SignedWide number = integer_value(value);
  constexpr SignedWide kMost = SignedWide{1} << 62;
  return static_cast<std::int64_t>(std::clamp(number, -kMost, kMost));
}

double Lowering::real(NodeId node) {
  const Scalar value = require_known(scalar(node), tree_[node].at);
  if (value.type.kind == ScalarKind::kDuration) {
    throw Failure{tree_[node].at, "a duration has no value in a simulation", "", ExitCode::kUnsupported};
  }
  const double number = real_value(value);
  if (!std::isfinite(number)) throw Failure{tree_[node].at, "this value is not a finite number", ""};
  return number;
}

}  // namespace qsim::qasm3
