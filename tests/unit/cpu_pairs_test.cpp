// Matrices on two targets in tiles: their order, those that keep parity, and numbers below the normal range.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "cpu/cpu_info.h"
#include "cpu/tile/tile_schedule.h"
#include "cpu/tile/tile_translation.h"
#include "device/backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using cpu::ItemShape;
using cpu::Micro;
using cpu::PassOrder;

/// Tile bits 0..2 in lanes, 3..5 in registers, 6 and 7 beside them.
cpu::Placement eight_bits() {
  cpu::Placement placement;
  placement.lane_bits = placement.register_bits = 3;
  placement.position_bits = 8;
  for (int bit = 0; bit < 8; ++bit) placement.position.push_back(bit);
  for (int b = 0; b < 3; ++b) placement.registers[b] = static_cast<std::uint8_t>(b);
  return placement;
}

TEST(PassOrder, TakesWhatIsInRegistersFirstAndKeepsWhatDoesNotCommute) {
  const cpu::Placement placement = eight_bits();
  const std::vector<ItemShape> shapes = {
      {2, 0b000011, 0}, {2, 0b011000, 0}, {2, 0b100001, 0}, {0, 0b001010, 0}, {1, 0b100000, 0b10}, {2, 0b101000, 0},
  };
  PassOrder order({0, 1, 2, 3, 4, 5}, shapes);
  std::vector<std::size_t> taken;
  while (!order.finished()) taken.push_back(order.next(placement));
  // The third waits for the first, by their bit 0, and so do what is diagonal on bit 1 and what is on the third's bits.
  EXPECT_EQ(taken, (std::vector<std::size_t>{1, 0, 3, 2, 4, 5}));
}

TEST(PassOrder, KeepsAControlBeforeWhatChangesIt) {
  PassOrder order({0, 1}, {{2, 0b010001, 0b100000}, {2, 0b101000, 0}});
  EXPECT_EQ(order.next(eight_bits()), 0u) << "though one of its targets is in a lane";
  EXPECT_EQ(order.next(eight_bits()), 1u);
}

TEST(PassOrder, GoesByThePassesItemsAmongAll) {
  const std::vector<ItemShape> shapes = {{2, 0b11, 0}, {2, 0b11, 0}, {2, 0b11000, 0}};
  PassOrder order({0, 2}, shapes);
  EXPECT_EQ(order.next(eight_bits()), 1u) << "numbers count the pass's items";
  EXPECT_EQ(order.next(eight_bits()), 0u);
  EXPECT_TRUE(order.finished());
}

TEST(PassOrder, SparesTheRegisterThatIsNeededLast) {
  const cpu::Placement placement = eight_bits();
  const std::vector<ItemShape> shapes = {{2, 0b001001, 0}, {1, 0b001000, 0}, {0, 0b100000, 0}, {1, 0b010000, 0}};
  PassOrder order({0, 1, 2, 3}, shapes);
  EXPECT_EQ(order.spare_register(placement, 0), 2) << "a phase needs no register";
  EXPECT_EQ(order.spare_register(placement, 0b100000), 1);
  EXPECT_EQ(order.spare_register(placement, 0b110000), 0);
}

/// A unitary of order 2 as the operation has them, with `noise` where there should be nothing.
std::vector<Complex> half_of(PhiloxSequence& random, Micro kind, double noise) {
  if (kind == Micro::kParity4) return test::random_unitary(random, 2);
  const double angle = random.uniform(0, 7), c = std::cos(angle), s = std::sin(angle);
  const Complex along(c, noise);
  if (kind == Micro::kParityReal) return {along, Complex(-s, noise), Complex(s, -noise), along};
  return {along, Complex(noise, -s), Complex(noise, -s), along};
}

/// A unitary on two targets that mixes 00 with 11 and 01 with 10, with `noise` where there should be nothing; for
/// kMatrix4 one that mixes all.
std::vector<Complex> pair_matrix(PhiloxSequence& random, Micro kind, double noise) {
  if (kind == Micro::kMatrix4) return test::random_unitary(random, 4);
  const std::vector<Complex> even = half_of(random, kind, noise), odd = half_of(random, kind, noise);
  std::vector<Complex> all(16, Complex(noise, -noise));
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      all[12 * row + 3 * column] = even[2 * row + column];
      all[4 * (1 + row) + 1 + column] = odd[2 * row + column];
    }
  }
  return all;
}

/// One on every ordered pair of the active bits; every third one with a control.
Sweep pair_sweep(Micro kind, double noise) {
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11};
  PhiloxSequence random(17);
  for (const Bit low : sweep.active) {
    for (const Bit high : sweep.active) {
      if (low == high) continue;
      PlanOp op;
      op.target_count = 2;
      op.targets = {low, high};
      const auto control = static_cast<unsigned>(random.below(12));
      if (random.below(3) == 0 && control != low && control != high) {
        op.control_mask = bit_mask(control);
        op.control_value = random.below(2) << control;
      }
      op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
      op.data_count = 16;
      for (const Complex entry : pair_matrix(random, kind, noise)) sweep.matrices.push_back(entry);
      sweep.ops.push_back(op);
    }
  }
  return sweep;
}

/// Operations of the kind, or of the one that does the same beside a lane.
template <typename T>
std::size_t operations(const Sweep& sweep, Micro kind, int lane_bits, int register_bits) {
  const auto program = cpu::translate_sweep<T>(sweep, 12, lane_bits, register_bits);
  const Micro beside_lane = kind == Micro::kParity4   ? Micro::kLaneParity4
                            : kind == Micro::kMatrix4 ? Micro::kLaneMatrix4
                                                      : kind;
  return static_cast<std::size_t>(std::ranges::count_if(
      program.ops, [&](const cpu::MicroOp& op) { return op.kind == kind || op.kind == beside_lane; }));
}

