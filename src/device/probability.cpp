// How probabilities compare: by 32 significant bits, so that rounding noise does not decide.
#include "device/probability.h"

#include <bit>

#include "qsim/backend.h"

namespace qsim {

std::uint64_t probability_key(double probability) {
  if (!(probability > 0)) return 0;
  // Positive doubles order as their bit patterns do; 52 - 31 stored bits go, rounded to nearest.
  constexpr int kDropped = 21;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(probability);
  return (bits + (1ull << (kDropped - 1))) >> kDropped;
}

}  // namespace qsim
