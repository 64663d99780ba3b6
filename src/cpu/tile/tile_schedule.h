// Orders the items of a sweep into passes of a tile machine.
#pragma once

#include <list>
#include <vector>

#include "cpu/tile/tile_items.h"
#include "cpu/tile/tile_translation.h"

namespace qsim::cpu {

/// What a pass does: numbers of items that are done by it, in order.
struct PassPlan {
  std::vector<std::uint8_t> registers;  // vector bits, ascending
  std::vector<std::size_t> items;       // matrices and terms
  bool dense = false;                   // the one item is a matrix on three or more targets
};

/// Chooses passes one after the other: registers with which the most matrices can be done, with everything that does
/// not depend on what is left over. Items commute where they share no bit, or are both diagonal on the bits they share.
class PassScheduler {
 public:
  /// `wanted`: tile bits that should be reachable in the end (to be brought back into lanes), a tie-break.
  PassScheduler(const std::vector<TileItem>& items, Index wanted);

  bool finished() const { return left_.empty(); }
  PassPlan next(const Placement& placement);

 private:
  /// Marks what can be done with the tile bits `available`; returns the number of matrices. `chosen` may be null.
  std::size_t reachable(Index available, std::vector<std::size_t>* chosen) const;

  const std::vector<TileItem>& items_;
  const Index wanted_;
  std::list<std::size_t> left_;  // numbers of the items not done yet, in order
  Index tile_ = 0;               // all tile bits
};

}  // namespace qsim::cpu
