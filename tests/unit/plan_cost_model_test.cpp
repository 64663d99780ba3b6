// Predicted seconds and bytes against sums done by hand, on a machine of round numbers: every plan is chosen by them,
// and memory is promised by them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/make/make_plan.h"
#include "plan/matrix_forms.h"
#include "plan/plan.h"
#include "plan/program/forecast.h"
#include "plan/program/layout.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// 2^20 amplitudes of 16 bytes are read in 1 s, written in 2 s and sent in 4 s.
Machine round_machine(BackendKind kind = BackendKind::kCuda) {
  Machine machine;
  machine.kind = kind;
  CostTable cost;
  cost.read_bytes_per_second = 16.0 * kMiB;
  cost.write_bytes_per_second = 8.0 * kMiB;
  cost.link_bytes_per_second = 4.0 * kMiB;
  machine.cost_double = machine.cost_single = cost;
  return machine;
}

Sweep sweep_on(std::vector<Bit> active) {
  Sweep sweep;
  sweep.active = active;
  sweep.store = std::move(active);
  return sweep;
}

void add_matrix(Sweep& sweep, std::vector<Bit> targets, std::vector<Complex> matrix, Index controls = 0) {
  PlanOp op;
  op.target_count = static_cast<std::uint8_t>(targets.size());
  std::copy(targets.begin(), targets.end(), op.targets.begin());
  op.control_mask = op.control_value = controls;
  op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
  op.data_count = static_cast<std::uint32_t>(matrix.size());
  sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
  sweep.ops.push_back(op);
}

const std::vector<Complex> kGeneral{0.6, Complex(0, 0.8), Complex(0, 0.8), 0.6}, kReal{0.6, -0.8, 0.8, 0.6},
    kButterfly{0.5, 0.5, 0.5, -0.5};

TEST(CostModel, CountsWhatASweepComputes) {
  Sweep sweep = sweep_on({0, 1, 2, 3});
  add_matrix(sweep, {0}, kGeneral);
  add_matrix(sweep, {1}, kReal, bit_mask(7));
  add_matrix(sweep, {1}, kReal);
  add_matrix(sweep, {0}, kButterfly);
  add_matrix(sweep, {0, 1}, std::vector<Complex>(16));
  add_matrix(sweep, {0, 1}, std::vector<Complex>(16), bit_mask(2));
  add_matrix(sweep, {0, 1, 2}, std::vector<Complex>(64));
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.targets[0] = 3;
  sweep.ops.push_back(flip);
  flip.control_mask = flip.control_value = bit_mask(1);
  sweep.ops.push_back(flip);
  flip.control_mask = flip.control_value = bit_mask(1) | bit_mask(7);
  sweep.ops.push_back(flip);
  flip.control_mask = flip.control_value = bit_mask(6) | bit_mask(7);
  sweep.ops.push_back(flip);
  PlanOp phases;
  phases.form = Form::kPhases;
  phases.data_count = 5;  // of bits in the tile, outside it, and in two parts of both
  for (const Index mask : {0b11, 0b10000, 0b10011, 0b100011, 0b10001}) sweep.phases.push_back({mask, false, 0.1});
  sweep.ops.push_back(phases);
  sweep.ops.push_back(phases);
  const ArithmeticCounts counts = arithmetic_counts(sweep, 3);
  EXPECT_EQ(counts.matrix1_general, 1);
  EXPECT_EQ(counts.matrix1_real, 1);
  EXPECT_EQ(counts.controlled_real, 1);
  EXPECT_EQ(counts.controlled_general, 0);
  EXPECT_EQ(counts.controlled_entries, 4);
  EXPECT_EQ(counts.pair_entries, 0);
  EXPECT_EQ(counts.butterfly, 1);
  EXPECT_EQ(counts.matrix_dense[2], 1.75);
  EXPECT_EQ(counts.matrix_dense[3], 1);
  EXPECT_EQ(counts.flip, 4);
  EXPECT_EQ(counts.flips_outside, 1);  // under 6 and 7
  EXPECT_EQ(counts.flips_inside, 1);   // under 1 and 7; under 1 alone as without controls
  EXPECT_EQ(counts.phases, 2);
  EXPECT_EQ(counts.phase_term, 10);
  EXPECT_EQ(counts.phase_parts, 4);
  EXPECT_EQ(counts.regroup, 1);  // bits 0, 1 and 2 fill the registers; 3 does not fit beside them
  EXPECT_EQ(arithmetic_counts(sweep, 4).regroup, 0);
  EXPECT_EQ(arithmetic_counts(sweep, 1).regroup, 6);
}

// A 1 in each row is free, and so is every real or imaginary part that is 0.
TEST(CostModel, CountsTheNumbersOfPairsAndControlledMatrices) {
  Sweep sweep = sweep_on({0, 1});
  std::vector<Complex> pair(16);
  pair[0] = pair[15] = 1;
  pair[5] = pair[10] = 0.6;
  pair[6] = pair[9] = Complex(0, 0.8);
  add_matrix(sweep, {0, 1}, pair);
  add_matrix(sweep, {0}, kGeneral, bit_mask(1));
  const ArithmeticCounts counts = arithmetic_counts(sweep, 4);
  EXPECT_EQ(counts.pair_entries, 4);
  EXPECT_EQ(counts.controlled_general, 1);
  EXPECT_EQ(counts.controlled_entries, 4);
  FormCosts costs;
  costs.matrix_dense[2] = 100;
  EXPECT_EQ(costs.pair(4), 100);
  costs.pair_entry = 5;
  costs.flip = 3;
  EXPECT_EQ(costs.pair(4), 26);
  EXPECT_EQ(costs.pair(32), 100);
}

// A row that keeps parity is a tangent, one number where it is real or imaginary.
TEST(CostModel, ComplexTangentsOfPairsCostMore) {
  std::vector<Complex> pair(16);
  pair[0] = std::polar(1.0, 0.2);
  pair[15] = std::polar(1.0, 0.7);
  pair[5] = 0.6;
  pair[6] = std::polar(0.8, 0.4);
  pair[9] = -0.8;
  pair[10] = std::polar(0.6, 0.4);
  EXPECT_EQ(pair_entries(pair), kParityPairEntries + 2 * kComplexTangent);
  pair[6] = Complex(0, 0.8);
  EXPECT_EQ(pair_entries(pair), kParityPairEntries + kComplexTangent);
  pair[10] = Complex(0, 0.6);
  EXPECT_EQ(pair_entries(pair), kParityPairEntries);
  pair[0] = pair[15] = 1;
  pair[6] = 0.8;
  pair[10] = 0.6;
  EXPECT_EQ(pair_entries(pair), 4) << "the numbers themselves are fewer";
}

