// Tiles of draws, walked as the kernel walks them, against the order that draws have.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "cuda/read_out/draw_tiles.h"

namespace qsim {
namespace {

using cuda::BitList;
using cuda::DrawOrder;
using cuda::TileWalk;

/// Bit j of `number` to place list.bits[first + j].
Index scattered(Index number, const BitList& list, std::uint32_t first = 0) {
  Index index = 0;
  for (std::uint32_t j = first; j < list.count; ++j) index |= (number >> (j - first) & 1) << list.bits[j];
  return index;
}

/// What each tile's number would have summed.
std::vector<std::vector<Index>> walked(const DrawOrder& order, const TileWalk& walk) {
  std::vector<std::vector<Index>> tiles(std::size_t{1} << (order.order.count - order.tile_bits));
  for (Index unit = 0; unit < bit_mask(walk.units.count); ++unit) {
    Index place = 0;
    for (std::uint32_t j = 0; j < walk.units.count; ++j) place |= (unit >> j & 1) << walk.unit_place[j];
    for (Index lane = 0; lane < 32; ++lane) {
      Index to = place;
      for (unsigned j = 0; j < TileWalk::kLaneBits; ++j) {
        if (!test_bit(walk.tile_lanes, j)) to |= (lane >> j & 1) << walk.lane_place[j];
      }
      Index loop = 0;
      do {
        for (const Index ahead : {Index{0}, walk.ahead[0], walk.ahead[1], walk.ahead[0] | walk.ahead[1]})
          tiles.at(to).push_back(scattered(unit, walk.units) | lane | loop | ahead);
        loop = (loop - walk.loop) & walk.loop;
      } while (loop != 0);
    }
  }
  return tiles;
}

TEST(CudaDrawTiles, SumTheNeighboursOfTheOrder) {
  PhiloxSequence random(12);
  std::size_t walks = 0;
  for (int trial = 0; trial < 80; ++trial) {
    const auto bits = static_cast<std::uint32_t>(12 + random.below(6));
    std::vector<Bit> all(bits);
    std::iota(all.begin(), all.end(), Bit{0});
    if (trial % 4 == 1) std::reverse(all.begin(), all.end());
    if (trial % 4 > 1) {
      for (std::uint32_t j = bits; j > 1; --j) std::swap(all[j - 1], all[random.below(j)]);
    }
    const auto inner = static_cast<std::ptrdiff_t>(7 + random.below(bits - 7));
    DrawOrder order{cuda::bit_list(all), 0, static_cast<std::uint32_t>(inner)};
    order.tile_bits = static_cast<std::uint32_t>(7 + random.below(static_cast<std::uint64_t>(inner) - 6));
    const std::optional<TileWalk> walk = cuda::tile_walk(order);
    if (!walk) {
      EXPECT_LT(bits, order.tile_bits + 10) << "few tiles";
      continue;
    }
    ++walks;
    std::vector<std::vector<Index>> tiles = walked(order, *walk);
    for (Index tile = 0; tile < tiles.size(); ++tile) {
      std::vector<Index> wanted;
      for (Index place = 0; place < bit_mask(order.tile_bits); ++place)
        wanted.push_back(scattered(tile << order.tile_bits | place, order.order));
      std::sort(wanted.begin(), wanted.end());
      std::sort(tiles[tile].begin(), tiles[tile].end());
      ASSERT_EQ(tiles[tile], wanted) << "trial " << trial << ", tile " << tile;
    }
  }
  EXPECT_GT(walks, 20u);
}

TEST(CudaDrawTiles, AreAsSmallAsTheirRoomAllows) {
  const auto tiles = [](std::uint32_t bits, std::uint32_t inner, std::size_t room) {
    std::vector<Bit> all(bits);
    std::iota(all.begin(), all.end(), Bit{0});
    return cuda::draw_order(std::span(all).subspan(inner), std::span(all).first(inner), room).tile_bits;
  };
  constexpr std::size_t kMiB = 1 << 20;
  EXPECT_EQ(tiles(30, 14, 255 * kMiB), 7u);  // totals of 64 MiB
  EXPECT_EQ(tiles(30, 14, 192 * kMiB), 7u);
  EXPECT_EQ(tiles(30, 14, 191 * kMiB), 8u);
  EXPECT_EQ(tiles(33, 17, 255 * kMiB), 10u);
  EXPECT_EQ(tiles(24, 8, 15 * kMiB), 7u);
  EXPECT_EQ(tiles(20, 4, 15 * kMiB), 4u) << "a block is a tile";
  EXPECT_EQ(tiles(16, 0, 15 * kMiB), 0u);
  EXPECT_EQ(tiles(11, 8, 15 * kMiB), 8u) << "too few to be walked";
}

TEST(CudaDrawTiles, TakeNoRoomWhereTheyAreBlocks) {
  const std::vector<Bit> order = {0, 1, 2, 3}, blocks = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  EXPECT_EQ(cuda::tile_totals_bytes(cuda::draw_order(blocks, order, std::size_t{1} << 24)), 0u);
}

}  // namespace
}  // namespace qsim
