// Transports that need no peer access: through pinned host memory, or by handing device pointers to a CUDA-aware
// communicator.
#pragma once

#include <memory>

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "device/transport.h"

namespace qsim {

/// Device -> pinned host -> communicator -> pinned host -> device. Works everywhere.
std::unique_ptr<Transport> open_staged_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                                 Precision precision);
/// Device buffers straight through Communicator::exchange; only for a communicator that is CUDA-aware (the caller has
/// asked).
std::unique_ptr<Transport> open_device_mpi_transport(Backend& backend, Communicator& communicator,
                                                     std::uint32_t local_bits, Precision precision);

}  // namespace qsim
