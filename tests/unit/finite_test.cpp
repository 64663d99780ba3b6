// What counts as a number: everything but NaN and the infinities, wherever it stands.
#include "base/numbers/finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace qsim {
namespace {

template <typename Real>
class Finite : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Finite, Precisions);

TYPED_TEST(Finite, TellsNumbersFromWhatIsNone) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam number : {TypeParam{0}, -TypeParam{0}, TypeParam{1}, Limits::max(), Limits::lowest(),
                                 Limits::min(), Limits::denorm_min(), -Limits::denorm_min()}) {
    EXPECT_TRUE(all_finite(std::span<const TypeParam>(std::vector<TypeParam>(37, number)))) << number;
  }
  EXPECT_TRUE(all_finite(std::span<const TypeParam>()));
  for (const TypeParam none :
       {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    for (const std::size_t place : {0, 1, 18, 35, 36}) {
      std::vector<TypeParam> values(37, Limits::max());
      values[place] = none;
      EXPECT_FALSE(all_finite(std::span<const TypeParam>(values))) << none << " at " << place;
      EXPECT_THROW(require_finite(std::span<const TypeParam>(values), "an amplitude"), VerificationError);
    }
  }
}

}  // namespace
}  // namespace qsim
