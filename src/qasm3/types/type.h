// Types of expressions and symbols.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "classical/classical.h"

namespace qsim::qasm3 {

constexpr std::uint32_t kUnknownSize = 0xffffffffu;  // known only when the program is lowered

enum class TypeKind : std::uint8_t {
  kNothing,
  kScalar,
  kBits,   // a bit register
  kArray,  // of scalars
  kQubit,
  kQubits,  // a quantum register
};

struct Type {
  TypeKind kind = TypeKind::kNothing;
  ScalarType scalar = {};   // kScalar; kArray: of an element
  std::uint32_t size = 1;   // kBits, kQubits: bits, qubits; kArray: elements
  std::uint32_t shape = 0;  // kArray: index into Shapes

  bool is(ScalarKind wanted) const { return kind == TypeKind::kScalar && scalar.kind == wanted; }
  bool is_scalar() const { return kind == TypeKind::kScalar; }
  bool is_quantum() const { return kind == TypeKind::kQubit || kind == TypeKind::kQubits; }
};

inline Type scalar_type(ScalarKind kind, unsigned width) {
  return {TypeKind::kScalar, {kind, static_cast<std::uint16_t>(width)}, 1, 0};
}
inline Type bits_type(std::uint32_t size) { return {TypeKind::kBits, {ScalarKind::kBit, 1}, size, 0}; }
inline Type qubits_type(std::uint32_t size) { return {TypeKind::kQubits, {}, size, 0}; }

/// Sizes of arrays, outermost first; equal ones share a number.
class Shapes {
 public:
  using Shape = std::vector<std::uint32_t>;
  Shapes() : shapes_(1) {}
  std::uint32_t add(const Shape& shape) {
    for (std::uint32_t i = 0; i < shapes_.size(); ++i) {
      if (shapes_[i] == shape) return i;
    }
    shapes_.push_back(shape);
    return static_cast<std::uint32_t>(shapes_.size() - 1);
  }
  const Shape& operator[](std::uint32_t shape) const { return shapes_[shape]; }

 private:
  std::vector<Shape> shapes_;
};

/// "int[8]", "bit[4]", "array[int[8], 2, 3]", "qubit[2]"
std::string type_text(const Type& type, const Shapes& shapes);

/// Whether a value of `from` may become one of `to` (arrays and quantum types never); `cast`: because the program says
/// so. Sizes that are not known yet fit.
bool converts(const Type& from, const Type& to, bool cast);
/// A value of at most kMaxScalarBits as another type; a bit register is the uint of its size. converts() must hold.
Scalar convert(const Scalar& value, const Type& from, const Type& to);
/// Type of an operator or function on values that are no arrays and nothing quantum; kNothing when it has no meaning.
Type result_type(Operator op, const Type& a, const Type& b);

/// As written: start : step : stop.
struct RangeBounds {
  std::int64_t start = 0, step = 1, stop = 0;
};
/// The positions start, start + step, ... as far as stop among `size`; negative bounds count from the end.
struct RangePositions {
  std::int64_t first = 0, step = 1;
  std::uint32_t count = 0;
};
/// Nothing when one is outside.
std::optional<RangePositions> range_positions(const RangeBounds& range, std::uint32_t size);
/// `index` among `size`, from the end when negative; -1 when outside.
std::int64_t position_of(std::int64_t index, std::uint32_t size);

}  // namespace qsim::qasm3
