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
       {1137.58182, 307.700007, 6511.67046, 3932.10809, 975.13095, 257.282738, 4413.75249, 3385.36232}},
      {"qft",
       {28, 0, 1},
       {968.827833, 246.706958, 6839.27111, 4010.87649, 968.827833, 246.706958, 6771.88272, 3398.84177}},
      {"ising",
       {26, 4, 1},
       {2967.98931, 1320.76655, 3276.74789, 1346.96783, 850.774583, 583.504044, 2675.34246, 1346.96783}},
      {"supremacy",
       {25, 8, 1},
       {817.951334, 217.987834, 909.781849, 827.56243, 176.221881, 57.3348702, 868.126686, 802.293819}},
      {"random",
       {26, 5, 1},
       {696.167094, 187.541773, 2547.67108, 1438.03446, 298.501225, 88.7519852, 1762.44144, 1199.10588}},
      {"qv",
       {24, 4, 1},
       {1421.37736, 808.175663, 1514.10304, 850.219871, 323.654818, 479.126436, 849.589832, 686.716827}},
      {"heisenberg",
       {24, 3, 1},
       {286.215682, 481.551663, 916.629339, 703.186001, 147.043818, 426.686092, 563.747182, 617.516956}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_costs(generate(row.family, row.options), {}, "h200", row.reached);
  }
}

TEST(PlanCosts, RandomCircuitsTakeWhatWasReached) {
  const std::array<Microseconds, 12> table{{
      {1689.33339, 474.833348, 11258.6429, 2889.66072, 492.507349, 229.78981, 9042.69171, 2320.67293},
      {39.5068832, 37.2513332, 114.365162, 250.871251, 38.6648677, 36.7901792, 104.288321, 247.354564},
      {17.7450662, 13.4362666, 73.1322299, 40.7830575, 29.1015307, 13.4362666, 58.7608788, 32.6902197},
      {726.898173, 204.224543, 3834.80369, 1253.41612, 665.737847, 162.179095, 2914.06526, 1008.23152},
      {44.0418591, 38.9502296, 165.727428, 449.29752, 42.2007871, 37.9027004, 129.901679, 453.93981},
      {33.2447399, 31.3595902, 93.1490147, 63.7872537, 32.6109629, 30.7220499, 72.6359086, 49.6589772},
      {766.366982, 266.985119, 7652.17958, 2613.8888, 594.116713, 196.214628, 6651.57818, 2156.25979},
      {14.3666081, 12.591652, 53.3922552, 35.8480638, 9.66927604, 6.91731901, 43.5099195, 28.8774799},
      {55.5917294, 45.3979323, 161.03724, 455.992493, 48.419472, 43.8454577, 146.719036, 448.072213},
      {1188.69376, 342.17344, 4878.69738, 1674.24715, 327.728465, 132.307608, 4278.7627, 1477.10492},
      {49.175621, 427.41009, 132.571863, 445.894264, 53.373886, 32.9026007, 90.1846454, 433.752609},
      {23.3913503, 19.521301, 54.9973794, 224.699949, 22.3650281, 19.220561, 54.2396438, 228.245996},
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
      {444.705447, 2138.38313, 556.36286, 2563.7431, 204.253623, 1664.90444, 315.38887, 1687.16481},
      {1467.02565, 4306.31814, 1486.52522, 4334.43206, 673.621658, 3348.60474, 801.033246, 3382.12029},
      {162.07425, 443.867021, 209.764861, 844.366369, 82.8443898, 427.23787, 166.104723, 847.128563},
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
