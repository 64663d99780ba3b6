// Tile programs, emulated on the host, against the plan interpreter.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/bits.h"
#include "base/philox.h"
#include "circuit/generate/families.h"
#include "cuda/factor/canonical.h"
#include "cuda/program/lower.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/work.h"
#include "cuda_emulator.h"
#include "cuda_programs.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"
#include "support/sweep_reference.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using cuda::lower_options;
using cuda::LowerOptions;
using cuda::TileProgram;
using test::sweep_of_bits;

/// Blocks on lanes, and moves to them by exchanges.
struct LaneUse {
  int blocks = 0, trades = 0;
  void add(const TileProgram& program) {
    for (const cuda::Epoch& epoch : program.epochs) {
      trades += epoch.exchanged ? 1 : 0;
      for (const cuda::TileOp& op : epoch.ops) blocks += op.kind == cuda::TileOpKind::kLanes ? 1 : 0;
    }
  }
};

/// The plan's state in physical order, through tile programs; every sweep in chunks of `chunk` where that is not 0.
std::vector<Complex> emulate_plan(const Plan& plan, std::vector<Complex> state, Precision precision, bool chunked,
                                  LaneUse* use = nullptr) {
  for (const Stage& stage : plan.stages) {
    for (const Sweep& words : stage.sweeps) {
      const Sweep sweep = specialize(words, plan, 0);
      LowerOptions options = lower_options(plan.local_bits(), precision);
      Index used = sweep.unborn;
      for (const Bit bit : sweep.active) used |= bit_mask(bit);
      const Index spare = low_mask(plan.local_bits()) & ~used;
      const Index chunk = chunked && spare != 0 ? spare & (~spare + 1) : 0;
      options.outside = chunk;
      options.canonical = options.lookups = chunked;
      options.lanes = use != nullptr;
      options.trials = 1 + static_cast<std::uint32_t>(sweep.ops.size()) % 5;
      const TileProgram program = lower_sweep(sweep, options);
      if (use != nullptr) use->add(program);
      test::emulate(program, state, chunk, 0);
      if (chunk != 0) test::emulate(program, state, chunk, chunk);
    }
  }
  return state;
}

void compare(const Circuit& circuit, const PlanOptions& plan_options, std::uint64_t seed, Precision precision,
             LaneUse* use = nullptr) {
  const Plan plan = make_plan(circuit, find_machine("h200"), plan_options);
  const bool from_zero = plan_options.start == Start::kZero;
  const std::vector<Complex> start = from_zero ? std::vector<Complex>{} : dense::random_state(circuit.qubits(), seed);
  const std::vector<Complex> expected = test::interpret(plan, start);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Complex> state(std::size_t{1} << circuit.qubits(), Complex(nan, nan));
  if (!from_zero) {
    for (Index logical = 0; logical < start.size(); ++logical) {
      state[plan.initial_layout.to_physical(logical)] = start[logical];
    }
  }
  state = emulate_plan(plan, std::move(state), precision, seed % 3 == 0, use);
  double worst = 0;
  for (Index logical = 0; logical < state.size(); ++logical) {
    const double difference = std::abs(state[plan.final_layout.to_physical(logical)] - expected[logical]);
    if (!(difference <= worst)) worst = difference;
  }
  EXPECT_LE(worst, test::tolerance(Precision::kDouble, circuit.depth())) << "seed " << seed;
}

TEST(CudaLower, RandomPlansMatchTheInterpreter) {
  const auto [first, count] = test::Campaign(120);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    test::RandomCircuitOptions circuit_options;
    circuit_options.qubits = 1 + static_cast<unsigned>(seed % 13);
    circuit_options.operations = 30;
    circuit_options.kinds = seed / 13 % 2 == 1 ? 2 + static_cast<unsigned>(seed / 26 % 5) : 0;
    circuit_options.seed = seed;
    PlanOptions options;
    options.strategy = seed % 4 == 0 ? Strategy::kNaive : Strategy::kGreedy;
    options.known_zeros = seed % 2 == 0;
    options.start = seed % 5 < 2 ? Start::kRandom : Start::kZero;
    if (seed % 3 != 1) options.tile_bits = 3 + static_cast<std::uint32_t>(seed % 7);
    compare(test::random_circuit(circuit_options), options, seed,
            seed % 2 == 0 ? Precision::kDouble : Precision::kSingle);
  }
}

