// The list of passes and how their results are chained.
#include "optimizer/pipeline.h"

#include <algorithm>
#include <array>

namespace qsim {
namespace {

constexpr std::array<Pass, 2> kPasses{{
    {"cancel_inverses", "drops neighbouring operations that undo each other", cancel_inverses},
    {"recognise_rotations", "turns CX ladders around rotations about Z into rotations about parities",
     recognise_rotations},
}};

}  // namespace

std::span<const Pass> optimizer_passes() { return kPasses; }

bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result) {
  bool changed = false;
  for (const Pass& pass : kPasses) {
    if (std::find(disabled.begin(), disabled.end(), pass.name) != disabled.end()) continue;
    Rewritten next;
    if (!pass.run(changed ? result.circuit : circuit, next)) continue;
    if (changed) {
      for (std::uint32_t& origin : next.origin) origin = result.origin[origin];
      for (auto& [source, reason] : next.removed) source = result.origin[source];
      next.removed.insert(next.removed.end(), result.removed.begin(), result.removed.end());
    }
    result = std::move(next);
    changed = true;
  }
  return changed;
}

}  // namespace qsim
