// Stretches of flips in sweeps that permute.
#include <algorithm>
#include <optional>
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
#include "plan/sweep/flip_stretches.h"

namespace qsim {
namespace {

// Each part is planned by itself, with what the whole circuit's operations stand for: more of them would take time that
// is not linear in the operations.
constexpr std::size_t kMostParts = 64;

FlipPrices prices_of(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  FlipPrices prices;
  prices.tile = options.tile_bits.value_or(machine.max_tile_bits);
  prices.low = std::min(machine.low_bits, prices.tile - std::min(prices.tile, 3u));
  const auto seconds = [&](const Sweep& sweep) {
    return sweep_seconds(sweep, lowered.qubits, options.precision, machine);
  };
  Sweep tiles;
  for (Bit bit = 0; bit < static_cast<Bit>(std::min(prices.tile, lowered.qubits)); ++bit) tiles.active.push_back(bit);
  prices.sweep = seconds(tiles);
  Sweep permuting;
  permuting.bundle = bit_mask(lowered.qubits) - 1;
  prices.permuting = seconds(permuting);
  PlanOp flip;
  flip.form = Form::kFlip;
  flip.target_count = 1;
  permuting.ops.push_back(flip);
  prices.step = seconds(permuting) - prices.permuting;
  return prices;
}

/// The parts planned one after the other. `whole`: a part that permutes as one bundle.
std::optional<Plan> plan_of(const std::vector<CircuitPart>& parts, bool whole, const Lowered& lowered,
                            const Machine& machine, PlanOptions options) {
  // Registers as they are written, lowest bit first: neighbours go to neighbours where numbers are added to them.
  if (!options.initial_layout) options.initial_layout = Layout::identity(static_cast<int>(lowered.qubits));
  PlanJoiner joiner(lowered, machine, options);
  for (const CircuitPart& part : parts) {
    std::vector<LoweredOp> ops;
    for (const std::uint32_t index : part.ops) ops.push_back(lowered.ops[index]);
    if (!part.permutes) {
      joiner.plan_between(ops);
      continue;
    }
    Lowered flips = joiner.empty();
    flips.ops = std::move(ops);
    std::vector<PlanJoiner::Placed> placed;
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < flips.ops.size(); ++i) {
      const LoweredOp& op = flips.ops[i];
      flips.gates += op.gates;
      if (op.gates != 0) placed.push_back({op.source, i});
      all.push_back(i);
    }
    const PlanOptions here = joiner.here();
    PlanBuilder builder(lowered.qubits, here, machine, joiner.layout(), plain_start(flips, 0));
    builder.add_permuting_sweep(flips, all, whole);
    joiner.join(builder, flips, placed);
  }
  return joiner.finished();
}

}  // namespace

std::optional<Plan> permutation_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  if (options.rank_bits != 0 || options.preserve_layout || !machine.cost(options.precision).permutation)
    return std::nullopt;
  if (lowered.qubits <= options.tile_bits.value_or(machine.max_tile_bits)) return std::nullopt;
  if (!pass_enabled(options.disabled_passes, "permute")) return std::nullopt;
  const std::vector<CircuitPart> parts = flip_parts(lowered, prices_of(lowered, machine, options));
  if (parts.size() > kMostParts || std::ranges::none_of(parts, &CircuitPart::permutes)) return std::nullopt;
  // All of the shard at once where another state has room beside it; else bundles that take a small part of one.
  const std::uint64_t memory = machine.memory_bytes_per_rank;
  if (2 * state_bytes(options.precision, lowered.qubits) <= memory) {
    std::optional<Plan> plan = plan_of(parts, true, lowered, machine, options);
    if (!plan || pool_layout(*plan, machine).total_bytes() <= memory - memory / 16) return plan;
  }
  std::optional<Plan> plan = plan_of(parts, false, lowered, machine, options);
  if (!plan) return std::nullopt;
  const PoolLayout pool = pool_layout(*plan, machine);
  if (pool.spare_bytes > pool.state_bytes / 8 || (memory > 0 && pool.total_bytes() > memory)) return std::nullopt;
  return plan;
}

}  // namespace qsim
