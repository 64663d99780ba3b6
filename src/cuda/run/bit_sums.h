// Where the sums lie that a sweep takes of each bit's probability, and how they become one number a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/generate/generate.h"
#include "qsim/types.h"

namespace qsim::cuda {

/// What a sweep has summed: the tiles' probabilities, numbered by `tile_bits`, and the bits of `cells`.
struct SweptBits {
  Index tile_bits = 0;
  std::vector<Bit> inside;
};

/// Device memory of the sums: kCellWords numbers, then the probability of each tile.
struct BitSumMemory {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t* cells() const { return reinterpret_cast<std::uint64_t*>(data); }
  double* totals() const { return reinterpret_cast<double*>(cells() + kCellWords); }
  bool holds(std::uint64_t tiles) const { return (kCellWords + tiles) * sizeof(double) <= bytes; }
};

/// out[b] = probability that bit b is 1, and the total last. `cells` has kCellWords numbers (generate.h); tile_sums[i]
/// is the probability of the i-th of `tile_bits`, the total last. Bits that are in neither are 0 everywhere.
void place_bit_sums(const SweptBits& swept, std::span<const std::uint64_t> cells, std::span<const double> tile_sums,
                    std::span<double> out);

}  // namespace qsim::cuda
