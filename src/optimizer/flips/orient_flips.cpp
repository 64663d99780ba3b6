// A CX gate is a CZ gate between two Hadamard gates of its target. On a wire each CZ gate is seen in one of two ways,
// with those Hadamard gates or without, and a shortest path over the wire finds which way leaves least of the gates
// between. Both qubits of a gate cannot be targets: the one that gains more is, and the other one's path is found
// again.
#include "optimizer/flips/orient_flips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/numbers/matrix2.h"
#include "optimizer/operations.h"
#include "optimizer/paths/turn_run.h"
#include "optimizer/weights.h"

namespace qsim {
namespace {

constexpr int kMostSettled = 8;
constexpr double kTarget = weight::kControlledFlip - weight::diagonal(2);
// Turns between two targets weigh less: choices and multiplexers are seen between CX gates.
constexpr double kBetweenTargets = 1;
constexpr double kHadamard = 1.5;  // mostly some other form sees it gone

Matrix2 behind(const Matrix2& matrix, bool turned) { return turned ? product(kHadamard2, matrix) : matrix; }
Matrix2 before(const Matrix2& matrix, bool turned) { return turned ? product(matrix, kHadamard2) : matrix; }

/// About what circuit_cost() makes of it, named.
double weight_of_run(const Matrix2& m) {
  if (is_diagonal(m)) return is_tiny(m[0] - m[3]) ? 0 : weight::kPhase;
  if (is_flip(m)) return weight::kFlip + (is_tiny(m[1] - m[2]) ? 0 : weight::kPhase);
  const double phases = is_tiny(m[1] - m[2]) && is_tiny(m[0] + m[3]) ? 0 : weight::kPhase;
  if (std::abs(std::norm(m[0]) - 0.5) <= kRounding) return kHadamard + phases;
  return is_real(scaled(m, std::polar(1.0, -special_phase(m)))) ? weight::kRealTurn : weight::kGeneral;
}

bool is_rzz(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kRzz && op.controls == 0; }

/// A CZ gate on a wire, a rotation about ZZ, or the wire's end.
struct Sight {
  std::uint32_t at = 0;  // the operation
  bool free = false;     // the wire may become its target
  bool is = false;       // what was found
  double gain = 0;       // of being the target
};

/// Gates on one qubit before a sight.
struct Run {
  std::vector<std::uint32_t> members;
  TurnRun turns;
  Matrix2 product = kIdentity2;
  std::array<std::array<double, 2>, 2> weights{};  // by what the sight before it is and what the one behind it is
};

/// One qubit's operations: before each sight a run.
struct Wire {
  std::vector<Sight> sights;
  std::vector<Run> runs;
};

class FlipOrienter {
 public:
  explicit FlipOrienter(const Circuit& circuit)
      : circuit_(circuit), wires_(circuit.qubits()), named_(circuit.qubits()) {}

  bool run(Rewritten& result) {
    if (!read()) return false;
    for (Wire& wire : wires_) find(wire);
    for (int round = 0; round < kMostSettled && settle(round + 1 == kMostSettled); ++round) {
    }
    build(result);
    return true;
  }

 private:
  /// False for circuits with other gates than these.
  bool read() {
    const auto& operations = circuit_.operations();
    bool any = false;
    for (Wire& wire : wires_) wire.runs.emplace_back();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      const Operation& op = operations[i];
      if (skipped(op) || op.controls + op.targets == 0) continue;
      if (op.targets == 1) {
        Run& run = wires_[circuit_.targets(op)[0]].runs.back();
        if (run.turns.multiply(circuit_, op)) {
          run.product = unitary_product(*single_qubit_matrix(circuit_, op), run.product);
          run.members.push_back(i);
          continue;
        }
      }
      const bool cz = is_cz(op);
      if (!cz && (!is_rzz(op) || is_open(circuit_, op))) return false;
      any = any || cz;
      for_each_qubit(circuit_, op, [&](Qubit q) { end_run(q, {i, cz, false, 0}); });
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) end_run(q, {});
    return any;
  }

  void end_run(Qubit q, const Sight& next) {
    Wire& wire = wires_[q];
    Run& run = wire.runs.back();
    for (const bool from : {false, true}) {
      for (const bool to : {false, true}) {
        double& weight = run.weights[from][to];
        weight = weight_of_run(behind(before(run.product, from), to));
        if (from && to && weight >= weight::kRealTurn) weight -= kBetweenTargets;
      }
    }
    wire.sights.push_back(next);
    wire.runs.emplace_back();
  }

  static double of_sight(const Sight& sight, bool is) {
    if (is && !sight.free) return std::numeric_limits<double>::infinity();
    return is ? kTarget : 0;
  }

