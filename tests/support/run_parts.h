// The parts of a run on one rank, put together by hand, for tests that look inside or replace one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/types.h"
#include "runtime/branch/program_run.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "runtime/execute/executor.h"

namespace qsim::test {

struct RunSetup {
  int ranks = 1;
  Precision precision = Precision::kDouble;
  PlanOptions plan;               // rank_bits and precision are set from the above
  std::uint64_t chunk_bytes = 0;  // of a ring slot; 0 = what the plan says
  std::uint32_t snapshots = 0;
  std::uint64_t walk_bytes = 0;  // for branches side by side
  bool check_norm = true;
  /// Changes the program before it is prepared.
  std::function<void(PlannedCircuit&)> change = [](PlannedCircuit&) {};
  /// Puts something around the host transport.
  std::function<std::unique_ptr<Transport>(Transport&, Backend&, Communicator&)> wrap;
};

struct RunParts {
  Communicator& communicator;
  PlannedCircuit program;
  PoolLayout pool;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<DistributedState> state;
  std::unique_ptr<Transport> transport, wrapped;
  std::unique_ptr<ExchangePipeline> exchanges;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<ProgramRun> run;
};

/// Runs `body` on every rank (threads where there are several) with everything prepared.
void with_run_parts(const Circuit& circuit, const RunSetup& setup, const std::function<void(RunParts&)>& body);

}  // namespace qsim::test
