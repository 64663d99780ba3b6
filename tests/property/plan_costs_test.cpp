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
       {1017.93111, 276.419264, 6518.06984, 3933.66501, 1017.93111, 276.419264, 6518.06984, 3388.15624}},
      {"qft",
       {28, 0, 1},
       {968.827833, 246.706958, 6873.33572, 4016.91605, 968.827833, 246.706958, 6816.89139, 3401.78185}},
      {"ising",
       {26, 4, 1},
       {3506.44389, 1385.52222, 3923.32342, 1424.94608, 958.823815, 737.598536, 3078.93127, 1424.94608}},
      {"supremacy",
       {25, 8, 1},
       {879.21404, 233.30351, 1001.89576, 839.754891, 169.332056, 71.2842887, 914.762227, 807.064185}},
      {"random",
       {26, 5, 1},
       {697.899917, 187.974979, 2811.81989, 1492.58127, 287.012778, 90.4601813, 1850.15143, 1207.59819}},
      {"qv",
       {24, 4, 1},
       {1794.08606, 892.749505, 1914.79085, 924.155065, 415.122548, 490.260939, 865.684336, 691.092308}},
      {"heisenberg",
       {24, 3, 1},
       {379.05493, 496.754233, 1188.70309, 746.652215, 379.05493, 475.937321, 1123.04735, 695.924414}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_costs(generate(row.family, row.options), {}, "h200", row.reached);
  }
}

TEST(PlanCosts, RandomCircuitsTakeWhatWasReached) {
  const std::array<Microseconds, 12> table{{
      {1689.33339, 474.833348, 11258.6429, 2889.66072, 492.507349, 236.380137, 9042.69171, 2320.67293},
      {39.2203506, 37.1351954, 114.666617, 250.898442, 38.0800167, 36.6380023, 105.067786, 247.422449},
      {16.5183033, 13.1295758, 73.5001392, 40.8750348, 27.7996929, 13.1295758, 59.2427994, 32.8106998},
      {726.898173, 204.224543, 3834.80369, 1253.41612, 680.683913, 165.000445, 3023.95602, 1035.70421},
      {43.4400048, 38.7797407, 165.787295, 449.298443, 41.5804796, 37.7393504, 129.95468, 453.940723},
      {32.8777067, 31.2295251, 93.4997689, 63.8749422, 32.1180203, 30.5947633, 73.076261, 49.7690652},
      {766.366982, 266.985119, 7652.17958, 2613.8888, 594.116713, 196.214628, 6858.7768, 2188.97536},
      {13.9902823, 12.4975706, 54.5029106, 36.1257277, 10.2844135, 7.07110338, 44.6297797, 29.1574449},
      {54.7905009, 45.1976252, 161.018384, 455.986257, 47.7681967, 43.6756539, 146.912427, 455.986257},
      {1188.69376, 342.17344, 4878.69738, 1674.24715, 327.728465, 136.422049, 4293.86219, 1486.25375},
      {48.3091424, 427.224831, 133.12163, 446.005643, 52.6232919, 32.7782115, 90.9484848, 433.824809},
      {23.4914424, 19.5537852, 56.0459492, 224.851322, 22.4401081, 19.2263206, 55.672112, 228.731075},
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
      {472.073219, 2140.56758, 589.407381, 2566.74373, 215.188389, 1665.17315, 335.379584, 1688.06208},
      {1791.09861, 4330.51926, 1817.43305, 4362.01476, 760.432322, 3348.61942, 851.541534, 3387.88251},
      {170.126824, 444.822511, 218.958946, 844.743446, 82.1592366, 427.194291, 172.325792, 847.587166},
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
