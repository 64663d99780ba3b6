// What instrumented sources are made of: each point does what the source says unless its mutant was chosen.
//
// QSIM_MUTANT=POINT:VARIANT chooses one when the program starts. QSIM_MUTATION_POINTS=FILE appends the points that the
// types of their operands allow, a line "POINT MASK" each, bit v of the mask for variant v. tests/mutation/rewrite.py
// writes the calls; a constant expression is never changed.
#pragma once
#pragma GCC system_header  // its includers ask for more warnings than it keeps to

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace qsim_mutation {

inline constexpr int kPoints = 1 << 19;
inline constexpr unsigned char kWatched = 255;

/// By point: 0 = as written, a variant, or kWatched = as written, but note what variants would change.
inline unsigned char state[kPoints];
/// Bit 0: reached while watched; bit v: variant v would have given something else at least once.
inline unsigned char differs[kPoints];
inline unsigned char variants[kPoints];

inline bool note(int point, unsigned mask) {
  variants[point] = static_cast<unsigned char>(variants[point] | mask);
  return true;
}

template <int Point, unsigned Mask>
struct Exists {
  static inline const bool value = note(Point, Mask);
};

/// Registers the variants of `Mask` before the program starts.
template <int Point, unsigned Mask>
constexpr void exist() {
  static_cast<void>(&Exists<Point, Mask>::value);
}

/// The chosen variant of a point, 0 for none, kWatched where the caller is to note what would differ.
[[gnu::always_inline]] inline int variant(int point) { return state[point]; }

/// A watched point was met where the variants of `mask` give something else.
[[gnu::noinline]] inline void meet(int point, unsigned mask) {
  differs[point] = static_cast<unsigned char>(differs[point] | 1u | mask);
  if ((variants[point] & ~differs[point]) == 0) state[point] = 0;
}

inline void write_points() {
  const char* name = std::getenv("QSIM_MUTATION_POINTS");
  std::FILE* file = name == nullptr ? nullptr : std::fopen(name, "a");
  if (file == nullptr) return;
  for (int point = 0; point < kPoints; ++point) {
    if (variants[point] != 0) std::fprintf(file, "%d %u\n", point, static_cast<unsigned>(variants[point]));
  }
  std::fclose(file);
}

inline bool start() {
  if (std::getenv("QSIM_MUTATION_POINTS") != nullptr) std::atexit(write_points);
  const char* mutant = std::getenv("QSIM_MUTANT");
  if (mutant == nullptr) return true;
  char* end = nullptr;
  const long point = std::strtol(mutant, &end, 10);
  if (point > 0 && point < kPoints && *end == ':') {
    state[point] = static_cast<unsigned char>(std::strtol(end + 1, nullptr, 10));
  }
  return true;
}
inline const bool started = start();

/// A statement: is it left out?
template <int Point>
constexpr bool without() {
  exist<Point, 2u>();
  if (std::is_constant_evaluated()) return false;
  const int other = variant(Point);
  if (other == kWatched) meet(Point, 2u);
  return other == 1;
}

/// One side of a logical operator: is it left out?
template <int Point, int Variant>
constexpr bool without_side() {
  exist<Point, 1u << Variant>();
  if (std::is_constant_evaluated()) return false;
  return variant(Point) == Variant;
}

/// That side, which decides something where it is not `Neutral`.
template <int Point, int Variant, bool Neutral, class Value>
constexpr bool side(const Value& value) {
  const bool result = static_cast<bool>(value);
  if (std::is_constant_evaluated()) return result;
  if (variant(Point) == kWatched) meet(Point, result == Neutral ? 0u : 1u << Variant);
  return result;
}

/// 1: true, 2: false.
template <int Point, bool Loop, class Value>
constexpr bool condition(const Value& value) {
  exist<Point, Loop ? 4u : 6u>();
  const bool result = static_cast<bool>(value);
  if (std::is_constant_evaluated()) return result;
  const int other = variant(Point);
  if (other == kWatched) meet(Point, result ? 4u : 2u);
  return other == 1 || (other != 2 && result);
}

/// 1, 2: one more, one less; 3, 4: times and by a hundred; 5: zero (one, where it is); 6: the other truth value.
template <int Point, bool Zero, class Value>
constexpr decltype(auto) constant(Value&& value) {
  using Type = std::remove_cvref_t<Value>;
  if constexpr (std::is_same_v<Type, bool>) {
    exist<Point, 1u << 6>();
    if (std::is_constant_evaluated()) return Type(value);
    const int other = variant(Point);
    if (other == kWatched) meet(Point, 1u << 6);
    return Type(other == 6 ? !value : value);
  } else if constexpr (std::is_integral_v<Type>) {
    exist<Point, Zero ? 2u : 6u>();
    if (std::is_constant_evaluated()) return Type(value);
    const int other = variant(Point);
    if (other == kWatched) meet(Point, 6u);
    return static_cast<Type>(other == 1 ? value + 1 : other == 2 ? value - 1 : value);
  } else if constexpr (std::is_floating_point_v<Type>) {
    exist<Point, Zero ? 32u : 8u + 16u + 32u>();
    if (std::is_constant_evaluated()) return Type(value);
    const int other = variant(Point);
    if (other == kWatched) meet(Point, 8u + 16u + 32u);
    return static_cast<Type>(other == 3   ? value * 100
                             : other == 4 ? value / 100
                             : other == 5 ? (value == 0 ? 1 : 0)
                                          : value);
  } else {
    return std::forward<Value>(value);
  }
}

/// 1: without the sign or the inversion.
#define QSIM_UNARY(Name, op)                                                    \
  template <int Point, class Value>                                             \
  constexpr auto Name(Value&& value)->std::remove_cvref_t<decltype(op value)> { \
    using Result = std::remove_cvref_t<decltype(op value)>;                     \
    if constexpr (std::is_constructible_v<Result, Value&>) {                    \
      exist<Point, 2u>();                                                       \
      if (!std::is_constant_evaluated()) {                                      \
        const int other = variant(Point);                                       \
        if (other == kWatched) meet(Point, 2u);                                 \
        if (other == 1) return Result(value);                                   \
      }                                                                         \
    }                                                                           \
    return op std::forward<Value>(value);                                       \
  }
QSIM_UNARY(minus, -)
QSIM_UNARY(inverted, !)
QSIM_UNARY(complement, ~)
#undef QSIM_UNARY

#define QSIM_BINARY(Name, op)                                                                      \
  struct Name {                                                                                    \
    template <class A, class B>                                                                    \
    static constexpr auto of(A&& a, B&& b) -> decltype(std::forward<A>(a) op std::forward<B>(b)) { \
      return std::forward<A>(a) op std::forward<B>(b);                                             \
    }                                                                                              \
  };
QSIM_BINARY(Less, <)
QSIM_BINARY(LessEqual, <=)
QSIM_BINARY(Greater, >)
QSIM_BINARY(GreaterEqual, >=)
QSIM_BINARY(Equal, ==)
QSIM_BINARY(NotEqual, !=)
QSIM_BINARY(Plus, +)
QSIM_BINARY(Minus, -)
QSIM_BINARY(Times, *)
QSIM_BINARY(Over, /)
QSIM_BINARY(Modulo, %)
QSIM_BINARY(ShiftLeft, <<)
QSIM_BINARY(ShiftRight, >>)
QSIM_BINARY(And, &)
QSIM_BINARY(Or, |)
QSIM_BINARY(Xor, ^)
QSIM_BINARY(PlusAssign, +=)
QSIM_BINARY(MinusAssign, -=)
QSIM_BINARY(TimesAssign, *=)
QSIM_BINARY(OverAssign, /=)
QSIM_BINARY(ModuloAssign, %=)
QSIM_BINARY(ShiftLeftAssign, <<=)
QSIM_BINARY(ShiftRightAssign, >>=)
QSIM_BINARY(AndAssign, &=)
QSIM_BINARY(OrAssign, |=)
QSIM_BINARY(XorAssign, ^=)
#undef QSIM_BINARY

/// A comparison whose limit matters only where numbers are exact.
template <class Operator>
struct Exact {
  template <class A, class B>
  requires(!std::is_floating_point_v<std::remove_cvref_t<A>> &&
           !std::is_floating_point_v<std::remove_cvref_t<B>>) static constexpr auto of(A&& a, B&& b)
      -> decltype(Operator::of(std::forward<A>(a), std::forward<B>(b))) {
    return Operator::of(std::forward<A>(a), std::forward<B>(b));
  }
};

/// Does the other operator give something else? What cannot be tried on copies is taken to.
template <class Written, class Other, class A, class B>
bool gives_another(const A& a, const B& b) {
  if constexpr (std::is_trivially_copyable_v<A> && std::is_trivially_copyable_v<B> && std::is_copy_constructible_v<A> &&
                std::is_copy_constructible_v<B>) {
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B> &&
                  (std::is_same_v<Other, Over> || std::is_same_v<Other, OverAssign>)) {
      if (b == 0) return true;
    }
    A left = a, other_left = a;
    B right = b, other_right = b;
    if constexpr (requires { bool(Written::of(left, right) == Other::of(other_left, other_right)); }) {
      return !bool(Written::of(left, right) == Other::of(other_left, other_right));
    }
  }
  return true;
}

