// How probabilities compare: exactly; what is not a number comes first, so that it is read out and seen.
#include "device/numbers/probability.h"

#include <bit>

namespace qsim {

std::uint64_t probability_key(double probability) {
  return probability <= 0 ? 0 : std::bit_cast<std::uint64_t>(probability);
}

}  // namespace qsim
