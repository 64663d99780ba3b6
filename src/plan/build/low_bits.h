// Which wires the lowest bits hold: those that stay active longest, so that sweeps need not move them.
#pragma once

#include <vector>

#include "base/layout.h"
#include "qsim/types.h"

namespace qsim {

/// Swaps wires of `layout` so that as many of `wanted` as there are lie at the `low` lowest bits, in this order.
void put_low(Layout& layout, const std::vector<Qubit>& wanted, Bit low);

/// Wires for the lowest bits, at most `low`, from bit 0 on: bits that hold one of the first `low` of `wanted` keep it,
/// the others get what is left of these, in order.
std::vector<Qubit> low_order(const Layout& layout, std::vector<Qubit> wanted, Bit low);

}  // namespace qsim
