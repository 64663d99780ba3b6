// TileGeometry from a sweep's words: births, unborn bits, reads and the store permutation.
#include "cpu/tile/tile_geometry.h"

#include <algorithm>

#include "base/numbers/complex.h"

namespace qsim::cpu {
namespace {

void append_moved(std::vector<Index>& offsets, Index by) {
  const std::size_t count = offsets.size();
  offsets.resize(2 * count);
  for (std::size_t place = 0; place < count; ++place) offsets[count + place] = offsets[place] ^ by;
}

/// `factors`: of a bit at 0 and at 1, or null. `born`: else there is nothing at 1.
void append_scaled(std::vector<Complex>& start, const Complex* factors, bool born) {
  const std::size_t count = start.size();
  start.resize(2 * count);
  for (std::size_t place = 0; born && place < count; ++place) {
    start[count + place] = factors == nullptr ? start[place] : times(start[place], factors[1]);
  }
  for (std::size_t place = 0; factors != nullptr && place < count; ++place)
    start[place] = times(start[place], factors[0]);
}

}  // namespace

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

  const bool plain = reads && (sweep.unborn & active_mask) == 0;
  load.reserve(bit_mask(static_cast<unsigned>(tile_bits)));
  store.reserve(load.capacity());
  load = store = {0};
  if (!plain) {
    start.reserve(load.capacity());
    start.push_back(1);
  }
  // Bit by bit: places with the new bit are those without it, moved.
  for (std::size_t j = 0; j < sweep.active.size(); ++j) {
    const Bit bit = sweep.active[j];
    append_moved(load, test_bit(sweep.unborn, bit) ? 0 : reach_of(sweep, j));
    append_moved(store, sweep.reach.empty() ? bit_mask(sweep.store[j]) : sweep.reach[j]);
    if (plain) continue;
    const auto birth = std::ranges::find(sweep.births, bit, &Birth::bit);
    append_scaled(start, birth == sweep.births.end() ? nullptr : birth->factor.data(), !test_bit(unborn_after, bit));
  }
}

bool lowest_bits_are_apart(const Sweep& sweep, unsigned count) {
  for (unsigned i = 0; i < sweep.active.size(); ++i) {
    const bool apart = i < count ? sweep.active[i] == i && reach_of(sweep, i) == bit_mask(i)
                                 : (reach_of(sweep, i) & low_mask(count)) == 0;
    if (!apart) return false;
  }
  return sweep.active.size() >= count;
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
