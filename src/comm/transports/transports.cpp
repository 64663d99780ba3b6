// Transports between GPUs in order of preference, the fastest first (docs/decisions/0007-transport-order.md); each is
// tested bit by bit before it is used.
#include "comm/gpu/peer/p2p.h"
#include "comm/gpu/staged.h"
#include "comm/launcher.h"
#include "comm/nccl/nccl_transport.h"
#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim {
namespace {

std::unique_ptr<Transport> open_cuda_aware_mpi(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                               Precision precision) {
  if (communicator.name() != "mpi") throw CommunicatorError("the ranks are not MPI processes");
  if (!mpi_is_cuda_aware()) {
    throw CommunicatorError(
        "this MPI library does not take device pointers (docs/mpi.md says how to build one that does)");
  }
  return open_device_mpi_transport(backend, communicator, local_bits, precision);
}

}  // namespace

std::vector<TransportFactory> gpu_transports() {
  return {{"p2p", ExchangeKind::kP2p, open_p2p_transport},
          {"nccl", ExchangeKind::kNccl, open_nccl_transport},
          {"mpi", ExchangeKind::kMpi, open_cuda_aware_mpi},
          {"staged", ExchangeKind::kStaged, open_staged_transport}};
}

}  // namespace qsim
