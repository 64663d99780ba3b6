// Copies between a view of a shard (runs at regular strides) and a contiguous buffer in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "device/views.h"

namespace qsim {

/// Whether a few copy-engine commands move a view of these runs at full rate.
bool suits_copy_engine(const ViewRuns& runs);

/// Enqueues shard -> buffer and buffer -> shard; the shard may be a peer's.
void copy_view_to_buffer(ShardShape shape, ChunkView view, const std::byte* shard, std::byte* buffer,
                         cudaStream_t stream);
void copy_buffer_to_view(ShardShape shape, ChunkView view, std::byte* buffer, std::byte* shard, cudaStream_t stream);

}  // namespace qsim
