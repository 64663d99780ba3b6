// NaN and infinity never leave: what is read out is tested, by integers, at no cost beside reading it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "qsim/error.h"

namespace qsim {

/// No value is NaN or infinite: an exponent of ones and a one more carry into the sign's place. Plain sums of integers,
/// which every instruction set does many at a time.
inline bool all_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000, kOne = 0x0010000000000000;
  std::uint64_t carried = 0;
  for (const double value : values) carried |= (std::bit_cast<std::uint64_t>(value) & kExponent) + kOne;
  return carried >> 63 == 0;
}
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000, kOne = 0x00800000;
  std::uint32_t carried = 0;
  for (const float value : values) carried |= (std::bit_cast<std::uint32_t>(value) & kExponent) + kOne;
  return carried >> 31 == 0;
}

/// VerificationError where a value is NaN or infinite; `what` names the values: "an amplitude".
template <typename Real>
void require_finite(std::span<const Real> values, const std::string& what) {
  if (!all_finite(values)) throw VerificationError(what + " is not a number: the result is wrong and is not shown");
}

}  // namespace qsim
