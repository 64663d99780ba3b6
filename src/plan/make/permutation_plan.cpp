// Stretches of flips in sweeps that permute.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/build/builder.h"
#include "plan/cost/cost.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/join.h"
#include "plan/make/planners.h"
#include "plan/make/search.h"
#include "plan/sixteenths.h"
#include "plan/sweep/as_permutations.h"
#include "plan/sweep/flip_stretches.h"

namespace qsim {
namespace {

// Each part is planned by itself, with what the whole circuit's operations stand for: more of them would take time that
// is not linear in the operations.
constexpr std::size_t kMostParts = 64;

// Behind so many operations in all a first write of a smaller share of them saves less than planning all the others
// again takes.
constexpr std::size_t kManyOperations = 20000;
constexpr double kLeastShare = 0.005;

FlipPrices prices_of(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  FlipPrices prices;
  const std::uint32_t local_bits = lowered.qubits - options.rank_bits;
  prices.tile = options.tile_bits.value_or(machine.max_tile_bits);
  prices.low = std::min(machine.low_bits, prices.tile - std::min(prices.tile, 3u));
  const auto seconds = [&](const Sweep& sweep) { return sweep_seconds(sweep, local_bits, options.precision, machine); };
  Sweep tiles;
  for (Bit bit = 0; bit < static_cast<Bit>(std::min(prices.tile, local_bits)); ++bit) tiles.active.push_back(bit);
  prices.sweep = seconds(tiles);
  prices.flip = 1e-15 * machine.cost(options.precision).flip * std::exp2(local_bits);
  Sweep permuting;
  permuting.bundle = bit_mask(local_bits) - 1;
  prices.permuting = seconds(permuting);
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.act_on(1);
  permuting.ops.push_back(flip);
  prices.step = seconds(permuting) - prices.permuting;
  if (options.knows_zero()) {
    permuting.reads = false;
    permuting.unborn = permuting.bundle;
    for (Bit bit = 0; bit < static_cast<Bit>(local_bits); ++bit) permuting.births.push_back({bit});
    prices.first = seconds(permuting);
  }
  return prices;
}

/// Joins a sweep that permutes, of a part's operations, which all may.
void join_flips(const Lowered& flips, const KnownStart& known, bool whole, std::uint32_t qubits, const Machine& machine,
                PlanJoiner& joiner) {
  std::vector<PlanJoiner::Placed> placed;
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < flips.ops.size(); ++i) {
    const LoweredOp& op = flips.ops[i];
    if (op.gates != 0) placed.push_back({op.source, i});
    all.push_back(i);
  }
  const PlanOptions here = joiner.here();
  PlanBuilder builder(qubits, here, machine, joiner.layout(), known);
  builder.add_permuting_sweep(flips, all, whole);
  joiner.join(builder, flips, placed);
}

void append(const CircuitPart& part, const Lowered& lowered, Lowered& to) {
  for (const std::uint32_t index : part.ops) {
    to.ops.push_back(lowered.ops[index]);
    to.gates += to.ops.back().gates;
  }
}

/// The first stretch of flips and what is before it, where that is taken into a product state.
struct FirstWrite {
  Lowered flips;
  KnownStart known;
  std::size_t parts = 0;  // that these are
};
std::optional<FirstWrite> first_write_of(const std::vector<CircuitPart>& parts, const Lowered& lowered, Lowered none) {
  FirstWrite first{std::move(none), {}, parts[0].permutes ? std::size_t{1} : 2};
  if (parts.size() < first.parts || !parts[first.parts - 1].permutes) return std::nullopt;
  first.flips.matrices = lowered.matrices;
  first.flips.phases = lowered.phases;
  for (std::size_t i = 0; i < first.parts; ++i) append(parts[i], lowered, first.flips);
  first.known = absorb_known_start(first.flips, {});
  const auto permutes = [&](const LoweredOp& op) { return may_permute(op, first.flips.terms(op)); };
  if (first.flips.ops.empty() || !std::ranges::all_of(first.flips.ops, permutes)) return std::nullopt;
  return first;
}

/// The parts planned one after the other. `whole`: a part that permutes as one bundle.
std::optional<Plan> plan_of(const std::vector<CircuitPart>& parts, bool whole, const Lowered& lowered,
                            const Machine& machine, PlanOptions options) {
  // Registers as they are written, lowest bit first: neighbours go to neighbours where numbers are added to them.
  if (!options.initial_layout) options.initial_layout = Layout::identity(static_cast<int>(lowered.qubits));
  PlanJoiner joiner(lowered, machine, options);
  std::size_t next = 0;
  if (const auto first = options.knows_zero() ? first_write_of(parts, lowered, joiner.empty()) : std::nullopt) {
    join_flips(first->flips, first->known, true, lowered.qubits, machine, joiner);
    next = first->parts;
  }
  for (; next < parts.size(); ++next) {
    Lowered part = joiner.empty();
    append(parts[next], lowered, part);
    if (parts[next].permutes) {
      part.phases = lowered.phases;
      join_flips(part, plain_start(part, 0), whole, lowered.qubits, machine, joiner);
    } else {
      joiner.plan_between(part.ops);
    }
  }
  return joiner.finished();
}

/// The first write permutes, and what is behind it is planned as if nothing else could, in a layout of its own: such a
/// write is as fast in any.
std::optional<Plan> plan_behind_first_write(const std::vector<CircuitPart>& parts, const Lowered& lowered,
                                            const Machine& machine, PlanOptions options) {
  const Lowered none = PlanJoiner(lowered, machine, options).empty();
  const auto first = first_write_of(parts, lowered, none);
  if (!first) return std::nullopt;
  const auto all = static_cast<double>(lowered.ops.size());
  if (lowered.ops.size() > kManyOperations && static_cast<double>(first->flips.ops.size()) < kLeastShare * all) {
    return std::nullopt;
  }
  Lowered rest = none;
  rest.matrices = lowered.matrices;
  rest.phases = lowered.phases;
  for (std::size_t i = first->parts; i < parts.size(); ++i) append(parts[i], lowered, rest);
  std::optional<Plan> behind;
  if (!rest.ops.empty()) {
    PlanOptions after = options;
    after.start = Start::kState;
    behind = searched_plan(rest, machine, after, {});
    options.initial_layout = behind->initial_layout;
  }
  PlanJoiner joiner(lowered, machine, options);
  join_flips(first->flips, first->known, true, lowered.qubits, machine, joiner);
  if (behind) joiner.join(*std::move(behind));
  return joiner.finished();
}

/// Of the circuit as it is.
std::optional<Plan> plan_with_stretches(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  const std::vector<CircuitPart> parts = flip_parts(lowered, prices_of(lowered, machine, options));
  if (std::ranges::none_of(parts, &CircuitPart::permutes)) return std::nullopt;
  const auto behind_first_write = [&] {
    return options.knows_zero() ? plan_behind_first_write(parts, lowered, machine, options) : std::nullopt;
  };
  if (parts.size() > kMostParts || options.rank_bits != 0) return behind_first_write();
  // All of the shard at once where another state has room beside it; else bundles that take a small part of one.
  const std::uint64_t memory = machine.memory_bytes_per_rank;
  if (2 * state_bytes(options.precision, lowered.qubits) <= memory) {
    std::optional<Plan> plan = plan_of(parts, true, lowered, machine, options);
    if (!plan || pool_layout(*plan, machine).total_bytes() <= memory - memory / 16) return plan;
  }
  std::optional<Plan> plan = plan_of(parts, false, lowered, machine, options);
  if (!plan) return std::nullopt;
  const PoolLayout pool = pool_layout(*plan, machine);
  if (pool.spare_bytes > pool.state_bytes / 8 || (memory > 0 && pool.total_bytes() > memory))
    return behind_first_write();
  return plan;
}

}  // namespace

std::optional<Plan> permutation_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  // On several ranks only the first write may permute, which needs nothing from the others.
  if (options.rank_bits != 0 && !options.knows_zero()) return std::nullopt;
  if (options.preserve_layout || !machine.cost(options.precision).permutation) return std::nullopt;
  if (lowered.qubits <= options.tile_bits.value_or(machine.max_tile_bits)) return std::nullopt;
  if (!pass_enabled(options.disabled_passes, "permute")) return std::nullopt;
  std::optional<Plan> plan = plan_with_stretches(lowered, machine, options);
  if (const std::optional<Lowered> other = as_permutations(lowered)) {
    std::optional<Plan> of_other = plan_with_stretches(*other, machine, options);
    if (of_other && (!plan || cheaper(*of_other, *plan, options))) plan = std::move(of_other);
  }
  return plan;
}

}  // namespace qsim
