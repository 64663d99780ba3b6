#include "cuda/run/bit_sums.h"

#include <algorithm>

#include "base/bits.h"

namespace qsim::cuda {

void place_bit_sums(const SweptBits& swept, std::span<const std::uint64_t> cells, std::span<const double> tile_sums,
                    std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  std::size_t number = 0;
  for_each_bit(swept.tile_bits, [&](unsigned bit) { out[bit] = tile_sums[number++]; });
  out.back() = tile_sums[number];
  for (std::size_t v = 0; v < swept.inside.size(); ++v) {
    std::uint64_t coarse = 0, fine = 0;
    for (std::size_t cell = 0; cell < kSumCells; ++cell) {
      coarse += cells[2 * (cell * kCellBits + v)];
      fine += cells[2 * (cell * kCellBits + v) + 1];
    }
    out[swept.inside[v]] = static_cast<double>(coarse) * 0x1p-62 + static_cast<double>(fine) * 0x1p-100;
  }
}

}  // namespace qsim::cuda
