// Types of operators and functions on scalars.
#include <algorithm>
#include <array>

#include "classical/classical.h"

namespace qsim {
namespace {

using enum ScalarKind;

bool is_one_bit(ScalarType type) { return type.kind == kBool || type.kind == kBit; }

// Two integers meet in the one that holds both; where none does, in the unsigned one, as in C.
ScalarType common_integer(ScalarType a, ScalarType b) {
  if (is_one_bit(a) && is_one_bit(b)) return {kInt, kNatural};
  if (is_one_bit(a)) return b;
  if (is_one_bit(b)) return a;
  if (a.kind == b.kind) return {a.kind, std::max(a.width, b.width)};
  const ScalarType with_sign = a.kind == kInt ? a : b, without = a.kind == kInt ? b : a;
  return with_sign.width > without.width ? with_sign : without;
}

std::optional<ScalarType> common_number(ScalarType a, ScalarType b) {
  if (a.kind == kDuration || b.kind == kDuration) return std::nullopt;
  if (is_integer(a) && is_integer(b)) return common_integer(a, b);
  const auto width_of = [](ScalarType type) -> std::uint16_t {
    return type.kind == kFloat || type.kind == kComplex ? type.width : std::uint16_t{0};
  };
  std::uint16_t width = std::max(width_of(a), width_of(b));
  if (width == 0 || a.kind == kAngle || b.kind == kAngle) width = std::max(width, kNatural);
  const bool is_complex = a.kind == kComplex || b.kind == kComplex;
  if (is_complex && (a.kind == kAngle || b.kind == kAngle)) return std::nullopt;
  return ScalarType{is_complex ? kComplex : kFloat, width};
}

std::optional<ScalarType> angle_type(Operator op, ScalarType a, ScalarType b) {
  const bool both = a.kind == kAngle && b.kind == kAngle;
  const ScalarType wider{kAngle, std::max(a.width, b.width)};
  switch (op) {
    case Operator::kAdd:
    case Operator::kSubtract:  // the other becomes an angle
      if (a.kind == kComplex || b.kind == kComplex) return std::nullopt;
      return both ? wider : a.kind == kAngle ? a : b;
    case Operator::kMultiply:
      if (both) return std::nullopt;
      if (is_integer(a)) return b;
      if (is_integer(b)) return a;
      break;
    case Operator::kDivide:
      if (both) return ScalarType{kUint, wider.width};
      if (is_integer(b)) return a;
      break;
    case Operator::kModulo:
    case Operator::kMod:
    case Operator::kPower:
    case Operator::kPow:
      if (both) return std::nullopt;
      break;
    default:
      break;
  }
  return common_number(a, b);
}

std::optional<ScalarType> arithmetic_type(Operator op, ScalarType a, ScalarType b) {
  if (a.kind == kDuration || b.kind == kDuration) {
    const bool both = a.kind == b.kind;
    const bool adds = op == Operator::kAdd || op == Operator::kSubtract || op == Operator::kModulo;
    const bool scales = op == Operator::kMultiply || op == Operator::kDivide;
    if ((both && (adds || op == Operator::kDivide)) || (!both && scales)) return ScalarType{kDuration, 0};
    return std::nullopt;
  }
  if (a.kind == kAngle || b.kind == kAngle) return angle_type(op, a, b);
  const auto common = common_number(a, b);
  const bool whole = op == Operator::kModulo || op == Operator::kMod;
  if (whole && common && common->kind == kComplex) return std::nullopt;
  return common;
}

std::optional<ScalarType> bitwise_type(ScalarType a, ScalarType b) {
  if (is_one_bit(a) && is_one_bit(b)) return a.kind == kBit ? a : b;
  if (a.kind == kAngle && b.kind == kAngle) return ScalarType{kAngle, std::max(a.width, b.width)};
  if (is_integer(a) && is_integer(b)) return common_integer(a, b);
  return std::nullopt;
}

std::optional<ScalarType> comparison_type(Operator op, ScalarType a, ScalarType b) {
  const ScalarType answer{kBool, 1};
  if (a.kind == kDuration || b.kind == kDuration) {
    return a.kind == b.kind ? std::optional(answer) : std::nullopt;
  }
  const bool equality = op == Operator::kEqual || op == Operator::kNotEqual;
  if ((a.kind == kComplex || b.kind == kComplex) && !equality) return std::nullopt;
  return answer;
}

std::optional<ScalarType> function_type(Operator op, ScalarType a) {
  switch (op) {
    case Operator::kReal:
    case Operator::kImag:
      if (a.kind != kComplex) return std::nullopt;
      return ScalarType{kFloat, a.width};
    case Operator::kPopcount:
      if (is_integer(a) || a.kind == kAngle) return ScalarType{kUint, kNatural};
      return std::nullopt;
    default:
      break;
  }
  if (a.kind == kDuration) return std::nullopt;
  if (a.kind == kComplex) {
    const bool has_complex_form = op == Operator::kExp || op == Operator::kSqrt || op == Operator::kSin ||
                                  op == Operator::kCos || op == Operator::kLog;
    return has_complex_form ? std::optional(a) : std::nullopt;
  }
  return ScalarType{kFloat, a.kind == kFloat ? a.width : kNatural};
}

}  // namespace

std::string_view operator_text(Operator op) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(Operator::kImag) + 1> kTexts = {
      "||",  "&&",       "|",      "^",      "&",      "==",      "!=",   "<",   "<=",    ">",
      ">=",  "<<",       ">>",     "+",      "-",      "*",       "/",    "%",   "**",    "!",
      "~",   "-",        "arccos", "arcsin", "arctan", "ceiling", "cos",  "exp", "floor", "log",
      "mod", "popcount", "pow",    "rotl",   "rotr",   "sin",     "sqrt", "tan", "real",  "imag"};
  return kTexts[static_cast<std::size_t>(op)];
}

bool is_unary(Operator op) {
  switch (op) {
    case Operator::kMod:
    case Operator::kPow:
    case Operator::kRotl:
    case Operator::kRotr:
      return false;
    default:
      return op >= Operator::kNot && op <= Operator::kImag;
  }
}

std::optional<ScalarType> result_type(Operator op, ScalarType a, ScalarType b) {
  switch (op) {
    case Operator::kOr:
    case Operator::kAnd:
      if (a.kind == kDuration || b.kind == kDuration || a.kind == kComplex || b.kind == kComplex) return std::nullopt;
      return ScalarType{kBool, 1};
    case Operator::kNot:
      if (a.kind == kDuration || a.kind == kComplex) return std::nullopt;
      return ScalarType{kBool, 1};
    case Operator::kBitOr:
    case Operator::kBitXor:
    case Operator::kBitAnd:
      return bitwise_type(a, b);
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
    case Operator::kRotl:
    case Operator::kRotr:
      if (is_one_bit(a) || !(is_integer(a) || a.kind == kAngle) || !is_integer(b)) return std::nullopt;
      return a;
    case Operator::kInvert:
      if (is_integer(a) || a.kind == kAngle) return a;
      return std::nullopt;
    case Operator::kNegate:
      return is_one_bit(a) ? ScalarType{kInt, kNatural} : a;
    default:
      break;
  }
  if (op >= Operator::kEqual && op <= Operator::kGreaterEqual) return comparison_type(op, a, b);
  if (is_function(op) && is_unary(op)) return function_type(op, a);
  return arithmetic_type(op, a, b);
}

}  // namespace qsim
