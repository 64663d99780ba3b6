// The few driver calls that peer transports need, resolved when the first transport opens (the program does not link
// libcuda), and how they wait for a device.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "device/backend.h"
#include "qsim/error.h"

namespace qsim {

/// Throws DeviceError naming `call` unless `status` is success.
void check_cuda(cudaError_t status, const char* call);

/// The stream behind a lane of a backend that has DeviceQueues.
inline cudaStream_t lane_stream(Backend& backend, int lane) {
  DeviceQueues* const queues = backend.abilities().queues;
  if (queues == nullptr) throw Error("a transport between GPUs for a backend without streams");
  return static_cast<cudaStream_t>(queues->native_lane(lane));
}

/// Base and size of the device allocation that holds `address`. DeviceError when libcuda is not there.
std::pair<std::byte*, std::size_t> device_allocation(const void* address);

/// Between two questions whether a device is done. Threads that ask without pause hold locks of the driver under which
/// other ranks' threads of the process enqueue their work.
class AskAgain {
 public:
  explicit AskAgain(std::chrono::seconds patience) : patience_(patience) {}
  /// Pauses, shortly at first; false when patience is over.
  bool pause();
  void restart() { start_ = Clock::now(); }

 private:
  std::chrono::seconds patience_;
  Clock::time_point start_ = Clock::now();
  int asked_ = 0;
};

}  // namespace qsim
