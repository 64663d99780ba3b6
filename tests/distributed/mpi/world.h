// The one communicator of the MPI tests.
#pragma once

#include "base/ranks/communicator.h"

namespace qsim::test {
Communicator& mpi_world();
}  // namespace qsim::test
