// Rotations of a qubit about Y with X gates between them that have it for their target, with any controls: what a
// rotation whose angle other qubits choose is written as, and what a controlled one is. A turn about X takes Y to Z and
// leaves the X gates as they are; then all of them together are rotations about parities, where controls are 1, and at
// the end the X gates without a twin. Phases between X gates with several controls are the same without the turns.
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

/// Once Y is Z, in the place of operation `at`.
struct Rotation {
  DiagonalTerm term;
  std::uint32_t at = 0;
};

/// Operations on a qubit, flips and either its rotations about Y or phases alone, as far as they are a run.
struct Run {
  enum class Axis { kNone, kY, kZ } axis = Axis::kNone;  // once there is a rotation or a phase
  Index open = 0;                                        // controls of CX gates that have not met their twins
  Index product = 0;     // controls of an X gate with several of them that has not met its twin
  Index controls = 0;    // of all its X gates
  bool flipped = false;  // an odd number of X gates
  std::vector<std::uint32_t> members;
  std::vector<Rotation> rotations;
  double weight = 0;  // of the members
};

class MultiplexerRecogniser {
 public:
  explicit MultiplexerRecogniser(const Circuit& circuit)
      : circuit_(circuit), runs_(circuit.qubits()), used_(circuit.qubits(), 0), turned_(circuit.qubits(), 0) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) close(q);
    if (taken_.empty()) return false;
    build(result);
    return true;
  }

 private:
  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    for_each_bit(support.all & ~support.diagonal, [&](unsigned c) { close_behind(c); });
    Index joined = 0;
    if (support.is_diagonal()) {
      joined = join_phase(i, support.all);
    } else if (op.targets == 1 && join(i, circuit_.targets(op)[0])) {
      joined = bit_mask(circuit_.targets(op)[0]);
    }
    for_each_bit(support.all & ~joined, [&](unsigned q) { close(q); });
    for_each_bit(support.all & ~support.diagonal, [&](unsigned q) { turned_[q] = i + 1; });
  }

  /// Qubit `c` is no longer what it was when an X gate ran that it controls.
  void close_behind(Qubit c) {
    Index closed = 0;
    for_each_bit(Index{used_[c]}, [&](unsigned q) {
      if (test_bit(runs_[q].open | runs_[q].product, c)) closed |= bit_mask(q);
    });
    for_each_bit(closed, [&](unsigned q) { close(q); });
  }

  /// True where the operation is part of the run of its target.
  bool join(std::uint32_t i, Qubit target) {
    const Operation& op = circuit_.operations()[i];
    Index controls = 0;
    for (const Qubit c : circuit_.controls(op)) controls |= bit_mask(c);
    if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
      if (count_bits(controls) > 1 && runs_[target].product != 0 && runs_[target].product != controls) close(target);
      toggle(target, controls);
      runs_[target].weight += weight::flip(controls != 0);
    } else {
      const std::optional<double> angle = angle_of(op);
      if (!angle) return false;
      if (runs_[target].axis == Run::Axis::kZ) close(target);
      runs_[target].axis = Run::Axis::kY;
      rotate(i, target, controls, *angle);
      runs_[target].weight += controls == 0 ? weight::kRealTurn : weight::kGeneral;
    }
    runs_[target].members.push_back(i);
    return true;
  }

  void toggle(Qubit target, Index controls) {
    Run& run = runs_[target];
    if (controls == 0) {
      run.flipped = !run.flipped;
    } else if (count_bits(controls) == 1) {
      run.open ^= controls;
    } else {
      run.product ^= controls;
    }
    run.controls |= controls;
    for_each_bit(controls, [&](unsigned c) { used_[c] |= bit_mask(target); });
  }

  void rotate(std::uint32_t i, Qubit target, Index controls, double angle) {
    Run& run = runs_[target];
    if (run.flipped) angle = -angle;
    const Index parity = bit_mask(target) | run.open;
    if (count_bits(controls) == 1) {  // half of it, and half of it back where the control is 0
      turn(target, {0, parity, 0.5 * angle}, i);
      turn(target, {0, parity ^ controls, -0.5 * angle}, i);
    } else {
      turn(target, {controls, parity, angle}, i);
    }
  }

  /// The qubit, as a mask, in whose run of phases the operation on `qubits` is now; 0 where there is none.
  Index join_phase(std::uint32_t i, Index qubits) {
    const auto takes = [&](unsigned q) {
      const Run& run = runs_[q];
      return run.axis == Run::Axis::kZ || (run.axis == Run::Axis::kNone && run.product != 0);
    };
    Index found = 0;
    for_each_bit(qubits, [&](unsigned q) { found |= found == 0 && takes(q) ? bit_mask(q) : 0; });
    const std::optional<DiagonalTerm> term = found == 0 ? std::nullopt : term_of(circuit_, circuit_.operations()[i]);
    if (!term) return 0;
    const Qubit target = log2_exact(found);
    Run& run = runs_[target];
    const DiagonalTerm turned{term->ones, term->parity, run.flipped ? -term->angle : term->angle};
    if ((term->parity & found) != 0) {
      turn(target, {turned.ones, turned.parity ^ run.open, turned.angle}, i);
    } else if (run.open == 0 && !run.flipped) {  // x + y - 2 x y, of a qubit x and what flips it
      const Index others = term->ones & ~found;
      add(target, *term, i);
      if (run.product != 0) {
        add(target, {others | run.product, term->parity, term->angle}, i);
        add(target, {term->ones | run.product, term->parity, -2 * term->angle}, i);
      }
    } else {
      return 0;
    }
    run.axis = Run::Axis::kZ;
    run.members.push_back(i);
    run.weight += weight::diagonal(count_bits(qubits));
    return found;
  }

  /// The rotation, and where an X gate of several controls has flipped the target twice of it back.
  void turn(Qubit target, const DiagonalTerm& term, std::uint32_t i) {
    const Index product = runs_[target].product;
    add(target, term, i);
    if (product != 0) add(target, {term.ones | product, term.parity, -2 * term.angle}, i);
  }

  /// To one of the last rotations where that is about the same, of qubits that are what they were.
  void add(Qubit target, const DiagonalTerm& given, std::uint32_t i) {
    constexpr std::size_t kLookedAt = 16;
    const DiagonalTerm term = reduced(given);
    std::vector<Rotation>& rotations = runs_[target].rotations;
    const Index others = (term.ones | term.parity) & ~bit_mask(target);
    for (std::size_t j = rotations.size(); j-- > 0 && j + kLookedAt >= rotations.size();) {
      if (rotations[j].term.ones != term.ones || rotations[j].term.parity != term.parity) continue;
      bool same = true;
      for_each_bit(others, [&](unsigned q) { same = same && turned_[q] <= rotations[j].at; });
      if (!same) break;
      rotations[j].term.angle += term.angle;
      return;
    }
    rotations.push_back({term, i});
  }

  /// A qubit that is 1 wherever the term does anything only turns the sign of its parity; one of such qubits alone is a
  /// phase.
  static DiagonalTerm reduced(DiagonalTerm term) {
    const Index known = term.ones & term.parity;
    if (known == 0) return term;
    if (odd_parity(known)) term.angle = -term.angle;
    term.parity ^= known;
    if (term.parity == 0) term.angle *= -0.5;
    return term;
  }

  /// Of exp(-i angle/2 Y), which the operation is on its target.
  std::optional<double> angle_of(const Operation& op) const {
    if (op.kind == OpKind::kGate && op.gate == Gate::kRy) return circuit_.params(op)[0];
    if (op.kind != OpKind::kGate && op.kind != OpKind::kUnitary) return std::nullopt;
    const Matrix matrix = circuit_.matrix(op);
    const double angle = 2 * std::atan2(matrix[2].real(), matrix[0].real());
    const double c = std::cos(0.5 * angle), s = std::sin(0.5 * angle);
    const Matrix2 made{c, -s, s, c};
    if (is_diagonal(made) || !recomposes(made, matrix)) return std::nullopt;
    return angle;
  }

  void close(Qubit q) {
    Run& run = runs_[q];
    if (run.members.empty()) return;
    for_each_bit(run.controls, [&](unsigned c) { used_[c] &= ~bit_mask(q); });
    if (!run.rotations.empty() && weight_of(run) < run.weight - 1e-9) {
      for (const std::uint32_t i : run.members) run_of_[i] = static_cast<std::uint32_t>(taken_.size());
      taken_.push_back({q, std::move(run)});
    }
    run = {};
  }

  /// As rotations about parities, those about the same one as one, and the turns around them.
  static double weight_of(const Run& run) {
    double sum = (run.axis == Run::Axis::kY ? 2 * weight::kGeneral : 0) + (run.flipped ? weight::kFlip : 0) +
                 weight::kControlledFlip * (count_bits(run.open) + (run.product != 0 ? 1 : 0));
    for (const auto& [term, at] : run.rotations) {
      if (std::abs(term.angle) > kRounding) sum += weight::diagonal(count_bits(term.ones | term.parity));
    }
    return sum;
  }

  struct Taken {
    Qubit qubit;
    Run run;
  };

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    std::vector<std::size_t> next(taken_.size(), 0);  // rotation that has not been appended
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const auto found = run_of_.find(i);
      if (found == run_of_.end()) {
        rewriter.copy(i);
        continue;
      }
      const auto& [qubit, run] = taken_[found->second];
      const bool turns = run.axis == Run::Axis::kY;
      if (turns && i == run.members.front()) rewriter.append_for(i).rx(0.5 * std::numbers::pi, qubit);
      std::size_t& rotation = next[found->second];
      for (; rotation < run.rotations.size() && run.rotations[rotation].at == i; ++rotation) {
        if (std::abs(run.rotations[rotation].term.angle) <= kRounding) continue;
        append(rewriter.append_for(i), run.rotations[rotation].term);
        rewriter.count_here(i);
      }
      if (i == run.members.back()) {
        Circuit& out = rewriter.append_for(i);
        for_each_bit(run.open, [&](unsigned c) { out.cx(c, qubit); });
        if (run.product != 0) out.add_gate(Gate::kX, qubits_of(run.product), {&qubit, 1});
        if (run.flipped) out.x(qubit);
        if (turns) out.rx(-0.5 * std::numbers::pi, qubit);
      }
      if (result.place[i] == kNoPlace) rewriter.remove(i, "recognised as multiplexers");
    }
  }

  const Circuit& circuit_;
  std::vector<Run> runs_;              // by qubit
  std::vector<Index> used_;            // by qubit: those in whose runs it has controlled an X gate
  std::vector<std::uint32_t> turned_;  // by qubit: how many operations there were up to the last that turned it
  std::vector<Taken> taken_;
  std::unordered_map<std::uint32_t, std::uint32_t> run_of_;  // by operation: of those that are taken
};

}  // namespace

bool recognise_multiplexers(const Circuit& circuit, Rewritten& result) {
  return MultiplexerRecogniser(circuit).run(result);
}

}  // namespace qsim
