// Phases that wait, register by register.
#include "cuda/tile/deferred.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/numbers/rounding.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {

std::uint32_t DeferredPhases::take(const TileOp& op) {
  const std::uint32_t number = count_++;
  for (std::uint32_t j = 0; j < waiting_.size(); ++j) {
    const std::uint32_t quarter = (j >> op.slots[0] & 1) | (j >> op.slots[1] & 1) << 1;
    for (std::uint32_t f = 0; f < 4; ++f) {
      const bool applies = op.kind == TileOpKind::kMultiply ? (op.set >> j & 1) != 0 : (quarter & f) == f;
      const Factor& factor = op.factor[f];
      if (!factor.present || !applies) continue;
      if (!is_constant(factor)) {
        waiting_[j].variables.push_back(number * 4 + f);
      } else if (!is_one(factor.constant)) {
        waiting_[j].constants.push_back(number * 4 + f);
        waiting_[j].value *= factor.constant;
      }
    }
  }
  return number;
}

std::vector<DeferredPhases::Group> DeferredPhases::done() {
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, Group> groups;
  for (std::uint32_t j = 0; j < waiting_.size(); ++j) {
    Group mine = std::exchange(waiting_[j], {});
    if (mine.variables.empty() && mine.constants.empty()) continue;
    Group& group = groups.try_emplace({mine.variables, mine.constants}, mine).first->second;
    group.set |= 1u << j;
  }
  std::vector<Group> all;
  for (auto& [factors, group] : groups) all.push_back(std::move(group));
  return all;
}

}  // namespace qsim::cuda
