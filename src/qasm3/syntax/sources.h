// All texts of a program, the included ones too, as one range of places.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>

#include "qasm/text/source.h"

namespace qsim::qasm3 {

/// A place is the offset of a byte in the text that all sources would make one after the other.
class Sources {
 public:
  std::uint32_t add(const qasm::Source& source) {
    const std::uint32_t first = end_;
    entries_.push_back({first, &source});
    end_ += static_cast<std::uint32_t>(source.text.size()) + 1;
    return first;
  }
  /// The source of a place, and its offset there.
  std::pair<const qasm::Source*, std::uint32_t> find(std::uint32_t place) const {
    std::size_t low = 0, high = entries_.size();
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (entries_[middle].first <= place ? low : high) = middle;
    }
    return {entries_[low].source, place - entries_[low].first};
  }
  std::string_view text(std::uint32_t place, std::uint32_t length) const {
    const auto [source, offset] = find(place);
    return source->text.substr(offset, length);
  }

 private:
  struct Entry {
    std::uint32_t first;
    const qasm::Source* source;
  };
  std::deque<Entry> entries_;
  std::uint32_t end_ = 0;
};

}  // namespace qsim::qasm3
