// Rules of types.
#include "qasm3/types/type.h"

#include <algorithm>
#include <cstdlib>

namespace qsim::qasm3 {
namespace {

// A bit register as the number that it is in arithmetic.
ScalarType number_type(const Type& type) {
  if (type.is_scalar()) return type.scalar;
  return {ScalarKind::kUint, static_cast<std::uint16_t>(std::min(type.size, kMaxScalarBits))};
}

bool is_real(ScalarType type) {
  return type.kind == ScalarKind::kFloat || type.kind == ScalarKind::kComplex || type.kind == ScalarKind::kDuration;
}

bool same_size(std::uint32_t a, std::uint32_t b) { return a == b || a == kUnknownSize || b == kUnknownSize; }

bool bits_convert(const Type& from, const Type& to, bool cast) {
  using enum ScalarKind;
  if (from.kind == TypeKind::kBits && to.kind == TypeKind::kBits) return same_size(from.size, to.size);
  if (from.kind == TypeKind::kBits) {
    switch (to.scalar.kind) {
      case kBit:
        return same_size(from.size, 1);
      case kAngle:
        return cast && same_size(from.size, to.scalar.width);
      case kBool:
      case kInt:
      case kUint:
        return true;
      case kFloat:
      case kComplex:
      case kDuration:
        return false;
    }
  }
  switch (from.scalar.kind) {
    case kBit:
    case kBool:
      return same_size(to.size, 1);
    case kAngle:
      return cast && same_size(to.size, from.scalar.width);
    case kInt:
    case kUint:
      return true;
    case kFloat:
    case kComplex:
    case kDuration:
      break;
  }
  return false;
}

}  // namespace

std::string type_text(const Type& type, const Shapes& shapes) {
  const auto sized = [&](const char* word) {
    return std::string(word) + '[' + (type.size == kUnknownSize ? "n" : std::to_string(type.size)) + ']';
  };
  switch (type.kind) {
    case TypeKind::kNothing:
      return "nothing";
    case TypeKind::kScalar:
      return qsim::type_text(type.scalar);
    case TypeKind::kBits:
      return sized("bit");
    case TypeKind::kQubit:
      return "qubit";
    case TypeKind::kQubits:
      return sized("qubit");
    case TypeKind::kArray:
      break;
  }
  std::string text = "array[" + qsim::type_text(type.scalar);
  for (const std::uint32_t size : shapes[type.shape]) {
    text += ", " + (size == kUnknownSize ? std::string("n") : std::to_string(size));
  }
  return text + ']';
}

bool converts(const Type& from, const Type& to, bool cast) {
  const auto plain = [](const Type& type) { return type.is_scalar() || type.kind == TypeKind::kBits; };
  if (!plain(from) || !plain(to)) return false;
  if (from.kind == TypeKind::kBits || to.kind == TypeKind::kBits) return bits_convert(from, to, cast);
  return qsim::converts(from.scalar, to.scalar, cast);
}

Type result_type(Operator op, const Type& a, const Type& b) {
  const bool a_bits = a.kind == TypeKind::kBits, b_bits = b.kind == TypeKind::kBits;
  const auto scalar = [](std::optional<ScalarType> type) {
    return type ? Type{TypeKind::kScalar, *type, 1, 0} : Type{};
  };
  const bool unary = is_unary(op);
  if (!a_bits && (unary || !b_bits)) return scalar(qsim::result_type(op, a.scalar, unary ? ScalarType{} : b.scalar));
  if ((!a_bits && is_real(a.scalar)) || (!unary && !b_bits && is_real(b.scalar))) return {};
  switch (op) {
    case Operator::kInvert:
      return a;
    case Operator::kBitAnd:
    case Operator::kBitOr:
    case Operator::kBitXor:
      if (a_bits && b_bits) return same_size(a.size, b.size) ? (a.size == kUnknownSize ? b : a) : Type{};
      break;
    case Operator::kShiftLeft:
    case Operator::kShiftRight:
    case Operator::kRotl:
    case Operator::kRotr:
      if (a_bits) return qsim::result_type(op, {ScalarKind::kUint, 8}, number_type(b)) ? a : Type{};
      break;
    default:
      break;
  }
  return scalar(qsim::result_type(op, number_type(a), unary ? ScalarType{} : number_type(b)));
}

Scalar convert(const Scalar& value, const Type& from, const Type& to) {
  const bool packs = to.kind == TypeKind::kBits, unpacks = from.kind == TypeKind::kBits;
  if (packs) return make_word({ScalarKind::kUint, static_cast<std::uint16_t>(to.size)}, value.word);
  if (unpacks && to.scalar.kind == ScalarKind::kAngle) return make_word(to.scalar, value.word);
  return qsim::convert(value, to.scalar);
}

std::int64_t position_of(std::int64_t index, std::uint32_t size) {
  const std::int64_t place = index < 0 ? index + size : index;
  return place >= 0 && place < static_cast<std::int64_t>(size) ? place : -1;
}

std::optional<RangePositions> range_positions(const RangeBounds& range, std::uint32_t size) {
  const auto bound = [size](std::int64_t index) { return index < 0 ? index + size : index; };
  constexpr std::int64_t kLongest = std::int64_t{1} << 33;  // longer steps leave any register as well
  const std::int64_t first = bound(range.start), stop = bound(range.stop);
  const std::int64_t step = std::clamp(range.step, -kLongest, kLongest);
  if (step > 0 ? first > stop : first < stop) return RangePositions{};
  const auto outside = [size](std::int64_t at) { return at < 0 || at >= static_cast<std::int64_t>(size); };
  if (outside(first)) return std::nullopt;
  // The first is inside: the distance is below 2^64.
  const std::uint64_t distance = step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(first)
                                          : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(stop);
  const std::uint64_t further = distance / static_cast<std::uint64_t>(std::abs(step));
  if (further >= size || outside(first + static_cast<std::int64_t>(further) * step)) return std::nullopt;
  return RangePositions{first, step, static_cast<std::uint32_t>(further + 1)};
}

}  // namespace qsim::qasm3
