// The strategies behind make_plan.
#pragma once

#include <optional>

#include "optimizer/pipeline.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim {

/// One operation a sweep in the layout given (or the identity): the reference for every other plan.
Plan naive_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);
/// All operations as they are written in one sweep, for a single run on one rank whose tile holds the state.
Plan written_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);
/// Merges neighbours and packs operations into sweeps in order, with a look-ahead over what commutes.
Plan greedy_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options);

/// For one run: the gates as they are written, where that takes no longer, by prediction, than to look for a better
/// plan would. Nothing where it does, for states that are too large to run so, or where the options ask for more.
std::optional<Plan> quick_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options);
/// What looking for a plan takes, about.
double planning_seconds(const Circuit& circuit);
constexpr std::uint32_t kManyQubits = 20;  // smaller states are swept faster than a second search ends

/// The shorter of the plans that two searches from different beginnings and the greedy planner find. `form`: what the
/// circuit is written as where angles of it are open; the greedy planner, which multiplies as it goes, has no part in
/// that.
Plan search_plan(const Circuit& circuit, const Machine& machine, const PlanOptions& options,
                 const Rewritten* form = nullptr);

/// Stretches of rotations about Pauli strings in sweeps that are spanned by the strings, what lies between them as
/// searched_plan() plans it. Nothing where no stretch takes fewer sweeps so; on one rank alone.
std::optional<Plan> string_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options);

/// Stretches of flips in sweeps that permute, what lies between them as searched_plan() plans it. On several ranks, and
/// where the memory that further ones would take beside the state is neither small nor there, the first write alone.
/// Nothing where no stretch is worth a sweep.
std::optional<Plan> permutation_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options);

/// By predicted time; with a fixed tile on one rank by bytes, as far as they differ by more than a few hundredths.
bool cheaper(const Plan& a, const Plan& b, const PlanOptions& options);

/// UsageError when an operation has more targets than a rank has bits.
void check_targets_fit(const Lowered& lowered, std::uint32_t local_bits);

}  // namespace qsim
