// The phases of a sum over paths, by product: a table that is probed in place, since most of the time goes into it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.h"

namespace qsim {

/// Products of variables with phases in 2^-64 turns; a phase of 0 is none.
class PhaseTable {
 public:
  /// The phase becomes so much more. Whether the product had none before.
  bool add(Wide product, std::uint64_t turns) {
    if (2 * used_ >= entries_.size()) rehash();
    Entry& entry = entries_[place(product)];
    if (!entry.used) {
      entry = {product, 0, true};
      ++used_;
    }
    const bool fresh = entry.turns == 0;
    entry.turns += turns;
    present_ += fresh ? 1 : 0;
    present_ -= entry.turns == 0 ? 1 : 0;
    return fresh;
  }

  std::uint64_t at(Wide product) const { return entries_.empty() ? 0 : entries_[place(product)].turns; }

  /// The phase that it had.
  std::uint64_t take(Wide product) {
    const std::uint64_t turns = at(product);
    if (turns != 0) add(product, 0 - turns);
    return turns;
  }

  std::size_t size() const { return present_; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.turns != 0) visit(entry.product, entry.turns);
    }
  }

 private:
  struct Entry {
    Wide product = 0;
    std::uint64_t turns = 0;
    bool used = false;  // what is gone keeps its place until the table is made anew
  };

  static std::uint64_t hash(Wide product) {
    std::uint64_t h = static_cast<std::uint64_t>(product) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 29)) + static_cast<std::uint64_t>(product >> 64) * 0xBF58476D1CE4E5B9ull;
    return h ^ (h >> 32);
  }

  /// Where the product is, or would be.
  std::size_t place(Wide product) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash(product)) & mask;
    while (entries_[at].used && entries_[at].product != product) at = (at + 1) & mask;
    return at;
  }

  void rehash() {
    constexpr std::size_t kLeast = 16;
    std::vector<Entry> before(std::bit_ceil(std::max(kLeast, 4 * present_)));
    before.swap(entries_);
    used_ = present_;
    for (const Entry& entry : before) {
      if (entry.turns != 0) entries_[place(entry.product)] = entry;
    }
  }

  std::vector<Entry> entries_;  // a power of two, at most half of them used
  std::size_t used_ = 0, present_ = 0;
};

}  // namespace qsim
