// What a sweep means on one rank: everything about global bits becomes a constant.

#include "base/numbers/rounding.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "qsim/types.h"

namespace qsim {
namespace {

// Appends `terms` with the rank's global bits put in; constant factors become one term with mask 0.
void fold_terms(std::span<const PhaseTerm> terms, Index local_mask, Index rank_value, std::vector<PhaseTerm>& out) {
  double constant = 0;
  for (const PhaseTerm& term : terms) {
    const Index local = term.mask & local_mask, global = term.mask & ~local_mask;
    if (term.parity) {
      const bool odd = __builtin_parityll(global & rank_value) != 0;
      if (odd) constant += term.angle;
      if (local != 0) out.push_back({local, true, odd ? -term.angle : term.angle});
    } else if ((global & rank_value) == global) {
      if (local == 0) {
        constant += term.angle;
      } else {
        out.push_back({local, false, term.angle});
      }
    }
  }
  constant = wrap_angle(constant);
  if (constant != 0) out.push_back({0, false, constant});
}

Complex start_of(const Plan& plan, std::uint32_t rank) {
  if (rank < plan.global_start.size()) return plan.global_start[rank];
  throw Error("plan.global_start has " + std::to_string(plan.global_start.size()) + " entries but rank " +
              std::to_string(rank) + " needs its own");
}

}  // namespace

Sweep specialize(const Sweep& sweep, const Plan& plan, std::uint32_t rank) {
  const std::uint32_t local_bits = plan.local_bits();
  const Index local_mask = (Index{1} << local_bits) - 1;
  const Index rank_value = Index{rank} << local_bits;
  Sweep result;
  result.active = sweep.active;
  result.store = sweep.store;
  result.reach = sweep.reach;
  result.bundle = sweep.bundle;
  result.reads = sweep.reads;
  result.unborn = sweep.unborn;
  result.births = sweep.births;
  result.start_scale = sweep.reads ? sweep.start_scale : sweep.start_scale * start_of(plan, rank);
  result.predicted_seconds = sweep.predicted_seconds;
  result.once = sweep.once;
  if (sweep.permutes() && !sweep.reads) {  // what comes from another rank's shard is known here
    result.above = rank_value;
    result.ops = sweep.ops;
    result.phases = sweep.phases;
    return result;
  }
  result.ops.reserve(sweep.ops.size());
  result.phases.reserve(sweep.phases.size());
  result.matrices.reserve(sweep.matrices.size());
  for (const PlanOp& op : sweep.ops) {
    const Index global_controls = op.control_mask & ~local_mask;
    if ((rank_value & global_controls) != (op.control_value & global_controls)) continue;
    PlanOp here = op;
    here.control_mask &= local_mask;
    here.control_value &= local_mask;
    if (op.form == Form::kPhases) {
      here.data_begin = static_cast<std::uint32_t>(result.phases.size());
      fold_terms({sweep.phases.data() + op.data_begin, op.data_count}, local_mask, rank_value, result.phases);
      here.data_count = static_cast<std::uint32_t>(result.phases.size()) - here.data_begin;
      if (here.data_count == 0) continue;
    } else if (op.form == Form::kMatrix) {
      const auto first = sweep.matrices.begin() + op.data_begin;
      here.data_begin = static_cast<std::uint32_t>(result.matrices.size());
      result.matrices.insert(result.matrices.end(), first, first + op.data_count);
    }
    result.ops.push_back(here);
  }
  return result;
}

}  // namespace qsim
