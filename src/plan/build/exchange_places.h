// Which bits the wires of exchanges lie at: high ones, so that chunks are long runs of memory.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

struct ExchangePlaces {
  std::uint32_t low_bits = 0;     // bits below this stay where they are: sweeps need them active
  bool free_start = false;        // the start layout may change
  std::vector<Index> candidates;  // by stage: bits that may cut its exchange into chunks
  std::vector<int> wanted;        // and how many are wanted
};

/// Renames local bits of a plan without chunks, stage by stage, so that swapped bits come to lie at the top of the
/// shard and candidates right below them. Only the start layout and the stores of sweeps that run anyway change: no
/// sweep, exchange, birth or byte more. `places.candidates` follow.
void place_exchanges(Plan& plan, ExchangePlaces& places);

}  // namespace qsim
