// What gates between two places of an order may become, and the cheapest way from the first gate to the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "optimizer/paths/flips.h"
#include "optimizer/sums/path_sum.h"

namespace qsim {

constexpr std::int64_t kNoReplacement = -1;

/// What gates between two places of the order become.
struct Replacement {
  std::size_t first = 0, end = 0;  // places of the first gate and behind the last
  double weight = 0;
  std::vector<std::uint32_t> kept;  // operations that stay as they are, before it
  PhasedPermutation permutation;
  std::vector<Flip> flips;
  std::int64_t after = kNoReplacement;  // the one before it, whose last Hadamard gates are its own first ones
};

/// Places are numbers of gates before them.
class CheapestWay {
 public:
  void append_gate(double weight) {
    gates_.push_back(weight);
    ways_.push_back({ways_.back().weight + weight});
  }

  std::size_t end() const { return gates_.size(); }
  bool has_replacements() const { return !replacements_.empty(); }
  const Replacement& operator[](std::int64_t r) const { return replacements_[static_cast<std::size_t>(r)]; }

  /// What it takes to come to a place.
  double weight(std::size_t at) const { return ways_[at].weight; }
  /// The same, or by the replacement `after` which ends there, without its last turns.
  double weight_before(std::size_t at, std::int64_t after) const {
    if (after == kNoReplacement) return weight(at);
    const Replacement& before = (*this)[after];
    return weight_before(before.first, before.after) + before.weight - weight_of_turns(before.permutation);
  }

  /// One by which its end is come to for less. Returns its number.
  std::int64_t add(Replacement replacement) {
    const auto r = static_cast<std::int64_t>(replacements_.size());
    std::size_t at = replacement.end;
    ways_[at] = {weight_before(replacement.first, replacement.after) + replacement.weight, r};
    replacements_.push_back(std::move(replacement));
    for (; at < end(); ++at) {
      const double weight = ways_[at].weight + gates_[at];
      if (weight >= ways_[at + 1].weight - kLess) break;
      ways_[at + 1] = {weight};
    }
    return r;
  }

  static bool is_less(double weight, double than) { return weight < than - kLess; }

  /// Finds it anew: replacements that were added later may have changed what came before others.
  void find() {
    std::vector<std::int64_t> by_end(replacements_.size());
    std::iota(by_end.begin(), by_end.end(), 0);
    std::ranges::stable_sort(by_end, {}, [&](std::int64_t r) { return (*this)[r].end; });
    auto next = by_end.begin();
    for (std::size_t at = 1; at <= end(); ++at) {
      ways_[at] = {ways_[at - 1].weight + gates_[at - 1]};
      for (; next != by_end.end() && (*this)[*next].end == at; ++next) {
        const Replacement& replacement = (*this)[*next];
        const double weight = weight_before(replacement.first, replacement.after) + replacement.weight;
        if (is_less(weight, ways_[at].weight)) ways_[at] = {weight, *next};
      }
    }
  }

  struct Taken {
    std::int64_t replacement = kNoReplacement;
    bool turns_after = true;  // they are not the first ones of what comes next
  };
  /// The replacements on it.
  std::vector<Taken> taken() const {
    std::vector<Taken> result;
    for (std::size_t at = end(); at > 0;) {
      if (ways_[at].replacement == kNoReplacement) {
        --at;
        continue;
      }
      bool turns_after = true;
      for (std::int64_t r = ways_[at].replacement; r != kNoReplacement; r = (*this)[r].after) {
        result.push_back({r, std::exchange(turns_after, false)});
        at = (*this)[r].first;
      }
    }
    std::ranges::reverse(result);
    return result;
  }

 private:
  static constexpr double kLess = 1e-9;
  struct Way {
    double weight = 0;
    std::int64_t replacement = kNoReplacement;  // by which one comes here, if not from the place before
  };

  std::vector<double> gates_;
  std::vector<Way> ways_{Way{}};  // by place
  std::vector<Replacement> replacements_;
};

}  // namespace qsim
