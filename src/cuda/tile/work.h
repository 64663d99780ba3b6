// What a tile program costs a generated kernel, to choose between programs that do the same.
#pragma once

#include <cstddef>
#include <span>

#include "cuda/tile/tile_program.h"
#include "qsim/types.h"

namespace qsim::cuda {

/// Floating-point instructions an amplitude, moves through shared memory counted as what they hold up.
double work_of(const TileProgram& program);

/// Its real or its imaginary part is 1 or -1: nothing is multiplied by that.
bool has_unit(Complex entry);
/// Real numbers that a row of a matrix multiplies with: its parts that are not 0, less one unit.
double row_numbers(std::span<const Complex> row);
/// Of all rows, of so many entries each; two rows that are rotated may be three shears.
double matrix_numbers(std::span<const Complex> matrix, std::size_t order);

/// A factor that no thread or tile changes.
bool is_constant(const Factor& factor);

/// Phases that generated kernels keep aside, to multiply them together with others that follow.
bool is_deferred(const TileOp& op);

}  // namespace qsim::cuda
