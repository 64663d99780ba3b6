// How a first write that permutes multiplies the factors of the bits that are born: by looking up.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bits.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Whether amplitudes at 0 and 1 of the bit are different, and neither is always 0.
inline bool varies(const Birth& birth) {
  return birth.factor[0] != birth.factor[1] && birth.factor[0] != Complex() && birth.factor[1] != Complex();
}

/// Of the bits that vary, the first kMostIndexed are an index; `tables` of 2^width products each have an entry for
/// every value of `width` of its bits, the first for the lowest ones. Bits that are `left` have a pair of factors each.
struct ProductLookups {
  static constexpr std::uint32_t kMostIndexed = 32, kMostWidth = 10;
  std::uint32_t indexed = 0, tables = 0, width = 0, left = 0;
  std::uint64_t entries() const { return (std::uint64_t{tables} << width) + 2 * left; }
};

inline ProductLookups product_lookups(const Sweep& sweep) {
  ProductLookups lookups;
  const auto varying = static_cast<std::uint32_t>(std::ranges::count_if(sweep.births, varies));
  lookups.indexed = std::min(varying, ProductLookups::kMostIndexed);
  lookups.tables = (lookups.indexed + ProductLookups::kMostWidth - 1) / ProductLookups::kMostWidth;
  if (lookups.tables > 0) lookups.width = (lookups.indexed + lookups.tables - 1) / lookups.tables;
  lookups.left = varying - lookups.indexed;
  return lookups;
}

}  // namespace qsim
