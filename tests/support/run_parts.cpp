// Builds the parts in the order that simulate() does.
#include "support/run_parts.h"

#include <bit>

#include "base/ranks/communicator.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"

namespace qsim::test {
namespace {

void on_rank(const Circuit& circuit, const RunSetup& setup, Communicator& communicator,
             const std::function<void(RunParts&)>& body) {
  const Machine machine = find_machine("cpu");
  PlanOptions options = setup.plan;
  options.rank_bits = static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(setup.ranks)));
  options.precision = setup.precision;
  RunParts parts{communicator, plan_circuit(circuit, machine, options), {}, {}, {}, {}, {}, {}, {}, {}};
  setup.change(parts.program);
  for (const Plan& plan : parts.program.plans) {
    const PoolLayout one = pool_layout(plan, machine);
    const std::uint64_t tables = parts.pool.table_bytes + one.table_bytes;
    parts.pool = one;
    parts.pool.table_bytes = tables + (1 << 20);
  }
  if (setup.chunk_bytes != 0) parts.pool.chunk_bytes = setup.chunk_bytes;
  parts.pool.snapshot_bytes = setup.snapshots * parts.pool.state_bytes;
  BackendOptions backend;
  backend.precision = setup.precision;
  backend.threads = 1;
  parts.backend = make_cpu_backend(backend);
  parts.backend->reserve(parts.pool, circuit.qubits() - options.rank_bits);
  parts.state = std::make_unique<DistributedState>(
      DistributedState{*parts.backend, communicator, circuit.qubits(), options.rank_bits, setup.precision, {}});
  Transport* used = nullptr;
  if (setup.ranks > 1) {
    parts.transport = make_host_transport(*parts.backend, communicator, parts.state->local_bits());
    used = parts.transport.get();
    if (setup.wrap) {
      parts.wrapped = setup.wrap(*parts.transport, *parts.backend, communicator);
      used = parts.wrapped.get();
    }
  }
  parts.exchanges = std::make_unique<ExchangePipeline>(*parts.state, used, parts.pool);
  parts.executor = std::make_unique<Executor>(*parts.state, *parts.exchanges, setup.check_norm);
  parts.run = std::make_unique<ProgramRun>(parts.program, circuit, *parts.state, *parts.exchanges, *parts.executor,
                                           setup.snapshots, WalkRoom{setup.walk_bytes, {}, {}});
  parts.run->prepare(true);
  body(parts);
}

}  // namespace

void with_run_parts(const Circuit& circuit, const RunSetup& setup, const std::function<void(RunParts&)>& body) {
  if (setup.ranks == 1) {
    on_rank(circuit, setup, *make_self_communicator(), body);
  } else {
    run_thread_ranks(setup.ranks, [&](Communicator& communicator) { on_rank(circuit, setup, communicator, body); });
  }
}

}  // namespace qsim::test