// Cores have kernels for matrices that keep the parity of their qubits: general, real, or imaginary beside the
// diagonal.
TEST(CostModel, CountsPairsByWhatKeepsParity) {
  std::vector<Complex> cross(16), real(16);
  cross[0] = cross[5] = cross[10] = cross[15] = 0.6;
  cross[3] = cross[6] = cross[9] = cross[12] = Complex(0, -0.8);
  real[0] = real[15] = 1;
  real[5] = real[10] = 0.6;
  real[6] = -0.8;
  real[9] = 0.8;
  EXPECT_EQ(parity_entries(cross), 8);
  EXPECT_EQ(parity_entries(real), 8);
  for (const std::size_t at : {0u, 3u, 5u, 6u, 9u, 10u, 12u, 15u}) {
    std::vector<Complex> general = cross;
    general[at] *= std::polar(1.0, 0.3);
    EXPECT_EQ(parity_entries(general), 16) << at;
  }
  for (const std::size_t at : {1u, 2u, 4u, 7u, 8u, 11u, 13u, 14u}) {
    std::vector<Complex> any = real;
    any[at] = 1e-9;
    EXPECT_EQ(parity_entries(any), 32) << at;
  }
  Sweep sweep = sweep_on({0, 1});
  add_matrix(sweep, {0, 1}, cross);
  const ArithmeticCounts counts = arithmetic_counts(sweep, 4);
  EXPECT_EQ(counts.parity_entries, 8);
  const CostTable cores = find_machine("cpu").cost_double;
  EXPECT_TRUE(cores.by_parity);
  EXPECT_LT(cores.pair(8), 4 * cores.butterfly);
  EXPECT_EQ(cores.pair(32), cores.matrix_dense[2]);
}

TEST(CostModel, LooksAtEveryEntryOfAMatrix) {
  for (std::size_t entry = 0; entry < 4; ++entry) {
    Sweep complex = sweep_on({0}), uneven = sweep_on({0});
    std::vector<Complex> matrix = kButterfly;
    matrix[entry] *= Complex(0, 1);
    add_matrix(complex, {0}, matrix);
    EXPECT_EQ(arithmetic_counts(complex, 4).matrix1_general, 1) << entry;
    matrix = kButterfly;
    matrix[entry] *= 1.5;
    add_matrix(uneven, {0}, matrix);
    EXPECT_EQ(arithmetic_counts(uneven, 4).matrix1_real, 1) << entry;
  }
}

TEST(CostModel, CountsWhatASweepTouches) {
  Sweep sweep = sweep_on({0, 1, 4});
  sweep.unborn = bit_mask(4) | bit_mask(5);
  sweep.births = {{4, {}}};
  EXPECT_EQ(sweep_traffic(sweep, 10).amplitudes_read, 256u);
  EXPECT_EQ(sweep_traffic(sweep, 10).amplitudes_written, 512u);
  sweep.reads = false;
  EXPECT_EQ(sweep_traffic(sweep, 10).amplitudes_read, 0u);
  Exchange exchange;
  exchange.swaps = {{0, 10}, {1, 11}};
  EXPECT_EQ(exchanged_amplitudes(exchange, 10), 768u);
  exchange.unborn = bit_mask(5) | bit_mask(6) | bit_mask(7);
  EXPECT_EQ(exchanged_amplitudes(exchange, 10), 96u);
}

TEST(CostModel, AddsAPassOverMemoryItsLaunchAndItsNarrowRuns) {
  Machine machine = round_machine();
  const auto seconds = [&](const Sweep& sweep, std::uint32_t local_bits = 20) {
    return sweep_seconds(sweep, local_bits, Precision::kDouble, machine);
  };
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 1, 2})), 3);
  machine.cost_double.sweep_overhead = 10;
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 1, 2})), 13);
  const double factors[] = {8, 4, 2, 1};
  std::copy(factors, factors + 4, machine.cost_double.narrow_run_factor);
  EXPECT_DOUBLE_EQ(seconds(sweep_on({3, 4})), 34);
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 4, 5})), 22);
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 1, 3})), 16);
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 1})), 16);
  EXPECT_DOUBLE_EQ(seconds(sweep_on({0, 1, 2, 3})), 13);
  machine.cost_double.sweep_overhead = 0;
  EXPECT_DOUBLE_EQ(seconds(sweep_on({}), 3), 8 * 3 * std::exp2(-17));
  EXPECT_DOUBLE_EQ(seconds(sweep_on({}), 2), 3 * std::exp2(-18));  // too small for runs
  Sweep narrow = sweep_on({0, 1, 2});
  EXPECT_DOUBLE_EQ(sweep_seconds(narrow, 20, Precision::kSingle, machine), 1.5);
}

TEST(CostModel, AddsWhatWaitsAndWhatIsWrittenApartWhereWiresAreBorn) {
  Machine machine = round_machine();
  machine.cost_double.births = {0.5, {0.25, 0.125}};
  const auto seconds = [&](Sweep sweep, int births) {
    sweep.unborn = births > 0 ? ((bit_mask(births) - 1) << 10) : 0;
    for (int b = 0; b < births; ++b) sweep.births.push_back({static_cast<Bit>(10 + b), {}});
    const double with = sweep_seconds(sweep, 20, Precision::kDouble, machine);
    return std::pair(with, sweep_seconds(sweep, 20, Precision::kDouble, without_births_and_norm(machine)));
  };
  const auto added = [&](const Sweep& sweep, int births) {
    const auto [with, without] = seconds(sweep, births);
    return with - without;
  };
  const double write = sweep_seconds(sweep_on({0, 1, 2}), 20, Precision::kDouble, machine) -
                       (1 << 20) * 16 / machine.cost_double.read_bytes_per_second;
  EXPECT_EQ(added(sweep_on({0, 1, 2}), 0), 0);
  for (const int births : {1, 3}) {
    const double share = 1 - std::exp2(-births);
    const double all = seconds(sweep_on({0, 1, 2}), births).second;
    EXPECT_DOUBLE_EQ(added(sweep_on({0, 1, 2}), births), share * (0.5 * all + 0.25 * write));
    EXPECT_DOUBLE_EQ(added(sweep_on({0, 1, 2, 3}), births), share * (0.5 * all + 0.125 * write));
    EXPECT_DOUBLE_EQ(added(sweep_on({0, 1, 2, 3, 4}), births), share * 0.5 * all);
    EXPECT_DOUBLE_EQ(added(sweep_on({0, 1, 2, 3, 4, 5}), births), share * 0.5 * all);
    EXPECT_DOUBLE_EQ(added(sweep_on({0, 1}), births), share * 0.5 * all);  // the run factor says the rest
  }
  Sweep first = sweep_on({0, 1, 2});  // reads nothing: nothing waits
  first.reads = false;
  EXPECT_DOUBLE_EQ(added(first, 0), 0.25 * write);
  EXPECT_EQ(with_whole_lines(machine, Precision::kDouble)->low_bits, 5u);
  EXPECT_FALSE(with_whole_lines(machine, Precision::kSingle));
}