  /// The shortest path, and what each sight gains by being a target on the shortest path where it is.
  static void find(Wire& wire) {
    const std::size_t count = wire.sights.size();
    std::vector<std::array<double, 2>> to(count), from(count);
    for (std::size_t j = 0; j < count; ++j) {
      for (const bool is : {false, true}) {
        double least = wire.runs[j].weights[0][is];
        if (j > 0)
          least = std::min(to[j - 1][0] + wire.runs[j].weights[0][is], to[j - 1][1] + wire.runs[j].weights[1][is]);
        to[j][is] = least + of_sight(wire.sights[j], is);
      }
    }
    from.back() = {0, 0};
    for (std::size_t j = count - 1; j-- > 0;) {
      for (const bool is : {false, true}) {
        const auto over = [&](bool next) {
          return wire.runs[j + 1].weights[is][next] + of_sight(wire.sights[j + 1], next) + from[j + 1][next];
        };
        from[j][is] = std::min(over(false), over(true));
      }
    }
    bool last = false;
    for (std::size_t j = 0; j < count; ++j) {
      Sight& sight = wire.sights[j];
      const auto through = [&](bool is) { return wire.runs[j].weights[last][is] + of_sight(sight, is) + from[j][is]; };
      sight.is = through(true) < through(false);
      sight.gain = to[j][0] + from[j][0] - to[j][1] - from[j][1];
      last = sight.is;
    }
  }

  /// Of two targets of one gate the one that gains less is none. False where there were none.
  bool settle(bool last) {
    std::vector<std::pair<Sight*, Wire*>> other(circuit_.operations().size(), {nullptr, nullptr});
    std::vector<Wire*> changed;
    for (Wire& wire : wires_) {
      for (Sight& sight : wire.sights) {
        if (!sight.is) continue;
        std::pair<Sight*, Wire*>& first = other[sight.at];
        if (first.first == nullptr) {
          first = {&sight, &wire};
          continue;
        }
        const bool less = sight.gain < first.first->gain;
        Sight& loser = less ? sight : *first.first;
        loser.free = loser.is = false;
        changed.push_back(less ? &wire : first.second);
      }
    }
    if (last) return false;
    std::ranges::sort(changed);
    const auto [end, all] = std::ranges::unique(changed);
    for (auto wire = changed.begin(); wire != end; ++wire) find(**wire);
    return !changed.empty();
  }

  void build(Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    const auto& operations = circuit_.operations();
    std::vector<std::size_t> next(circuit_.qubits(), 0);  // sight
    const auto name = [&](Qubit q) { write_run(rewriter, result, q, next[q]); };
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      const Operation& op = operations[i];
      if (skipped(op)) continue;
      if (op.controls + op.targets == 0) rewriter.copy(i);
      if (op.controls + op.targets < 2) continue;
      for_each_qubit(circuit_, op, name);
      for_each_qubit(circuit_, op, [&](Qubit q) { ++next[q]; });
      if (is_rzz(op)) {
        rewriter.copy(i);
        continue;
      }
      const Qubit control = circuit_.controls(op)[0], target = circuit_.targets(op)[0];
      const auto is_target = [&](Qubit q) { return wires_[q].sights[next[q] - 1].is; };
      if (is_target(control)) {
        rewriter.append_for(i).cx(target, control);
      } else if (is_target(target)) {
        rewriter.append_for(i).cx(control, target);
      } else {
        rewriter.append_for(i).cz(control, target);
      }
      rewriter.count_here(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) name(q);
    append_common(result.circuit, common_);
    result.refused = refused_;
  }

  /// What stands before a sight of the wire.
  void write_run(Rewriter& rewriter, Rewritten& result, Qubit q, std::size_t sight) {
    const Wire& wire = wires_[q];
    const std::vector<std::uint32_t>& members = wire.runs[sight].members;
    const bool right = sight > 0 && wire.sights[sight - 1].is, left = wire.sights[sight].is;
    if (members.empty() && !right && !left) return;
    TurnRun run = wire.runs[sight].turns;
    if (right) run.angles.insert(run.angles.begin(), 0);
    if (left) run.turn();
    const Matrix2 wanted = behind(before(wire.runs[sight].product, right), left);
    named_.truncate(0);
    const std::uint64_t common = write_turns(named_, q, run.shortened());
    Circuit& out = members.empty() ? result.circuit : rewriter.append_for(members.back());
    const std::size_t first = out.operations().size();
    if (stand_for(named_, 0, common, wanted, members.size() + 2)) {
      for (const Operation& op : named_.operations()) out.append(named_, op);
      common_ += common;
    } else {
      ++refused_;
      if (right) out.h(q);
      for (const std::uint32_t i : members) out.append(circuit_, circuit_.operations()[i]);
      if (left) out.h(q);
    }
    for (const std::uint32_t i : members) {
      if (out.operations().size() == first) {
        rewriter.remove(i, "cancelled");
      } else {
        rewriter.count_here(i);
      }
    }
  }

  const Circuit& circuit_;
  std::vector<Wire> wires_;
  Circuit named_;                           // one run
  std::uint64_t common_ = 0, refused_ = 0;  // a phase of everything, in turns
};

}  // namespace

bool orient_flips(const Circuit& circuit, Rewritten& result) { return FlipOrienter(circuit).run(result); }

}  // namespace qsim
