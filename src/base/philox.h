// Counter-based random numbers: Philox4x64-10 keyed by (seed, stream), so any draw can be made anywhere, in any order.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "qsim/types.h"

namespace qsim {

/// Draw number `counter` of stream `stream` under `seed`. The same three numbers give the same draw on every rank,
/// thread and machine.
class Philox {
 public:
  Philox(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  /// The four 64-bit words of one counter.
  std::array<std::uint64_t, 4> block(std::uint64_t counter) const;
  /// Uniform over all 64-bit integers.
  std::uint64_t bits(std::uint64_t counter) const { return block(counter)[0]; }
  /// Uniform in [0, 1): a multiple of 2^-53.
  double uniform(std::uint64_t counter) const;
  /// Uniform in [0, bound), without bias; bound > 0. Spends further words of the same counter on rejections.
  std::uint64_t below(std::uint64_t counter, std::uint64_t bound) const;
  /// Two independent standard normal numbers (Box-Muller).
  std::pair<double, double> gaussian_pair(std::uint64_t counter) const;

 private:
  std::array<std::uint64_t, 4> block(std::uint64_t counter, std::uint64_t extra) const;

  std::uint64_t seed_, stream_;
};

/// A seed that nobody can foresee, from the system.
std::uint64_t draw_seed();

/// Draws one after the other from one stream: what generators and tests want.
class PhiloxSequence {
 public:
  explicit PhiloxSequence(std::uint64_t seed, std::uint64_t stream = 0) : philox_(seed, stream) {}
  std::uint64_t bits() { return philox_.bits(counter_++); }
  double uniform() { return philox_.uniform(counter_++); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::uint64_t below(std::uint64_t bound) { return philox_.below(counter_++, bound); }
  std::pair<double, double> gaussian_pair() { return philox_.gaussian_pair(counter_++); }

 private:
  Philox philox_;
  std::uint64_t counter_ = 0;
};

/// 1,024 indices spread over 2^qubits (all of them where there are fewer), or `count`: the first, the last and others.
std::vector<Index> sample_indices(std::uint32_t qubits, std::uint64_t count = 1024);

/// 64-bit word of 53 significant bits as a double in [0, 1).
constexpr double unit_double(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

}  // namespace qsim