TEST(CostModel, TilesThatAskAheadDoNotWait) {
  Machine machine = round_machine();
  machine.cost_double.births = {0.5, {}, 2};
  const auto waits = [&](std::initializer_list<Bit> born) {
    Sweep sweep = sweep_on({0, 1, 2, 10, 11});
    for (const Bit bit : born) {
      sweep.unborn |= bit_mask(bit);
      sweep.births.push_back({bit, {}});
    }
    return sweep_seconds(sweep, 20, Precision::kDouble, machine) >
           sweep_seconds(sweep, 20, Precision::kDouble, without_births_and_norm(machine));
  };
  EXPECT_TRUE(waits({10}));
  EXPECT_FALSE(waits({10, 11}));
  EXPECT_TRUE(waits({12, 13}));  // not within a tile
  EXPECT_TRUE(waits({11, 12}));
  machine.cost_double.births->ahead = 0;
  EXPECT_TRUE(waits({10, 11}));
}

TEST(CostModel, TheLastSweepAddsUpTheNorm) {
  Machine machine = round_machine();
  machine.cost_double.norm = 2e15 / kMiB;  // two seconds
  Plan plan;
  plan.qubits = 20;
  plan.precision = Precision::kDouble;
  plan.stages.resize(2);
  plan.stages[0].sweeps = {sweep_on({0, 1, 2}), sweep_on({0, 1, 2})};
  plan.stages[1].sweeps = {sweep_on({0, 1, 2})};
  predict(plan, machine);
  EXPECT_DOUBLE_EQ(plan.stages[0].sweeps[0].predicted_seconds, 3);
  EXPECT_DOUBLE_EQ(plan.stages[0].sweeps[1].predicted_seconds, 3);
  EXPECT_DOUBLE_EQ(plan.stages[1].sweeps[0].predicted_seconds, 5);
}

TEST(CostModel, LetsMemoryAndArithmeticOverlapAsTheMachineDoes) {
  Machine machine = round_machine();
  CostTable& cost = machine.cost_double;
  const double second = 1e15 / kMiB;  // arithmetic of one second
  cost.matrix1_general = 1 * second;
  cost.matrix1_real = 2 * second;
  cost.butterfly = 3 * second;
  cost.flip = 5 * second;
  cost.phases = 7 * second;
  cost.phase_term = 11 * second;
  cost.regroup = 13 * second;
  cost.matrix_dense[2] = 17 * second;
  cost.matrix_dense[kMaxMatrixTargets] = 19 * second;
  Sweep sweep = sweep_on({0, 1, 2, 3, 4, 5, 6, 7});
  const auto seconds = [&] { return sweep_seconds(sweep, 20, Precision::kDouble, machine); };
  const auto after = [&](const std::vector<Bit>& targets, const std::vector<Complex>& matrix) {
    add_matrix(sweep, targets, matrix);
    return seconds();
  };
  machine.register_bits = 8;
  EXPECT_DOUBLE_EQ(after({0}, kGeneral), 3 + 1);
  EXPECT_DOUBLE_EQ(after({1}, kReal), 3 + 3);
  EXPECT_DOUBLE_EQ(after({0}, kButterfly), 3 + 6);
  EXPECT_DOUBLE_EQ(after({0, 1}, std::vector<Complex>(16)), 3 + 23);
  std::vector<Bit> widest;
  for (int bit = 0; bit < kMaxMatrixTargets; ++bit) widest.push_back(static_cast<Bit>(bit));
  EXPECT_DOUBLE_EQ(after(widest, std::vector<Complex>(std::size_t{1} << (2 * kMaxMatrixTargets))), 3 + 42);
  PlanOp op;
  op.form = Form::kPhases;
  op.data_count = 2;
  sweep.phases.resize(2);
  sweep.ops.push_back(op);
  EXPECT_DOUBLE_EQ(seconds(), 3 + 42 + 7 + 22);
  op.form = Form::kFlip;
  op.target_count = 1;
  sweep.ops.push_back(op);
  EXPECT_DOUBLE_EQ(seconds(), 3 + 42 + 7 + 22 + 5);
  machine.register_bits = 6;
  sweep.ops.back().targets[0] = 7;
  EXPECT_DOUBLE_EQ(seconds(), 3 + 42 + 7 + 22 + 5 + 13);
  cost.overlap_power = 2;
  EXPECT_DOUBLE_EQ(seconds(), std::hypot(3, 42 + 7 + 22 + 5 + 13));
}

TEST(CostModel, MakesASweepThatLeavesTheInstructionCacheDearer) {
  Machine machine = round_machine();
  const double second = 1e15 / kMiB;
  machine.cost_double.matrix1_general = 10 * second;
  Sweep sweep = sweep_on({0, 1, 2});
  add_matrix(sweep, {0}, kGeneral);
  machine.cost_double.instructions.matrix1_general = 80;
  machine.cost_double.kernel_instructions = 20;
  const auto arithmetic = [&](double cached) {
    machine.cost_double.cached_instructions = cached;
    return sweep_seconds(sweep, 20, Precision::kDouble, machine) - 3;
  };
  EXPECT_DOUBLE_EQ(arithmetic(0), 10);  // any number
  EXPECT_DOUBLE_EQ(arithmetic(110), 10);
  EXPECT_DOUBLE_EQ(arithmetic(100), 10);
  EXPECT_NEAR(arithmetic(100 / 1.04), 10, 1e-12);
  EXPECT_NEAR(arithmetic(100 / 1.09), 20, 1e-12);  // twenty times what is further beyond, on top
  EXPECT_DOUBLE_EQ(arithmetic(50), 35);            // three and a half times at most
}

