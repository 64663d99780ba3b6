// Errors that every rank must have alike: the worst code wins and all ranks throw the same.
#pragma once

#include <functional>

#include "qsim/communicator.h"

namespace qsim {

/// Runs `step` on this rank; if it failed on any rank, every rank throws the same error. Collective. Errors that are
/// not of the library become Error.
void together(Communicator& communicator, const std::function<void()>& step);

}  // namespace qsim
