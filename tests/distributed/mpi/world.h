// The one communicator of the MPI tests.
#pragma once

#include "qsim/communicator.h"

namespace qsim::test {
Communicator& mpi_world();
}  // namespace qsim::test
