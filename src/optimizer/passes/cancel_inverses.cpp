// Neighbours that undo each other: a gate and its inverse with the same controls on the same targets.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers/rounding.h"
#include "circuit/gate_table.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Canceller {
 public:
  explicit Canceller(const Circuit& circuit) : circuit_(circuit), last_(circuit.qubits(), kNone) {
    const std::size_t size = circuit.operations().size();
    before_.resize(size);
    gone_.assign(size, false);
  }

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    bool found = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const std::uint32_t partner = only_predecessor(i);
      if (partner != kNone && undoes(operations[partner], operations[i])) {
        remove(partner);
        gone_[i] = found = true;
      } else {
        append(i);
      }
    }
    if (found) build(result);
    return found;
  }

 private:
  // The operation right before `i` on each of its qubits, if that is one and acts on no other qubit.
  std::uint32_t only_predecessor(std::uint32_t i) const {
    std::uint32_t found = kNone;
    bool same = true, first = true;
    for_each_qubit(circuit_, circuit_.operations()[i], [&](Qubit q) {
      if (first) found = last_[q];
      same = same && last_[q] == found;
      first = false;
    });
    return same ? found : kNone;
  }

  void append(std::uint32_t i) {
    for_each_qubit(circuit_, circuit_.operations()[i], [&](Qubit q) {
      before_[i].push_back(last_[q]);
      last_[q] = i;
    });
  }

  void remove(std::uint32_t i) {
    gone_[i] = true;
    std::size_t at = 0;
    for_each_qubit(circuit_, circuit_.operations()[i], [&](Qubit q) { last_[q] = before_[i][at++]; });
  }

  // Both act on the same qubits, so that equal targets leave the same controls.
  bool undoes(const Operation& a, const Operation& b) const {
    if (a.kind != OpKind::kGate || b.kind != OpKind::kGate) return false;
    if (is_open(circuit_, a) || is_open(circuit_, b)) return false;
    if (a.controls != b.controls || a.targets != b.targets) return false;
    if (!std::ranges::equal(circuit_.targets(a), circuit_.targets(b))) return false;
    const GateCall inverse = gate_info(a.gate).inverse(circuit_.params(a));
    return inverse.gate == b.gate && std::ranges::equal(inverse.params, circuit_.params(b), [](double x, double y) {
             return std::abs(x - y) <= kRounding;  // compilers add to angles what they take off again
           });
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      if (gone_[i]) {
        rewriter.remove(i, "cancelled");
      } else {
        rewriter.copy(i);
      }
    }
  }

  const Circuit& circuit_;
  std::vector<std::uint32_t> last_;                 // by qubit
  std::vector<std::vector<std::uint32_t>> before_;  // by operation: what was last on its qubits
  std::vector<bool> gone_;
};

}  // namespace

bool cancel_inverses(const Circuit& circuit, Rewritten& result) { return Canceller(circuit).run(result); }

}  // namespace qsim
