// Phases that wait are grouped by what meets a register, so that each register is multiplied once.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <set>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
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
  DeferredPhases deferred(4, Precision::kDouble);
  EXPECT_TRUE(deferred.done().empty());
  deferred.take(multiply(0xf, 0));
  EXPECT_EQ(deferred.done().size(), 1u);
  EXPECT_TRUE(deferred.done().empty());
}

TEST(CudaDeferred, EachRegisterIsInOneGroupWithAllThatMeetsIt) {
  DeferredPhases deferred(4, Precision::kDouble);
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
  DeferredPhases deferred(8, Precision::kDouble);
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
  DeferredPhases deferred(8, Precision::kDouble);
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

/// What each register is multiplied with, by these numbers of the factors that are variables.
std::vector<Complex> products_of(const std::vector<DeferredPhases::Group>& groups, std::uint32_t registers) {
  std::vector<Complex> products(registers, 1);
  for (const auto& group : groups) {
    Complex product = group.value;
    for (const std::uint32_t number : group.variables) product *= std::polar(1.0, 0.1 * (number + 1));
    for (std::uint32_t j = 0; j < registers; ++j) products[j] *= (group.set >> j & 1) != 0 ? product : Complex(1);
  }
  return products;
}

// All products of four slots' factors and of the pairs of slots are fifteen groups; slots two by two are six groups,
// and what both pairs of slots have part in.
TEST(CudaDeferred, ManyFactorsAreDoneSlotsAfterSlots) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    DeferredPhases deferred(16, precision);
    std::vector<Complex> expected(16, 1);
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      std::uint32_t set = 0;
      for (std::uint32_t j = 0; j < 16; ++j) set |= (j >> slot & 1u) << j;
      const std::uint32_t number = deferred.take(multiply(set, static_cast<int>(slot)));
      for (std::uint32_t j = 0; j < 16; ++j)
        expected[j] *= (set >> j & 1) != 0 ? std::polar(1.0, 0.4 * number + 0.1) : 1;
      for (std::uint32_t other = 0; other < slot; ++other) {
        std::uint32_t both = 0;
        for (std::uint32_t j = 0; j < 16; ++j) both |= (j >> slot & j >> other & 1u) << j;
        const Complex constant = std::polar(1.0, 0.3 + slot + 0.2 * other);
        deferred.take(multiply(both, -1, constant));
        for (std::uint32_t j = 0; j < 16; ++j) expected[j] *= (both >> j & 1) != 0 ? constant : 1;
      }
    }
    const auto groups = deferred.done();
    std::size_t most = 0;
    for (const auto& group : groups) most = std::max(most, group.variables.size());
    EXPECT_EQ(most, precision == Precision::kDouble ? 2U : 4U);
    const std::vector<Complex> products = products_of(groups, 16);
    for (std::uint32_t j = 0; j < 16; ++j) EXPECT_LE(std::abs(products[j] - expected[j]), 1e-14) << j;
    EXPECT_TRUE(deferred.done().empty());
  }
}

TEST(CudaDeferred, HoweverTheyAreDoneRegistersAreMultipliedByAllOfTheirFactors) {
  PhiloxSequence random(5);
  std::size_t apart = 0;
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t registers = round % 2 == 0 ? 16 : 32;
    DeferredPhases deferred(registers, round % 3 == 0 ? Precision::kSingle : Precision::kDouble);
    std::vector<Complex> expected(registers, 1);
    const std::uint64_t count = 1 + random.below(12);
    for (std::uint64_t k = 0; k < count; ++k) {
      const auto slots = static_cast<std::uint32_t>(1 + random.below(registers - 1));
      const std::uint64_t form = random.below(3);  // all ones of some slots, their parity, any registers
      std::uint32_t set = 0;
      for (std::uint32_t j = 0; j < registers; ++j) {
        const bool in = form == 0 ? (j & slots) == slots : form == 1 ? odd_parity(j & slots) : random.below(2) == 0;
        set |= in ? 1u << j : 0;
      }
      const bool variable = random.below(3) != 0;
      const Complex constant = std::polar(1.0, random.uniform(-3, 3));
      const std::uint32_t number = deferred.take(multiply(set, variable ? 0 : -1, variable ? Complex(1) : constant));
      const Complex factor = variable ? std::polar(1.0, 0.1 * (4 * number + 1)) : constant;
      for (std::uint32_t j = 0; j < registers; ++j) expected[j] *= (set >> j & 1) != 0 ? factor : Complex(1);
    }
    const auto groups = deferred.done();
    std::uint32_t all = 0, twice = 0;
    for (const auto& group : groups) {
      twice |= all & group.set;
      all |= group.set;
    }
    apart += twice != 0 ? 1 : 0;
    const std::vector<Complex> products = products_of(groups, registers);
    for (std::uint32_t j = 0; j < registers; ++j) EXPECT_LE(std::abs(products[j] - expected[j]), 1e-13) << round;
  }
  EXPECT_GT(apart, 20U);
}

TEST(CudaDeferred, AConstantOfOneIsNoFactor) {
  DeferredPhases deferred(2, Precision::kDouble);
  deferred.take(multiply(0b11, -1));
  EXPECT_TRUE(deferred.done().empty());
}

}  // namespace
}  // namespace qsim
