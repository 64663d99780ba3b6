// Pseudo-random numbers for searches: cheap, and the same everywhere. Not for draws that anyone sees (base/philox.h).
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "base/hash.h"

namespace qsim {

/// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() { return mix_bits(state_ += 0x9E3779B97F4A7C15ull); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// One of the set bits of `mask`, which has some.
  Index pick(Index mask) {
    auto skip = static_cast<int>(((next() >> 32) * static_cast<std::uint64_t>(popcount(mask))) >> 32);
    while (skip-- > 0) mask &= mask - 1;
    return mask & (~mask + 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace qsim
