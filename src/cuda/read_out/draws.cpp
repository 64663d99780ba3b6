// Shots on the device: blocks' units and tiles' running totals in one read of the shard, then draws piece by piece.
#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "comm/gpu/driver.h"
#include "cuda/read_out/draw_tiles.h"
#include "cuda/read_out/readouts.h"

namespace qsim::cuda {
namespace {

constexpr std::size_t kManyDraws = std::size_t{1} << 14;   // fewer are drawn by the host as fast
constexpr std::size_t kPieceDraws = std::size_t{1} << 16;  // the host takes one piece, the device finds the next
constexpr std::size_t kNumber = sizeof(std::uint64_t);

}  // namespace

/// Where a batch of draws is on the device.
struct ReadOuts::Drawing {
  DrawOrder order;
  DrawRanks ranks;
  const std::uint64_t* ends = nullptr;
  const std::uint64_t* running = nullptr;
  const std::uint64_t* places = nullptr;
  std::uint64_t* found = nullptr;
};

bool ReadOuts::begin_blocks(std::span<const Bit> block_bits, std::span<const Bit> order) {
  const DrawOrder wanted = draw_order(block_bits, order, room_bytes_);
  const std::optional<TileWalk> walk = tile_walk(wanted);
  const std::size_t totals = tile_totals_bytes(wanted);
  if (!walk || totals + (kNumber << block_bits.size()) > room_bytes_) return false;
  auto* const running = reinterpret_cast<std::uint64_t*>(use_room());
  launch_tile_units(shard_, wanted, *walk, running, running + totals / kNumber, stream_);
  check_cuda(cudaGetLastError(), "launch of a read-out kernel");
  tiled_ = wanted;
  return true;
}

bool ReadOuts::blocks_ready() const {
  const cudaError_t status = cudaStreamQuery(stream_);
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();  // it is noted as if it were an error
    return false;
  }
  check_cuda(status, "cudaStreamQuery of a read-out");
  return true;
}

void ReadOuts::take_blocks(std::span<std::uint64_t> out) {
  fetch(out.data(), room_ + tile_totals_bytes(tiled_), out.size_bytes());
}

bool ReadOuts::draw(const DrawBlocks& blocks, const ShotNumbers& shots, std::uint64_t seed, std::uint64_t stream,
                    const DrawTaker& take) {
  if (shots.size() < kManyDraws) return false;
  Drawing drawing;
  drawing.order = draw_order(blocks.block_bits, blocks.order, room_bytes_);
  // Room: the tiles' totals, then those of all blocks, and for a batch of draws their places twice, the numbers that
  // are listed, and what the sort needs.
  const std::size_t totals = tile_totals_bytes(drawing.order);
  const std::size_t arrays = shots.listed.empty() ? 2 : 3;
  const std::size_t fixed = totals + blocks.ends.size_bytes();
  std::size_t capacity = shots.size();
  std::size_t sort_bytes = 0;
  const auto fits = [&] {
    check_cuda(sort_scratch_bytes(capacity, sort_bytes), "size of a sort of draws");
    return fixed + arrays * capacity * kNumber + sort_bytes + 256 <= room_bytes_;
  };
  while (capacity >= kManyDraws && !fits()) capacity = capacity * 7 / 8;
  if (capacity < kManyDraws || totals + (kNumber << blocks.block_bits.size()) > room_bytes_) return false;
  // Another read-out may have come between.
  if (totals == 0) (void)use_room();
  if (totals > 0 && tiled_ != drawing.order && !begin_blocks(blocks.block_bits, blocks.order)) return false;
  auto* const ends = reinterpret_cast<std::uint64_t*>(room_ + totals);
  std::uint64_t* const unsorted = ends + blocks.ends.size();
  std::uint64_t* const sorted = unsorted + capacity;
  std::uint64_t* const numbers = sorted + capacity;
  auto* const after = reinterpret_cast<std::byte*>(sorted + (arrays - 1) * capacity);
  std::byte* const scratch = after + (256 - reinterpret_cast<std::uintptr_t>(after) % 256) % 256;
  std::vector<Bit> positions;
  for_each_bit(blocks.local_positions, [&](unsigned bit) { positions.push_back(static_cast<Bit>(bit)); });
  drawing.ranks = {bit_list(positions), blocks.fixed,
                   static_cast<std::uint32_t>(std::bit_width(blocks.ends.size()) - 1)};
  drawing.ends = ends;
  drawing.running = totals > 0 ? reinterpret_cast<const std::uint64_t*>(room_) : nullptr;
  drawing.places = sorted;
  drawing.found = unsorted;
  send(ends, blocks.ends.data(), blocks.ends.size_bytes());
  for (std::size_t first = 0; first < shots.size(); first += capacity) {
    const ShotNumbers batch = shots.part(first, std::min<std::uint64_t>(capacity, shots.size() - first));
    if (!batch.listed.empty()) send(numbers, batch.listed.data(), batch.listed.size_bytes());
    check_cuda(launch_sorted_places(batch.listed.empty() ? nullptr : numbers, batch.first, batch.size(), seed, stream,
                                    blocks.ends.back(), unsorted, sorted, scratch, sort_bytes, stream_),
               "sort of draws");
    take_draws(drawing, batch.size(), take);
  }
  return true;
}

