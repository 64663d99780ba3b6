// Copies between devices on the backend's own lanes.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>

#include "benchmarks/exchange_reference.h"
#include "comm/gpu/driver.h"
#include "comm/gpu/peer/peer_memory.h"
#include "device/abilities.h"
#include "plan/cost/pool_layout.h"

namespace qsim {

double copy_engine_seconds(Backend& backend, Communicator& communicator, std::span<const int> partners,
                           std::uint64_t bytes, const PoolLayout& pool, int repeats) {
  DeviceQueues* const queues = backend.abilities().queues;
  if (!backend.state().on_device || queues == nullptr) return 0;
  const PeerMemory states(communicator, backend.state());
  const auto lanes = static_cast<std::uint32_t>(backend.lanes());
  const std::uint64_t piece = std::min(bytes, pool.chunk_bytes);
  double best = 1e9;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    backend.synchronize();
    communicator.barrier();
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t turn = 0;
    for (std::uint64_t offset = 0; offset < bytes; offset += piece) {
      for (const int partner : partners) {
        const int peer = communicator.rank() ^ partner;
        const auto stream = static_cast<cudaStream_t>(queues->native_lane(static_cast<int>(turn % lanes)));
        check_cuda(cudaMemcpyAsync(backend.slot(turn % pool.chunk_slots).data, states.region(peer) + offset, piece,
                                   cudaMemcpyDefault, stream),
                   "cudaMemcpyAsync from a peer");
        ++turn;
      }
    }
    backend.synchronize();
    communicator.barrier();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (repeat > 0) best = std::min(best, seconds);
  }
  communicator.barrier();  // nobody unmaps memory that another one reads
  return best;
}

}  // namespace qsim
