// Address arithmetic shared by both tiers: runs of tile bits, columns of index and shared-memory addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/tile/tile_program.h"

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

/// The move between epochs e and e + 1: shared-memory addresses written and read. All moves place a coordinate alike,
/// so where nothing is permuted a thread writes only places that it alone has read.
struct Regroup {
  std::vector<Coordinate> write_thread, write_slot, read_thread, read_slot;
  Coordinate offset = 0;
  std::vector<std::pair<TileGuard, Coordinate>> guarded;
  bool own_places = false;   // no barrier is needed before writing
  bool within_warp = false;  // amplitudes stay in their warp
  // To an epoch that is `exchanged`, all there is to do: (bit of the thread, slot).
  std::vector<std::pair<std::uint8_t, std::uint8_t>> exchanges;
};
Regroup regroup_columns(const TileProgram& program, std::size_t e);

/// Which threads must have loaded before one may store: a tile is stored where it was loaded, moved among its places.
enum class StoreWait : std::uint8_t { kNone, kWarp, kBlock };
StoreWait store_wait(const TileProgram& program);

/// Place in shared memory of each coordinate's bit: the columns of an invertible linear map.
std::vector<Coordinate> place_columns(const TileProgram& program);

/// Bits of a bank number: as many neighbouring threads as are served together have different banks.
constexpr unsigned bank_bits(Precision precision) { return precision == Precision::kDouble ? 3 : 4; }
/// True when the vectors are linearly independent over GF(2).
bool independent(const std::vector<Coordinate>& vectors);

/// Threads and registers whose coordinates have a dead bit.
std::uint32_t dead_threads(const TileProgram& program, const Epoch& epoch);
std::uint32_t dead_registers(const TileProgram& program, const Epoch& epoch);

}  // namespace qsim::cuda
