// Scalars: making, reading and converting them.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "classical/classical.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

Wide low_bits(Wide value, unsigned width) { return width >= 128 ? value : value & ((Wide{1} << width) - 1); }

Wide sign_extended(Wide value, unsigned width) {
  value = low_bits(value, width);
  if (width >= 128 || (value >> (width - 1) & 1) == 0) return value;
  return value | ~((Wide{1} << width) - 1);
}

// Nearest number with 11 significant bits, as IEEE half precision has it.
double to_half(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  constexpr int kLowest = -14, kBits = 11;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int shift = kBits - std::max(exponent, kLowest + 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift);
  constexpr double kLargest = 65504;
  return std::abs(rounded) > kLargest ? std::copysign(HUGE_VAL, value) : rounded;
}

double rounded(double value, unsigned width) {
  if (width == 16) return to_half(value);
  return width == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

/// Infinity is no value here: what rounds to it does not fit.
double narrowed(double value, ScalarType type) {
  const double nearest = rounded(value, type.width);
  if (std::isfinite(nearest)) return nearest;
  throw ArithmeticFault(fmt::format("{} does not fit {}", value, type_text(type)));
}

// k of the angle nearest to `radians` among those of `width` bits.
Wide angle_word(double radians, unsigned width) {
  const double turns = radians / kTurn;
  const double share = turns - std::floor(turns);  // multiples of pi come out exact
  return low_bits(static_cast<Wide>(std::nearbyint(std::ldexp(share, static_cast<int>(std::min(width, 127u))))), width)
         << (width > 127 ? 1 : 0);
}

Wide integer_word(double value) {
  const double whole = std::trunc(value);
  constexpr double kMost = 1.7e38;
  if (!std::isfinite(whole) || std::abs(whole) > kMost) {
    throw ArithmeticFault(fmt::format("{} is too large for an integer", value));
  }
  return static_cast<Wide>(static_cast<SignedWide>(whole));
}

std::string wide_text(Wide value) {
  std::string digits;
  for (; value != 0; value /= 10) digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
  return digits.empty() ? "0" : digits;
}

}  // namespace

Scalar make_bool(bool value) {
  Scalar scalar;
  scalar.word = value ? 1 : 0;
  return scalar;
}

Scalar make_bit(bool value) {
  Scalar scalar = make_bool(value);
  scalar.type.kind = ScalarKind::kBit;
  return scalar;
}

Scalar make_word(ScalarType type, Wide value) {
  Scalar scalar;
  scalar.type = type;
  scalar.word = type.kind == ScalarKind::kInt ? sign_extended(value, type.width) : low_bits(value, type.width);
  return scalar;
}

Scalar make_real(ScalarType type, double value) {
  if (type.kind == ScalarKind::kAngle) {
    if (!std::isfinite(value)) throw ArithmeticFault("an angle that is not a finite number");
    return make_word(type, angle_word(value, type.width));
  }
  return make_complex(type, value);
}

Scalar make_complex(ScalarType type, Complex value) {
  Scalar scalar;
  scalar.type = type;
  scalar.parts[0] = narrowed(value.real(), type);
  scalar.parts[1] = type.kind == ScalarKind::kComplex ? narrowed(value.imag(), type) : 0.0;
  return scalar;
}

Scalar make_zero(ScalarType type) {
  const bool real = type.kind == ScalarKind::kFloat || type.kind == ScalarKind::kComplex;
  return real ? make_complex(type, 0) : make_word(type, 0);
}

double real_value(const Scalar& value) {
  switch (value.type.kind) {
    case ScalarKind::kBool:
    case ScalarKind::kBit:
    case ScalarKind::kUint:
      return static_cast<double>(value.word);
    case ScalarKind::kInt:
      return static_cast<double>(static_cast<SignedWide>(value.word));
    case ScalarKind::kFloat:
      return value.parts[0];
    case ScalarKind::kAngle:
      return std::ldexp(static_cast<double>(value.word), -static_cast<int>(value.type.width)) * kTurn;
    case ScalarKind::kComplex:
    case ScalarKind::kDuration:
      break;
  }
  throw Error("a " + type_text(value.type) + " was read as a real number");
}

