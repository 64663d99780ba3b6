// Programs: plans are made when they are first needed.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/ranks/communicator.h"
#include "circuit/circuit_analysis.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/make/make_plan.h"
#include "plan/make/planners.h"
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

constexpr std::size_t kMostOrigins = 64;  // layouts whose plans are kept

// When the numbers of an open plan are put in, and when the values are planned for themselves. Predictions and the
// circuit decide, not a clock: all ranks must decide alike.
constexpr std::size_t kMostOpenOperations = 4000;  // of longer circuits two generic plans take too long
constexpr double kDearer = 1.02;                   // an open plan may be, beside what planning takes
constexpr double kMostRuns = 50;  // times what planning takes: of longer runs planning is too small a part

/// An angle at which gates become simpler ones, or two values that could cancel each other: a plan for such values may
/// be far shorter.
bool are_special(std::span<const double> angles, std::span<const double> values) {
  constexpr double kNear = 1e-9, kPart = std::numbers::pi / 4;
  const auto is_part = [](double angle) { return std::abs(std::remainder(angle, kPart)) <= kNear; };
  if (std::ranges::any_of(angles, is_part)) return true;
  std::vector<double> sizes;
  for (const double value : values) sizes.push_back(std::abs(value));
  std::ranges::sort(sizes);
  return std::ranges::adjacent_find(sizes, [](double a, double b) { return b - a <= kNear; }) != sizes.end();
}

/// The circuit's registers and measurements.
Circuit only_measured(const Circuit& circuit) {
  Circuit frame(circuit.qubits());
  for (const Register& creg : circuit.cregs()) frame.add_creg(creg.name, creg.size);
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kMeasure) frame.append(circuit, op);
  }
  return frame;
}

}  // namespace

bool is_split(std::uint32_t qubits, int ranks, std::uint32_t needed_bits) {
  const auto rank_bits = log2_exact(static_cast<Index>(ranks));
  return ranks > 1 && qubits >= rank_bits + std::max(needed_bits, kLeastLocalBits);
}

Program::Impl::Impl(std::shared_ptr<const Circuit> of, const Machine& of_machine, const PlanOptions& wanted)
    : circuit(std::move(of)), machine(of_machine), options(wanted) {
  require_addressable(circuit->qubits());
  if (options.start == Start::kZero) {
    if (std::optional<Circuit> kept = without_idle_resets(*circuit)) {
      circuit = std::make_shared<const Circuit>(*std::move(kept));
    }
  }
  dynamic = !circuit->measurements_are_terminal();
}

// Plans are of the latest values.
void Program::Impl::take(std::span<const double> values) {
  if (values_ && std::ranges::equal(values, *values_)) return;
  circuit->require_values(values);
  values_.emplace(values.begin(), values.end());
  bound_.reset();
  planned_.reset();
  for (Origin& origin : origins_) {
    origin.latest = {};
    origin.quick = false;
  }
}

const std::shared_ptr<const Circuit>& Program::Impl::bound() {
  if (!bound_) bound_ = values_->empty() ? circuit : std::make_shared<const Circuit>(circuit->bind(*values_));
  return bound_;
}

PlanOptions Program::Impl::plan_options(const Origin& origin) const {
  PlanOptions wanted = options;
  if (!origin.from) return wanted;
  wanted.start = qsim::Start::kState;
  wanted.known_zeros = false;
  wanted.initial_layout = *origin.from;
  return wanted;
}

Program::Impl::Origin& Program::Impl::origin_of(const Layout* from) {
  const std::optional<Layout> wanted = from == nullptr ? std::nullopt : std::optional(*from);
  const auto known = std::ranges::find(origins_, wanted, &Origin::from);
  if (known != origins_.end()) return *known;
  if (origins_.size() == kMostOrigins) origins_.erase(origins_.begin());
  return origins_.emplace_back(Origin{wanted, {}, false, {}, false, {}});
}

ShapedPlan Program::Impl::plan(std::span<const double> values, const Layout* from, Use use) {
  const std::lock_guard lock(mutex_);
  take(values);
  return plan_of(from, use);
}

const ShapedPlan& Program::Impl::plan_of(const Layout* from, Use use) {
  Origin& origin = origin_of(from);
  const bool first = !origin.latest.plan;
  if (first || origin.quick) origin.latest = planned(origin, first && use == Use::kRun);
  return origin.latest;
}

