// How well counts fit a distribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

namespace qsim::test {

struct ChiSquare {
  double sum = 0;
  double degrees = 0;
  std::string impossible;  // an outcome that was drawn though its probability is none

  void add(const ChiSquare& other) {
    sum += other.sum;
    degrees += other.degrees;
  }
  /// Standard deviations above the mean (Wilson and Hilferty's normal approximation); 0 without a degree of freedom.
  double deviation() const {
    if (degrees < 1) return 0;
    const double part = 2 / (9 * degrees);
    return (std::cbrt(sum / degrees) - (1 - part)) / std::sqrt(part);
  }
};

/// Outcomes of fewer than 5 expected shots are taken together.
inline ChiSquare chi_square(const std::map<std::string, std::uint64_t>& counts,
                            const std::map<std::string, double>& distribution, std::uint64_t shots) {
  ChiSquare result;
  double rare_expected = 0, rare_found = 0;
  double bins = 0;
  const auto add = [&](double found, double expected) {
    result.sum += (found - expected) * (found - expected) / expected;
    ++bins;
  };
  for (const auto& [bits, times] : counts) {
    const auto known = distribution.find(bits);
    const double expected = known == distribution.end() ? 0 : known->second * static_cast<double>(shots);
    if (expected < 1e-6) result.impossible = bits;
    if (expected < 5) rare_found += static_cast<double>(times);
  }
  for (const auto& [bits, probability] : distribution) {
    const double expected = probability * static_cast<double>(shots);
    if (expected < 5) {
      rare_expected += expected;
      continue;
    }
    const auto found = counts.find(bits);
    add(found == counts.end() ? 0 : static_cast<double>(found->second), expected);
  }
  if (rare_expected >= 5) add(rare_found, rare_expected);
  result.degrees = bins > 1 ? bins - 1 : 0;
  if (bins <= 1) result.sum = 0;
  return result;
}

}  // namespace qsim::test
