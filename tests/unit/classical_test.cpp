// Arithmetic of the classical types: widths, wrapping, rounding, conversions.
#include "classical/classical.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace qsim {
namespace {

Scalar integer(unsigned width, int value) {
  return make_word({ScalarKind::kInt, static_cast<std::uint16_t>(width)}, static_cast<Wide>(SignedWide{value}));
}
Scalar natural(unsigned width, unsigned value) {
  return make_word({ScalarKind::kUint, static_cast<std::uint16_t>(width)}, value);
}
Scalar angle(unsigned width, double radians) {
  return make_real({ScalarKind::kAngle, static_cast<std::uint16_t>(width)}, radians);
}
Scalar number(double value, unsigned width = 64) {
  return make_real({ScalarKind::kFloat, static_cast<std::uint16_t>(width)}, value);
}

TEST(Classical, IntegersWrapAndTruncateAndKeepTheSignOfTheDividend) {
  EXPECT_EQ("-128", value_text(apply(Operator::kAdd, integer(8, 127), integer(8, 1))));
  EXPECT_EQ("-3", value_text(apply(Operator::kDivide, integer(8, -7), integer(8, 2))));
  EXPECT_EQ("-1", value_text(apply(Operator::kModulo, integer(8, -7), integer(8, 2))));
  EXPECT_EQ("255", value_text(apply(Operator::kSubtract, natural(8, 0), natural(8, 1))));
  EXPECT_EQ("512", value_text(apply(Operator::kPower, integer(64, 2), integer(64, 9))));
  EXPECT_THROW(apply(Operator::kDivide, integer(8, 1), integer(8, 0)), ArithmeticFault);
  EXPECT_THROW(apply(Operator::kPower, integer(8, 2), integer(8, -1)), ArithmeticFault);
  EXPECT_EQ("-1", value_text(convert(natural(4, 15), {ScalarKind::kInt, 4})));
}

TEST(Classical, ComparisonsOfIntegersAreThoseOfTheNumbers) {
  EXPECT_TRUE(truth(apply(Operator::kLess, integer(8, -1), natural(64, 1))));
  EXPECT_TRUE(truth(apply(Operator::kEqual, integer(8, 5), natural(64, 5))));
}

TEST(Classical, AnglesWrapAtATurn) {
  EXPECT_EQ(Wide{8}, angle(4, std::numbers::pi).word);
  EXPECT_EQ(Wide{0}, angle(64, 2 * std::numbers::pi).word);
  EXPECT_EQ(Wide{12}, angle(4, -std::numbers::pi / 2).word);
  EXPECT_EQ(Wide{1}, apply(Operator::kAdd, angle(4, std::numbers::pi), angle(4, 9 * std::numbers::pi / 8)).word);
  EXPECT_EQ(Wide{3}, apply(Operator::kDivide, make_word({ScalarKind::kAngle, 4}, 7), natural(4, 2)).word);
  EXPECT_EQ(Wide{2}, convert(make_word({ScalarKind::kAngle, 4}, 9), {ScalarKind::kAngle, 2}).word);
  EXPECT_NEAR(std::numbers::pi / 4, real_value(angle(32, std::numbers::pi / 4)), 1e-15);
}

TEST(Classical, ShiftsAndRotationsStayInTheirWidth) {
  EXPECT_EQ(Wide{44}, apply(Operator::kRotl, natural(6, 37), integer(64, 3)).word);
  EXPECT_EQ(Wide{44}, apply(Operator::kRotr, natural(6, 37), integer(64, 3)).word);
  EXPECT_EQ(Wide{10}, apply(Operator::kShiftLeft, natural(4, 5), integer(64, 1)).word);
  EXPECT_EQ(Wide{0}, apply(Operator::kShiftLeft, natural(4, 5), integer(64, 200)).word);
  EXPECT_EQ("-1", value_text(apply(Operator::kShiftRight, integer(8, -1), integer(64, 3))));
  EXPECT_THROW(apply(Operator::kShiftLeft, natural(4, 1), integer(64, -1)), ArithmeticFault);
  EXPECT_EQ(Wide{3}, apply(Operator::kPopcount, natural(6, 37)).word);
}

TEST(Classical, FloatsAreRoundedToTheirWidth) {
  EXPECT_EQ(static_cast<double>(0.1f), number(0.1, 32).parts[0]);
  EXPECT_EQ(0.0999755859375, number(0.1, 16).parts[0]);
  EXPECT_EQ(65504.0, number(65510.0, 16).parts[0]);
  EXPECT_THROW(apply(Operator::kSqrt, number(-1)), ArithmeticFault);
  EXPECT_THROW(apply(Operator::kLog, number(0)), ArithmeticFault);
}

TEST(Classical, FloatsThatWouldBeInfiniteDoNotFit) {
  const ScalarType half{ScalarKind::kFloat, 16}, single{ScalarKind::kFloat, 32}, pair{ScalarKind::kComplex, 32};
  EXPECT_EQ(make_real(half, 65519.9).number(), 65504.0);
  EXPECT_EQ(make_real(half, -65504).number(), -65504.0);
  EXPECT_THROW(make_real(half, 65520), ArithmeticFault);
  EXPECT_THROW(make_real(half, -1e300), ArithmeticFault);
  EXPECT_EQ(make_real(single, 3.4e38).number().real(), static_cast<double>(3.4e38f));
  EXPECT_THROW(make_real(single, 3.5e38), ArithmeticFault);
  EXPECT_THROW(make_complex(pair, {0, 1e39}), ArithmeticFault);
}

TEST(Classical, WhatHasNoMeaningHasNoType) {
  const ScalarType bit{ScalarKind::kBit, 1}, whole{ScalarKind::kInt, 8}, turn{ScalarKind::kAngle, 8},
      time{ScalarKind::kDuration, 0}, both{ScalarKind::kComplex, 64};
  EXPECT_FALSE(result_type(Operator::kShiftLeft, bit, whole));
  EXPECT_FALSE(result_type(Operator::kMultiply, turn, turn));
  EXPECT_FALSE(result_type(Operator::kMultiply, time, time));
  EXPECT_FALSE(result_type(Operator::kLess, both, both));
  EXPECT_FALSE(result_type(Operator::kModulo, both, whole));
  EXPECT_FALSE(converts(turn, whole, true));
  EXPECT_FALSE(converts(whole, time, true));
  EXPECT_FALSE(converts(both, turn, true));
}

TEST(Classical, LargeWordsHave128Bits) {
  const Scalar large = make_word({ScalarKind::kUint, 128}, ~Wide{0});
  EXPECT_EQ("340282366920938463463374607431768211455", value_text(large));
  EXPECT_EQ("0", value_text(apply(Operator::kAdd, large, make_word({ScalarKind::kUint, 128}, 1))));
}

}  // namespace
}  // namespace qsim
