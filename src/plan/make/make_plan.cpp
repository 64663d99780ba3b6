// Dispatch to the planners.
#include "plan/make/make_plan.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/layout.h"
#include "circuit/circuit_analysis.h"
#include "optimizer/open/open_form.h"
#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/planners.h"
#include "plan/once.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

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
    case Strategy::kGreedy: {
      // Packed in order, turns of pairs and around CX gates are as a rule cheaper as they are written.
      PlanOptions written = options;
      for (const char* const pass : {"recognise_exchanges", "join_controlled"}) {
        written.disabled_passes.emplace_back(pass);
      }
      Optimizer optimizer(circuit, options.knows_zero());
      return greedy_plan(lower_optimized(optimizer, written.disabled_passes), machine, written);
    }
    case Strategy::kSearch:
      return search_plan(circuit, machine, options);
  }
  throw Error("unknown planner strategy " + std::to_string(static_cast<int>(options.strategy)));
}

Plan checked(Plan plan, const Circuit& circuit) {
  plan.unitarity_defect = unitarity_defect(circuit);
  verify_plan(plan);
  return plan;
}

}  // namespace

Plan make_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  return checked(dispatch(circuit, machine, options), circuit);
}

std::optional<Plan> quick_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  const bool free = options.strategy == Strategy::kSearch && !options.tile_bits && options.disabled_passes.empty();
  const bool fits = circuit.qubits() <= kMostOnceBits && circuit.operations().size() <= kMostOnceOperations;
  if (!free || !fits || options.rank_bits != 0) return std::nullopt;
  PlanOptions whole = options;
  whole.tile_bits = circuit.qubits();
  Plan plan = written_plan(circuit, machine, whole);
  // A gate may be written as several operations.
  const auto is_short = [](const Sweep& sweep) { return sweep.ops.size() <= kMostOnceOperations; };
  if (!std::ranges::all_of(plan.stages.back().sweeps, is_short)) return std::nullopt;
  constexpr double kTranslated = 2;  // a plan that is looked for has to be translated too, which takes as long again
  if (plan_work(plan).total_seconds > kTranslated * planning_seconds(circuit)) return std::nullopt;
  return checked(std::move(plan), circuit);
}

double planning_seconds(const Circuit& circuit) {
  // Larger states are searched twice.
  const double an_operation = circuit.qubits() < kManyQubits ? 6e-6 : 20e-6;
  return an_operation * static_cast<double>(circuit.operations().size());
}

Plan make_open_plan(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point,
                    const Machine& machine, const PlanOptions& options) {
  check_options(circuit, options);
  const Rewritten form = open_form(circuit, angles, point);
  return checked(search_plan(circuit, machine, options, &form), circuit);
}

}  // namespace qsim
