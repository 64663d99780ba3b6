// Phases that wait, register by register.
#include "cuda/tile/deferred.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {
namespace {

constexpr std::size_t kManyVariables = 4;
constexpr double kAsMuch = 1.1;  // in double

/// Complex products that it takes to multiply by these.
double products(const std::vector<DeferredPhases::Group>& groups) {
  std::set<std::vector<std::uint32_t>> made;
  double sum = 0;
  for (const DeferredPhases::Group& group : groups) {
    sum += count_bits(group.set) + (group.variables.empty() || group.constants.empty() ? 0 : 1);
    for (std::size_t size = 2; size <= group.variables.size(); ++size)
      made.emplace(group.variables.begin(), group.variables.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return sum + static_cast<double>(made.size());
}

}  // namespace

std::uint32_t DeferredPhases::take(const TileOp& op) {
  const std::uint32_t number = count_++;
  for (std::uint32_t f = 0; f < 4; ++f) {
    const Factor& factor = op.factor[f];
    if (!factor.present || (is_constant(factor) && is_one(factor.constant))) continue;
    Waiting next{number * 4 + f, !is_constant(factor), factor.constant};
    for (std::uint32_t j = 0; j < registers_; ++j) {
      const std::uint32_t quarter = (j >> op.slots[0] & 1) | (j >> op.slots[1] & 1) << 1;
      const bool applies = op.kind == TileOpKind::kMultiply ? (op.set >> j & 1) != 0 : (quarter & f) == f;
      next.set |= applies ? 1u << j : 0;
    }
    next.slots = slots_of(next.set);
    if (next.set != 0) waiting_.push_back(next);
  }
  return number;
}

std::uint32_t DeferredPhases::slots_of(std::uint32_t set) const {
  std::uint32_t slots = 0;
  for (std::uint32_t bit = 1; bit < registers_; bit *= 2) {
    for (std::uint32_t j = 0; j < registers_; ++j) slots |= (set >> j & 1) != (set >> (j ^ bit) & 1) ? bit : 0;
  }
  return slots;
}

std::vector<DeferredPhases::Group> DeferredPhases::groups_of(const Layer& layer) const {
  std::map<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>, Group> groups;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    Group mine;
    for (const Waiting* const factor : layer) {
      if ((factor->set >> j & 1) == 0) continue;
      (factor->variable ? mine.variables : mine.constants).push_back(factor->number);
      if (!factor->variable) mine.value *= factor->value;
    }
    if (mine.variables.empty() && mine.constants.empty()) continue;
    Group& group = groups.try_emplace({mine.variables, mine.constants}, mine).first->second;
    group.set |= 1u << j;
  }
  std::vector<Group> all;
  for (auto& [factors, group] : groups) all.push_back(std::move(group));
  return all;
}

std::vector<DeferredPhases::Group> DeferredPhases::done() {
  const std::vector<Waiting> waiting = std::exchange(waiting_, {});
  Layer whole;
  for (const Waiting& factor : waiting) whole.push_back(&factor);
  std::vector<Group> best = groups_of(whole);
  if (std::ranges::count_if(waiting, &Waiting::variable) < static_cast<std::ptrdiff_t>(kManyVariables)) return best;
  double least = (precision_ == Precision::kDouble ? kAsMuch : 1) * products(best);
  for (std::uint32_t slots = 3; slots < registers_ / 2; ++slots) {  // without the last one
    if (count_bits(slots) < 2) continue;
    std::array<Layer, 3> layers;  // of these slots, of the others, of both
    for (const Waiting& factor : waiting)
      layers[(factor.slots & ~slots) == 0 ? 0 : (factor.slots & slots) == 0 ? 1 : 2].push_back(&factor);
    std::vector<Group> groups;
    double work = 0;
    for (const Layer& layer : layers) {
      std::vector<Group> some = groups_of(layer);
      work += products(some);
      groups.insert(groups.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    }
    if (work >= least) continue;
    least = work;
    best = std::move(groups);
  }
  return best;
}

}  // namespace qsim::cuda
