// Pages that are touched before they are written.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "device/pool.h"

namespace qsim {
namespace {

TEST(Pages, AreThereAfterwardsWithWhatTheyHeld) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes = 64 * page;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const data = static_cast<std::byte*>(mapped);
  data[3 * page + 5] = std::byte{7};
  touch_pages(std::span(data + 3 * page + 9, 40 * page));  // the first and the last in part
  std::vector<unsigned char> there(64);
  ASSERT_EQ(mincore(mapped, bytes, there.data()), 0);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(there[i] & 1, i >= 3 && i <= 43 ? 1 : 0) << "page " << i;
  EXPECT_EQ(data[3 * page + 5], std::byte{7});
  touch_pages({});
  munmap(mapped, bytes);
}

}  // namespace
}  // namespace qsim
