// Neighbours on one target under the same controls become one matrix under them: what is left of a sequence of gates of
// which each was given a control, such as an iterate of Grover's search in amplitude estimation.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/bits.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class ControlledMerger {
 public:
  explicit ControlledMerger(const Circuit& circuit)
      : circuit_(circuit),
        last_(circuit.qubits(), kNone),
        last_turn_(circuit.qubits(), kNone),
        next_(circuit.operations().size(), kNone) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    bool found = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const Support support = support_of(circuit_, operations[i]);
      const std::uint32_t before = mergeable(operations[i]) ? partner(operations[i]) : kNone;
      // Phases alone are added up elsewhere.
      if (before != kNone && !(support.is_diagonal() && support_of(circuit_, operations[before]).is_diagonal())) {
        next_[before] = i;
        found = true;
      }
      for_each_bit(support.all, [&](unsigned q) { last_[q] = i; });
      for_each_bit(support.all & ~support.diagonal, [&](unsigned q) { last_turn_[q] = i; });
    }
    if (found) build(result);
    return found;
  }

 private:
  // Flips stay what they are: other passes look for them.
  bool mergeable(const Operation& op) const {
    if (op.controls == 0 || op.targets != 1 || is_open(circuit_, op)) return false;
    return op.kind == OpKind::kUnitary || (op.kind == OpKind::kGate && op.gate != Gate::kX);
  }

  // The last operation on the target, where it has the same controls and they have not turned since.
  std::uint32_t partner(const Operation& op) const {
    const std::uint32_t found = last_[circuit_.targets(op)[0]];
    if (found == kNone) return kNone;
    const Operation& other = circuit_.operations()[found];
    if (!mergeable(other) || circuit_.targets(other)[0] != circuit_.targets(op)[0]) return kNone;
    if (other.controls != op.controls) return kNone;
    for (const Qubit c : circuit_.controls(op)) {
      const auto controls = circuit_.controls(other);
      if (std::ranges::find(controls, c) == controls.end()) return kNone;
      if (last_turn_[c] != kNone && last_turn_[c] > found) return kNone;
    }
    return found;
  }

  Matrix2 matrix_of(std::uint32_t i) const {
    const Matrix m = circuit_.matrix(circuit_.operations()[i]);
    return {m[0], m[1], m[2], m[3]};
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    std::vector<std::uint32_t> first(operations.size(), kNone);  // of the run that an operation is in
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      if (first[i] == kNone) first[i] = i;
      if (next_[i] != kNone) {
        first[next_[i]] = first[i];
      } else if (first[i] == i) {
        rewriter.copy(i);
      } else {
        close(first[i], i, rewriter);
      }
    }
  }

  // The run stands where its last operation stood.
  void close(std::uint32_t from, std::uint32_t last, Rewriter& rewriter) const {
    Matrix2 all = matrix_of(from);
    for (std::uint32_t i = from; i != last; i = next_[i]) all = unitary_product(matrix_of(next_[i]), all);
    const bool nothing = is_identity(all);
    const Operation& op = circuit_.operations()[last];
    if (!nothing) rewriter.append_for(last).add_unitary(all, circuit_.controls(op), circuit_.targets(op));
    for (std::uint32_t i = from; i != kNone; i = next_[i]) {
      if (nothing) {
        rewriter.remove(i, "identity");
      } else {
        rewriter.count_here(i);
      }
    }
  }

  const Circuit& circuit_;
  std::vector<std::uint32_t> last_, last_turn_;  // by qubit: the last operation on it, and the last that turns it
  std::vector<std::uint32_t> next_;              // by operation: the one that it is merged into
};

}  // namespace

bool merge_controlled(const Circuit& circuit, Rewritten& result) { return ControlledMerger(circuit).run(result); }

}  // namespace qsim
