// Phases that wait are grouped by what meets a register, so that each register is multiplied once.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "cuda/tile/deferred.h"
#include "cuda/tile/tile_program.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

TileOp multiply(std::uint32_t set, int table, Complex constant = 1) {
  TileOp op;
  op.set = set;
  op.factor[0].present = true;
  op.factor[0].table = table;
  op.factor[0].constant = constant;
  return op;
}

const std::vector<std::uint32_t> kNone;

TEST(CudaDeferred, NothingWaitsAtFirstNorAfterItIsDone) {
  DeferredPhases deferred(4);
  EXPECT_TRUE(deferred.done().empty());
  deferred.take(multiply(0xf, 0));
  EXPECT_EQ(deferred.done().size(), 1u);
  EXPECT_TRUE(deferred.done().empty());
}

TEST(CudaDeferred, EachRegisterIsInOneGroupWithAllThatMeetsIt) {
  DeferredPhases deferred(4);
  EXPECT_EQ(deferred.take(multiply(0b0011, 0)), 0u);
  EXPECT_EQ(deferred.take(multiply(0b0110, 1)), 1u);
  EXPECT_EQ(deferred.take(multiply(0b1100, -1, Complex(0.6, 0.8))), 2u);
  const auto groups = deferred.done();
  ASSERT_EQ(groups.size(), 4u);
  std::uint32_t all = 0;
  for (const auto& group : groups) {
    EXPECT_EQ(all & group.set, 0u);
    all |= group.set;
    const bool with_constant = (group.set & 0b1100) != 0;
    std::vector<std::uint32_t> variables;
    if ((group.set & 0b0011) != 0) variables.push_back(0);
    if ((group.set & 0b0110) != 0) variables.push_back(4);
    EXPECT_EQ(group.variables, variables);
    EXPECT_EQ(group.constants, with_constant ? std::vector<std::uint32_t>{8} : kNone);
    EXPECT_EQ(group.value, with_constant ? Complex(0.6, 0.8) : Complex(1));
  }
  EXPECT_EQ(all, 0b1111u);
}

TEST(CudaDeferred, FactorsOfAPairMeetTheRegistersOfTheirSlots) {
  DeferredPhases deferred(8);
  TileOp op;
  op.kind = TileOpKind::kPair;
  op.slots = {0, 2};
  for (const std::size_t f : {1, 2, 3}) {
    op.factor[f].present = true;
    op.factor[f].table = static_cast<int>(f);
  }
  deferred.take(op);
  const auto groups = deferred.done();
  ASSERT_EQ(groups.size(), 3u);
  for (const auto& group : groups) {
    const bool both = group.variables.size() == 3;
    EXPECT_EQ(group.set, both ? 0b10100000u : group.variables.front() == 1 ? 0b00001010u : 0b01010000u);
  }
}

TEST(CudaDeferred, AGroupComesAfterThoseWhoseFactorsItsOwnBeginWith) {
  DeferredPhases deferred(8);
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    std::uint32_t set = 0;
    for (std::uint32_t j = 0; j < 8; ++j) set |= (j >> slot & 1u) << j;
    deferred.take(multiply(set, static_cast<int>(slot)));
  }
  const auto groups = deferred.done();
  EXPECT_EQ(groups.size(), 7u);
  std::set<std::vector<std::uint32_t>> before;
  for (const auto& group : groups) {
    for (const auto& other : groups) {
      const auto& longer = other.variables;
      const bool begins = longer.size() > group.variables.size() &&
                          std::equal(group.variables.begin(), group.variables.end(), longer.begin());
      EXPECT_FALSE(begins && before.contains(longer));
    }
    before.insert(group.variables);
  }
}

TEST(CudaDeferred, AConstantOfOneIsNoFactor) {
  DeferredPhases deferred(2);
  deferred.take(multiply(0b11, -1));
  EXPECT_TRUE(deferred.done().empty());
}

}  // namespace
}  // namespace qsim
