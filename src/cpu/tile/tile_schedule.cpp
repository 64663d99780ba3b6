// PassScheduler: a greedy choice of registers, pass by pass. PassOrder: list scheduling by what is in registers.
#include "cpu/tile/tile_schedule.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace qsim::cpu {
namespace {

/// Bits that an item changes, and those that it is diagonal on.
Index changes(const ItemShape& item) { return item.targets == 0 ? 0 : item.target_mask; }
Index reads(const ItemShape& item) { return item.targets == 0 ? item.target_mask : item.control_mask; }

}  // namespace

PassScheduler::PassScheduler(const std::vector<TileItem>& items, Index wanted, const std::vector<ScheduledPass>* known)
    : items_(items), wanted_(wanted), known_(known) {
  if (known_ == nullptr) list_left();
}

void PassScheduler::list_left() {
  std::vector<bool> done(items_.size(), false);
  for (const ScheduledPass& pass : made_) {
    for (const std::size_t number : pass.plan.items) done[number] = true;
  }
  for (std::size_t number = 0; number < items_.size(); ++number) {
    if (!done[number]) left_.push_back(number);
  }
}

PassPlan PassScheduler::next(const Placement& placement) {
  if (known_ != nullptr && (*known_)[made_.size()].position != placement.position) {
    known_ = nullptr;
    list_left();
  }
  PassPlan plan = known_ != nullptr ? (*known_)[made_.size()].plan : choose(placement);
  done_ += plan.items.size();
  made_.push_back({plan, placement.position});
  return plan;
}

std::size_t PassScheduler::reachable(Index available, std::vector<std::size_t>* chosen) const {
  Index changed = 0, read = 0;  // bits that the items left over change, or are diagonal on
  std::size_t matrices = 0;
  for (const std::size_t number : left_) {
    if (const auto* term = std::get_if<Term>(&items_[number])) {
      if ((term->bits() & changed) != 0) {
        read |= term->bits();
      } else if (chosen != nullptr) {
        chosen->push_back(number);
      }
      continue;
    }
    const auto& item = std::get<MatrixItem>(items_[number]);
    const Index targets = item.target_mask();
    const bool possible = item.targets.size() < 3 && (targets & ~available) == 0;
    if (possible && (targets & (changed | read)) == 0 && (item.control_mask & changed) == 0) {
      ++matrices;
      if (chosen != nullptr) chosen->push_back(number);
    } else {
      changed |= targets;
      read |= item.control_mask;
      if ((changed & tile_) == tile_) break;  // nothing behind it can be done now
    }
  }
  return matrices;
}

PassPlan PassScheduler::choose(const Placement& placement) {
  const int vector_bits = placement.position_bits - placement.lane_bits;
  tile_ = low_mask(static_cast<unsigned>(placement.position.size()));
  Index lanes = 0;
  std::vector<Index> holder(static_cast<std::size_t>(vector_bits), 0);  // tile bit at a vector bit, as a mask
  for (std::size_t bit = 0; bit < placement.position.size(); ++bit) {
    const int at = placement.position[bit] - placement.lane_bits;
    if (at < 0) {
      lanes |= bit_mask(static_cast<unsigned>(bit));
    } else {
      holder[static_cast<std::size_t>(at)] = bit_mask(static_cast<unsigned>(bit));
    }
  }
  std::size_t best_score = 0;
  PassPlan best;
  for (Index set = 0; set < bit_mask(static_cast<unsigned>(vector_bits)); ++set) {
    if (static_cast<int>(count_bits(set)) != placement.register_bits) continue;
    Index available = lanes;
    for_each_bit(set, [&](unsigned at) { available |= holder[at]; });
    const std::size_t score = reachable(available, nullptr) * 64 + count_bits(available & wanted_) + 1;
    if (score <= best_score) continue;
    best_score = score;
    best.registers.clear();
    for_each_bit(set, [&](unsigned at) { best.registers.push_back(static_cast<std::uint8_t>(at)); });
  }
  Index available = lanes;
  for (const std::uint8_t at : best.registers) available |= holder[at];
  const std::size_t matrices = reachable(available, &best.items);
  if (matrices == 0) {
    // Nothing but phases, or a matrix that needs a pass of its own: the first is ready, for all before it is done.
    const auto first = std::find_if(left_.begin(), left_.end(), [&](std::size_t number) {
      return std::holds_alternative<MatrixItem>(items_[number]);
    });
    if (first != left_.end()) {
      best.dense = true;
      best.items.assign(left_.begin(), std::next(first));
    }
  }
  auto at = left_.begin();  // both are in order
  for (const std::size_t number : best.items) {
    while (*at != number) ++at;
    at = left_.erase(at);
  }
  return best;
}

PassOrder::PassOrder(const std::vector<std::size_t>& numbers, const std::vector<ItemShape>& shapes)
    : left_(numbers.size()) {
  items_.reserve(numbers.size());
  for (const std::size_t number : numbers) items_.push_back(shapes[number]);
  std::iota(left_.begin(), left_.end(), std::size_t{0});
}

std::size_t PassOrder::next(const Placement& placement) {
  Index changed = 0, read = 0;  // by items that are passed over
  auto best = left_.begin();
  unsigned least = ~0u;
  std::size_t seen = 0;
  for (auto at = left_.begin(); at != left_.end() && seen < kAhead && least != 0; ++at, ++seen) {
    const ItemShape& item = items_[*at];
    if (((changes(item) & (changed | read)) | (reads(item) & changed)) == 0) {
      unsigned lanes = 0;
      if (item.targets > 1) {
        for_each_bit(item.target_mask, [&](unsigned bit) { lanes += placement.is_lane(static_cast<Bit>(bit)); });
      }
      if (lanes < least) {
        least = lanes;
        best = at;
      }
    }
    changed |= changes(item);
    read |= reads(item);
  }
  const std::size_t number = *best;
  left_.erase(best);
  return number;
}

int PassOrder::spare_register(const Placement& placement, Index targets) const {
  int spare = -1;
  std::size_t latest = 0;
  for (int b = 0; b < placement.register_bits; ++b) {
    Index held = 0;
    for (std::size_t bit = 0; bit < placement.position.size(); ++bit) {
      if (placement.register_of(static_cast<Bit>(bit)) == b) held |= bit_mask(static_cast<unsigned>(bit));
    }
    if ((held & targets) != 0) continue;
    std::size_t seen = 0;
    for (auto at = left_.begin(); at != left_.end() && seen < kAhead; ++at, ++seen) {
      if ((changes(items_[*at]) & held) != 0) break;
    }
    if (spare < 0 || seen > latest) {
      spare = b;
      latest = seen;
    }
  }
  return spare;
}

}  // namespace qsim::cpu
