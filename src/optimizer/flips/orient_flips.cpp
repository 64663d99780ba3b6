// A CX gate is a CZ gate between two Hadamard gates of its target, or between two turns that take Y to Z as well. On a
// wire each CZ gate is seen in one of these ways or as it is, and a shortest path over the wire finds which way leaves
// least of the gates between. Both qubits of a gate cannot be targets: the one that gains more is, and then each wire's
// path is found again beside the others'.
#include "optimizer/flips/orient_flips.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers/matrix2.h"
#include "optimizer/operations.h"
#include "optimizer/paths/turn_run.h"
#include "optimizer/weights.h"

namespace qsim {
namespace {

constexpr int kMostRefined = 8;  // rounds
constexpr double kTarget = weight::kControlledFlip - weight::diagonal(2);
// Turns between two targets weigh less: choices and multiplexers are seen between CX gates.
constexpr double kBetweenTargets = 1;
constexpr double kHadamard = 1.5;  // mostly some other form sees it gone
// A Hadamard gate between two targets may as well stand before the first one: pairs of them are seen further apart.
constexpr double kInBetween = 0.02;
// One at the end of a wire has no partner that sees it gone: it weighs more than a pair elsewhere.
constexpr double kWithoutPartner = kHadamard + 0.05;

/// How a wire sees a CZ gate: as it is, as the target of a CX gate between Hadamard gates, or behind HS and before its
/// inverse, so that rotations about Y between two such are about Z.
enum View : std::uint8_t { kAsItIs, kTurned, kTurnedFromY };
constexpr std::array<View, 3> kViews{kAsItIs, kTurned, kTurnedFromY};

Matrix2 behind(const Matrix2& matrix, View view) {
  if (view == kAsItIs) return matrix;
  return product(kHadamard2, view == kTurned ? matrix : product({1, 0, 0, Complex(0, 1)}, matrix));
}
Matrix2 before(const Matrix2& matrix, View view) {
  if (view == kAsItIs) return matrix;
  return product(view == kTurned ? matrix : product(matrix, {1, 0, 0, Complex(0, -1)}), kHadamard2);
}

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
  bool cz = false;
  bool free = false;  // the wire may become its target
  View is = kAsItIs;  // what was found
  double gain = 0;    // of being the target
};

/// Gates on one qubit before a sight.
struct Run {
  std::vector<std::uint32_t> members;
  TurnRun turns;
  Matrix2 product = kIdentity2;
  std::array<std::array<double, 3>, 3> weights{};  // by what the sight before it is and what the one behind it is
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
      for_each_qubit(circuit_, op, [&](Qubit q) { end_run(q, {.at = i, .cz = cz}); });
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) end_run(q, {});
    return any;
  }

  /// What was read, in these views.
  Rewritten seen_in(std::span<const View> views) {
    views_ = views;
    common_ = refused_ = 0;
    for (Wire& wire : wires_) {
      for (Sight& sight : wire.sights) sight.free = sight.cz;
      find(wire);
    }
    std::vector<Wire*> targets = settle();
    refine(targets);
    take_in(targets);
    Rewritten result;
    build(result);
    return result;
  }

 private:
  void end_run(Qubit q, const Sight& next) {
    Wire& wire = wires_[q];
    Run& run = wire.runs.back();
    for (const View from : kViews) {
      for (const View to : kViews) {
        double& weight = run.weights[from][to];
        weight = weight_of_run(behind(before(run.product, from), to));
        if (from != kAsItIs && to != kAsItIs && weight >= kHadamard)
          weight += weight >= weight::kRealTurn ? -kBetweenTargets : kInBetween;
      }
    }
    wire.sights.push_back(next);
    wire.runs.emplace_back();
  }

  static double of_sight(const Sight& sight, View is) {
    if (is != kAsItIs && !sight.free) return std::numeric_limits<double>::infinity();
    return is != kAsItIs ? kTarget : 0;
  }

  /// The shortest path, and what each sight gains by being a target on the shortest path where it is.
  void find(Wire& wire) const {
    using Costs = std::array<double, kViews.size()>;
    const std::size_t count = wire.sights.size();
    const auto of_run = [&](std::size_t j, View from, View to) {
      const double of = wire.runs[j].weights[from][to];
      const bool stays = j + 1 == count && of >= kHadamard && of < weight::kRealTurn;
      return stays ? of + kWithoutPartner : of;
    };
    const auto least = [&](const auto& cost) {
      double best = std::numeric_limits<double>::infinity();
      for (const View view : views_) best = std::min(best, cost(view));
      return best;
    };
    std::vector<Costs> to(count), from(count);
    for (std::size_t j = 0; j < count; ++j) {
      for (const View is : views_) {
        const auto behind_last = [&](View last) { return to[j - 1][last] + of_run(j, last, is); };
        to[j][is] = (j == 0 ? of_run(j, kAsItIs, is) : least(behind_last)) + of_sight(wire.sights[j], is);
      }
    }
    from.back().fill(0);
    for (std::size_t j = count - 1; j-- > 0;) {
      for (const View is : views_) {
        from[j][is] = least([&](View next) {
          return of_run(j + 1, is, next) + of_sight(wire.sights[j + 1], next) + from[j + 1][next];
        });
      }
    }
    View last = kAsItIs;
    for (std::size_t j = 0; j < count; ++j) {
      Sight& sight = wire.sights[j];
      const auto through = [&](View is) { return of_run(j, last, is) + of_sight(sight, is) + from[j][is]; };
      const auto of_all = [&](View is) { return to[j][is] + from[j][is]; };
      sight.is = std::ranges::min(views_, {}, through);
      sight.gain = of_all(kAsItIs) - of_all(std::ranges::min(views_.subspan(1), {}, of_all));
      last = sight.is;
    }
  }

  /// Of two targets of one gate the one that gains less is none. By operation the wire that is its target.
  std::vector<Wire*> settle() {
    std::vector<std::pair<Wire*, Sight*>> found(circuit_.operations().size(), {nullptr, nullptr});
    for (Wire& wire : wires_) {
      for (Sight& sight : wire.sights) {
        if (sight.is == kAsItIs) continue;
        auto& [other, of_other] = found[sight.at];
        if (other != nullptr && sight.gain < of_other->gain) {
          sight.is = kAsItIs;
        } else {
          if (other != nullptr) of_other->is = kAsItIs;
          other = &wire, of_other = &sight;
        }
      }
    }
    std::vector<Wire*> targets(found.size());
    std::ranges::transform(found, targets.begin(), [](const auto& one) { return one.first; });
    return targets;
  }

  /// What one wire took from another it may leave later: shortest paths beside what the other wires are, until nothing
  /// changes.
  void refine(std::vector<Wire*>& targets) {
    bool changed = true;
    for (int round = 0; round < kMostRefined && changed; ++round) {
      changed = false;
      for (Wire& wire : wires_) {
        for (Sight& sight : wire.sights) {
          if (!sight.cz) continue;
          Wire*& target = targets[sight.at];
          sight.free = target == nullptr || target == &wire;
          if (sight.free) target = nullptr;
        }
        const auto views = [&] { return wire.sights | std::views::transform(&Sight::is); };
        const std::vector<View> last(views().begin(), views().end());
        find(wire);
        changed = changed || !std::ranges::equal(last, views());
        for (const Sight& sight : wire.sights) {
          if (sight.is != kAsItIs) targets[sight.at] = &wire;
        }
      }
    }
  }

  /// CZ H = H CX: gates that are nobody's target become one where that is no more between Hadamard gates than before,
  /// so that pairs of those stand around as much as they can.
  void take_in(std::vector<Wire*>& targets) {
    for (Wire& wire : wires_) {
      for (std::size_t j = 0; j < wire.sights.size(); ++j) {
        Sight& sight = wire.sights[j];
        if (!sight.cz || targets[sight.at] != nullptr) continue;
        const View last = j > 0 ? wire.sights[j - 1].is : kAsItIs;
        const View next = j + 1 < wire.sights.size() ? wire.sights[j + 1].is : kAsItIs;
        const auto beside = [&](View is) {
          return wire.runs[j].weights[last][is] + wire.runs[j + 1].weights[is][next];
        };
        const View target = std::ranges::min(views_.subspan(1), {}, beside);
        if (beside(target) > beside(kAsItIs) + kInBetween + 1e-9) continue;
        sight.is = target;
        targets[sight.at] = &wire;
      }
    }
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
      const auto is_target = [&](Qubit q) { return wires_[q].sights[next[q] - 1].is != kAsItIs; };
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
    const View right = sight > 0 ? wire.sights[sight - 1].is : kAsItIs, left = wire.sights[sight].is;
    if (members.empty() && right == kAsItIs && left == kAsItIs) return;
    TurnRun run = wire.runs[sight].turns;
    if (right == kTurnedFromY) run.angles.front() -= kQuarterTurn;
    if (right != kAsItIs) run.angles.insert(run.angles.begin(), 0);
    if (left == kTurnedFromY) run.phase(kQuarterTurn);
    if (left != kAsItIs) run.turn();
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
      if (right != kAsItIs) out.h(q);
      if (right == kTurnedFromY) out.sdg(q);
      for (const std::uint32_t i : members) out.append(circuit_, circuit_.operations()[i]);
      if (left == kTurnedFromY) out.s(q);
      if (left != kAsItIs) out.h(q);
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
  std::span<const View> views_;
  std::vector<Wire> wires_;
  Circuit named_;                           // one run
  std::uint64_t common_ = 0, refused_ = 0;  // a phase of everything, in turns
};

}  // namespace

void flips_between_hadamards(const Circuit& circuit, Rewritten& result) {
  Rewriter rewriter(circuit, result);
  const auto& operations = circuit.operations();
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (skipped(operations[i])) continue;
    if (!is_cx(operations[i])) {
      rewriter.copy(i);
      continue;
    }
    const Qubit control = circuit.controls(operations[i])[0], target = circuit.targets(operations[i])[0];
    rewriter.append_for(i).h(target).cz(control, target).h(target);
    rewriter.count_here(i);
  }
}

bool orient_flips(const Circuit& circuit, Rewritten& result) {
  // Three views leave more gates than two where turns about Y are what the circuit is made of.
  const std::span<const View> views = kViews;
  FlipOrienter orienter(circuit);
  if (!orienter.read()) return false;
  bool found = false;
  for (const std::span<const View> some : {views, views.first(2)}) {
    Rewritten other = orienter.seen_in(some);
    bool changed = true;
    if (Rewritten absorbed; absorb_flips(other.circuit, absorbed)) chain(other, changed, std::move(absorbed));
    other.cost = circuit_cost(other.circuit);
    if (!std::exchange(found, true) || other.cost < result.cost) result = std::move(other);
  }
  return true;
}

}  // namespace qsim