template <typename T>
std::vector<std::complex<T>> swept(const Sweep& sweep, InstructionSet set, std::vector<std::complex<T>> state) {
  BackendOptions options;
  options.precision = sizeof(T) == 4 ? Precision::kSingle : Precision::kDouble;
  options.instruction_set = set;
  options.threads = 1;
  const std::unique_ptr<Backend> backend = make_cpu_backend(options);
  PoolLayout layout;
  layout.state_bytes = state.size() * sizeof(std::complex<T>);
  backend->reserve(layout, static_cast<std::uint32_t>(std::countr_zero(state.size())));
  backend->copy_in(0, state.size(), reinterpret_cast<const std::byte*>(state.data()));
  backend->sweep(backend->prepare(std::span(&sweep, 1), Summing::kNo), {}, 0, false);
  backend->reader().copy_out(0, state.size(), reinterpret_cast<std::byte*>(state.data()));
  return state;
}

template <typename T>
void expect_reference(Micro kind) {
  PhiloxSequence random(23);
  const std::vector<Complex> start = test::random_state(random, 12);
  std::vector<std::complex<T>> before;
  for (const Complex value : start) before.emplace_back(value);
  for (const double noise : {0.0, 1e-15}) {
    const Sweep sweep = pair_sweep(kind, noise);
    const std::vector<Complex> expected =
        test::reference_sweep(sweep, {}, 12, std::vector<Complex>(before.begin(), before.end()));
    for (const InstructionSet set : cpu::instruction_sets()) {
      const std::vector<std::complex<T>> after = swept<T>(sweep, set, before);
      double worst = 0;
      for (std::size_t i = 0; i < after.size(); ++i) {
        const double difference = std::abs(Complex(after[i]) - expected[i]);
        if (!(difference <= worst)) worst = difference;
      }
      EXPECT_LE(worst, sizeof(T) == 4 ? 1e-5 : 1e-12) << name_of(set) << ", noise " << noise;
    }
  }
}

TEST(CpuPairs, MatricesThatKeepParityAreDoneAsTwoOfOrderTwoWhereverTheirTargetsAre) {
  for (const Micro kind : {Micro::kParity4, Micro::kParityReal, Micro::kParityCross}) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Sweep exact = pair_sweep(kind, 0), noisy = pair_sweep(kind, 1e-15), other = pair_sweep(kind, 1e-9);
    for (const int registers : {2, 3}) {
      for (const int lanes : {2, 3, 4}) {
        const std::size_t count = operations<double>(exact, kind, lanes, registers);
        EXPECT_GE(count, 60u) << "all but those with a control in a lane";
        EXPECT_EQ(operations<float>(noisy, kind, lanes, registers), count);
        EXPECT_EQ(operations<double>(other, kind, lanes, registers), 0u) << "a small entry is an entry";
      }
    }
    expect_reference<double>(kind);
    expect_reference<float>(kind);
  }
}

TEST(CpuPairs, MatricesThatMixAllAreDoneBesideLanesWithoutBringingThemOut) {
  const Sweep sweep = pair_sweep(Micro::kMatrix4, 0);
  for (const int registers : {2, 3}) {
    for (const int lanes : {2, 3, 4}) {
      const auto program = cpu::translate_sweep<double>(sweep, 12, lanes, registers);
      const auto of = [&](Micro kind) { return std::ranges::count(program.ops, kind, &cpu::MicroOp::kind); };
      EXPECT_EQ(of(Micro::kMatrix4) + of(Micro::kMatrix4Masked) + of(Micro::kLaneMatrix4), 90);
      EXPECT_GE(of(Micro::kLaneMatrix4), 24) << "of the 90 ordered pairs, 32 or more have one target among the lanes";
      EXPECT_LE(of(Micro::kExchange), 3 * lanes * (lanes - 1)) << "one for a pair of lanes, and what that displaces";
    }
  }
  expect_reference<double>(Micro::kMatrix4);
  expect_reference<float>(Micro::kMatrix4);
}

/// Amplitudes of the least number, through a Hadamard on a lane and on a vector bit.
template <typename T>
void expect_subnormals_are_zeros() {
  const double r = std::sqrt(0.5);
  Sweep sweep;
  sweep.active = sweep.store = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11};
  sweep.matrices = {r, r, r, -r};
  for (const Bit target : {Bit{1}, Bit{9}}) {
    PlanOp op;
    op.target_count = 1;
    op.targets[0] = target;
    op.data_count = 4;
    sweep.ops.push_back(op);
  }
  constexpr T kSmall = std::numeric_limits<T>::min() / 8;
  std::vector<std::complex<T>> state(std::size_t{1} << 12, std::complex<T>(kSmall, -kSmall));
  state[5] = 1;
  for (const InstructionSet set : cpu::instruction_sets()) {
    if (set == InstructionSet::kScalar) continue;
    const unsigned before = _mm_getcsr() & ~0x3fu;  // the lowest bits say what has happened
    const std::vector<std::complex<T>> after = swept<T>(sweep, set, state);
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, before) << name_of(set) << ": others count with them";
    std::size_t zeros = 0;
    for (const std::complex<T>& value : after) zeros += value == std::complex<T>(0);
    EXPECT_EQ(zeros, state.size() - 4) << name_of(set);
    for (const std::size_t place : {5u, 7u, 0x205u, 0x207u}) EXPECT_NEAR(std::abs(after[place]), 0.5, 1e-6);
  }
}

TEST(CpuPairs, NumbersBelowTheNormalRangeCountAsZerosInSweepsAlone) {
  expect_subnormals_are_zeros<float>();
  expect_subnormals_are_zeros<double>();
}

}  // namespace
}  // namespace qsim
