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
      {"busy", kGreedy, 0, {126515.579, 32,  0, 13536, 0,  236, 944, 139, 210, 630,  179,  858,
                            46,         104, 9, 0,     73, 46,  81,  13,  352, 2520, 18729}},
      {"block", kGreedy, 0, {686254.188, 127, 0,  1671168, 0,   2356, 40960, 648, 738,  1126,  648, 8,
                             109,        532, 45, 0,       640, 0,    0,     405, 1843, 72593, 142}},
      {"layers", kGreedy, 0, {595414.953, 93,  0,  1947648, 0,   567, 2268, 0,  335, 1326, 0,   237,
                              109,        371, 40, 0,       161, 406, 0,    55, 482, 2590, 6508}},
      {"busy", kSearch, 0, {126446.047, 32,  0, 12640, 0,  130, 3544, 39, 104, 323,  54,   941,
                            46,         106, 9, 0,     36, 25,  41,   9,  351, -247, 23534}},
      {"block", kSearch, 0, {639954.343, 117, 0,  1574272, 0,  262, 23800, 60, 58,   118,  60,   896,
                             109,        459, 25, 0,       69, 15,  38,    83, 1339, 4883, 52741}},
      {"edge", kSearch, 0, {297957.744, 63,  0,  81664, 0,   341, 6992, 33, 142, 372,  48,  279,
                            72,         251, 24, 0,     142, 38,  77,   54, 353, 2517, 8428}},
      {"layers", kSearch, 0, {516353.273, 87,  0,  1625984, 0,   527, 2840, 0,  214, 864,  1,   237,
                              109,        355, 31, 0,       322, 187, 0,    43, 482, 2595, 7404}},
      {"random", kSearch, 0, {790714.425, 131, 0,  2433088, 0,   706, 23176, 82, 323, 1008, 318, 414,
                              109,        532, 64, 0,       219, 44,  321,   89, 380, 2793, 7968}},
      {"gates", kSearch, 0, {745839.117, 125, 0,  2169728, 0,   842, 17516, 96, 387, 1260, 248, 537,
                             109,        497, 57, 0,       317, 49,  399,   87, 443, 4399, 9808}},
      {"family", kSearch, 0, {3203046.59, 106, 0,  143966336, 0,   448, 3616, 58, 191, 941,  76,   887,
                              109,        409, 48, 0,         125, 59,  137,  41, 646, 6634, 26051}},
  }};
  for (const Row& row : table) expect_shape(row);
}

TEST(PlanShapes, OfPlansOnSeveralRanksAreWhatWasReached) {
  const std::array<Row, 10> table{{
      {"random", kGreedy, 2, {8364742.47, 179, 58,  837760, 81904, 731, 6452, 167, 269, 733,  668, 321,
                              85,         718, 195, 96,     243,   31,  225,  106, 421, 2389, 5232}},
      {"family", kGreedy, 1, {5703960.26, 146, 27, 107933696, 4770304, 721, 4084, 212, 227, 1342, 245,  617,
                              97,         570, 92, 55,        325,     66,  184,  50,  923, 7779, 15669}},
      {"busy", kSearch, 1, {3184510.87, 58,  32, 13088, 1952, 236, 1184, 46, 167, 521,  61,   971,
                            36,         164, 46, 2,     66,   55,  86,   7,  380, -213, 21467}},
      {"block", kSearch, 2, {4049221.32, 120, 23, 454528, 28416, 464, 22184, 32,  155,  311,   32,   632,
                             85,         454, 54, 29,     48,    15,  43,    116, 1531, 15226, 50271}},
      {"edge", kSearch, 2, {6579139.41, 81,  48,  29824, 6640, 345, 3828, 26, 143, 365,  39,  314,
                            48,         291, 109, 16,    147,  38,  75,   38, 340, 1011, 8541}},
      {"layers", kSearch, 2, {6792821.23, 96,  32,  477824, 58880, 528, 2688, 0,  188, 790,  5,   237,
                              85,         383, 102, 53,     356,   147, 0,    40, 482, 2401, 7470}},
      {"random", kSearch, 1, {3513878.54, 137, 30,  1238272, 64560, 694, 15256, 78, 317, 998,  319, 420,
                              97,         555, 103, 52,      216,   39,  317,   80, 372, 2172, 8125}},
      {"random", kSearch, 3, {11386260.2, 149, 59,  374720, 53344, 694, 8164, 84, 320, 1015, 321, 430,
                              78,         593, 193, 76,     218,   47,  310,  76, 365, 1785, 7966}},
      {"gates", kSearch, 2, {8730229.78, 139, 54,  625536, 71840, 882, 5664, 98, 401, 1258, 255, 543,
                             85,         556, 152, 69,     348,   50,  408,  83, 436, 2761, 9563}},
      {"family", kSearch, 2, {7950455.46, 119, 37,  40252992, 4759104, 461, 3476, 48, 205, 953,  58,   884,
                              85,         463, 109, 58,       145,     57,  137,  40, 655, 4052, 26257}},
  }};
  for (const Row& row : table) expect_shape(row);
}

}  // namespace
}  // namespace qsim
