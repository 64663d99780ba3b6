// Parts of a shard: what they are, what ranks trade, and where they lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qsim/types.h"

namespace qsim {

/// The amplitudes of a shard whose local index satisfies (index & mask) == value, in ascending order. {0, 0} is all of
/// it.
struct ChunkView {
  Index mask = 0, value = 0;
};

/// This shard's view `mine` against `peer`'s `theirs` (equal sizes), through ring slot `slot`.
struct Trade {
  ChunkView mine, theirs;
  int peer = 0;
  std::uint32_t slot = 0;
};

struct ShardShape {
  std::uint32_t local_bits = 0;
  std::size_t amplitude_bytes = 16;
};

/// `count` runs of `run_bytes`, `stride_bytes` apart, the whole repeated at `offsets`.
struct ViewRuns {
  std::uint64_t run_bytes = 0;
  std::uint64_t count = 1;
  std::uint64_t stride_bytes = 0;      // at most 1 GiB: two-dimensional copies take strides below 2 GiB
  std::vector<std::uint64_t> offsets;  // bytes from the shard's start, in the order of the packed buffer

  bool one() const { return count == 1 && offsets.size() == 1; }
  std::uint64_t bytes() const { return run_bytes * count * offsets.size(); }
};

/// The runs of `view`, in as few groups as two-dimensional copies allow.
ViewRuns view_runs(ShardShape shape, ChunkView view);

}  // namespace qsim
