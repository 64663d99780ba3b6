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
#include "optimizer/paths/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

using Turns = std::uint64_t;  // of an angle, as in sums over paths
constexpr Turns kHalf = Turns{1} << 63, kQuarter = kHalf >> 1, kEighth = kQuarter >> 1;

/// e^{i common} P(angles.back()) H ... H P(angles[0]), P the phase of |1>.
struct Run {
  std::vector<Turns> angles{0};
  Turns common = 0;

  void turn() { angles.push_back(0); }
  void phase(Turns by) { angles.back() += by; }
  void rotate_z(double angle) {
    const Turns half = turns_of(0.5 * angle);
    common -= half;
    phase(2 * half);
  }
  void rotate_x(double angle) {
    turn();
    rotate_z(angle);
    turn();
  }
  void flip() {
    turn();
    phase(kHalf);
    turn();
  }
  void root(bool inverse) {
    const Turns quarter = inverse ? kQuarter : 0 - kQuarter;
    common += inverse ? 0 - kEighth : kEighth;
    phase(quarter);
    turn();
    phase(quarter);
  }
};

/// The same where all phases between Hadamard gates are quarter turns: e^{i common} P(left) H P(right), without H and
/// `right` where it does not turn, and before that X where it flips; no flip where it turns.
struct Clifford {
  bool turns = false, flips = false;
  Turns right = 0, left = 0, common = 0;

  void turn() {
    if (!turns) {
      turns = true;
      right = std::exchange(left, 0);
      if (std::exchange(flips, false)) {  // H P(a) X = e^{ia} Z H P(-a)
        common += right;
        right = 0 - right;
        left = kHalf;
      }
    } else if (left % kHalf == 0) {
      turns = false;
      flips = left != 0;
      common += flips ? right : 0;  // X P(a) = e^{ia} P(-a) X
      left = flips ? 0 - right : right;
      right = 0;
    } else {
      common += left == kQuarter ? kEighth : 0 - kEighth;
      right -= left;
      left = 0 - left;
    }
  }
};

/// False for what is not of this kind.
bool multiply(Run& product, const Circuit& circuit, const Operation& op) {
  if (op.kind != OpKind::kGate || op.controls != 0 || is_open(circuit, op)) return false;
  const std::span<const double> angles = circuit.params(op);
  switch (op.gate) {
    case Gate::kX:
      product.flip();
      return true;
    case Gate::kY:  // i X Z
      product.phase(kHalf);
      product.flip();
      product.common += kQuarter;
      return true;
    case Gate::kZ:
      product.phase(kHalf);
      return true;
    case Gate::kS:
      product.phase(kQuarter);
      return true;
    case Gate::kSdg:
      product.phase(0 - kQuarter);
      return true;
    case Gate::kT:
      product.phase(kEighth);
      return true;
    case Gate::kTdg:
      product.phase(0 - kEighth);
      return true;
    case Gate::kPhase:
      product.phase(turns_of(angles[0]));
      return true;
    case Gate::kRz:
      product.rotate_z(angles[0]);
      return true;
    case Gate::kH:
      product.turn();
      return true;
    case Gate::kSx:
    case Gate::kSxdg:
      product.root(op.gate == Gate::kSxdg);
      return true;
    case Gate::kRx:
      product.rotate_x(angles[0]);
      return true;
    case Gate::kRy:
      product.phase(0 - kQuarter);
      product.rotate_x(angles[0]);
      product.phase(kQuarter);
      return true;
    default:
      return false;
  }
}

/// Appends what runs are to a circuit.
class Names {
 public:
  Names(Circuit& out, Qubit qubit) : out_(out), qubit_(qubit) {}

  /// What is left of the run is the phase of everything that this gives.
  Turns write(const Run& run) {
    common_ = run.common;
    const std::vector<Turns>& angles = run.angles;
    Clifford clifford;
    clifford.left = angles[0];
    for (std::size_t t = 1; t < angles.size(); ++t) {
      const bool rotates = t + 1 < angles.size() && angles[t] % kQuarter != 0;
      if (!rotates) {
        clifford.turn();
        clifford.left += angles[t];
        continue;
      }
      // The phase between two pieces belongs to the rotation, or to both of two where that leaves less beside each.
      const Turns right = std::exchange(clifford.left, 0), after = angles[t + 1];
      write(clifford);
      const bool shared = t + 2 < angles.size() && right % kQuarter == 0;
      const Turns left = shared ? 0 - right : after;
      write_rotation(right, angles[t], left);
      clifford = {};
      clifford.left = after - left;
      ++t;
    }
    write(clifford);
    return common_;
  }

