// specialize, plan_work, pool_layout, machines, text and JSON, and how planning scales.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>

#include "base/bits.h"
#include "base/layout.h"
#include "circuit/generate/families.h"
#include "document/result.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/show/show.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/plan_interpreter.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

Plan plan_of(const char* name, std::uint32_t qubits, std::uint32_t rank_bits, Start start = Start::kZero,
             const char* machine = "h200") {
  PlanOptions options;
  options.rank_bits = rank_bits;
  options.start = start;
  options.strategy = Strategy::kGreedy;
  return make_plan(generate(name, {.qubits = qubits}), find_machine(machine), options);
}

// Four local bits, two global ones, one sweep with `op`.
Plan plan_with(const PlanOp& op, std::vector<PhaseTerm> phases = {}) {
  Plan plan;
  plan.qubits = 6;
  plan.rank_bits = 2;
  plan.start = Start::kState;
  plan.initial_layout = plan.final_layout = Layout::identity(6);
  Sweep sweep;
  sweep.active = sweep.store = {0, 1};
  sweep.ops = {op};
  sweep.phases = std::move(phases);
  plan.stages.push_back({std::nullopt, plan.initial_layout, {sweep}});
  return plan;
}

TEST(Specialize, DecidesGlobalControls) {
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.control_mask = bit_mask(2) | bit_mask(4) | bit_mask(5);
  flip.control_value = bit_mask(2) | bit_mask(5);  // needs rank 0b10
  const Plan plan = plan_with(flip);
  for (const std::uint32_t rank : {0u, 1u, 3u}) {
    EXPECT_TRUE(specialize(plan.stages[0].sweeps[0], plan, rank).ops.empty()) << rank;
  }
  const Sweep here = specialize(plan.stages[0].sweeps[0], plan, 2);
  ASSERT_EQ(here.ops.size(), 1u);
  EXPECT_EQ(here.ops[0].control_mask, bit_mask(2));
  EXPECT_EQ(here.ops[0].control_value, bit_mask(2));
}

TEST(Specialize, FoldsGlobalPhaseBits) {
  PlanOp op;
  op.form = Form::kPhases;
  op.data_count = 3;
  const std::vector<PhaseTerm> terms{
      {bit_mask(1) | bit_mask(4), false, 0.25}, {bit_mask(5), false, 0.5}, {bit_mask(0) | bit_mask(4), true, 0.125}};
  const Plan plan = plan_with(op, terms);
  const Sweep& sweep = plan.stages[0].sweeps[0];
  const Sweep rank0 = specialize(sweep, plan, 0);
  ASSERT_EQ(rank0.phases.size(), 1u);
  EXPECT_EQ(rank0.phases[0], (PhaseTerm{bit_mask(0), true, 0.125}));
  const Sweep rank3 = specialize(sweep, plan, 3);
  ASSERT_EQ(rank3.phases.size(), 3u);
  EXPECT_EQ(rank3.phases[0], (PhaseTerm{bit_mask(1), false, 0.25}));
  EXPECT_EQ(rank3.phases[1], (PhaseTerm{bit_mask(0), true, -0.125}));
  EXPECT_EQ(rank3.phases[2].mask, 0u);
  EXPECT_NEAR(rank3.phases[2].angle, 0.625, 1e-15);
}

TEST(Specialize, HoldsTheMatricesOfItsOwnOperationsAlone) {
  PlanOp op;
  op.target_count = 1;
  op.control_mask = op.control_value = bit_mask(4);
  op.data_count = 4;
  Plan plan = plan_with(op);
  Sweep& sweep = plan.stages[0].sweeps[0];
  sweep.matrices = {1, 2, 3, 4, 5, 6, 7, 8};
  sweep.ops[0].data_begin = 4;
  EXPECT_TRUE(specialize(sweep, plan, 0).matrices.empty());
  const Sweep here = specialize(sweep, plan, 1);
  EXPECT_EQ(here.matrices, (std::vector<Complex>{5, 6, 7, 8}));
  EXPECT_EQ(here.ops.at(0).data_begin, 0u);
}

