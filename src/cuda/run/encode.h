// A tile program as the interpreter's words and reals, and the tables it reads from device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/tile/tile_program.h"
#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

/// Device tables of one program in one piece of bytes; offsets are multiples of 16.
struct TableBytes {
  std::vector<std::byte> bytes;
  std::size_t tables = 0, angles = 0, angle_begin = 0, dense = 0, addresses = 0;
};

template <class Real>
struct EncodedSweep {
  SweepParams<Real> params{};  // without pointers, tile runs and base
  TableBytes tables;
};

/// The angles of a program's tile factors in half turns: angle_rows(), then factor after factor; factor f has those
/// from begin[f] to begin[f + 1].
struct AngleTable {
  std::vector<TileAngle> angles;
  std::vector<std::uint32_t> begin;
};
AngleTable angle_table(const TileProgram& program);

/// Nothing when the program is too long for constant memory.
template <class Real>
std::optional<EncodedSweep<Real>> encode(const TileProgram& program);

/// Sets the tile runs for tiles whose index bits under chunk_mask are chunk_value; returns the number of tiles.
template <class Real>
std::uint64_t set_tiles(SweepParams<Real>& params, Index tile_bits, Index chunk_mask, Index chunk_value);

}  // namespace qsim::cuda
