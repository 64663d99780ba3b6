// Inner products between prepared states: each state is made by its own plan and saved beside the others on the device.
#include <chrono>
#include <cmath>
#include <string>

#include "base/finite.h"
#include "base/text.h"
#include "batch/lower.h"
#include "device/gpu_parts.h"
#include "qsim/batch.h"
#include "qsim/error.h"
#include "runtime/executor.h"
#include "simulator/capacity.h"
#include "simulator/choose/registry.h"

namespace qsim {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::size_t kBlock = 16;  // states of a block whose rows stay in cache

void check_circuits(std::span<const Circuit> circuits) {
  if (circuits.size() < 2) throw UsageError("states are compared with states: at least 2 circuits are needed");
  for (const Circuit& circuit : circuits) {
    if (circuit.qubits() != circuits.front().qubits()) {
      throw UsageError("states of " + std::to_string(circuits.front().qubits()) + " and of " +
                       std::to_string(circuit.qubits()) + " qubits cannot be compared");
    }
    if (!circuit.measurements_are_terminal()) {
      throw UnsupportedError("a circuit that measures, resets or branches before its end prepares no single state");
    }
  }
  const std::uint32_t qubits = circuits.front().qubits();
  if (qubits == 0) throw UsageError("circuits without qubits all prepare the same state");
  if (qubits > static_cast<std::uint32_t>(kMaxQubits)) {
    throw CapacityError(std::to_string(qubits) + " qubits do not fit any machine", 0, 0);
  }
}

PlanOptions plan_options(const RunOptions& options, std::uint32_t qubits) {
  PlanOptions plan;
  plan.precision = options.precision;
  plan.strategy = options.strategy;
  plan.tile_bits = options.tile_bits;
  // All states in one layout, so that amplitudes meet their partners.
  plan.initial_layout = Layout::identity(static_cast<int>(qubits));
  plan.preserve_layout = true;
  return plan;
}

/// One pool for every plan, with a place for each state but the last.
PoolLayout shared_pool(std::span<const Plan> plans, const Machine& machine, std::uint64_t usable_bytes) {
  PoolLayout pool;
  for (const Plan& plan : plans) {
    const PoolLayout one = pool_layout(plan, machine);
    pool.state_bytes = std::max(pool.state_bytes, one.state_bytes);
    pool.table_bytes = std::max(pool.table_bytes, one.table_bytes);
    pool.scratch_bytes = std::max(pool.scratch_bytes, one.scratch_bytes);
  }
  const std::uint64_t rest = pool.total_bytes(), saved = plans.size() - 1;
  pool.snapshot_bytes = saved * pool.state_bytes;
  if (usable_bytes != 0 && pool.total_bytes() > usable_bytes) {
    const std::uint64_t fit = usable_bytes > rest ? 1 + (usable_bytes - rest) / pool.state_bytes : 0;
    throw CapacityError(std::to_string(plans.size()) + " states of " + format_bytes(pool.state_bytes) + " need " +
                            format_bytes(pool.total_bytes()) + "; " + format_bytes(usable_bytes) +
                            " can be used, which is " + std::to_string(fit) + " states",
                        pool.total_bytes(), usable_bytes);
  }
  return pool;
}

/// Products of 2^qubits amplitudes, in the order of the indices.
Complex inner_product(const Complex* a, const Complex* b, std::size_t size) {
  double re[4] = {}, im[4] = {};
  for (std::size_t i = 0; i < size; ++i) {
    re[i & 3] += a[i].real() * b[i].real() + a[i].imag() * b[i].imag();
    im[i & 3] += a[i].real() * b[i].imag() - a[i].imag() * b[i].real();
  }
  return {(re[0] + re[2]) + (re[1] + re[3]), (im[0] + im[2]) + (im[1] + im[3])};
}

void require_products(const GramResult& result) {
  require_finite(std::span(reinterpret_cast<const double*>(result.gram.data()), 2 * result.gram.size()),
                 "an inner product of two states");
}

}  // namespace

