// Peer-memory transport: each rank pulls its partner's chunk over NVLink (or PCIe) into its ring slot, then stores it
// in place.
#pragma once

#include <memory>

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "device/transport.h"

namespace qsim {

/// Collective. Throws CommunicatorError (on every rank) where ranks cannot map each other's memory.
std::unique_ptr<Transport> open_p2p_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                              Precision precision);

}  // namespace qsim
