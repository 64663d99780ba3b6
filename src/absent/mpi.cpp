// What stands in for src/comm/mpi when the library is built without MPI.
#include "base/ranks/communicator.h"
#include "comm/launcher.h"

namespace qsim {

std::unique_ptr<Communicator> make_mpi_communicator() { return nullptr; }

std::string mpi_library_version() { return {}; }

bool mpi_is_cuda_aware() { return false; }

}  // namespace qsim
