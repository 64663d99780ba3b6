// Inner products between prepared states, which stay beside each other on the device.
#include <cmath>
#include <string>

#include "base/clock.h"
#include "base/numbers/finite.h"
#include "base/text.h"
#include "batch/batch_session.h"
#include "batch/program.h"
#include "device/batch/batch_device.h"
#include "plan/cost/state_bytes.h"
#include "qsim/batch.h"
#include "qsim/error.h"
#include "qsim/session.h"

namespace qsim {
namespace {

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
  require_addressable(qubits);
}

/// CapacityError unless all states fit the device together with what the largest of the programs needs beside its own.
void require_room(std::span<const Program> programs, const Session& session, std::uint64_t one) {
  std::uint64_t needed = 0;
  for (const Program& program : programs) needed = std::max(needed, program.work().memory_bytes);
  const std::uint64_t rest = needed, usable = session.memory_bytes();
  needed = saturating_add(needed, saturating_multiply(programs.size() - 1, one));
  if (needed <= usable) return;
  const std::uint64_t fit = usable > rest ? 1 + (usable - rest) / one : 0;
  throw CapacityError(std::to_string(programs.size()) + " states of " + format_bytes(one) + " need " +
                          format_bytes(needed) + "; " + format_bytes(usable) + " can be used, which is " +
                          std::to_string(fit) + " states",
                      needed, usable);
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

GramResult gram(std::span<const Circuit> circuits, const Target& target) {
  check_circuits(circuits);
  GramResult result;
  result.states = circuits.size();
  result.qubits = circuits.front().qubits();
  result.gram.resize(result.states * result.states);
  const Clock::time_point start = Clock::now();
  Target room = target;
  if (room.backend == BackendKind::kAuto && too_small_for_a_gpu(circuits.front())) room.backend = BackendKind::kCpu;
  room.states = static_cast<std::uint32_t>(result.states);
  Session session(room);
  result.backend = session.target().backend;
  std::vector<Program> programs;
  for (const Circuit& circuit : circuits) programs.push_back(session.compile(circuit));
  require_room(programs, session, state_bytes(target.precision, result.qubits));
  std::vector<State> states;
  for (std::size_t i = 0; i < result.states; ++i) {
    State& state = states.emplace_back(session.run(programs[i]));
    const Clock::time_point product = Clock::now();
    result.gram[i * result.states + i] = state.norm();
    for (std::size_t j = 0; j < i; ++j) {
      const Complex value = state.inner_product(states[j]);
      result.gram[j * result.states + i] = value;
      result.gram[i * result.states + j] = std::conj(value);
    }
    result.product_seconds += seconds_since(product);
  }
  result.prepare_seconds = seconds_since(start) - result.product_seconds;
  require_products(result);
  return result;
}

GramResult gram(const Circuit& circuit, std::span<const double> values, const Target& target) {
  GramResult result;
  result.qubits = circuit.qubits();
  result.states = count_evaluations(circuit, values, 0);
  result.gram.resize(result.states * result.states);
  const BatchProgram program = make_batch_program(circuit, true);
  BatchSession session(program, result.states, target);
  result.backend = session.backend();
  const auto run_on = result.backend == BackendKind::kCuda ? run_gram_on_gpu : run_gram_on_cpu;
  session.run([&](const BackendOptions& device, const BatchWatch&) {
    const BatchGramTimes times = run_on(program, values, result.states, result.gram, device);
    result.prepare_seconds = times.prepare_seconds;
    result.product_seconds = times.product_seconds;
  });
  require_products(result);
  return result;
}

}  // namespace qsim
