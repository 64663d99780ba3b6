// Open plans are made twice, at two generic points, and compared.
#include "plan/program/open_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/numbers/matrix2.h"
#include "plan/cost/cost.h"
#include "plan/make/make_plan.h"

namespace qsim {
namespace {

// Two ways to multiply hundreds of matrices differ by some hundred roundings; other numbers differ in the first digits.
constexpr double kSame = 1e-11;

constexpr Matrix2 kRealTurn{0.8, -0.6, 0.6, 0.8};

template <typename Numbers>
bool near(const Numbers& a, const Numbers& b) {
  return std::ranges::equal(a, b, [](Complex x, Complex y) { return std::abs(x - y) <= kSame; });
}

bool same_phases(const std::vector<PhaseTerm>& a, const std::vector<PhaseTerm>& b) {
  return std::ranges::equal(a, b, [](const PhaseTerm& x, const PhaseTerm& y) {
    return x.mask == y.mask && x.parity == y.parity && (x.open == 0) == (y.open == 0) &&
           std::abs(std::remainder(x.angle - y.angle, 2 * std::numbers::pi)) <= kSame;
  });
}

bool same_births(const std::vector<Birth>& a, const std::vector<Birth>& b) {
  return std::ranges::equal(a, b,
                            [](const Birth& x, const Birth& y) { return x.bit == y.bit && near(x.factor, y.factor); });
}

bool same_sweeps(const Sweep& a, const Sweep& b) {
  return a.active == b.active && a.store == b.store && a.reach == b.reach && a.bundle == b.bundle &&
         a.reads == b.reads && a.unborn == b.unborn && std::abs(a.start_scale - b.start_scale) <= kSame &&
         a.ops == b.ops && same_births(a.births, b.births) && same_phases(a.phases, b.phases) &&
         near(a.matrices, b.matrices);
}

bool same_exchanges(const std::optional<Exchange>& a, const std::optional<Exchange>& b) {
  if (!a || !b) return !a && !b;
  return a->swaps == b->swaps && a->chunk_mask == b->chunk_mask && a->unborn == b->unborn &&
         a->overlap_before == b->overlap_before && a->overlap_after == b->overlap_after;
}

/// Cores take the phases out of turns when they translate them, as the planner does where turns are fixed: an open turn
/// costs what a real one does.
double seconds_of(Plan plan, const Machine& machine) {
  if (machine.kind == BackendKind::kCpu) {
    for (Stage& stage : plan.stages) {
      for (Sweep& sweep : stage.sweeps) {
        for (const PlanOp& op : sweep.ops) {
          if (op.open != 0) std::ranges::copy(kRealTurn, sweep.matrices.begin() + op.data_begin);
        }
      }
    }
    predict(plan, machine);
  }
  return plan_work(plan).total_seconds;
}

}  // namespace

bool same_plans(const Plan& a, const Plan& b) {
  return a.qubits == b.qubits && a.rank_bits == b.rank_bits && a.initial_layout == b.initial_layout &&
         a.final_layout == b.final_layout && near(a.global_start, b.global_start) &&
         std::ranges::equal(a.stages, b.stages, [](const Stage& x, const Stage& y) {
           return same_exchanges(x.exchange, y.exchange) && x.layout == y.layout &&
                  std::ranges::equal(x.sweeps, y.sweeps, same_sweeps);
         });
}

std::optional<OpenPlan> OpenPlan::make(const Circuit& circuit, const OpenAngles& angles, const Machine& machine,
                                       const PlanOptions& options) {
  const std::vector<double> one = angles.generic(1), two = angles.generic(2);
  Plan shape = make_open_plan(circuit, angles, one, machine, options);
  const Plan other = make_open_plan(circuit, angles, two, machine, options);
  Plan moved = shape;
  put_angles(moved, shape.open, two);
  if (!same_plans(moved, other)) return std::nullopt;
  OpenPlan plan;
  plan.numbers_ = std::exchange(shape.open, {});
  plan.numbers_.keep_used(shape);
  plan.predicted_seconds_ = seconds_of(shape, machine);
  plan.shape_ = std::make_shared<const Plan>(std::move(shape));
  return plan;
}

std::shared_ptr<const Plan> OpenPlan::at(std::span<const double> angles) const {
  auto plan = std::make_shared<Plan>(*shape_);
  put_angles(*plan, numbers_, angles);
  return plan;
}

}  // namespace qsim
