#include "circuit/idle_resets.h"

#include <algorithm>
#include <vector>

namespace qsim {

std::optional<Circuit> without_idle_resets(const Circuit& circuit) {
  std::vector<bool> touched(circuit.qubits(), false);
  std::vector<bool> idle(circuit.operations().size(), false);
  for (std::size_t i = 0; i < idle.size(); ++i) {
    const Operation& op = circuit.operations()[i];
    if (op.kind == OpKind::kBarrier) continue;
    if (op.kind == OpKind::kReset && !touched[circuit.targets(op)[0]]) {
      idle[i] = true;
      continue;
    }
    for (const Qubit qubit : circuit.controls(op)) touched[qubit] = true;
    for (const Qubit qubit : circuit.targets(op)) touched[qubit] = true;
  }
  if (std::find(idle.begin(), idle.end(), true) == idle.end()) return std::nullopt;
  Circuit kept = circuit.without_operations();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (!idle[i]) kept.append(circuit, circuit.operations()[i]);
  }
  return kept;
}

}  // namespace qsim
