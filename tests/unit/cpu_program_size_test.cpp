// How much work a sweep's program is on vector registers: held to what was reached. A translation that merges
// less gives right amplitudes all the same; only this sees it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "cpu/tile/tile_translation.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

using Work = std::array<std::size_t, 7>;

/// Passes, micro-operations, vectors that they act on, reals of their coefficients, diagonals by tile, factors of whole
/// tiles, amplitudes that are loaded one by one.
Work work_of(const Circuit& circuit, Start start) {
  PlanOptions options;
  options.strategy = Strategy::kGreedy;
  options.start = start;
  options.tile_bits = 9;
  const Plan plan = make_plan(circuit, find_machine("cpu"), options);
  Work work{};
  for (const Stage& stage : plan.stages) {
    for (const Sweep& words : stage.sweeps) {
      const auto program = cpu::translate_sweep<double>(specialize(words, plan, 0), plan.local_bits(), 2, 3);
      work[0] += program.passes.size();
      work[1] += program.ops.size();
      for (const cpu::MicroOp& op : program.ops) work[2] += count_bits(op.vectors);
      work[3] += program.coefficients.size();
      work[4] += program.tile_diagonals.size();
      work[5] += program.scalar_pieces.size() + program.tile_scales.size();
      if (program.load == cpu::Load::kElements) work[6] += program.load_offsets.size();
      if (!program.store_units) work[6] += program.store_offsets.size();
    }
  }
  return work;
}

void expect_work(const Circuit& circuit, Start start, const Work& reached) {
  test::expect_reached(work_of(circuit, start), reached);
}

TEST(CpuProgramSize, OfTheFamiliesIsWhatWasReached) {
  struct Row {
    const char* family;
    Start start;
    Work reached;
  };
  const std::array<Row, 8> table{{
      {"qft", Start::kZero, {0, 0, 0, 0, 0, 0, 0}},
      {"qft", Start::kRandom, {4, 30, 144, 16336, 7, 0, 0}},
      {"ising", Start::kZero, {9, 104, 555, 9616, 4, 256, 0}},
      {"ising", Start::kRandom, {9, 117, 626, 6600, 2, 128, 0}},
      {"supremacy", Start::kRandom, {8, 58, 332, 6540, 3, 0, 0}},
      {"random", Start::kRandom, {19, 239, 1238, 23700, 11, 512, 0}},
      {"qv", Start::kRandom, {19, 917, 4766, 24768, 2, 256, 0}},
      {"heisenberg", Start::kRandom, {15, 185, 763, 4888, 0, 0, 0}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_work(generate(row.family, {12, 0, 1}), row.start, row.reached);
  }
}

TEST(CpuProgramSize, OfRandomCircuitsIsWhatWasReached) {
  const std::array<Work, 8> table{{
      {11, 81, 408, 8332, 3, 128, 0},
      {22, 121, 570, 17092, 5, 0, 0},
      {14, 108, 556, 10052, 4, 128, 0},
      {9, 47, 228, 11532, 5, 128, 0},
      {17, 122, 574, 12576, 5, 256, 0},
      {17, 129, 632, 24944, 9, 384, 0},
      {13, 80, 376, 8072, 2, 128, 0},
      {21, 127, 612, 18848, 7, 256, 0},
  }};
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(i);
    test::RandomCircuitOptions random;
    random.qubits = 12;
    random.operations = 80;
    random.seed = i + 1;
    expect_work(test::random_circuit(random), i % 3 == 0 ? Start::kZero : Start::kRandom, table[i]);
  }
}

}  // namespace
}  // namespace qsim
