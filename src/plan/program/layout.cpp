#include "plan/program/layout.h"

#include <algorithm>

#include "plan/plan.h"

namespace qsim {
namespace {

// Rounds up like the pool does with its items.
constexpr std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

PoolLayout program_layout(const PlannedCircuit& program, const Machine& machine, std::uint32_t rank_bits) {
  PoolLayout all;
  for (const Plan& plan : program.plans) {
    Plan sized;
    sized.qubits = plan.qubits;
    sized.rank_bits = rank_bits;
    sized.tile_bits = plan.tile_bits;
    sized.precision = plan.precision;
    PoolLayout one = pool_layout(plan.rank_bits == rank_bits ? plan : sized, machine);
    one.table_bytes = pool_layout(plan, machine).table_bytes << (plan.rank_bits - rank_bits);
    all = joined(all, one);
  }
  // The tables of projections: one of a measurement and one of a reset for each bit, however often they run.
  const std::uint64_t bits = program.plans.empty() ? 0 : program.plans.front().qubits;
  all.table_bytes += std::min(program.collapses(), 2 * bits) * 64 * 1024;
  return all;
}

PoolLayout joined(PoolLayout first, const PoolLayout& second) {
  first.state_bytes = std::max(first.state_bytes, second.state_bytes);
  first.snapshot_bytes = std::max(first.snapshot_bytes, second.snapshot_bytes);
  first.chunk_bytes = std::max(first.chunk_bytes, second.chunk_bytes);
  first.chunk_slots = std::max(first.chunk_slots, second.chunk_slots);
  first.table_bytes += rounded(second.table_bytes);
  first.scratch_bytes = std::max(first.scratch_bytes, second.scratch_bytes);
  first.spare_bytes = std::max(first.spare_bytes, second.spare_bytes);
  first.step_bytes = std::max(first.step_bytes, second.step_bytes);
  return first;
}

}  // namespace qsim
