// The loop over stages: exchange, sweeps, norm.
#include "runtime/execute/executor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "base/bits.h"
#include "base/text.h"
#include "plan/cost/cost.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"

namespace qsim {
namespace {

/// Total probability of the unnormalised random start, with fewer digits than it has noise, so that the number of ranks
/// does not show in the state.
double rounded_total(double total) {
  int exponent = 0;
  const double mantissa = std::frexp(total, &exponent);
  return std::ldexp(std::round(mantissa * 0x1p44) * 0x1p-44, exponent);
}

/// The same sweep with `wanted` active bits, as far as there are others that are born.
Sweep widened(Sweep sweep, std::uint32_t local_bits, std::uint32_t wanted) {
  if (sweep.permutes()) return sweep;
  Index taken = sweep.unborn;
  for (const Birth& birth : sweep.births) taken &= ~bit_mask(birth.bit);
  for (const Bit bit : sweep.active) taken |= bit_mask(bit);
  for (std::uint32_t bit = 0; bit < local_bits && sweep.active.size() < wanted; ++bit) {
    if (test_bit(taken, bit)) continue;
    const auto place = std::lower_bound(sweep.active.begin(), sweep.active.end(), bit) - sweep.active.begin();
    sweep.active.insert(sweep.active.begin() + place, static_cast<Bit>(bit));
    sweep.store.insert(sweep.store.begin() + place, static_cast<Bit>(bit));
    if (!sweep.reach.empty()) sweep.reach.insert(sweep.reach.begin() + place, bit_mask(bit));
  }
  return sweep;
}

/// Swaps pairs of local bits in one trip over memory. `unborn` as the next sweep finds it.
Sweep swapping_sweep(const std::vector<std::pair<Bit, Bit>>& pairs, std::uint32_t local_bits, std::uint32_t tile_bits,
                     Index unborn) {
  Sweep sweep;
  sweep.unborn = unborn;
  Index active = 0;
  for (const auto& [a, b] : pairs) active |= bit_mask(a) | bit_mask(b);
  for (std::uint32_t bit = 0; bit < local_bits && count_bits(active) < tile_bits; ++bit) {
    if (!test_bit(unborn, bit)) active |= bit_mask(bit);
  }
  for_each_bit(active, [&](unsigned bit) { sweep.active.push_back(static_cast<Bit>(bit)); });
  sweep.store = sweep.active;
  for (Bit& bit : sweep.store) {
    for (const auto& [a, b] : pairs) {
      if (bit == a || bit == b) {
        bit = bit == a ? b : a;
        break;
      }
    }
  }
  return sweep;
}

}  // namespace

Executor::Executor(DistributedState& state, ExchangePipeline& exchanges, bool check_norm)
    : state_(state), exchanges_(exchanges), check_norm_(check_norm) {}

std::size_t Executor::prepare(const Plan& plan, bool sum_bits) {
  PreparedPlan prepared;
  prepared.plan = &plan;
  prepared.played_bits = plan.rank_bits - state_.rank_bits;
  state_.layout.bit_of.reserve(state_.qubits);  // assigned to later, when nothing may be allocated
  prepared.sums_bits = sum_bits && ends_whole(prepared) && state_.backend.abilities().bit_sums != nullptr;
  if (prepared.sums_bits) state_.bit_probabilities.reserve(state_.local_bits() + 1);
  for (const Stage& stage : plan.stages) prepare_stage(prepared, stage);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) choose_chunked(prepared, stage);
  norms_.resize(std::max(norms_.size(), plan.stages.size()));
  plans_.push_back(std::move(prepared));
  return plans_.size() - 1;
}

void Executor::clear_plans() {
  plans_.clear();
  state_.backend.clear_sweeps();
}

bool Executor::ends_whole(const PreparedPlan& prepared) {
  if (prepared.played_bits != 0 || prepared.plan->stages.empty()) return false;
  const Stage& last = prepared.plan->stages.back();
  if (last.sweeps.size() <= (last.exchange ? last.exchange->overlap_after : 0)) return false;
  // Else its bits are not those of memory, or it has no tiles.
  return last.sweeps.back().reach.empty() && !last.sweeps.back().permutes();
}

