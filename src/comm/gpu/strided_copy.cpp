// Long runs go to the copy engines, which leave the multiprocessors to the sweeps; short or scattered ones to a kernel
// that moves a view in one launch.
#include "comm/gpu/strided_copy.h"

#include "comm/gpu/driver.h"
#include "kernels/cuda/state.h"

namespace qsim {
namespace {

// Shorter rows keep a copy engine below the link's rate; less in each of several commands costs more to start than to
// move (docs/decisions/0007). Kernels do not mind.
constexpr std::uint64_t kEngineRunBytes = 256 << 10, kEngineCommandBytes = 4 << 20;

void copy_by_kernel(ShardShape shape, ChunkView view, std::byte* shard, std::byte* buffer, std::uint64_t count,
                    bool to_view, cudaStream_t stream) {
  const cuda::ViewMap map = cuda::view_map(shape.local_bits, view.mask, view.value);
  const cudaError_t status =
      shape.amplitude_bytes == amplitude_bytes(Precision::kDouble)
          ? cuda::launch_pack<double>(reinterpret_cast<double2*>(shard), reinterpret_cast<double2*>(buffer), map, count,
                                      to_view, stream)
          : cuda::launch_pack<float>(reinterpret_cast<float2*>(shard), reinterpret_cast<float2*>(buffer), map, count,
                                     to_view, stream);
  check_cuda(status, "launch of a chunk copy");
}

}  // namespace

bool suits_copy_engine(const ViewRuns& runs) {
  if (runs.one()) return true;
  return runs.run_bytes >= kEngineRunBytes &&
         (runs.offsets.size() == 1 || runs.run_bytes * runs.count >= kEngineCommandBytes);
}

void copy_view_to_buffer(ShardShape shape, ChunkView view, const std::byte* shard, std::byte* buffer,
                         cudaStream_t stream) {
  const ViewRuns runs = view_runs(shape, view);
  if (!suits_copy_engine(runs)) {
    // The kernel reads the shard only: it packs.
    copy_by_kernel(shape, view, const_cast<std::byte*>(shard), buffer, runs.bytes() / shape.amplitude_bytes, false,
                   stream);
    return;
  }
  for (const std::uint64_t offset : runs.offsets) {
    const std::byte* from = shard + offset;
    check_cuda(runs.count == 1 ? cudaMemcpyAsync(buffer, from, runs.run_bytes, cudaMemcpyDefault, stream)
                               : cudaMemcpy2DAsync(buffer, runs.run_bytes, from, runs.stride_bytes, runs.run_bytes,
                                                   runs.count, cudaMemcpyDefault, stream),
               "copy of a chunk into a slot");
    buffer += runs.run_bytes * runs.count;
  }
}

void copy_buffer_to_view(ShardShape shape, ChunkView view, std::byte* buffer, std::byte* shard, cudaStream_t stream) {
  const ViewRuns runs = view_runs(shape, view);
  if (!suits_copy_engine(runs)) {
    copy_by_kernel(shape, view, shard, buffer, runs.bytes() / shape.amplitude_bytes, true, stream);
    return;
  }
  for (const std::uint64_t offset : runs.offsets) {
    std::byte* to = shard + offset;
    check_cuda(runs.count == 1 ? cudaMemcpyAsync(to, buffer, runs.run_bytes, cudaMemcpyDefault, stream)
                               : cudaMemcpy2DAsync(to, runs.stride_bytes, buffer, runs.run_bytes, runs.run_bytes,
                                                   runs.count, cudaMemcpyDefault, stream),
               "copy of a chunk into place");
    buffer += runs.run_bytes * runs.count;
  }
}

}  // namespace qsim
