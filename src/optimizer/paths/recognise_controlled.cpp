// Gates on one qubit between CX gates onto it that all have the same control are one matrix where the control is 0 and
// another where it is 1: the first as a gate of the qubit alone, and what the second is beyond that under the control.
// That gives back controlled rotations and other controlled gates that are written with CX gates.
#include <cmath>
#include <numbers>
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

constexpr Qubit kNone = ~Qubit{0};

/// What a qubit's gates are by the value of the control.
struct ByControl {
  Matrix2 zero = kIdentity2, one = kIdentity2;
  bool rotates = false;  // rotations about Y are among them: one by pi is beside its like then, and no flip
};

bool is_scalar(const Matrix2& m) { return is_diagonal(m) && is_tiny(m[0] - m[3]); }

/// A controlled gate and one of the target alone, before or after it.
struct Factors {
  Matrix2 alone = kIdentity2, controlled = kIdentity2;
  bool alone_first = true, flips = false;
  // Where the controlled matrix is e^{i phase} times a real rotation, that.
  bool real = false;
  double phase = 0, cosine = 1, sine = 0;
  double weight = 0;
};

double weight_of(const Matrix2& m) {
  if (is_diagonal(m)) return is_scalar(m) ? 0 : weight::kPhase;
  return weight::turn(m, is_tiny(m[1] - m[2]));
}

/// The matrix over a square root of its determinant, where that is real.
void take_phase(Factors& factors) {
  const Matrix2& m = factors.controlled;
  const double phase = special_phase(m);
  const Matrix2 rest = scaled(m, std::polar(1.0, -phase));
  const double cosine = rest[0].real(), sine = rest[2].real();
  const Matrix2 made{cosine, -sine, sine, cosine};
  if (!recomposes(made, rest)) return;
  factors.real = true;
  factors.phase = phase;
  factors.cosine = cosine;
  factors.sine = sine;
}

Factors factors_of(const ByControl& pair, bool alone_first) {
  Factors factors;
  factors.alone = pair.zero;
  factors.alone_first = alone_first;
  const Matrix2 back = adjoint(pair.zero);
  factors.controlled = alone_first ? unitary_product(pair.one, back) : unitary_product(back, pair.one);
  factors.weight = weight_of(factors.alone);
  const Matrix2& m = factors.controlled;
  if (is_diagonal(m)) {
    factors.weight += weight::kPhase + (is_scalar(m) ? 0 : weight::diagonal(2));
  } else if (is_flip(m) && !pair.rotates) {
    factors.flips = true;
    factors.weight += weight::kPhase + weight::kControlledFlip + (is_tiny(m[1] - m[2]) ? 0 : weight::diagonal(2));
  } else {
    take_phase(factors);
    factors.weight += weight::kGeneral + (factors.real ? 0 : weight::kPhase);
  }
  return factors;
}

Factors best_factors(const ByControl& pair) {
  const Factors first = factors_of(pair, true), last = factors_of(pair, false);
  return last.weight < first.weight - 1e-9 ? last : first;
}

/// Operations on a qubit, as far as they have one control.
struct ControlledRun {
  Qubit control = kNone;
  std::vector<std::uint32_t> members;
  std::size_t last_controlled = 0;  // members up to the last that has the control
  bool flipped = false;             // an odd number of CX gates
  bool turned = false;              // a gate that turns stood between two
  ByControl pair;
  double weight = 0;
  std::size_t first = 0, best = 0;  // members from and up to which they are best replaced
  ByControl best_is;
  double gain = 0;
  /// After so many members, that are of the qubit alone.
  struct Beginning {
    std::size_t members = 0;
    Matrix2 product = kIdentity2;
    double weight = 0;
    bool joined = false;  // a diagonal on several qubits stands before it, behind the last turn
  };
  std::vector<Beginning> beginnings;

  void note_beginning(bool joined) {
    constexpr std::size_t kMost = 4;
    if (beginnings.size() == kMost) beginnings.erase(beginnings.begin());
    beginnings.push_back({members.size(), pair.zero, weight, joined});
  }
};

