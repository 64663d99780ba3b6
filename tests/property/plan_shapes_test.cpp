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
      {"busy", kGreedy, 0, {126529.686, 32,  0, 13536, 0,      243, 972, 146, 219, 644,  183,  821,
                            46,         104, 9, 0,     100.75, 48,  85,  14,  361, 2772, 17933}},
      {"block", kGreedy, 0, {716506.113, 147, 0,  1744896, 0,   2356, 40960, 648, 738,  1126,  648, 8,
                             109,        676, 45, 0,       640, 0,    0,     395, 1843, 55777, 142}},
      {"layers", kGreedy, 0, {595466.103, 93,  0,  1947648, 0,   570, 2280, 0,  322, 1257, 0,   237,
                              109,        371, 40, 0,       198, 372, 0,    55, 482, 2496, 6457}},
      {"busy", kSearch, 0, {126452.08, 32,  0, 12640, 0,  119, 3632, 30, 91,  280,   38,   985,
                            46,        104, 9, 0,     36, 22,  44,   9,  293, -1095, 23611}},
      {"block", kSearch, 0, {640280.961, 115, 0,  1566080, 0,  280, 21028, 65, 69,  130,  65,   1880,
                             109,        441, 25, 0,       91, 15,  43,    69, 859, 4312, 49004}},
      {"edge", kSearch, 0, {304121.605, 67,  0,  86272, 0,      349,   7240, 27, 157, 415,  31,  281,
                            72,         265, 21, 0,     134.25, 37.75, 89,   50, 326, 2165, 8344}},
      {"layers", kSearch, 0, {516401.716, 87,  0,  1625984, 0,   534, 2892, 0,  201, 814,  0,   237,
                              109,        351, 31, 0,       358, 161, 0,    44, 482, 2447, 7287}},
      {"random", kSearch, 0, {790724.71, 134, 0,  2435648, 0,     728,   23240,  88, 339, 1006, 316, 395,
                              109,       550, 68, 0,       245.5, 48.75, 331.75, 89, 389, 2885, 7717}},
      {"gates", kSearch, 0, {752206.25, 127, 0,  2239360, 0,      898, 17560,  106, 401, 1290, 249, 531,
                             109,       510, 59, 0,       387.75, 53,  423.75, 93,  450, 4567, 9535}},
      {"family", kSearch, 0, {3552777.9, 110, 0,  152407424, 0,      397, 4540,  45, 175, 866,  65,   778,
                              109,       429, 48, 0,         113.25, 58,  106.5, 48, 871, 8215, 29320}},
  }};
  for (const Row& row : table) expect_shape(row);
}

TEST(PlanShapes, OfPlansOnSeveralRanksAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"random", kGreedy, 2, {8365027.06, 180, 58,  839808, 81904,  731,   6452, 167, 269, 731,  668, 321,
                              85,         725, 195, 96,     302.25, 35.25, 232,  105, 421, 2287, 5198}},
      {"family", kGreedy, 1, {5737309.98, 147, 28, 107937792, 4771328, 766, 4264, 217, 231, 1344, 293,  611,
                              97,         577, 96, 55,        355.75,  99,  189,  50,  929, 8023, 14864}},
      {"busy", kSearch, 1, {3184521.99, 58,  32, 13216, 1984, 251, 1244, 64, 175, 555, 74,   969,
                            36,         165, 46, 2,     69.5, 72,  91,   7,  370, 223, 20202}},
      {"block", kSearch, 2, {4049344.81, 121, 23, 470912, 28416, 505, 21628, 67,  161,  317,   67,   1592,
                             85,         463, 54, 29,     93,    15,  43,    121, 1147, 16099, 45741}},
      {"edge", kSearch, 2, {6866273.02, 90,  57,  32000, 7392, 381, 3936, 24, 166, 392, 28,  291,
                            48,         321, 134, 16,    170,  32,  89,   41, 320, 929, 8067}},
      {"layers", kSearch, 2, {6792828.89, 96,  32,  477824, 58880, 528, 2688, 0,  192, 776,  0,   237,
                              85,         382, 103, 53,     368,   140, 0,    41, 482, 2416, 7394}},
      {"random", kSearch, 1, {3514021.2, 137, 30,  1241344, 64560,  736, 15616, 80, 343, 1029, 270, 418,
                              97,        557, 101, 52,      252.25, 50,  345,   82, 374, 2281, 8147}},
      {"random", kSearch, 3, {11386300.8, 150, 60,  374976, 53024,  725, 8312,   85, 336, 1036, 283, 424,
                              78,         596, 195, 76,     242.25, 51,  339.75, 76, 369, 1919, 7942}},
      {"gates", kSearch, 2, {8748350.83, 141, 54,  654208, 71328, 941, 6008,   104, 427, 1287, 239, 549,
                             85,         562, 158, 70,     416,   62,  429.75, 82,  431, 3439, 9424}},
      {"family", kSearch, 2, {7940106.05, 120, 37,  40268608, 4761728, 468, 4044, 33, 222, 940,  33,   776,
                              85,         468, 107, 57,       200,     41,  118,  43, 873, 6032, 28619}},
  }};
  for (const Row& row : table) expect_shape(row);
}

}  // namespace
}  // namespace qsim
