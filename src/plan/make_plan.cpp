// Dispatch to the planners, and programs for dynamic circuits.
#include <algorithm>

#include "plan/planners.h"
#include "plan/search/search.h"
#include "qsim/error.h"
#include "qsim/plan.h"

namespace qsim {
namespace {

void check_options(const Circuit& circuit, const PlanOptions& options) {
  const std::uint32_t qubits = circuit.qubits();
  if (qubits > static_cast<std::uint32_t>(kMaxQubits)) {
    throw CapacityError(std::to_string(qubits) + " qubits: an amplitude index holds at most " +
                            std::to_string(kMaxQubits) + "; use fewer qubits",
                        0, 0);
  }
  if (options.rank_bits > qubits) {
    throw UsageError("2^" + std::to_string(options.rank_bits) + " ranks for 2^" + std::to_string(qubits) +
                         " amplitudes: a rank needs at least one",
                     "use at most 2^" + std::to_string(qubits) + " ranks");
  }
  if (options.initial_layout) {
    std::vector<Bit> bits = options.initial_layout->bit_of;
    std::sort(bits.begin(), bits.end());
    if (bits != Layout::identity(static_cast<int>(qubits)).bit_of) {
      throw Error("PlanOptions::initial_layout is not a permutation of " + std::to_string(qubits) + " bits");
    }
  }
}

Plan dispatch(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  switch (options.strategy) {
    case Strategy::kNaive:
      return naive_plan(circuit, machine, options);
    case Strategy::kGreedy:
      return greedy_plan(circuit, machine, options);
    case Strategy::kSearch:
      return search_plan(circuit, machine, options);
  }
  throw Error("unknown planner strategy " + std::to_string(static_cast<int>(options.strategy)));
}

}  // namespace

Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  Plan plan = dispatch(circuit, machine, options);
  verify_plan(plan);
  return plan;
}

}  // namespace qsim
