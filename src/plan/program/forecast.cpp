// The same circuit planned for other numbers of ranks.
#include "plan/program/forecast.h"

#include <algorithm>

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim {

std::uint32_t needed_local_bits(const Circuit& circuit) {
  std::uint32_t needed = 1;
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kUnitary || op.kind == OpKind::kGate ||
        (op.kind == OpKind::kPauliRotation && is_one_matrix(circuit.letters(op)))) {
      needed = std::max(needed, static_cast<std::uint32_t>(op.targets));
    }
  }
  return needed;
}

std::vector<RanksForecast> forecast_ranks(const Circuit& circuit, const Machine& machine, PlanOptions options,
                                          std::uint32_t least_rank_bits, std::uint32_t most_rank_bits) {
  options.trace = false;
  std::vector<RanksForecast> forecasts;
  const std::uint32_t needed = needed_local_bits(circuit);
  for (options.rank_bits = least_rank_bits; options.rank_bits <= most_rank_bits; ++options.rank_bits) {
    if (circuit.qubits() < options.rank_bits + needed) break;
    const Plan plan = make_plan(circuit, machine, options);
    const PlanWork work = plan_work(plan);
    RanksForecast& forecast = forecasts.emplace_back();
    forecast.rank_bits = options.rank_bits;
    forecast.seconds = work.total_seconds;
    forecast.sweeps = work.sweeps;
    forecast.exchanges = work.exchanges;
    forecast.memory_bytes_per_rank = pool_layout(plan, machine).total_bytes();
    forecast.fits =
        machine.memory_bytes_per_rank == 0 || forecast.memory_bytes_per_rank <= machine.memory_bytes_per_rank;
  }
  return forecasts;
}

}  // namespace qsim
