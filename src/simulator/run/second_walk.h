// A dynamic circuit walked a second time, an operation a step by naive plans: both walks must answer alike (--verify
// full).
#pragma once

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/types.h"
#include "runtime/branch/program_run.h"

namespace qsim {

class SecondWalk {
 public:
  /// Makes a program of `circuit` that shares neither plans nor the way operations are put together with `first`; only
  /// which measurements are terminal is taken from there. The circuit must outlive the walk.
  SecondWalk(const Circuit& circuit, const PlannedCircuit& first, const Machine& machine, const PlanOptions& options);
  const PlannedCircuit& program() const { return program_; }
  /// Makes room in `pool`, which holds the first walk; false, and as it was, where more than `usable_bytes` would be
  /// needed.
  bool add_to(PoolLayout& pool, const Machine& machine, std::uint32_t rank_bits, std::uint64_t usable_bytes) const;
  /// Walks by `run`, which was made of program(), and compares with what the first walk has answered to the same
  /// `read_outs`; VerificationError, the same on every rank. The state is lost.
  void compare(const Answers& first, ProgramRun& run, const ReadOuts& read_outs) const;

 private:
  void compare_shots(const ReadOuts& read_outs, const Answers& first, const Answers& second) const;
  /// What an amplitude of a branch may be off by in either walk.
  double tolerance() const;

  const Circuit& circuit_;
  const Precision precision_;
  PlannedCircuit program_;
};

}  // namespace qsim