TEST(Specialize, DropsPhasesThatDoNothingHere) {
  PlanOp op;
  op.form = Form::kPhases;
  op.data_count = 1;
  const Plan plan = plan_with(op, {{bit_mask(0) | bit_mask(4), false, 0.25}});
  EXPECT_TRUE(specialize(plan.stages[0].sweeps[0], plan, 2).ops.empty());
  EXPECT_EQ(specialize(plan.stages[0].sweeps[0], plan, 1).ops.size(), 1u);
}

TEST(Specialize, PutsTheRanksStartIntoTheFirstWrite) {
  const Plan plan = plan_of("ghz", 12, 2);
  const Sweep& first = plan.stages[0].sweeps[0];
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(specialize(first, plan, rank).start_scale, plan.global_start[rank]);
  }
}

TEST(Specialize, NeedsTheRanksOwnStart) {
  const Plan plan = plan_of("ghz", 6, 1);
  const Sweep& first = plan.stages[0].sweeps[0];
  EXPECT_NO_THROW(specialize(first, plan, 1));
  EXPECT_THROW(specialize(first, plan, 2), Error);
}

TEST(PlanWork, CountsWhatIsTouched) {
  Plan plan = plan_with({});
  plan.stages[0].sweeps[0].ops.clear();
  Sweep& sweep = plan.stages[0].sweeps[0];
  EXPECT_EQ(plan_work(plan).bytes_swept_per_rank, 16u * (16 + 16));
  sweep.unborn = bit_mask(3) | bit_mask(2);
  sweep.births.push_back({3, {}});
  EXPECT_EQ(plan_work(plan).bytes_swept_per_rank, 16u * (4 + 8));
  sweep.reads = false;
  EXPECT_EQ(plan_work(plan).bytes_swept_per_rank, 16u * 8);
  Exchange exchange;
  exchange.swaps = {{0, 4}, {1, 5}};
  plan.stages.push_back({exchange, plan.initial_layout, {}});
  EXPECT_EQ(plan_work(plan).bytes_exchanged_per_rank, 16u * 12);
  EXPECT_EQ(plan_work(plan).exchanges, 1u);
  plan.stages[1].exchange->unborn = bit_mask(3);  // half of it is known to be zero
  EXPECT_EQ(plan_work(plan).bytes_exchanged_per_rank, 16u * 6);
}

TEST(PlanWork, HidesAnExchangeBehindItsSweepsButNotTwice) {
  Plan plan = plan_of("qft", 30, 1, Start::kRandom, "h200");
  ASSERT_EQ(plan.stages.size(), 2u);
  plan.stages[1].sweeps.resize(1);
  const auto total = [&](std::uint32_t before, std::uint32_t after, const char* machine = "h200") {
    plan.stages[1].exchange->overlap_before = before;
    plan.stages[1].exchange->overlap_after = after;
    predict(plan, find_machine(machine));
    return plan_work(plan).total_seconds;
  };
  const double alone = total(0, 0);
  const PlanWork work = plan_work(plan);
  EXPECT_DOUBLE_EQ(alone, work.sweep_seconds + work.exchange_seconds);
  const double one = total(1, 0), both = total(1, 1);
  EXPECT_LT(one, 0.9 * alone);
  EXPECT_LT(both, 0.9 * one);
  // The chunks' way through memory shows, though the sweeps take about as long as the exchange.
  const double bytes = static_cast<double>(work.bytes_exchanged_per_rank);
  EXPECT_GT(both, work.sweep_seconds + 0.8 * 4 * bytes / 3.7e12);
  const double on_cores = total(1, 1, "cpu");
  EXPECT_DOUBLE_EQ(on_cores, plan_work(plan).sweep_seconds + plan_work(plan).exchange_seconds);
  // The sweep between two exchanges runs beside the first one only.
  total(0, 1);
  plan.stages.push_back(plan.stages[1]);
  plan.stages[2].exchange->overlap_before = 1;
  plan.stages[2].exchange->overlap_after = 0;
  predict(plan, find_machine("h200"));
  EXPECT_LT(plan.stages[1].exchange->predicted_added_seconds, 0.9 * plan.stages[1].exchange->predicted_seconds);
  EXPECT_EQ(plan.stages[2].exchange->predicted_added_seconds, plan.stages[2].exchange->predicted_seconds);
}