void Executor::prepare_stage(PreparedPlan& prepared, const Stage& stage) {
  const Plan& plan = *prepared.plan;
  PreparedStage& target = prepared.stages.emplace_back();
  if (stage.exchange) {
    prepare_exchange(target, plan, stage);
    prepared.predicted_seconds += stage.exchange->predicted_seconds;
    ++prepared.steps;
  }
  for (const Sweep& sweep : stage.sweeps) {
    target.sweep_bytes.push_back(swept_bytes(sweep, plan.local_bits(), plan.precision) << prepared.played_bits);
    prepared.predicted_seconds += sweep.predicted_seconds;
    ++prepared.steps;
  }
  const auto played = static_cast<std::uint32_t>(1) << prepared.played_bits;
  for (std::uint32_t part = 0; part < played; ++part) {
    const std::vector<Sweep> sweeps = sweeps_of(prepared, stage, part);
    if (sweeps.empty()) continue;
    const bool sums = prepared.sums_bits && &stage == &plan.stages.back();
    const std::uint32_t handle = state_.backend.prepare(sweeps, sums ? Summing::kBits : Summing::kNo);
    if (part == 0) target.first_handle = handle;
  }
}

std::vector<Sweep> Executor::sweeps_of(const PreparedPlan& prepared, const Stage& stage, std::uint32_t part) const {
  const Plan& plan = *prepared.plan;
  const std::uint32_t rank = static_cast<std::uint32_t>(state_.rank()) << prepared.played_bits | part;
  std::vector<Sweep> sweeps;
  sweeps.reserve(stage.sweeps.size());
  for (const Sweep& sweep : stage.sweeps) {
    sweeps.push_back(widened(specialize(sweep, plan, rank), plan.local_bits(), least_active_bits));
  }
  return sweeps;
}

void Executor::renew(std::size_t number, const Plan& plan) {
  PreparedPlan& prepared = plans_.at(number);
  prepared.plan = &plan;
  SweepRenewal& renewal = *state_.backend.abilities().renewal;
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    std::uint32_t handle = prepared.stages[stage].first_handle;
    for (std::uint32_t part = 0; part < std::uint32_t{1} << prepared.played_bits; ++part) {
      const std::vector<Sweep> sweeps = sweeps_of(prepared, plan.stages[stage], part);
      if (!sweeps.empty()) renewal.renew(handle, sweeps);
      handle += static_cast<std::uint32_t>(sweeps.size());
    }
  }
}

/// The sweeps beside the exchange of stage `number` run in chunks: the backend gets ready for that now. The backend
/// keeps one running total of the norm: where the sweeps before and after both end a stage, the later one has it.
void Executor::choose_chunked(PreparedPlan& prepared, std::size_t number) {
  PreparedStage& stage = prepared.stages[number];
  if (!stage.exchange) return;
  const std::size_t sweeps = stage.sweep_bytes.size();
  for (std::uint32_t i = 0; i < stage.exchange->overlap_after; ++i) {
    stage.after.push_back(
        {stage.first_handle + i, check_norm_ && i + 1 == sweeps, static_cast<std::uint32_t>(number), i});
  }
  const bool ends = !stage.after.empty() && stage.after.back().accumulate_norm;
  for (std::uint32_t left = stage.exchange->overlap_before; left > 0; --left) {
    const PreparedStage& previous = prepared.stages[number - 1];
    const auto i = static_cast<std::uint32_t>(previous.sweep_bytes.size()) - left;
    stage.before.push_back(
        {previous.first_handle + i, check_norm_ && left == 1 && !ends, static_cast<std::uint32_t>(number - 1), i});
  }
  if (!stage.after.empty()) stage.after.front().arrivals = exchanges_.arrival_bits(*stage.exchange);
  for (const auto* chunked : {&stage.before, &stage.after}) {
    for (const ChunkedSweep& sweep : *chunked) {
      state_.backend.expect_chunks(sweep.handle, stage.exchange->chunk_mask, sweep.arrivals);
    }
  }
}

