// Where a circuit runs when the user leaves it open, and what that machine is.
#include "session/choose/choose.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks/communicator.h"
#include "base/text.h"
#include "device/gpu_parts.h"
#include "plan/cost/gpu_pace.h"
#include "plan/cost/machine.h"
#include "plan/program/forecast.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/session.h"
#include "qsim/target.h"
#include "session/choose/registry.h"

namespace qsim {
namespace {

/// Amplitude updates below which the CPU is done before a GPU's driver has started (about 0.3 s).
constexpr double kGpuWorthwhile = 3e8;

/// Seconds that every further GPU of a process takes to start; measured, 0.36 s for one and 0.97 s for four H200s.
constexpr double kAnotherGpu = 0.2;

double amplitude_updates(const Circuit& circuit) {
  return std::exp2(std::min<double>(circuit.qubits(), 1000)) * static_cast<double>(circuit.operation_count() + 1);
}

int power_of_two_at_most(std::size_t count) {
  int power = 1;
  while (static_cast<std::size_t>(power) * 2 <= count) power *= 2;
  return power;
}

/// What each of `count` ranks may use: the least of their GPUs.
std::uint64_t smallest_memory(const GpuSurvey& survey, const Target& target, int count) {
  if (target.max_memory > 0) return target.max_memory;
  std::uint64_t smallest = UINT64_MAX;
  for (int place = 0; place < count; ++place) {
    smallest = std::min(smallest, pick_gpu(survey, target, place).free_bytes);
  }
  return smallest;
}

/// GPUs that may be asked for.
int wanted_gpus(const Target& target) { return std::max(rank_count(target), static_cast<int>(target.gpu_ids.size())); }

/// What is there; a driver that would not be used is not started.
GpuSurvey survey_for(const Target& target, int ranks) { return target.threads > 0 ? GpuSurvey() : survey_gpus(ranks); }

/// An H200 where no GPU can be seen.
Machine gpu_machine_here(const GpuSurvey& survey, const Target& target) {
  return gpu_machine(slowest_gpu(survey, target), survey.devices.empty() ? "" : pick_gpu(survey, target, 0).name);
}

/// Fewest GPUs that hold the state with a tenth to spare, and more of them where the time that they are predicted to
/// save is more than they take to start.
int gpu_count(const Circuit& circuit, const Target& target, PlanOptions plan, const GpuSurvey& survey) {
  const int most = power_of_two_at_most(survey.devices.size());
  const double state = std::exp2(circuit.qubits()) * static_cast<double>(amplitude_bytes(target.precision));
  const auto holds = [&](int count) {
    return state / count <= 0.9 * static_cast<double>(smallest_memory(survey, target, count));
  };
  int fewest = 1;
  while (fewest < most && !holds(fewest)) fewest *= 2;
  if (fewest == most || !circuit.measurements_are_terminal() || circuit.operation_count() > kMostForecastOperations) {
    return fewest;
  }
  Machine machine = gpu_machine_here(survey, target);
  machine.memory_bytes_per_rank = smallest_memory(survey, target, most);
  plan.precision = target.precision;
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(fewest)));
  const auto most_bits = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(most)));
  std::vector<RanksForecast> forecasts = forecast_ranks(circuit, machine, plan, bits, bits);
  // More GPUs cannot save more than all of it.
  if (forecasts.empty() || forecasts.front().seconds < kAnotherGpu) return fewest;
  const std::vector<RanksForecast> more = forecast_ranks(circuit, machine, plan, bits + 1, most_bits);
  forecasts.insert(forecasts.end(), more.begin(), more.end());
  return 1 << first_done(forecasts, kAnotherGpu);
}

}  // namespace

int rank_count(const Target& target) {
  return target.communicator != nullptr ? target.communicator->size() : target.ranks;
}

GpuPace slowest_gpu(const GpuSurvey& survey, const Target& target) {
  std::optional<GpuPace> slowest;
  for (const GpuInfo& gpu : survey.devices) {
    if (!target.gpu_ids.empty() && std::ranges::find(target.gpu_ids, gpu.id) == target.gpu_ids.end()) continue;
    const GpuPace pace = pace_of(gpu.rates);
    slowest = slowest ? slowest->slower_of(pace) : pace;
  }
  return slowest.value_or(GpuPace());
}

