// What plans of many small circuits are made of, held to what was reached: sums over two dozen circuits of every kind,
// from every start, on one rank and on several, for tiles, registers and cost tables that make the planner decide
// differently. Tests of states see a wrong plan; only this sees another one.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "plan/cost/cost.h"
#include "qsim/generators.h"
#include "qsim/plan.h"
#include "support/block_circuit.h"
#include "support/busy_circuit.h"
#include "support/edge_circuit.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

/// Nanoseconds; sweeps, exchanges, bytes swept and sent on a rank; matrices and their entries, flips, diagonals and
/// their terms, controls, gates that are in none; births; active bits; bits that a store moves; sweeps beside
/// exchanges; as the cost model counts them, general and real matrices, butterflies, regroups.
using Shape = std::array<double, 20>;

void add_shape(const Plan& plan, const Machine& machine, Shape& shape) {
  const PlanWork work = plan_work(plan);
  shape[0] += 1e9 * work.total_seconds;
  shape[1] += static_cast<double>(work.sweeps);
  shape[2] += static_cast<double>(work.exchanges);
  shape[3] += static_cast<double>(work.bytes_swept_per_rank);
  shape[4] += static_cast<double>(work.bytes_exchanged_per_rank);
  shape[11] += static_cast<double>(plan.gates_removed);
  for (const Stage& stage : plan.stages) {
    if (stage.exchange) shape[15] += stage.exchange->overlap_before + stage.exchange->overlap_after;
    for (const Sweep& sweep : stage.sweeps) {
      const ArithmeticCounts counts = arithmetic_counts(sweep, machine.register_bits);
      const std::array<double, 4> arithmetic{counts.matrix1_general, counts.matrix1_real, counts.butterfly,
                                             counts.regroup};
      for (std::size_t i = 0; i < arithmetic.size(); ++i) shape[16 + i] += arithmetic[i];
      for (const PlanOp& op : sweep.ops) {
        shape[op.form == Form::kMatrix ? 5 : op.form == Form::kFlip ? 7 : 8] += 1;
        if (op.form != Form::kFlip) shape[op.form == Form::kMatrix ? 6 : 9] += op.data_count;
        shape[10] += std::popcount(op.control_mask);
      }
      shape[12] += static_cast<double>(sweep.births.size());
      shape[13] += static_cast<double>(sweep.active.size());
      for (std::size_t i = 0; i < sweep.active.size(); ++i) shape[14] += sweep.active[i] != sweep.store[i];
    }
  }
}

Circuit general_layers(std::uint32_t qubits, std::uint64_t seed) {
  Circuit circuit(qubits);
  for (std::uint32_t layer = 0; layer < 3 + seed % 4; ++layer) {
    for (Qubit qubit = 0; qubit < qubits; ++qubit) {
      const double angle = 0.3 + 0.1 * layer + 0.05 * qubit;
      if ((qubit + layer + seed) % 3 != 0) circuit.cp(angle, qubit, (qubit + 1 + layer) % qubits);
    }
    for (Qubit qubit = 0; qubit < qubits; ++qubit) {
      const double angle = 0.4 + 0.07 * layer + 0.03 * qubit;
      const std::vector<double> params{angle, 2 * angle, 1 - angle};
      if ((qubit * 5 + layer + seed) % 4 != 0) circuit.add_gate(Gate::kU, {}, std::span(&qubit, 1), params);
    }
  }
  return circuit;
}

Circuit small_circuit(std::string_view kind, std::uint64_t seed) {
  const auto qubits = static_cast<std::uint32_t>(7 + seed % 5);
  if (kind == "busy") return test::busy_circuit(seed);
  if (kind == "block") return test::block_circuit(qubits, seed);
  if (kind == "edge") return test::edge_circuit(6, 40, seed);
  if (kind == "layers") return general_layers(qubits, seed);
  if (kind == "random") return test::random_circuit({.qubits = qubits, .operations = 50, .seed = seed});
  if (kind == "gates") {
    return test::random_circuit(
        {.qubits = qubits, .operations = 60, .seed = seed, .max_controls = 1, .max_unitary_targets = 0});
  }
  const auto families = generators();
  const GeneratorInfo& family = families[seed % families.size()];
  return generate(family.name, {std::max(qubits, family.min_qubits), std::min(family.default_depth, 5U), seed});
}

Machine machine_for(std::uint64_t seed) {
  Machine machine = find_machine(seed % 2 == 0 ? "h200" : "cpu");
  machine.min_tile_bits = 2;
  machine.low_bits = static_cast<std::uint32_t>(seed / 2 % 3);
  machine.register_bits = static_cast<std::uint32_t>(2 + seed / 3 % 4);
  if (seed % 5 == 0) {  // dense matrices pay at once
    for (CostTable* cost : {&machine.cost_single, &machine.cost_double})
      for (double& dense : cost->matrix_dense) dense = 1000;
  }
  if (seed % 4 < 2) {  // what sweeps and exchanges take beside their bytes would hide the arithmetic
    for (CostTable* cost : {&machine.cost_single, &machine.cost_double})
      cost->sweep_overhead = cost->exchange_overhead = 0;
  }
  return machine;
}

struct Row {
  std::string_view kind;
  Strategy strategy;
  std::uint32_t rank_bits;
  Shape reached;
};

