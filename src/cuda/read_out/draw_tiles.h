// Tiles of neighbouring amplitudes, whose sums tell where draws fall: their size, and how the shard is walked for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/cuda/readout.h"
#include "qsim/types.h"

namespace qsim::cuda {

BitList bit_list(std::span<const Bit> bits);

/// The tiles of draws from blocks that `block_bits` spell, amplitudes inside in the order of `order`: the smallest
/// whose totals leave most of a room of so many bytes to the draws. Blocks themselves where there are few amplitudes.
DrawOrder draw_order(std::span<const Bit> block_bits, std::span<const Bit> order, std::size_t room_bytes);
/// Nothing where tiles are too small or too few for it.
std::optional<TileWalk> tile_walk(const DrawOrder& order);
/// Bytes of all tiles' running totals; 0 where there is no walk.
std::size_t tile_totals_bytes(const DrawOrder& order);

}  // namespace qsim::cuda
