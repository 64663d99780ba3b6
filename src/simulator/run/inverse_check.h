// Circuit, then its inverse: what comes out must be the start state (--verify full).
#pragma once

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "runtime/execute/executor.h"

namespace qsim {

class InverseCheck {
 public:
  /// Plans the inverse of the unitary part of `circuit`, from where `program` ends.
  InverseCheck(const Circuit& circuit, const PlannedCircuit& program, const Machine& machine, PlanOptions options);
  const Plan& plan() const { return inverse_; }
  /// Adds the tables of the inverse to `pool`, and a snapshot for inner products where a library can be asked for them
  /// (`has_library`) and the pool then still fits `usable_bytes`.
  void add_to(PoolLayout& pool, const Machine& machine, std::uint64_t usable_bytes, bool has_library);
  void prepare(Executor& executor) { number_ = executor.prepare(inverse_); }
  /// Holds our sums over the final state against those of the device's library, runs the inverse and compares
  /// amplitudes of the start state, then inner products with what came back; VerificationError. The state is lost.
  void run(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint64_t start_seed);

 private:
  Plan inverse_;
  const Plan* forward_ = nullptr;
  std::size_t number_ = 0;
  std::uint64_t depth_ = 0;
  bool has_snapshot_ = false;
};

}  // namespace qsim
