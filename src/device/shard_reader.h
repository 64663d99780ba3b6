// Questions about one shard of a state, on whatever device it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/layout.h"
#include "device/views.h"
#include "qsim/types.h"

namespace qsim {

/// K most probable: local physical index and probability.
struct IndexProbability {
  Index index = 0;
  double probability = 0;
};

/// Pauli strings of one X part: z_masks [begin, begin + count) of a list.
struct PauliGroup {
  Index x_mask = 0;
  std::uint32_t begin = 0, count = 0;
};

/// A draw inside a block of amplitudes: find the first amplitude of the block, in the order given by `order` bits,
/// whose running total of units exceeds `offset`.
struct UnitDraw {
  Index block = 0;
  std::uint64_t offset = 0;
};

/// Answers are of the shard; sums over ranks are the caller's. Every call waits for its answer.
class ShardReader {
 public:
  virtual ~ShardReader() = default;

  virtual double norm() = 0;  // compensated sum of |a|^2
  /// out[b] = probability that local bit b is 1; out[local_bits] = total.
  virtual void bit_probabilities(std::span<double> out) = 0;
  /// out[v] = probability that bits[j] equals bit j of v; out.size() == 2^bits.size(), at most 2^26.
  virtual void histogram(std::span<const Bit> bits, std::span<double> out) = 0;
  /// The same in integer units: each amplitude counts round(|a|^2 2^62) units.
  virtual void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) = 0;
  /// For each draw (ascending by block, then offset): blocks are named by the values of `block_bits`; inside a block
  /// amplitudes are ordered by `order` (least significant first; the remaining local bits). Returns the local index
  /// found.
  virtual void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
                      std::span<Index> out) = 0;
  /// The `count` most probable local amplitudes by falling probability: |a|^2 of what is stored, re * re + im * im in
  /// double. Ties, to the last digit, go to the lowest logical index, which `layout` and `rank` name.
  virtual std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank) = 0;
  /// For every group: out[j] = sum over local i of conj(a[i ^ x_mask]) a[i] (-1)^popcount(i & z_masks[j]); x_mask
  /// local, so both ends are here. Bits of z_masks beyond the shard do not matter; out is as long as z_masks.
  virtual void pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                          std::span<Complex> out) = 0;
  /// For every group, over this shard's i of `view`, where the partners a[i ^ x_mask] are another rank's: `slot` holds
  /// that rank's amplitudes of the view {view.mask, view.value ^ (x_mask & view.mask)}, packed; x_mask & view.mask is
  /// the same for all groups, and view.mask the shard's highest bits. Masks have the bits beyond the shard as well. Of
  /// the sum that pauli_sums gives, out[j] is the part which the partner's sum does not cancel: the real one where
  /// x_mask and z_masks[j] share an even number of bits, otherwise the imaginary one.
  virtual void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                                 std::uint32_t slot, std::span<Complex> out) = 0;
  /// Sum over local i of conj(snapshot[i]) state[i].
  virtual Complex inner_product(std::uint32_t snapshot) = 0;
  /// Sum, modulo 2^64, over the view of a hash of each amplitude's bits and its place in the view: equal contents give
  /// equal sums on every backend and whatever the view's fixed bits; a changed bit or two amplitudes that changed
  /// places do not.
  virtual std::uint64_t checksum(ChunkView view) = 0;
  virtual void read_amplitudes(std::span<const Index> indices, std::span<Complex> out) = 0;
  /// Copies amplitudes [first, first + count) in the state's precision to host memory.
  virtual void copy_out(Index first, Index count, std::byte* host) = 0;
};

}  // namespace qsim
