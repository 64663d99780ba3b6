// What rounding may leave of numbers that stand for 0, 1 or each other. One place: every rewrite that drops or compares
// such numbers asks here.
#pragma once

#include <cmath>
#include <complex>
#include <optional>
#include <span>

#include "qsim/types.h"

namespace qsim {

/// What a handful of rounded operations leave of an exact 0, and put beside an exact 1: nine units in its last place.
/// A rewrite may drop what is smaller.
inline constexpr double kRounding = 2e-15;

/// A factorisation that is put together again may differ from what it was made of by this much of its norm, entry by
/// entry; else it is not used.
inline constexpr double kRecomposed = 4e-15;

// Squares are compared, and planning does not pay for roots.
inline bool is_tiny(Complex value) { return std::norm(value) <= kRounding * kRounding; }
inline bool is_one(Complex value) { return is_tiny(value - 1.0); }
/// A number of modulus 1.
inline bool is_phase(Complex value) { return std::abs(std::norm(value) - 1) <= 2 * kRounding; }

/// The entries of a factorisation put together again are those of `original`, a matrix of norm about `size`.
inline bool recomposes(std::span<const Complex> made, std::span<const Complex> original, double size = 1) {
  if (made.size() != original.size()) return false;
  const double allowed = kRecomposed * kRecomposed * size * size;
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!(std::norm(made[i] - original[i]) <= allowed)) return false;  // nor is NaN the same
  }
  return true;
}

/// The scale of a factor of a matrix, the factor being of norm `exact` and stored with norm `rounded`: of what is
/// unitary to rounding it makes a unitary, since the same gate many times would move the norm.
inline std::complex<long double> scale_beside(Complex scale, long double exact, long double rounded) {
  const std::complex<long double> wide(scale);
  const long double size = std::abs(wide) * exact;
  return std::abs(size - 1) <= kRounding ? wide * (exact / (size * rounded)) : wide * (exact / rounded);
}

/// An angle's remainder by 4 pi, the period of every gate's angles: exact to the last place however large it is, since
/// sine and cosine are. Angles that are added or halved later then keep their digits.
inline double reduced_angle(double angle) {
  if (std::abs(angle) <= 4 * std::numbers::pi) return angle;
  return 2 * std::atan2(std::sin(angle / 2), std::cos(angle / 2));
}

/// An open angle with values put in for its parameters; not finite where the sum is not.
template <typename Terms>
double bound_angle(double constant, const Terms& terms, std::span<const double> values) {
  for (const auto& term : terms) constant += term.factor * values[term.parameter];
  return reduced_angle(constant);
}

/// Reduces an angle to [-pi, pi], as exactly as doubles can hold it for angles of up to some thousand turns; 0 for
/// multiples of 2 pi up to rounding.
inline double wrap_angle(double angle) {
  constexpr double kTwoPi = 6.283185307179586476925;
  constexpr double kTwoPiRest = 2.4492935982947064e-16;  // 2 pi less the double that is nearest to it
  double wrapped = std::remainder(angle, kTwoPi);
  wrapped -= std::nearbyint((angle - wrapped) / kTwoPi) * kTwoPiRest;
  return std::abs(wrapped) < 4e-16 ? 0 : wrapped;
}

}  // namespace qsim
