// Diagonals commute: those with the same qubits and the same shape, with only diagonals between them, are one.
#include <cmath>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/bits.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

// exp(i angle) where all of `ones` are 1; with a parity: exp(-i angle/2 Z...Z) of its qubits there.
struct Term {
  Index ones = 0, parity = 0;
  double angle = 0;
};

std::optional<double> phase_angle(const Circuit& circuit, const Operation& op) {
  if (op.targets != 1 || (op.kind != OpKind::kGate && op.kind != OpKind::kUnitary)) return std::nullopt;
  const Matrix matrix = circuit.matrix(op);
  if (matrix[0] != Complex(1) || matrix[1] != Complex(0) || matrix[2] != Complex(0)) return std::nullopt;
  if (op.kind == OpKind::kGate && op.gate == Gate::kPhase) return circuit.params(op)[0];
  return is_phase(matrix[3]) ? std::optional(std::arg(matrix[3])) : std::nullopt;
}

bool is_rotation(const Operation& op) {
  return op.kind == OpKind::kPauliRotation ||
         (op.kind == OpKind::kGate && (op.gate == Gate::kRz || op.gate == Gate::kRzz));
}

// The operation, which is diagonal, as one term where it is one.
std::optional<Term> term_of(const Circuit& circuit, const Operation& op) {
  Term term;
  for (const Qubit q : circuit.controls(op)) term.ones |= bit_mask(q);
  Index targets = 0;
  for (const Qubit q : circuit.targets(op)) targets |= bit_mask(q);
  if (targets == 0) return std::nullopt;
  if (is_rotation(op)) {
    term.parity = targets;
    term.angle = circuit.params(op)[0];
    return term;
  }
  const auto angle = phase_angle(circuit, op);
  if (!angle) return std::nullopt;
  term.ones |= targets;
  term.angle = *angle;
  return term;
}

std::vector<Qubit> qubits_of(Index mask) {
  std::vector<Qubit> list;
  for_each_bit(mask, [&](unsigned q) { list.push_back(q); });
  return list;
}

// Within one period, which is 4 pi for rotations: sums of many angles stay as exact as each.
double wrapped(const Term& term) {
  return term.parity != 0 ? 2 * wrap_angle(0.5 * term.angle) : wrap_angle(term.angle);
}

// What the term multiplies by where it acts.
Complex factor(const Term& term) { return std::polar(1.0, term.parity != 0 ? 0.5 * term.angle : term.angle); }

Circuit& append(Circuit& circuit, const Term& term) {
  if (term.parity == 0) {
    const Index target = term.ones & (~term.ones + 1);
    const double angle = term.angle;
    return circuit.add_gate(Gate::kPhase, qubits_of(term.ones & ~target), qubits_of(target), std::span(&angle, 1));
  }
  const std::vector<Qubit> controls = qubits_of(term.ones), targets = qubits_of(term.parity);
  const double angle = term.angle;
  if (targets.size() == 1) return circuit.add_gate(Gate::kRz, controls, targets, std::span(&angle, 1));
  return circuit.add_pauli_rotation(angle, std::string(targets.size(), 'Z'), targets, controls);
}

class DiagonalMerger {
 public:
  explicit DiagonalMerger(const Circuit& circuit)
      : circuit_(circuit),
        next_after_(circuit.qubits(), 0),
        host_(circuit.operations().size(), kNoPlace),
        total_(circuit.operations().size()),
        factor_(circuit.operations().size()),
        members_(circuit.operations().size(), 0) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    bool found = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i)
      if (!skipped(operations[i])) found |= visit(i);
    if (found) refuse_others(result);
    if (found) build(result);
    return found;
  }

 private:
  // Merged diagonals whose angle is not that of the product of their members' factors stay apart.
  void refuse_others(Rewritten& result) {
    std::vector<bool> refused(host_.size(), false);
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (host_[i] != i) continue;
      const Complex made = factor(total_[i]);
      refused[i] = !recomposes({&made, 1}, {&factor_[i], 1}, std::sqrt(static_cast<double>(members_[i] + 1)));
      if (refused[i]) ++result.refused;
    }
    for (std::uint32_t& host : host_) {
      if (host != kNoPlace && refused[host]) host = kNoPlace;
    }
  }

  bool visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Reach reach = reach_of(circuit_, op);
    for_each_bit(reach.all & ~reach.diagonal, [&](unsigned q) { next_after_[q] = i + 1; });
    const auto term = reach.is_diagonal() ? term_of(circuit_, op) : std::nullopt;
    if (!term) return false;
    auto [found, fresh] = latest_.try_emplace(std::pair(term->ones, term->parity), i);
    std::uint32_t& host = found->second;
    if (!fresh && reaches(reach.all, host)) {
      total_[host].angle += term->angle;
      total_[host].angle = wrapped(total_[host]);
      factor_[host] *= factor(*term);
      ++members_[host];
      host_[host] = host_[i] = host;
      return true;
    }
    host = i;
    total_[i] = *term;
    total_[i].angle = wrapped(*term);
    factor_[i] = factor(*term);
    return false;
  }

  // Nothing but diagonals on `qubits` since operation `i`.
  bool reaches(Index qubits, std::uint32_t i) const {
    bool free = true;
    for_each_bit(qubits, [&](unsigned q) { free = free && next_after_[q] <= i; });
    return free;
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const std::uint32_t host = host_[i];
      if (host == kNoPlace) {
        rewriter.copy(i);
      } else if (total_[host].angle == 0) {
        rewriter.remove(i, "cancelled");
      } else if (host != i) {
        rewriter.count_on(i, result.place[host]);
      } else {
        append(rewriter.append_for(i), total_[i]);
        rewriter.count_here(i);
      }
    }
  }

  struct Hash {
    std::size_t operator()(const std::pair<Index, Index>& key) const {
      Index h = key.first * 0x9E3779B97F4A7C15ull;
      h = (h ^ (h >> 29)) + key.second * 0xBF58476D1CE4E5B9ull;
      return static_cast<std::size_t>(h ^ (h >> 31));
    }
  };

  const Circuit& circuit_;
  std::vector<std::uint32_t> next_after_;  // by qubit: one past its last operation that is not diagonal on it
  std::vector<std::uint32_t> host_;        // by operation: the first of those that it is merged with
  std::vector<Term> total_;
  std::vector<Complex> factor_;         // the members' factors multiplied
  std::vector<std::uint32_t> members_;  // those that joined the first
  std::unordered_map<std::pair<Index, Index>, std::uint32_t, Hash> latest_;
};

}  // namespace

bool merge_diagonals(const Circuit& circuit, Rewritten& result) { return DiagonalMerger(circuit).run(result); }

}  // namespace qsim