TEST(CostModel, CountsInstructionsOfEveryForm) {
  FormCosts costs;
  costs.matrix1_general = 1;
  costs.matrix1_real = 10;
  costs.butterfly = 100;
  costs.flip = 1e3;
  costs.phases = 1e4;
  costs.phase_term = 1e5;
  costs.matrix_dense[2] = 1e7;
  Machine machine = round_machine();
  machine.cost_double.instructions = costs;
  Sweep sweep = sweep_on({0, 1, 2, 3});
  add_matrix(sweep, {0}, kGeneral);
  add_matrix(sweep, {1}, kReal);
  add_matrix(sweep, {1}, kButterfly);
  add_matrix(sweep, {0, 1}, std::vector<Complex>(16));
  PlanOp phases;
  phases.form = Form::kPhases;
  phases.data_count = 3;
  sweep.phases.resize(40);
  sweep.ops.push_back(phases);
  phases.data_count = 40;  // the terms of one operation are few multiplications
  sweep.ops.push_back(phases);
  const std::vector<Arithmetic> each = operation_arithmetic(sweep, Precision::kDouble, machine);
  std::vector<double> found;
  for (const Arithmetic& one : each) found.push_back(one.instructions);
  EXPECT_EQ(found, (std::vector<double>{1, 10, 100, 1e7, 1e4 + 3e5, 1e4 + 16e5}));
}

TEST(CostModel, ChargesAnExchangeForItsPartnersAndItsBytes) {
  Machine machine = round_machine();
  machine.cost_double.exchange_overhead = 7;
  Exchange exchange;
  exchange.swaps = {{0, 20}};
  EXPECT_DOUBLE_EQ(exchange_seconds(exchange, 20, Precision::kDouble, machine), 2 * 7 + 2);
  exchange.swaps.emplace_back(1, 21);
  EXPECT_DOUBLE_EQ(exchange_seconds(exchange, 20, Precision::kDouble, machine), 4 * 7 + 3);
  EXPECT_DOUBLE_EQ(exchange_seconds(exchange, 20, Precision::kSingle, machine), 1.5);
}

/// Two stages of two sweeps (3 s each, 10 s with the launch) around an exchange of half of the memory (2 s).
struct TwoStages {
  Machine machine = round_machine();
  Plan plan;
  TwoStages() {
    plan.qubits = 21;
    plan.rank_bits = 1;
    plan.stages.resize(2);
    for (Stage& stage : plan.stages) stage.sweeps = {sweep_on({0, 1, 2}), sweep_on({0, 1, 2})};
    plan.stages[1].exchange.emplace().swaps = {{19, 20}};
  }
  double added(std::uint32_t before, std::uint32_t after, Index chunk_mask = 0) {
    Exchange& exchange = *plan.stages[1].exchange;
    exchange.overlap_before = before;
    exchange.overlap_after = after;
    exchange.chunk_mask = chunk_mask;
    predict(plan, machine);
    return exchange.predicted_added_seconds;
  }
};

TEST(CostModel, HidesAnExchangeBehindTheSweepsBesideIt) {
  TwoStages two;
  two.machine.cost_double.link_bytes_per_second = 1.0 * kMiB;  // the exchange takes 8 s
  EXPECT_DOUBLE_EQ(two.added(0, 0), 8);
  EXPECT_DOUBLE_EQ(plan_work(two.plan).total_seconds, 4 * 3 + 8);
  EXPECT_DOUBLE_EQ(plan_work(two.plan).exchange_seconds, 8);
  EXPECT_DOUBLE_EQ(plan_work(two.plan).sweep_seconds, 12);
  // By the link: the exchange and a quarter of the sweep beside it; by the sweep: it, what travels through memory
  // (8 MiB read and written: 0.5 + 1 s, twice where no sweep after it loads from the ring), a quarter of the exchange.
  EXPECT_DOUBLE_EQ(two.added(0, 1, 3), (8 + 0.75) - 3);
  EXPECT_DOUBLE_EQ(two.added(1, 0, 3), (8 + 0.75) - 3);
  EXPECT_DOUBLE_EQ(two.added(1, 1, 3), (6 + 1.5 + 2) - 6);
  EXPECT_DOUBLE_EQ(two.added(2, 0, 3), (6 + 3 + 2) - 6);
  EXPECT_DOUBLE_EQ(two.added(2, 2, 7), (12 + 1.5 + 1) - 12);
  EXPECT_DOUBLE_EQ(two.added(1, 0, 0), 8);  // one chunk hides nothing
  EXPECT_DOUBLE_EQ(plan_work(two.plan).total_seconds, 4 * 3 + 8);
  two.machine.kind = BackendKind::kCpu;  // nothing runs beside an exchange there
  EXPECT_DOUBLE_EQ(two.added(1, 1, 3), 8);
}

TEST(CostModel, FeelsTheWayThroughMemoryOnlyWhereASweepWaitsForMemory) {
  TwoStages two;
  two.machine.cost_double.link_bytes_per_second = 1.0 * kMiB;
  two.machine.cost_double.overlap_power = 2;
  two.machine.cost_double.matrix1_general = 4 * 1e15 / kMiB;
  add_matrix(two.plan.stages[1].sweeps[0], {0}, kGeneral);  // 3 s of memory and 4 s of arithmetic: 5 s
  const double by_sweeps = 5 + (std::hypot(4.5, 4) - 5) + 1, by_link = 8 + 0.625;
  EXPECT_DOUBLE_EQ(two.added(0, 1, 7), std::max(by_sweeps, by_link) - 5);
  two.machine.cost_double.link_bytes_per_second = 2.0 * kMiB;
  EXPECT_DOUBLE_EQ(two.added(0, 1, 7), by_sweeps - 0.5 - 5);
}

