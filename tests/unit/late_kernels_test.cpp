// Kernels that are left to another process get there whole, and no other text is taken for them.
#include "simulator/late_kernels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "qsim/error.h"

namespace qsim {
namespace {

TEST(LateKernels, AreTheSameOnTheOtherSide) {
  EXPECT_TRUE(kernels_of(kernels_text({})).empty());
  const std::vector<LateKernels> all{{90, "/a folder\nof lines", {"one\n2\n", std::string("\0x", 2), ""}},
                                     {80, "", {}}};
  const std::vector<LateKernels> back = kernels_of(kernels_text(all));
  ASSERT_EQ(back.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(back[i].architecture, all[i].architecture);
    EXPECT_EQ(back[i].folder, all[i].folder);
    EXPECT_EQ(back[i].sources, all[i].sources);
  }
}

TEST(LateKernels, OtherTextIsNoListOfKernels) {
  const std::string text = kernels_text({{90, "/tmp/x", {"source"}}});
  for (std::size_t length = 1; length < text.size(); ++length) {
    EXPECT_THROW(kernels_of(std::string_view(text).substr(0, length)), UsageError) << length;
  }
  for (const char* const other : {"\n", "90", "-1\n", "90\n99999999999999999999\n", "qreg q[2];", "90\n5\nab\n1\n"}) {
    EXPECT_THROW(kernels_of(other), UsageError) << other;
  }
}

TEST(LateKernels, AProcessWithoutAnyHasNothingToHandOver) { EXPECT_FALSE(hand_over_kernels()); }

}  // namespace
}  // namespace qsim
