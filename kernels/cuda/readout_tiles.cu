// Shots from sums of tiles: one read of the shard leaves the units of every tile of neighbouring amplitudes, and a draw
// then reads one tile. All in integers, so that the answer is what any other way of adding gives.
#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr int kLaneBits = TileWalk::kLaneBits, kWarpBits = TileWalk::kWarpBits, kStepBits = TileWalk::kStepBits;
constexpr int kSteps = 1 << kStepBits;
static_assert(kReadWarps == 1 << kWarpBits);

/// One read; a warp writes the units of a tile, or of those that its lanes tell apart.
template <class Amplitude>
__global__ void tile_kernel(const Amplitude* data, const __grid_constant__ TileWalk walk, std::uint64_t* sums) {
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  std::uint64_t base = lane, place = 0;
  for (std::uint32_t j = kWarpBits + kStepBits; j < walk.units.count; ++j) {
    const std::uint64_t bit = blockIdx.x >> (j - kWarpBits - kStepBits) & 1;
    base |= bit << walk.units.bits[j];
    place |= bit << walk.unit_place[j];
  }
#pragma unroll
  for (int j = 0; j < kWarpBits; ++j) {
    base |= static_cast<std::uint64_t>(warp >> j & 1) << walk.units.bits[j];
    place |= static_cast<std::uint64_t>(warp >> j & 1) << walk.unit_place[j];
  }
#pragma unroll
  for (int j = 0; j < kLaneBits; ++j) {
    if ((walk.tile_lanes >> j & 1) == 0) place |= static_cast<std::uint64_t>(lane >> j & 1) << walk.lane_place[j];
  }
#pragma unroll 2
  for (int step = 0; step < kSteps; ++step) {
    std::uint64_t at = base, to = place;
#pragma unroll
    for (int j = 0; j < kStepBits; ++j) {
      at |= static_cast<std::uint64_t>(step >> j & 1) << walk.units.bits[kWarpBits + j];
      to |= static_cast<std::uint64_t>(step >> j & 1) << walk.unit_place[kWarpBits + j];
    }
    std::uint64_t sum = 0, loop = 0;
    do {
      const std::uint64_t here = at | loop;
      double2 a[4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        a[k] = load_amplitude(data, here | ((k & 1) != 0 ? walk.ahead[0] : 0) | ((k & 2) != 0 ? walk.ahead[1] : 0));
#pragma unroll
      for (int k = 0; k < 4; ++k) sum += units(a[k]);
      loop = (loop - walk.loop) & walk.loop;
    } while (loop != 0);
#pragma unroll
    for (int j = 0; j < kLaneBits; ++j) {
      if ((walk.tile_lanes >> j & 1) != 0) sum += __shfl_xor_sync(kAllLanes, sum, 1 << j);
    }
    if ((lane & walk.tile_lanes) == 0) sums[to] = sum;
  }
}

__device__ std::uint64_t inclusive_scan(std::uint64_t value) {
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const std::uint64_t below = __shfl_up_sync(kAllLanes, value, offset);
    if (threadIdx.x % 32 >= static_cast<unsigned>(offset)) value += below;
  }
  return value;
}

/// A warp turns the sums of a block's tiles into running totals.
__global__ void running_kernel(std::uint64_t* sums, std::uint32_t tiles_bits, std::uint64_t blocks,
                               std::uint64_t* block_units) {
  const std::uint64_t block = static_cast<std::uint64_t>(blockIdx.x) * kReadWarps + threadIdx.x / 32;
  if (block >= blocks) return;
  const std::uint64_t tiles = std::uint64_t{1} << tiles_bits, lane = threadIdx.x % 32;
  std::uint64_t* const mine = sums + (block << tiles_bits);
  std::uint64_t before = 0;
  for (std::uint64_t first = 0; first < tiles; first += 32) {
    const bool there = first + lane < tiles;
    const std::uint64_t total = before + inclusive_scan(there ? mine[first + lane] : 0);
    if (there) mine[first + lane] = total;
    before = __shfl_sync(kAllLanes, total, 31);
  }
  if (lane == 0) block_units[block] = before;
}

