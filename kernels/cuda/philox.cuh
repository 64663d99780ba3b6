// Counter-based random numbers on the device: the words of src/base/philox.h.
#pragma once

#include <cstdint>

namespace qsim::cuda {

struct PhiloxWords {
  std::uint64_t x[4];
};

__device__ inline PhiloxWords philox(std::uint64_t counter, std::uint64_t key0, std::uint64_t key1) {
  PhiloxWords w = {{counter, 0, 0, 0}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2E7470EE14C6C93ull, b = 0xCA5A826395121157ull;
    const std::uint64_t high0 = __umul64hi(a, w.x[0]), low0 = a * w.x[0];
    const std::uint64_t high1 = __umul64hi(b, w.x[2]), low1 = b * w.x[2];
    w = {{high1 ^ w.x[1] ^ key0, low1, high0 ^ w.x[3] ^ key1, low0}};
    key0 += 0x9E3779B97F4A7C15ull;
    key1 += 0xBB67AE8584CAA73Bull;
  }
  return w;
}

}  // namespace qsim::cuda
