// Numbers of generated kernels: which of them are one argument.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "plan/plan.h"

namespace qsim::cuda {
namespace {

/// A rotation of each of three qubits, by `angles`; `open`: that may be put in anew.
GeneratedSweep rotations(const std::array<double, 3>& angles, std::uint32_t open) {
  Sweep sweep;
  for (Bit bit = 0; bit < 12; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    PlanOp op;
    op.target_count = 1;
    op.targets[0] = static_cast<Bit>(3 + i);
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = 4;
    op.open = open;
    const double c = std::cos(angles[i]), s = std::sin(angles[i]);
    for (const double entry : {c, -s, s, c}) sweep.matrices.emplace_back(entry);
    sweep.ops.push_back(op);
  }
  LowerOptions options;
  options.local_bits = 20;
  return generate(lower_sweep(sweep, options));
}

TEST(CudaArguments, EqualNumbersAreOneArgument) {
  const GeneratedSweep equal = rotations({0.3, 0.3, 0.3}, 0), two = rotations({0.3, 0.3, 0.4}, 0),
                       apart = rotations({0.3, 0.5, 0.4}, 0);
  EXPECT_EQ(equal.reals.size() + 2, apart.reals.size());
  EXPECT_EQ(two.reals.size() + 1, apart.reals.size());
  EXPECT_EQ(equal.source, rotations({0.7, 0.7, 0.7}, 0).source);
}

TEST(CudaArguments, WhatIsNoNumberEqualsNone) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto count = [&](std::uint32_t open) {
    const std::vector<double> reals = rotations({none, 0.3, 0.4}, open).reals;
    return std::ranges::count_if(reals, [](double real) { return std::isnan(real); });
  };
  EXPECT_GT(count(0), 0);
  EXPECT_EQ(count(0), count(1));  // where none is shared
}

TEST(CudaArguments, WhichNumbersAreEqualIsNotInATextThatOthersArePutInto) {
  const GeneratedSweep equal = rotations({0.3, 0.3, 0.3}, 1), apart = rotations({0.3, 0.5, 0.4}, 1);
  EXPECT_EQ(equal.source, apart.source);
  EXPECT_EQ(equal.reals.size(), apart.reals.size());
}

}  // namespace
}  // namespace qsim::cuda
