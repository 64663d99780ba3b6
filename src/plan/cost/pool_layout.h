// What a run takes of a device's memory.
#pragma once

#include <cstdint>
#include <span>

#include "plan/cost/machine.h"
#include "plan/plan.h"

namespace qsim {

/// Bytes a rank allocates, item by item: the same function predicts (qsim plan) and sizes the pool (backends).
struct PoolLayout {
  std::uint64_t state_bytes = 0;     // the shard
  std::uint64_t snapshot_bytes = 0;  // saved states for branching runs
  std::uint64_t chunk_bytes = 0;     // one slot of the exchange ring
  std::uint32_t chunk_slots = 0;
  std::uint64_t table_bytes = 0;    // sweep programs
  std::uint64_t scratch_bytes = 0;  // reductions, sampling, tiles of the threads
  std::uint64_t spare_bytes = 0;    // of sweeps that permute: a bundle of places, or the shard
  std::uint64_t step_bytes = 0;     // of these sweeps' programs and tables, on a device
  /// Sum of all items, each rounded up to 256 bytes.
  std::uint64_t total_bytes() const;
  friend bool operator==(const PoolLayout&, const PoolLayout&) = default;
};

/// Bundles of no more bits (Sweep::bundle) are each moved by one thread of a processor, where there is memory for all.
constexpr int kOwnBundleBits = 16;
/// A GPU's program of more steps has no kernel of its own: that would be compiled for longer than it runs.
constexpr std::uint64_t kMostCompiledSteps = 8000;

/// Steps of a device's program for an operation of a sweep that permutes, of these terms where it is diagonal.
std::uint64_t permutation_steps(const PlanOp& op, std::span<const PhaseTerm> terms);

/// Memory a rank of `plan` on `machine`.
PoolLayout pool_layout(const Plan& plan, const Machine& machine);
/// Largest number of qubits whose plan would fit `machine` with 2^rank_bits ranks.
std::uint32_t largest_qubits(const Machine& machine, Precision precision, std::uint32_t rank_bits);

}  // namespace qsim
