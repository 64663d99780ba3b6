// Groups a sweep's items into epochs: which coordinates sit in registers when, and what is done meanwhile.
#pragma once

#include <vector>

#include "cuda/program/items.h"

namespace qsim::cuda {

/// One epoch's work, as indices into ItemList::items: matrices, rotations, flips and terms in an order that holds, then
/// the flips that fold into the move to the next epoch.
struct EpochPlan {
  Coordinate reg = 0;                             // coordinates in registers
  Coordinate lanes = 0;                           // the two on the lowest lanes, where blocks are done; or any
  bool exchanged = false;                         // from the epoch before: lanes and registers change places
  std::vector<std::vector<std::uint32_t>> steps;  // each step is all terms, or all non-terms
  std::vector<std::uint32_t> folded;
};

struct ScheduleLimits {
  int bits = 0, register_bits = 4;
  Coordinate usable = 0;         // coordinates that may be in registers
  Coordinate avoid_first = 0;    // better not in registers in the first epoch (neighbours in memory)
  Coordinate avoid_last = 0;     // nor in the last one
  bool lane_blocks = false;      // dense blocks of two targets are done on lanes
  std::size_t in_registers = 3;  // targets that a matrix may have and be done in registers
  std::uint32_t trial = 0;       // odd ones do not begin with the last epoch; from 2 on weights have a part by chance
};

std::vector<EpochPlan> schedule(const ItemList& list, const ScheduleLimits& limits);

}  // namespace qsim::cuda