void Executor::prepare_exchange(PreparedStage& target, const Plan& plan, const Stage& stage) {
  if (plan.rank_bits == state_.rank_bits && least_active_bits == 0) {
    target.exchange = stage.exchange;
    return;
  }
  // Whole sweeps: they are chunked by the ranks that are played, and their active bits may no longer leave chunk bits.
  Exchange between = *stage.exchange;
  between.chunk_mask = 0;
  between.overlap_before = between.overlap_after = 0;
  std::vector<std::pair<Bit, Bit>> inside;
  std::erase_if(between.swaps, [&](const std::pair<Bit, Bit>& swap) {
    if (swap.second >= state_.local_bits()) return false;
    inside.push_back(swap);
    return true;
  });
  if (!between.swaps.empty()) target.exchange = between;
  if (inside.empty()) return;
  const Index unborn = stage.sweeps.empty() ? 0 : stage.sweeps.front().unborn & low_mask(plan.local_bits());
  const Sweep sweep = swapping_sweep(inside, state_.local_bits(), std::max(plan.tile_bits, 1u), unborn);
  target.inner_exchange = prepare_sweep(sweep);
  target.inner_bytes = swept_bytes(sweep, state_.local_bits(), plan.precision);
}

std::uint32_t Executor::prepare_sweep(const Sweep& sweep) { return state_.backend.prepare({&sweep, 1}, Summing::kNo); }

void Executor::make_start(const Plan& plan, std::uint64_t start_seed) {
  if (plan.start == Start::kState) {
    if (state_.layout != plan.initial_layout) throw Error("a plan that continues a state starts in another layout");
    return;
  }
  state_.moves.clear();
  state_.layout = plan.initial_layout;
  if (plan.start == Start::kZero) return;  // the plan's first sweep writes it
  const auto rank = static_cast<std::uint32_t>(state_.rank());
  if (start_scale_ == 0 || start_seed != start_scale_seed_) {
    const double guess = std::exp2(-0.5 * (static_cast<double>(state_.qubits) + 1));
    state_.backend.fill_random(plan.initial_layout, rank, start_seed, guess);
    double total = state_.backend.reader().norm();
    state_.communicator.sum({&total, 1});
    if (!(total > 0)) throw Error("the random start state has no probability");
    start_scale_ = guess / std::sqrt(rounded_total(total));
    start_scale_seed_ = start_seed;
  }
  state_.backend.fill_random(plan.initial_layout, rank, start_seed, start_scale_);
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
  seconds_done_ = 0;
  steps_done_ = 0;
  state_.bit_probabilities.clear();
  std::fill(norms_.begin(), norms_.end(), -1.0);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) run_stage(prepared, stage);
  state_.backend.synchronize();
  state_.layout = plan.final_layout;
  if (prepared.sums_bits) {
    state_.bit_probabilities.resize(state_.local_bits() + 1);
    BitSums& sums = *state_.backend.abilities().bit_sums;
    if (!sums.take_bit_probabilities(state_.bit_probabilities)) state_.bit_probabilities.clear();
  }
  counts_.gates_planned += plan.gates;
  counts_.gates_applied += plan.gates_removed;
  if (check_norm_) check_norms(prepared, expected_norm);
}

void Executor::sweep(const PreparedPlan& prepared, std::size_t stage, std::size_t number, bool norm) {
  const PreparedStage& handles = prepared.stages[stage];
  const std::uint32_t plan_bits = prepared.plan->local_bits();
  const Index played = low_mask(prepared.played_bits);
  auto handle = handles.first_handle + static_cast<std::uint32_t>(number);
  const Moment begin = profile != nullptr ? profile->moment(0) : Moment{};
  for (Index part = 0; part <= played; ++part) {
    state_.backend.sweep(handle, {played << plan_bits, part << plan_bits}, 0, norm);
    handle += static_cast<std::uint32_t>(handles.sweep_bytes.size());
  }
  if (profile != nullptr)
    profile->add(Span::Kind::kSweep, static_cast<std::uint32_t>(number), 0, begin, profile->moment(0));
}

