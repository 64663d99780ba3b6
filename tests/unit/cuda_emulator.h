// Runs tile programs on the host, thread by thread and register by register, as the GPU does.
#pragma once

#include <vector>

#include "cuda/tile_program.h"

namespace qsim::test {

/// Runs `program` on the tiles of `state` whose index has `chunk_value` under `chunk_mask`, in place.
void emulate(const cuda::TileProgram& program, std::vector<Complex>& state, Index chunk_mask = 0,
             Index chunk_value = 0);

}  // namespace qsim::test
