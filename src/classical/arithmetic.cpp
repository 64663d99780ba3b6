// Values of operators and functions on scalars.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "classical/classical.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using enum ScalarKind;

Wide power_of(Wide base, SignedWide exponent) {
  if (exponent < 0) throw ArithmeticFault("a negative power of an integer is no integer: write a real number");
  Wide result = 1;
  for (auto left = static_cast<Wide>(exponent); left != 0; left >>= 1, base *= base) {
    if ((left & 1) != 0) result *= base;
  }
  return result;
}

Wide quotient(const Scalar& a, const Scalar& b, bool remainder) {
  if (b.word == 0) throw ArithmeticFault("division by zero");
  if (a.type.kind != kInt) return remainder ? a.word % b.word : a.word / b.word;
  const auto x = static_cast<SignedWide>(a.word), y = static_cast<SignedWide>(b.word);
  if (y == -1) return remainder ? Wide{0} : ~a.word + 1;
  return static_cast<Wide>(remainder ? x % y : x / y);
}

Scalar integer_arithmetic(Operator op, ScalarType type, const Scalar& left, const Scalar& right) {
  const Scalar a = convert(left, type);
  const bool raises = op == Operator::kPower || op == Operator::kPow;
  if (raises) return make_word(type, power_of(a.word, integer_value(right)));
  const Scalar b = convert(right, type);
  switch (op) {
    case Operator::kAdd:
      return make_word(type, a.word + b.word);
    case Operator::kSubtract:
      return make_word(type, a.word - b.word);
    case Operator::kMultiply:
      return make_word(type, a.word * b.word);
    case Operator::kDivide:
      return make_word(type, quotient(a, b, false));
    case Operator::kModulo:
    case Operator::kMod:
      return make_word(type, quotient(a, b, true));
    default:
      break;
  }
  throw Error("no integer operator");
}

Scalar angle_arithmetic(Operator op, ScalarType type, const Scalar& a, const Scalar& b) {
  switch (op) {
    case Operator::kAdd:
      return make_word(type, convert(a, type).word + convert(b, type).word);
    case Operator::kSubtract:
      return make_word(type, convert(a, type).word - convert(b, type).word);
    case Operator::kMultiply:
      return make_word(type, a.word * b.word);
    case Operator::kDivide: {
      if (b.word == 0) throw ArithmeticFault("division by zero");
      if (b.type.kind == kInt && integer_value(b) < 0) {
        return make_word(type, ~(a.word / (~b.word + 1)) + 1);
      }
      if (b.type.kind != kAngle) return make_word(type, a.word / b.word);
      const ScalarType common{kAngle, type.width};
      return make_word(type, convert(a, common).word / convert(b, common).word);
    }
    default:
      break;
  }
  throw Error("no operator of angles");
}

Complex finite(Complex value, const char* what) {
  if (std::isfinite(value.real()) && std::isfinite(value.imag())) return value;
  throw ArithmeticFault(what);
}

/// The operators that real and complex numbers share; nothing for others.
template <typename Number>
std::optional<Number> field_arithmetic(Operator op, Number a, Number b) {
  switch (op) {
    case Operator::kAdd:
      return a + b;
    case Operator::kSubtract:
      return a - b;
    case Operator::kMultiply:
      return a * b;
    case Operator::kDivide:
      if (b == 0.0) throw ArithmeticFault("division by zero");
      return a / b;
    default:
      return std::nullopt;
  }
}

Scalar real_arithmetic(Operator op, ScalarType type, double a, double b) {
  std::optional<double> value = field_arithmetic(op, a, b);
  if (op == Operator::kModulo || op == Operator::kMod) {
    if (b == 0) throw ArithmeticFault("division by zero");
    value = std::fmod(a, b);
  } else if (op == Operator::kPower || op == Operator::kPow) {
    value = std::pow(a, b);
  }
  if (!value) throw Error("no operator of real numbers");
  return make_real(type, finite(*value, "this value is not a finite real number").real());
}