/// Two-qubit unitaries everywhere, with `others` random operations for each hundred of them.
Circuit circuit_of_blocks(unsigned qubits, std::uint64_t seed, std::uint64_t others) {
  PhiloxSequence random(seed);
  test::RandomCircuitOptions options;
  options.qubits = qubits;
  options.operations = 1;
  Circuit circuit(qubits);
  for (std::uint64_t i = 0; i < 6 * qubits; ++i) {
    const auto a = static_cast<Qubit>(random.below(qubits)), b = static_cast<Qubit>(random.below(qubits - 1));
    const std::array<Qubit, 2> targets{a, b >= a ? b + 1 : b};
    circuit.add_unitary(test::random_unitary(2, 1000 * seed + i), {}, targets);
    options.seed = 1000 * seed + i;
    if (random.below(100) >= others) continue;
    const Circuit other = test::random_circuit(options);
    for (const Operation& op : other.operations()) circuit.append(other, op);
  }
  return circuit;
}

TEST(CudaLower, BlocksOnLanesMatchTheInterpreter) {
  LaneUse use;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    PlanOptions options;
    options.start = seed % 5 < 2 ? Start::kRandom : Start::kZero;
    if (seed % 4 == 0) options.tile_bits = 4 + static_cast<std::uint32_t>(seed % 5);
    const unsigned qubits = 5 + static_cast<unsigned>(seed % 9);
    compare(circuit_of_blocks(qubits, seed, seed % 3 * 30), options, seed, Precision::kDouble, &use);
  }
  EXPECT_GT(use.blocks, 1000);
  EXPECT_GT(use.trades, 500);
}

// Sweeps that no planner would write: controls that ask for 0, terms on their own controls, births, any store.
TEST(CudaLower, RandomSweepsMatchTheirWords) {
  const auto [first, count] = test::Campaign(400);
  PhiloxSequence random(10 + first);
  for (std::uint64_t trial = 0; trial < count; ++trial) {
    test::SweepShape shape;
    shape.bits = 5 + static_cast<std::uint32_t>(random.below(6));
    shape.active = static_cast<std::uint32_t>(1 + random.below(shape.bits));
    shape.operations = 1 + static_cast<std::uint32_t>(random.below(trial % 4 == 0 ? 40 : 6));
    shape.max_targets = 4;
    shape.births = trial % 3 == 0;
    shape.reads = trial % 7 != 0;
    shape.reach = !shape.births && shape.reads && trial % 2 == 0;
    shape.phases = trial % 6 == 4;
    const Sweep sweep = test::random_sweep(random, shape);
    const std::vector<Complex> memory = test::random_state(random, shape.bits);
    const std::vector<Complex> expected = test::reference_sweep(sweep, {}, shape.bits, memory);
    LowerOptions options = lower_options(shape.bits, trial % 2 == 0 ? Precision::kDouble : Precision::kSingle);
    options.canonical = trial % 5 < 2;
    options.lookups = trial % 3 != 0;
    options.lanes = trial % 4 == 0;
    options.trials = 1 + static_cast<std::uint32_t>(trial) % 6;
    std::vector<Complex> state = memory;
    test::emulate(lower_sweep(sweep, options), state);
    const Index still = test::unborn_after(sweep);
    double worst = 0;
    for (Index i = 0; i < state.size(); ++i) {
      const double difference = (i & still) != 0 ? 0 : std::abs(state[i] - expected[i]);
      if (!(difference <= worst)) worst = difference;
    }
    ASSERT_LE(worst, 1e-13 * shape.operations) << "trial " << trial;
  }
}

TEST(CudaLower, WideMatricesMatchTheInterpreter) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const unsigned targets = 3 + static_cast<unsigned>(seed % 4);
    Circuit circuit(9);
    std::vector<Qubit> qubits;
    for (unsigned t = 0; t < targets; ++t) qubits.push_back((static_cast<unsigned>(seed) + t * 5) % 9);
    circuit.h(static_cast<Qubit>(seed % 9));
    circuit.add_unitary(test::random_unitary(targets, seed), {}, qubits);
    PlanOptions options;
    options.start = Start::kRandom;
    compare(circuit, options, seed, Precision::kDouble);
  }
}

