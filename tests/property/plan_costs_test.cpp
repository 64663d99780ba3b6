// What plans are predicted to take: the reached times may only fall. A planner that picks worse turns or places gives
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

void expect_no_dearer(const Circuit& circuit, PlanOptions options, const char* machine, const Microseconds& reached,
                      std::uint32_t most_rank_bits = 2) {
  Microseconds found{};
  bool dearer = false;
  for (std::size_t i = 0; i < kSettings; ++i) {
    options.strategy = kColumns[i].strategy;
    options.start = kColumns[i].start;
    options.rank_bits = kColumns[i].ranked ? most_rank_bits : 0;
    found[i] = 1e6 * plan_work(make_plan(circuit, find_machine(machine), options)).total_seconds;
    dearer = dearer || found[i] > reached[i] * (1 + 1e-4);  // the tables have six digits
  }
  std::string row;
  for (const double value : found) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%s%.6g", row.empty() ? "" : ", ", value);
    row += text.data();
  }
  EXPECT_FALSE(dearer) << "now: {" << row << "}";
}

TEST(PlanCosts, FamiliesTakeNoLongerThanWasReached) {
  struct Row {
    const char* family;
    GeneratorOptions options;
    Microseconds reached;
  };
  const std::array<Row, 7> table{{
      {"ghz", {28, 0, 1}, {1015.16, 275.766, 6509.03, 3931.54, 1015.16, 275.766, 6509.03, 3385.1}},
      {"qft", {28, 0, 1}, {968.828, 246.707, 6854.48, 4016.17, 968.828, 246.707, 6744.53, 3395.9}},
      {"ising", {26, 4, 1}, {3366.6, 1361.14, 3599.99, 1381.92, 1021.86, 758.98, 3148.28, 1381.92}},
      {"supremacy", {25, 8, 1}, {811.689, 216.422, 912.932, 827.81, 161.476, 67.0583, 912.932, 805.557}},
      {"random", {26, 5, 1}, {673.608, 181.902, 2669.84, 1462.9, 279.221, 89.0904, 1916.87, 1211.88}},
      {"qv", {24, 4, 1}, {2012.06, 946.254, 2255.85, 1005.17, 554.259, 515.262, 1166.29, 744.491}},
      {"heisenberg", {24, 3, 1}, {1225.13, 706.874, 3302.41, 1036.11, 663.871, 489.335, 1584.55, 772.763}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_no_dearer(generate(row.family, row.options), {}, "h200", row.reached);
  }
}

TEST(PlanCosts, RandomCircuitsTakeNoLongerThanWasReached) {
  const std::array<Microseconds, 12> table{{
      {1720.79, 482.698, 11448.6, 2937.16, 513.553, 250.831, 9151.74, 2347.94},
      {39.0578, 37.112, 114.747, 250.915, 38.0795, 36.6377, 104.907, 247.412},
      {16.5032, 13.1258, 73.1266, 40.7816, 27.7995, 13.1258, 58.95, 32.7375},
      {736.335, 206.584, 3871.5, 1262.59, 680.684, 165, 3013.47, 1033.08},
      {43.4659, 38.7927, 166.323, 449.319, 41.579, 37.7162, 129.992, 453.942},
      {33.1563, 31.2841, 93.4945, 63.8736, 32.0811, 30.5863, 72.9252, 49.7313},
      {778.163, 272.883, 7746.55, 2637.48, 594.117, 196.215, 6858.78, 2188.98},
      {14.0532, 12.5133, 54.858, 36.2145, 10.0296, 7.0074, 44.2165, 29.0541},
      {54.8077, 45.2019, 161.069, 455.99, 47.7683, 43.6755, 146.946, 455.99},
      {1252.37, 358.092, 5118.14, 1734.11, 327.728, 136.422, 4293.86, 1486.25},
      {48.4519, 427.233, 133.466, 446.1, 52.3925, 32.6908, 90.5741, 433.78},
      {23.2262, 19.4854, 56.0121, 224.913, 22.2425, 19.1848, 55.5334, 228.681},
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
    expect_no_dearer(test::random_circuit(random), options, i % 3 == 0 ? "cpu" : "h200", table[i]);
  }
}

// Deep circuits over 8 ranks: exchanges follow each other, and sweeps are shared out among them.
TEST(PlanCosts, ManyExchangesTakeNoLongerThanWasReached) {
  const std::array<Microseconds, 3> table{{
      {453.966, 2138.99, 568.22, 2557.08, 239.837, 1665.33, 338.147, 1688.88},
      {2024.98, 4347.75, 2068.75, 4388.57, 974.196, 3360.64, 1086.08, 3405.25},
      {158.324, 443.388, 208.091, 844.323, 80.3688, 427.049, 170.673, 847.484},
  }};
  const char* const families[] = {"random", "qv", "supremacy"};
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(families[i]);
    PlanOptions options;
    options.tile_bits = 10;
    expect_no_dearer(generate(families[i], {22, 16, 3}), options, "h200", table[i], 3);
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
