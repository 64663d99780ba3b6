// The state as a .npy file in logical order, written by all ranks at once.
#pragma once

#include <string>

#include "qsim/result.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"

namespace qsim {

/// Writes one-dimensional complex64 or complex128 (little-endian). Throws FileError, the same on every rank; a file
/// that could not be finished is removed. `state`'s layout may change.
OutputFile write_state_file(DistributedState& state, ExchangePipeline& exchanges, const std::string& path);

}  // namespace qsim