TEST(CudaLower, ControlledFlipsFoldIntoAddresses) {
  Sweep sweep;
  for (Bit bit = 0; bit < 10; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (unsigned step : {1u, 3u, 7u}) {
    for (unsigned bit = 0; bit < 10; ++bit) {
      PlanOp op;
      op.form = Form::kFlip;
      op.target_count = 1;
      op.targets[0] = static_cast<Bit>((bit + step) % 10);
      op.control_mask = bit_mask(bit);
      op.control_value = bit % 3 == 0 ? 0 : op.control_mask;
      sweep.ops.push_back(op);
    }
  }
  const TileProgram program = lower_sweep(sweep, lower_options(10, Precision::kDouble));
  for (const auto& epoch : program.epochs) EXPECT_TRUE(epoch.ops.empty());
  std::vector<Complex> state = dense::random_state(10, 7), expected = state;
  for (const PlanOp& op : sweep.ops) {
    const std::vector<Complex> before = expected;
    for (Index i = 0; i < expected.size(); ++i) {
      if ((i & op.control_mask) == op.control_value) expected[i] = before[i ^ bit_mask(op.targets[0])];
    }
  }
  test::emulate(program, state);
  EXPECT_EQ(state, expected);
}

/// A sweep on bits 0 to 4 of a shard, against its words.
void expect_words(Sweep sweep, std::uint32_t bits, bool canonical, Precision precision, double tolerance) {
  sweep.active = sweep.store = {0, 1, 2, 3, 4};
  PhiloxSequence random(9);
  const std::vector<Complex> memory = test::random_state(random, bits);
  const std::vector<Complex> expected = test::reference_sweep(sweep, {}, bits, memory);
  LowerOptions options = lower_options(bits, precision);
  options.canonical = canonical;
  std::vector<Complex> state = memory;
  test::emulate(lower_sweep(sweep, options), state);
  EXPECT_LE(dense::max_difference(state, expected), tolerance);
}

void add_matrix(Sweep& sweep, std::vector<Bit> targets, const std::vector<Complex>& matrix) {
  PlanOp op;
  op.target_count = static_cast<std::uint8_t>(targets.size());
  std::copy(targets.begin(), targets.end(), op.targets.begin());
  op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
  op.data_count = static_cast<std::uint32_t>(matrix.size());
  sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
  sweep.ops.push_back(op);
}

void add_phase(Sweep& sweep, const PhaseTerm& term, Index control_mask = 0, Index control_value = 0) {
  PlanOp op;
  op.form = Form::kPhases;
  op.control_mask = control_mask;
  op.control_value = control_value;
  op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
  op.data_count = 1;
  sweep.phases.push_back(term);
  sweep.ops.push_back(op);
}

// A dense block takes in what acts on its targets alone, but nothing that looks at the tile's number.
TEST(CudaLower, PhasesThatLookAtTheTileStayOutOfBlocks) {
  for (const bool canonical : {false, true}) {
    for (const bool parity : {false, true}) {
      for (const Index mask : {bit_mask(0) | bit_mask(6), bit_mask(0) | bit_mask(1) | bit_mask(6),
                               bit_mask(0) | bit_mask(5) | bit_mask(6), bit_mask(0) | bit_mask(1)}) {
        for (const Index zeros : {Index{0}, bit_mask(7), low_mask(4) << 5 & ~mask}) {
          Sweep sweep;
          add_phase(sweep, {mask, parity, 0.7}, zeros);
          add_matrix(sweep, {0, 1}, test::random_unitary(2, 3));
          add_phase(sweep, {mask, parity, 1.1}, zeros);
          expect_words(sweep, 9, canonical, Precision::kDouble, 1e-14);
        }
      }
    }
  }
}

// More factors than amplitudes in single precision have room for.
TEST(CudaLower, ManyBlocksStayInRange) {
  for (const bool canonical : {false, true}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      Sweep sweep;
      for (unsigned i = 0; i < 120; ++i) {
        const auto low = static_cast<Bit>(i % 4);
        add_matrix(sweep, {low, static_cast<Bit>(low + 1)}, test::random_unitary(2, i + 1));
      }
      expect_words(sweep, 6, canonical, precision, 1e-12);
    }
  }
}

