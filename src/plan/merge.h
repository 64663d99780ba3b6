// Merging of neighbours: runs of gates on one wire become one matrix, diagonals become one list of phase terms.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/lower.h"

namespace qsim {

struct Merged {
  Lowered lowered;                   // the merged operations
  std::vector<std::uint32_t> place;  // by operation before: its operation after, or kCancelled
  std::uint64_t matrices_merged = 0, phases_merged = 0;
};
constexpr std::uint32_t kCancelled = 0xffffffffu;

/// Same unitary, never more operations.
Merged merge_neighbours(const Lowered& lowered);

}  // namespace qsim
