// How probabilities compare: exactly.
#include "device/probability.h"

#include <bit>

#include "qsim/backend.h"

namespace qsim {

std::uint64_t probability_key(double probability) {
  return probability > 0 ? std::bit_cast<std::uint64_t>(probability) : 0;
}

}  // namespace qsim