Scalar complex_arithmetic(Operator op, ScalarType type, Complex a, Complex b) {
  std::optional<Complex> value = field_arithmetic(op, a, b);
  if (op == Operator::kPower || op == Operator::kPow) value = a == 0.0 && b != 0.0 ? Complex{} : std::pow(a, b);
  if (!value) throw Error("no operator of complex numbers");
  return make_complex(type, finite(*value, "this value is not a finite number"));
}

Scalar arithmetic(Operator op, ScalarType type, const Scalar& a, const Scalar& b) {
  if (type.kind == kDuration) return make_zero(type);
  const bool whole = is_integer(type) && a.type.kind != kAngle;
  if (whole) return integer_arithmetic(op, type, a, b);
  if (type.kind == kAngle || type.kind == kUint) return angle_arithmetic(op, type, a, b);
  if (type.kind == kComplex) return complex_arithmetic(op, type, convert(a, type).number(), convert(b, type).number());
  return real_arithmetic(op, type, real_value(a), real_value(b));
}

Scalar bitwise(Operator op, ScalarType type, const Scalar& left, const Scalar& right) {
  const Wide a = convert(left, type).word, b = convert(right, type).word;
  return make_word(type, op == Operator::kBitOr ? a | b : op == Operator::kBitXor ? a ^ b : a & b);
}

