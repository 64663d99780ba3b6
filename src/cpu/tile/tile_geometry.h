// Where the tiles of a sweep lie in a shard and what they hold before its operations: the part of a sweep that does not
// depend on an instruction set.
#pragma once

#include <vector>

#include "base/bits.h"
#include "device/backend.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cpu {

/// A place of a tile is named by k bits: bit j stands for Sweep::active[j].
struct TileGeometry {
  explicit TileGeometry(const Sweep& sweep, std::uint32_t local_bits);

  int tile_bits = 0;
  Index tile_mask = 0;      // inactive bits that name tiles; other inactive bits are unborn and 0
  Index inactive_zero = 0;  // inactive bits at which a tile that reads starts as zeros: those born in this sweep
  bool reads = true;
  std::vector<Index> load;     // place -> what it flips of the tile's base, unborn bits taken as 0
  std::vector<Index> store;    // place -> what it flips of the tile's base
  std::vector<Complex> start;  // place -> factor of what is loaded (or the value itself where the sweep does not read);
                               // empty when all are 1
  std::vector<Birth> inactive_births;  // of a sweep that does not read
  Complex start_scale{1};

  /// Number of tiles inside `chunk` and the place of each.
  Index tiles(ChunkView chunk) const;
  Index base(ChunkView chunk, Index tile) const { return chunk.value | deposit_bits(tile, tile_mask & ~chunk.mask); }
  /// What all of a tile's loaded values are multiplied by.
  Complex tile_factor(Index base) const;
};

/// Whether the lowest `count` bits of memory are the lowest active bits, each alone, so that places with the same other
/// bits are neighbours.
bool lowest_bits_are_apart(const Sweep& sweep, unsigned count);

}  // namespace qsim::cpu