TEST(CostModel, LetsASweepRunBesideOneExchangeOnly) {
  TwoStages two;
  two.machine.cost_double.link_bytes_per_second = 1.0 * kMiB;
  two.plan.stages.push_back(two.plan.stages[1]);
  const auto second_adds = [&](std::uint32_t first_takes, std::uint32_t second_takes) {
    two.plan.stages[2].exchange->overlap_before = second_takes;
    two.plan.stages[2].exchange->chunk_mask = 3;
    two.added(0, first_takes, 3);
    return two.plan.stages[2].exchange->predicted_added_seconds;
  };
  EXPECT_DOUBLE_EQ(second_adds(0, 1), (8 + 0.75) - 3);
  EXPECT_DOUBLE_EQ(second_adds(1, 1), (8 + 0.75) - 3);
  EXPECT_DOUBLE_EQ(second_adds(1, 2), (8 + 0.75) - 3);
  EXPECT_DOUBLE_EQ(second_adds(2, 1), 8);
}

Plan empty_plan(std::uint32_t qubits, std::uint32_t rank_bits) {
  Plan plan;
  plan.qubits = qubits;
  plan.rank_bits = rank_bits;
  return plan;
}

// Amplitudes of one line that go far apart are read with it in vain.
TEST(CostModel, OfWhatPermutesFollowWhereLinesGo) {
  Machine machine = round_machine(BackendKind::kCpu);
  machine.cost_double.permutation = {64, 1000, 10, 0, 3000, 500, 8};
  const auto sweep_of = [](Bit target, Index controls, Index bundle) {
    Sweep sweep;
    PlanOp flip;
    flip.form = Form::kFlip;
    flip.target_count = 1;
    flip.targets[0] = target;
    flip.control_mask = flip.control_value = controls;
    sweep.ops = {flip};
    sweep.bundle = bundle;
    return sweep;
  };
  const auto memory = [&](const Sweep& sweep) {
    return sweep_bounds(sweep, 20, Precision::kDouble, machine).memory_seconds;
  };
  const CostTable& cost = machine.cost_double;
  const double read = std::exp2(24) / cost.read_bytes_per_second, written = std::exp2(24) / cost.write_bytes_per_second;
  const Index all = low_mask(20);
  EXPECT_NEAR(memory(sweep_of(19, 1 << 18, all)), read + written, 1e-12);  // lines stay together
  EXPECT_NEAR(memory(sweep_of(5, 1, all)), read + written, 1e-12);         // within the window
  EXPECT_NEAR(memory(sweep_of(19, 1, all)), 2 * read + written, 1e-12);    // half of a line goes
  const double whole = sweep_seconds(sweep_of(19, 1 << 18, all), 20, Precision::kDouble, machine);
  EXPECT_NEAR(sweep_seconds(sweep_of(19, 1 << 18, 1 << 19), 20, Precision::kDouble, machine), whole + read + written,
              1e-9);  // put back
  PermutationCosts& permutation = *machine.cost_double.permutation;
  permutation.again = 2000;
  permutation.near_again = 100;
  permutation.near_bits = 4;
  const double amplitudes = 1e-15 * (1 << 20);
  EXPECT_NEAR(memory(sweep_of(5, 1, all)), read + written + 100 * amplitudes, 1e-12);    // asked for again
  EXPECT_NEAR(memory(sweep_of(3, 1, all)), read + written, 1e-12);                       // not even that
  EXPECT_NEAR(memory(sweep_of(19, 1, all)), read + written + 2100 * amplitudes, 1e-12);  // read again
  permutation.again = permutation.near_again = 0;
  permutation.affine = 1.25;
  EXPECT_NEAR(memory(sweep_of(19, 1, all)), 1.25 * (read + written), 1e-12);  // one control
  EXPECT_NEAR(memory(sweep_of(19, 3, all)), 1.6 * read + written, 1e-12);     // two
  EXPECT_EQ(swept_bytes(sweep_of(19, 1, all), 20, Precision::kDouble), 32u << 20);
  EXPECT_EQ(swept_bytes(sweep_of(19, 1, 1 << 19), 20, Precision::kDouble), 64u << 20);
}

// Looked up by ten bits at a time, each of which is different at 0 and 1 and never 0.
TEST(CostModel, OfAFirstWriteThatPermutesCountTables) {
  Machine machine = round_machine(BackendKind::kCuda);
  machine.cost_double.permutation = {64, 1000, 10, 0, 3000, 500, 8};
  Sweep sweep;
  sweep.reads = false;
  sweep.unborn = sweep.bundle = low_mask(20);
  for (Bit bit = 0; bit < 20; ++bit) sweep.births.push_back({bit});
  const auto bounds = [&] { return sweep_bounds(sweep, 20, Precision::kDouble, machine); };
  const double written = std::exp2(24) / machine.cost_double.write_bytes_per_second;
  EXPECT_NEAR(bounds().memory_seconds, written, 1e-12);
  EXPECT_NEAR(bounds().arithmetic_seconds, 3000e-15 * (1 << 20), 1e-15);
  for (Bit bit = 0; bit < 11; ++bit) sweep.births[bit].factor = {Complex(0.6), Complex(0.8)};
  sweep.births[12].factor = {Complex(std::sqrt(0.5)), Complex(std::sqrt(0.5))};
  sweep.births[13].factor = {Complex(0), Complex(1)};
  EXPECT_NEAR(bounds().arithmetic_seconds, (3000 + 2 * 500) * 1e-15 * (1 << 20), 1e-15);
  Plan plan = empty_plan(20, 0);
  plan.stages.push_back({std::nullopt, {}, {sweep}});
  EXPECT_EQ(pool_layout(plan, machine).spare_bytes, 0u);
  EXPECT_EQ(pool_layout(plan, machine).step_bytes, 3u * 4 + 2 * 64 * 16 + 16);  // 6 bits and 5
}

