// Bit arithmetic, text helpers, random numbers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim {
namespace {

static_assert(deposit_bits(0b101, 0b11010) == 0b10010);
static_assert(extract_bits(0b10010, 0b11010) == 0b101);
static_assert(low_mask(0) == 0 && low_mask(64) == ~Index{0});

TEST(Bits, DepositAndExtractUndoEachOther) {
  PhiloxSequence draws(3);
  for (int i = 0; i < 1000; ++i) {
    const Index mask = draws.bits(), value = draws.bits() & low_mask(count_bits(mask));
    const Index spread = deposit_bits(value, mask);
    EXPECT_EQ(spread & ~mask, 0u);
    EXPECT_EQ(extract_bits(spread, mask), value);
    EXPECT_EQ(extract_bits(spread | (draws.bits() & ~mask), mask), value);
  }
}

TEST(Bits, CountingUnderAMaskVisitsEveryValueOnce) {
  const Index mask = 0b1011000100, rest = 0b0100001001;
  std::set<Index> seen;
  Index index = rest;
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(index & ~mask, rest);
    EXPECT_TRUE(seen.insert(index).second);
    index = next_under_mask(index, mask);
  }
  EXPECT_EQ(index, rest);
}

TEST(Bits, CountsAndParitiesAreThoseOfTheBitsOneByOne) {
  for (Index i = 0; i < 4096; ++i) {
    const Index value = (i * 0x9E3779B97F4A7C15u) >> (i % 64);
    int ones = 0;
    for (unsigned bit = 0; bit < 64; ++bit) ones += test_bit(value, bit);
    EXPECT_EQ(popcount(value), ones) << value;
    EXPECT_EQ(odd_parity(value), ones % 2 == 1) << value;
  }
}

// Known answers published with Random123 (kat_vectors, philox4x64 with 10 rounds).
TEST(Philox, GivesThePublishedAnswers) {
  const auto zero = Philox(0, 0).block(0);
  EXPECT_EQ(zero[0], 0x16554d9eca36314cull);
  EXPECT_EQ(zero[1], 0xdb20fe9d672d0fdcull);
  EXPECT_EQ(zero[2], 0xd7e772cee186176bull);
  EXPECT_EQ(zero[3], 0x7e68b68aec7ba23bull);
}

TEST(Philox, SeedStreamAndCounterAllMatter) {
  std::set<std::uint64_t> words;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t stream = 0; stream < 8; ++stream) {
      for (std::uint64_t counter = 0; counter < 8; ++counter) words.insert(Philox(seed, stream).bits(counter));
    }
  }
  EXPECT_EQ(words.size(), 512u);
}

TEST(Philox, UniformAndGaussianHaveTheirMoments) {
  const Philox philox(7, 1);
  constexpr int kDraws = 200000;
  double mean = 0, gauss_mean = 0, gauss_square = 0, cross = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = philox.uniform(i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    mean += u;
    const auto [a, b] = philox.gaussian_pair(i);
    ASSERT_TRUE(std::isfinite(a) && std::isfinite(b));
    gauss_mean += a + b;
    gauss_square += a * a + b * b;
    cross += a * b;
  }
  EXPECT_NEAR(mean / kDraws, 0.5, 0.003);
  EXPECT_NEAR(gauss_mean / (2 * kDraws), 0, 0.008);
  EXPECT_NEAR(gauss_square / (2 * kDraws), 1, 0.015);
  EXPECT_NEAR(cross / kDraws, 0, 0.012);
}

TEST(Philox, BelowIsUniformOverASmallRange) {
  PhiloxSequence draws(9);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60000; ++i) ++counts[draws.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(PhiloxSequence(1).below(1), 0u);
}

TEST(Text, EscapesWhatCouldSteerATerminal) {
  EXPECT_EQ(escape_text("plain \xCF\x80"), "plain \xCF\x80");
  EXPECT_EQ(escape_text("a\nb\tc\x1b[2J"), "a\\nb\\tc\\x1b[2J");
  EXPECT_EQ(escape_text(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(escape_text("\xC2\x9B"), "\\xc2\\x9b");           // C1 control
  EXPECT_EQ(escape_text("\xE2\x80\xAE"), "\\xe2\\x80\\xae");  // right-to-left override
  EXPECT_EQ(escape_text("\xC0\xAF\xFF"), "\\xc0\\xaf\\xff");  // overlong, never valid
  EXPECT_EQ(escape_text("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(escape_text("abcdef", 3), "abc...");
  EXPECT_EQ(escape_text("\xE2\x82"), "\\xe2\\x82");  // cut off
}

TEST(Text, EditDistanceCountsSwappedNeighboursAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("swpa", "swap"), 1u);
  EXPECT_EQ(edit_distance("ccx", "cx"), 1u);
  constexpr EditCosts kCosts{8, 9, 1};
  EXPECT_EQ(edit_distance("Swpa", "swap", kCosts), 9u);
  EXPECT_EQ(edit_distance("rx", "rzx", kCosts), 8u);
  EXPECT_EQ(edit_distance("rx", "ry", kCosts), 9u);
}

TEST(Text, NearestNameIsNearOrNothing) {
  const std::array<std::string_view, 5> names = {"cx", "ccx", "swap", "barrier", "measure"};
  EXPECT_EQ(nearest_name("swpa", names), "swap");
  EXPECT_EQ(nearest_name("mesure", names), "measure");
  EXPECT_EQ(nearest_name("CX", names), "cx");
  EXPECT_EQ(nearest_name("zzzzzz", names), "");
  EXPECT_EQ(nearest_name("q", names), "");
}

TEST(Text, NumbersThatDifferLookDifferent) {
  EXPECT_EQ(format_number(0.25), "0.25");
  EXPECT_EQ(format_number(3.2e-15), "3.2e-15");
  for (const double value : {1.0, 1e-10, 0.9999999999, 123456.789}) {
    EXPECT_NE(format_number(value), format_number(std::nextafter(value, 2 * value)));
    EXPECT_EQ(std::stod(format_number(value)), value);
  }
}

TEST(Text, ByteSizesAreShort) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1), "1 byte");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1048575), "1 MiB");
  EXPECT_EQ(format_bytes(256ull << 30), "256 GiB");
}

}  // namespace
}  // namespace qsim