TEST(CudaLower, BlocksNearlyOfTwoTurnsKeepWhatIsBetweenThem) {
  for (const double x : {0.0, 5e-10, -5e-10, 1e-8}) {
    for (const double y : {0.0, 5e-10, 1e-8}) {
      for (const double z : {0.0, 1e-9, 0.3}) {
        cuda::Canonical parts;
        parts.scale = 1;
        parts.left = parts.right = {cuda::Local{0.6, -0.8, 0.8, 0.6}, cuda::Local{0.8, 0.6, -0.6, 0.8}};
        parts.x = x;
        parts.y = y;
        parts.z = z;
        const auto matrix = product_of(parts);
        Sweep sweep;
        add_matrix(sweep, {1, 3}, {matrix.begin(), matrix.end()});
        expect_words(sweep, 6, true, Precision::kDouble, 1e-14);
      }
    }
  }
}

// Controls on bits 9 and 10 are outside tiles of 9 bits: such a flip is an offset of some tiles, and goes through those
// that are folded after it.
TEST(CudaLower, RandomFlipsAreAddressesAndNothingElse) {
  PhiloxSequence random(4);
  for (int trial = 0; trial < 300; ++trial) {
    Sweep sweep;
    for (std::uint64_t count = 1 + random.below(12); count > 0; --count) {
      PlanOp op;
      op.form = Form::kFlip;
      op.target_count = 1;
      op.targets[0] = static_cast<Bit>(random.below(5));
      auto control = static_cast<Bit>(random.below(7));
      if (control > 4 && trial % 2 == 0) control = static_cast<Bit>(control + 4);
      if (control != op.targets[0] && random.below(3) != 0) op.control_mask = bit_mask(control);
      op.control_value = random.below(2) != 0 ? op.control_mask : 0;
      sweep.ops.push_back(op);
    }
    expect_words(sweep, trial % 2 == 0 ? 11 : 7, false, Precision::kDouble, 0);
    ASSERT_FALSE(HasFailure()) << trial;
  }
}

