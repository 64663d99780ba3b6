// Programs: plans are made when they are first needed.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "base/bits.h"
#include "base/ranks/communicator.h"
#include "base/text.h"
#include "circuit/idle_resets.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/make/make_plan.h"
#include "plan/program/forecast.h"
#include "plan/show/show.h"
#include "qsim/error.h"
#include "session/choose/choose.h"
#include "session/program_impl.h"
#include "session/rank/settle.h"

namespace qsim {
namespace {

/// Of a state that no circuit is known for yet: room for gates on that many qubits.
constexpr std::uint32_t kLeastLocalBits = 6;

}  // namespace

bool is_split(std::uint32_t qubits, int ranks, std::uint32_t needed_bits) {
  const auto rank_bits = log2_exact(static_cast<Index>(ranks));
  return ranks > 1 && qubits >= rank_bits + std::max(needed_bits, kLeastLocalBits);
}

bool Program::Impl::is_split() const { return qsim::is_split(circuit.qubits(), ranks, needed_bits); }

// Plans are of the latest values.
void Program::Impl::bind(std::span<const double> values) {
  if (bound_ && std::equal(values.begin(), values.end(), values_.begin(), values_.end())) return;
  bound_ = std::make_shared<const Circuit>(circuit.bind(values));
  values_.assign(values.begin(), values.end());
  from_zero_.reset();
  planned_.reset();
  from_.clear();
}

PlanOptions Program::Impl::plan_options() const {
  PlanOptions wanted;
  wanted.rank_bits = is_split() ? log2_exact(static_cast<Index>(ranks)) : 0;
  wanted.precision = precision;
  wanted.strategy = options.strategy;
  wanted.tile_bits = options.tile_bits;
  wanted.known_zeros = options.known_zeros;
  return wanted;
}

std::shared_ptr<const Plan> Program::Impl::plan(std::span<const double> values, const Layout* from) {
  const std::lock_guard lock(mutex_);
  bind(values);
  if (from == nullptr && from_zero_) return from_zero_;
  for (const auto& [layout, known] : from_) {
    if (from != nullptr && layout == *from) return known;
  }
  PlanOptions wanted = plan_options();
  if (from != nullptr) {
    wanted.start = Start::kState;
    wanted.known_zeros = false;
    wanted.initial_layout = *from;
  }
  auto made = std::make_shared<const Plan>(make_plan(*bound_, machine, wanted));
  from == nullptr ? void(from_zero_ = made) : void(from_.emplace_back(*from, made));
  return made;
}

Program::Impl::Whole Program::Impl::whole(std::span<const double> values) {
  const std::lock_guard lock(mutex_);
  bind(values);
  if (!planned_) planned_ = std::make_shared<const PlannedCircuit>(plan_circuit(*bound_, machine, plan_options()));
  return {bound_, planned_};
}

std::shared_ptr<Program::Impl> make_program(const Circuit& circuit, const Target& target, int ranks,
                                            const Machine& machine, const CompileOptions& options) {
  if (circuit.qubits() == 0) throw UsageError("a circuit without qubits has no state");
  require_addressable(circuit.qubits());
  auto impl = std::make_shared<Program::Impl>();
  const std::optional<Circuit> kept = without_idle_resets(circuit);
  impl->circuit = kept ? *kept : circuit;
  impl->options = options;
  impl->backend = target.backend;
  impl->precision = target.precision;
  impl->ranks = ranks;
  impl->machine = machine;
  impl->needed_bits = needed_local_bits(circuit);
  impl->dynamic = !impl->circuit.measurements_are_terminal();
  return impl;
}

Program compile(const Circuit& circuit, const Target& target, const CompileOptions& options) {
  const int ranks = target.communicator != nullptr ? target.communicator->size() : target.ranks;
  require_rank_count(ranks);
  Target chosen = target;
  chosen.backend = choose_backend(target).backend;
  return Program(make_program(circuit, chosen, ranks, this_machine(chosen), options));
}

const Circuit& Program::circuit() const { return impl_->circuit; }
bool Program::dynamic() const { return impl_->dynamic; }

ProgramWork Program::work(std::span<const double> values) const {
  const std::shared_ptr<const Plan> plan = impl_->plan(values, nullptr);
  const PlanWork of_plan = plan_work(*plan);
  ProgramWork work;
  work.sweeps = of_plan.sweeps;
  work.exchanges = of_plan.exchanges;
  work.bytes_swept = of_plan.bytes_swept_per_rank;
  work.bytes_exchanged = of_plan.bytes_exchanged_per_rank;
  work.memory_bytes = pool_layout(*plan, impl_->machine).total_bytes();
  work.seconds = of_plan.total_seconds;
  return work;
}

std::string Program::timetable(std::span<const double> values, std::size_t width) const {
  if (dynamic()) return program_svg(*impl_->whole(values).planned, impl_->machine, width);
  return plan_svg(*impl_->plan(values, nullptr), impl_->machine, width);
}

}  // namespace qsim
