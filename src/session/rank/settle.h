// A target with every choice made, as one rank of it sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ranks/communicator.h"
#include "device/gpu_parts.h"
#include "plan/cost/machine.h"
#include "qsim/target.h"
#include "session/choose/choose.h"
#include "session/rank/capacity.h"

namespace qsim {

struct Settled {
  Target target;       // as it was given, but for the backend, which is chosen
  std::string reason;  // why this backend, one line
  Machine machine;
  std::optional<GpuInfo> gpu;  // of this rank, where it runs on one
  std::uint32_t rank_bits = 0;
  std::uint64_t ranks_of_host = 1;
  RanksMemory memory;
  std::uint32_t least_active_bits = 0;  // as Executor has it

  /// Threads of a rank for shards of 2^local_bits.
  int threads(std::uint32_t local_bits, const Communicator& communicator) const;
  /// For a backend of this rank with so many threads.
  BackendOptions backend_options(int of_threads) const;
  /// Whether `needed_bytes` a rank fit, for a state of `qubits` qubits; of the rank that has least.
  CapacityQuestion capacity_question(std::uint32_t qubits, std::uint64_t needed_bytes) const;
};

/// Chooses, on ranks of hosts that may differ, alike: a GPU only where all of them have one. `choose` says what this
/// rank would take. Collective; the same errors on every rank: UsageError for what would have no effect, DeviceError,
/// FileError.
Settled settle(const Target& target, Communicator& communicator, const std::function<BackendChoice()>& choose);
/// The same for circuits that are not known yet.
Settled settle_for_any(const Target& target, Communicator& communicator);
/// UsageError unless that many ranks can share a state: a power of two.
void require_rank_count(int ranks);

}  // namespace qsim