TEST(CudaAddresses, RunsOfPlacesDepositANumber) {
  for (const Index places : {Index{0}, Index{1}, Index{0b1010}, Index{0b110110}, Index{0b1011'0111}, low_mask(40)}) {
    const std::vector<cuda::BitRun> runs = cuda::runs_of(places);
    for (const Index number : {Index{0}, Index{1}, Index{0b10101}, low_mask(count_bits(places))}) {
      Index found = 0;
      for (const cuda::BitRun& run : runs) found |= (number & run.mask) << run.shift;
      EXPECT_EQ(found, deposit_bits(number & low_mask(count_bits(places)), places)) << places;
    }
    for (std::size_t i = 1; i < runs.size(); ++i) EXPECT_NE(runs[i].shift, runs[i - 1].shift);
  }
}

TEST(CudaAddresses, OnlyAMapThatMovesNothingIsTheIdentity) {
  cuda::AffineMap map;
  for (unsigned i = 0; i < map.column.size(); ++i) map.column[i] = 1u << i;
  EXPECT_TRUE(map.identity());
  for (unsigned i = 0; i < map.column.size(); ++i) {
    cuda::AffineMap other = map;
    other.column[i] ^= 1u << (i + 1) % map.column.size();
    EXPECT_FALSE(other.identity()) << i;
  }
  cuda::AffineMap other = map;
  other.offset = 2;
  EXPECT_FALSE(other.identity());
  other = map;
  other.guarded.emplace_back(cuda::TileGuard{1, 1}, 2);
  EXPECT_FALSE(other.identity());
}

TEST(CudaAddresses, ExchangesAreOfTheLowestLanesAlone) {
  TileProgram program;
  program.bits = 9;
  cuda::Epoch epoch;
  epoch.thread = {0, 1, 2, 3, 4};
  epoch.reg = {5, 6, 7, 8};
  for (unsigned i = 0; i < epoch.map.column.size(); ++i) epoch.map.column[i] = 1u << i;
  program.epochs = {epoch, epoch};
  cuda::Epoch& to = program.epochs[1];
  EXPECT_TRUE(cuda::regroup_columns(program, 0).exchanges.empty());
  to.exchanged = true;
  EXPECT_TRUE(cuda::regroup_columns(program, 0).exchanges.empty());
  using Exchanges = std::vector<std::pair<std::uint8_t, std::uint8_t>>;
  std::swap(to.thread[1], to.reg[2]);
  EXPECT_EQ(cuda::regroup_columns(program, 0).exchanges, (Exchanges{{1, 2}}));
  std::swap(to.thread[0], to.reg[3]);
  EXPECT_EQ(cuda::regroup_columns(program, 0).exchanges, (Exchanges{{0, 3}, {1, 2}}));
  EXPECT_TRUE(cuda::regroup_columns(program, 0).within_warp);
  program.epochs[0].map.offset = 1;
  EXPECT_THROW(cuda::regroup_columns(program, 0), Error);
  program.epochs[0].map.offset = 0;
  std::swap(to.thread[2], to.reg[0]);
  EXPECT_THROW(cuda::regroup_columns(program, 0), Error);
}

/// A warp's lanes of the first epoch hold lines of memory as they are loaded, those of the last as they are stored; in
/// double precision.
void expect_whole_lines(const TileProgram& program) {
  const auto lane = [](const cuda::Epoch& epoch, std::uint8_t coordinate) {
    const auto found = std::find(epoch.thread.begin(), epoch.thread.begin() + 5, coordinate);
    return found != epoch.thread.begin() + 5;
  };
  for (std::uint8_t i = 0; i < program.bits; ++i) {
    EXPECT_TRUE(program.active[i] >= 3 || lane(program.epochs.front(), i)) << "coordinate " << int{i};
    EXPECT_TRUE(program.store[i] >= 3 || lane(program.epochs.back(), i)) << "coordinate " << int{i};
  }
}

// Bits far apart have no lines to store: nothing is rearranged for them.
TEST(CudaLower, SweepsOfHighBitsAloneAreOneEpoch) {
  for (const Bit lowest : {Bit{0}, Bit{1}, Bit{6}, Bit{12}}) {
    Sweep sweep;
    for (Bit bit = 0; bit < 12; ++bit) sweep.active.push_back(static_cast<Bit>(lowest + bit));
    sweep.store = sweep.active;
    add_matrix(sweep, {static_cast<Bit>(lowest + 9)}, {0.6, -0.8, 0.8, 0.6});
    EXPECT_EQ(lower_sweep(sweep, lower_options(24, Precision::kDouble)).epochs.size(), 1u) << int{lowest};
  }
}

/// A gate on each of 12 bits fills three epochs of four. What the last one stores lies in whole lines because it was
/// chosen first; chosen last, it would have the low bits in registers, and a fourth epoch would only bring them out.
TEST(CudaLower, TheLastEpochHasWork) {
  Sweep sweep;
  for (Bit bit = 0; bit < 12; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  for (Bit bit = 12; bit-- > 0;) add_matrix(sweep, {bit}, {0.6, -0.8, 0.8, 0.6});
  const TileProgram program = lower_sweep(sweep, lower_options(20, Precision::kDouble));
  EXPECT_EQ(program.epochs.size(), 3u);
  for (const cuda::Epoch& epoch : program.epochs) EXPECT_FALSE(epoch.ops.empty());
  expect_whole_lines(program);
}

/// Of more trials never a dearer one is taken.
TEST(CudaLower, TrialsTakeTheLeastWork) {
  PlanOptions options;
  options.start = Start::kRandom;
  double least = 0, one = 0;
  for (const char* const family : {"ising", "random", "supremacy"}) {
    const Plan plan = make_plan(generate(family, {22, 6, 2}), find_machine("h200"), options);
    for (const Sweep& words : plan.stages[0].sweeps) {
      LowerOptions lower = lower_options(22, Precision::kDouble);
      double before = cuda::work_of(lower_sweep(specialize(words, plan, 0), lower));
      one += before;
      for (const std::uint32_t trials : {2u, 5u, 12u}) {
        lower.trials = trials;
        const double work = cuda::work_of(lower_sweep(specialize(words, plan, 0), lower));
        EXPECT_LE(work, before);
        before = work;
      }
      least += before;
    }
  }
  EXPECT_LT(least, one);
}

TEST(CudaLower, LargeStatesLoadWholeLines) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    test::RandomCircuitOptions circuit_options;
    circuit_options.qubits = 24;
    circuit_options.operations = 120;
    circuit_options.seed = seed;
    circuit_options.max_unitary_targets = 2;
    PlanOptions options;
    options.start = Start::kRandom;
    const Plan plan = make_plan(test::random_circuit(circuit_options), find_machine("h200"), options);
    for (const Sweep& words : plan.stages[0].sweeps) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Sweep sweep = specialize(words, plan, 0);
      const TileProgram program = lower_sweep(sweep, lower_options(24, Precision::kDouble));
      EXPECT_EQ(program.bits, 12);
      // Every coordinate has its own place; the lanes that memory accesses dictate have different banks.
      const std::vector<cuda::Coordinate> places = cuda::place_columns(program);
      EXPECT_TRUE(cuda::independent(places));
      for (const cuda::Epoch* const epoch : {&program.epochs.front(), &program.epochs.back()}) {
        std::vector<cuda::Coordinate> banks;
        for (std::size_t i = 0; i < 3; ++i) banks.push_back(places[epoch->thread[i]] & 7);
        EXPECT_TRUE(cuda::independent(banks));
      }
      expect_whole_lines(program);
    }
  }
}

