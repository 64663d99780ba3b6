// Copies between a view of a shard (runs at regular strides) and a contiguous buffer, by the copy engines.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "qsim/backend.h"

namespace qsim {

struct ShardShape {
  std::uint32_t local_bits = 0;
  std::size_t amplitude_bytes = 16;
};

/// A view as memory: `count` runs of `run_bytes`, `stride_bytes` apart, the whole repeated at `offsets`.
struct ViewRuns {
  std::uint64_t run_bytes = 0;
  std::uint64_t count = 1;
  std::uint64_t stride_bytes = 0;
  std::vector<std::uint64_t> offsets;  // bytes from the shard's start, in the order of the packed buffer
};

/// The runs of `view`, as few groups as two-dimensional copies allow.
ViewRuns view_runs(ShardShape shape, ChunkView view);

/// Enqueues shard -> buffer and buffer -> shard; the shard may be a peer's.
void copy_view_to_buffer(ShardShape shape, ChunkView view, const std::byte* shard, std::byte* buffer,
                         cudaStream_t stream);
void copy_buffer_to_view(ShardShape shape, ChunkView view, const std::byte* buffer, std::byte* shard,
                         cudaStream_t stream);

}  // namespace qsim