TEST(PoolSizes, OfTheRingAreAQuarterOfTheShardWithinLimits) {
  Machine machine = round_machine(BackendKind::kCpu);
  machine.chunk_bytes = 32 * kMiB;
  machine.chunk_slots = 16;
  const auto chunk = [&](std::uint32_t local_bits) {
    return pool_layout(empty_plan(local_bits + 1, 1), machine).chunk_bytes;
  };
  EXPECT_EQ(chunk(40), 32 * kMiB);
  EXPECT_EQ(chunk(26), 16 * kMiB);
  EXPECT_EQ(chunk(14), 4096u);
  EXPECT_EQ(chunk(10), 4096u);
  EXPECT_EQ(chunk(5), 512u);  // tiny shards: all of it
  EXPECT_EQ(chunk(0), 32u);
  machine.chunk_slots = 0;  // as one
  EXPECT_EQ(chunk(22), 16 * kMiB);
  machine.chunk_slots = 1;
  EXPECT_EQ(chunk(22), 16 * kMiB);
  machine.chunk_slots = 5;
  EXPECT_EQ(chunk(20), kMiB / 2);  // at most the share of 0.8 MiB
  machine.chunk_slots = 12;
  EXPECT_EQ(chunk(26), 16 * kMiB);  // a power of two, at most the share of 21.3 MiB
  machine.kind = BackendKind::kCuda;
  EXPECT_EQ(chunk(26), 16 * kMiB);
  EXPECT_EQ(chunk(22), 4 * kMiB);  // GPUs: 4 MiB at least,
  EXPECT_EQ(chunk(18), 1 * kMiB);  // or a quarter of the shard
  machine.chunk_bytes = 1 * kMiB;
  EXPECT_EQ(chunk(26), 4 * kMiB);
  EXPECT_EQ(pool_layout(empty_plan(20, 0), machine).chunk_slots, 0u);
}

TEST(PoolSizes, OfWhatPermutesAreABundleOrTheShard) {
  Machine machine = round_machine(BackendKind::kCpu);
  machine.threads = 3;
  Plan plan = empty_plan(20, 0);
  Sweep sweep;
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.control_mask = 0b1110;
  sweep.ops = {flip, flip};
  sweep.bundle = low_mask(14);
  plan.stages.push_back({std::nullopt, {}, {sweep}});
  const auto pool = [&](Index bundle) {
    plan.stages[0].sweeps[0].bundle = bundle;
    return pool_layout(plan, machine);
  };
  EXPECT_EQ(pool(low_mask(14)).spare_bytes, 3u * 16 << 14);  // a thread each
  EXPECT_EQ(pool(low_mask(18)).spare_bytes, 16u << 18);
  EXPECT_EQ(pool(low_mask(20)).spare_bytes, 16u << 20);
  EXPECT_EQ(pool(low_mask(20)).step_bytes, 0u);
  machine.kind = BackendKind::kCuda;
  EXPECT_EQ(pool(low_mask(14)).spare_bytes, 16u << 14);
  EXPECT_EQ(pool(low_mask(14)).step_bytes, (2u * 2 + 3) * 4);  // three controls are two steps
  EXPECT_EQ(pool(0).spare_bytes, 0u);
  // All that is born is the shard: what lies elsewhere keeps its place.
  plan.stages[0].sweeps[0].unborn = 1 << 19;
  EXPECT_EQ(pool(low_mask(19)).spare_bytes, 16u << 20);
}

TEST(PoolSizes, OfTablesAndScratchAreWhatBackendsTake) {
  Machine machine = round_machine(BackendKind::kCpu);
  machine.threads = 3;
  machine.max_tile_bits = 10;
  Plan plan = empty_plan(20, 0);
  plan.tile_bits = 12;
  Sweep sweep = sweep_on({0});
  add_matrix(sweep, {0}, kReal);
  add_matrix(sweep, {0}, kReal);
  sweep.phases.resize(3);
  sweep.births.resize(5);
  plan.stages.push_back({std::nullopt, {}, {sweep, sweep}});
  plan.stages.push_back({std::nullopt, {}, {sweep}});
  PoolLayout pool = pool_layout(plan, machine);
  EXPECT_EQ(pool.table_bytes, 3u * (1024 + 2 * 128 + 3 * 32 + 5 * 32 + 2 * 16 * 8));
  EXPECT_EQ(pool.scratch_bytes, 3u * (2 * 4096 * 16 + 65536));
  plan.tile_bits = 8;
  EXPECT_EQ(pool_layout(plan, machine).scratch_bytes, 3u * (2 * 1024 * 16 + 65536));
  plan.qubits = 4;
  EXPECT_EQ(pool_layout(plan, machine).scratch_bytes, 3u * (2 * 16 * 16 + 65536));
  machine.kind = BackendKind::kCuda;
  const auto gpu = [&](std::uint32_t qubits, std::uint32_t rank_bits, std::size_t sweeps) {
    Plan large = empty_plan(qubits, rank_bits);
    large.stages.push_back({std::nullopt, {}, std::vector<Sweep>(sweeps)});
    return pool_layout(large, machine);
  };
  EXPECT_EQ(gpu(20, 0, 2).table_bytes, 4 * kMiB);
  EXPECT_EQ(gpu(20, 0, 100).table_bytes, 25 * kMiB);
  EXPECT_EQ(gpu(20, 1, 100).table_bytes, 50 * kMiB);
  EXPECT_EQ(gpu(20, 1, 1000).table_bytes, 64 * kMiB);
  EXPECT_EQ(gpu(20, 0, 0).scratch_bytes, 17 * kMiB);
  EXPECT_EQ(gpu(28, 0, 0).scratch_bytes, 128 * kMiB);
  EXPECT_EQ(gpu(33, 0, 0).scratch_bytes, 256 * kMiB);
  machine.kind = BackendKind::kNull;
  EXPECT_EQ(gpu(33, 0, 0).scratch_bytes, 0u);
}

TEST(PoolSizes, AddUpToMultiplesOf256AndNeverWrapAround) {
  PoolLayout pool;
  EXPECT_EQ(pool.total_bytes(), 0u);
  pool.state_bytes = 256;
  pool.snapshot_bytes = 1;
  pool.table_bytes = 257;
  pool.scratch_bytes = 512;
  pool.chunk_bytes = 255;
  pool.chunk_slots = 3;
  EXPECT_EQ(pool.total_bytes(), 256u + 256 + 512 + 512 + 3 * 256);
  pool.state_bytes = UINT64_MAX - 255;
  EXPECT_EQ(pool.total_bytes(), UINT64_MAX);
  pool.state_bytes = UINT64_MAX - 300;
  pool.snapshot_bytes = pool.table_bytes = pool.scratch_bytes = pool.chunk_slots = 0;
  EXPECT_EQ(pool.total_bytes(), UINT64_MAX - 255);
  pool.state_bytes = UINT64_MAX - 256;  // the last that can be rounded up
  EXPECT_EQ(pool.total_bytes(), UINT64_MAX - 255);
}