TEST(CudaLower, BlocksOnLanesLoadAndStoreWholeLines) {
  PlanOptions options;
  options.start = Start::kRandom;
  const Plan plan = make_plan(generate("qv", {24, 6, 2}), find_machine("h200"), options);
  LaneUse use;
  for (const Sweep& words : plan.stages[0].sweeps) {
    LowerOptions lower = lower_options(24, Precision::kDouble);
    lower.lanes = true;
    const TileProgram program = lower_sweep(specialize(words, plan, 0), lower);
    use.add(program);
    EXPECT_TRUE(cuda::independent(cuda::place_columns(program)));
    expect_whole_lines(program);
  }
  EXPECT_GT(use.trades, 30);
}

// Three bits lie within a line before, three others after: more than five lanes can be, so that a sweep without any
// operation goes through shared memory.
TEST(CudaLower, MovedBitsAreLoadedAndStoredInWholeLines) {
  Sweep sweep = sweep_of_bits(12);
  for (Bit bit = 0; bit < 3; ++bit) std::swap(sweep.store[bit], sweep.store[bit + 3]);
  const TileProgram program = lower_sweep(sweep, lower_options(20, Precision::kDouble));
  EXPECT_EQ(program.epochs.size(), 2u);
  expect_whole_lines(program);
}

TEST(CudaLower, TilesOfMoreBitsThanABlockHoldsAreRefused) {
  LowerOptions options = lower_options(14, Precision::kDouble);
  EXPECT_NO_THROW(lower_sweep(sweep_of_bits(12), options));
  EXPECT_THROW(lower_sweep(sweep_of_bits(13), options), UsageError);
}

PlanOp flip(Bit target, Index controls) {
  PlanOp op;
  op.form = Form::kFlip;
  op.target_count = 1;
  op.targets[0] = target;
  op.control_mask = op.control_value = controls;
  return op;
}

/// What an amplitude waits for that changes its bit `coordinate` on its way through a program of one epoch.
cuda::StoreWait wait_of_moves(const TileProgram& program, std::uint8_t coordinate) {
  const std::vector<std::uint8_t>& thread = program.epochs.front().thread;
  const auto bit = std::find(thread.begin(), thread.end(), coordinate) - thread.begin();
  if (bit == static_cast<std::ptrdiff_t>(thread.size())) return cuda::StoreWait::kNone;
  return bit < 5 ? cuda::StoreWait::kWarp : cuda::StoreWait::kBlock;
}

TEST(CudaLower, StoresWaitForLoadsOfThePlacesTheyGoTo) {
  std::set<cuda::StoreWait> seen;
  for (Bit target = 0; target < 12; ++target) {
    // Bits 12 and 13 number the tiles.
    std::vector<Index> all{0, bit_mask(13)};
    for (unsigned bit = 0; bit < 12; ++bit) all.push_back(bit == target ? Index{0} : bit_mask(bit));
    for (const Index controls : all) {
      Sweep sweep = sweep_of_bits(12);
      sweep.ops = {flip(target, controls)};
      const TileProgram program = lower_sweep(sweep, lower_options(14, Precision::kDouble));
      std::vector<Complex> state = dense::random_state(14, 3);
      EXPECT_NO_THROW(test::emulate(program, state));
      if (program.epochs.size() > 1) continue;
      EXPECT_EQ(cuda::store_wait(program), wait_of_moves(program, target)) << "flip of " << int{target};
      seen.insert(cuda::store_wait(program));
    }
  }
  EXPECT_EQ(seen.size(), 3u);
}

