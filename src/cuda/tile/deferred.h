// Phases on their way through an epoch: what the registers must still be multiplied with, before something that does
// not commute with it. Factors of several operations that meet the same registers are one multiplication.
#pragma once

#include <cstdint>
#include <vector>

#include "cuda/tile/tile_program.h"

namespace qsim::cuda {

/// Operations are numbered as they are taken; factor f of operation n is number 4 n + f.
class DeferredPhases {
 public:
  /// Registers with the same factors. Which they are does not depend on angles.
  struct Group {
    std::vector<std::uint32_t> variables;  // factors that threads or tiles change
    std::vector<std::uint32_t> constants;  // the others, whose product is `value`
    Complex value{1};
    std::uint32_t set = 0;  // registers
  };

  explicit DeferredPhases(std::uint32_t registers) : waiting_(registers) {}
  /// An operation with is_deferred(); returns its number.
  std::uint32_t take(const TileOp& op);
  /// What waits, in an order in which a group comes after those whose variables its own begin with. Nothing waits then.
  std::vector<Group> done();

 private:
  std::vector<Group> waiting_;  // of each register
  std::uint32_t count_ = 0;
};

}  // namespace qsim::cuda
