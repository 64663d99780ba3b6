// General gates on one qubit as phases around a real rotation, where the phases join diagonals that are there anyway;
// rotations about XX as turns around one about ZZ, where other turns of both qubits are behind.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

class Splitter {
 public:
  explicit Splitter(const Circuit& circuit)
      : circuit_(circuit), joins_before_(circuit.operations().size()), joins_after_(circuit.operations().size()) {}

  bool run(Rewritten& result) {
    find_neighbours();
    const auto& operations = circuit_.operations();
    bool found = false;
    for (std::uint32_t i = 0; i < operations.size() && !found; ++i)
      found = !skipped(operations[i]) && parts(i).has_value();
    if (!found) return false;
    refused_ = 0;
    Rewriter rewriter(circuit_, result);
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      if (const auto split = parts(i)) {
        append(rewriter, i, *split);
      } else {
        rewriter.copy(i);
      }
    }
    result.refused = refused_;
    return true;
  }

 private:
  // Whether a diagonal on several qubits lies between each gate and the one before, or after, on its qubit.
  void find_neighbours() {
    std::vector<std::uint32_t> last(circuit_.qubits(), kNoPlace);
    std::vector<bool> joined(circuit_.qubits(), false);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const Support support = support_of(circuit_, operations[i]);
      const bool diagonal = support.is_diagonal(), several = popcount(support.all) > 1;
      for_each_bit(support.all, [&](unsigned q) {
        if (diagonal && several) {
          joined[q] = true;
          if (last[q] != kNoPlace) joins_after_[last[q]] = true;
        } else if (!test_bit(support.diagonal, q)) {
          joins_before_[i] = !several && joined[q];
          last[q] = several ? kNoPlace : i;
          joined[q] = false;
        }
      });
    }
  }

  std::optional<RotationAngles> parts(std::uint32_t i) {
    if (!joins_before_[i] && !joins_after_[i]) return std::nullopt;
    const auto matrix = single_qubit_matrix(circuit_, circuit_.operations()[i]);
    if (!matrix || is_diagonal(*matrix) || is_flip(*matrix) || is_real(*matrix)) return std::nullopt;
    const std::optional<RotationAngles> parts = rotation_angles(*matrix);
    if (!parts) ++refused_;
    const bool fits = parts && (parts->left == 0 || joins_after_[i]) && (parts->right == 0 || joins_before_[i]);
    return fits ? parts : std::nullopt;
  }

  void append(Rewriter& rewriter, std::uint32_t i, const RotationAngles& parts) {
    const Qubit q = circuit_.targets(circuit_.operations()[i])[0];
    Circuit& out = rewriter.append_for(i);
    const auto phase = [&](double angle) { out.add_gate(Gate::kPhase, {}, std::span(&q, 1), std::span(&angle, 1)); };
    if (parts.right != 0) phase(parts.right);
    rewriter.add_matrix(i, q, parts.rotation());
    rewriter.count_here(i);
    if (parts.left != 0) phase(parts.left);
    if (parts.around != 0) out.add_pauli_rotation(-2 * parts.around, "", {});
  }

  const Circuit& circuit_;
  std::vector<bool> joins_before_, joins_after_;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool split_turns(const Circuit& circuit, Rewritten& result) { return Splitter(circuit).run(result); }

bool split_pairs(const Circuit& circuit, Rewritten& result) {
  const auto& operations = circuit.operations();
  // How many of its qubits are turned right behind it, by what its own turns would be one with.
  std::vector<unsigned> turned(operations.size(), 0);
  std::vector<std::uint32_t> last(circuit.qubits(), kNoPlace);
  bool found = false;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (skipped(op)) continue;
    const Support support = support_of(circuit, op);
    const bool alone = popcount(support.all) == 1, is_pair = op.kind == OpKind::kGate && op.gate == Gate::kRxx;
    if (alone && support.is_diagonal()) continue;
    for_each_bit(support.all, [&](unsigned q) {
      const std::uint32_t pair = std::exchange(last[q], is_pair && op.controls == 0 ? i : kNoPlace);
      if (alone && pair != kNoPlace) found = ++turned[pair] == 2 || found;
    });
  }
  if (!found) return false;
  Rewriter rewriter(circuit, result);
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (skipped(op)) continue;
    if (turned[i] < 2) {
      rewriter.copy(i);
      continue;
    }
    const Qubit a = circuit.targets(op)[0], b = circuit.targets(op)[1];
    rewriter.append_for(i).h(a).h(b).rzz(whole_angle(circuit, op), a, b).h(a).h(b);
    rewriter.count_here(i);
  }
  return true;
}

}  // namespace qsim
