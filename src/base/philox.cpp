// Philox draws, on Random123's generator.
#include "base/philox.h"

#include <Random123/philox.h>
#include <sys/random.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace qsim {

std::array<std::uint64_t, 4> Philox::block(std::uint64_t counter, std::uint64_t extra) const {
  const r123::Philox4x64::ctr_type position = {{counter, extra, 0, 0}};
  const r123::Philox4x64::key_type key = {{seed_, stream_}};
  const auto words = r123::Philox4x64{}(position, key);
  return {words[0], words[1], words[2], words[3]};
}

std::array<std::uint64_t, 4> Philox::block(std::uint64_t counter) const { return block(counter, 0); }

double Philox::uniform(std::uint64_t counter) const { return unit_double(bits(counter)); }

std::uint64_t Philox::below(std::uint64_t counter, std::uint64_t bound) const {
  // Words below this threshold would make the low remainders more likely than the others.
  const std::uint64_t threshold = (~bound + 1) % bound;
  for (std::uint64_t extra = 0;; ++extra) {
    for (const std::uint64_t word : block(counter, extra)) {
      if (word >= threshold) return word % bound;
    }
  }
}

std::pair<double, double> Philox::gaussian_pair(std::uint64_t counter) const {
  const auto words = block(counter);
  // (0, 1] instead of [0, 1): the logarithm of 0 would be infinite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_double(words[0])));
  const double angle = 2.0 * std::numbers::pi * unit_double(words[1]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

std::uint64_t draw_seed() {
  std::uint64_t seed = 0;
  // Instructions for random words, which std::random_device prefers, take 50 us where a hypervisor answers them.
  if (getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed)) return seed;
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
}

std::vector<Index> sample_indices(std::uint32_t qubits, std::uint64_t count) {
  std::vector<Index> indices;
  const std::uint64_t size = std::uint64_t{1} << qubits;
  const Philox philox(0x62656e6368, 0);
  for (std::uint64_t i = 0; i < std::min(size, count); ++i) {
    indices.push_back(size <= count ? i : i < 2 ? i * (size - 1) : philox.below(i, size));
  }
  return indices;
}

}  // namespace qsim