// A register whose amplitudes go to another thread's places makes threads wait as much as a thread that moves.
TEST(CudaLower, StoresWaitForRegistersThatMove) {
  Sweep sweep = sweep_of_bits(12);
  add_matrix(sweep, {11}, {0.6, -0.8, 0.8, 0.6});
  const TileProgram still = lower_sweep(sweep, lower_options(14, Precision::kDouble));
  ASSERT_EQ(still.epochs.size(), 1u);
  ASSERT_EQ(cuda::store_wait(still), cuda::StoreWait::kNone);
  const cuda::Epoch& epoch = still.epochs.front();
  for (std::size_t to = 0; to < epoch.thread.size(); ++to) {
    const auto expected = to < 5 ? cuda::StoreWait::kWarp : cuda::StoreWait::kBlock;  // 32 threads are a warp
    TileProgram moved = still;
    for (const std::uint8_t slot : epoch.reg) {
      moved = still;
      moved.epochs.front().map.column[slot] ^= 1u << epoch.thread[to];
      EXPECT_EQ(cuda::store_wait(moved), expected) << to;
    }
    moved = still;
    moved.epochs.front().map.offset ^= 1u << epoch.thread[to];
    EXPECT_EQ(cuda::store_wait(moved), expected) << to;
    moved = still;
    moved.epochs.front().map.guarded.emplace_back(cuda::TileGuard{1, 1}, 1u << epoch.thread[to]);
    EXPECT_EQ(cuda::store_wait(moved), expected) << to;
  }
}

TEST(CudaLower, BornBitsStoreOnlyAfterAllHaveReadThePlaceOfZero) {
  Sweep sweep = sweep_of_bits(12);
  const double half = std::sqrt(0.5);
  std::set<cuda::StoreWait> seen;
  for (Bit bit = 0; bit < 12; ++bit) {
    sweep.births = {{bit, {half, half}}};
    sweep.unborn = bit_mask(bit);
    const TileProgram program = lower_sweep(sweep, lower_options(12, Precision::kDouble));
    ASSERT_EQ(program.epochs.size(), 1u);
    EXPECT_EQ(cuda::store_wait(program), wait_of_moves(program, bit)) << "bit " << int{bit};
    seen.insert(cuda::store_wait(program));
    std::vector<Complex> state = dense::random_state(12, 5);
    EXPECT_NO_THROW(test::emulate(program, state)) << "bit " << int{bit};
  }
  EXPECT_EQ(seen.size(), 3u);
}

// Applies the sweep's words to one tile of a huge shard: no lowering, no addresses but the index itself.
void reference_tile(const Sweep& sweep, const TileProgram& program, Index base, std::map<Index, Complex>& memory) {
  Index births = 0;
  for (const Birth& birth : sweep.births) births |= bit_mask(birth.bit);
  const Index unborn = sweep.unborn & ~births;
  Index active = 0;
  for (const Bit bit : sweep.active) active |= bit_mask(bit);
  std::map<Index, Complex> values, result;
  Index tile = 0;
  for (const Bit bit : program.active) {
    if (bit != cuda::kPhantom) tile |= bit_mask(bit);
  }
  for (Index v = 0; v < bit_mask(count_bits(tile)); ++v) {
    const Index index = base | deposit_bits(v, tile);
    Complex value = sweep.reads ? memory.at(index & ~sweep.unborn) : sweep.start_scale;
    for (const Birth& birth : sweep.births) {
      const bool one = test_bit(index, birth.bit);
      value *= birth.factor[one ? 1 : 0];
      if (one && sweep.reads && (active >> birth.bit & 1) == 0) value = 0;
    }
    values[index] = (index & unborn) == 0 ? value : 0;
  }
  for (const PlanOp& op : sweep.ops) {
    const auto old = values;
    for (auto& [index, value] : values) {
      if ((index & op.control_mask) != op.control_value) continue;
      if (op.form == Form::kFlip) value = old.at(index ^ bit_mask(op.targets[0]));
      if (op.form == Form::kPhases) {
        for (std::uint32_t t = 0; t < op.data_count; ++t) {
          const PhaseTerm& term = sweep.phases[op.data_begin + t];
          const bool holds = term.parity ? odd_parity(index & term.mask) : (index & term.mask) == term.mask;
          if (holds) value *= std::polar(1.0, term.angle);
        }
      }
      if (op.form == Form::kMatrix) {
        const Index order = Index{1} << op.target_count;
        Index row = 0, rest = index;
        for (unsigned b = 0; b < op.target_count; ++b) {
          row |= (index >> op.targets[b] & 1) << b;
          rest &= ~bit_mask(op.targets[b]);
        }
        Complex sum = 0;
        for (Index c = 0; c < order; ++c) {
          Index from = rest;
          for (unsigned b = 0; b < op.target_count; ++b) from |= (c >> b & 1) << op.targets[b];
          sum += sweep.matrices[op.data_begin + row * order + c] * old.at(from);
        }
        value = sum;
      }
    }
  }
  for (const auto& [index, value] : values) {
    if ((index & unborn) != 0) continue;
    Index to = index & ~active;
    for (std::size_t i = 0; i < sweep.active.size(); ++i) to |= (index >> sweep.active[i] & 1) << sweep.store[i];
    result[to] = value;
  }
  memory = result;
}

