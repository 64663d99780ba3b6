// Errors that every rank must have alike: the worst code wins and all ranks throw the same.
#pragma once

#include <functional>

#include "qsim/communicator.h"

namespace qsim {

/// Runs `step` on this rank; if it failed on any rank, every rank throws the same error. Collective. Errors that are
/// not of the library become Error.
void together(Communicator& communicator, const std::function<void()>& step);

/// Runs a step between agreements, whose errors only this rank may have: of MPI ranks they end the job, with this
/// rank's message and code; thread ranks are released by their group. Verification and Unsupported errors pass: they
/// are decided from what all ranks share.
void alone(Communicator& communicator, const std::function<void()>& step);

}  // namespace qsim
