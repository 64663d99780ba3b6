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
#include "cpu/direct/fuse.h"
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

// On one and two bits, between operations on more of them.
TEST(FusedSweep, IsTheSameInFewerOperations) {
  PhiloxSequence random(37);
  std::size_t before = 0, after = 0;
  for (int repeat = 0; repeat < 400; ++repeat) {
    SCOPED_TRACE(repeat);
    test::SweepShape shape;
    shape.bits = shape.active = static_cast<std::uint32_t>(1 + random.below(6));
    shape.operations = static_cast<std::uint32_t>(random.below(40));
    shape.max_targets = repeat % 3 == 0 ? 3 : repeat % 3;
    const Sweep sweep = test::random_sweep(random, shape), made = cpu::fused(sweep);
    before += sweep.ops.size();
    after += made.ops.size();
    EXPECT_LE(made.ops.size(), sweep.ops.size());
    const std::vector<Complex> state = test::random_state(random, shape.bits);
    const std::vector<Complex> wanted = test::reference_sweep(sweep, ChunkView{}, shape.bits, state);
    const std::vector<Complex> found = test::reference_sweep(made, ChunkView{}, shape.bits, state);
    for (Index i = 0; i < state.size(); ++i) ASSERT_NEAR(std::abs(wanted[i] - found[i]), 0, 1e-13) << i;
  }
  EXPECT_LT(after, before * 3 / 4);
}

TEST(FusedSweep, KeepsWhatIsCheaperAsItIs) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2};
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.targets[0] = 2;
  flip.control_mask = flip.control_value = 1;
  sweep.ops = {flip, flip};
  EXPECT_EQ(cpu::fused(sweep).ops, sweep.ops);  // two trips over a quarter each
  PlanOp turn;
  turn.target_count = 1;
  turn.data_count = 4;
  sweep.matrices = {0.6, Complex(0, 0.8), Complex(0, 0.8), 0.6};
  sweep.ops = {turn, flip, turn, flip};
  ASSERT_EQ(cpu::fused(sweep).ops.size(), 1u);
  EXPECT_EQ(cpu::fused(sweep).ops[0].target_count, 2);
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
