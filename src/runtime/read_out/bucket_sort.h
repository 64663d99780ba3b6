// Sorting many entries by numbers that are spread evenly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace qsim {

/// Sorts by `before`, which is to agree with the order of `key_of(entry)`, a number of `bits` bits: putting them
/// into buckets once leaves little to sort where the keys are spread evenly.
template <typename Entry, typename Key, typename Before>
void bucket_sort(std::vector<Entry>& entries, int bits, Key key_of, Before before) {
  constexpr int kBucketBits = 16;
  if (entries.size() < std::size_t{1} << kBucketBits) return std::sort(entries.begin(), entries.end(), before);
  const int shift = std::max(0, bits - kBucketBits);
  std::vector<std::size_t> begins((std::size_t{1} << kBucketBits) + 2);
  for (const Entry& entry : entries) ++begins[(key_of(entry) >> shift) + 2];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<Entry> sorted(entries.size());
  for (const Entry& entry : entries) sorted[begins[(key_of(entry) >> shift) + 1]++] = entry;
  entries = std::move(sorted);
  std::size_t begin = 0;
  for (std::size_t bucket = 1; bucket < begins.size(); ++bucket) {
    std::sort(entries.begin() + static_cast<std::ptrdiff_t>(begin),
              entries.begin() + static_cast<std::ptrdiff_t>(begins[bucket]), before);
    begin = begins[bucket];
  }
}

}  // namespace qsim
