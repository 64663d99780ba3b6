// Runs tile programs on the host, thread by thread and register by register, as the GPU does.
#pragma once

#include <map>
#include <vector>

#include "cuda/tile/tile_program.h"

namespace qsim::test {

/// Throws std::logic_error where the kernels' barriers leave two threads racing for a place in memory or in the tile.
/// Runs `program` on the tiles of `state` whose index has `chunk_value` under `chunk_mask`, in place.
void emulate(const cuda::TileProgram& program, std::vector<Complex>& state, Index chunk_mask = 0,
             Index chunk_value = 0);

/// Runs one tile, whose index bits outside the tile are `base`, on a memory that holds at least the tile.
void emulate_tile(const cuda::TileProgram& program, Index base, std::map<Index, Complex>& memory);

}  // namespace qsim::test
