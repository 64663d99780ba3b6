// What a plan costs: bytes touched and sent, seconds, and memory a rank.
#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/plan.h"
#include "plan/product_lookups.h"
#include "plan/sixteenths.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr std::uint64_t kAlignment = 256;
constexpr std::uint64_t kMiB = 1ull << 20;

// Byte counts of more than 2^59 amplitudes stay at 2^64 - 1: more than any memory, never a small wrong number.
std::uint64_t round_up(std::uint64_t bytes) {
  return saturating_add(bytes, kAlignment - 1) == UINT64_MAX ? UINT64_MAX
                                                             : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The ring takes at most a quarter of the shard, so that only small shards have chunks below the size at which links
// reach their rate. On a GPU, where memory is no matter then, chunks are not so small that the host's work for a trade
// outlasts it; tiny shards still get a slot that holds something.
std::uint64_t chunk_size(std::uint64_t state_bytes, const Machine& machine) {
  const std::uint64_t share = state_bytes / 4 / std::max(1u, machine.chunk_slots);
  std::uint64_t least = std::min<std::uint64_t>(4096, std::max<std::uint64_t>(state_bytes, 32));
  if (machine.kind == BackendKind::kCuda) least = std::max(least, std::min(4 * kMiB, state_bytes / 4));
  return std::clamp(std::bit_floor(share), least, std::max(machine.chunk_bytes, least));
}

std::uint64_t table_size(const Plan& plan, const Machine& machine) {
  if (machine.kind == BackendKind::kCuda) {
    // Tables by thread number and matrices, twice for sweeps that run in chunks; where a long plan's do not all fit,
    // they take turns, which costs waits beside exchanges.
    std::uint64_t sweeps = 0;
    for (const Stage& stage : plan.stages) sweeps += stage.sweeps.size();
    return std::clamp(sweeps * (plan.rank_bits > 0 ? 512 : 256) * 1024, 4 * kMiB, 64 * kMiB);
  }
  std::uint64_t bytes = 0;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      bytes += 1024 + 128 * sweep.ops.size() + 32 * sweep.phases.size() + 32 * sweep.births.size();
      bytes += 2 * amplitude_bytes(plan.precision) * sweep.matrices.size();
    }
  }
  return bytes;
}

std::uint64_t scratch_size(const Plan& plan, std::uint64_t state_bytes, const Machine& machine) {
  switch (machine.kind) {
    case BackendKind::kCpu: {
      const std::uint32_t tile_bits = std::min(std::max(machine.max_tile_bits, plan.tile_bits), plan.local_bits());
      const std::uint64_t tile = (std::uint64_t{1} << tile_bits) * amplitude_bytes(plan.precision);
      return machine.threads * (2 * tile + 64 * 1024);
    }
    // Reductions and sampling: enough blocks' results for a large state, little beside a small one.
    case BackendKind::kCuda:
      return std::clamp(state_bytes / 32, 17 * kMiB, 256 * kMiB);
    case BackendKind::kNull:
    case BackendKind::kAuto:
      return 0;
  }
  throw Error("unknown backend kind");
}

// Of what is done where so many bits have their values: two are asked for in a step.
std::uint64_t steps_under(int conditions) {
  return conditions < 2 ? 1 : static_cast<std::uint64_t>(conditions + 1) / 2;
}

// Sets what sweeps that permute take.
void add_spare(PoolLayout& layout, const Plan& plan, const Machine& machine) {
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      if (!sweep.permutes()) continue;
      if (sweep.gathers()) {
        const bool whole = is_one_bundle(sweep, plan.local_bits());
        std::uint64_t bytes = state_bytes(plan.precision, static_cast<std::uint32_t>(popcount(sweep.bundle)));
        if (machine.kind == BackendKind::kCpu && popcount(sweep.bundle) <= kOwnBundleBits) bytes *= machine.threads;
        layout.spare_bytes = std::max(layout.spare_bytes, whole ? layout.state_bytes : bytes);
      }
      if (machine.kind != BackendKind::kCuda) continue;
      std::uint64_t steps = 3;  // they come in fours
      for (const PlanOp& op : sweep.ops) steps += permutation_steps(op, terms_of(sweep, op));
      std::uint64_t bytes = steps * sizeof(std::uint32_t);
      if (!sweep.reads) bytes += product_lookups(sweep).entries() * amplitude_bytes(plan.precision) + 16;
      layout.step_bytes = std::max(layout.step_bytes, bytes);
    }
  }
}

}  // namespace

