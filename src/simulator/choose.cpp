// Where a circuit runs when the user leaves it open, and what that machine is.
#include <algorithm>
#include <cmath>
#include <string>

#include "device/gpu_parts.h"
#include "qsim/error.h"
#include "qsim/simulator.h"
#include "simulator/registry.h"

namespace qsim {
namespace {

/// Amplitude updates below which the CPU is done before a GPU's driver has started (about 0.3 s).
constexpr double kGpuWorthwhile = 3e8;

double amplitude_updates(const Circuit& circuit) {
  return std::exp2(std::min<double>(circuit.qubits(), 1000)) * static_cast<double>(circuit.operation_count() + 1);
}

int power_of_two_at_most(std::size_t count) {
  int power = 1;
  while (static_cast<std::size_t>(power) * 2 <= count) power *= 2;
  return power;
}

/// Fewest GPUs that hold the state with a tenth to spare; all usable ones when the state is large enough to gain.
int gpu_count(const Circuit& circuit, const RunOptions& options, const GpuSurvey& survey) {
  const int most = power_of_two_at_most(survey.devices.size());
  const double state = std::exp2(circuit.qubits()) * static_cast<double>(amplitude_bytes(options.precision));
  if (circuit.qubits() >= 26) return most;
  double smallest = static_cast<double>(survey.devices.front().free_bytes);
  for (const GpuInfo& gpu : survey.devices) smallest = std::min(smallest, static_cast<double>(gpu.free_bytes));
  int count = 1;
  while (count < most && state / count > 0.9 * smallest) count *= 2;
  return count;
}

}  // namespace

BackendChoice choose_backend(const Circuit& circuit, const RunOptions& options) {
  if (options.backend == "cpu" || options.backend == "null") return {options.backend, "as asked for", 0};
  if (options.backend == "cuda") {
    return {"cuda", "as asked for", options.gpu_ids.empty() ? 1 : static_cast<int>(options.gpu_ids.size())};
  }
  if (options.backend != "auto") {
    throw UsageError("unknown backend \"" + options.backend + "\": auto, cpu, cuda or null");
  }
  if (amplitude_updates(circuit) < kGpuWorthwhile) {
    return {"cpu", "the circuit is too small for a GPU to gain its start-up time", 0};
  }
  const GpuSurvey survey = survey_gpus();
  if (survey.devices.empty()) return {"cpu", survey.reason, 0};
  const int gpus = gpu_count(circuit, options, survey);
  return {"cuda", std::to_string(gpus) + " of " + std::to_string(survey.devices.size()) + " GPUs that can be used",
          gpus};
}

Machine this_machine(const RunOptions& options) {
  if (options.backend == "cuda") {
    Machine machine = find_machine("h200");
    const GpuSurvey survey = survey_gpus();
    if (!survey.devices.empty()) machine.memory_bytes_per_rank = survey.devices.front().free_bytes;
    if (options.max_memory > 0) machine.memory_bytes_per_rank = options.max_memory;
    return machine;
  }
  Machine machine = find_machine("cpu");
  if (options.backend == "null") machine.kind = BackendKind::kNull;
  machine.threads = static_cast<std::uint32_t>(rank_threads(options.threads, kMaxQubits, 1));
  machine.memory_bytes_per_rank = options.max_memory > 0 ? options.max_memory : host_limits().usable_bytes;
  return machine;
}

}  // namespace qsim
