// Square roots of X with phases between and around them, which some machines' circuits consist of, become what they
// were written for: Hadamard gates, flips and rotations, between phases. Angles are kept exactly, so that nothing hangs
// on rounding. Two Hadamard gates around a phase that is no quarter turn are a rotation, also beside a Hadamard gate,
// with which they would be another one: gates with several controls begin and end so. Others take each other away by
// H H = 1, H Z H = X, and H S H = S' H S' but for a phase.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/operations.h"
#include "optimizer/paths/turn_run.h"
#include "optimizer/sums/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

bool is_root(const Operation& op) {
  return op.kind == OpKind::kGate && (op.gate == Gate::kSx || op.gate == Gate::kSxdg) && op.controls == 0;
}

/// Given by its angles.
bool is_matrix(const Operation& op) {
  return op.kind == OpKind::kGate && (op.gate == Gate::kU || op.gate == Gate::kU2) && op.controls == 0;
}

/// What circuit_cost() makes of gates on one qubit, but for what phases at either end cost for want of a diagonal.
struct Weight {
  double sum = 0;
  bool turns = false, phases = false;  // so far; phases since the last gate that turns
  bool phases_before = false;          // the first of those

  void add(const Circuit& circuit, const Operation& op) {
    if (support_of(circuit, op).is_diagonal() || is_diagonal(*single_qubit_matrix(circuit, op))) {
      sum += weight::kPhase;
      phases = true;
      return;
    }
    if (!turns) phases_before = phases;
    if (turns && phases) sum += weight::kLonelyPhases;
    turns = true;
    phases = false;
    sum += turning(circuit, op);
  }
  bool at_least(const Weight& other) const {
    const int more = (other.phases_before && !phases_before ? 1 : 0) + (other.phases && !phases ? 1 : 0);
    return sum >= other.sum + more * weight::kLonelyPhases - 1e-9;
  }

 private:
  static double turning(const Circuit& circuit, const Operation& op) {
    switch (op.gate) {
      case Gate::kX:
        return weight::kFlip;
      case Gate::kY:
        return weight::kPhasedFlip;
      case Gate::kH:
        return weight::kRealTurn;
      case Gate::kRx:
      case Gate::kRy:
        if (turns_of(circuit.params(op)[0]) % kHalfTurn == 0) return 0;  // no turn, at least so much
        return op.gate == Gate::kRx ? weight::kGeneral : weight::kRealTurn;
      case Gate::kU:
      case Gate::kU2:
        return weight::turn(*single_qubit_matrix(circuit, op), true);
      default:
        return weight::kGeneral;
    }
  }
};

class TurnNamer {
 public:
  explicit TurnNamer(const Circuit& circuit)
      : circuit_(circuit),
        lines_(circuit.qubits()),
        run_of_(circuit.operations().size(), kNoPlace),
        named_(circuit.qubits()) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    names_matrices_ = std::ranges::any_of(operations, is_matrix) && is_of_cx(circuit_);
    if (!names_matrices_ && std::ranges::none_of(operations, is_root)) return false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) close(q);
    result.refused = refused_;
    if (runs_.empty()) return false;
    build(result);
    return true;
  }

 private:
  struct Line {
    TurnRun run;
    std::vector<std::uint32_t> members;
    bool has_root = false, has_matrix = false;
  };
  /// Operations that become those of named_ from `first` to `end`.
  struct Named {
    std::vector<std::uint32_t> members;
    std::size_t first = 0, end = 0;
    std::uint32_t place = kNoPlace;
  };

  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    if (op.targets == 1) {
      Line& line = lines_[circuit_.targets(op)[0]];
      if (line.run.multiply(circuit_, op)) {
        line.members.push_back(i);
        line.has_root = line.has_root || is_root(op);
        line.has_matrix = line.has_matrix || (names_matrices_ && is_matrix(op));
        return;
      }
    }
    for_each_qubit(circuit_, op, [&](Qubit q) { close(q); });
  }

  void close(Qubit q) {
    Line line = std::exchange(lines_[q], {});
    if (!line.has_matrix && (!line.has_root || line.members.size() < 2)) return;
    Named named{std::move(line.members), named_.operations().size(), 0, kNoPlace};
    const std::uint64_t common = write_turns(named_, q, line.run);
    named.end = named_.operations().size();
    if (!is_cheaper(named)) return;
    if (!stands_for_members(named, common)) {
      ++refused_;
      return;
    }
    common_ += common;
    for (const std::uint32_t i : named.members) run_of_[i] = static_cast<std::uint32_t>(runs_.size());
    runs_.push_back(std::move(named));
  }

  bool is_cheaper(const Named& run) const {
    Weight before, after;
    for (const std::uint32_t i : run.members) before.add(circuit_, circuit_.operations()[i]);
    for (std::size_t i = run.first; i < run.end; ++i) after.add(named_, named_.operations()[i]);
    return before.at_least(after);
  }

  bool stands_for_members(const Named& run, std::uint64_t common) const {
    Matrix2 wanted = kIdentity2;
    for (const std::uint32_t i : run.members)
      wanted = unitary_product(*single_qubit_matrix(circuit_, circuit_.operations()[i]), wanted);
    return stand_for(named_, run.first, common, wanted, run.members.size());
  }

  void build(Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      if (run_of_[i] == kNoPlace) {
        rewriter.copy(i);
        continue;
      }
      Named& run = runs_[run_of_[i]];
      if (i == run.members.front()) {
        Circuit& out = rewriter.append_for(i);
        for (std::size_t j = run.first; j < run.end; ++j) out.append(named_, named_.operations()[j]);
        if (run.first != run.end) run.place = rewriter.last();
      }
      if (run.place == kNoPlace) {
        rewriter.remove(i, "cancelled");
      } else {
        rewriter.count_on(i, run.place);
      }
    }
    append_common(result.circuit, common_);
  }

  const Circuit& circuit_;
  bool names_matrices_ = false;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> run_of_;  // by operation: its run in runs_
  Circuit named_;                      // what runs become, one behind the other, with some that are not taken
  std::vector<Named> runs_;
  std::uint64_t common_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool name_turns(const Circuit& circuit, Rewritten& result) { return TurnNamer(circuit).run(result); }

}  // namespace qsim
