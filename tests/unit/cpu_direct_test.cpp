// The machine of sweeps that run once, over vectors in plain code: of every number of lanes, whatever this machine has.
#define QSIM_DIRECT_MACHINE_BODY
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "cpu/direct/direct_sweep.h"
#include "device/backend.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

template <int kBits>
struct PlainVector {
  static constexpr int kLaneBits = kBits, kLanes = 1 << kBits;
  using Register = std::array<double, kLanes>;
  template <typename F>
  static Register each(const F& f) {
    Register made;
    for (unsigned lane = 0; lane < kLanes; ++lane) made[lane] = f(lane);
    return made;
  }
  static Register load(const double* p) {
    return each([&](unsigned lane) { return p[lane]; });
  }
  static void store(double* p, const Register& v) { std::copy(v.begin(), v.end(), p); }
  static Register set1(double value) {
    return each([&](unsigned) { return value; });
  }
  static Register mul(const Register& a, const Register& b) {
    return each([&](unsigned lane) { return a[lane] * b[lane]; });
  }
  static Register fmadd(const Register& a, const Register& b, const Register& c) {
    return each([&](unsigned lane) { return std::fma(a[lane], b[lane], c[lane]); });
  }
  static Register fnmadd(const Register& a, const Register& b, const Register& c) {
    return each([&](unsigned lane) { return std::fma(-a[lane], b[lane], c[lane]); });
  }
  static Register blend(std::uint32_t lanes, const Register& off, const Register& on) {
    return each([&](unsigned lane) { return (lanes >> lane & 1) != 0 ? on[lane] : off[lane]; });
  }
  template <int L>
  static Register swap(const Register& v) {
    return each([&](unsigned lane) { return v[lane ^ 1u << L]; });
  }
  template <int L>
  static void exchange(Register& a, Register& b) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((lane >> L & 1) != 0) std::swap(a[lane], b[lane ^ 1u << L]);
    }
  }
};

template <typename Vector>
class DirectMachineOf : public testing::Test {};
using Vectors = testing::Types<PlainVector<1>, PlainVector<2>, PlainVector<3>>;
TYPED_TEST_SUITE(DirectMachineOf, Vectors);

TYPED_TEST(DirectMachineOf, SweepsMatchTheirDefinition) {
  PhiloxSequence random(31);
  const cpu::DirectMachine machine{TypeParam::kLaneBits, &cpu::DirectSweep<TypeParam>::run};
  for (std::uint32_t bits = 1; bits <= 9; ++bits) {
    for (int repeat = 0; repeat < 40; ++repeat) {
      SCOPED_TRACE("bits " + std::to_string(bits) + ", repeat " + std::to_string(repeat));
      test::SweepShape shape;
      shape.bits = shape.active = bits;
      shape.operations = static_cast<std::uint32_t>(random.below(16));
      shape.births = repeat % 3 == 1;
      shape.reads = repeat % 6 != 5;
      shape.max_targets = repeat % 2 == 0 ? 2 : kMaxMatrixTargets;
      Sweep sweep = test::random_sweep(random, shape);
      sweep.once = true;
      ASSERT_TRUE(cpu::runs_directly(sweep, bits));
      std::vector<Complex> state = test::random_state(random, bits);
      const std::vector<Complex> expected = test::reference_sweep(sweep, ChunkView{}, bits, state);
      cpu::DirectProgram(sweep, bits, machine).run(state.data(), false);
      for (Index i = 0; i < state.size(); ++i) {
        if ((i & test::unborn_after(sweep)) != 0) continue;
        ASSERT_NEAR(std::abs(state[i] - expected[i]), 0, 1e-13) << i;
      }
    }
  }
}

TEST(DirectSweep, IsForSmallWholeStatesThatRunOnce) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2};
  EXPECT_FALSE(cpu::runs_directly(sweep, 3));
  sweep.once = true;
  EXPECT_TRUE(cpu::runs_directly(sweep, 3));
  EXPECT_FALSE(cpu::runs_directly(sweep, 4));
  sweep.ops.resize(100'000);
  EXPECT_FALSE(cpu::runs_directly(sweep, 3));
  for (Bit bit = 3; bit < 20; ++bit) sweep.active.push_back(bit);
  sweep.ops.clear();
  EXPECT_FALSE(cpu::runs_directly(sweep, 20));
}

}  // namespace
}  // namespace qsim