bool truth(const Scalar& value) {
  if (value.type.kind == ScalarKind::kFloat || value.type.kind == ScalarKind::kComplex) return value.number() != 0.0;
  return value.word != 0;
}

SignedWide integer_value(const Scalar& value) {
  if (!is_integer(value.type)) throw ArithmeticFault(type_text(value.type) + " where an integer is needed");
  return static_cast<SignedWide>(value.word);
}

bool converts(ScalarType from, ScalarType to, bool cast) {
  using enum ScalarKind;
  if (from == to) return true;
  if (from.kind == kDuration || to.kind == kDuration) return from.kind == to.kind;
  if (from.kind == kComplex) return to.kind == kComplex;
  if (to.kind == kComplex) return from.kind != kAngle;
  if (from.kind == kAngle) return to.kind != kInt && to.kind != kUint;
  if (from.kind == kFloat && to.kind == kBit) return false;
  if (from.kind == kFloat && !cast) return to.kind == kFloat || to.kind == kAngle || to.kind == kBool;
  return true;
}

Scalar convert(const Scalar& value, ScalarType type) {
  if (value.type == type) return value;
  switch (type.kind) {
    case ScalarKind::kBool:
      return make_bool(truth(value));
    case ScalarKind::kBit:
      return make_bit(truth(value));
    case ScalarKind::kInt:
    case ScalarKind::kUint:
      return make_word(type, value.type.kind == ScalarKind::kFloat ? integer_word(value.parts[0]) : value.word);
    case ScalarKind::kFloat:
      return make_complex(type, real_value(value));
    case ScalarKind::kAngle:
      if (value.type.kind != ScalarKind::kAngle) return make_real(type, real_value(value));
      return make_word(type, type.width >= value.type.width ? value.word << (type.width - value.type.width)
                                                            : value.word >> (value.type.width - type.width));
    case ScalarKind::kComplex:
      return make_complex(type, value.type.kind == ScalarKind::kComplex ? value.number() : real_value(value));
    case ScalarKind::kDuration:
      break;
  }
  throw Error("a " + type_text(value.type) + " was made a duration");
}

Scalar bit_at(const Scalar& value, unsigned index) { return make_bit((value.word >> index & 1) != 0); }

Scalar with_bit(const Scalar& value, unsigned index, bool bit) {
  const Wide mask = Wide{1} << index;
  return make_word(value.type, bit ? value.word | mask : value.word & ~mask);
}

std::string type_text(ScalarType type) {
  switch (type.kind) {
    case ScalarKind::kBool:
      return "bool";
    case ScalarKind::kBit:
      return "bit";
    case ScalarKind::kInt:
      return fmt::format("int[{}]", type.width);
    case ScalarKind::kUint:
      return fmt::format("uint[{}]", type.width);
    case ScalarKind::kFloat:
      return fmt::format("float[{}]", type.width);
    case ScalarKind::kAngle:
      return fmt::format("angle[{}]", type.width);
    case ScalarKind::kComplex:
      return fmt::format("complex[float[{}]]", type.width);
    case ScalarKind::kDuration:
      break;
  }
  return "duration";
}

std::string value_text(const Scalar& value) {
  switch (value.type.kind) {
    case ScalarKind::kBool:
      return value.word != 0 ? "true" : "false";
    case ScalarKind::kBit:
    case ScalarKind::kUint:
      return wide_text(value.word);
    case ScalarKind::kInt: {
      const bool negative = static_cast<SignedWide>(value.word) < 0;
      return negative ? "-" + wide_text(~value.word + 1) : wide_text(value.word);
    }
    case ScalarKind::kFloat:
    case ScalarKind::kAngle:
      return fmt::format("{}", real_value(value));
    case ScalarKind::kComplex:
      return fmt::format("{}{:+}i", value.parts[0], value.parts[1]);
    case ScalarKind::kDuration:
      break;
  }
  return "a duration";
}

}  // namespace qsim