// Projections have tables of their own: one for a measurement and one for a reset of each bit, however often they run.
TEST(PoolSizes, OfAProgramHoldAnyPlanAndTheTablesOfAll) {
  const Machine machine = round_machine(BackendKind::kCpu);
  const auto with_tables = [&](std::uint32_t qubits, std::uint32_t rank_bits, std::size_t matrices) {
    Plan plan = empty_plan(qubits, rank_bits);
    Sweep sweep = sweep_on({0});
    for (std::size_t i = 0; i < matrices; ++i) add_matrix(sweep, {0}, kReal);
    sweep.phases.resize(1);
    plan.stages.push_back({std::nullopt, {}, {sweep}});
    return plan;
  };
  PlannedCircuit program;
  program.plans = {with_tables(10, 2, 3), with_tables(10, 2, 40)};
  const PoolLayout first = pool_layout(program.plans[0], machine), second = pool_layout(program.plans[1], machine);
  const auto rounded = [](std::uint64_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::uint64_t tables = rounded(first.table_bytes) + rounded(second.table_bytes);
  EXPECT_GT(tables, first.table_bytes + second.table_bytes);
  for (std::size_t collapses = 0; collapses <= 25; ++collapses) {
    program.steps.assign(collapses, {Step::Kind::kInstrument});
    if (collapses > 0) program.steps.front().instrument = PlannedCircuit::kReset;
    program.steps.push_back({Step::Kind::kPlan});
    const PoolLayout all = program_layout(program, machine, 2);
    EXPECT_EQ(all.table_bytes, tables + std::min<std::size_t>(collapses, 20) * 65536) << collapses;
    EXPECT_EQ(all.state_bytes, first.state_bytes);
    EXPECT_EQ(all.chunk_bytes, first.chunk_bytes);
    EXPECT_EQ(all.chunk_slots, first.chunk_slots);
    EXPECT_EQ(all.scratch_bytes, first.scratch_bytes);
  }
  // Played by fewer ranks: the shard of those, and the tables of every rank that is played.
  program.steps.clear();
  const PoolLayout one = program_layout(program, machine, 0);
  EXPECT_EQ(one.state_bytes, pool_layout(empty_plan(10, 0), machine).state_bytes);
  EXPECT_EQ(one.chunk_slots, 0u);
  EXPECT_EQ(one.table_bytes, rounded(4 * first.table_bytes) + rounded(4 * second.table_bytes));
  for (Plan& plan : program.plans) plan.precision = Precision::kSingle;
  EXPECT_EQ(program_layout(program, machine, 0).state_bytes, one.state_bytes / 2);
  EXPECT_EQ(program_layout(program, machine, 2).state_bytes, first.state_bytes / 2);
  program.plans.clear();
  EXPECT_EQ(program_layout(program, machine, 0).total_bytes(), 0u);
}

TEST(PoolSizes, TogetherAreTheLargerOfEachAndAllTables) {
  for (const auto& [bytes, rounded] : {std::pair<std::uint64_t, std::uint64_t>{0, 0},
                                       {1, 256},
                                       {255, 256},
                                       {256, 256},
                                       {257, 512},
                                       {512, 512},
                                       {513, 768}}) {
    PoolLayout first, second;
    first.table_bytes = 1000;
    second.table_bytes = bytes;
    first.state_bytes = 1;
    second.state_bytes = 2;
    first.chunk_slots = 4;
    second.chunk_slots = 3;
    const PoolLayout both = joined(first, second);
    EXPECT_EQ(both.table_bytes, 1000 + rounded);
    EXPECT_EQ(both.state_bytes, 2u);
    EXPECT_EQ(both.chunk_slots, 4u);
  }
}

TEST(PoolSizes, OfAsManyQubitsAsAnIndexNamesAreAddressable) {
  EXPECT_NO_THROW(require_addressable(kMaxQubits));
  EXPECT_THROW(require_addressable(kMaxQubits + 1), CapacityError);
}

TEST(LargestQubits, IsTheLastThatFitsToTheByte) {
  Machine machine = find_machine("h200");
  Plan plan = empty_plan(30, 2);
  plan.tile_bits = machine.max_tile_bits;
  PoolLayout pool = pool_layout(plan, machine);
  pool.table_bytes += kMiB;
  machine.memory_bytes_per_rank = pool.total_bytes();
  EXPECT_EQ(largest_qubits(machine, Precision::kDouble, 2), 30u);
  --machine.memory_bytes_per_rank;
  EXPECT_EQ(largest_qubits(machine, Precision::kDouble, 2), 29u);
  machine.memory_bytes_per_rank = 0;  // unknown
  EXPECT_EQ(largest_qubits(machine, Precision::kDouble, 2), 62u);
}

TEST(FindMachine, TakesEveryNumberUpToItsLimitsAndNoFurther) {
  std::string text;
  for (const auto& machine : detail::built_in_machines()) {
    if (machine.name == "h200") text = machine.json;
  }
  const nlohmann::json good = nlohmann::json::parse(text);
  const auto accepted = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = good;
    (good.contains(key) ? changed : changed["cost"]["double"])[key] = value;
    try {
      detail::parse_machine(changed.dump(), "test");
      return true;
    } catch (const UsageError&) {
      return false;
    }
  };
  struct Range {
    const char* key;
    std::int64_t least, most;
  };
  // The limits of min_tile_bits and low_bits are max_tile_bits of the machine: 12.
  for (const auto& [key, least, most] : {Range{"memory_bytes_per_rank", 0, std::int64_t{1} << 60},
                                         {"min_tile_bits", 0, 12},
                                         {"low_bits", 0, 12},
                                         {"register_bits", 1, 30},
                                         {"threads", 1, 1 << 20},
                                         {"chunk_bytes", 32, std::int64_t{1} << 40},
                                         {"chunk_slots", 1, 1 << 16}}) {
    EXPECT_TRUE(accepted(key, static_cast<std::uint64_t>(least))) << key;
    EXPECT_FALSE(accepted(key, least - 1)) << key;
    EXPECT_TRUE(accepted(key, static_cast<std::uint64_t>(most))) << key;
    EXPECT_FALSE(accepted(key, static_cast<std::uint64_t>(most + 1))) << key;
    EXPECT_FALSE(accepted(key, 1.5)) << key;
  }
  EXPECT_TRUE(accepted("max_tile_bits", 30u));
  EXPECT_FALSE(accepted("max_tile_bits", 31u));
  EXPECT_FALSE(accepted("max_tile_bits", 9u));  // below min_tile_bits
  for (const char* key : {"read_bytes_per_s", "write_bytes_per_s", "overlap_power", "link_bytes_per_s"}) {
    EXPECT_FALSE(accepted(key, 0)) << key;
    EXPECT_FALSE(accepted(key, "fast")) << key;
  }
  for (const char* key : {"sweep_overhead_s", "matrix1_general", "matrix1_real", "butterfly", "flip", "phases",
                          "phase_term", "regroup", "exchange_overhead_s"}) {
    EXPECT_TRUE(accepted(key, 0)) << key;
    EXPECT_FALSE(accepted(key, -1)) << key;
  }
  EXPECT_FALSE(accepted("narrow_run_factor", {1, 1, 1}));
  EXPECT_FALSE(accepted("narrow_run_factor", {1, 1, 1, -1}));
  EXPECT_FALSE(accepted("narrow_run_factor", {1, 1, 1, "x"}));
  EXPECT_FALSE(accepted("narrow_run_factor", 1));
  EXPECT_FALSE(accepted("narrow_run_factor", nlohmann::json::parse(R"({"a": 1, "b": 1, "c": 1, "d": 1})")));
  EXPECT_TRUE(accepted("narrow_run_factor", {0, 0, 0, 0}));
  const auto births = [](const char* json) { return nlohmann::json::parse(json); };
  EXPECT_TRUE(accepted("births", births(R"({"wait": 0, "apart": []})")));
  EXPECT_TRUE(accepted("births", births(R"({"wait": 0.1, "apart": [0.3, 0.2]})")));
  EXPECT_TRUE(accepted("births", births(R"({"wait": 0.1, "ahead": 1, "apart": []})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1, "ahead": 0, "apart": []})")));
  EXPECT_TRUE(accepted("norm", 0));
  EXPECT_FALSE(accepted("norm", -1));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": -0.1, "apart": []})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1, "apart": 0.3})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1, "apart": [-0.3]})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1, "apart": [1, 1, 1, 1, 1, 1, 1, 1, 1]})")));
  EXPECT_FALSE(accepted("births", births(R"({"wait": 0.1, "apart": [], "more": 1})")));
  const Machine machine = detail::parse_machine(text, "test");
  EXPECT_EQ(machine.cost_double.narrow_run_factor[3], good["cost"]["double"]["narrow_run_factor"][3].get<double>());
  EXPECT_EQ(machine.cost_single.matrix_dense[6], good["cost"]["single"]["matrix_dense"][6].get<double>());
}

