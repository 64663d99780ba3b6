// Conditions on bits, and parities of bits, as sums of products of bits: phases that depend on them are then sums of
// phases where some bits are 1.
#pragma once

#include <cstdint>

#include "base/bits.h"
#include "qsim/types.h"

namespace qsim {

/// Whether the bits of `mask` have `value` is the sum over visit(ones, sign) of sign times the product of `ones`: a bit
/// that is to be 0 is 1 less the bit.
template <class Visit>
void for_each_product(Index mask, Index value, const Visit& visit) {
  const Index zeros = mask & ~value;
  for (Index chosen = zeros;; chosen = (chosen - 1) & zeros) {
    visit(value | chosen, odd_parity(chosen) ? -1 : 1);
    if (chosen == 0) break;
  }
}

/// The parity of the bits of `mask`, at most 62, is the sum over visit(ones, weight) of weight times the product of
/// `ones`: of those of n bits (-2)^(n - 1).
template <class Visit>
void for_each_product_of_parity(Index mask, const Visit& visit) {
  for (Index chosen = mask; chosen != 0; chosen = (chosen - 1) & mask) {
    const std::int64_t size = std::int64_t{1} << (popcount(chosen) - 1);
    visit(chosen, odd_parity(chosen) ? size : -size);
  }
}

}  // namespace qsim
