// Where a circuit runs when the user leaves it open, and how many ranks are worth their start.
#pragma once

#include <span>
#include <string>

#include "device/gpu_parts.h"
#include "plan/cost/gpu_pace.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/program/forecast.h"
#include "qsim/circuit.h"

namespace qsim {

/// How many share the target's states.
int rank_count(const Target& target);

/// What `auto` means here, with the reason.
struct BackendChoice {
  BackendKind backend = BackendKind::kAuto;
  std::string reason;
  int gpus = 0;
};
/// For a circuit, planned with `plan`: makes no device call when it is too small to gain.
BackendChoice choose_backend(const Circuit& circuit, const Target& target, const PlanOptions& plan);
/// For circuits that are not known yet: GPUs where there are enough for the ranks and nothing asks for cores.
BackendChoice choose_backend(const Target& target);
/// The same of what was found; the target's backend is `auto`.
BackendChoice choose_backend(const Target& target, const GpuSurvey& survey);

/// The pace of the slowest GPU that the target may use; an H200's where there is none.
GpuPace slowest_gpu(const GpuSurvey& survey, const Target& target);
/// The machine that runs on `target` would use.
Machine this_machine(const Target& target);

/// The number of ranks that is done first, as rank bits, where each beyond the first forecast's takes `start_seconds`
/// to start; the first forecast's where none fits.
std::uint32_t first_done(std::span<const RanksForecast> forecasts, double start_seconds);

/// The fastest that fit, of forecasts for rising numbers of ranks; the last where none is clearly faster.
const RanksForecast& fastest_ranks(std::span<const RanksForecast> forecasts);
/// Says that fewer ranks than the last forecast's are faster, and how many; empty where they are not.
std::string fewer_ranks_note(std::span<const RanksForecast> forecasts);

}  // namespace qsim
