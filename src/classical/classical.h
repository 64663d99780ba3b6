// Values of classical variables and the arithmetic of OpenQASM 3 on them, one scalar at a time.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/bits.h"
#include "qsim/types.h"

namespace qsim {

__extension__ using SignedWide = __int128;

constexpr unsigned kMaxScalarBits = 128;  // of an int, uint, angle, or a bit register taken as a number

/// A bit register taken as a number is a uint of its size.
enum class ScalarKind : std::uint8_t { kBool, kBit, kInt, kUint, kFloat, kAngle, kComplex, kDuration };

struct ScalarType {
  ScalarKind kind = ScalarKind::kBool;
  std::uint16_t width = 1;  // bits; of a complex, those of one part
  friend bool operator==(const ScalarType&, const ScalarType&) = default;
};
constexpr std::uint16_t kNatural = 64;  // bits of a number whose type gives none
constexpr bool is_integer(ScalarType type) {
  return type.kind == ScalarKind::kBool || type.kind == ScalarKind::kBit || type.kind == ScalarKind::kInt ||
         type.kind == ScalarKind::kUint;
}

/// bool, bit, uint, int (two's complement, sign extended) and angle (k of k 2 pi / 2^width) hold a word; float and
/// complex hold numbers, rounded to their width; a duration holds nothing.
struct Scalar {
  ScalarType type;
  union {
    Wide word = 0;
    double parts[2];  // real, imaginary
  };
  Complex number() const { return {parts[0], parts[1]}; }
  friend bool operator==(const Scalar& a, const Scalar& b) { return a.type == b.type && a.word == b.word; }
};

/// What can be done with one or two scalars.
enum class Operator : std::uint8_t {
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kShiftLeft,
  kShiftRight,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kNot,
  kInvert,
  kNegate,
  kArccos,
  kArcsin,
  kArctan,
  kCeiling,
  kCos,
  kExp,
  kFloor,
  kLog,
  kMod,
  kPopcount,
  kPow,
  kRotl,
  kRotr,
  kSin,
  kSqrt,
  kTan,
  kReal,
  kImag,
};
std::string_view operator_text(Operator op);
bool is_unary(Operator op);
constexpr bool is_function(Operator op) { return op >= Operator::kArccos && op <= Operator::kImag; }

/// An operation without a value: division by zero, the square root of a negative number, ...
struct ArithmeticFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Scalar make_bool(bool value);
Scalar make_bit(bool value);
/// `value` wrapped to the type's width (int, uint, angle: as k).
Scalar make_word(ScalarType type, Wide value);
/// `value` rounded to a float of `width` bits (16, 32, else 64), or to the nearest angle.
Scalar make_real(ScalarType type, double value);
Scalar make_complex(ScalarType type, Complex value);
/// The zero of `type`.
Scalar make_zero(ScalarType type);

/// Real value of anything but complex and duration; angles in radians in [0, 2 pi).
double real_value(const Scalar& value);
/// Whether `value` is not zero.
bool truth(const Scalar& value);
/// The integer that a bool, bit, int or uint is; other kinds: ArithmeticFault.
SignedWide integer_value(const Scalar& value);

/// Whether a value of `from` may become one of `to`, by itself or (`cast`) where the program says so.
bool converts(ScalarType from, ScalarType to, bool cast);
/// `value` as `type`; converts() must hold.
Scalar convert(const Scalar& value, ScalarType type);

/// Type of `op` on operands of these types; nullopt when it has no meaning.
std::optional<ScalarType> result_type(Operator op, ScalarType a, ScalarType b = {});
/// Value of `op`; result_type() must hold. ArithmeticFault.
Scalar apply(Operator op, const Scalar& a, const Scalar& b = {});
/// Bit `index` of a uint, int, angle; and the value with that bit set to `bit`.
Scalar bit_at(const Scalar& value, unsigned index);
Scalar with_bit(const Scalar& value, unsigned index, bool bit);

/// "int[8]", "bit", "complex[float[64]]"
std::string type_text(ScalarType type);
/// The value as decimal number; true and false; a complex as "a+bi".
std::string value_text(const Scalar& value);

}  // namespace qsim
