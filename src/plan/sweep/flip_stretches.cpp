#include "plan/sweep/flip_stretches.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bits.h"
#include "plan/cost/pool_layout.h"
#include "plan/sixteenths.h"

namespace qsim {
namespace {

// A stretch waits for further flips behind so many operations that stay behind it: of these, twice as many as it has.
constexpr std::size_t kWaiting = 64;
// What so many flips at the beginning of a stretch take, and so many sweeps of tiles, stands for the rest.
constexpr std::size_t kLooked = 4096, kMostCounted = 64;
// What a stretch takes of the sweeps that it replaces, at most: some of those do something beside.
constexpr double kWorthwhile = 0.75;

class Parts {
 public:
  Parts(const Lowered& lowered, const FlipPrices& prices) : lowered_(lowered), ops_(lowered.ops), prices_(prices) {}

  std::vector<CircuitPart> run() {
    while (next_ < ops_.size() || !waiting_.empty()) take_stretch();
    return std::move(parts_);
  }

 private:
  /// From what waits and what comes: a stretch of flips, what can be done before it and what has to wait.
  void take_stretch() {
    std::vector<std::uint32_t> before, flips, after;
    CommutingWith of_flips, of_after;
    std::size_t taken = 0;  // of those that wait
    while (after.size() <= kWaiting + 2 * flips.size()) {
      if (taken == waiting_.size() && next_ == ops_.size()) break;
      const std::uint32_t index = taken < waiting_.size() ? waiting_[taken++] : next_++;
      const LoweredOp& op = ops_[index];
      const bool passes = of_after.all(op);
      const bool is_before = passes && of_flips.all(op);
      if (passes && (op.form == Form::kFlip || (!is_before && permutes(index)))) {
        flips.push_back(index);
        of_flips.add(op);
      } else if (is_before) {
        before.push_back(index);
      } else {
        after.push_back(index);
        of_after.add(op);
      }
    }
    after.insert(after.end(), waiting_.begin() + static_cast<std::ptrdiff_t>(taken), waiting_.end());
    waiting_ = std::move(after);
    // Phases before the flips cost little there, and a sweep where nothing else is.
    const bool alone = parts_.empty() || parts_.back().permutes;
    if (alone && std::ranges::all_of(before, [this](std::uint32_t index) { return permutes(index); })) {
      before.insert(before.end(), flips.begin(), flips.end());
      flips = std::exchange(before, {});
    }
    append(false, before);
    append(is_worthwhile(flips), flips);
  }

  bool permutes(std::uint32_t index) const { return may_permute(ops_[index], lowered_.terms(ops_[index])); }

  void append(bool permutes, const std::vector<std::uint32_t>& ops) {
    if (ops.empty()) return;
    if (parts_.empty() || parts_.back().permutes || permutes) parts_.push_back({permutes, {}});
    parts_.back().ops.insert(parts_.back().ops.end(), ops.begin(), ops.end());
  }

  /// Whether nothing but what a product state takes in is before the stretch that comes.
  bool begins() const {
    const auto is_alone = [this](std::uint32_t op) { return popcount(ops_[op].support) <= 1; };
    return parts_.empty() ||
           (parts_.size() == 1 && !parts_[0].permutes && std::ranges::all_of(parts_[0].ops, is_alone));
  }

  bool is_worthwhile(const std::vector<std::uint32_t>& flips) const {
    const auto first = std::span(flips).first(std::min(flips.size(), kLooked));
    const std::vector<std::uint32_t> looked(first.begin(), first.end());
    double steps = 0;
    for (const std::uint32_t flip : looked)
      steps += static_cast<double>(permutation_steps(ops_[flip], lowered_.terms(ops_[flip])));
    const double share =
        static_cast<double>(looked.size()) / static_cast<double>(std::max<std::size_t>(1, flips.size()));
    const double sweep = prices_.first > 0 && begins() ? prices_.first : prices_.permuting;
    const double alone = share * sweep + prices_.step * steps;
    if (alone <= kWorthwhile * share * prices_.flip * static_cast<double>(flips.size())) return true;
    const auto enough = std::max<std::size_t>(2, static_cast<std::size_t>(alone / (kWorthwhile * prices_.sweep)) + 1);
    return enough <= kMostCounted && tile_sweeps(looked, enough) >= enough;
  }

  /// Sweeps of tiles that the flips take, or `most` where they take more. Each takes what it can of those that are
  /// left.
  std::size_t tile_sweeps(std::vector<std::uint32_t> flips, std::size_t most) const {
    const auto room = static_cast<int>(prices_.tile - prices_.low);
    std::size_t count = 0;
    for (; !flips.empty() && count < most; ++count) {
      Index targets = 0;
      CommutingWith left;
      std::erase_if(flips, [&](std::uint32_t index) {
        const LoweredOp& op = ops_[index];
        const Index with = targets | op.target_mask();
        if (popcount(with) <= room && left.all(op)) {
          targets = with;
          return true;
        }
        left.add(op);
        return false;
      });
    }
    return count;
  }

  const Lowered& lowered_;
  const std::vector<LoweredOp>& ops_;
  const FlipPrices& prices_;
  std::uint32_t next_ = 0;
  std::vector<std::uint32_t> waiting_;  // come before operation next_
  std::vector<CircuitPart> parts_;
};

}  // namespace

std::vector<CircuitPart> flip_parts(const Lowered& lowered, const FlipPrices& prices) {
  return Parts(lowered, prices).run();
}

}  // namespace qsim