void Executor::run_stage(const PreparedPlan& prepared, std::size_t number) {
  const PreparedStage& stage = prepared.stages[number];
  if (profile != nullptr) profile->set_stage(number);
  const std::size_t count = stage.sweep_bytes.size();
  if (stage.exchange) run_exchange(prepared, number);
  if (stage.inner_exchange) run_sweep(*stage.inner_exchange, stage.inner_bytes);
  const bool last_stage = number + 1 == prepared.stages.size();
  const std::size_t end = count - (last_stage ? 0 : prepared.stages[number + 1].before.size());
  for (std::size_t next = stage.after.size(); next < end; ++next) {
    const bool last = check_norm_ && next + 1 == count;
    sweep(prepared, number, next, last);
    if (last) norms_[number] = state_.backend.take_norm();
    count_sweep(prepared, number, next);
  }
}

void Executor::run_exchange(const PreparedPlan& prepared, std::size_t number) {
  const PreparedStage& stage = prepared.stages[number];
  for (const ChunkedSweep& sweep : stage.before) count_sweep(prepared, number - 1, sweep.number);
  exchanges_.run(*stage.exchange, stage.before, stage.after);
  if (!stage.before.empty() && stage.before.back().accumulate_norm) norms_[number - 1] = state_.backend.take_norm();
  if (!stage.after.empty() && stage.after.back().accumulate_norm) norms_[number] = state_.backend.take_norm();
  ++counts_.exchanges;
  step_done(prepared, stage.exchange->predicted_seconds);
  for (const ChunkedSweep& sweep : stage.after) count_sweep(prepared, number, sweep.number);
}

void Executor::count_sweep(const PreparedPlan& prepared, std::size_t stage, std::size_t sweep) {
  const Sweep& done = prepared.plan->stages[stage].sweeps[sweep];
  for (const PlanOp& op : done.ops) counts_.gates_applied += op.gates;
  ++counts_.sweeps;
  counts_.bytes_swept += prepared.stages[stage].sweep_bytes[sweep];
  step_done(prepared, done.predicted_seconds);
}

// What is told may end the run: norms are taken before, so that none is left for the next one.
void Executor::step_done(const PreparedPlan& prepared, double predicted_seconds) {
  seconds_done_ += predicted_seconds;
  ++steps_done_;
  if (!on_progress) return;
  on_progress(prepared.predicted_seconds > 0
                  ? std::min(1.0, seconds_done_ / prepared.predicted_seconds)
                  : static_cast<double>(steps_done_) / static_cast<double>(std::max<std::size_t>(1, prepared.steps)));
}

void Executor::run_sweep(std::uint32_t handle, std::uint64_t bytes, bool norm) {
  const Moment begin = profile != nullptr ? profile->moment(0) : Moment{};
  state_.backend.sweep(handle, {}, 0, norm);
  if (profile != nullptr) profile->add(Span::Kind::kSwap, 0, 0, begin, profile->moment(0));
  ++counts_.sweeps;
  counts_.bytes_swept += bytes;
}

void Executor::add_counts(const ExecutionCounts& others) {
  counts_.gates_planned += others.gates_planned;
  counts_.gates_applied += others.gates_applied;
  counts_.sweeps += others.sweeps;
  counts_.exchanges += others.exchanges;
  counts_.bytes_swept += others.bytes_swept;
  counts_.start_seconds += others.start_seconds;
  if (!others.norm_checked) return;
  counts_.norm_checked = true;
  if (std::abs(others.norm - 1) > std::abs(counts_.norm - 1)) counts_.norm = others.norm;
}

void Executor::check_norms(const PreparedPlan& prepared, double expected_norm) {
  const Plan& plan = *prepared.plan;
  const std::size_t stages = plan.stages.size();
  // A stage is checked on all ranks or on none: they run the same plan. Unchecked ones stay below zero.
  state_.communicator.sum(std::span(norms_).first(stages));
  const double tolerance =
      norm_tolerance(plan.precision, before.gates + plan.gates, before.defect + plan.unitarity_defect);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (norms_[stage] < -0.5) continue;
    counts_.norm = norms_[stage] / expected_norm;
    counts_.norm_checked = true;
    if (std::abs(counts_.norm - 1) <= tolerance) continue;
    throw VerificationError("the probabilities add up to " + format_number(counts_.norm) + " after stage " +
                            std::to_string(stage + 1) + " of " + std::to_string(stages) + " (rounding allows " +
                            format_number(tolerance) + "): the result is wrong and is not shown");
  }
}

}  // namespace qsim
