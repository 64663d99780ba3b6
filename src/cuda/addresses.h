// Address arithmetic shared by both tiers: runs of tile bits, columns of index and shared-memory addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/tile_program.h"

namespace qsim::cuda {

/// Packed number -> index: sum of (number & mask) << shift.
struct BitRun {
  Index mask = 0;  // over the packed number
  std::uint8_t shift = 0;
};
std::vector<BitRun> runs_of(Index places);

/// What each bit of a thread's number (then of a register's) XORs into an index.
struct IndexColumns {
  std::vector<Index> thread, slot;
  Index offset = 0;
  std::vector<std::pair<TileGuard, Index>> guarded;
};
IndexColumns load_columns(const TileProgram& program);
IndexColumns store_columns(const TileProgram& program);

/// The move between epochs e and e + 1: shared-memory addresses written and read, free of bank conflicts.
struct Regroup {
  std::vector<Coordinate> write_thread, write_slot, read_thread, read_slot;
  Coordinate offset = 0;
  std::vector<std::pair<TileGuard, Coordinate>> guarded;
};
Regroup regroup_columns(const TileProgram& program, std::size_t e);

/// Addresses for a dense operation inside an epoch: an invertible linear map of coordinates, columns by coordinate.
std::vector<Coordinate> conflict_free_columns(const TileProgram& program, const std::vector<Coordinate>& first,
                                              const std::vector<Coordinate>& second);

/// Threads and registers whose coordinates have a dead bit.
std::uint32_t dead_threads(const TileProgram& program, const Epoch& epoch);
std::uint32_t dead_registers(const TileProgram& program, const Epoch& epoch);

}  // namespace qsim::cuda
