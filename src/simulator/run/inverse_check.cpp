// The comparison reads the first amplitude, the last and a fixed pseudo-random sample of the others.
#include "simulator/run/inverse_check.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/philox.h"
#include "base/text.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
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

/// As it is written: what is wrongly recognised on the way there would be so on the way back, and what permutes wrongly
/// would put it right again.
PlanOptions inverse_options(const PlanOptions& forward, std::uint32_t rank_bits) {
  PlanOptions options = forward;
  options.rank_bits = rank_bits;
  for (const std::string_view pass : recognising_passes()) options.disabled_passes.emplace_back(pass);
  options.disabled_passes.emplace_back("permute");
  return options;
}

/// What is wrong with our sums over the shard in the pool, and with its inner product with the state in `place`, if the
/// device has a library to hold them against.
std::string against_library(const DistributedState& state, std::optional<std::uint32_t> place) {
  VendorLibrary* const library = state.backend.abilities().library;
  if (library == nullptr) return {};
  const SecondOpinion second = library->second_opinion(place);
  const double tolerance = library_tolerance(state.precision);
  std::string wrong;
  const auto compare = [&](const char* what, double ours, double theirs) {
    if (std::abs(ours - theirs) <= tolerance || !wrong.empty()) return;
    wrong = std::string("the ") + what + " of a shard is " + format_number(ours) + ", but " +
            std::string(second.library) + " makes it " + format_number(theirs) + " (rounding allows " +
            format_number(tolerance) + ")";
  };
  compare("norm", state.backend.reader().norm(), second.norm);
  if (!place) return wrong;
  const Complex ours = state.backend.reader().inner_product(*place);
  compare("inner product's real part", ours.real(), second.inner_product.real());
  compare("inner product's imaginary part", ours.imag(), second.inner_product.imag());
  return wrong;
}

/// The same of all shards that are this process's, the first that is wrong.
std::string against_library(State::Impl& state, const State::Impl* copy) {
  std::vector<std::string> wrong(state.shards.size());
  state.read("verify", [&](RankSession& rank, Shard& shard, bool) {
    std::size_t own = 0;
    while (state.shards[own].get() != &shard) ++own;
    wrong[own] = against_library(rank.state(), copy == nullptr ? std::nullopt : copy->shards[own]->place);
  });
  for (std::string& each : wrong) {
    if (!each.empty()) return std::move(each);
  }
  return {};
}

}  // namespace

InverseCheck::InverseCheck(Program::Impl& forward, const Session::Impl& session, const RankSession& rank)
    : forward_(forward),
      inverse_(std::make_shared<const Circuit>(unitary_part(*forward.circuit).inverse()), forward.machine,
               inverse_options(forward.options, rank.settled().rank_bits)) {
  inverse_.backend = session.target.backend;
  inverse_.ranks = session.ranks();
}

const Plan& InverseCheck::forward_plan() { return *forward_.plan({}, nullptr, Program::Impl::Use::kLook).plan; }

bool InverseCheck::add_to(PoolLayout& pool, const Machine& machine, std::uint64_t usable_bytes, bool has_library) {
  const ShapedPlan inverse = inverse_.plan({}, &forward_plan().final_layout, Program::Impl::Use::kLook);
  pool.table_bytes += pool_layout(*inverse.plan, machine).table_bytes + 256;
  const bool copies = has_library && pool.total_bytes() + pool.state_bytes <= usable_bytes;
  if (copies) pool.snapshot_bytes = pool.state_bytes;
  return copies;
}

std::string InverseCheck::run(State& state, bool copies, std::uint64_t start_seed) {
  const Plan& forward = forward_plan();
  State::Impl& impl = Session::Impl::impl_of(state);
  std::string wrong = against_library(impl, nullptr);
  impl.run(inverse_, {}, false);
  std::optional<State> copy;
  if (copies) copy = state.copy();
  const std::vector<Index> indices = sample_indices(state.qubits());
  const std::vector<Complex> found = state.amplitudes(indices);
  std::vector<Complex> wanted(indices.size());
  if (forward.start == Start::kRandom) {
    state.set_random(start_seed);
    wanted = state.amplitudes(indices);
  } else {
    for (std::size_t i = 0; i < indices.size(); ++i) wanted[i] = indices[i] == 0 ? 1.0 : 0.0;
  }
  const std::string of_library = against_library(impl, copy ? &Session::Impl::impl_of(*copy) : nullptr);
  if (!wrong.empty()) return wrong;
  double largest = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double difference = std::abs(found[i] - wanted[i]);
    // What is not a number stays.
    largest = std::isnan(largest) || difference <= largest ? largest : difference;
  }
  const double tolerance =
      amplitude_tolerance(forward.precision, 2 * forward_.circuit->depth()) + forward.unitarity_defect;
  if (largest <= tolerance) return of_library;
  return "the circuit followed by its inverse misses the start state by " + format_number(largest) +
         " (rounding allows " + format_number(tolerance) + ")";
}

}  // namespace qsim