class ControlledRecogniser {
 public:
  /// `reflections`: also what an odd number of CX gates makes; few other passes come then, so that what phases weigh
  /// is left to who weighs the whole.
  ControlledRecogniser(const Circuit& circuit, bool reflections)
      : circuit_(circuit),
        reflections_(reflections),
        runs_(circuit.qubits()),
        used_(circuit.qubits(), 0),
        joined_(circuit.qubits(), false) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    run_of_.assign(operations.size(), kNoPlace);
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) close(q);
    result.refused = refused_;
    if (taken_.empty()) return false;
    build(result);
    return true;
  }

 private:
  struct Taken {
    Qubit target = 0, control = 0;
    std::uint32_t last = 0;
    ByControl pair;
  };

  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    for_each_bit(support.all & ~support.diagonal,
                 [&](unsigned c) { for_each_bit(Index{used_[c]}, [&](unsigned q) { close(q); }); });
    const Qubit joined = join(i, op, support);
    for_each_bit(support.all, [&](unsigned q) {
      if (q != joined) close(q);
      if (!test_bit(support.diagonal, q)) {
        joined_[q] = false;
      } else if (support.is_diagonal() && count_bits(support.all) > 1) {
        joined_[q] = true;
      }
    });
  }

  /// The qubit in whose run the operation is now.
  Qubit join(std::uint32_t i, const Operation& op, const Support& support) {
    const unsigned qubits = count_bits(support.all);
    if (qubits == 0 || qubits > 2 || is_open(circuit_, op)) return kNone;
    if (qubits == 1) {
      const std::optional<Matrix2> matrix = single_qubit_matrix(circuit_, op);
      if (!matrix) return kNone;
      const Qubit q = circuit_.targets(op)[0];
      append(q, i, {*matrix, *matrix}, weight_of(*matrix));
      return q;
    }
    if (support.is_diagonal()) return join_phase(i, op, support.all);
    if (op.controls != 1 || op.targets != 1 || op.kind == OpKind::kPauliRotation) return kNone;
    const Qubit control = circuit_.controls(op)[0], target = circuit_.targets(op)[0];
    const Matrix m = circuit_.matrix(op);
    control_by(target, control);
    runs_[target].flipped = runs_[target].flipped != is_cx(op);
    append(target, i, {kIdentity2, {m[0], m[1], m[2], m[3]}}, is_cx(op) ? weight::kControlledFlip : weight::kGeneral);
    return target;
  }

  /// A diagonal on two qubits belongs to a run that has begun.
  Qubit join_phase(std::uint32_t i, const Operation& op, Index qubits) {
    const std::optional<DiagonalTerm> term = term_of(circuit_, op);
    if (!term) return kNone;
    Qubit target = kNone;
    for_each_bit(qubits, [&](unsigned q) {
      const Qubit control = log2_exact(qubits & ~bit_mask(q));
      if (runs_[q].control == control || (runs_[q].control == kNone && !runs_[q].members.empty() && target == kNone))
        target = q;
    });
    if (target == kNone) return kNone;
    const auto factor = [&](bool odd) { return std::polar(1.0, odd ? 0.5 * term->angle : -0.5 * term->angle); };
    ByControl pair;
    if (term->parity == 0) {
      pair.one = {1, 0, 0, std::polar(1.0, term->angle)};
    } else if (term->ones == 0) {
      pair = {{factor(false), 0, 0, factor(true)}, {factor(true), 0, 0, factor(false)}};
    } else if (test_bit(term->ones, target)) {
      pair = {{1, 0, 0, factor(false)}, {1, 0, 0, factor(true)}};
    } else {
      pair.one = {factor(false), 0, 0, factor(true)};
    }
    control_by(target, log2_exact(qubits & ~bit_mask(target)));
    append(target, i, pair, weight::diagonal(2));
    return target;
  }

  /// What a run of another control ends with belongs to the one that begins.
  void control_by(Qubit target, Qubit control) {
    constexpr std::size_t kLongest = 4096;
    ControlledRun& run = runs_[target];
    if ((run.control != kNone && run.control != control) || run.members.size() >= kLongest) {
      const std::size_t kept = std::max(run.last_controlled, run.best);
      const std::vector<std::uint32_t> tail(run.members.begin() + static_cast<std::ptrdiff_t>(kept), run.members.end());
      close(target);
      for (const std::uint32_t i : tail) {
        const Matrix2 matrix = *single_qubit_matrix(circuit_, circuit_.operations()[i]);
        append(target, i, {matrix, matrix}, weight_of(matrix));
      }
    }
    if (run.members.empty()) run.note_beginning(joined_[target]);
    run.control = control;
    used_[control] |= bit_mask(target);
  }

  void append(Qubit target, std::uint32_t i, const ByControl& next, double weight) {
    const Operation& op = circuit_.operations()[i];
    const bool alone = op.controls + op.targets == 1, turns = alone && !is_diagonal(next.zero);
    const std::size_t before = runs_[target].members.size();
    if (turns && before != 0 && runs_[target].best == before) close(target);
    ControlledRun& run = runs_[target];
    if (run.control == kNone) run.note_beginning(joined_[target]);
    run.members.push_back(i);
    run.pair = {unitary_product(next.zero, run.pair.zero), unitary_product(next.one, run.pair.one),
                run.pair.rotates || (op.kind == OpKind::kGate && op.gate == Gate::kRy)};
    run.weight += weight;
    if (!alone) run.last_controlled = run.members.size();
    run.turned = run.turned || (run.flipped && turns);
    if (run.control != kNone && (reflections_ || !run.flipped)) look_at(run);
  }

  /// Whether the members since one of the beginnings are a controlled gate, and little else where the control is 0: a
  /// diagonal between two turns is none.
  void look_at(ControlledRun& run) const {
    for (const ControlledRun::Beginning& beginning : run.beginnings) {
      const Matrix2 back = adjoint(beginning.product);
      const ByControl rest{unitary_product(run.pair.zero, back), unitary_product(run.pair.one, back), run.pair.rotates};
      // Diagonals alone are rotations about parities.
      if (!is_diagonal(rest.zero) || (!run.turned && is_diagonal(rest.one))) continue;
      // Phases on either qubit, and one that is left of these, may stand beside no diagonal then.
      const Factors factors = best_factors(rest);
      const bool is_lonely = !is_scalar(factors.alone) && !(factors.alone_first && beginning.joined);
      const double lonely = (is_lonely && !reflections_ ? 3 : 2) * weight::kLonelyPhases;
      const double gain = run.weight - beginning.weight - factors.weight - lonely;
      if (gain <= run.gain + 1e-9) continue;
      run.gain = gain;
      run.first = beginning.members;
      run.best = run.members.size();
      run.best_is = rest;
    }
  }

  void close(Qubit q) {
    ControlledRun run = std::exchange(runs_[q], {});
    if (run.control != kNone) used_[run.control] &= ~bit_mask(q);
    if (run.best == 0) return;
    if (!stands_for(run)) {
      ++refused_;
      return;
    }
    for (std::size_t j = run.first; j < run.best; ++j)
      run_of_[run.members[j]] = static_cast<std::uint32_t>(taken_.size());
    taken_.push_back({q, run.control, run.members[run.best - 1], run.best_is});
  }

  /// Both matrices, from what would be written.
  bool stands_for(const ControlledRun& run) const {
    Circuit written(2);
    write(written, {0, 1, 0, run.best_is});
    ByControl made;
    for (const Operation& op : written.operations()) {
      const Matrix m = written.matrix(op);
      const bool everywhere = op.targets == 0;
      const Matrix2 matrix = everywhere ? Matrix2{m[0], 0, 0, m[0]} : Matrix2{m[0], m[1], m[2], m[3]};
      if (op.controls == 0 && op.targets == 1 && written.targets(op)[0] == 1) {
        made.one = scaled(made.one, matrix[3]);
        continue;
      }
      if (op.controls == 0) made.zero = product(matrix, made.zero);
      made.one = product(matrix, made.one);
    }
    const double size = std::sqrt(static_cast<double>(run.best - run.first));
    return recomposes(made.zero, run.best_is.zero, size) && recomposes(made.one, run.best_is.one, size);
  }

  void build(Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    std::vector<std::vector<std::uint32_t>> members(taken_.size());
    for (std::uint32_t i = 0; i < run_of_.size(); ++i) {
      if (skipped(circuit_.operations()[i])) continue;
      if (run_of_[i] == kNoPlace) {
        rewriter.copy(i);
        continue;
      }
      const Taken& run = taken_[run_of_[i]];
      std::vector<std::uint32_t>& all = members[run_of_[i]];
      all.push_back(i);
      if (i != run.last) continue;
      Circuit& out = rewriter.append_for(i);
      const std::size_t before = out.operations().size();
      write(out, run);
      const bool empty = out.operations().size() == before;
      for (const std::uint32_t member : all) {
        if (empty) {
          rewriter.remove(member, "cancelled");
        } else {
          rewriter.count_here(member);
        }
      }
    }
  }

  static void write(Circuit& out, const Taken& run) {
    const Factors factors = best_factors(run.pair);
    if (factors.alone_first) write_alone(out, run.target, factors.alone);
    const Matrix2& m = factors.controlled;
    if (is_diagonal(m)) {
      phases(out, run, m[0], m[3]);
    } else if (factors.flips) {  // X diag(m[2], m[1])
      phases(out, run, m[2], m[1]);
      out.cx(run.control, run.target);
    } else if (factors.real) {
      const double angle = 2 * std::atan2(factors.sine, factors.cosine);
      phase(out, bit_mask(run.control), factors.phase);
      out.add_gate(Gate::kRy, {&run.control, 1}, {&run.target, 1}, {&angle, 1});
    } else {
      out.add_unitary(m, {&run.control, 1}, {&run.target, 1});
    }
    if (!factors.alone_first) write_alone(out, run.target, factors.alone);
  }

  static void write_alone(Circuit& out, Qubit target, const Matrix2& m) {
    if (!is_diagonal(m)) {
      out.add_unitary(m, {}, {&target, 1}, false);
      return;
    }
    if (!is_tiny(m[0] - 1.0)) out.add_pauli_rotation(-2 * std::arg(m[0]), "", {});
    difference(out, bit_mask(target), m[0], m[3]);
  }

  /// diag(zero, one) on the target where the control is 1.
  static void phases(Circuit& out, const Taken& run, Complex zero, Complex one) {
    phase(out, bit_mask(run.control), std::arg(zero));
    difference(out, bit_mask(run.control) | bit_mask(run.target), zero, one);
  }

  static void difference(Circuit& out, Index ones, Complex zero, Complex one) {
    if (!is_tiny(zero - one)) phase(out, ones, std::arg(one / zero));
  }

  static void phase(Circuit& out, Index ones, double angle) {
    if (std::abs(angle) > kRounding) qsim::append(out, {ones, 0, angle});
  }

  const Circuit& circuit_;
  const bool reflections_;
  std::vector<ControlledRun> runs_;  // by target
  std::vector<Index> used_;          // by qubit: those whose runs it controls
  std::vector<bool> joined_;         // by qubit: a diagonal on several stands behind its last turn
  std::vector<Taken> taken_;
  std::vector<std::uint32_t> run_of_;  // by operation, in taken_
  std::uint64_t refused_ = 0;
};

}  // namespace

bool recognise_controlled(const Circuit& circuit, Rewritten& result) {
  return ControlledRecogniser(circuit, false).run(result);
}
bool join_controlled(const Circuit& circuit, Rewritten& result) {
  return ControlledRecogniser(circuit, true).run(result);
}

}  // namespace qsim
