// Ranks that are not alike: the least memory limits all of them, and ranks that planned differently are refused.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>

#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "session/choose/choose.h"
#include "session/rank/capacity.h"
#include "session/rank/same_plans.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

/// Measures in mid-circuit, so that branches are kept in snapshots where memory allows it.
Circuit branching(std::uint32_t qubits) {
  Circuit circuit(qubits, qubits);
  for (Qubit qubit = 0; qubit < qubits; ++qubit) circuit.h(qubit);
  for (Qubit qubit = 0; qubit < 4; ++qubit) {
    circuit.add_measure(qubit, qubit);
    circuit.cx(qubit, qubit + 1);
    circuit.h(qubit);
  }
  for (Qubit qubit = 0; qubit < qubits; ++qubit) circuit.add_measure(qubit, qubit);
  return circuit;
}

constexpr std::uint64_t kSnapshot = std::uint64_t{256} << 10;  // of 16 qubits on 4 ranks, in double

std::string unequal_warning(const Result& result) {
  for (const std::string& text : result.warnings) {
    if (text.find("unequal memory") != std::string::npos) return text;
  }
  return "";
}

TEST(UnequalRanks, TheLeastMemoryLimitsAllAndIsNamed) {
  const Circuit circuit = branching(16);
  RunOptions options;
  options.seed = 5;
  options.shots = 200;
  const Result wanted = simulate(circuit, options, 4);
  // Four snapshots are kept where there is memory; half of what is left here has room for one.
  const std::uint64_t tight = wanted.memory.predicted_bytes_per_rank - 2 * kSnapshot;
  std::mutex lock;
  std::set<std::uint64_t> predicted;
  run_thread_ranks(4, [&](Communicator& communicator) {
    RunOptions own = options;
    own.max_memory = communicator.rank() == 2 ? tight : std::uint64_t{64} << 20;
    const Result result = simulate(circuit, own, communicator);
    const std::lock_guard guard(lock);
    EXPECT_EQ(result.results.counts, wanted.results.counts);
    const std::string said = unequal_warning(result);
    EXPECT_NE(said.find("rank 2 has "), std::string::npos) << said;
    EXPECT_NE(said.find("rank 0 has 64 MiB"), std::string::npos) << said;
    predicted.insert(result.memory.predicted_bytes_per_rank);
  });
  ASSERT_EQ(predicted.size(), 1u) << "ranks keep equally many snapshots";
  EXPECT_EQ(*predicted.begin(), wanted.memory.predicted_bytes_per_rank - 3 * kSnapshot);
}

TEST(Snapshots, TakeNoMemoryThatARunCannotDoWithout) {
  const Circuit circuit = branching(16);
  RunOptions options;
  options.seed = 5;
  options.shots = 20000;
  const Result wanted = simulate(circuit, options, 4);
  const std::uint64_t least = wanted.memory.predicted_bytes_per_rank - 4 * kSnapshot;
  for (const std::uint64_t more : {std::uint64_t{0}, kSnapshot, 2 * kSnapshot, 3 * kSnapshot, 8 * kSnapshot}) {
    options.max_memory = least + more;
    const Result result = simulate(circuit, options, 4);
    EXPECT_EQ(result.memory.predicted_bytes_per_rank, least + more / 2 / kSnapshot * kSnapshot) << more;
    EXPECT_EQ(result.results.counts, wanted.results.counts);
  }
  options.max_memory = least - 1;
  EXPECT_THROW(simulate(circuit, options, 4), CapacityError);
}

TEST(UnequalRanks, AStateThatOneRankCannotHoldIsRefusedOnAllInItsName) {
  std::mutex lock;
  std::multiset<std::string> said;
  run_thread_ranks(4, [&](Communicator& communicator) {
    RunOptions options;
    options.max_memory = communicator.rank() == 3 ? std::uint64_t{1} << 16 : std::uint64_t{1} << 30;
    try {
      simulate(generate("ghz", {16, 0, 1}), options, communicator);
    } catch (const CapacityError& error) {
      const std::lock_guard guard(lock);
      said.insert(error.what());
    }
  });
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said.count(*said.begin()), 4u) << "all ranks say the same";
  EXPECT_NE(said.begin()->find("rank 3 has 64 KiB to use"), std::string::npos) << *said.begin();
}

TEST(UnequalRanks, EqualMemoryIsNotWorthAWord) {
  EXPECT_EQ(unequal_warning(simulate(generate("ghz", {8, 0, 1}), {}, 4)), "");
  EXPECT_EQ((RanksMemory{98, 100, 0, 1, "", ""}.warning()), "");
  EXPECT_NE((RanksMemory{97, 100, 0, 1, "", ""}.warning()), "");
}

TEST(UnequalRanks, GpusAreNamedWithTheirRanks) {
  run_thread_ranks(4, [](Communicator& communicator) {
    const int rank = communicator.rank();
    const RanksMemory memory = agree_on_memory(communicator, std::uint64_t{rank % 2 == 1 ? 40u : 80u} << 30, rank + 4);
    EXPECT_EQ(memory.least_bytes, std::uint64_t{40} << 30);
    EXPECT_EQ(memory.least_rank, 1);
    EXPECT_EQ(memory.least_device, "GPU 5");
    EXPECT_EQ(memory.most_rank, 0);
    EXPECT_NE(memory.warning().find("rank 1 (GPU 5) has 40 GiB to use, rank 0 (GPU 4) has 80 GiB"), std::string::npos)
        << memory.warning();
  });
}

TEST(UnequalRanks, ThatPlannedDifferentlyAreRefused) {
  const Circuit circuit = generate("random", {14, 8, 1});
  const Machine machine = this_machine({});
  std::mutex lock;
  std::multiset<std::string> said;
  run_thread_ranks(4, [&](Communicator& communicator) {
    PlanOptions options;
    options.rank_bits = 2;
    options.tile_bits = communicator.rank() == 1 ? 5u : 8u;
    const PlannedCircuit program = plan_circuit(circuit, machine, options);
    try {
      require_same_plans(program, 0, communicator);
    } catch (const CommunicatorError& error) {
      const std::lock_guard guard(lock);
      said.insert(error.what());
    }
  });
  ASSERT_EQ(said.size(), 4u);
  EXPECT_NE(said.begin()->find("rank 1 has a plan with the digest"), std::string::npos) << *said.begin();
}

}  // namespace
}  // namespace qsim
