// Over how many ranks a circuit can be split.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"

namespace qsim {

/// Fewest local bits that every operation can be brought to.
std::uint32_t needed_local_bits(const Circuit& circuit);

/// Circuits of more operations take too long to be planned again only to see whether another number of ranks is better.
constexpr std::uint64_t kMostForecastOperations = 50'000;

/// What a circuit would take on 2^rank_bits ranks.
struct RanksForecast {
  std::uint32_t rank_bits = 0;
  double seconds = 0;  // predicted
  std::uint64_t sweeps = 0, exchanges = 0;
  std::uint64_t memory_bytes_per_rank = 0;
  bool fits = true;  // in the machine's memory, where that is known
};

/// Plans `circuit` (as make_plan) for each number of ranks from `least_rank_bits` to `most_rank_bits` over which it can
/// be split; of `options`, rank_bits and trace are not used.
std::vector<RanksForecast> forecast_ranks(const Circuit& circuit, const Machine& machine, PlanOptions options,
                                          std::uint32_t least_rank_bits, std::uint32_t most_rank_bits);

}  // namespace qsim
