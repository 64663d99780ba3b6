// Diagonals commute: those with the same qubits and the same shape, with only diagonals between them, are one.
#include <cmath>
#include <unordered_map>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/sums/path_sum.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

// What the term multiplies by where it acts.
Complex factor(const DiagonalTerm& term) { return std::polar(1.0, term.parity != 0 ? 0.5 * term.angle : term.angle); }

/// Of the angle; where the term has a parity of half of it, so that both have the period of the factor.
std::uint64_t whole_turns(const DiagonalTerm& term) {
  return turns_of(term.parity != 0 ? wrap_angle(0.5 * term.angle) : wrap_angle(term.angle));
}
double angle_of(std::uint64_t turns, bool parity) { return (parity ? 2 : 1) * angle_of_turns(turns); }

class DiagonalMerger {
 public:
  /// `exactly`: angles are added as whole numbers of 2^-64 turns, and rounding is taken from them.
  DiagonalMerger(const Circuit& circuit, bool exactly)
      : circuit_(circuit),
        exactly_(exactly),
        turns_(exactly ? circuit.operations().size() : 0),
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
    const Support support = support_of(circuit_, op);
    for_each_bit(support.all & ~support.diagonal, [&](unsigned q) { next_after_[q] = i + 1; });
    const auto term = support.is_diagonal() ? term_of(circuit_, op) : std::nullopt;
    if (!term) return false;
    auto [found, fresh] = latest_.try_emplace(std::pair(term->ones, term->parity), i);
    std::uint32_t& host = found->second;
    if (!fresh && reaches(support.all, host)) {
      if (exactly_) {
        turns_[host] = rounded_turns(turns_[host] + rounded_turns(whole_turns(*term)));
        total_[host].angle = angle_of(turns_[host], term->parity != 0);
      } else {
        total_[host].angle += term->angle;
        total_[host].angle = wrapped(total_[host]);
      }
      factor_[host] *= factor(*term);
      ++members_[host];
      host_[host] = host_[i] = host;
      return true;
    }
    host = i;
    total_[i] = *term;
    total_[i].angle = wrapped(*term);
    factor_[i] = factor(*term);
    if (!exactly_) return false;
    const std::uint64_t turns = whole_turns(*term);
    turns_[i] = rounded_turns(turns);
    const bool rounded = turns_[i] != turns;
    if (rounded) {
      total_[i].angle = angle_of(turns_[i], term->parity != 0);
      host_[i] = i;
    }
    return rounded;
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
  bool exactly_;
  std::vector<std::uint64_t> turns_;       // by operation, where that is exact
  std::vector<std::uint32_t> next_after_;  // by qubit: one past its last operation that is not diagonal on it
  std::vector<std::uint32_t> host_;        // by operation: the first of those that it is merged with
  std::vector<DiagonalTerm> total_;
  std::vector<Complex> factor_;         // the members' factors multiplied
  std::vector<std::uint32_t> members_;  // those that joined the first
  std::unordered_map<std::pair<Index, Index>, std::uint32_t, Hash> latest_;
};

}  // namespace

bool merge_diagonals(const Circuit& circuit, Rewritten& result) { return DiagonalMerger(circuit, false).run(result); }
bool gather_diagonals(const Circuit& circuit, Rewritten& result) { return DiagonalMerger(circuit, true).run(result); }

}  // namespace qsim
