// TileGeometry from a sweep's words: births, unborn bits, reads and the store permutation.
#include "cpu/tile/tile_geometry.h"

namespace qsim::cpu {

TileGeometry::TileGeometry(const Sweep& sweep, std::uint32_t local_bits)
    : tile_bits(static_cast<int>(sweep.active.size())), reads(sweep.reads), start_scale(sweep.start_scale) {
  Index active_mask = 0, born_here = 0;
  for (const Bit bit : sweep.active) active_mask |= bit_mask(bit);
  for (const Birth& birth : sweep.births) born_here |= bit_mask(birth.bit);
  const Index unborn_after = sweep.unborn & ~born_here;
  tile_mask = low_mask(local_bits) & ~active_mask & ~unborn_after;
  inactive_zero = reads ? born_here & ~active_mask : 0;
  for (const Birth& birth : sweep.births) {
    if (!reads && !test_bit(active_mask, birth.bit)) inactive_births.push_back(birth);
  }

  const Index size = bit_mask(static_cast<unsigned>(tile_bits));
  load.resize(size);
  store.resize(size);
  const bool plain = reads && (sweep.unborn & active_mask) == 0;
  if (!plain) start.assign(size, Complex(1));
  for (Index place = 0; place < size; ++place) {
    for (std::size_t j = 0; j < sweep.active.size(); ++j) {
      if (!test_bit(place, static_cast<unsigned>(j))) continue;
      if (!test_bit(sweep.unborn, sweep.active[j])) load[place] |= bit_mask(sweep.active[j]);
      store[place] |= bit_mask(sweep.store[j]);
    }
    if (plain) continue;
    for (std::size_t j = 0; j < sweep.active.size(); ++j) {
      const bool one = test_bit(place, static_cast<unsigned>(j));
      if (one && test_bit(unborn_after, sweep.active[j])) start[place] = 0;
      for (const Birth& birth : sweep.births) {
        if (birth.bit == sweep.active[j]) start[place] *= birth.factor[one ? 1 : 0];
      }
    }
  }
}

Index TileGeometry::tiles(ChunkView chunk) const {
  // A chunk at 1 of a bit that is still unborn holds nothing.
  if ((chunk.value & ~tile_mask) != 0) return 0;
  return bit_mask(count_bits(tile_mask & ~chunk.mask));
}

Complex TileGeometry::tile_factor(Index base) const {
  if (reads) return (base & inactive_zero) != 0 ? Complex(0) : Complex(1);
  Complex factor = start_scale;
  for (const Birth& birth : inactive_births) factor *= birth.factor[test_bit(base, birth.bit) ? 1 : 0];
  return factor;
}

}  // namespace qsim::cpu
