// How many ranks are worth their start.
#pragma once

#include <span>
#include <string>

#include "qsim/plan.h"

namespace qsim {

/// The number of ranks that is done first, as rank bits, where each beyond the first forecast's takes `start_seconds`
/// to start; the first forecast's where none fits.
std::uint32_t first_done(std::span<const RanksForecast> forecasts, double start_seconds);

/// Says that fewer ranks than the last forecast's would be faster, and how many; empty where they would not.
std::string fewer_ranks_note(std::span<const RanksForecast> forecasts);

}  // namespace qsim