TEST(FindMachine, NamesEveryKeyThatIsMissing) {
  std::string text;
  for (const auto& machine : detail::built_in_machines()) {
    if (machine.name == "cpu") text = machine.json;
  }
  const nlohmann::json good = nlohmann::json::parse(text);
  const auto refused = [](const nlohmann::json& changed, const std::string& key) {
    try {
      detail::parse_machine(changed.dump(), "test");
      ADD_FAILURE() << key;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("key \"" + key + "\" is missing"), std::string::npos) << error.what();
    }
  };
  for (const auto& [key, value] : good.items()) {
    nlohmann::json changed = good;
    changed.erase(key);
    refused(changed, key);
  }
  for (const auto& [key, value] : good["cost"]["single"].items()) {
    if (key == "permutation") continue;  // without it nothing permutes
    nlohmann::json changed = good;
    changed["cost"]["single"].erase(key);
    refused(changed, key);
  }
  for (const auto& [key, value] : good["cost"]["single"]["permutation"].items()) {
    nlohmann::json changed = good;
    changed["cost"]["single"]["permutation"].erase(key);
    refused(changed, key);
  }
}

TEST(FindMachine, RefusesKeysThatItDoesNotKnowWhereverTheyStand) {
  for (const auto& machine : detail::built_in_machines()) {
    const nlohmann::json good = nlohmann::json::parse(machine.json);
    for (const char* const place : {"", "/cost", "/cost/single", "/cost/double"}) {
      nlohmann::json changed = good;
      changed[nlohmann::json::json_pointer(place)]["colour"] = 3;
      try {
        detail::parse_machine(changed.dump(), "test");
        ADD_FAILURE() << machine.name << place;
      } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("a key that is not known"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(ForecastRanks, StopsWhereARankWouldHoldLessThanAnOperationNeeds) {
  Circuit circuit(5);
  circuit.swap(0, 1);
  EXPECT_EQ(needed_local_bits(circuit), 2u);
  circuit.add_pauli_rotation(0.5, "XYZ", std::vector<Qubit>{0, 1, 2}, {});  // of any width
  EXPECT_EQ(needed_local_bits(circuit), 2u);
  const Machine machine = find_machine("cpu");
  const auto forecasts = forecast_ranks(circuit, machine, {}, 1, 6);
  ASSERT_EQ(forecasts.size(), 3u);
  EXPECT_EQ(forecasts.front().rank_bits, 1u);
  EXPECT_EQ(forecasts.back().rank_bits, 3u);
  EXPECT_EQ(needed_local_bits(Circuit(3)), 1u);
}

TEST(ForecastRanks, SaysWhatFitsToTheByte) {
  const Circuit circuit = generate("qft", {12, 0, 1});
  Machine machine = find_machine("cpu");
  machine.memory_bytes_per_rank = forecast_ranks(circuit, machine, {}, 0, 0).at(0).memory_bytes_per_rank;
  EXPECT_TRUE(forecast_ranks(circuit, machine, {}, 0, 0).at(0).fits);
  --machine.memory_bytes_per_rank;
  EXPECT_FALSE(forecast_ranks(circuit, machine, {}, 0, 0).at(0).fits);
  machine.memory_bytes_per_rank = 0;
  EXPECT_TRUE(forecast_ranks(circuit, machine, {}, 0, 0).at(0).fits);
}

TEST(Overlap, OfMemoryAndArithmeticIsBetweenTheLongerAndTheSum) {
  EXPECT_EQ(overlapped(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 2), 5);
  EXPECT_DOUBLE_EQ(overlapped(3, 4, 3), std::pow(27.0 + 64, 1.0 / 3));
  EXPECT_EQ(overlapped(3, 4, std::numeric_limits<double>::infinity()), 4);
  for (const double power : {1.0, 2.5, 3.0}) {
    EXPECT_EQ(overlapped(0, 2e-9, power), 2e-9);
    EXPECT_EQ(overlapped(2e-9, 0, power), 2e-9);
  }
}

}  // namespace
}  // namespace qsim
