// Flips of one qubit move past diagonals, which are turned over, flips of the same qubit, and CX gates that the qubit
// controls, behind which their target is flipped as well, to a gate on the qubit that takes them in or to another flip
// that they undo. Compilers that write pairs of qubits anew leave flips around one CX gate of two; without them what
// the two stand around is seen.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr int kFarthest = 64;  // operations that a flip moves past

class FlipAbsorber {
 public:
  explicit FlipAbsorber(const Circuit& circuit)
      : circuit_(circuit), on_(circuit.qubits()), steps_(circuit.operations().size()) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    bool flips = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      steps_[i] = read(i);
      flips = flips || steps_[i].kind == Kind::kFlip;
      for_each_bit(steps_[i].all, [&](unsigned q) { on_[q].push_back(i); });
    }
    if (!flips) return false;
    bool moved = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (steps_[i].kind == Kind::kFlip && !steps_[i].gone) moved = move(i) || moved;
    }
    if (moved) build(result);
    return moved;
  }

 private:
  enum class Kind : std::uint8_t { kFlip, kControlledFlip, kTurn, kPhase, kOther };
  struct Step {
    Kind kind = Kind::kOther;
    bool gone = false;                   // kFlip
    bool before = false, after = false;  // kTurn: a flip stands beside it now
    Index all = 0, controls = 0;
    Index turned_over = 0;  // kPhase: qubits that are flipped before and behind it
    DiagonalTerm term;
  };
  /// One more flip on a qubit: where an operation is, or on that side of it.
  struct Change {
    std::uint32_t at = 0;
    Qubit qubit = 0;
    bool before = false;
  };
  struct Way {
    double gain = 0;
    std::vector<Change> changes;
  };

  Step read(std::uint32_t i) const {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    Step step;
    step.all = support.all;
    step.controls = support.diagonal;
    const bool flip = op.kind == OpKind::kGate && op.gate == Gate::kX;
    if (support.is_diagonal()) {
      const std::optional<DiagonalTerm> term = term_of(circuit_, op);
      if (!term || support.all == 0) return step;
      step.kind = Kind::kPhase;
      step.term = *term;
    } else if (flip) {
      step.kind = op.controls == 0 ? Kind::kFlip : Kind::kControlledFlip;
    } else if (count_bits(support.all) == 1 && !is_open(circuit_, op)) {
      step.kind = Kind::kTurn;
    }
    return step;
  }

  bool move(std::uint32_t i) {
    const auto q = static_cast<Qubit>(std::countr_zero(steps_[i].all));
    const std::optional<Way> way = best_way(q, i, true);
    if (!way || weight_of(i, q) + way->gain <= 1e-9) return false;
    apply({i, q, false});
    for (const Change& change : way->changes) apply(change);
    return true;
  }

  /// Nothing beside a gate on the qubit, which it becomes one with.
  double weight_of(std::uint32_t flip, Qubit q) const {
    for (const int towards : {1, -1}) {
      std::size_t k = beside(place(q, flip), towards);
      for (int passed = 0; passed < kFarthest && k < on_[q].size(); ++passed, k = beside(k, towards)) {
        const Step& step = steps_[on_[q][k]];
        if (step.kind == Kind::kTurn) return 0;
        if (step.all != bit_mask(q) || (step.kind == Kind::kFlip && !step.gone)) break;
      }
    }
    return weight::kFlip;
  }

  /// The place after it, or the one before; before the first there is none, which is past the last.
  static std::size_t beside(std::size_t place, int towards) { return towards > 0 ? place + 1 : place - 1; }

  std::size_t place(Qubit q, std::uint32_t i) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(on_[q], i) - on_[q].begin());
  }

  /// Moves a flip of the qubit from operation `from` to where it is taken in. False where there is no such place.
  bool walk(Qubit q, std::uint32_t from, int towards, bool emits, Way& way) const {
    Index flipped = 0;  // other qubits, behind a CX gate that was passed
    std::size_t k = beside(place(q, from), towards);
    for (int passed = 0; passed < kFarthest && k < on_[q].size(); ++passed, k = beside(k, towards)) {
      const std::uint32_t i = on_[q][k];
      const Step& step = steps_[i];
      switch (step.kind) {
        case Kind::kFlip:
          if (step.gone) continue;
          way.gain += weight_of(i, q);
          way.changes.push_back({i, q, false});
          return true;
        case Kind::kTurn:
          way.changes.push_back({i, q, towards > 0});
          return true;
        case Kind::kPhase:
          if (test_bit(step.term.ones, q)) {
            if (step.term.parity != 0) return false;
            const unsigned others = count_bits(step.term.ones) - 1;
            if (others != 0) way.gain -= weight::diagonal(others);
          }
          way.changes.push_back({i, q, false});
          continue;
        case Kind::kControlledFlip: {
          if (!test_bit(step.controls, q)) continue;
          // Two CX gates onto one target are a gate that is controlled on 0.
          const Index target = step.all & ~step.controls;
          if (!emits || step.controls != bit_mask(q) || (flipped & target) != 0) return false;
          flipped |= target;
          // It commutes with the gate.
          const std::optional<Way> taken_in = best_way(static_cast<Qubit>(std::countr_zero(target)), i, false);
          if (!taken_in) return false;
          way.gain += taken_in->gain;
          way.changes.insert(way.changes.end(), taken_in->changes.begin(), taken_in->changes.end());
          continue;
        }
        case Kind::kOther:
          return false;
      }
    }
    return false;
  }

  /// Of a flip of the qubit at operation `from`.
  std::optional<Way> best_way(Qubit q, std::uint32_t from, bool emits) const {
    std::optional<Way> best;
    for (const int towards : {1, -1}) {
      Way next;
      if (walk(q, from, towards, emits, next) && (!best || next.gain > best->gain + 1e-9)) best = std::move(next);
    }
    return best;
  }

  void apply(const Change& change) {
    Step& step = steps_[change.at];
    if (step.kind == Kind::kFlip) {
      step.gone = !step.gone;
    } else if (step.kind == Kind::kTurn) {
      bool& flipped = change.before ? step.before : step.after;
      flipped = !flipped;
    } else {
      step.turned_over ^= bit_mask(change.qubit);
    }
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (skipped(circuit_.operations()[i])) continue;
      const Step& step = steps_[i];
      if (step.gone) {
        rewriter.remove(i, "cancelled");
        continue;
      }
      if (step.turned_over != 0) {
        turn_over(rewriter.append_for(i), step);
        rewriter.count_here(i);
        continue;
      }
      const auto q = static_cast<Qubit>(std::countr_zero(step.all));
      if (step.before) rewriter.append_for(i).x(q);
      rewriter.copy(i);
      if (step.after) rewriter.append_for(i).x(q);
    }
  }

  /// P(a) becomes P(-a) beside a phase: one for each set of the qubits that are flipped.
  static void turn_over(Circuit& out, const Step& step) {
    DiagonalTerm term = step.term;
    if (count_bits(term.parity & step.turned_over) % 2 != 0) term.angle = -term.angle;
    const Index flipped = term.ones & step.turned_over, rest = term.ones & ~flipped;
    for (Index some = 0;; some = (some - flipped) & flipped) {
      const double angle = count_bits(some) % 2 != 0 ? -term.angle : term.angle;
      const Index ones = rest | some;
      if ((ones | term.parity) == 0) {
        out.add_pauli_rotation(-2 * angle, "", {});
      } else {
        append(out, {ones, term.parity, angle});
      }
      if (some == flipped) break;
    }
  }

  const Circuit& circuit_;
  std::vector<std::vector<std::uint32_t>> on_;  // by qubit: its operations
  std::vector<Step> steps_;                     // by operation
};

}  // namespace

bool absorb_flips(const Circuit& circuit, Rewritten& result) {
  return circuit.qubits() <= 64 && FlipAbsorber(circuit).run(result);
}
bool absorb_compiled_flips(const Circuit& circuit, Rewritten& result) {
  return is_of_cx(circuit) && absorb_flips(circuit, result);
}

}  // namespace qsim