// -1, 0, 1; integers are compared as the numbers that they are, whatever their types.
int order(const Scalar& a, const Scalar& b) {
  if (a.type.kind == kAngle || b.type.kind == kAngle) {
    const auto width_of = [](ScalarType type) { return type.kind == kAngle ? type.width : std::uint16_t{0}; };
    const ScalarType common{kAngle, std::max(width_of(a.type), width_of(b.type))};
    const Wide x = convert(a, common).word, y = convert(b, common).word;
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (is_integer(a.type) && is_integer(b.type)) {
    const bool a_negative = a.type.kind == kInt && static_cast<SignedWide>(a.word) < 0;
    const bool b_negative = b.type.kind == kInt && static_cast<SignedWide>(b.word) < 0;
    if (a_negative != b_negative) return a_negative ? -1 : 1;
    return a.word < b.word ? -1 : a.word > b.word ? 1 : 0;
  }
  const double x = real_value(a), y = real_value(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool equal(const Scalar& a, const Scalar& b) {
  if (a.type.kind != kComplex && b.type.kind != kComplex) return order(a, b) == 0;
  const ScalarType type{kComplex, kNatural};
  return convert(a, type).number() == convert(b, type).number();
}

Scalar comparison(Operator op, const Scalar& a, const Scalar& b) {
  if (a.type.kind == kDuration) throw ArithmeticFault("durations have no values in a simulation");
  switch (op) {
    case Operator::kEqual:
      return make_bool(equal(a, b));
    case Operator::kNotEqual:
      return make_bool(!equal(a, b));
    case Operator::kLess:
      return make_bool(order(a, b) < 0);
    case Operator::kLessEqual:
      return make_bool(order(a, b) <= 0);
    case Operator::kGreater:
      return make_bool(order(a, b) > 0);
    case Operator::kGreaterEqual:
      return make_bool(order(a, b) >= 0);
    default:
      break;
  }
  throw Error("no comparison");
}

Scalar shifted(Operator op, const Scalar& value, const Scalar& by) {
  const SignedWide places = integer_value(by);
  if (places < 0) throw ArithmeticFault("shift by a negative number");
  if (places >= value.type.width) {
    const bool fills =
        op == Operator::kShiftRight && value.type.kind == kInt && static_cast<SignedWide>(value.word) < 0;
    return make_word(value.type, fills ? ~Wide{0} : Wide{0});
  }
  const auto count = static_cast<unsigned>(places);
  if (op == Operator::kShiftLeft) return make_word(value.type, value.word << count);
  if (value.type.kind == kInt) {
    return make_word(value.type, static_cast<Wide>(static_cast<SignedWide>(value.word) >> count));
  }
  return make_word(value.type, value.word >> count);
}

Scalar rotated(Operator op, const Scalar& value, const Scalar& by) {
  const auto width = static_cast<SignedWide>(value.type.width);
  SignedWide places = integer_value(by) % width;
  if (op == Operator::kRotr) places = -places;
  if (places < 0) places += width;
  const auto left = static_cast<unsigned>(places);
  const Wide word = make_word({kUint, value.type.width}, value.word).word;
  if (left == 0) return value;
  return make_word(value.type, word << left | word >> (value.type.width - left));
}

Complex complex_function(Operator op, Complex x) {
  switch (op) {
    case Operator::kExp:
      return std::exp(x);
    case Operator::kSqrt:
      return std::sqrt(x);
    case Operator::kSin:
      return std::sin(x);
    case Operator::kCos:
      return std::cos(x);
    case Operator::kLog:
      return std::log(x);
    default:
      break;
  }
  throw Error("no function of complex numbers");
}

double real_function(Operator op, double x) {
  switch (op) {
    case Operator::kArccos:
      return std::acos(x);
    case Operator::kArcsin:
      return std::asin(x);
    case Operator::kArctan:
      return std::atan(x);
    case Operator::kCeiling:
      return std::ceil(x);
    case Operator::kCos:
      return std::cos(x);
    case Operator::kExp:
      return std::exp(x);
    case Operator::kFloor:
      return std::floor(x);
    case Operator::kLog:
      return std::log(x);
    case Operator::kSin:
      return std::sin(x);
    case Operator::kSqrt:
      return std::sqrt(x);
    case Operator::kTan:
      return std::tan(x);
    default:
      break;
  }
  throw Error("no function of real numbers");
}

Scalar function(Operator op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case Operator::kMod:
    case Operator::kPow:
      return arithmetic(op, *result_type(op, a.type, b.type), a, b);
    case Operator::kRotl:
    case Operator::kRotr:
      return rotated(op, a, b);
    case Operator::kPopcount: {
      const Wide word = make_word({kUint, a.type.width}, a.word).word;
      const int ones =
          std::popcount(static_cast<std::uint64_t>(word)) + std::popcount(static_cast<std::uint64_t>(word >> 64));
      return make_word({kUint, kNatural}, static_cast<Wide>(ones));
    }
    case Operator::kReal:
      return make_complex({kFloat, a.type.width}, a.parts[0]);
    case Operator::kImag:
      return make_complex({kFloat, a.type.width}, a.parts[1]);
    default:
      break;
  }
  const ScalarType type = *result_type(op, a.type);
  if (a.type.kind == kComplex) {
    return make_complex(type, finite(complex_function(op, a.number()), "this value is not a finite number"));
  }
  const double x = real_value(a), value = real_function(op, x);
  if (!std::isfinite(value)) {
    throw ArithmeticFault(std::string(operator_text(op)) + "(" + value_text(a) + ") is not a real number");
  }
  return make_real(type, value);
}

}  // namespace

Scalar apply(Operator op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case Operator::kOr:
      return make_bool(truth(a) || truth(b));
    case Operator::kAnd:
      return make_bool(truth(a) && truth(b));
    case Operator::kNot:
      return make_bool(!truth(a));
    case Operator::kBitOr:
    case Operator::kBitXor:
    case Operator::kBitAnd:
      return bitwise(op, *result_type(op, a.type, b.type), a, b);
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
      return shifted(op, a, b);
    case Operator::kInvert:
      return make_word(a.type, a.type.kind == kBool ? a.word ^ 1 : ~a.word);
    case Operator::kNegate: {
      const ScalarType type = *result_type(op, a.type);
      if (type.kind == kFloat || type.kind == kComplex) return make_complex(type, -a.number());
      return type.kind == kDuration ? a : make_word(type, ~a.word + 1);
    }
    default:
      break;
  }
  if (op >= Operator::kEqual && op <= Operator::kGreaterEqual) return comparison(op, a, b);
  if (is_function(op)) return function(op, a, b);
  return arithmetic(op, *result_type(op, a.type, b.type), a, b);
}

}  // namespace qsim