TEST(PoolLayout, NeedsAtMostSixPercentOverTheStateAndTheRingFrom26Qubits) {
  for (const char* name : {"cpu", "h200"}) {
    for (const std::uint32_t qubits : {26u, 30u, 33u}) {
      for (const std::uint32_t rank_bits : {0u, 1u, 3u}) {
        const Plan plan = plan_of("random", qubits, rank_bits, Start::kRandom, name);
        const PoolLayout pool = pool_layout(plan, find_machine(name));
        EXPECT_EQ(pool.state_bytes, std::uint64_t{16} << (qubits - rank_bits));
        if (qubits - rank_bits < 26) continue;
        // The ring of a GPU's rank has 1 GiB, or a quarter of a shard that is smaller than 4 GiB.
        const std::uint64_t ring = name == std::string("h200") ? pool.chunk_bytes * pool.chunk_slots : 0;
        EXPECT_LE(ring, std::min<std::uint64_t>(1ull << 30, pool.state_bytes / 4));
        const double share = static_cast<double>(pool.total_bytes() - ring) / static_cast<double>(pool.state_bytes);
        EXPECT_LE(share, rank_bits == 0 ? 1.05 : 1.06) << name << " " << qubits;
      }
    }
  }
}

TEST(PoolLayout, GivesARingOnlyToSeveralRanks) {
  EXPECT_EQ(pool_layout(plan_of("qft", 20, 0), find_machine("h200")).chunk_slots, 0u);
  const PoolLayout pool = pool_layout(plan_of("qft", 36, 3), find_machine("h200"));
  EXPECT_EQ(pool.chunk_slots, 16u);
  EXPECT_EQ(pool.chunk_bytes, 64ull << 20);
}

TEST(LargestQubits, IsWhatTheCardsHold) {
  const Machine h200 = find_machine("h200");
  EXPECT_EQ(largest_qubits(h200, Precision::kDouble, 0), 33u);
  EXPECT_EQ(largest_qubits(h200, Precision::kDouble, 1), 34u);
  EXPECT_EQ(largest_qubits(h200, Precision::kDouble, 3), 36u);
  EXPECT_EQ(largest_qubits(h200, Precision::kSingle, 0), 34u);
}

TEST(FindMachine, NamesWhatIsKnown) {
  try {
    find_machine("h20");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("(cpu, h200, h100, a100)"), std::string::npos) << error.what();
  }
}

