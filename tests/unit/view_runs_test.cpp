// Chunk views as memory runs: every amplitude of the view once, in packed order.
#include <gtest/gtest.h>

#include "device/views.h"

namespace qsim {
namespace {

std::vector<Index> packed_order(ShardShape shape, const ViewRuns& runs) {
  std::vector<Index> order;
  for (const std::uint64_t offset : runs.offsets) {
    for (std::uint64_t run = 0; run < runs.count; ++run) {
      for (std::uint64_t byte = 0; byte < runs.run_bytes; byte += shape.amplitude_bytes) {
        order.push_back((offset + run * runs.stride_bytes + byte) / shape.amplitude_bytes);
      }
    }
  }
  return order;
}

TEST(ViewRuns, EnumerateExactlyTheViewInAscendingOrderForEveryMaskOfSevenBits) {
  const ShardShape shape{7, 8};
  for (Index mask = 0; mask < 128; ++mask) {
    for (Index value = mask;; value = (value - 1) & mask) {
      std::vector<Index> expected;
      for (Index index = 0; index < 128; ++index) {
        if ((index & mask) == value) expected.push_back(index);
      }
      const ViewRuns runs = view_runs(shape, {mask, value});
      ASSERT_EQ(packed_order(shape, runs), expected) << "mask " << mask << " value " << value;
      ASSERT_EQ(runs.bytes(), expected.size() * shape.amplitude_bytes);
      if (value == 0) break;
    }
  }
}

TEST(ViewRuns, StridesStayBelowTheLimitOfTwoDimensionalCopies) {
  const ShardShape shape{33, 16};
  const ViewRuns runs = view_runs(shape, {Index{0b11} << 26 | Index{0b111} << 29, Index{0b01} << 26});
  EXPECT_LE(runs.stride_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(runs.bytes(), std::uint64_t{16} << (33 - 5));
  EXPECT_EQ(runs.run_bytes, std::uint64_t{16} << 26);
}

}  // namespace
}  // namespace qsim
