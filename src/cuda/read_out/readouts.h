// Read-outs of one shard on the device: launches, slices that fit the scratch, and answers on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/gpu/pinned_buffer.h"
#include "cuda/device.h"
#include "cuda/read_out/pauli_trips.h"
#include "cuda/run/bit_sums.h"
#include "device/backend.h"
#include "kernels/cuda/readout.h"

namespace qsim::cuda {

/// Every call enqueues on `stream`, waits for it and returns the shard's own share; sums over ranks are the caller's.
/// Meanings are Backend's. Only answers cross to the host.
class ReadOuts {
 public:
  /// Least scratch that every read-out can work with (larger is faster for histograms and samples of many bits).
  static constexpr std::size_t kMinScratchBytes = std::size_t{16} << 20;
  /// Of that scratch, where sweeps may leave their sums of bits; nothing where it is too small for read-outs.
  static BitSumMemory bit_sum_memory(std::byte* scratch, std::size_t scratch_bytes);

  /// `copies`: another stream, for answers that cross to the host while `stream` goes on.
  ReadOuts(Shard shard, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream, cudaStream_t copies);

  /// The shard is elsewhere now.
  void look_at(std::byte* state) { shard_.data = state; }

  double norm();
  void bit_probabilities(std::span<double> out);
  /// The same from what a sweep has left in bit_sum_memory(): no other read-out may have come between.
  void swept_bit_probabilities(const SweptBits& swept, std::span<double> out);
  void histogram(std::span<const Bit> bits, std::span<double> out);
  void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out);
  void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
              std::span<Index> out);
  bool begin_blocks(std::span<const Bit> block_bits, std::span<const Bit> order);
  bool blocks_ready() const;
  void take_blocks(std::span<std::uint64_t> out);
  bool draw(const DrawBlocks& blocks, const ShotNumbers& shots, std::uint64_t seed, std::uint64_t stream,
            const DrawTaker& take);
  std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank);
  /// Every group's launches are enqueued before the first answer is waited for.
  void pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out);
  void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                         const std::byte* partners, std::span<Complex> out);
  Complex inner_product(const std::byte* left);
  std::uint64_t checksum(const ViewMap& map, std::uint64_t count);
  void read_amplitudes(std::span<const Index> indices, std::span<Complex> out);

 private:
  static constexpr std::size_t kDrawSlots = 4;  // pieces of draws that are under way together

  template <class Value, class Launch>
  void sliced_histogram(ChunkView view, std::span<const Bit> bits, std::span<Value> out, Launch launch);
  std::vector<unsigned long long> radix_counts(const Ranking& ranking, const RadixStep& step);
  void batched_pauli_sums(const Shard& part, PauliPartners partners, std::span<const PauliGroup> groups,
                          std::span<const Index> z_masks, std::span<Complex> out);
  void spanned_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out);
  void trip_pauli_sums(std::span<const PauliMember> members, std::span<Complex> out);
  struct Drawing;
  void take_draws(const Drawing& drawing, std::size_t count, const DrawTaker& take);
  /// Memory of read-outs, which take what tiles' sums had.
  std::byte* use_room() {
    tiled_ = {};
    return room_;
  }
  void send(void* device, const void* host, std::size_t bytes);
  /// Copies device results to `host`, after what `stream` has been given, and waits.
  void fetch(void* host, const void* device, std::size_t bytes, cudaStream_t stream);
  void fetch(void* host, const void* device, std::size_t bytes) { fetch(host, device, bytes, stream_); }

  Shard shard_;
  double* sums_;     // kSumScratchDoubles
  double* answer_;   // kAnswerDoubles of results (readouts.cpp)
  std::byte* room_;  // what is left of the scratch
  std::size_t room_bytes_;
  cudaStream_t stream_, copies_;
  DrawOrder tiled_;                                // whose running totals are in room_; of no bits: none
  std::optional<PinnedBuffer> pieces_;             // of draws, on their way to the host
  std::array<Event, kDrawSlots> drawn_, arrived_;  // by slot of those
};

}  // namespace qsim::cuda
