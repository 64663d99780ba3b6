// How much work a sweep's program is for a block of threads, and its text: held to what was reached. A
// translation that merges less gives right amplitudes all the same; only this sees it.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda/run/encode.h"
#include "cuda/tile/addresses.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

using Work = std::array<std::size_t, 8>;

std::size_t factors_of(const TileOp& op) {
  std::size_t count = 0;
  for (const Factor& factor : op.factor) {
    if (factor.present) count += 1 + (factor.table >= 0 ? 1 : 0) + (factor.tile >= 0 ? 1 : 0) + factor.cross.size();
  }
  return count;
}

/// Epochs, trips through shared memory that wait for the whole block, operations, factors that amplitudes are
/// multiplied with, tables, terms of tile factors; bytes and arguments of the generated text.
void add_work(const TileProgram& program, Work& work) {
  work[0] += program.epochs.size();
  for (std::size_t e = 0; e + 1 < program.epochs.size(); ++e) {
    work[1] += regroup_columns(program, e).within_warp ? 0 : 1;
  }
  for (const Epoch& epoch : program.epochs) {
    work[2] += epoch.ops.size();
    for (const TileOp& op : epoch.ops) work[3] += factors_of(op);
  }
  work[4] += program.tables.size();
  for (const auto& terms : program.tile_factors) work[5] += terms.size();
  const GeneratedSweep generated = generate(program);
  work[6] += generated.source.size();
  work[7] += generated.ints.size() + generated.reals.size();
}

Work work_of(const Circuit& circuit, Start start, Precision precision) {
  PlanOptions options;
  options.strategy = Strategy::kGreedy;
  options.start = start;
  options.precision = precision;
  options.tile_bits = 10;
  const Plan plan = make_plan(circuit, find_machine("h200"), options);
  Work work{};
  for (const Stage& stage : plan.stages) {
    for (const Sweep& words : stage.sweeps) {
      LowerOptions lower;
      lower.precision = precision;
      lower.local_bits = plan.local_bits();
      lower.register_bits = precision == Precision::kDouble ? 4 : 5;
      lower.canonical = lower.lookups = true;
      add_work(lower_sweep(specialize(words, plan, 0), lower), work);
    }
  }
  return work;
}

void expect_work(const Circuit& circuit, Start start, Precision precision, const Work& reached) {
  test::expect_reached(work_of(circuit, start, precision), reached);
}

TEST(CudaProgramSize, OfTheFamiliesIsWhatWasReached) {
  struct Row {
    const char* family;
    Start start;
    Precision precision;
    Work reached;
  };
  const std::array<Row, 8> table{{
      {"qft", Start::kZero, Precision::kDouble, {1, 0, 0, 0, 1, 0, 10751, 80}},
      {"qft", Start::kRandom, Precision::kSingle, {4, 0, 48, 53, 5, 40, 40003, 202}},
      {"ising", Start::kZero, Precision::kDouble, {10, 4, 92, 144, 13, 21, 66057, 319}},
      {"ising", Start::kRandom, Precision::kSingle, {11, 0, 114, 154, 9, 4, 109907, 399}},
      {"supremacy", Start::kRandom, Precision::kDouble, {8, 3, 51, 74, 13, 2, 47336, 304}},
      {"random", Start::kRandom, Precision::kDouble, {26, 16, 228, 190, 32, 25, 146570, 943}},
      {"qv", Start::kRandom, Precision::kDouble, {30, 15, 809, 686, 0, 0, 325582, 4103}},
      {"heisenberg", Start::kRandom, Precision::kSingle, {21, 0, 222, 199, 0, 0, 258068, 590}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.family);
    expect_work(generate(row.family, {14, 0, 1}), row.start, row.precision, row.reached);
  }
}

/// What is too long for the interpreter's constant memory is done as two programs, each of which moves the whole state:
/// the plan knows nothing of it.
TEST(CudaProgramSize, EverySweepThatIsPlannedIsOneProgram) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    PlanOptions options;
    options.start = Start::kRandom;
    options.precision = precision;
    const Plan plan = make_plan(generate("heisenberg", {30, 0, 1}), find_machine("h200"), options);
    for (const Sweep& words : plan.stages.front().sweeps) {
      const TileProgram program = lower_sweep(words, lower_options(plan.local_bits(), precision));
      EXPECT_TRUE(precision == Precision::kDouble ? encode<double>(program).has_value()
                                                  : encode<float>(program).has_value());
    }
  }
}

/// Blocks on lanes, the exchanges of one and of two lanes that bring them there, other moves and those that wait for
/// the whole block, bytes and arguments of the text.
TEST(CudaProgramSize, OfBlocksOnLanesIsWhatWasReached) {
  std::array<std::size_t, 7> work{};
  PlanOptions options;
  options.start = Start::kRandom;
  options.disabled_passes = {"straighten_axes"};  // which writes pairs as turns
  const Plan plan = make_plan(generate("qv", {24, 8, 1}), find_machine("h200"), options);
  for (const Sweep& words : plan.stages.front().sweeps) {
    LowerOptions lower;
    lower.local_bits = plan.local_bits();
    lower.canonical = lower.lanes = lower.lookups = true;
    const TileProgram program = lower_sweep(specialize(words, plan, 0), lower);
    for (std::size_t e = 0; e + 1 < program.epochs.size(); ++e) {
      const Regroup columns = regroup_columns(program, e);
      if (program.epochs[e + 1].exchanged) {
        ++work[columns.exchanges.size()];
      } else {
        ++work[3];
        work[4] += columns.within_warp ? 0 : 1;
      }
    }
    for (const Epoch& epoch : program.epochs) {
      for (const TileOp& op : epoch.ops) work[0] += op.kind == TileOpKind::kLanes ? 1 : 0;
    }
    const GeneratedSweep generated = generate(program);
    work[5] += generated.source.size();
    work[6] += generated.ints.size() + generated.reals.size();
  }
  test::expect_reached(work, std::array<std::size_t, 7>{88, 40, 30, 16, 14, 174199, 849});
}

TEST(CudaProgramSize, OfRandomCircuitsIsWhatWasReached) {
  const std::array<Work, 8> table{{
      {12, 6, 77, 61, 17, 3, 82563, 572},
      {21, 1, 121, 118, 20, 26, 211619, 1193},
      {16, 7, 96, 111, 26, 27, 92828, 638},
      {4, 1, 24, 24, 7, 5, 55724, 312},
      {19, 7, 106, 92, 12, 24, 111420, 753},
      {16, 1, 103, 112, 14, 28, 166336, 840},
      {8, 1, 57, 53, 14, 9, 66239, 522},
      {19, 4, 111, 100, 18, 23, 178747, 877},
  }};
  for (std::size_t i = 0; i < table.size(); ++i) {
    SCOPED_TRACE(i);
    test::RandomCircuitOptions random;
    random.qubits = 14;
    random.operations = 80;
    random.seed = i + 1;
    const Precision precision = i % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    expect_work(test::random_circuit(random), i % 3 == 0 ? Start::kZero : Start::kRandom, precision, table[i]);
  }
}

}  // namespace
}  // namespace qsim
