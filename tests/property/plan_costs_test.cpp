// What plans are predicted to take: held to what was reached. A planner that picks worse turns or places gives
// right states all the same; only this sees it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "circuit/generate/families.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/make/search.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

constexpr std::size_t kSettings = 8;
using Microseconds = std::array<double, kSettings>;

struct Setting {
  Strategy strategy;
  Start start;
  bool ranked;  // over 4 ranks, or as many as are asked for
};

// The columns of the tables.
constexpr std::array<Setting, kSettings> kColumns{{
    {Strategy::kGreedy, Start::kZero, false},
    {Strategy::kGreedy, Start::kZero, true},
    {Strategy::kGreedy, Start::kRandom, false},
    {Strategy::kGreedy, Start::kRandom, true},
    {Strategy::kSearch, Start::kZero, false},
    {Strategy::kSearch, Start::kZero, true},
    {Strategy::kSearch, Start::kRandom, false},
    {Strategy::kSearch, Start::kRandom, true},
}};

void expect_costs(const Circuit& circuit, PlanOptions options, const char* machine, const Microseconds& reached,
                  std::uint32_t most_rank_bits = 2) {
  Microseconds found{};
  for (std::size_t i = 0; i < kSettings; ++i) {
    options.strategy = kColumns[i].strategy;
    options.start = kColumns[i].start;
    options.rank_bits = kColumns[i].ranked ? most_rank_bits : 0;
    found[i] = 1e6 * plan_work(make_plan(circuit, find_machine(machine), options)).total_seconds;
  }
  test::expect_reached(found, reached, 1e-8);
}

TEST(PlanCosts, FamiliesTakeWhatWasReached) {
  struct Row {
    const char* family;
    GeneratorOptions options;
    Microseconds reached;
  };
  const std::array<Row, 7> table{{
      {"ghz",
       {28, 0, 1},
       {1139.1112, 307.551132, 6512.59197, 3932.11341, 962.874337, 254.218584, 4413.75249, 3385.89757}},
      {"qft",
       {28, 0, 1},
       {969.015583, 246.753896, 6845.87796, 4010.88795, 969.015583, 246.753896, 6793.03155, 3400.92301}},
      {"ising",
       {26, 4, 1},
       {2968.09807, 1321.2523, 3279.4531, 1347.8483, 658.332703, 581.365062, 2685.99191, 1347.8483}},
      {"supremacy",
       {25, 8, 1},
       {817.976074, 217.994019, 912.491042, 827.623215, 180.196385, 56.2647987, 869.565041, 802.464337}},
      {"random",
       {26, 5, 1},
       {696.437186, 187.609297, 2549.46394, 1438.03942, 277.861351, 83.9418036, 1766.96216, 1200.02726}},
      {"qv",
       {24, 4, 1},
       {1424.24651, 808.473176, 1516.97219, 850.686735, 328.545063, 480.621544, 853.427902, 686.829988}},
      {"heisenberg",
       {24, 3, 1},
       {291.001578, 481.84096, 920.851923, 703.44136, 150.108331, 427.077573, 567.464973, 617.74944}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_costs(generate(row.family, row.options), {}, "h200", row.reached);
  }
}

TEST(PlanCosts, RandomCircuitsTakeWhatWasReached) {
  const std::array<Microseconds, 12> table{{
      {1689.33339, 474.833348, 11258.6429, 2889.66072, 492.507349, 227.59934, 9042.69171, 2320.67293},
      {39.6817674, 37.2858287, 114.603467, 250.888834, 38.676569, 36.7928764, 104.470266, 247.401893},
      {17.7639154, 13.4409788, 73.153378, 40.7883445, 29.104429, 13.4409788, 58.7580938, 32.6895234},
      {726.898173, 204.224543, 3835.43284, 1253.57341, 665.737847, 162.179095, 2914.06526, 1008.23152},
      {44.0432002, 38.9504445, 165.773975, 450.160475, 42.2054471, 37.9277147, 129.929799, 453.947337},
      {33.356063, 31.3773478, 93.2450787, 63.8112697, 32.6708755, 30.7300658, 72.7015324, 49.6753831},
      {766.366982, 266.985119, 7652.17958, 2613.8888, 594.116713, 196.214628, 6651.57818, 2156.25979},
      {14.3826943, 12.5956736, 53.5650562, 35.8912641, 10.1019357, 7.02548392, 43.7528324, 28.9382081},
      {55.5953422, 45.3988355, 161.024981, 455.990191, 48.419541, 43.8453464, 146.715534, 448.072272},
      {1188.69376, 342.17344, 4878.69738, 1674.24715, 327.728465, 132.307608, 4278.7627, 1477.10492},
      {49.174355, 427.410157, 132.543631, 445.897907, 53.3780306, 32.9430886, 90.3076034, 433.75299},
      {23.890256, 19.6438918, 55.3980628, 224.719766, 22.8513701, 19.3349279, 54.546567, 228.347104},
  }};
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(i);
    test::RandomCircuitOptions random;
    random.qubits = 20;
    random.operations = 60;
    random.seed = i + 1;
    PlanOptions options;
    options.tile_bits = 5 + static_cast<std::uint32_t>(i % 4);
    options.precision = i % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    expect_costs(test::random_circuit(random), options, i % 3 == 0 ? "cpu" : "h200", table[i]);
  }
}

// Deep circuits over 8 ranks: exchanges follow each other, and sweeps are shared out among them.
TEST(PlanCosts, ManyExchangesTakeWhatWasReached) {
  const std::array<Microseconds, 3> table{{
      {444.717739, 2138.38339, 556.365953, 2563.74421, 204.01377, 1663.5631, 314.874044, 1687.16963},
      {1467.04845, 4306.42231, 1486.54801, 4334.53897, 678.458208, 3348.63308, 801.8784, 3382.16291},
      {162.075808, 443.867497, 209.806313, 844.367533, 54.2148838, 427.020155, 166.353621, 847.142943},
  }};
  const char* const families[] = {"random", "qv", "supremacy"};
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(families[i]);
    PlanOptions options;
    options.tile_bits = 10;
    expect_costs(generate(families[i], {22, 16, 3}), options, "h200", table[i], 3);
  }
}

