// Other ranks' device memory mapped into this process: plain pointers between threads, CUDA IPC between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ranks/communicator.h"
#include "device/backend.h"

namespace qsim {

/// One region of device memory of every rank, addressable here. Collective to make; throws CommunicatorError, on every
/// rank, when any pair of ranks cannot map each other's memory.
class PeerMemory {
 public:
  /// `own` is this rank's region (inside any allocation of the current device).
  PeerMemory(Communicator& communicator, MemoryRegion own);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// Start of `rank`'s region as this process addresses it.
  std::byte* region(int rank) const { return regions_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::byte*> regions_;
  std::vector<void*> opened_;  // IPC mappings to close
};

}  // namespace qsim
