// verify_plan: each rule of the plan's words, broken once.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numbers>

#include "base/bits.h"
#include "base/layout.h"
#include "circuit/generate/families.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

// Two ranks, from zero, with an exchange, births after the first write and all three forms.
Plan valid_plan(Start start = Start::kZero) {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  machine.low_bits = 0;
  Circuit circuit(7);
  for (Qubit q = 0; q < 7; ++q) circuit.h(q);
  for (const Qubit q : {0u, 3u, 5u, 6u, 1u, 2u, 4u}) {
    circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{q}, std::vector<double>{0.3});
    circuit.cx(q, (q + 1) % 7);
    circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{q}, std::vector<double>{0.4});
    circuit.cp(0.2, q, (q + 3) % 7);
  }
  PlanOptions options;
  options.rank_bits = 1;
  options.tile_bits = 3;
  options.start = start;
  options.strategy = Strategy::kGreedy;
  options.trace = true;
  return make_plan(circuit, machine, options);
}

// GHZ with small tiles: bits are born sweep by sweep.
Plan late_birth_plan() {
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  PlanOptions options;
  options.tile_bits = 3;
  options.strategy = Strategy::kGreedy;
  return make_plan(generate("ghz", {.qubits = 8}), machine, options);
}

Exchange& first_exchange(Plan& plan) {
  for (Stage& stage : plan.stages) {
    if (stage.exchange) return *stage.exchange;
  }
  throw Error("the plan has no exchange");
}

Sweep& sweep_with(Plan& plan, Form form) {
  for (Stage& stage : plan.stages) {
    for (Sweep& sweep : stage.sweeps) {
      for (const PlanOp& op : sweep.ops) {
        if (op.form == form) return sweep;
      }
    }
  }
  throw Error("the plan has no such operation");
}

PlanOp& op_with(Plan& plan, Form form) {
  for (PlanOp& op : sweep_with(plan, form).ops) {
    if (op.form == form) return op;
  }
  throw Error("the plan has no such operation");
}