TEST(FindMachine, ReadsAFileAndNamesWhatIsWrongInIt) {
  std::string text;
  for (const auto& machine : detail::built_in_machines()) {
    if (machine.name == "h200") text = machine.json;
  }
  const auto path = std::filesystem::temp_directory_path() / "qsim_machine_test.json";
  std::ofstream(path) << text;
  EXPECT_EQ(find_machine(path.string()).max_tile_bits, find_machine("h200").max_tile_bits);
  for (const std::size_t bytes : {std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {  // 1 MiB at most
    std::ofstream(path) << text << std::string(bytes - text.size(), ' ');
    if (bytes % 2 == 0) {
      EXPECT_NO_THROW(find_machine(path.string()));
    } else {
      EXPECT_THROW(find_machine(path.string()), Error);
    }
  }
  std::filesystem::remove(path);
  const auto refused = [&](const char* from, const char* to, const char* words) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    try {
      detail::parse_machine(changed, "test");
      ADD_FAILURE() << words;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("{", "", "JSON");
  refused("qsim.machine/1", "qsim.machine/9", "schema");
  refused("\"h200\"", "7", "must be a string");
  std::string null = text;
  null.replace(null.find("\"cuda\""), 6, "\"null\"");
  EXPECT_EQ(detail::parse_machine(null, "test").kind, BackendKind::kNull);
  for (const char* const other : {"[]", "7", "null", "\"text\""}) {
    try {
      detail::parse_machine(other, "test");
      ADD_FAILURE() << other;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("not a JSON object"), std::string::npos) << error.what();
    }
  }
  refused("\"flip\"", "\"flop\"", "flip");
  refused("\"threads\": 1", "\"threads\": -1", "threads");
  // What the file holds is not repeated: it may be any file.
  refused("\"threads\": 1", "\"threads\": 1, \"colour\": 3", "a key that is not known");
  refused("\"kind\": \"cuda\"", "\"kind\": \"abacus\"", "none of cpu, cuda, null");
}

TEST(MakePlan, RefusesTooManyQubitsAndRanks) {
  const Machine machine = find_machine("h200");
  EXPECT_THROW(make_plan(Circuit(63), machine, {}), CapacityError);
  PlanOptions options;
  options.rank_bits = 4;
  EXPECT_THROW(make_plan(Circuit(3), machine, options), UsageError);
  options.rank_bits = 3;
  Circuit circuit(3);
  circuit.h(0);
  options.known_zeros = false;
  EXPECT_THROW(make_plan(circuit, machine, options), UsageError);
}

// Nothing is added to a sweep that the tile has no room for, and what needs all of it stands alone.
TEST(MakePlan, SweepsAreNoWiderThanTheTile) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}) {
    for (machine.low_bits = 0; machine.low_bits <= 3; ++machine.low_bits) {
      for (Qubit turned = 0; turned < 6; ++turned) {
        Circuit circuit(6);
        circuit.h(turned);
        for (const Qubit first : {1u, 2u, 3u, 0u}) {
          circuit.add_unitary(test::random_unitary(3, first + 1), {}, std::vector<Qubit>{first, first + 1, first + 2});
        }
        PlanOptions options;
        options.strategy = strategy;
        options.start = Start::kRandom;
        options.tile_bits = 3;
        const Plan plan = make_plan(circuit, machine, options);
        for (const Stage& stage : plan.stages) {
          for (const Sweep& sweep : stage.sweeps) EXPECT_LE(sweep.active.size(), 3u) << turned;
        }
        EXPECT_GE(plan_work(plan).sweeps, 4u);
      }
    }
  }
}

// However long the circuit is: long ones are searched alone, short ones planned greedily as well.
TEST(MakePlan, RefusesOperationsThatARankCannotHold) {
  for (const std::size_t operations : {1u, 4100u}) {
    Circuit circuit(3);
    for (std::size_t i = 0; i < operations; ++i) {
      const auto first = static_cast<Qubit>(i % 2);
      circuit.add_unitary(test::random_unitary(2, i + 1), {}, std::vector<Qubit>{first, first + 1});
    }
    for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}) {
      PlanOptions options;
      options.strategy = strategy;
      options.known_zeros = false;
      options.rank_bits = 1;
      if (operations == 1) {
        EXPECT_NO_THROW(make_plan(circuit, find_machine("cpu"), options));
      }
      options.rank_bits = 2;
      EXPECT_THROW(make_plan(circuit, find_machine("cpu"), options), UsageError);
    }
  }
}

// Even one whose gates would cancel around the measurement.
TEST(MakePlan, RefusesAMeasurementBeforeTheEnd) {
  Circuit circuit(1, 1);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.h(0);
  for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}) {
    PlanOptions options;
    options.strategy = strategy;
    EXPECT_THROW(make_plan(circuit, find_machine("cpu"), options), UnsupportedError);
  }
}

TEST(MakePlan, RefusesALayoutThatIsNone) {
  const Circuit circuit = generate("ghz", {.qubits = 3});
  PlanOptions options;
  options.start = Start::kState;
  for (const std::vector<Bit>& bits : {std::vector<Bit>{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, 2, 3}}) {
    options.initial_layout = Layout{bits};
    EXPECT_THROW(make_plan(circuit, find_machine("cpu"), options), Error);
  }
  options.initial_layout = Layout{{2, 0, 1}};
  EXPECT_NO_THROW(make_plan(circuit, find_machine("cpu"), options));
}

