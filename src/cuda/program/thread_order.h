// Which bits of a thread's number hold which coordinates, and which bank each coordinate is worth.
#pragma once

#include <vector>

#include "cuda/tile/tile_program.h"

namespace qsim::cuda {

/// Coordinates whose places are neighbours within a memory line.
Coordinate low_coordinates(const TileProgram& program, const std::vector<Bit>& places);

/// Coordinates that must be among a warp's lanes in the last epoch for stores of whole lines; all-ones when no choice
/// of lanes will do.
Coordinate store_lanes(const TileProgram& program);

/// The first of the epochs that exchange lanes with each other, e among them.
std::size_t head_of(const TileProgram& program, std::size_t e);

/// Lanes first hold what memory accesses need; between, threads keep their warps and lanes meet different banks.
/// `decided`: of each epoch the pair that has its place on the lowest lanes, or none.
void order_threads(TileProgram& program, const std::vector<Coordinate>& decided);

}  // namespace qsim::cuda