void expect_refused(Plan plan, const std::string& words, const std::function<void(Plan&)>& change) {
  ASSERT_NO_THROW(verify_plan(plan));
  change(plan);
  try {
    verify_plan(plan);
    ADD_FAILURE() << "accepted, though: " << words;
  } catch (const VerificationError& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(VerifyPlan, ChecksTheHead) {
  const Plan plan = valid_plan();
  expect_refused(plan, "initial_layout", [](Plan& p) { p.initial_layout.bit_of[0] = p.initial_layout.bit_of[1]; });
  expect_refused(plan, "final_layout", [](Plan& p) { p.final_layout.bit_of[0] = 7; });
  expect_refused(plan, "global_start", [](Plan& p) { p.global_start.pop_back(); });
  expect_refused(plan, "not normalised", [](Plan& p) { p.global_start[0] *= 2; });
  expect_refused(plan, "rank bits", [](Plan& p) { p.rank_bits = 8; });
  expect_refused(plan, "gates", [](Plan& p) { ++p.gates; });
  expect_refused(plan, "trace", [](Plan& p) { p.trace.push_back({0, 0, 99, 0, ""}); });
}

TEST(VerifyPlan, ChecksThatLayoutsFollow) {
  const Plan plan = valid_plan();
  ASSERT_GT(plan.stages.size(), 1u);
  expect_refused(plan, "layout",
                 [](Plan& p) { std::swap(p.stages[1].layout.bit_of[0], p.stages[1].layout.bit_of[1]); });
  expect_refused(plan, "layout", [](Plan& p) {
    Sweep& sweep = p.stages[0].sweeps[0];
    std::swap(sweep.store[0], sweep.store[1]);
  });
}

TEST(VerifyPlan, ChecksActiveBits) {
  const Plan plan = valid_plan();
  expect_refused(plan, "ascending",
                 [](Plan& p) { std::swap(p.stages[0].sweeps[0].active[0], p.stages[0].sweeps[0].active[1]); });
  expect_refused(plan, "not local", [](Plan& p) { p.stages[0].sweeps[0].active.back() = 6; });
  expect_refused(plan, "store", [](Plan& p) { p.stages[0].sweeps[0].store.pop_back(); });
  expect_refused(plan, "permutation", [](Plan& p) { p.stages[0].sweeps[0].store[0] = p.stages[0].sweeps[0].store[1]; });
}

TEST(VerifyPlan, ChecksWhatActiveBitsReach) {
  Plan plan = valid_plan(Start::kState);
  Sweep& sweep = plan.stages.back().sweeps.back();
  plan.stages.back().exchange->overlap_after = 0;
  sweep.store = sweep.active;
  plan.final_layout = plan.stages.back().layout;
  for (std::size_t s = 0; s + 1 < plan.stages.back().sweeps.size(); ++s) {
    Sweep& before = plan.stages.back().sweeps[s];
    before.store = before.active;
  }
  for (const Bit bit : sweep.active) sweep.reach.push_back(bit_mask(bit) | bit_mask(sweep.active.front()));
  const auto last = [](Plan& p) -> Sweep& { return p.stages.back().sweeps.back(); };
  expect_refused(plan, "one mask", [&](Plan& p) { last(p).reach.pop_back(); });
  expect_refused(plan, "tell them apart", [&](Plan& p) { last(p).reach.back() = last(p).reach.front(); });
  expect_refused(plan, "not local", [&](Plan& p) { last(p).reach.back() |= bit_mask(6); });
  expect_refused(plan, "at its store", [&](Plan& p) { std::swap(last(p).store[0], last(p).store[1]); });
  expect_refused(plan, "has a reach after", [&](Plan& p) {
    p.stages.back().exchange->overlap_after = static_cast<std::uint32_t>(p.stages.back().sweeps.size());
    p.stages.back().exchange->overlap_before = 0;
    p.stages.back().exchange->chunk_mask = 0;
  });
  const Plan young = late_birth_plan();
  expect_refused(young, "bear nothing", [](Plan& p) {
    Sweep& first = p.stages[0].sweeps[1];
    first.store = first.active;
    for (const Bit bit : first.active) first.reach.push_back(bit_mask(bit));
  });
  expect_refused(young, "are unborn", [](Plan& p) {
    // A sweep between the first two, before the births of the second.
    Sweep more = p.stages[0].sweeps[0];
    more.reads = true;
    more.births.clear();
    more.ops.clear();
    more.unborn = p.stages[0].sweeps[1].unborn;
    more.store = more.active;
    for (const Bit bit : more.active) more.reach.push_back(bit_mask(bit));
    more.reach.back() |= more.unborn & (~more.unborn + 1);
    p.stages[0].sweeps.insert(p.stages[0].sweeps.begin() + 1, more);
  });
}

/// Six qubits at 0, then flips of bits 1 and 4, of which 4 is born there.
Plan permuting_plan() {
  Plan plan;
  plan.qubits = 6;
  plan.initial_layout = plan.final_layout = Layout::identity(6);
  plan.global_start = {Complex(1)};
  Sweep first;
  first.reads = false;
  first.active = first.store = {0, 1, 2, 3};
  first.unborn = 63;
  for (const Bit bit : {Bit{0}, Bit{1}, Bit{2}, Bit{3}, Bit{5}}) first.births.push_back({bit});
  Sweep flips;
  flips.unborn = 16;
  flips.births.push_back({4});
  flips.bundle = 0b010011;
  for (const Bit bit : {Bit{1}, Bit{4}}) {
    PlanOp flip;
    flip.form = Form::kFlip;
    flip.target_count = 1;
    flip.targets[0] = bit;
    flip.control_mask = flip.control_value = 0b101100;
    flips.ops.push_back(flip);
  }
  plan.stages.push_back({std::nullopt, plan.initial_layout, {first, flips}});
  return plan;
}

/// Three qubits, written where a flip takes them.
Plan permuting_write() {
  Plan plan;
  plan.qubits = 3;
  plan.initial_layout = plan.final_layout = Layout::identity(3);
  plan.global_start = {Complex(1)};
  Sweep write;
  write.reads = false;
  write.unborn = write.bundle = 7;
  for (const Bit bit : {Bit{0}, Bit{1}, Bit{2}}) write.births.push_back({bit, {Complex(0.6), Complex(0.8)}});
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.control_mask = flip.control_value = 6;
  write.ops.push_back(flip);
  plan.stages.push_back({std::nullopt, plan.initial_layout, {write}});
  return plan;
}

TEST(VerifyPlan, ChecksFirstWritesThatPermute) {
  const Plan plan = permuting_write();
  const auto write = [](Plan& p) -> Sweep& { return p.stages[0].sweeps[0]; };
  expect_refused(plan, "one bundle, the shard", [&](Plan& p) { write(p).bundle = 3; });
  expect_refused(plan, "unborn", [&](Plan& p) { write(p).births.pop_back(); });
  expect_refused(plan, "open", [&](Plan& p) { write(p).births[1].open = 1; });
  expect_refused(plan, "not normalised", [&](Plan& p) { write(p).births[1].factor[0] = 1; });
  expect_refused(plan, "must not read", [&](Plan& p) { write(p).reads = true; });
}

// Which bears the global bits as well, and may flip them.
TEST(VerifyPlan, ChecksFirstWritesOfSeveralRanksThatPermute) {
  Plan plan = permuting_write();
  const Bit global = static_cast<Bit>(plan.qubits - 1);
  Sweep& first = plan.stages[0].sweeps[0];
  plan.rank_bits = 1;
  plan.global_start.assign(2, std::polar(1.0, 0.3));
  first.bundle = first.unborn = low_mask(global);
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  flip.targets[0] = global;
  flip.control_mask = flip.control_value = 1;
  first.ops.push_back(flip);
  EXPECT_NO_THROW(verify_plan(plan));
  const auto write = [](Plan& p) -> Sweep& { return p.stages[0].sweeps[0]; };
  expect_refused(plan, "not born by the first write", [&](Plan& p) { write(p).births.pop_back(); });
  expect_refused(plan, "not unborn", [&](Plan& p) { write(p).births[0].bit = global; });
  expect_refused(plan, "not normalised", [&](Plan& p) { p.global_start = {1, 0}; });
  expect_refused(plan, "not local", [&](Plan& p) { write(p).bundle |= bit_mask(global); });
  expect_refused(plan, "specialised", [&](Plan& p) { write(p).above = bit_mask(global); });
  expect_refused(plan, "not active", [&](Plan& p) {  // of a sweep of tiles
    write(p).bundle = 0;
    p.global_start = {1, 0};
    write(p).births.pop_back();
  });
}

TEST(VerifyPlan, ChecksWhatPermutes) {
  const Plan plan = permuting_plan();
  const auto flips = [](Plan& p) -> Sweep& { return p.stages[0].sweeps[1]; };
  expect_refused(plan, "not in the bundle", [&](Plan& p) { flips(p).bundle = 0b010001; });
  expect_refused(plan, "not in the bundle", [&](Plan& p) { flips(p).ops[0].targets[0] = 0, flips(p).bundle = 18; });
  expect_refused(plan, "not local", [&](Plan& p) { flips(p).bundle |= 64; });
  expect_refused(plan, "are unborn", [&](Plan& p) {
    flips(p).births.clear();
    flips(p).ops.pop_back();
  });
  expect_refused(plan, "no active bits", [&](Plan& p) { flips(p).active = flips(p).store = {0}; });
  const auto make_phase = [&](Plan& p, double angle) {
    flips(p).ops[0] = PlanOp();
    flips(p).ops[0].form = Form::kPhases;
    flips(p).ops[0].data_count = 1;
    flips(p).phases = {{0b11, false, OpenAngle{angle, 0}}};
  };
  Plan turned = plan;
  make_phase(turned, -0.375 * std::numbers::pi);
  EXPECT_NO_THROW(verify_plan(turned));
  expect_refused(plan, "sixteenths", [&](Plan& p) { make_phase(p, 0.3); });
  expect_refused(plan, "sixteenths", [&](Plan& p) { make_phase(p, 0.375 * std::numbers::pi + 1e-12); });
  expect_refused(plan, "has a matrix", [&](Plan& p) { flips(p).ops[0].form = Form::kMatrix; });
  expect_refused(plan, "also a control", [&](Plan& p) { flips(p).ops[0].control_mask |= 2; });
}

TEST(VerifyPlan, ChecksReadsAndBirths) {
  const Plan plan = late_birth_plan();
  ASSERT_GT(plan.stages[0].sweeps.size(), 1u);
  ASSERT_FALSE(plan.stages[0].sweeps[1].births.empty());
  expect_refused(plan, "must not read", [](Plan& p) { p.stages[0].sweeps[0].reads = true; });
  expect_refused(plan, "first write", [](Plan& p) { p.stages[0].sweeps[1].reads = false; });
  expect_refused(plan, "unborn bits", [](Plan& p) { p.stages[0].sweeps[1].unborn ^= bit_mask(0); });
  expect_refused(plan, "still unborn", [](Plan& p) {
    p.stages[0].sweeps.back().births.clear();
    p.stages[0].sweeps.back().ops.clear();
    p.gates_removed = p.gates;
    for (Sweep& s : p.stages[0].sweeps) s.ops.clear();
  });
  expect_refused(plan, "cannot be born", [](Plan& p) { p.stages[0].sweeps[1].births.push_back({0, {}}); });
  expect_refused(plan, "not normalised", [](Plan& p) { p.stages[0].sweeps[1].births[0].factor[1] = 1; });
  expect_refused(plan, "start_scale", [](Plan& p) { p.stages[0].sweeps[0].start_scale = 2; });
  expect_refused(plan, "target", [](Plan& p) { p.stages[0].sweeps[1].births.clear(); });
  expect_refused(plan, "no sweep writes", [](Plan& p) { p.stages[0].sweeps.clear(); });
}

TEST(VerifyPlan, RefusesAnInactiveBirthWithAFactorAfterTheFirstWrite) {
  const Plan plan = late_birth_plan();
  expect_refused(plan, "born inactive", [](Plan& p) {
    Sweep& sweep = p.stages[0].sweeps[1];
    for (Bit bit = 0; bit < 8; ++bit) {
      const bool active = std::find(sweep.active.begin(), sweep.active.end(), bit) != sweep.active.end();
      if (active || !test_bit(sweep.unborn, bit)) continue;
      sweep.births.push_back({bit, {Complex(0), Complex(1)}});
      return;
    }
  });
}

TEST(VerifyPlan, ChecksExchanges) {
  const Plan plan = valid_plan();
  expect_refused(plan, "without swaps", [](Plan& p) { first_exchange(p).swaps.clear(); });
  expect_refused(plan, "not local", [](Plan& p) { first_exchange(p).swaps[0].first = 6; });
  expect_refused(plan, "not global", [](Plan& p) { first_exchange(p).swaps[0].second = 0; });
  expect_refused(plan, "twice", [](Plan& p) { first_exchange(p).swaps.push_back(first_exchange(p).swaps[0]); });
  expect_refused(plan, "not be swapped",
                 [](Plan& p) { first_exchange(p).chunk_mask |= bit_mask(first_exchange(p).swaps[0].first); });
  expect_refused(plan, "must be local", [](Plan& p) { first_exchange(p).chunk_mask |= bit_mask(6); });
  expect_refused(plan, "are unborn, not", [](Plan& p) { first_exchange(p).unborn ^= bit_mask(1); });
  expect_refused(plan, "active in an overlapped sweep before", [](Plan& p) {
    Exchange& exchange = first_exchange(p);
    exchange.overlap_before = 1;
    for (const Bit bit : p.stages[0].sweeps.back().active) {
      if (bit != exchange.swaps[0].first) exchange.chunk_mask |= bit_mask(bit);
    }
  });
  expect_refused(plan, "active in an overlapped sweep after", [](Plan& p) {
    Exchange& exchange = first_exchange(p);
    exchange.overlap_before = 0;
    exchange.overlap_after = 1;
    for (const Bit bit : p.stages[1].sweeps.front().active) {
      if (bit != exchange.swaps[0].first) exchange.chunk_mask |= bit_mask(bit);
    }
  });
}

TEST(VerifyPlan, ChecksOperations) {
  const Plan plan = valid_plan();
  expect_refused(plan, "not active", [](Plan& p) { op_with(p, Form::kMatrix).targets[0] = 6; });
  expect_refused(plan, "4^targets", [](Plan& p) { op_with(p, Form::kMatrix).data_count = 3; });
  expect_refused(plan, "out of range", [](Plan& p) { op_with(p, Form::kMatrix).data_begin += 1000; });
  expect_refused(plan, "column", [](Plan& p) { sweep_with(p, Form::kMatrix).matrices[0] *= 1.5; });
  expect_refused(plan, "finite",
                 [](Plan& p) { sweep_with(p, Form::kMatrix).matrices[0] = std::numeric_limits<double>::quiet_NaN(); });
  expect_refused(plan, "also a control", [](Plan& p) {
    PlanOp& op = op_with(p, Form::kFlip);
    op.control_mask |= bit_mask(op.targets[0]);
  });
  expect_refused(plan, "outside the control mask", [](Plan& p) { op_with(p, Form::kFlip).control_value = ~Index{0}; });
  expect_refused(plan, "not a bit of the state", [](Plan& p) { op_with(p, Form::kFlip).control_mask |= bit_mask(7); });
  expect_refused(plan, "no data", [](Plan& p) { op_with(p, Form::kFlip).data_count = 1; });
  expect_refused(plan, "no targets", [](Plan& p) {
    PlanOp& op = op_with(p, Form::kPhases);
    op.target_count = 1;
    op.targets[0] = sweep_with(p, Form::kPhases).active[0];
  });
  expect_refused(plan, "out of range", [](Plan& p) { op_with(p, Form::kPhases).data_count += 1000; });
  expect_refused(plan, "outside the state",
                 [](Plan& p) { sweep_with(p, Form::kPhases).phases[0].mask |= bit_mask(9); });
  expect_refused(plan, "without bits", [](Plan& p) { sweep_with(p, Form::kPhases).phases[0] = {0, true, 1.0}; });
  expect_refused(plan, "angle", [](Plan& p) {
    sweep_with(p, Form::kPhases).phases[0].angle = std::numeric_limits<double>::infinity();
  });
}

TEST(VerifyPlan, ChecksBothSidesOfEveryRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const Plan plan = valid_plan();
  expect_refused(plan, "initial_layout", [](Plan& p) { p.initial_layout.bit_of.push_back(0); });
  expect_refused(plan, "finite", [](Plan& p) {
    sweep_with(p, Form::kMatrix).matrices[0].imag(std::numeric_limits<double>::quiet_NaN());
  });
  expect_refused(plan, "not global", [](Plan& p) { first_exchange(p).swaps[0].second = 7; });
  for (const double time : {nan, infinity, -1.0}) {
    expect_refused(plan, "not a time", [=](Plan& p) { p.stages[0].sweeps[0].predicted_seconds = time; });
    expect_refused(plan, "exchange: predicted_seconds", [=](Plan& p) { first_exchange(p).predicted_seconds = time; });
  }
  expect_refused(plan, "not part of its time", [](Plan& p) { first_exchange(p).predicted_added_seconds = -1; });
  expect_refused(plan, "not part of its time", [](Plan& p) {
    first_exchange(p).predicted_added_seconds = 2 * first_exchange(p).predicted_seconds + 1;
  });
  expect_refused(plan, "ascending", [](Plan& p) {
    Sweep& sweep = p.stages[0].sweeps[0];
    sweep.active[1] = sweep.active[0];
  });
  expect_refused(plan, "cannot be born", [](Plan& p) { p.stages[0].sweeps[0].births.push_back({7, {}}); });
  expect_refused(plan, "permutation", [](Plan& p) { p.stages[0].sweeps[0].store[0] = 7; });
  expect_refused(plan, "permutation", [](Plan& p) { p.stages[0].sweeps[0].store[0] = 200; });
  expect_refused(plan, "not active", [](Plan& p) { op_with(p, Form::kMatrix).targets[0] = 7; });
  expect_refused(plan, "needs a target", [](Plan& p) {
    PlanOp& op = op_with(p, Form::kMatrix);
    op.target_count = 0;
    op.data_count = 1;
  });
  expect_refused(plan, "store needs one place an active bit", [](Plan& p) { p.stages[0].sweeps[0].store.pop_back(); });
  expect_refused(plan, "store needs one place an active bit",
                 [](Plan& p) { p.stages[0].sweeps[0].store.push_back(0); });
  expect_refused(plan, "more than 6 targets", [](Plan& p) { op_with(p, Form::kMatrix).target_count = 7; });
  expect_refused(plan, "unknown form", [](Plan& p) { op_with(p, Form::kFlip).form = static_cast<Form>(9); });
}

TEST(VerifyPlan, ATraceNamesWhatIsThere) {
  const Plan plan = valid_plan();
  const auto stages = static_cast<std::int32_t>(plan.stages.size());
  const auto sweeps = static_cast<std::int32_t>(plan.stages[0].sweeps.size());
  const auto ops = static_cast<std::int32_t>(plan.stages[0].sweeps[0].ops.size());
  for (const TraceEntry& wrong :
       {TraceEntry{0, stages, 0, 0, ""}, TraceEntry{0, 0, sweeps, 0, ""}, TraceEntry{0, 0, 0, ops, ""},
        TraceEntry{0, 0, -1, 0, ""}, TraceEntry{0, 0, 0, -1, ""}}) {
    expect_refused(plan, "trace", [&](Plan& p) { p.trace.push_back(wrong); });
  }
}

TEST(VerifyPlan, ASweepRunsBesideOneExchangeAtMost) {
  PlanOptions options;
  options.rank_bits = 2;
  options.tile_bits = 4;
  options.start = Start::kRandom;
  options.strategy = Strategy::kGreedy;
  Machine machine = find_machine("cpu");
  machine.min_tile_bits = 2;
  const Plan plan = make_plan(generate("random", {.qubits = 8, .depth = 12, .seed = 1}), machine, options);
  ASSERT_GT(plan.stages.size(), 2u);
  ASSERT_FALSE(plan.stages[1].sweeps.empty());
  const std::uint32_t between = static_cast<std::uint32_t>(plan.stages[1].sweeps.size());
  const auto overlap = [&](std::uint32_t after, std::uint32_t before) {
    return [=](Plan& p) {
      for (Stage& stage : p.stages) {
        if (!stage.exchange) continue;
        stage.exchange->chunk_mask = 0;
        stage.exchange->overlap_before = stage.exchange->overlap_after = 0;
      }
      p.stages[1].exchange->overlap_after = after;
      p.stages[2].exchange->overlap_before = before;
    };
  };
  Plan shared = plan;
  overlap(1, between - 1)(shared);
  EXPECT_NO_THROW(verify_plan(shared));
  expect_refused(plan, "too few sweeps before", overlap(1, between));
  expect_refused(plan, "too few sweeps after", overlap(between + 1, 0));
}

// In a plan from a state an exchange may come first; nothing lies before it.
TEST(VerifyPlan, AnExchangeThatComesFirstHasNothingToOverlapWith) {
  Plan plan;
  plan.qubits = 2;
  plan.rank_bits = 1;
  plan.start = Start::kState;
  plan.initial_layout = Layout::identity(2);
  Stage stage;
  stage.exchange.emplace();
  stage.exchange->swaps = {{0, 1}};
  stage.layout.bit_of = {1, 0};
  plan.stages = {stage};
  plan.final_layout.bit_of = {1, 0};
  EXPECT_NO_THROW(verify_plan(plan));
  expect_refused(plan, "too few sweeps before", [](Plan& p) { p.stages[0].exchange->overlap_before = 1; });
}

TEST(VerifyPlan, NothingIsExchangedBeforeTheFirstWrite) {
  expect_refused(valid_plan(), "before the first write", [](Plan& p) { p.stages[0].exchange = p.stages[1].exchange; });
}

TEST(VerifyPlan, TakesAsManyQubitsAsAnIndexHas) {
  const auto plan_of = [](std::uint32_t qubits) {
    Plan plan;
    plan.qubits = qubits;
    plan.start = Start::kState;
    plan.initial_layout = plan.final_layout = Layout::identity(static_cast<int>(qubits));
    return plan;
  };
  EXPECT_NO_THROW(verify_plan(plan_of(kMaxQubits)));
  EXPECT_THROW(verify_plan(plan_of(kMaxQubits + 1)), VerificationError);
}

TEST(VerifyPlan, NamesThePlace) {
  Plan plan = valid_plan();
  Sweep& sweep = plan.stages[0].sweeps.back();
  ASSERT_FALSE(sweep.ops.empty());
  sweep.ops.back().control_value = ~Index{0};
  const std::string place = "stage 0, sweep " + std::to_string(plan.stages[0].sweeps.size() - 1) + ", operation " +
                            std::to_string(sweep.ops.size() - 1);
  try {
    verify_plan(plan);
    ADD_FAILURE();
  } catch (const VerificationError& error) {
    EXPECT_NE(std::string(error.what()).find(place), std::string::npos) << error.what();
    EXPECT_EQ(error.code(), ExitCode::kVerification);
  }
}

TEST(VerifyPlan, AcceptsPlansFromARandomState) { EXPECT_NO_THROW(verify_plan(valid_plan(Start::kRandom))); }

TEST(VerifyPlan, TakesTimesOfZeroAndAnExchangeThatHidesNothing) {
  Plan plan = valid_plan();
  Exchange& exchange = first_exchange(plan);
  exchange.predicted_added_seconds = exchange.predicted_seconds;
  EXPECT_NO_THROW(verify_plan(plan));
  exchange.predicted_added_seconds = exchange.predicted_seconds = 0;
  for (Stage& stage : plan.stages) {
    for (Sweep& sweep : stage.sweeps) sweep.predicted_seconds = 0;
  }
  EXPECT_NO_THROW(verify_plan(plan));
}

TEST(VerifyPlan, RefusesLayoutsThatAreNoPermutations) {
  for (const bool last : {false, true}) {
    for (const Bit bit : {Bit{0}, Bit{7}, Bit{200}}) {  // twice there, past the end, far past it
      Plan plan = valid_plan();
      Layout& layout = last ? plan.final_layout : plan.initial_layout;
      *std::find_if(layout.bit_of.begin(), layout.bit_of.end(), [](Bit old) { return old != 0; }) = bit;
      EXPECT_THROW(verify_plan(plan), Error) << last << ' ' << int{bit};
    }
  }
}

}  // namespace
}  // namespace qsim
