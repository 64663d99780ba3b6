// The few driver calls that peer transports need, resolved when the first transport opens (the program does not link
// libcuda).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace qsim {

/// Throws DeviceError naming `call` unless `status` is success.
void check_cuda(cudaError_t status, const char* call);

/// Base and size of the device allocation that holds `address`. DeviceError when libcuda is not there.
std::pair<std::byte*, std::size_t> device_allocation(const void* address);

}  // namespace qsim
