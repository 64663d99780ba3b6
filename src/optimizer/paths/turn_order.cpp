// Gates that turn a qubit, pulled to the front with what they need.
#include "optimizer/paths/turn_order.h"

#include <algorithm>
#include <utility>

#include "optimizer/operations.h"
#include "optimizer/paths/path_steps.h"
#include "optimizer/pipeline.h"

namespace qsim {

std::vector<std::uint32_t> turns_early(const Circuit& circuit, std::uint32_t first, std::uint32_t end) {
  const auto& operations = circuit.operations();
  std::vector<std::uint32_t> before, begin{0};  // by operation: the one before it on each of its qubits
  std::vector<std::uint32_t> last(circuit.qubits(), kNoPlace), order, pending, needed;
  std::vector<bool> placed(end - first, false);
  const auto pull = [&](std::uint32_t root) {
    pending.push_back(root);
    placed[root] = true;
    while (!pending.empty()) {
      const std::uint32_t i = pending.back();
      pending.pop_back();
      needed.push_back(first + i);
      for (std::uint32_t j = begin[i]; j < begin[i + 1]; ++j) {
        if (before[j] == kNoPlace || placed[before[j]]) continue;
        placed[before[j]] = true;
        pending.push_back(before[j]);
      }
    }
    std::ranges::sort(needed);
    order.insert(order.end(), needed.begin(), needed.end());
    needed.clear();
  };
  for (std::uint32_t i = 0; i < end - first; ++i) {
    const Operation& op = operations[first + i];
    if (skipped(op)) {
      placed[i] = true;
    } else {
      for_each_qubit(circuit, op, [&](Qubit q) { before.push_back(std::exchange(last[q], i)); });
    }
    begin.push_back(static_cast<std::uint32_t>(before.size()));
    if (op.controls + op.targets == 1 && !skipped(op) && turns(circuit, op)) pull(i);
  }
  for (std::uint32_t i = 0; i < end - first; ++i) {
    if (!placed[i]) pull(i);
  }
  return order;
}

}  // namespace qsim