TEST(MakePlan, PlansAsManyQubitsAsAnIndexHas) {
  Circuit most(kMaxQubits);
  most.h(0);
  most.cx(0, kMaxQubits - 1);
  for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}) {
    PlanOptions options;
    options.strategy = strategy;
    EXPECT_EQ(make_plan(most, find_machine("cpu"), options).qubits, static_cast<std::uint32_t>(kMaxQubits));
  }
  EXPECT_NO_THROW(lower(most));
  EXPECT_THROW(lower(Circuit(kMaxQubits + 1)), CapacityError);
}

TEST(MakePlan, PlansNoQubits) {
  for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy, Strategy::kSearch}) {
    PlanOptions options;
    options.strategy = strategy;
    const Plan plan = make_plan(Circuit(0), find_machine("cpu"), options);
    const auto state = test::interpret(plan);
    ASSERT_EQ(state.size(), 1u);
    EXPECT_EQ(state[0], Complex(1));
  }
}

TEST(MakePlan, GhzOnEightRanksNeedsNoExchange) { EXPECT_EQ(plan_work(plan_of("ghz", 30, 3)).exchanges, 0u); }

TEST(MakePlan, TheQftOfZeroIsOneWrite) {
  const Plan plan = plan_of("qft", 30, 2);
  const PlanWork work = plan_work(plan);
  EXPECT_EQ(work.sweeps, 1u);
  EXPECT_EQ(work.exchanges, 0u);
  EXPECT_EQ(work.bytes_swept_per_rank, std::uint64_t{16} << 28);
}

TEST(MakePlan, TracesEveryGateOnce) {
  const Circuit circuit = generate("qft", {.qubits = 16});
  for (const Strategy strategy : {Strategy::kNaive, Strategy::kGreedy}) {
    PlanOptions options;
    options.rank_bits = 1;
    options.start = Start::kRandom;
    options.strategy = strategy;
    options.trace = true;
    const Plan plan = make_plan(circuit, find_machine("h200"), options);
    std::vector<bool> seen(circuit.operations().size(), false);
    for (const TraceEntry& entry : plan.trace) {
      EXPECT_FALSE(seen[entry.operation]) << entry.operation;
      seen[entry.operation] = true;
      EXPECT_TRUE(entry.stage >= 0 || !entry.note.empty());
    }
    EXPECT_EQ(plan.trace.size(), plan.gates);
  }
}

// The controls are 1 up to rounding, which the timeline sees and the known start does not: the flip is part of a birth.
TEST(MakePlan, TracesWhatTheFirstWriteHasTaken) {
  Circuit circuit(3);
  circuit.ry(std::numbers::pi, 0).ry(std::numbers::pi, 2).ccx(0, 2, 1);
  PlanOptions options;
  options.trace = true;
  const Plan plan = make_plan(circuit, find_machine("cpu"), options);
  std::vector<std::string> notes;
  for (const TraceEntry& entry : plan.trace) notes.push_back(entry.note);
  EXPECT_EQ(notes, (std::vector<std::string>(3, "first write")));
}

