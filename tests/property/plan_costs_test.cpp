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
       {1015.16112, 275.765819, 6509.02668, 3931.53854, 1015.16112, 275.765819, 6509.02668, 3385.09834}},
      {"qft",
       {28, 0, 1},
       {968.827833, 246.706958, 6854.47587, 4016.17093, 968.827833, 246.706958, 6744.53122, 3395.90309}},
      {"ising",
       {26, 4, 1},
       {3366.60125, 1361.14446, 3599.98898, 1381.92443, 1021.86164, 758.980262, 3148.28451, 1381.92443}},
      {"supremacy",
       {25, 8, 1},
       {811.689496, 216.422374, 912.93223, 827.810274, 161.476209, 67.0582544, 912.93223, 805.556884}},
      {"random",
       {26, 5, 1},
       {673.607903, 181.901976, 2669.83963, 1462.90115, 279.220558, 89.0904481, 1916.87306, 1211.88316}},
      {"qv",
       {24, 4, 1},
       {2012.06254, 946.253277, 2255.85456, 1003.75457, 554.258948, 515.261628, 1166.28623, 744.491414}},
      {"heisenberg",
       {24, 3, 1},
       {1174.55208, 591.914848, 3225.17263, 1033.11004, 619.574878, 489.335036, 1584.03951, 772.065935}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_costs(generate(row.family, row.options), {}, "h200", row.reached);
  }
}

TEST(PlanCosts, RandomCircuitsTakeWhatWasReached) {
  const std::array<Microseconds, 12> table{{
      {1720.79067, 482.697668, 11448.6448, 2937.16121, 513.552939, 250.831235, 9151.74361, 2347.9359},
      {39.0578328, 37.1119882, 114.746605, 250.914694, 38.0795157, 36.6377077, 104.907467, 247.41202},
      {16.5032322, 13.1258081, 73.1265689, 40.7816422, 27.7994994, 13.1258081, 58.950031, 32.7375078},
      {736.335357, 206.583839, 3871.50385, 1262.59116, 680.683913, 165.000445, 3013.47026, 1033.08277},
      {43.4658944, 38.7926856, 166.32315, 449.318958, 41.5789587, 37.7161748, 129.992412, 453.941598},
      {33.1563206, 31.2840789, 93.4945006, 63.8736252, 32.0810661, 30.5862956, 72.9251716, 49.7312929},
      {778.163462, 272.883359, 7746.55142, 2637.48176, 594.116713, 196.214628, 6858.7768, 2188.97536},
      {14.0531693, 12.5132923, 54.8579626, 36.2144906, 10.0296193, 7.00740483, 44.2164969, 29.0541242},
      {54.80768, 45.20192, 161.068737, 455.990382, 47.7682681, 43.6755444, 146.945588, 455.990382},
      {1252.36854, 358.092134, 5118.13971, 1734.10773, 327.728465, 136.422049, 4293.86219, 1486.25375},
      {48.4519472, 427.233236, 133.465748, 446.100001, 52.3925426, 32.6907804, 90.5740549, 433.780155},
      {23.2261743, 19.4854251, 56.0121299, 224.913009, 22.2425045, 19.1848348, 55.5333971, 228.68138},
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
      {453.965934, 2138.98808, 568.219756, 2557.0778, 239.83694, 1665.32898, 338.147311, 1688.87831},
      {2024.98385, 4347.75467, 2068.73474, 4388.57147, 974.19629, 3360.63538, 1086.0848, 3405.24567},
      {158.324021, 443.38833, 208.091009, 844.322995, 80.368844, 427.048628, 170.673388, 847.483582},
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
