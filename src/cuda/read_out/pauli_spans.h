// Pauli strings of different X parts, packed into tiles that they span: one trip over the shard for each nine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/shard_reader.h"
#include "kernels/cuda/readout.h"

namespace qsim::cuda {

/// Shards from here on are summed so: smaller ones stay in the second-level cache, and have few tiles for many blocks.
constexpr std::uint32_t kLeastSpannedBits = 20;

struct PackedSpan {
  PauliSpan span;
  std::vector<std::uint32_t> places;  // of its strings' sums
};
struct PackedSums {
  std::vector<PackedSpan> spans;
  std::vector<PauliGroup> apart;  // without an X part, or alone
};

/// `z_masks` and the groups' places as in ShardReader::pauli_sums. Groups are packed in order; a tile has the three
/// lowest bits, so that memory is read in runs.
PackedSums pack_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                           std::uint32_t local_bits);

}  // namespace qsim::cuda
