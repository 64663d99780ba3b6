// Read-outs of one shard on the device: launches, slices that fit the scratch, and answers on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/readout.h"
#include "qsim/backend.h"

namespace qsim::cuda {

/// Every call enqueues on `stream`, waits for it and returns the shard's own share; sums over ranks are the caller's.
/// Meanings are Backend's. Only answers cross to the host.
class ReadOuts {
 public:
  /// Least scratch that every read-out can work with (larger is faster for histograms and samples of many bits).
  static constexpr std::size_t kMinScratchBytes = std::size_t{16} << 20;
  static constexpr std::size_t kAnswerDoubles = 4096;
  /// Of the scratch, what sums and short answers take.
  static constexpr std::size_t kFixedBytes = (kSumScratchDoubles + kAnswerDoubles) * sizeof(double);

  ReadOuts(Shard shard, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

  double norm();
  void bit_probabilities(std::span<double> out);
  /// out[b] = sum of the values whose number has bit b, the total last; the 2^(out.size() - 1) values are on the
  /// device, in the scratch past its first kFixedBytes.
  void bit_sums(const double* values, std::span<double> out);
  void histogram(std::span<const Bit> bits, std::span<double> out);
  void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out);
  void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
              std::span<Index> out);
  bool draw(const DrawBlocks& blocks, std::span<const std::uint64_t> shots, std::uint64_t seed, std::uint64_t stream,
            std::vector<Index>& found);
  std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank);
  void pauli_sums(Index x_mask, std::span<const Index> z_masks, std::span<Complex> out);
  /// Every group's launches are enqueued before the first answer is waited for.
  void pauli_group_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out);
  void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                         const std::byte* partners, std::span<Complex> out);
  Complex inner_product(const std::byte* left);
  std::uint64_t checksum(const ViewMap& map, std::uint64_t count);
  void read_amplitudes(std::span<const Index> indices, std::span<Complex> out);

 private:
  template <class Value, class Launch>
  void sliced_histogram(ChunkView view, std::span<const Bit> bits, std::span<Value> out, Launch launch);
  std::vector<unsigned long long> radix_counts(const Ranking& ranking, const RadixStep& step);
  /// `launch` is given groups of at most kPauliBatch masks and where their answers go, 2 kPauliBatch apart.
  template <class Launch>
  void batched_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out,
                          Launch launch);
  void send(void* device, const void* host, std::size_t bytes);
  /// Copies device results to `host` and waits.
  void fetch(void* host, const void* device, std::size_t bytes);

  Shard shard_;
  double* sums_;     // kSumScratchDoubles
  double* answer_;   // kAnswerDoubles of results
  std::byte* rest_;  // what is left of the scratch
  std::size_t rest_bytes_;
  cudaStream_t stream_;
};

}  // namespace qsim::cuda
