// The loop over stages: exchange, sweeps, norm.
#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr double kNormTolerance[] = {1e-4, 1e-10};  // single, double

/// Total probability of the unnormalised random start, with fewer digits than it has noise, so that the number of ranks
/// does not show in the state.
double rounded_total(double total) {
  int exponent = 0;
  const double mantissa = std::frexp(total, &exponent);
  return std::ldexp(std::round(mantissa * 0x1p44) * 0x1p-44, exponent);
}

bool leaves_last_to_exchange(const Plan& plan, std::size_t stage, std::size_t sweeps_left) {
  if (sweeps_left == 0 || stage + 1 >= plan.stages.size()) return false;
  const std::optional<Exchange>& next = plan.stages[stage + 1].exchange;
  return next && next->overlap_before;
}

}  // namespace

std::uint64_t sweep_bytes(const Sweep& sweep, std::uint32_t local_bits, Precision precision) {
  const Index local = low_mask(local_bits);
  Index born_here = 0;
  for (const Birth& birth : sweep.births) born_here |= bit_mask(birth.bit);
  const std::uint64_t shard = static_cast<std::uint64_t>(amplitude_bytes(precision)) << local_bits;
  const std::uint64_t read = sweep.reads ? shard >> count_bits(sweep.unborn & local) : 0;
  return read + (shard >> count_bits(sweep.unborn & ~born_here & local));
}

Executor::Executor(DistributedState& state, ExchangePipeline& exchanges, bool check_norm)
    : state_(state), exchanges_(exchanges), check_norm_(check_norm) {}

std::size_t Executor::prepare(const Plan& plan) {
  PreparedPlan prepared;
  prepared.plan = &plan;
  const auto rank = static_cast<std::uint32_t>(state_.rank());
  for (const Stage& stage : plan.stages) {
    PreparedStage& target = prepared.stages.emplace_back();
    if (stage.exchange) {
      prepared.predicted_seconds += stage.exchange->predicted_seconds;
      ++prepared.steps;
    }
    std::vector<Sweep> sweeps;
    for (const Sweep& sweep : stage.sweeps) {
      target.sweep_bytes.push_back(sweep_bytes(sweep, plan.local_bits(), plan.precision));
      sweeps.push_back(specialize(sweep, plan, rank));
      prepared.predicted_seconds += sweep.predicted_seconds;
      ++prepared.steps;
    }
    if (!sweeps.empty()) target.first_handle = state_.backend.prepare(sweeps);
  }
  norms_.resize(std::max(norms_.size(), plan.stages.size()));
  plans_.push_back(std::move(prepared));
  return plans_.size() - 1;
}

std::uint32_t Executor::prepare_sweep(const Sweep& sweep) { return state_.backend.prepare({&sweep, 1}); }

void Executor::make_start(const Plan& plan, std::uint64_t start_seed) {
  if (plan.start == Start::kState) {
    if (state_.layout != plan.initial_layout) throw Error("a plan that continues a state starts in another layout");
    return;
  }
  state_.moves.clear();
  state_.layout = plan.initial_layout;
  if (plan.start == Start::kZero) return;  // the plan's first sweep writes it
  const auto rank = static_cast<std::uint32_t>(state_.rank());
  const double guess = std::exp2(-0.5 * (static_cast<double>(state_.qubits) + 1));
  state_.backend.fill_random(plan.initial_layout, rank, start_seed, guess);
  double total = state_.backend.norm();
  state_.communicator.sum({&total, 1});
  if (!(total > 0)) throw Error("the random start state has no probability");
  state_.backend.fill_random(plan.initial_layout, rank, start_seed, guess / std::sqrt(rounded_total(total)));
}

void Executor::run(std::size_t number, double expected_norm, std::uint64_t start_seed) {
  const PreparedPlan& prepared = plans_.at(number);
  const Plan& plan = *prepared.plan;
  if (plan.start == Start::kRandom) {
    const auto begin = std::chrono::steady_clock::now();
    make_start(plan, start_seed);
    state_.backend.synchronize();
    state_.communicator.barrier();
    counts_.start_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  } else {
    make_start(plan, start_seed);
  }
  held_back_ = false;
  seconds_done_ = 0;
  steps_done_ = 0;
  std::fill(norms_.begin(), norms_.end(), -1.0);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) run_stage(prepared, stage);
  state_.backend.synchronize();
  state_.layout = plan.final_layout;
  counts_.gates_planned += plan.gates;
  counts_.gates_applied += plan.gates_removed;
  if (check_norm_) check_norms(plan, expected_norm);
}

