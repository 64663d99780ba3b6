// What every communicator must do, whatever carries its messages; each check runs on all ranks of a group.
#pragma once

#include "base/ranks/communicator.h"

namespace qsim::test {

/// Runs all checks with EXPECT_*; collective.
void check_communicator(Communicator& communicator);

}  // namespace qsim::test
