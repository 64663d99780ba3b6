// A batch from values to answers.
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/numbers/finite.h"
#include "batch/batch_session.h"
#include "batch/program.h"
#include "device/batch/batch_device.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

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
  BatchSession session(program, evaluations, options.target, options.progress);
  result.backend = session.backend();
  const Clock::time_point start = Clock::now();
  if (evaluations > 0) {
    const auto run_on = result.backend == BackendKind::kCuda ? run_batch_on_gpu : run_batch_on_cpu;
    session.run([&](const BackendOptions& device, const BatchWatch& watch) {
      run_on(program, values, evaluations, outputs, device, watch);
    });
  }
  require_finite(std::span<const double>(result.marginals), "a marginal of the batch");
  const auto* const parts = reinterpret_cast<const double*>(result.states.data());
  require_finite(std::span(parts, 2 * result.states.size()), "an amplitude of the batch");
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace qsim
