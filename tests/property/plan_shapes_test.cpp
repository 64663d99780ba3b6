// What plans of many small circuits are made of, held to what was reached: sums over two dozen circuits of every kind,
// from every start, on one rank and on several, for tiles, registers and cost tables that make the planner decide
// differently. Tests of states see a wrong plan; only this sees another one.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "circuit/generate/families.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/block_circuit.h"
#include "support/busy_circuit.h"
#include "support/edge_circuit.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

/// Nanoseconds; sweeps, exchanges, bytes swept and sent on a rank; matrices and their entries, flips, diagonals and
/// their terms, controls, gates that are in none; births; active bits; bits that a store moves; sweeps beside
/// exchanges; as the cost model counts them, general and real matrices, butterflies, regroups; operations of the
/// circuit that the trace places, and places that it names; what was merged or removed, weighted by the length of its
/// name.
using Shape = std::array<double, 23>;

void add_shape(const Plan& plan, const Machine& machine, Shape& shape) {
  const PlanWork work = plan_work(plan);
  shape[0] += 1e9 * work.total_seconds;
  shape[1] += static_cast<double>(work.sweeps);
  shape[2] += static_cast<double>(work.exchanges);
  shape[3] += static_cast<double>(work.bytes_swept_per_rank);
  shape[4] += static_cast<double>(work.bytes_exchanged_per_rank);
  shape[11] += static_cast<double>(plan.gates_removed);
  for (const auto& [kind, count] : plan.merged) shape[22] += static_cast<double>(kind.size() * count);
  for (const TraceEntry& entry : plan.trace) {
    shape[20] += entry.stage >= 0;
    shape[21] += entry.stage + entry.sweep + entry.op;
  }
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
    options.trace = seed % 2 == 0;
    const auto passes = pass_names();
    if (seed % 3 == 2) options.disabled_passes = {std::string(passes[(seed / 3 + row.kind.size()) % passes.size()])};
    add_shape(make_plan(circuit, machine, options), machine, shape);
  }
  test::expect_reached(shape, row.reached, 1e-8);
}

constexpr Strategy kGreedy = Strategy::kGreedy, kSearch = Strategy::kSearch;

TEST(PlanShapes, OfPlansOnOneRankAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"busy", kGreedy, 0, {126501.594, 33,  0,  14048, 0,  147, 588, 161, 140, 383,  197, 513,
                            46,         107, 10, 0,     74, 44,  20,  14,  290, 1868, 8427}},
      {"block", kGreedy, 0, {716425.467, 149, 0,  1771520, 0,   2356, 40960, 648, 738,  1126,  648, 8,
                             109,        693, 45, 0,       640, 0,    0,     396, 1843, 55660, 142}},
      {"layers", kGreedy, 0, {595417.127, 93,  0,  1947648, 0,   567, 2268, 0,  330, 1311, 0,   237,
                              109,        371, 40, 0,       169, 398, 0,    55, 482, 2597, 6508}},
      {"busy", kSearch, 0, {126425.332, 32,  0,  12384, 0,  131, 1388, 80, 110, 305, 96,   574,
                            46,         105, 10, 0,     51, 33,  35,   10, 267, 559, 11169}},
      {"block", kSearch, 0, {640147.101, 122, 0,  1613184, 0,   609, 18228, 112, 209, 660,   112,  1880,
                             109,        495, 25, 0,       137, 17,  323,   69,  859, 13238, 46607}},
      {"edge", kSearch, 0, {304125.093, 67,  0,  86272, 0,   355,   7240,  27, 158, 411,  33,  281,
                            72,         265, 21, 0,     142, 37.75, 88.75, 50, 325, 2159, 8230}},
      {"layers", kSearch, 0, {516356.621, 87,  0,  1625984, 0,   523, 3412, 0,  212, 859,  0,   237,
                              109,        351, 31, 0,       319, 186, 0,    44, 482, 2483, 7564}},
      {"random", kSearch, 0, {802206.554, 133, 0,  2474048, 0,   734,   27344,  84, 335, 1035, 292, 407,
                              109,        546, 62, 0,       245, 49.75, 338.75, 88, 382, 2839, 7977}},
      {"gates", kSearch, 0, {751991.199, 127, 0,  2239360, 0,   931,   5440, 101, 413, 1328, 241, 527,
                             109,        510, 61, 0,       413, 54.75, 431,  98,  454, 5945, 9168}},
      {"family", kSearch, 0, {3552454.37, 110, 0,  152407424, 0,      445, 4552,  44, 207, 960,  64,   781,
                              109,        429, 46, 0,         121.25, 55,  164.5, 48, 872, 9194, 28589}},
  }};
  for (const Row& row : table) expect_shape(row);
}

TEST(PlanShapes, OfPlansOnSeveralRanksAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"random", kGreedy, 2, {8375445.42, 181, 58,  848000, 81904,  731,   6452, 182, 268, 732,  683, 314,
                              85,         730, 199, 96,     302.25, 36.25, 231,  105, 423, 2316, 5148}},
      {"family", kGreedy, 1, {5737305.17, 147, 28, 107937792, 4771328, 766, 4264, 217, 231, 1343, 293,  611,
                              97,         577, 97, 55,        356.75,  98,  189,  50,  929, 8029, 14864}},
      {"busy", kSearch, 1, {3184499.3, 58,  33, 12960, 1984,  173, 836, 89, 135, 366, 102,  579,
                            36,        164, 50, 2,     61.75, 47,  49,  7,  274, 56,  10280}},
      {"block", kSearch, 2, {4049345.58, 126, 23, 491392, 28416, 834, 20832, 101, 311,  849,   101,  1592,
                             85,         497, 54, 29,     143,   17,  324,   118, 1147, 21582, 43548}},
      {"edge", kSearch, 2, {6866292, 90,  57,  32384, 7424, 386, 3944,  24, 168, 391, 29,  293,
                            48,      321, 132, 17,    171,  32,  93.75, 42, 319, 913, 7943}},
      {"layers", kSearch, 2, {6792821.75, 96,  32,  477824, 58880, 518, 3260, 0,  191, 776,  0,   237,
                              85,         382, 102, 53,     353,   142, 0,    41, 482, 2320, 7653}},
      {"random", kSearch, 1, {3524665.5, 138, 30,  1254656, 64560,  728,   15380, 83, 342, 1036, 279, 413,
                              97,        559, 104, 52,      246.75, 49.75, 339,   80, 374, 2432, 8063}},
      {"random", kSearch, 3, {11396487, 150, 59,  378560, 53216,  725,   8324,   89, 342, 1057, 293, 421,
                              78,       597, 188, 75,     235.25, 53.75, 342.75, 76, 369, 1941, 7905}},
      {"gates", kSearch, 2, {8776309.21, 140, 54,  637824, 71584, 937,   5404,  100, 429, 1364, 235, 546,
                             85,         557, 157, 70,     387,   60.75, 460.5, 83,  434, 3629, 9359}},
      {"family", kSearch, 2, {7940047.77, 120, 37,  40268608, 4761728, 482,  4220,   40, 231, 1002, 46,   779,
                              85,         468, 107, 57,       165,     39.5, 176.75, 43, 874, 6364, 28390}},
  }};
  for (const Row& row : table) expect_shape(row);
}

}  // namespace
}  // namespace qsim