// General gates between diagonals are phases, which the diagonals take, around a real rotation.
TEST(PlanCosts, TurnsBesideDiagonalsAreSplitInTheirSweep) {
  Circuit circuit(8);
  for (int layer = 0; layer < 6; ++layer) {
    for (Qubit qubit = 0; qubit < 8; ++qubit) {
      const double angle = 0.3 + 0.1 * layer + 0.05 * qubit;
      circuit.cp(angle, qubit, (qubit + 1) % 8);
    }
    for (Qubit qubit = 0; qubit < 8; ++qubit) {
      const double angle = 0.4 + 0.07 * layer + 0.03 * qubit;
      circuit.add_gate(Gate::kU, {}, std::vector<Qubit>{qubit}, std::vector<double>{angle, 2 * angle, 1 - angle});
    }
  }
  PlanOptions options;
  options.start = Start::kRandom;
  const auto work = [&] {
    Machine machine = find_machine("h200");
    for (double& dense : machine.cost_double.matrix_dense) dense = 1e9;  // no matrix takes them all
    double general = 0, phase_terms = 0, seconds = 0;
    const Lowered lowered = lower_optimized(circuit, {"split_turns"});  // the optimizer's pass, not the sweep's
    for (const Stage& stage : searched_plan(lowered, machine, options, {}).stages) {
      for (const Sweep& sweep : stage.sweeps) {
        const ArithmeticCounts counts = arithmetic_counts(sweep, machine.register_bits);
        general += counts.matrix1_general;
        phase_terms += counts.phase_term;
        seconds += sweep.predicted_seconds;
      }
    }
    return std::array<double, 3>{general, phase_terms, seconds};
  };
  const auto split = work();
  EXPECT_LE(split[0], 8);  // those of the last layer have nothing behind them
  options.disabled_passes = {"split_turns"};
  const auto whole = work();
  EXPECT_EQ(whole[0], 48);
  EXPECT_GT(split[1], whole[1]);
  EXPECT_LT(split[2], whole[2]);
}

// Gates without end on few qubits: as many sweeps as pay, not one, and not two.
TEST(PlanCosts, NoSweepStaysWhosePartsWouldBeFaster) {
  const Machine machine = find_machine("h200");
  const Circuit small = generate("random", {9, 400, 1});
  Circuit circuit(28);
  for (const Operation& op : small.operations()) circuit.append(small, op);
  for (const Start start : {Start::kZero, Start::kRandom}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      for (const Strategy strategy : {Strategy::kGreedy, Strategy::kSearch}) {
        PlanOptions options;
        options.start = start;
        options.precision = precision;
        options.strategy = strategy;
        std::size_t sweeps = 0;
        for (const Stage& stage : make_plan(circuit, machine, options).stages) {
          for (const Sweep& sweep : stage.sweeps) {
            ++sweeps;
            if (sweep.ops.size() < 2) continue;
            Sweep first = sweep, second = sweep;
            const auto half = static_cast<std::ptrdiff_t>(sweep.ops.size() / 2);
            first.ops.erase(first.ops.begin() + half, first.ops.end());
            second.ops.erase(second.ops.begin(), second.ops.begin() + half);
            for (const Birth& birth : sweep.births) second.unborn &= ~(Index{1} << birth.bit);
            second.births.clear();
            second.reads = true;
            const double whole = sweep_seconds(sweep, 28, precision, machine);
            EXPECT_LE(whole, 1.01 * (sweep_seconds(first, 28, precision, machine) +
                                     sweep_seconds(second, 28, precision, machine)));
          }
        }
        if (start == Start::kRandom) {
          EXPECT_GT(sweeps, 1u) << name_of(precision);
        }
      }
    }
  }
}

}  // namespace
}  // namespace qsim
