// Stretches of rotations about Pauli strings in sweeps that are spanned by the strings.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/build/builder.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/lower/pauli_strings.h"
#include "plan/make/join.h"
#include "plan/make/planners.h"
#include "plan/sweep/string_sweeps.h"

namespace qsim {
namespace {

// Stretches whose sweeps are not fewer than this share of those that are spanned by wires are not looked at further.
constexpr double kWorthwhile = 0.75;

class StringPlanner {
 public:
  StringPlanner(const Lowered& lowered, const Machine& machine, const PlanOptions& options)
      : lowered_(lowered), machine_(machine), options_(options), joiner_(lowered, machine, options) {
    tile_.layout = joiner_.layout();
    tile_.size = std::min(options.tile_bits.value_or(machine.max_tile_bits), lowered.qubits);
    tile_.low = std::min(machine.low_bits, tile_.size - std::min(tile_.size, 3u));
    // A processor moves amplitudes by vectors, in which the lowest bits differ; to a GPU's threads a line is a line.
    tile_.kept = machine.kind == BackendKind::kCpu ? tile_.low : 0;
  }

  std::vector<StringStretch> stretches() {
    std::vector<StringStretch> found = string_stretches(lowered_, options_.knows_zero(), joiner_.open());
    std::erase_if(found, [&](const StringStretch& stretch) { return !worthwhile(stretch); });
    return found;
  }

  std::optional<Plan> run(std::vector<StringStretch> stretches) {
    std::vector<LoweredOp> between;
    const auto add_rests = [&](const StringStretch& stretch) {
      for (const StringRest& rest : stretch.rests) add_rest(rest, between);
    };
    std::size_t next = 0;
    for (StringStretch& stretch : stretches) {
      add_operations(next, stretch.first, between);
      for (const std::uint32_t index : stretch.before) between.push_back(lowered_.ops[index]);
      next = stretch.last;
      // Gates on |0...0> cost nothing, and gates after the last stretch might be the only ones there.
      const bool before =
          (stretch.first == 0 && options_.knows_zero()) || (!between.empty() && next == lowered_.ops.size());
      if (before) {
        put_rests_first(stretch, joiner_.open());
        add_rests(stretch);
      }
      joiner_.plan_between(between);
      plan_strings(stretch);
      if (!before) add_rests(stretch);
    }
    add_operations(next, lowered_.ops.size(), between);
    joiner_.plan_between(between);
    return joiner_.finished();
  }

 private:
  bool worthwhile(const StringStretch& stretch) const {
    const StringCounts counts = count_string_sweeps(stretch.rotations, tile_);
    return static_cast<double>(counts.by_strings) <= kWorthwhile * static_cast<double>(counts.by_wires);
  }

  void add_operations(std::size_t first, std::size_t last, std::vector<LoweredOp>& between) const {
    between.insert(between.end(), lowered_.ops.begin() + static_cast<std::ptrdiff_t>(first),
                   lowered_.ops.begin() + static_cast<std::ptrdiff_t>(last));
  }

  void add_rest(const StringRest& rest, std::vector<LoweredOp>& between) {
    if (is_identity(rest.matrix)) {
      for (const std::uint32_t member : rest.members) joiner_.remove(lowered_.ops[member]);
      return;
    }
    std::vector<Complex>& matrices = joiner_.matrices();
    LoweredOp op;
    op.act_on(bit_mask(rest.wire));
    op.data_begin = static_cast<std::uint32_t>(matrices.size());
    op.data_count = 4;
    for (const std::uint32_t member : rest.members) op.gates += lowered_.ops[member].gates;
    if (!rest.members.empty()) op.source = lowered_.ops[rest.members.front()].source;
    matrices.insert(matrices.end(), rest.matrix.begin(), rest.matrix.end());
    set_basis_masks(op, rest.matrix, {});
    between.push_back(op);
  }

  void plan_strings(const StringStretch& stretch) {
    Lowered part = joiner_.empty();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> placed;
    tile_.layout = joiner_.layout();
    const auto sweeps = write_string_sweeps(stretch, tile_, lowered_, part, placed);
    for (const LoweredOp& op : part.ops) part.gates += op.gates;
    const PlanOptions options = joiner_.here();
    PlanBuilder builder(lowered_.qubits, options, machine_, tile_.layout, plain_start(part, 0));
    for (const StringSweep& sweep : sweeps) builder.add_reaching_sweep(sweep.reach, part, sweep.ops);
    std::vector<PlanJoiner::Placed> sources;
    for (const auto& [member, op] : placed) sources.push_back({lowered_.ops[member].source, op});
    joiner_.join(builder, part, sources);
  }

  const Lowered& lowered_;
  const Machine& machine_;
  const PlanOptions& options_;
  PlanJoiner joiner_;
  StringTile tile_;
};

}  // namespace

std::optional<Plan> string_plan(const Lowered& lowered, const Machine& machine, const PlanOptions& options) {
  if (options.rank_bits != 0 || options.preserve_layout) return std::nullopt;
  if (!pass_enabled(options.disabled_passes, "span_strings")) return std::nullopt;
  StringPlanner planner(lowered, machine, options);
  std::vector<StringStretch> stretches = planner.stretches();
  if (stretches.empty()) return std::nullopt;
  return planner.run(std::move(stretches));
}

}  // namespace qsim