double GramResult::fidelity(std::size_t i, std::size_t j) const { return std::norm(at(i, j)); }
double GramResult::euclidean(std::size_t i, std::size_t j) const {
  return std::sqrt(std::max(0.0, at(i, i).real() + at(j, j).real() - 2 * at(i, j).real()));
}
double GramResult::cosine(std::size_t i, std::size_t j) const {
  return 1 - at(i, j).real() / std::sqrt(at(i, i).real() * at(j, j).real());
}
double GramResult::trace(std::size_t i, std::size_t j) const {
  return std::sqrt(std::max(0.0, 1 - fidelity(i, j) / (at(i, i).real() * at(j, j).real())));
}

GramResult gram(std::span<const Circuit> circuits, const RunOptions& options) {
  check_circuits(circuits);
  GramResult result;
  result.states = circuits.size();
  result.qubits = circuits.front().qubits();
  result.gram.resize(result.states * result.states);
  RunOptions chosen = options;
  chosen.backend = result.backend = choose_backend(circuits.front(), options).backend;
  const Clock::time_point start = Clock::now();
  const Machine machine = this_machine(chosen);
  std::vector<Plan> plans;
  for (const Circuit& circuit : circuits) {
    plans.push_back(make_plan(circuit, machine, plan_options(options, result.qubits)));
  }
  const PoolLayout pool = shared_pool(plans, machine, machine.memory_bytes_per_rank);
  BackendOptions backend_options;
  backend_options.precision = options.precision;
  backend_options.threads = rank_threads(options.threads, result.qubits, 1);
  backend_options.jit = options.jit;
  if (!options.gpu_ids.empty()) backend_options.device_id = options.gpu_ids.front();
  const std::unique_ptr<Backend> backend = make_backend(result.backend, backend_options);
  backend->reserve(pool, result.qubits);
  const std::unique_ptr<Communicator> self = make_self_communicator();
  for (std::size_t i = 0; i < result.states; ++i) {
    const Clock::time_point prepare = Clock::now();
    backend->clear_sweeps();
    DistributedState state{*backend, *self, result.qubits, 0, options.precision, {}};
    ExchangePipeline exchanges(state, nullptr, pool);
    Executor executor(state, exchanges, true);
    executor.run(executor.prepare(plans[i]), 1, 1);
    result.prepare_seconds += seconds_since(prepare);
    const Clock::time_point product = Clock::now();
    result.gram[i * result.states + i] = backend->norm();
    for (std::size_t j = 0; j < i; ++j) {
      const Complex value = backend->inner_product(static_cast<std::uint32_t>(j));
      result.gram[j * result.states + i] = value;
      result.gram[i * result.states + j] = std::conj(value);
    }
    result.product_seconds += seconds_since(product);
    if (i + 1 < result.states) backend->save_state(static_cast<std::uint32_t>(i));
  }
  result.prepare_seconds = seconds_since(start) - result.product_seconds;
  require_products(result);
  return result;
}

GramResult gram(const ParametricCircuit& circuit, std::span<const double> values, const RunOptions& options) {
  if (options.precision != Precision::kDouble) throw UsageError("a batch of states is prepared in double precision");
  GramResult result;
  result.qubits = circuit.qubits();
  result.states = count_evaluations(circuit, values, 0);
  result.gram.resize(result.states * result.states);
  const BatchProgram program = batch_program(circuit);
  result.backend = choose_batch_backend(program, result.states, options.backend);
  if (result.backend == "cuda") {
    const BatchGramTimes times = run_gram_on_gpu(program, values, result.states, result.gram);
    result.prepare_seconds = times.prepare_seconds;
    result.product_seconds = times.product_seconds;
    require_products(result);
    return result;
  }
  BatchOptions batch;
  batch.backend = "cpu";
  batch.threads = options.threads;
  batch.marginals = false;
  batch.states = true;
  const BatchResult prepared = run_batch(circuit, values, batch);
  result.prepare_seconds = prepared.seconds;
  const Clock::time_point start = Clock::now();
  const std::size_t size = std::size_t{1} << circuit.qubits();
  const Complex* const states = prepared.states.data();
  for (std::size_t first = 0; first < result.states; first += kBlock) {
    for (std::size_t j = first; j < result.states; ++j) {
      for (std::size_t i = first; i < std::min(first + kBlock, j + 1); ++i) {
        const Complex value = inner_product(states + i * size, states + j * size, size);
        result.gram[i * result.states + j] = value;
        result.gram[j * result.states + i] = std::conj(value);
      }
    }
  }
  result.product_seconds = seconds_since(start);
  require_products(result);
  return result;
}

}  // namespace qsim
