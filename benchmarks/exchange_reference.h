// What the copy engines alone reach for an exchange's pattern: the figure that exchanges are held against.
#pragma once

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "plan/cost/pool_layout.h"

namespace qsim {

/// Seconds for this rank to pull `bytes` from each of the ranks `rank ^ partner` (all at once, contiguous pieces of one
/// ring slot, no hand-over and no unpacking): the best of `repeats`. Collective. 0 where there are no copy engines.
double copy_engine_seconds(Backend& backend, Communicator& communicator, std::span<const int> partners,
                           std::uint64_t bytes, const PoolLayout& pool, int repeats);

}  // namespace qsim
