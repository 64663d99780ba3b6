// The few driver calls that peer transports need, resolved when the first transport opens (the program does not link
// libcuda).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace qsim {

/// Throws DeviceError naming `call` unless `status` is success.
void check_cuda(cudaError_t status, const char* call);

/// Driver entry points; resolve() throws DeviceError when libcuda is not there.
struct StreamMemoryDriver {
  int (*write_value32)(cudaStream_t stream, std::uintptr_t address, std::uint32_t value, unsigned flags) = nullptr;
  int (*wait_value32)(cudaStream_t stream, std::uintptr_t address, std::uint32_t value, unsigned flags) = nullptr;
  int (*address_range)(std::uintptr_t* base, std::size_t* bytes, std::uintptr_t address) = nullptr;

  static StreamMemoryDriver resolve();
  /// Enqueues: *address = value, after everything before it in the stream is visible.
  void write(cudaStream_t stream, std::uint32_t* address, std::uint32_t value) const;
  /// Enqueues: wait until *address - value >= 0 (cyclic).
  void wait(cudaStream_t stream, std::uint32_t* address, std::uint32_t value) const;
  /// Base and size of the allocation that holds `address`.
  std::pair<std::byte*, std::size_t> allocation(const void* address) const;
};

}  // namespace qsim