void expect_shape(const Row& row) {
  SCOPED_TRACE(std::string(row.kind) + ", strategy " + std::to_string(static_cast<int>(row.strategy)) + ", rank bits " +
               std::to_string(row.rank_bits));
  Shape shape{};
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const Circuit circuit = small_circuit(row.kind, seed);
    const Machine machine = machine_for(seed);
    PlanOptions options;
    options.strategy = row.strategy;
    options.rank_bits = std::min(row.rank_bits, circuit.qubits() / 3);
    options.precision = seed % 3 == 0 ? Precision::kSingle : Precision::kDouble;
    options.tile_bits = static_cast<std::uint32_t>(3 + seed % 3);
    if (seed % 4 == 0) options.tile_bits.reset();
    constexpr Start kStarts[] = {Start::kZero, Start::kRandom, Start::kZero, Start::kState};
    options.start = kStarts[seed / 2 % 4];
    options.preserve_layout = options.start == Start::kState && seed % 2 == 0;
    options.known_zeros = seed % 7 != 0;
    add_shape(make_plan(circuit, machine, options), machine, shape);
  }
  test::expect_reached(shape, row.reached, 1e-8);
}

constexpr Strategy kGreedy = Strategy::kGreedy, kSearch = Strategy::kSearch;

TEST(PlanShapes, OfPlansOnOneRankAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"busy", kGreedy, 0, {126500.032, 33,  0,  14048, 0,  147, 588, 155, 139, 386,
                            191,        519, 46, 107,   10, 0,   73,  45,  20,  14}},
      {"block", kGreedy, 0, {716642.637, 154, 0,   1777664, 0,  2356, 40960, 648, 738, 1126,
                             648,        8,   109, 723,     45, 0,    640,   0,   0,   391}},
      {"layers", kGreedy, 0, {595417.074, 93,  0,   1947648, 0,  567, 2268, 0,   335, 1326,
                              0,          237, 109, 371,     40, 0,   161,  406, 0,   55}},
      {"busy", kSearch, 0, {126417.85, 32,  0,  12384, 0,  134, 1400,  76, 113, 327,
                            91,        583, 46, 105,   10, 0,   42.25, 41, 39,  10}},
      {"block", kSearch, 0, {640137.165, 120,  0,   1604992, 0,  274, 21892, 63, 68, 128,
                             63,         1880, 109, 481,     25, 0,   87,    15, 43, 67}},
      {"edge", kSearch, 0, {304118.449, 67,  0,  86272, 0,  351, 7236,   27,    158, 423,
                            31,         281, 72, 265,   21, 0,   134.25, 39.75, 90,  50}},
      {"layers", kSearch, 0, {516356.621, 87,  0,   1625984, 0,  523, 3412, 0,   212, 859,
                              0,          237, 109, 351,     31, 0,   319,  186, 0,   44}},
      {"random", kSearch, 0, {790717.892, 132, 0,   2441280, 0,  726, 27264, 82, 334,    1044,
                              285,        412, 109, 541,     64, 0,   239.5, 51, 339.75, 89}},
      {"gates", kSearch, 0, {745934.276, 126, 0,   2173824, 0,  888, 21636, 100,   402,   1316,
                             231,        539, 109, 505,     57, 0,   362.5, 57.75, 433.5, 92}},
      {"family", kSearch, 0, {3552431.65, 110, 0,   152407424, 0,  443, 4544,   45, 206,   962,
                              65,         782, 109, 429,       48, 0,   119.25, 56, 163.5, 48}},
  }};
  for (const Row& row : table) expect_shape(row);
}

TEST(PlanShapes, OfPlansOnSeveralRanksAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"random", kGreedy, 2, {8365025.5, 179, 58, 837760, 81904, 731, 6452,   167,   267, 733,
                              668,       319, 85, 718,    195,   96,  302.25, 36.25, 231, 106}},
      {"family", kGreedy, 1, {5737303.93, 147, 28, 107937792, 4771328, 766, 4264,   217, 231, 1344,
                              293,        611, 97, 577,       97,      55,  355.75, 99,  189, 50}},
      {"busy", kSearch, 1, {3184496.58, 58,  33, 12960, 1984, 172, 832,   83, 137, 380,
                            94,         588, 36, 164,   50,   2,   53.25, 51, 53,  7}},
      {"block", kSearch, 2, {4049344.58, 125,  23, 505728, 28416, 502, 21808, 65, 160, 316,
                             65,         1592, 85, 496,    54,    29,  91,    15, 42,  120}},
      {"edge", kSearch, 2, {6866290.79, 90,  57, 32384, 7424, 385, 3940, 25, 167,   398,
                            30,         293, 48, 321,   132,  17,  167,  34, 94.75, 42}},
      {"layers", kSearch, 2, {6792821.75, 96,  32, 477824, 58880, 518, 3260, 0,   191, 776,
                              0,          237, 85, 382,    102,   53,  353,  142, 0,   41}},
      {"random", kSearch, 1, {3513883.52, 137, 30, 1238272, 64560, 718, 15304,  80, 337, 1046,
                              271,        418, 97, 554,     103,   52,  240.25, 50, 339, 80}},
      {"random", kSearch, 3, {11386286.1, 149, 59, 374464, 53216, 717, 8256,   84, 339,    1065,
                              278,        426, 78, 592,    193,   76,  229.75, 54, 343.75, 76}},
      {"gates", kSearch, 2, {8730251.71, 139, 54, 621440, 71328, 927, 5676,  99,    432, 1369,
                             226,        546, 85, 552,    153,   70,  379.5, 65.75, 453, 82}},
      {"family", kSearch, 2, {7940075.26, 120, 37, 40268608, 4761728, 480, 4296, 33, 230, 1004,
                              33,         780, 85, 468,      107,     57,  163,  36, 175, 43}},
  }};
  for (const Row& row : table) expect_shape(row);
}

}  // namespace
}  // namespace qsim