ShapedPlan Program::Impl::planned(Origin& origin, bool once) {
  const bool again = std::exchange(origin.quick, false);  // what comes back is worth a plan of its own
  if (!again && origin.first_seconds && !values_->empty()) {
    if (!angles_) angles_.emplace(*circuit);
    const std::vector<double> angles = angles_->bound(*values_);
    if (const OpenPlan* const open = open_plan(origin, angles)) return {open->at(angles), open->shape()};
  }
  const PlanOptions wanted = plan_options(origin);
  std::optional<Plan> quick;
  if (once && may_be_quick()) quick = quick_plan(*bound(), machine, wanted);
  origin.quick = quick.has_value();
  auto made = std::make_shared<const Plan>(quick ? *std::move(quick) : make_plan(*bound(), machine, wanted));
  if (again || !origin.first_seconds) origin.first_seconds = plan_work(*made).total_seconds;
  return {std::move(made)};
}

const OpenPlan* Program::Impl::open_plan(Origin& origin, std::span<const double> angles) {
  const double planning = planning_seconds(*circuit), first = *origin.first_seconds;
  if (options.strategy != Strategy::kSearch || circuit->operations().size() > kMostOpenOperations) return nullptr;
  if (first > kMostRuns * planning) return nullptr;
  if (first > planning && are_special(angles, *values_)) return nullptr;
  if (!std::exchange(origin.open_tried, true)) {
    origin.open = OpenPlan::make(*circuit, *angles_, machine, plan_options(origin));
    if (origin.open && origin.open->predicted_seconds() > kDearer * first + planning) origin.open.reset();
  }
  return origin.open ? &*origin.open : nullptr;
}

Program::Impl::Whole Program::Impl::whole(std::span<const double> values, Use use) {
  const std::lock_guard lock(mutex_);
  take(values);
  const std::shared_ptr<const Circuit>& of_values = bound();
  Origin& origin = origin_of(nullptr);
  if (dynamic || (values.empty() && use == Use::kLook && !origin.latest.plan)) {
    if (planned_) return {of_values, planned_};
    planned_ = std::make_shared<const PlannedCircuit>(plan_circuit(*of_values, machine, options));
    if (dynamic) return {of_values, planned_};
    framed_ = origin.latest.plan = {planned_, &planned_->plans.front()};
  }
  const std::shared_ptr<const Plan>& plan = plan_of(nullptr, use).plan;
  if (!planned_ || plan != framed_) {
    if (!frame_) {
      PlanOptions of_frame = options;  // its plan, of no gate, is not used
      of_frame.strategy = Strategy::kNaive;
      frame_ = plan_circuit(only_measured(*circuit), machine, of_frame);
    }
    PlannedCircuit planned = *frame_;
    planned.plans.front() = *plan;
    planned_ = std::make_shared<const PlannedCircuit>(std::move(planned));
    framed_ = plan;
  }
  return {of_values, planned_};
}

std::shared_ptr<Program::Impl> make_program(const Circuit& circuit, const Target& target, const Machine& machine,
                                            const CompileOptions& options) {
  const int ranks = rank_count(target);
  if (circuit.qubits() == 0) throw UsageError("a circuit without qubits has no state");
  PlanOptions plan;
  plan.rank_bits =
      is_split(circuit.qubits(), ranks, needed_local_bits(circuit)) ? log2_exact(static_cast<Index>(ranks)) : 0;
  plan.precision = target.precision;
  plan.strategy = options.strategy;
  plan.tile_bits = options.tile_bits;
  plan.known_zeros = options.known_zeros;
  auto impl = std::make_shared<Program::Impl>(std::make_shared<const Circuit>(circuit), machine, plan);
  impl->backend = target.backend;
  impl->ranks = ranks;
  return impl;
}

Program compile(const Circuit& circuit, const Target& target, const CompileOptions& options) {
  require_rank_count(rank_count(target));
  Target chosen = target;
  chosen.backend = choose_backend(target).backend;
  return Program(make_program(circuit, chosen, this_machine(chosen), options));
}

Program::Impl& Program::impl() const {
  if (!impl_) throw UsageError("this program was moved from");
  return *impl_;
}

const Circuit& Program::circuit() const { return *impl().circuit; }
bool Program::dynamic() const { return impl().dynamic; }

ProgramWork Program::work(std::span<const double> values) const {
  const std::shared_ptr<const Plan> plan = impl().plan(values, nullptr, Impl::Use::kLook).plan;
  const PlanWork of_plan = plan_work(*plan);
  ProgramWork work;
  work.sweeps = of_plan.sweeps;
  work.exchanges = of_plan.exchanges;
  work.bytes_swept = of_plan.bytes_swept_per_rank;
  work.bytes_exchanged = of_plan.bytes_exchanged_per_rank;
  work.memory_bytes = pool_layout(*plan, impl().machine).total_bytes();
  work.seconds = of_plan.total_seconds;
  return work;
}

std::string Program::timetable(std::span<const double> values, std::size_t width) const {
  if (dynamic()) return program_svg(*impl().whole(values).planned, impl().machine, width);
  return plan_svg(*impl().plan(values, nullptr, Impl::Use::kLook).plan, impl().machine, width);
}

}  // namespace qsim
