// What a tile program costs a generated kernel, to choose between programs that do the same.
#pragma once

#include "cuda/tile/tile_program.h"

namespace qsim::cuda {

/// Floating-point instructions an amplitude, moves through shared memory counted as what they hold up.
double work_of(const TileProgram& program);

/// A factor that no thread or tile changes.
bool is_constant(const Factor& factor);

/// A phase that generated kernels keep aside, to multiply it together with others that follow.
bool is_deferred(const TileOp& op);

}  // namespace qsim::cuda
