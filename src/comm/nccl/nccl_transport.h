// NCCL transport: chunks travel by ncclSend and ncclRecv on the lanes' streams.
#pragma once

#include <memory>
#include <string>

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "device/transport.h"

namespace qsim {

/// Collective. Loads libnccl on first use; throws CommunicatorError (on every rank) where it is missing or cannot
/// start.
std::unique_ptr<Transport> open_nccl_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                               Precision precision);
/// "2.28.3", or "" when the library cannot be loaded.
std::string nccl_version();

}  // namespace qsim
