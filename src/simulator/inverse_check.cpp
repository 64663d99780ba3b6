// The comparison reads amplitude 0 and a fixed pseudo-random sample of the others.
#include "simulator/inverse_check.h"

#include <cmath>
#include <string>

#include "base/philox.h"
#include "base/text.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/read_out/observables.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

Circuit unitary_part(const Circuit& circuit) {
  Circuit unitary(circuit.qubits());
  for (const Operation& op : circuit.operations()) {
    const bool is_gate = op.kind == OpKind::kGate || op.kind == OpKind::kUnitary || op.kind == OpKind::kPauliRotation;
    if (is_gate) unitary.append(circuit, op);
  }
  return unitary;
}

std::vector<Index> sample_indices(std::uint32_t qubits) {
  constexpr std::uint64_t kSamples = 1024;
  std::vector<Index> indices = {0};
  const Philox philox(0x696e7665727365, 0);
  const std::uint64_t size = std::uint64_t{1} << qubits;
  for (std::uint64_t i = 0; i < kSamples; ++i) indices.push_back(size <= kSamples ? i % size : philox.below(i, size));
  return indices;
}

}  // namespace

InverseCheck::InverseCheck(const Circuit& circuit, const Program& program, const Machine& machine, PlanOptions options)
    : forward_(&program.plans.front()), depth_(circuit.depth()) {
  if (program.plans.size() != 1) throw Error("only a circuit of one plan can be run backwards");
  options.start = Start::kState;
  options.known_zeros = false;
  options.initial_layout = forward_->final_layout;
  inverse_ = make_plan(unitary_part(circuit).inverse(), machine, options);
}

void InverseCheck::run(DistributedState& state, ExchangePipeline& exchanges, Executor& executor,
                       std::uint64_t start_seed) {
  undo_moves(state, exchanges);
  executor.run(number_, 1, start_seed);
  const std::vector<Index> indices = sample_indices(state.qubits);
  const std::vector<AmplitudeEntry> found = amplitudes(state, indices);
  std::vector<AmplitudeEntry> wanted(indices.size());
  if (forward_->start == Start::kZero) {
    for (std::size_t i = 0; i < indices.size(); ++i) wanted[i].value = indices[i] == 0 ? 1.0 : 0.0;
  } else {
    executor.make_start(*forward_, start_seed);
    wanted = amplitudes(state, indices);
  }
  double largest = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double difference = std::abs(found[i].value - wanted[i].value);
    // What is not a number stays.
    largest = std::isnan(largest) || difference <= largest ? largest : difference;
  }
  const double tolerance = amplitude_tolerance(state.precision, 2 * depth_) + forward_->unitarity_defect;
  if (largest <= tolerance) return;
  throw VerificationError("the circuit followed by its inverse misses the start state by " + format_number(largest) +
                          " (rounding allows " + format_number(tolerance) + "): the result is wrong and is not shown");
}

}  // namespace qsim