/// The first of 2^bits rising totals that exceeds `place`; the last where none does.
__device__ std::uint64_t first_beyond(const std::uint64_t* totals, std::uint32_t bits, std::uint64_t place) {
  std::uint64_t at = 0;
  for (std::uint64_t half = (std::uint64_t{1} << bits) / 2; half > 0; half /= 2) {
    if (totals[at + half - 1] <= place) at += half;
  }
  return at;
}

/// Where a draw is looked for.
struct DrawTile {
  std::uint64_t number = kDrawnElsewhere;  // its first amplitude, as draws are answered
  std::uint64_t index = 0;                 // of it, in memory
  std::uint64_t offset = 0, units = 0;     // of the draw in the tile, and the tile's
};

__device__ DrawTile tile_of(std::uint64_t place, const DrawOrder& order, const DrawRanks& ranks,
                            const std::uint64_t* ends, const std::uint64_t* running) {
  DrawTile tile;
  const std::uint64_t block = first_beyond(ends, ranks.end_bits, place);
  const std::uint64_t begin = block == 0 ? 0 : ends[block - 1];
  std::uint64_t local = 0, positions = 0;
  for (std::uint32_t j = 0; j < ranks.positions.count; ++j) {
    local |= (block >> ranks.positions.bits[j] & 1) << j;
    positions |= std::uint64_t{1} << ranks.positions.bits[j];
  }
  if ((block & ~positions) != ranks.fixed) return tile;
  tile.offset = place - begin;
  tile.units = ends[block] - begin;
  std::uint64_t at = 0;  // the tile in its block
  if (running != nullptr) {
    const std::uint32_t tiles_bits = order.inner_bits - order.tile_bits;
    running += local << tiles_bits;
    const bool changed = running[(std::uint64_t{1} << tiles_bits) - 1] != tile.units;
    at = first_beyond(running, tiles_bits, tile.offset);
    const std::uint64_t before = at == 0 ? 0 : running[at - 1];
    tile.offset -= before;
    tile.units = changed ? kDrawnNowhere : running[at] - before;
  }
  tile.number = block << order.inner_bits | at << order.tile_bits;
  tile.index = scatter_bits((local << order.inner_bits | at << order.tile_bits) >> order.tile_bits, order.order,
                            order.tile_bits);
  return tile;
}

constexpr int kDrawsAWarp = 16;
constexpr int kAmplitudesALane = 4, kStepAmplitudes = 32 * kAmplitudesALane;  // neighbours, of a tile

