// Sweeps that are made for a single run (Sweep::once): what planners make and devices run without translating.
#pragma once

#include <cstddef>
#include <cstdint>

namespace qsim {

constexpr std::uint32_t kMostOnceBits = 15;  // of the state, all of them active
// Longer ones are translated, whatever it takes: programs lose less to rounding where one gate comes again and again.
constexpr std::size_t kMostOnceOperations = 1 << 12;

}  // namespace qsim
