// A flag without effect is an error, and so is a request that this kind of circuit cannot answer.
#include "simulator/settings.h"

#include <string>

#include "base/philox.h"
#include "plan/cost/state_bytes.h"
#include "qsim/error.h"
#include "runtime/answer/read_outs.h"
#include "session/choose/choose.h"
#include "session/rank/settle.h"

namespace qsim {
namespace {

void check_ranks(const Circuit& circuit, int ranks) {
  require_rank_count(ranks);
  const auto count = static_cast<std::uint64_t>(ranks);
  if (circuit.qubits() < 64 && count > (std::uint64_t{1} << circuit.qubits())) {
    throw UsageError(std::to_string(ranks) + " ranks for " + std::to_string(std::uint64_t{1} << circuit.qubits()) +
                         " amplitudes: a rank needs at least one",
                     "use at most " + std::to_string(std::uint64_t{1} << circuit.qubits()) + " ranks");
  }
}

}  // namespace

ReadOuts read_outs_of(const RunOptions& options) {
  ReadOuts asked;
  asked.start_seed = options.start_seed;
  asked.distribution = options.distribution;
  asked.marginals = options.marginals;
  asked.max_iterations = options.max_iterations;
  asked.probabilities = options.probabilities;
  asked.expectation = options.expectation;
  asked.amplitudes = options.amplitudes_requested || options.top > 0 || !options.amplitude_indices.empty();
  asked.indices = options.amplitude_indices;
  asked.top = options.top;
  asked.statevector = options.statevector_path;
  return asked;
}

PlanOptions plan_options(const RunOptions& options, std::uint32_t rank_bits) {
  PlanOptions plan;
  plan.rank_bits = rank_bits;
  plan.precision = options.precision;
  plan.start = options.start;
  plan.known_zeros = options.known_zeros;
  plan.tile_bits = options.tile_bits;
  plan.strategy = options.strategy;
  return plan;
}

BackendChoice choose_backend(const Circuit& circuit, const RunOptions& options) {
  return choose_backend(circuit, static_cast<const Target&>(options), plan_options(options, 0));
}

Settings check_settings(const Circuit& circuit, const RunOptions& options, int ranks) {
  require_addressable(circuit.qubits());
  check_ranks(circuit, ranks);
  if (!circuit.parameters().empty()) {
    throw UsageError("the circuit has open parameters: bind values to them first");
  }
  if (options.repeats == 0) throw UsageError("at least one repeat is needed: repeats is 0");
  Settings settings;
  settings.asked = read_outs_of(options);
  std::uint64_t& shots = settings.asked.shots;
  const bool measures = circuit.measures();
  if (!measures && options.shots.value_or(0) > 0) {
    throw UsageError("`shots` " + std::to_string(*options.shots) + " has no effect: the circuit measures nothing");
  }
  shots = options.shots.value_or(measures ? 1024 : 0);
  constexpr std::uint64_t kMaxShots = 1'000'000'000'000;  // hours of drawing
  if (shots > kMaxShots) {
    throw UsageError("`shots` " + std::to_string(shots) + " are too many: at most " + std::to_string(kMaxShots));
  }
  if (options.distribution && circuit.clbits() == 0 && result_variables(circuit).empty()) {
    throw UsageError("`distribution` has no effect: the circuit has no classical bits");
  }
  require_read_outs(settings.asked, circuit);
  if (ranks == 1 && options.exchange != ExchangeKind::kAuto) {
    throw UsageError("`exchange` has no effect: there is one rank, so nothing is exchanged");
  }
  settings.seed_given = options.seed.has_value();
  settings.asked.seed = options.seed ? *options.seed : draw_seed();
  return settings;
}

bool has_loops(const Circuit& circuit) {
  if (circuit.control() == nullptr) return false;
  const std::vector<FlowStep>& steps = circuit.control()->steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (jumps(steps[i]) && steps[i].b <= i) return true;
  }
  return false;
}

bool has_variables(const Circuit& circuit) { return !result_variables(circuit).empty(); }

}  // namespace qsim
