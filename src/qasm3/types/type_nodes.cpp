// Types as they are written, and values that must fit them.
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {

using qasm::quoted;

// The value of a size expression: a constant, at least `least`; kUnknownSize where it may vary and does.
std::uint32_t Checker::size_of(NodeId size, std::uint32_t natural, std::uint32_t least, bool may_vary) {
  if (size == 0) return natural;
  const Type type = value(size);
  const std::uint32_t at = tree_[size].at;
  const bool whole = type.is(ScalarKind::kInt) || type.is(ScalarKind::kUint);
  if (!whole) throw Failure{at, "a size must be an integer, not " + model_.type_text(type), ""};
  const Scalar* constant = model_.constant(size);
  if (constant == nullptr) {
    explain(size);
    if (may_vary) return kUnknownSize;
    throw Failure{at, "a size must be constant", "declare what it is made of with 'const'"};
  }
  const SignedWide number = integer_value(*constant);
  if (number < static_cast<SignedWide>(least)) {
    throw Failure{at, "a size must be at least " + std::to_string(least) + ", not " + value_text(*constant), ""};
  }
  if (number >= static_cast<SignedWide>(kUnknownSize)) {
    throw Failure{at, "a size of " + value_text(*constant) + ": no state of that size fits", "", ExitCode::kCapacity};
  }
  return static_cast<std::uint32_t>(number);
}

Type Checker::type_of(NodeId type, bool may_vary) {
  const Node node = tree_[type];
  const auto number = [&](ScalarKind kind, std::uint32_t most) {
    const std::uint32_t width = size_of(node.a, 64, 1, may_vary);
    if (width != kUnknownSize && width > most) {
      throw Failure{node.at,
                    "at most " + std::to_string(most) + " bits are supported here, not " + std::to_string(width), "",
                    ExitCode::kUnsupported};
    }
    return scalar_type(kind, width == kUnknownSize ? 64 : width);
  };
  switch (node.word) {
    case kWordBool:
      return scalar_type(ScalarKind::kBool, 1);
    case kWordBit: {
      if (node.a == 0) return scalar_type(ScalarKind::kBit, 1);
      return bits_type(size_of(node.a, 1, 0, may_vary));
    }
    case kWordInt:
      return number(ScalarKind::kInt, kMaxScalarBits);
    case kWordUint:
      return number(ScalarKind::kUint, kMaxScalarBits);
    case kWordAngle:
      return number(ScalarKind::kAngle, kMaxScalarBits);
    case kWordFloat:
      return number(ScalarKind::kFloat, kUnknownSize - 1);
    case kWordComplex: {
      const Type part = node.b == 0 ? scalar_type(ScalarKind::kFloat, 64) : type_of(node.b, may_vary);
      return scalar_type(ScalarKind::kComplex, part.scalar.width);
    }
    case kWordDuration:
    case kWordStretch:
      return scalar_type(ScalarKind::kDuration, 0);
    case kWordQubit:
      if (node.a == 0) return {TypeKind::kQubit, {}, 1, 0};
      return qubits_type(size_of(node.a, 1, 0, may_vary));
    case kWordArray:
      return array_of(type, may_vary);
    default:
      break;
  }
  throw Failure{node.at, "not a type", ""};
}

Type Checker::array_of(NodeId type, bool may_vary) {
  const Node node = tree_[type];
  constexpr std::size_t kMostDimensions = 7;
  constexpr std::uint64_t kMostElements = 1u << 20;
  Type result = type_of(node.b);
  if (result.kind != TypeKind::kScalar || result.scalar.kind == ScalarKind::kBit) {
    throw Failure{tree_[node.b].at, "an array of " + model_.type_text(result) + " does not exist", ""};
  }
  result.kind = TypeKind::kArray;
  Shapes::Shape shape;
  std::uint64_t elements = 1;
  if ((node.flags & kDimCount) != 0) {
    shape.assign(std::min<std::size_t>(size_of(node.c, 1, 1, false), kMostDimensions + 1), kUnknownSize);
    elements = kUnknownSize;
  } else {
    for (const NodeId size : List(tree_, node.c)) {
      shape.push_back(size_of(size, 1, 1, may_vary));
      elements = std::min<std::uint64_t>(elements * shape.back(), kUnknownSize);
    }
  }
  if (shape.size() > kMostDimensions) throw Failure{node.at, "an array has at most 7 dimensions", ""};
  if (elements > kMostElements && elements != kUnknownSize) {
    throw Failure{node.at, "an array of more than 1048576 elements", "", ExitCode::kUnsupported};
  }
  result.size = static_cast<std::uint32_t>(elements);
  result.shape = model_.shapes.add(shape);
  return result;
}

void Checker::set_constant(NodeId node, const Scalar& value) {
  model_.notes[node].constant = model_.add_constant(value);
}

void Checker::require_convertible(NodeId node, const Type& type, bool cast) {
  const Type& from = model_.note(node).type;
  if (converts(from, type, cast)) return;
  const std::uint32_t at = tree_[node].at;
  const bool both_bits = from.kind == TypeKind::kBits && type.kind == TypeKind::kBits;
  const std::string a = model_.type_text(from), b = model_.type_text(type);
  if (both_bits) throw Failure{at, "sizes differ: " + b + " and " + a, ""};
  std::string hint;
  if (!cast && converts(from, type, true)) hint = "say so with a cast: " + b + "(...)";
  throw Failure{at, a + " cannot become " + b, hint};
}

// The right side of '=' for a variable of `type`; returns the value's own type.
Type Checker::initial_value(NodeId node, const Type& type) {
  if (tree_[node].kind == NodeKind::kArrayLiteral) {
    if (type.kind != TypeKind::kArray) {
      throw Failure{tree_[node].at, "an array where " + model_.type_text(type) + " is needed", ""};
    }
    array_literal(node, type, 0);
    model_.notes[node].type = type;
    return type;
  }
  const Type from = value(node);
  if (type.kind == TypeKind::kArray || from.kind == TypeKind::kArray) {
    const bool fits = from.kind == type.kind && qsim::converts(from.scalar, type.scalar, false) &&
                      (from.shape == type.shape || from.size == kUnknownSize || type.size == kUnknownSize);
    if (!fits) {
      throw Failure{tree_[node].at, model_.type_text(from) + " where " + model_.type_text(type) + " is needed", ""};
    }
    return from;
  }
  require_convertible(node, type, false);
  return from;
}

void Checker::array_literal(NodeId node, const Type& type, std::uint32_t level) {
  const Shapes::Shape shape = model_.shapes[type.shape];
  const std::uint32_t count = List(tree_, tree_[node].a).size();
  if (shape[level] != kUnknownSize && count != shape[level]) {
    throw Failure{tree_[node].at,
                  "array sizes differ: " + std::to_string(count) + " elements where " + std::to_string(shape[level]) +
                      " are needed",
                  ""};
  }
  const bool innermost = level + 1 == shape.size();
  for (const NodeId element : List(tree_, tree_[node].a)) {
    if (tree_[element].kind == NodeKind::kArrayLiteral) {
      if (innermost) throw Failure{tree_[element].at, "an array where an element is needed", ""};
      array_literal(element, type, level + 1);
      continue;
    }
    const Type from = value(element);
    if (innermost) {
      require_convertible(element, {TypeKind::kScalar, type.scalar, 1, 0}, false);
    } else if (from.kind != TypeKind::kArray) {
      throw Failure{tree_[element].at, model_.type_text(from) + " where a row of the array is needed", ""};
    }
  }
}

}  // namespace qsim::qasm3