/// Both operands; braces evaluate them from left to right, as g++ does without us.
template <class A, class B>
struct Operands {
  A&& a;
  B&& b;

  template <int Point, class Written, class... Others>
  constexpr decltype(auto) as() {
    using Result = decltype(Written::of(std::forward<A>(a), std::forward<B>(b)));
    if (!std::is_constant_evaluated() && variant(Point) == kWatched) watch<Point, 1, Written, Result, Others...>(0);
    return other<Point, 1, Written, Result, Others...>();
  }

 private:
  template <int Point, int Variant, class Written, class Result>
  void watch(unsigned mask) {
    meet(Point, mask);
  }
  template <int Point, int Variant, class Written, class Result, class First, class... Others>
  void watch(unsigned mask) {
    if constexpr (requires { Result(First::of(std::forward<A>(a), std::forward<B>(b))); }) {
      if (gives_another<Written, First, std::remove_cvref_t<A>, std::remove_cvref_t<B>>(a, b)) mask |= 1u << Variant;
    }
    watch<Point, Variant + 1, Written, Result, Others...>(mask);
  }
  template <int Point, int Variant, class Written, class Result>
  constexpr Result other() {
    return Written::of(std::forward<A>(a), std::forward<B>(b));
  }
  template <int Point, int Variant, class Written, class Result, class First, class... Others>
  constexpr Result other() {
    if constexpr (requires { Result(First::of(std::forward<A>(a), std::forward<B>(b))); }) {
      exist<Point, 1u << Variant>();
      if (!std::is_constant_evaluated()) {
        if (variant(Point) == Variant) return static_cast<Result>(First::of(std::forward<A>(a), std::forward<B>(b)));
      }
    }
    return other<Point, Variant + 1, Written, Result, Others...>();
  }
};
template <class A, class B>
Operands(A&&, B&&) -> Operands<A, B>;

}  // namespace qsim_mutation