std::uint32_t first_done(std::span<const RanksForecast> forecasts, double start_seconds) {
  const RanksForecast* best = nullptr;
  double best_seconds = 0;
  for (const RanksForecast& forecast : forecasts) {
    const double starts = std::exp2(forecast.rank_bits) - std::exp2(forecasts.front().rank_bits);
    const double seconds = forecast.seconds + starts * start_seconds;
    if (!forecast.fits || (best != nullptr && seconds >= best_seconds)) continue;
    best = &forecast;
    best_seconds = seconds;
  }
  return best == nullptr ? forecasts.front().rank_bits : best->rank_bits;
}

const RanksForecast& fastest_ranks(std::span<const RanksForecast> forecasts) {
  constexpr double kClearly = 0.95;  // of the time; predictions are no better
  const RanksForecast& used = forecasts.back();
  const RanksForecast* best = &used;
  for (const RanksForecast& forecast : forecasts) {
    if (forecast.fits && forecast.seconds < best->seconds) best = &forecast;
  }
  return best->seconds < kClearly * used.seconds ? *best : used;
}

std::string fewer_ranks_note(std::span<const RanksForecast> forecasts) {
  const RanksForecast& used = forecasts.back();
  const RanksForecast& best = fastest_ranks(forecasts);
  if (&best == &used) return {};
  const auto count = [](const RanksForecast& forecast) {
    return std::to_string(std::uint64_t{1} << forecast.rank_bits);
  };
  return count(best) + " of the " + count(used) + (best.rank_bits == 0 ? " ranks is faster" : " ranks are faster") +
         ": predicted " + format_seconds(best.seconds) + " instead of " + format_seconds(used.seconds);
}

BackendChoice choose_backend(const Circuit& circuit, const Target& target, const PlanOptions& plan) {
  if (target.backend == BackendKind::kCuda) {
    return {target.backend, "as asked for", target.gpu_ids.empty() ? 1 : static_cast<int>(target.gpu_ids.size())};
  }
  if (target.backend != BackendKind::kAuto) return {target.backend, "as asked for", 0};
  if (too_small_for_a_gpu(circuit)) {
    return {BackendKind::kCpu, "the circuit is too small for a GPU to gain its start-up time", 0};
  }
  const bool open = target.communicator == nullptr && target.gpu_ids.empty();
  const GpuSurvey survey = survey_for(target, open ? 0 : wanted_gpus(target));
  if (const BackendChoice choice = choose_backend(target, survey); choice.backend == BackendKind::kCpu) return choice;
  const int gpus = gpu_count(circuit, target, plan, survey);
  return {BackendKind::kCuda,
          std::to_string(gpus) + " of " + std::to_string(survey.devices.size()) + " GPUs that can be used", gpus};
}

BackendChoice choose_backend(const Target& target) {
  if (target.backend != BackendKind::kAuto) return {target.backend, "as asked for", 0};
  return choose_backend(target, survey_for(target, wanted_gpus(target)));
}

BackendChoice choose_backend(const Target& target, const GpuSurvey& survey) {
  if (target.threads > 0) return {BackendKind::kCpu, "`threads` are those of cores", 0};
  if (survey.devices.empty()) return {BackendKind::kCpu, survey.reason, 0};
  const std::size_t gpus = target.gpu_ids.empty() ? survey.devices.size() : target.gpu_ids.size();
  const bool in_process = target.communicator == nullptr;  // else every rank looks for a GPU of its own
  if (in_process && !target.oversubscribe_gpus && static_cast<std::size_t>(target.ranks) > gpus) {
    return {BackendKind::kCpu,
            std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + " for " + std::to_string(target.ranks) + " ranks",
            0};
  }
  return {BackendKind::kCuda, std::to_string(survey.devices.size()) + " GPUs can be used", 0};
}

bool too_small_for_a_gpu(const Circuit& circuit) { return amplitude_updates(circuit) < kGpuWorthwhile; }

Machine this_machine(const Target& target) {
  if (target.backend == BackendKind::kCuda) {
    const GpuSurvey survey = survey_gpus(wanted_gpus(target));
    Machine machine = gpu_machine_here(survey, target);
    if (target.max_memory > 0 || !survey.devices.empty()) {
      const auto count = std::max<std::size_t>(1, target.gpu_ids.size());
      machine.memory_bytes_per_rank = smallest_memory(survey, target, static_cast<int>(count));
    }
    return machine;
  }
  Machine machine = find_machine("cpu");
  if (target.backend == BackendKind::kNull) machine.kind = BackendKind::kNull;
  machine.threads = static_cast<std::uint32_t>(rank_threads(target.threads, kMaxQubits, 1));
  machine.memory_bytes_per_rank = target.max_memory > 0 ? target.max_memory : host_limits().usable_bytes;
  return machine;
}

}  // namespace qsim
