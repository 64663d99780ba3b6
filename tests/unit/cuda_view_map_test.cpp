// The map of a chunk view goes through its amplitudes in ascending order.
#include <gtest/gtest.h>

#include "base/bits.h"
#include "kernels/cuda/state.h"

namespace qsim {
namespace {

TEST(CudaViewMap, PackedNumbersGoToTheViewsPlacesInOrder) {
  for (const Index mask : {Index{0}, Index{1}, Index{0b100100}, Index{0b1010110}, Index{0b111000000}, Index{0x3ff}}) {
    constexpr unsigned kBits = 10;
    const Index value = mask & 0b1001010110, free = low_mask(kBits) & ~mask;
    const cuda::ViewMap map = cuda::view_map(kBits, mask, value);
    for (Index number = 0; number < bit_mask(count_bits(free)); ++number) {
      Index place = map.value;
      for (std::uint32_t r = 0; r < map.runs; ++r) place |= (number & map.run_mask[r]) << map.run_shift[r];
      EXPECT_EQ(place, value | deposit_bits(number, free)) << "mask " << mask << ", number " << number;
    }
  }
}

}  // namespace
}  // namespace qsim
