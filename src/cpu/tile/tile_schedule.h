// Orders the items of a sweep into passes of a tile machine, and those of a pass.
#pragma once

#include <list>
#include <vector>

#include "cpu/items/tile_items.h"
#include "cpu/tile/tile_translation.h"

namespace qsim::cpu {

/// Chooses passes one after the other: registers with which the most matrices can be done, with everything that does
/// not depend on what is left over. Items commute where they share no bit, or are both diagonal on the bits they share.
class PassScheduler {
 public:
  /// `wanted`: tile bits that should be reachable in the end (to be brought back into lanes), a tie-break. `known`: the
  /// passes of items of the same shapes; they are taken again while the tile bits are where they were.
  PassScheduler(const std::vector<TileItem>& items, Index wanted, const std::vector<ScheduledPass>* known);

  bool finished() const { return done_ == items_.size(); }
  PassPlan next(const Placement& placement);
  /// The passes so far.
  std::vector<ScheduledPass> take_passes() { return std::move(made_); }

 private:
  /// Marks what can be done with the tile bits `available`; returns the number of matrices. `chosen` may be null.
  std::size_t reachable(Index available, std::vector<std::size_t>* chosen) const;
  PassPlan choose(const Placement& placement);
  void list_left();

  const std::vector<TileItem>& items_;
  const Index wanted_;
  const std::vector<ScheduledPass>* known_;
  std::vector<ScheduledPass> made_;
  std::size_t done_ = 0;
  std::list<std::size_t> left_;  // numbers of the items not done yet, in order; once passes are chosen
  Index tile_ = 0;               // all tile bits
};

/// Gives a pass's items one after the other. An item comes before one that it followed only where the two commute, by
/// the bits they share; few items are looked at ahead, so that long passes take no more time an item than short ones.
class PassOrder {
 public:
  /// `numbers`: of the pass's items among all `shapes`, in order.
  PassOrder(const std::vector<std::size_t>& numbers, const std::vector<ItemShape>& shapes);

  bool finished() const { return left_.empty(); }
  /// Number of the next item: with `placement`, of those that can come now one with the fewest targets in lanes that
  /// have to be in registers.
  std::size_t next(const Placement& placement);
  /// The register outside `targets` (tile bits) that items left over need last.
  int spare_register(const Placement& placement, Index targets) const;

 private:
  static constexpr std::size_t kAhead = 32;

  std::vector<ItemShape> items_;
  std::list<std::size_t> left_;  // numbers among `items_`
};

}  // namespace qsim::cpu
