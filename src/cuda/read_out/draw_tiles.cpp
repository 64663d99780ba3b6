#include "cuda/read_out/draw_tiles.h"

#include <algorithm>
#include <vector>

#include "base/bits.h"

namespace qsim::cuda {

BitList bit_list(std::span<const Bit> bits) {
  BitList list;
  for (const Bit bit : bits) list.bits[list.count++] = bit;
  return list;
}

std::optional<TileWalk> tile_walk(const DrawOrder& order) {
  if (order.tile_bits < kLeastTileBits || order.tile_bits > order.inner_bits) return {};
  std::uint8_t place_of[64] = {};
  Index own = 0;
  for (std::uint32_t j = 0; j < order.order.count; ++j) {
    const std::uint8_t bit = order.order.bits[j];
    if (j < order.tile_bits) {
      own |= bit_mask(bit);
    } else {
      place_of[bit] = static_cast<std::uint8_t>(j - order.tile_bits);
    }
  }
  TileWalk walk;
  walk.tile_lanes = static_cast<std::uint32_t>(own & low_mask(TileWalk::kLaneBits));
  std::copy_n(place_of, TileWalk::kLaneBits, walk.lane_place);
  std::size_t ahead = 0;
  for (std::uint32_t bit = TileWalk::kLaneBits; bit < order.order.count; ++bit) {
    if (!test_bit(own, bit)) {
      walk.unit_place[walk.units.count] = place_of[bit];
      walk.units.bits[walk.units.count++] = static_cast<std::uint8_t>(bit);
    } else if (ahead < std::size(walk.ahead)) {
      walk.ahead[ahead++] = bit_mask(bit);
    } else {
      walk.loop |= bit_mask(bit);
    }
  }
  if (walk.units.count < TileWalk::kWarpBits + TileWalk::kStepBits) return {};
  return walk;
}

std::size_t tile_totals_bytes(const DrawOrder& order) {
  return tile_walk(order) ? sizeof(std::uint64_t) << (order.order.count - order.tile_bits) : 0;
}

DrawOrder draw_order(std::span<const Bit> block_bits, std::span<const Bit> order, std::size_t room_bytes) {
  std::vector<Bit> all(order.begin(), order.end());
  all.insert(all.end(), block_bits.begin(), block_bits.end());
  DrawOrder result{bit_list(all), 0, static_cast<std::uint32_t>(order.size())};
  result.tile_bits = std::min(kLeastTileBits, result.inner_bits);
  while (result.tile_bits < result.inner_bits && tile_totals_bytes(result) > room_bytes / 3) ++result.tile_bits;
  if (!tile_walk(result)) result.tile_bits = result.inner_bits;
  return result;
}

}  // namespace qsim::cuda
