// Stands in for src/comm/nccl in a CUDA build without NCCL.
#include "comm/nccl/nccl_transport.h"
#include "qsim/error.h"

namespace qsim {

std::unique_ptr<Transport> open_nccl_transport(Backend&, Communicator&, std::uint32_t, Precision) {
  throw CommunicatorError("this qsim was built without NCCL");
}

std::string nccl_version() { return {}; }

}  // namespace qsim
