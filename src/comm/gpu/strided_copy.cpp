// Copy-engine work for one view: one copy a group of runs.
#include "comm/gpu/strided_copy.h"

#include "comm/gpu/driver.h"

namespace qsim {
namespace {

/// Enqueues one group: `count` runs, contiguous on one side and `stride` apart on the other.
void copy_runs(std::byte* to, std::uint64_t to_stride, const std::byte* from, std::uint64_t from_stride,
               const ViewRuns& runs, cudaStream_t stream) {
  if (runs.count == 1) {
    check_cuda(cudaMemcpyAsync(to, from, runs.run_bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync of a chunk");
    return;
  }
  check_cuda(cudaMemcpy2DAsync(to, to_stride, from, from_stride, runs.run_bytes, runs.count, cudaMemcpyDefault, stream),
             "cudaMemcpy2DAsync of a chunk");
}

}  // namespace

void copy_view_to_buffer(ShardShape shape, ChunkView view, const std::byte* shard, std::byte* buffer,
                         cudaStream_t stream) {
  const ViewRuns runs = view_runs(shape, view);
  for (const std::uint64_t offset : runs.offsets) {
    copy_runs(buffer, runs.run_bytes, shard + offset, runs.stride_bytes, runs, stream);
    buffer += runs.run_bytes * runs.count;
  }
}

void copy_buffer_to_view(ShardShape shape, ChunkView view, const std::byte* buffer, std::byte* shard,
                         cudaStream_t stream) {
  const ViewRuns runs = view_runs(shape, view);
  for (const std::uint64_t offset : runs.offsets) {
    copy_runs(shard + offset, runs.stride_bytes, buffer, runs.run_bytes, runs, stream);
    buffer += runs.run_bytes * runs.count;
  }
}

}  // namespace qsim