 private:
  void write(const Clifford& clifford) {
    common_ += clifford.common;
    if (clifford.flips) add(Gate::kX);
    const bool quarter = clifford.left == kQuarter || clifford.left == 0 - kQuarter;
    if (clifford.turns && quarter && clifford.left == clifford.right) {
      const bool inverse = clifford.left == kQuarter;
      add(inverse ? Gate::kSxdg : Gate::kSx);
      common_ += inverse ? kEighth : 0 - kEighth;
      return;
    }
    phase(clifford.right);
    if (clifford.turns) add(Gate::kH);
    phase(clifford.left);
  }

  // P(left) H P(middle) H P(right). H P(m) H = e^{im/2} RX(m), RX(m) = Z RX(-m) Z, RX(m) = S' RY(m) S; as few phases as
  // can be beside it.
  void write_rotation(Turns right, Turns middle, Turns left) {
    common_ += static_cast<Turns>(static_cast<std::int64_t>(middle) / 2);
    struct Way {
      Gate gate;
      bool back;
      Turns right, left;
      int phases() const { return (right != 0 ? 1 : 0) + (left != 0 ? 1 : 0); }
    };
    const std::array<Way, 4> ways{{{Gate::kRy, false, right + kQuarter, left - kQuarter},
                                   {Gate::kRy, true, right - kQuarter, left + kQuarter},
                                   {Gate::kRx, false, right, left},
                                   {Gate::kRx, true, right + kHalf, left + kHalf}}};
    const Way& way = *std::ranges::min_element(ways, {}, &Way::phases);
    phase(way.right);
    add(way.gate, way.back ? -angle_of_turns(middle) : angle_of_turns(middle));
    phase(way.left);
  }

  void phase(Turns turns) {
    switch (turns) {
      case 0:
        return;
      case kHalf:
        return add(Gate::kZ);
      case kQuarter:
        return add(Gate::kS);
      case 0 - kQuarter:
        return add(Gate::kSdg);
      case kEighth:
        return add(Gate::kT);
      case 0 - kEighth:
        return add(Gate::kTdg);
      default:
        return add(Gate::kPhase, angle_of_turns(turns));
    }
  }
  void add(Gate gate) { out_.add_gate(gate, {}, {&qubit_, 1}); }
  void add(Gate gate, double angle) { out_.add_gate(gate, {}, {&qubit_, 1}, {&angle, 1}); }

  Circuit& out_;
  const Qubit qubit_;
  Turns common_ = 0;
};

bool is_root(const Operation& op) {
  return op.kind == OpKind::kGate && (op.gate == Gate::kSx || op.gate == Gate::kSxdg) && op.controls == 0;
}

/// What circuit_cost() makes of gates on one qubit, but for what phases at either end cost for want of a diagonal.
struct Weight {
  double sum = 0;
  bool turns = false, phases = false;  // so far; phases since the last gate that turns
  bool phases_before = false;          // the first of those

  void add(const Circuit& circuit, const Operation& op) {
    if (support_of(circuit, op).is_diagonal()) {
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
        if (turns_of(circuit.params(op)[0]) % kHalf == 0) return 0;  // no turn, at least so much
        return op.gate == Gate::kRx ? weight::kGeneral : weight::kRealTurn;
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
    if (std::ranges::none_of(operations, is_root)) return false;
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
    Run run;
    std::vector<std::uint32_t> members;
    bool has_root = false;
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
      if (multiply(line.run, circuit_, op)) {
        line.members.push_back(i);
        line.has_root = line.has_root || is_root(op);
        return;
      }
    }
    for_each_qubit(circuit_, op, [&](Qubit q) { close(q); });
  }

  void close(Qubit q) {
    Line line = std::exchange(lines_[q], {});
    if (!line.has_root || line.members.size() < 2) return;
    Named named{std::move(line.members), named_.operations().size(), 0, kNoPlace};
    const Turns common = Names(named_, q).write(line.run);
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

  bool stands_for_members(const Named& run, Turns common) const {
    Matrix2 wanted = kIdentity2, made = kIdentity2;
    for (const std::uint32_t i : run.members)
      wanted = unitary_product(*single_qubit_matrix(circuit_, circuit_.operations()[i]), wanted);
    for (std::size_t i = run.first; i < run.end; ++i)
      made = unitary_product(*single_qubit_matrix(named_, named_.operations()[i]), made);
    made = scaled(made, std::polar(1.0, angle_of_turns(common)));
    return recomposes(made, wanted, std::sqrt(static_cast<double>(run.members.size())));
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
    if (common_ != 0) result.circuit.add_pauli_rotation(-2 * angle_of_turns(common_), "", {});
  }

  const Circuit& circuit_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> run_of_;  // by operation: its run in runs_
  Circuit named_;                      // what runs become, one behind the other, with some that are not taken
  std::vector<Named> runs_;
  Turns common_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool name_turns(const Circuit& circuit, Rewritten& result) { return TurnNamer(circuit).run(result); }

}  // namespace qsim