std::uint64_t permutation_steps(const PlanOp& op, std::span<const PhaseTerm> terms) {
  if (op.form == Form::kFlip) return steps_under(popcount(op.control_mask));
  std::uint64_t steps = 0;
  for (const PhaseTerm& term : terms) {
    if (is_of_all(op, term)) continue;
    const Index others = term.mask & ~op.control_mask;
    // The bits of a parity are flipped together in one of them, and back.
    const int together = term.parity && others != 0 ? popcount(others) - 1 : 0;
    steps += 2 * static_cast<std::uint64_t>(together) + steps_under(popcount(term.mask | op.control_mask) - together);
  }
  return steps;
}

std::uint64_t PoolLayout::total_bytes() const {
  std::uint64_t total = saturating_multiply(round_up(chunk_bytes), chunk_slots);
  for (const std::uint64_t item : {state_bytes, snapshot_bytes, table_bytes, scratch_bytes, spare_bytes, step_bytes}) {
    total = saturating_add(total, round_up(item));
  }
  return total;
}

PlanWork plan_work(const Plan& plan) {
  PlanWork work;
  const std::uint64_t bytes = amplitude_bytes(plan.precision);
  for (const Stage& stage : plan.stages) {
    if (stage.exchange) {
      const Exchange& exchange = *stage.exchange;
      ++work.exchanges;
      work.bytes_exchanged_per_rank = saturating_add(
          work.bytes_exchanged_per_rank, saturating_multiply(bytes, exchanged_amplitudes(exchange, plan.local_bits())));
      work.exchange_seconds += exchange.predicted_seconds;
      work.total_seconds += exchange.predicted_added_seconds;
    }
    for (const Sweep& sweep : stage.sweeps) {
      ++work.sweeps;
      work.bytes_swept_per_rank =
          saturating_add(work.bytes_swept_per_rank, swept_bytes(sweep, plan.local_bits(), plan.precision));
      work.sweep_seconds += sweep.predicted_seconds;
    }
  }
  work.total_seconds += work.sweep_seconds;
  return work;
}

PoolLayout pool_layout(const Plan& plan, const Machine& machine) {
  PoolLayout layout;
  layout.state_bytes = state_bytes(plan.precision, plan.local_bits());
  if (plan.rank_bits > 0) {
    layout.chunk_bytes = chunk_size(layout.state_bytes, machine);
    layout.chunk_slots = machine.chunk_slots;
  }
  layout.table_bytes = table_size(plan, machine);
  layout.scratch_bytes = scratch_size(plan, layout.state_bytes, machine);
  add_spare(layout, plan, machine);
  return layout;
}

std::uint32_t largest_qubits(const Machine& machine, Precision precision, std::uint32_t rank_bits) {
  std::uint32_t largest = 0;
  for (std::uint32_t qubits = rank_bits; qubits <= static_cast<std::uint32_t>(kMaxQubits); ++qubits) {
    Plan plan;
    plan.qubits = qubits;
    plan.rank_bits = rank_bits;
    plan.precision = precision;
    plan.tile_bits = std::min(machine.max_tile_bits, plan.local_bits());
    PoolLayout layout = pool_layout(plan, machine);
    layout.table_bytes += kMiB;  // room for an ordinary circuit's sweeps
    if (machine.memory_bytes_per_rank > 0 && layout.total_bytes() > machine.memory_bytes_per_rank) break;
    largest = qubits;
  }
  return largest;
}

}  // namespace qsim
