// A batch from values to answers.
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/numbers/finite.h"
#include "batch/program.h"
#include "device/gpu_parts.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Amplitude updates below which the CPU is done before a GPU's driver has started.
constexpr double kGpuWorthwhile = 1e9;

}  // namespace

BackendKind choose_batch_backend(const BatchProgram& program, std::size_t evaluations, const Target& target) {
  if (target.backend == BackendKind::kNull) throw UsageError("a batch runs on a CPU or a GPU");
  if (target.ranks != 1 || target.communicator != nullptr || target.gpu_ids.size() > 1) {
    throw UsageError("a batch runs on one device: each of several ranks can take a part of its values");
  }
  if (target.backend != BackendKind::kAuto) return target.backend;
  const double updates = static_cast<double>(program.ops.size() + 1) * static_cast<double>(evaluations) *
                         static_cast<double>(std::size_t{1} << program.qubits);
  return updates > kGpuWorthwhile && !survey_gpus(1).devices.empty() ? BackendKind::kCuda : BackendKind::kCpu;
}

std::size_t count_evaluations(const Circuit& circuit, std::span<const double> values, std::size_t evaluations) {
  const std::size_t parameters = circuit.parameters().size();
  if (parameters == 0) {
    if (!values.empty()) throw UsageError("values for a circuit without parameters");
    return evaluations == 0 ? 1 : evaluations;
  }
  if (values.size() % parameters != 0 || (evaluations != 0 && evaluations != values.size() / parameters)) {
    throw UsageError(std::to_string(values.size()) + " values are no whole number of sets for " +
                     std::to_string(parameters) + " parameters");
  }
  return values.size() / parameters;
}

BatchResult run_batch(const Circuit& circuit, std::span<const double> values, const BatchOptions& options,
                      std::size_t evaluations) {
  evaluations = count_evaluations(circuit, values, evaluations);
  const BatchProgram program = make_batch_program(circuit, options.states);
  BatchResult result;
  result.qubits = circuit.qubits();
  result.evaluations = evaluations;
  if (options.marginals) result.marginals.resize(evaluations * circuit.qubits());
  result.outcomes.resize(evaluations * options.shots);
  if (options.states) result.states.resize(evaluations << circuit.qubits());
  const BatchOutputs outputs{result.marginals, result.outcomes, result.states, options.shots, options.seed};
  result.backend = choose_batch_backend(program, evaluations, options.target);
  const Clock::time_point start = Clock::now();
  BatchWatch watch;
  if (options.progress) {
    watch = [&options, pace = ProgressPace()](double fraction) mutable {
      if (const auto left = pace.left(fraction)) options.progress({fraction, *left});
    };
  }
  if (evaluations > 0) {
    if (result.backend == BackendKind::kCuda) {
      run_batch_on_gpu(program, values, evaluations, outputs, options.target, watch);
    } else {
      run_batch_on_cpu(program, values, evaluations, outputs, options.target, watch);
    }
  }
  require_finite(std::span<const double>(result.marginals), "a marginal of the batch");
  const auto* const parts = reinterpret_cast<const double*>(result.states.data());
  require_finite(std::span(parts, 2 * result.states.size()), "an amplitude of the batch");
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace qsim
