// Circuit, then its inverse: what comes out must be the start state (--verify full).
#pragma once

#include <memory>

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "session/rank/rank_session.h"

namespace qsim {

class InverseCheck {
 public:
  /// Plans the inverse of the unitary part of `circuit`, from where `program` ends.
  InverseCheck(const Circuit& circuit, const PlannedCircuit& program, const Machine& machine, PlanOptions options);
  /// Adds the tables of the inverse to `pool`, and a snapshot for inner products where a library can be asked for them
  /// (`has_library`) and the pool then still fits `usable_bytes`.
  void add_to(PoolLayout& pool, const Machine& machine, std::uint64_t usable_bytes, bool has_library);
  /// Holds our sums over the final state, which a program has left in the session's pool, against those of the device's
  /// library, runs the inverse and compares amplitudes of the start state, then inner products with what came back;
  /// VerificationError. The state is lost. Collective.
  void run(RankSession& session, std::uint64_t start_seed);

 private:
  void compare(RankSession& session, std::uint64_t start_seed) const;

  std::shared_ptr<const Plan> inverse_;
  const Plan* forward_ = nullptr;
  std::uint64_t depth_ = 0;
  bool has_snapshot_ = false;
  Shard state_, kept_;
};

}  // namespace qsim
