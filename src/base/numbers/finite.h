// NaN and infinity never leave: what is read out is tested, by integers, at no cost beside reading it.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "qsim/error.h"

namespace qsim {

/// No value is NaN or infinite.
inline bool all_finite(std::span<const double> values) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000;
  bool finite = true;
  for (const double value : values) finite &= (std::bit_cast<std::uint64_t>(value) & kExponent) != kExponent;
  return finite;
}
inline bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  bool finite = true;
  for (const float value : values) finite &= (std::bit_cast<std::uint32_t>(value) & kExponent) != kExponent;
  return finite;
}

/// VerificationError where a value is NaN or infinite; `what` names the values: "an amplitude".
template <typename Real>
void require_finite(std::span<const Real> values, const std::string& what) {
  if (!all_finite(values)) throw VerificationError(what + " is not a number: the result is wrong and is not shown");
}

}  // namespace qsim