/// A warp serves draws that are neighbours: lanes find their tiles, then all read one tile after the other, four
/// amplitudes a lane, and the draws that fall there find theirs by bisection of the lanes' running totals.
template <class Amplitude>
__global__ void draw_kernel(const Amplitude* data, const __grid_constant__ DrawOrder order,
                            const __grid_constant__ DrawRanks ranks, const std::uint64_t* ends,
                            const std::uint64_t* running, const std::uint64_t* places, std::uint64_t count,
                            std::uint64_t* out) {
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint64_t first = (static_cast<std::uint64_t>(blockIdx.x) * kReadWarps + threadIdx.x / 32) * kDrawsAWarp;
  if (first >= count) return;
  const bool mine = lane < kDrawsAWarp && first + lane < count;
  const DrawTile tile = mine ? tile_of(places[first + lane], order, ranks, ends, running) : DrawTile{};
  std::uint64_t found = mine && tile.number != kDrawnElsewhere ? kDrawnNowhere : kDrawnElsewhere;
  const std::uint32_t tile_size = 1u << order.tile_bits;
  std::uint64_t lane_part = 0, parts[2] = {};
  for (std::uint32_t j = 0; j < 2 && j < order.tile_bits; ++j) parts[j] = std::uint64_t{1} << order.order.bits[j];
  for (std::uint32_t j = 2; j < kLeastTileBits && j < order.tile_bits; ++j)
    lane_part |= static_cast<std::uint64_t>(lane >> (j - 2) & 1) << order.order.bits[j];
  std::uint32_t waiting = __ballot_sync(kAllLanes, found == kDrawnNowhere);
  while (waiting != 0) {
    const int leader = __ffs(static_cast<int>(waiting)) - 1;
    const std::uint64_t index = __shfl_sync(kAllLanes, tile.index, leader);
    const bool here = found == kDrawnNowhere && tile.index == index && (waiting >> lane & 1) != 0;
    waiting &= ~__ballot_sync(kAllLanes, here);
    std::uint64_t before = 0, place = kDrawnNowhere;
    for (std::uint32_t step = 0; step < tile_size; step += kStepAmplitudes) {
      std::uint64_t at = index | lane_part;
      for (std::uint32_t j = kLeastTileBits; j < order.tile_bits; ++j)
        at |= static_cast<std::uint64_t>(step >> j & 1) << order.order.bits[j];
      double2 a[kAmplitudesALane];
      std::uint64_t total[kAmplitudesALane], sum = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kAmplitudesALane; ++k) {
        a[k] = {0, 0};
        if (step + kAmplitudesALane * lane + k < tile_size)
          a[k] = load_amplitude(data, at | ((k & 1) != 0 ? parts[0] : 0) | ((k & 2) != 0 ? parts[1] : 0));
      }
#pragma unroll
      for (int k = 0; k < kAmplitudesALane; ++k) total[k] = sum += units(a[k]);
      const std::uint64_t inclusive = before + inclusive_scan(sum), exclusive = inclusive - sum;
      const std::uint64_t after = __shfl_sync(kAllLanes, inclusive, 31);
      const bool reached = here && place == kDrawnNowhere && tile.offset < after;
      if (__any_sync(kAllLanes, reached)) {
        int low = 0;  // first lane whose inclusive total exceeds the draw
#pragma unroll
        for (int half = 16; half > 0; half /= 2) {
          if (__shfl_sync(kAllLanes, inclusive, low + half - 1) <= tile.offset) low += half;
        }
        low = min(low, 31);
        const std::uint64_t begin = __shfl_sync(kAllLanes, exclusive, low);
        std::uint32_t within = 0;
#pragma unroll
        for (int k = 0; k + 1 < kAmplitudesALane; ++k)
          within += begin + __shfl_sync(kAllLanes, total[k], low) <= tile.offset ? 1 : 0;
        if (reached) place = step + kAmplitudesALane * static_cast<std::uint32_t>(low) + within;
      }
      before = after;
    }
    if (here && place != kDrawnNowhere && before == tile.units) found = tile.number | place;
  }
  if (mine) out[first + lane] = found;
}

unsigned blocks_of_warps(std::uint64_t warps) { return static_cast<unsigned>((warps + kReadWarps - 1) / kReadWarps); }

}  // namespace

void launch_tile_units(Shard shard, const DrawOrder& order, const TileWalk& walk, std::uint64_t* running,
                       std::uint64_t* block_units, cudaStream_t stream) {
  const unsigned grid = 1u << (walk.units.count - kWarpBits - kStepBits);
  with_amplitudes(shard, [&](auto* data) { tile_kernel<<<grid, kReadThreads, 0, stream>>>(data, walk, running); });
  const std::uint64_t blocks = std::uint64_t{1} << (shard.local_bits - order.inner_bits);
  running_kernel<<<blocks_of_warps(blocks), kReadThreads, 0, stream>>>(running, order.inner_bits - order.tile_bits,
                                                                       blocks, block_units);
}

void launch_draws(Shard shard, const DrawOrder& order, const DrawRanks& ranks, const std::uint64_t* ends,
                  const std::uint64_t* running, const std::uint64_t* places, std::uint64_t count, std::uint64_t* out,
                  cudaStream_t stream) {
  if (count == 0) return;
  const unsigned grid = blocks_of_warps((count + kDrawsAWarp - 1) / kDrawsAWarp);
  with_amplitudes(shard, [&](auto* data) {
    draw_kernel<<<grid, kReadThreads, 0, stream>>>(data, order, ranks, ends, running, places, count, out);
  });
}

}  // namespace qsim::cuda
