// The cost model: memory traffic, arithmetic by form, regroups and links.
#include "plan/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "plan/lower/matrix_forms.h"

namespace qsim {
namespace {

std::uint64_t pow2(std::uint32_t exponent) { return std::uint64_t{1} << exponent; }

// Nanoseconds a million amplitudes of one dense matrix, by what is special about it.
double matrix_cost(const PlanOp& op, const Sweep& sweep, const CostTable& cost) {
  if (op.target_count > 1) return cost.matrix_dense[op.target_count];
  const Complex* m = sweep.matrices.data() + op.data_begin;
  const bool real = std::all_of(m, m + 4, [](const Complex& entry) { return entry.imag() == 0; });
  const double size = std::abs(m[0]);
  const bool even =
      std::all_of(m, m + 4, [&](const Complex& entry) { return std::abs(std::abs(entry) - size) < 1e-15; });
  if (real && even) return cost.butterfly;
  return real ? cost.matrix1_real : cost.matrix1_general;
}

// Arithmetic of a sweep's operations: nanoseconds a million amplitudes.
double arithmetic(const Sweep& sweep, const CostTable& cost, std::uint32_t register_bits) {
  double total = 0;
  Index held = 0;  // bits in registers since the last regroup
  for (const PlanOp& op : sweep.ops) {
    Index targets = 0;
    for (std::size_t j = 0; j < op.target_count; ++j) targets |= pow2(op.targets[j]);
    if (static_cast<std::uint32_t>(std::popcount(held | targets)) > register_bits) {
      total += cost.regroup;
      held = 0;
    }
    held |= targets;
    // A control inside the tile leaves the other half alone, but the lanes wait; outside it whole tiles are skipped.
    const double share = op.control_mask == 0 ? 1 : 0.75;
    switch (op.form) {
      case Form::kMatrix:
        total += share * matrix_cost(op, sweep, cost);
        break;
      case Form::kFlip:
        total += cost.flip;
        break;
      case Form::kPhases:
        total += cost.phases + cost.phase_term * op.data_count;
        break;
    }
  }
  return total;
}

}  // namespace

SweepTraffic sweep_traffic(const Sweep& sweep, std::uint32_t local_bits) {
  Index births = 0;
  for (const Birth& birth : sweep.births) births |= pow2(birth.bit);
  const auto before = local_bits - static_cast<std::uint32_t>(std::popcount(sweep.unborn));
  const auto after = before + static_cast<std::uint32_t>(std::popcount(births));
  return {sweep.reads ? pow2(before) : 0, pow2(after)};
}

std::uint64_t exchanged_amplitudes(std::uint32_t bits, std::uint32_t local_bits) {
  return pow2(local_bits) - pow2(local_bits - bits);
}

double sweep_seconds(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine) {
  const CostTable& cost = machine.cost(precision);
  const SweepTraffic traffic = sweep_traffic(sweep, local_bits);
  const auto bytes = static_cast<double>(amplitude_bytes(precision));
  std::size_t run = 0;  // lowest bits that are active
  while (run < 3 && run < sweep.active.size() && sweep.active[run] == run) ++run;
  double memory = static_cast<double>(traffic.amplitudes_written) * bytes / cost.write_bytes_per_second;
  memory += static_cast<double>(traffic.amplitudes_read) * bytes / cost.read_bytes_per_second;
  if (local_bits >= 3) memory *= cost.narrow_run_factor[run];
  const double work =
      arithmetic(sweep, cost, machine.register_bits) * 1e-15 * static_cast<double>(traffic.amplitudes_written);
  // A GPU computes while it waits for memory; a core does one after the other.
  const bool hides = machine.kind != BackendKind::kCpu;
  return cost.sweep_overhead + (hides ? std::max(memory, work) : memory + work);
}

double exchange_seconds(std::uint64_t amplitudes, Precision precision, const Machine& machine) {
  const CostTable& cost = machine.cost(precision);
  const auto bytes = static_cast<double>(amplitudes * amplitude_bytes(precision));
  return cost.exchange_overhead + bytes / cost.link_bytes_per_second;
}

void predict(Plan& plan, const Machine& machine) {
  for (Stage& stage : plan.stages) {
    if (stage.exchange) {
      const auto bits = static_cast<std::uint32_t>(stage.exchange->swaps.size());
      const std::uint64_t amplitudes = exchanged_amplitudes(bits, plan.local_bits());
      stage.exchange->predicted_seconds = exchange_seconds(amplitudes, plan.precision, machine);
    }
    for (Sweep& sweep : stage.sweeps) {
      sweep.predicted_seconds = sweep_seconds(sweep, plan.local_bits(), plan.precision, machine);
    }
  }
}

}  // namespace qsim
