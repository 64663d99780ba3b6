// The comparison reads the first amplitude, the last and a fixed pseudo-random sample of the others.
#include "simulator/run/inverse_check.h"

#include <cmath>
#include <string>
#include <string_view>

#include "base/philox.h"
#include "base/ranks/agreement.h"
#include "base/text.h"
#include "optimizer/pipeline.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/read_out/observables.h"

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

/// Our sums over the shard, and with a snapshot (number 0) the inner product with it, against the library's.
void hold_against_library(DistributedState& state, bool snapshot) {
  VendorLibrary* const library = state.backend.abilities().library;
  if (library == nullptr) return;
  const SecondOpinion second = library->second_opinion(snapshot ? std::optional<std::uint32_t>(0) : std::nullopt);
  const double tolerance = library_tolerance(state.precision);
  const auto compare = [&](const char* what, double ours, double theirs) {
    if (std::abs(ours - theirs) <= tolerance) return;
    throw VerificationError(std::string("the ") + what + " of a shard is " + format_number(ours) + ", but " +
                            std::string(second.library) + " makes it " + format_number(theirs) + " (rounding allows " +
                            format_number(tolerance) + "): the result is wrong and is not shown");
  };
  compare("norm", state.backend.reader().norm(), second.norm);
  if (!snapshot) return;
  const Complex ours = state.backend.reader().inner_product(0);
  compare("inner product's real part", ours.real(), second.inner_product.real());
  compare("inner product's imaginary part", ours.imag(), second.inner_product.imag());
}

}  // namespace

void InverseCheck::add_to(PoolLayout& pool, const Machine& machine, std::uint64_t usable_bytes, bool has_library) {
  pool.table_bytes += pool_layout(*inverse_, machine).table_bytes + 256;
  has_snapshot_ = has_library && pool.total_bytes() + pool.state_bytes <= usable_bytes;
  if (has_snapshot_) pool.snapshot_bytes = pool.state_bytes;
}

InverseCheck::InverseCheck(const Circuit& circuit, const PlannedCircuit& program, const Machine& machine,
                           PlanOptions options)
    : forward_(&program.plans.front()), depth_(circuit.depth()) {
  if (program.plans.size() != 1) throw Error("only a circuit of one plan can be run backwards");
  options.start = Start::kState;
  options.known_zeros = false;
  options.initial_layout = forward_->final_layout;
  // As it is written: what is wrongly recognised on the way there would be so on the way back, and what permutes
  // wrongly would put it right again.
  for (const std::string_view pass : recognising_passes()) options.disabled_passes.emplace_back(pass);
  options.disabled_passes.emplace_back("permute");
  inverse_ = std::make_shared<const Plan>(make_plan(unitary_part(circuit).inverse(), machine, options));
}

void InverseCheck::run(RankSession& session, std::uint64_t start_seed) {
  Communicator& ranks = session.rank().communicator();
  alone(ranks, [&] { hold_against_library(session.state(), false); });
  session.adopt(state_);
  session.run(state_, {inverse_}, start_seed);
  if (has_snapshot_) session.copy(state_, kept_);
  alone(ranks, [&] { compare(session, start_seed); });
  session.forget(kept_);
  session.forget(state_);
}

void InverseCheck::compare(RankSession& session, std::uint64_t start_seed) const {
  DistributedState& state = session.state();
  const std::vector<Index> indices = sample_indices(state.qubits);
  const std::vector<AmplitudeEntry> found = amplitudes(state, indices);
  std::vector<AmplitudeEntry> wanted(indices.size());
  if (forward_->start == Start::kZero) {
    for (std::size_t i = 0; i < indices.size(); ++i) wanted[i].value = indices[i] == 0 ? 1.0 : 0.0;
  } else {
    session.rank().executor().make_start(*forward_, start_seed);
    wanted = amplitudes(state, indices);
  }
  double largest = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double difference = std::abs(found[i].value - wanted[i].value);
    // What is not a number stays.
    largest = std::isnan(largest) || difference <= largest ? largest : difference;
  }
  const double tolerance = amplitude_tolerance(state.precision, 2 * depth_) + forward_->unitarity_defect;
  if (largest <= tolerance) return hold_against_library(state, has_snapshot_);
  throw VerificationError("the circuit followed by its inverse misses the start state by " + format_number(largest) +
                          " (rounding allows " + format_number(tolerance) + "): the result is wrong and is not shown");
}

}  // namespace qsim
