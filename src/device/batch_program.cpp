#include "device/batch_program.h"

#include "base/bits.h"
#include "base/philox.h"

namespace qsim {

std::uint64_t batch_draw(std::uint64_t seed, std::uint64_t evaluation, std::uint64_t shot, std::uint64_t total) {
  const std::uint64_t word = Philox(seed, evaluation).bits(shot);
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * total) >> 64);
}

}  // namespace qsim
