// Sweeps that permute, and what their bundles are.
#include <algorithm>

#include "base/bits.h"
#include "plan/build/builder.h"
#include "plan/plan.h"
#include "qsim/target.h"

namespace qsim {
namespace {

/// Of a bundle that is not all of a shard: what the cache of a processor's core holds; what keeps a GPU busy, but a
/// sixteenth of a large shard at most.
int bundle_bits(BackendKind kind, std::uint32_t local_bits) {
  return kind == BackendKind::kCuda ? std::clamp(static_cast<int>(local_bits) - 4, 20, 26) : 14;
}

}  // namespace

void PlanBuilder::add_permuting_sweep(const Lowered& lowered, std::span<const std::uint32_t> ops, bool whole) {
  Sweep sweep;
  sweep.unborn = unborn_;
  append_ops(sweep, lowered, ops);
  if (plan_.start == Start::kZero && sweeps_ == 0) {
    sweep.reads = false;
    bear_known(sweep, low_mask(plan_.qubits));
    plan_.global_start.assign(std::size_t{1} << plan_.rank_bits, known_.global_start.front());
    sweep.bundle = local_mask_;
    whole = true;
  } else {
    for (const PlanOp& op : sweep.ops) sweep.bundle |= op.form == Form::kFlip ? bit_mask(op.targets[0]) : 0;
  }
  for_each_bit(sweep.bundle & unborn_, [&](unsigned bit) { sweep.births.push_back({static_cast<Bit>(bit)}); });
  unborn_ &= ~sweep.bundle;
  const int wanted = whole ? kMaxQubits : bundle_bits(machine_.kind, plan_.local_bits());
  for (Index left = local_mask_ & ~unborn_ & ~sweep.bundle; left != 0; left &= left - 1) {
    if (popcount(sweep.bundle) >= wanted) break;
    sweep.bundle |= left & (~left + 1);
  }
  stage().sweeps.push_back(std::move(sweep));
  ++sweeps_;
}

}  // namespace qsim