void Executor::run_stage(const PreparedPlan& prepared, std::size_t number) {
  const Stage& stage = prepared.plan->stages[number];
  const std::uint32_t first_handle = prepared.stages[number].first_handle;
  const std::size_t count = stage.sweeps.size();
  std::size_t next = stage.exchange ? run_exchange(prepared, number) : 0;
  held_back_ = leaves_last_to_exchange(*prepared.plan, number, count - next);
  const std::size_t end = held_back_ ? count - 1 : count;
  for (; next < end; ++next) {
    const bool last = check_norm_ && next + 1 == count;
    state_.backend.sweep(first_handle + static_cast<std::uint32_t>(next), {}, 0, last);
    count_sweep(prepared, number, next);
    if (last) norms_[number] = state_.backend.take_norm();
  }
}

/// Returns how many of the stage's sweeps ran beside the exchange. The backend keeps one running total of the norm:
/// where the sweeps before and after both end a stage, the later one has it.
std::size_t Executor::run_exchange(const PreparedPlan& prepared, std::size_t number) {
  const Stage& stage = prepared.plan->stages[number];
  const Exchange& exchange = *stage.exchange;
  const bool with_after = exchange.overlap_after && !stage.sweeps.empty();
  const bool after_norm = check_norm_ && with_after && stage.sweeps.size() == 1;
  const bool before_norm = check_norm_ && held_back_ && !after_norm;
  std::optional<ChunkedSweep> before, after;
  if (held_back_) {
    const PreparedStage& previous = prepared.stages[number - 1];
    const std::size_t last = previous.sweep_bytes.size() - 1;
    before = ChunkedSweep{previous.first_handle + static_cast<std::uint32_t>(last), before_norm};
    count_sweep(prepared, number - 1, last);
  }
  if (with_after) after = ChunkedSweep{prepared.stages[number].first_handle, after_norm};
  exchanges_.run(exchange, before, after);
  ++counts_.exchanges;
  step_done(prepared, exchange.predicted_seconds);
  if (with_after) count_sweep(prepared, number, 0);
  if (before_norm) norms_[number - 1] = state_.backend.take_norm();
  if (after_norm) norms_[number] = state_.backend.take_norm();
  return with_after ? 1 : 0;
}

void Executor::count_sweep(const PreparedPlan& prepared, std::size_t stage, std::size_t sweep) {
  const Sweep& done = prepared.plan->stages[stage].sweeps[sweep];
  for (const PlanOp& op : done.ops) counts_.gates_applied += op.gates;
  ++counts_.sweeps;
  counts_.bytes_swept += prepared.stages[stage].sweep_bytes[sweep];
  step_done(prepared, done.predicted_seconds);
}

void Executor::step_done(const PreparedPlan& prepared, double predicted_seconds) {
  seconds_done_ += predicted_seconds;
  ++steps_done_;
  if (!on_progress) return;
  on_progress(prepared.predicted_seconds > 0
                  ? std::min(1.0, seconds_done_ / prepared.predicted_seconds)
                  : static_cast<double>(steps_done_) / static_cast<double>(std::max<std::size_t>(1, prepared.steps)));
}

void Executor::run_sweep(std::uint32_t handle, std::uint64_t bytes) {
  state_.backend.sweep(handle, {}, 0, false);
  ++counts_.sweeps;
  counts_.bytes_swept += bytes;
}

void Executor::check_norms(const Plan& plan, double expected_norm) {
  const std::size_t stages = plan.stages.size();
  // A stage is checked on all ranks or on none: they run the same plan. Unchecked ones stay below zero.
  state_.communicator.sum(std::span(norms_).first(stages));
  const double tolerance = kNormTolerance[static_cast<std::size_t>(plan.precision)];
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (norms_[stage] < -0.5) continue;
    counts_.norm = norms_[stage] / expected_norm;
    counts_.norm_checked = true;
    if (std::abs(counts_.norm - 1) <= tolerance) continue;
    throw VerificationError("the probabilities add up to " + std::to_string(counts_.norm) + " after stage " +
                            std::to_string(stage + 1) + " of " + std::to_string(stages) + " (off by " +
                            std::to_string(std::abs(counts_.norm - 1) / tolerance) +
                            " times what rounding allows): the result is wrong and is not shown");
  }
}

}  // namespace qsim
