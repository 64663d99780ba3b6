// Circuit, then its inverse: what comes out must be the start state (--verify full).
#pragma once

#include "qsim/circuit.h"
#include "qsim/plan.h"
#include "runtime/executor.h"

namespace qsim {

class InverseCheck {
 public:
  /// Plans the inverse of the unitary part of `circuit`, from where `program` ends.
  InverseCheck(const Circuit& circuit, const Program& program, const Machine& machine, PlanOptions options);
  const Plan& plan() const { return inverse_; }
  void prepare(Executor& executor) { number_ = executor.prepare(inverse_); }
  /// Runs the inverse on the final state and compares amplitudes of the start state; VerificationError, the same on
  /// every rank. The state is lost.
  void run(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint64_t start_seed);

 private:
  Plan inverse_;
  const Plan* forward_ = nullptr;
  std::size_t number_ = 0;
  std::uint64_t depth_ = 0;
};

}  // namespace qsim
