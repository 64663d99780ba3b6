// Outcomes as branches give them, added up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "document/outcomes.h"
#include "runtime/read_out/bucket_sort.h"

namespace qsim {

template <typename Value>
class OutcomeSums {
 public:
  /// Outcomes are the lowest `bits` of the words that are added.
  explicit OutcomeSums(std::uint32_t bits) : each_((bits + 63) / 64), top_bits_((bits + 63) % 64 + 1) {
    table_.bits = bits;
  }

  /// Makes room for `more`.
  void expect(std::size_t more) {
    if (table_.values.capacity() - table_.size() >= more) return;
    const std::size_t room = std::max(table_.size() + more, table_.size() + table_.size() / 2);
    table_.words.reserve(room * each_);
    table_.values.reserve(room);
  }

  /// Equal outcomes' values are added in the order in which they come.
  void add(OutcomeWords words, Value value) {
    if (settled_ == table_.size()) {
      const auto order = settled_ == 0 ? std::strong_ordering::less : compare(table_[settled_ - 1], words);
      if (order == 0) {
        table_.values.back() += value;
        return;
      }
      if (order < 0) ++settled_;
    }
    for (std::size_t word = 0; word < each_; ++word) table_.words.push_back(words[word] & mask(word));
    table_.values.push_back(value);
  }

  /// Adds up what has come, where that is as much as there was: then no outcome is moved often. Returns how many
  /// different ones there are at least.
  std::size_t settle_much() {
    if (table_.size() - settled_ > settled_) settle();
    return settled_;
  }

  /// Different outcomes, rising; nothing is left here.
  Outcomes<Value> take() {
    settle();
    settled_ = 0;
    return std::exchange(table_, {});
  }

 private:
  /// An outcome's highest word, and where it stands.
  struct Place {
    std::uint64_t top = 0;
    std::size_t at = 0;
  };

  std::uint64_t mask(std::size_t word) const { return low_mask(word + 1 == each_ ? top_bits_ : 64); }

  /// `a` is of the table.
  std::strong_ordering compare(OutcomeWords a, OutcomeWords b) const {
    for (std::size_t word = each_; word-- > 0;) {
      if (a[word] != (b[word] & mask(word))) return a[word] <=> (b[word] & mask(word));
    }
    return std::strong_ordering::equal;
  }

  void settle() {
    if (settled_ == table_.size()) return;
    std::vector<Place> places(table_.size());
    for (std::size_t at = 0; at < places.size(); ++at) places[at] = {each_ == 0 ? 0 : table_[at].back(), at};
    bucket_sort(
        places, static_cast<int>(top_bits_), [](const Place& place) { return place.top; },
        [this](const Place& a, const Place& b) {
          if (a.top != b.top) return a.top < b.top;
          const auto order = each_ > 1 ? compare_outcomes(table_[a.at], table_[b.at]) : std::strong_ordering::equal;
          return order != 0 ? order < 0 : a.at < b.at;
        });
    OutcomeSums sorted(table_.bits);
    sorted.expect(table_.size());
    for (const Place& place : places) sorted.add(table_[place.at], table_.values[place.at]);
    *this = std::move(sorted);
  }

  std::size_t each_;        // words
  std::uint32_t top_bits_;  // of the last one
  Outcomes<Value> table_;   // the first ones settled, the others as they came
  std::size_t settled_ = 0;
};

}  // namespace qsim