TEST(CudaLower, TilesOfHugeShardsMatchTheSweepsWords) {
  for (const char* const family : {"ghz", "inv_qft", "random", "supremacy"}) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Circuit circuit = generate(family, GeneratorOptions{35, 0, 1});
      PlanOptions plan_options;
      plan_options.rank_bits = 1;
      plan_options.precision = precision;
      const Plan plan = make_plan(circuit, find_machine("h200"), plan_options);
      std::uint64_t number = 1;
      for (const Stage& stage : plan.stages) {
        for (const Sweep& words : stage.sweeps) {
          if (words.permutes()) continue;
          for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const Sweep sweep = specialize(words, plan, rank);
            LowerOptions options = lower_options(plan.local_bits(), precision);
            if (stage.exchange && &words < stage.sweeps.data() + stage.exchange->overlap_after) {
              options.outside = stage.exchange->chunk_mask;
            }
            const TileProgram program = lower_sweep(sweep, options);
            number = number * 6364136223846793005u + 1442695040888963407u;
            const Index base = deposit_bits(number >> 20, program.tile_bits);
            std::map<Index, Complex> memory, expected;
            Index tile = 0;
            for (const Bit bit : program.active) {
              if (bit != cuda::kPhantom) tile |= bit_mask(bit);
            }
            for (Index v = 0; v < bit_mask(count_bits(tile)); ++v) {
              memory[base | deposit_bits(v, tile)] =
                  Complex(std::sin(static_cast<double>(v)), std::cos(static_cast<double>(3 * v)));
            }
            for (Index v = 0; v < bit_mask(count_bits(tile)); ++v) {
              const Index index = (base | deposit_bits(v, tile)) & ~sweep.unborn;
              if (memory.count(index) == 0) memory[index] = 1;
            }
            expected = memory;
            test::emulate_tile(program, base, memory);
            reference_tile(sweep, program, base, expected);
            double worst = 0;
            for (const auto& [index, value] : expected) {
              const double difference = std::abs(memory.at(index) - value);
              if (!(difference <= worst)) worst = difference;
            }
            EXPECT_LE(worst, 1e-11) << family << " rank " << rank << " sweep " << (&words - stage.sweeps.data())
                                    << " of stage " << (&stage - plan.stages.data());
          }
        }
      }
    }
  }
}

TEST(CudaLower, RanksOfSmallPlansMatchTheInterpreter) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      test::RandomCircuitOptions circuit_options;
      circuit_options.qubits = 6 + static_cast<unsigned>(seed % 8);
      circuit_options.operations = 60;
      circuit_options.seed = seed + 1;
      const Circuit circuit = test::random_circuit(circuit_options);
      PlanOptions options;
      options.rank_bits = 1;
      options.precision = precision;
      const Plan plan = make_plan(circuit, find_machine("h200"), options);
      if (plan_work(plan).exchanges != 0) continue;
      const std::vector<Complex> expected = test::interpret(plan);
      const Index shard = Index{1} << plan.local_bits();
      const double nan = std::numeric_limits<double>::quiet_NaN();
      std::vector<Complex> state;
      for (std::uint32_t rank = 0; rank < 2; ++rank) {
        std::vector<Complex> part(shard, Complex(nan, nan));
        for (const Stage& stage : plan.stages) {
          for (const Sweep& words : stage.sweeps) {
            test::emulate(lower_sweep(specialize(words, plan, rank), lower_options(plan.local_bits(), precision)),
                          part);
          }
        }
        state.insert(state.end(), part.begin(), part.end());
      }
      double worst = 0;
      for (Index logical = 0; logical < state.size(); ++logical) {
        const double difference = std::abs(state[plan.final_layout.to_physical(logical)] - expected[logical]);
        if (!(difference <= worst)) worst = difference;
      }
      EXPECT_LE(worst, test::tolerance(Precision::kDouble, circuit.depth())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace qsim