TEST(MakePlan, WritesASweepThatLeavesTheInstructionCacheAsSeveral) {
  const Circuit circuit = generate("random", {.qubits = 12, .depth = 20});
  const std::vector<Complex> start = dense::random_state(12, 1), expected = dense::run(circuit, start);
  Machine machine = find_machine("h200");
  machine.max_tile_bits = 8;
  machine.cost_double.sweep_overhead = 0;
  machine.cost_double.read_bytes_per_second *= 10;
  machine.cost_double.write_bytes_per_second *= 10;
  for (const Strategy strategy : {Strategy::kGreedy, Strategy::kSearch}) {
    PlanOptions options;
    options.rank_bits = 1;
    options.start = Start::kState;
    options.strategy = strategy;
    options.trace = true;
    machine.cost_double.cached_instructions = 0;
    const std::uint64_t before = plan_work(make_plan(circuit, machine, options)).sweeps;
    machine.cost_double.cached_instructions = 1000;
    const Plan plan = make_plan(circuit, machine, options);
    EXPECT_GT(plan_work(plan).sweeps, before);
    EXPECT_EQ(plan.trace.size(), plan.gates);
    EXPECT_LT(dense::max_difference(test::interpret(plan, start), expected), 1e-12);
    for (const TraceEntry& entry : plan.trace) {
      if (entry.stage < 0) continue;
      const auto& sweeps = plan.stages.at(static_cast<std::size_t>(entry.stage)).sweeps;
      EXPECT_LT(static_cast<std::size_t>(entry.op), sweeps.at(static_cast<std::size_t>(entry.sweep)).ops.size());
    }
  }
}

TEST(MakePlan, AMillionGatesTakeMemoryInProportion) {  // their time: qsim_planner_bench
  const Circuit circuit = generate("random", {.qubits = 24, .depth = 27800});
  ASSERT_GT(circuit.operations().size(), 1'000'000u);
  PlanOptions options;
  options.strategy = Strategy::kGreedy;
  options.start = Start::kRandom;
  const Plan plan = make_plan(circuit, find_machine("h200"), options);
  EXPECT_LT(pool_layout(plan, find_machine("h200")).table_bytes, 400ull << 20);
}

TEST(PlanText, IsAScreenfulAndNamesTheWork) {
  const Plan plan = plan_of("random", 30, 2, Start::kRandom);
  const std::string text = plan_text(plan, find_machine("h200"));
  EXPECT_NE(text.find("30 qubits, double, 4 ranks of h200, from a random state"), std::string::npos);
  EXPECT_NE(text.find("exchange"), std::string::npos);
  EXPECT_NE(text.find("fits in"), std::string::npos);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
}

TEST(PlanJson, HasEveryKeyOfTheSchema) {
  CircuitSummary circuit;
  circuit.file = "a.qasm";
  circuit.language = "OPENQASM 2.0";
  const Plan plan = plan_of("random", 30, 2, Start::kRandom);
  const auto json = nlohmann::json::parse(plan_json(plan, find_machine("h200"), circuit, {"careful"}));
  const char* keys[] = {"schema",
                        "ok",
                        "circuit",
                        "ranks",
                        "precision",
                        "tile_bits",
                        "sweeps",
                        "exchanges",
                        "bytes_swept_per_rank",
                        "bytes_exchanged_per_rank",
                        "memory_bytes_per_rank",
                        "predicted_time_s",
                        "fits",
                        "largest_qubits",
                        "stages",
                        "exit_code",
                        "warnings",
                        "error"};
  for (const char* key : keys) EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json["schema"], "qsim.plan/1");
  EXPECT_EQ(json["ranks"], 4);
  EXPECT_EQ(json["fits"], true);
  EXPECT_EQ(json["bytes_swept_per_rank"], std::to_string(plan_work(plan).bytes_swept_per_rank));
  EXPECT_EQ(json["stages"].size(), plan.stages.size());
  EXPECT_EQ(json["stages"][0]["sweeps"].size(), plan.stages[0].sweeps.size());
  EXPECT_TRUE(json["stages"][0]["exchange"].is_null());
  EXPECT_EQ(json["warnings"][0], "careful");
  const Failure failure{ExitCode::kCapacity, "too big", "", "", 3, 0, 0, 0, 0, {}};
  const auto error = nlohmann::json::parse(plan_error_json(circuit, failure));
  for (const char* key : keys) EXPECT_TRUE(error.contains(key)) << key;
  EXPECT_EQ(error["ok"], false);
  EXPECT_EQ(error["exit_code"], 5);
  EXPECT_EQ(error["error"]["line"], 3);
}

}  // namespace
}  // namespace qsim
