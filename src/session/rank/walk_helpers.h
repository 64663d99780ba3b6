// Threads for branches that are walked side by side: each has a small rank of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/threads/thread_team.h"
#include "plan/cost/pool_layout.h"
#include "plan/program/planned_circuit.h"
#include "qsim/target.h"
#include "runtime/branch/front_walk.h"
#include "session/rank/rank.h"
#include "session/rank/settle.h"

namespace qsim {

class WalkHelpers {
 public:
  /// What a walk of `program` may take beside a rank with this pool, of `usable_bytes` in all: a part of the host's
  /// memory, and the target's threads. Nothing where the state is on a device or on several ranks, or too large for
  /// branches to wait side by side.
  WalkRoom lend(const Settled& settled, const PlannedCircuit& program, const PoolLayout& pool, std::uint32_t qubits,
                std::uint64_t usable_bytes, Verify verify);
  /// What was lent is given back.
  void clear();

 private:
  Settled alone_;  // a target of one thread
  std::unique_ptr<Communicator> self_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<ThreadTeam> team_;
};

}  // namespace qsim
