// Small functions of the tile program.
#include "cuda/program/tile_program.h"

#include "base/bits.h"

namespace qsim::cuda {

bool TileGuard::holds(Index base) const {
  return (base & mask) == value && (parity_mask == 0 || odd_parity(base & parity_mask) == odd);
}

Coordinate AffineMap::apply(Coordinate v) const {
  Coordinate result = offset;
  for_each_bit(v, [&](unsigned bit) { result ^= column[bit]; });
  return result;
}

bool AffineMap::identity() const {
  for (unsigned i = 0; i < column.size(); ++i) {
    if (column[i] != 1u << i) return false;
  }
  return offset == 0 && guarded.empty();
}

Coordinate Epoch::coordinate(std::uint32_t thread_number, std::uint32_t register_number) const {
  Coordinate v = 0;
  for (std::size_t i = 0; i < thread.size(); ++i) v |= (thread_number >> i & 1u) << thread[i];
  for (std::size_t j = 0; j < reg.size(); ++j) v |= (register_number >> j & 1u) << reg[j];
  return v;
}

}  // namespace qsim::cuda