// A piece crosses to the host, and is taken there, while the device finds the next ones.
void ReadOuts::take_draws(const Drawing& drawing, std::size_t count, const DrawTaker& take) {
  static_assert(kDrawSlots * kPieceDraws * kNumber <= kDrawerHostBytes);
  if (!pieces_) pieces_.emplace(kDrawSlots * kPieceDraws * kNumber, check_cuda);
  auto* const slots = static_cast<std::uint64_t*>(pieces_->data());
  const std::size_t pieces = (count + kPieceDraws - 1) / kPieceDraws;
  const auto size_of = [&](std::size_t piece) { return std::min(kPieceDraws, count - piece * kPieceDraws); };
  for (std::size_t piece = 0; piece < pieces + kDrawSlots; ++piece) {
    if (piece >= kDrawSlots && piece - kDrawSlots < pieces) {
      const std::size_t ready = piece - kDrawSlots, slot = ready % kDrawSlots;
      check_cuda(cudaEventSynchronize(arrived_[slot].get()), "cudaEventSynchronize of draws");
      std::span<std::uint64_t> found(slots + slot * kPieceDraws, size_of(ready));
      if (drawing.ranks.positions.count < drawing.ranks.end_bits) {
        const auto end = std::remove(found.begin(), found.end(), kDrawnElsewhere);
        found = found.first(static_cast<std::size_t>(end - found.begin()));
      }
      take(found);
    }
    if (piece >= pieces) continue;
    const std::size_t slot = piece % kDrawSlots, begin = piece * kPieceDraws;
    launch_draws(shard_, drawing.order, drawing.ranks, drawing.ends, drawing.running, drawing.places + begin,
                 size_of(piece), drawing.found + begin, stream_);
    check_cuda(cudaGetLastError(), "launch of a read-out kernel");
    check_cuda(cudaEventRecord(drawn_[slot].get(), stream_), "cudaEventRecord of draws");
    check_cuda(cudaStreamWaitEvent(copies_, drawn_[slot].get()), "cudaStreamWaitEvent of draws");
    check_cuda(cudaMemcpyAsync(slots + slot * kPieceDraws, drawing.found + begin, size_of(piece) * kNumber,
                               cudaMemcpyDeviceToHost, copies_),
               "cudaMemcpyAsync of draws");
    check_cuda(cudaEventRecord(arrived_[slot].get(), copies_), "cudaEventRecord of draws");
  }
}

}  // namespace qsim::cuda
