// |a|^2 and its integer units: one rounding for every backend.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

namespace qsim {

/// |a|^2 in double, whatever the state's precision.
template <typename T>
double probability(const std::complex<T>& amplitude) {
  const double re = amplitude.real(), im = amplitude.imag();
  return re * re + im * im;
}

/// round(probability 2^62): integers add to the same total in any order.
inline std::uint64_t probability_units(double probability) {
  return static_cast<std::uint64_t>(std::llrint(probability * 0x1p62));
}

/// Orders probabilities as integers, exactly: positive doubles order as their bits do. Below 2^63.
std::uint64_t probability_key(double probability);

}  // namespace qsim
