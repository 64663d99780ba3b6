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
      {"busy", kGreedy, 0, {126539.552, 32,  0, 13536, 0,  243, 972, 145, 217, 641,  181,  857,
                            46,         104, 9, 0,     74, 49,  84,  13,  354, 2596, 18593}},
      {"block", kGreedy, 0, {715766.129, 136, 0,  1708032, 0,   2356, 40960, 648, 738,  1126,  648, 8,
                             109,        598, 45, 0,       640, 0,    0,     400, 1843, 59273, 142}},
      {"layers", kGreedy, 0, {595434.481, 93,  0,  1947648, 0,   568, 2272, 0,  334, 1322, 0,   237,
                              109,        371, 40, 0,       164, 404, 0,    56, 482, 2590, 6491}},
      {"busy", kSearch, 0, {126450.678, 32,  0, 12640, 0,  115, 3616, 30, 89,  269,   39,   999,
                            46,         105, 9, 0,     31, 22,  38,   9,  288, -1148, 24174}},
      {"block", kSearch, 0, {640161.478, 115, 0,  1566080, 0,  278, 21728, 65, 69,  130,  67,   1880,
                             109,        441, 25, 0,       87, 15,  44,    69, 859, 4312, 49004}},
      {"edge", kSearch, 0, {304125.314, 66,  0,  85760, 0,   345, 7344, 26, 144, 386,  40,  273,
                            72,         262, 24, 0,     123, 36,  75,   58, 334, 1937, 8298}},
      {"layers", kSearch, 0, {516368.293, 87,  0,  1625984, 0,   528, 3120, 0,  210, 869,  1,   237,
                              109,        351, 31, 0,       321, 190, 0,    44, 482, 2509, 7465}},
      {"random", kSearch, 0, {790865.937, 134, 0,  2450496, 0,   699, 27216, 90, 323, 995,  336, 406,
                              109,        551, 67, 0,       224, 44,  306,   88, 387, 2724, 7993}},
      {"gates", kSearch, 0, {746209.566, 126, 0,  2173824, 0,   853, 17488, 101, 385, 1220, 257, 538,
                             109,        505, 57, 0,       353, 47,  378,   90,  443, 4088, 9730}},
      {"family", kSearch, 0, {3206956.23, 108, 0,  144018816, 0,   420, 4200, 43, 175, 891,  67,   787,
                              109,        422, 48, 0,         112, 54,  119,  39, 866, 8506, 28888}},
  }};
  for (const Row& row : table) expect_shape(row);
}

TEST(PlanShapes, OfPlansOnSeveralRanksAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"random", kGreedy, 2, {8365025.09, 179, 58,  837760, 81904, 731, 6452, 167, 268, 733,  668, 321,
                              85,         718, 195, 96,     243,   31,  225,  106, 421, 2389, 5215}},
      {"family", kGreedy, 1, {5707421.52, 146, 27, 107933696, 4770304, 723, 4092, 211, 228, 1343, 244,  617,
                              97,         570, 92, 55,        325,     66,  186,  50,  923, 7779, 15635}},
      {"busy", kSearch, 1, {3184520.57, 58,  32, 13088, 1952, 244, 1216, 70, 165, 530, 86,   967,
                            36,         164, 50, 2,     61,   63,  92,   7,  348, -47, 20852}},
      {"block", kSearch, 2, {4049314.81, 121, 23, 470912, 28416, 505, 21700, 65,  162,  321,   67,   1592,
                             85,         463, 54, 29,     88,    15,  44,    121, 1147, 16094, 45775}},
      {"edge", kSearch, 2, {6866299.51, 90,  57,  32384, 7424, 381, 4032, 25, 154, 358, 44,  292,
                            48,         321, 132, 17,    154,  32,  83,   42, 320, 827, 8023}},
      {"layers", kSearch, 2, {6792827.39, 96,  32,  477824, 58880, 526, 2920, 0,  185, 783,  6,   237,
                              85,         382, 103, 53,     355,   145, 0,    41, 482, 2361, 7572}},
      {"random", kSearch, 1, {3514130.81, 139, 30,  1250560, 64560, 697, 15208, 84, 324, 1009, 326, 419,
                              97,         567, 105, 52,      222,   43,  314,   81, 372, 2103, 8171}},
      {"random", kSearch, 3, {11386378.3, 149, 60,  374464, 53600, 692, 8252, 85, 321, 1017, 314, 425,
                              78,         592, 195, 76,     222,   50,  303,  76, 367, 1759, 8019}},
      {"gates", kSearch, 2, {8730314.58, 139, 54,  621696, 71424, 898, 5416, 102, 413, 1243, 269, 544,
                             85,         552, 150, 71,     379,   49,  395,  80,  436, 3022, 9396}},
      {"family", kSearch, 2, {7951844.4, 120, 37,  40267840, 4761408, 444, 3780, 31, 189, 917,  41,   786,
                              85,        466, 107, 58,       159,     53,  111,  38, 867, 5511, 28923}},
  }};
  for (const Row& row : table) expect_shape(row);
}

}  // namespace
}  // namespace qsim
