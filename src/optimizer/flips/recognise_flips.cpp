// Two Hadamard gates around half turns of products are flips under the products' other qubits: H Z H = X. Flips of the
// qubit that stand between them become half turns in turn. Before that CX gates around rotations about Z become
// rotations about parities, and those that add up to products become products, so that Toffoli gates and controlled
// phases that are written with CX and RZ are seen as well. What reads the circuit after this finds the gates that it
// was written with.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/paths/turn_run.h"
#include "optimizer/sums/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

bool is_hadamard(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kH && op.controls == 0; }

class FlipRecogniser {
 public:
  explicit FlipRecogniser(const Circuit& circuit)
      : circuit_(circuit),
        open_(circuit.qubits()),
        target_(circuit.operations().size(), kNone),
        turned_over_(circuit.operations().size(), false),
        flipped_by_(circuit.qubits()),
        gone_(circuit.operations().size(), false) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    bool found = false;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) found = visit(i) || found;
    }
    if (found) build(result);
    return found;
  }

 private:
  static constexpr Qubit kNone = ~Qubit{0};

  /// A gate and the half turns and flips since then, with nothing else on its qubit.
  struct FlipPair {
    std::uint32_t first = kNoPlace;
    bool rotates = false;                   // it is a rotation about Y, else a Hadamard gate
    std::vector<std::uint32_t> half_turns;  // under other qubits
    std::vector<std::uint32_t> alone;       // of this qubit alone
    std::vector<std::uint32_t> flips;       // of this qubit under others
    // Other phases of this qubit alone, and their sum, which is 0 before a flip and at the end, or a quarter turn
    // there: e^(i common) P(sum).
    std::vector<std::uint32_t> phases;
    std::uint64_t sum = 0, common = 0;
    std::vector<Index> flipped_by;  // controls of the flips that stand before it
    bool leaves_turn() const { return sum != 0; }
  };

  bool visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    const bool rotates = is_rotation(op);
    if (rotates || is_hadamard(op)) {
      const Qubit q = circuit_.targets(op)[0];
      const bool closes = pays(open_[q], rotates);
      if (closes) close(q, i);
      open_[q] = {};
      open_[q].rotates = rotates;
      if (closes) return true;
      open_[q].first = i;
      open_[q].flipped_by = std::exchange(flipped_by_[q], {});
      return false;
    }
    const bool half_turn = support.is_diagonal() && is_half_turn(op);
    const bool flip = op.kind == OpKind::kGate && op.gate == Gate::kX && op.controls > 0;
    for_each_bit(support.all & ~support.diagonal, [&](unsigned q) {
      if (flip) {
        flipped_by_[q].push_back(support.diagonal);
      } else {
        flipped_by_[q].clear();
      }
    });
    for_each_bit(support.all, [&](unsigned q) {
      if (open_[q].first == kNoPlace) return;
      if (flip && !test_bit(support.diagonal, q) && open_[q].sum == 0) {
        open_[q].flips.push_back(i);
      } else if (!half_turn && support.is_diagonal() && support.all == bit_mask(q) && add_phase(open_[q], op)) {
        open_[q].phases.push_back(i);
      } else if (half_turn) {
        (support.all == bit_mask(q) ? open_[q].alone : open_[q].half_turns).push_back(i);
      } else {
        open_[q] = {};
      }
    });
    return false;
  }

  bool add_phase(FlipPair& pair, const Operation& op) const {
    const std::optional<DiagonalTerm> term = term_of(circuit_, op);
    if (!term) return false;
    if (term->parity == 0) {
      pair.sum += turns_of(term->angle);
    } else {
      const std::uint64_t half = turns_of(0.5 * term->angle);
      pair.sum += 2 * half;
      pair.common -= half;
    }
    return true;
  }

  bool is_half_turn(const Operation& op) const {
    const std::optional<DiagonalTerm> term = term_of(circuit_, op);
    return term && term->parity == 0 && turns_of(term->angle) == kHalfTurn;
  }

  /// By no half turn, which weighs less than what it would become.
  bool is_rotation(const Operation& op) const {
    if (op.kind != OpKind::kGate || op.gate != Gate::kRy || op.controls != 0 || is_open(circuit_, op)) return false;
    return std::abs(std::sin(circuit_.params(op)[0])) > 8 * kRounding;
  }

  /// Z RY(a) is H RY(a + pi/2), and RY(a) Z is RY(a - pi/2) H: with a Z a rotation may stand for a Hadamard gate.
  bool pays(const FlipPair& pair, bool rotates) const {
    if (pair.first == kNoPlace || pair.half_turns.empty() || (pair.rotates && rotates)) return false;
    if (pair.sum != 0 && pair.sum != kQuarterTurn && pair.sum != 0 - kQuarterTurn) return false;
    const bool rotation = pair.rotates || rotates;
    if (rotation && (pair.alone.size() != 1 || !pair.flips.empty() || pair.leaves_turn())) return false;
    double gain =
        rotation ? weight::kRealTurn : 2 * weight::kRealTurn - weight::kFlip * static_cast<double>(pair.alone.size());
    if (pair.leaves_turn()) gain -= weight::kRealTurn;
    Index joined = 0;
    bool wide = false;
    for (const std::uint32_t i : pair.half_turns) {
      const Index qubits = support_of(circuit_, circuit_.operations()[i]).all;
      gain += weight::diagonal(count_bits(qubits)) - weight::kControlledFlip;
      joined |= qubits;
      wide = wide || count_bits(qubits) >= 3;
    }
    for (const std::uint32_t i : pair.flips) {
      gain +=
          weight::kControlledFlip - weight::diagonal(count_bits(support_of(circuit_, circuit_.operations()[i]).all));
    }
    // What is a CX gate then, the timeline sees as turns around a diagonal anyway.
    if (!wide) return false;
    // Phases on one qubit stand beside no diagonal then.
    gain -= weight::kLonelyPhases * count_bits(joined);
    return gain > 1e-9;
  }

  /// What becomes a flip is a half turn for no other qubit's pair any more.
  void close(Qubit q, std::uint32_t second) {
    FlipPair& pair = open_[q];
    const bool rotation = pair.rotates || is_rotation(circuit_.operations()[second]);
    std::vector<Index> before = std::exchange(pair.flipped_by, {});
    flipped_by_[q] = pair.leaves_turn() ? std::vector<Index>{} : std::move(before);
    for (const std::uint32_t i : {pair.first, second}) {
      const Operation& op = circuit_.operations()[i];
      if (is_rotation(op)) {
        constexpr double kRightAngle = 0.5 * std::numbers::pi;
        turned_.emplace_back(i, circuit_.params(op)[0] + (i == second ? -kRightAngle : kRightAngle));
      } else {
        gone_[i] = true;
      }
    }
    for (const std::uint32_t i : pair.half_turns) flipped_by_[q].push_back(other_qubits(i, q));
    if (pair.leaves_turn()) leave_turn(q, pair, before, second);
    for (const std::uint32_t i : pair.alone) {
      if (rotation) {
        gone_[i] = true;
      } else {
        target_[i] = q;
      }
    }
    for (const std::uint32_t i : pair.phases) gone_[i] = true;
    common_ += pair.common;
    for (const std::uint32_t i : pair.flips) turned_over_[i] = true;
    for (const std::uint32_t i : pair.half_turns) {
      target_[i] = q;
      for_each_bit(other_qubits(i, q), [&](unsigned c) {
        if (open_[c].first < i) open_[c] = {};
      });
    }
  }

  /// H P(+-pi/2) H = e^(+-i pi/4) P(-+pi/2) H P(-+pi/2), which commutes with what half turns become: it stands before
  /// that, so that flips meet those that follow, or behind it where such flips stand before the pair.
  void leave_turn(Qubit q, const FlipPair& pair, const std::vector<Index>& before, std::uint32_t second) {
    const auto meets = [&](std::uint32_t i) { return std::ranges::count(before, other_qubits(i, q)) != 0; };
    const bool last = !pair.flips.empty() || std::ranges::any_of(pair.half_turns, meets);
    if (last) flipped_by_[q].clear();
    const bool inverse = pair.sum == kQuarterTurn;
    left_.emplace_back(last ? second : pair.first, inverse ? Gate::kSdg : Gate::kS);
    common_ += inverse ? kEighthTurn : 0 - kEighthTurn;
  }

  Index other_qubits(std::uint32_t i, Qubit q) const {
    return support_of(circuit_, circuit_.operations()[i]).all & ~bit_mask(q);
  }

  void build(Rewritten& result) {
    std::ranges::sort(turned_);
    std::ranges::sort(left_);
    auto turned = turned_.begin();
    auto left = left_.begin();
    Rewriter rewriter(circuit_, result);
    for (std::uint32_t i = 0; i < target_.size(); ++i) {
      const Operation& op = circuit_.operations()[i];
      if (skipped(op)) continue;
      if (left != left_.end() && left->first == i) {
        Circuit& out = rewriter.append_for(i);
        const Qubit q = circuit_.targets(op)[0];
        out.add_gate(left->second, {}, {&q, 1}).h(q).add_gate(left->second, {}, {&q, 1});
        rewriter.count_here(i);
        ++left;
      } else if (gone_[i]) {
        rewriter.remove(i, "recognised as flips");
      } else if (turned != turned_.end() && turned->first == i) {
        rewriter.append_for(i).ry(turned++->second, circuit_.targets(op)[0]);
        rewriter.count_here(i);
      } else if (turned_over_[i]) {
        rewriter.append_for(i).add_gate(Gate::kZ, circuit_.controls(op), circuit_.targets(op));
        rewriter.count_here(i);
      } else if (target_[i] == kNone) {
        rewriter.copy(i);
      } else {
        const Qubit target = target_[i];
        const Index controls = support_of(circuit_, op).all & ~bit_mask(target);
        rewriter.append_for(i).add_gate(Gate::kX, qubits_of(controls), {&target, 1});
        rewriter.count_here(i);
      }
    }
    append_common(result.circuit, common_);
  }

  const Circuit& circuit_;
  std::vector<FlipPair> open_;                  // by qubit
  std::vector<Qubit> target_;                   // by operation: of the flip that it becomes
  std::vector<bool> turned_over_;               // by operation: a flip that becomes a half turn
  std::vector<std::vector<Index>> flipped_by_;  // by qubit: controls of its flips since its last turn
  std::vector<bool> gone_;
  std::vector<std::pair<std::uint32_t, Gate>> left_;      // gates that a turn between two such phases is left of
  std::vector<std::pair<std::uint32_t, double>> turned_;  // rotations that have another angle
  std::uint64_t common_ = 0;                              // a phase of everything
};

}  // namespace

bool recognise_flips(const Circuit& circuit, Rewritten& result) {
  if (!FlipRecogniser(circuit).run(result)) return false;
  bool changed = true;
  if (Rewritten absorbed; absorb_flips(result.circuit, absorbed)) chain(result, changed, std::move(absorbed));
  return true;
}

bool gather_products(const Circuit& circuit, Rewritten& result) {
  bool changed = false, products = false;
  for (const auto& step : {recognise_rotations, gather_diagonals, recognise_products}) {
    Rewritten next;
    products = step(changed ? result.circuit : circuit, next);
    if (products) chain(result, changed, std::move(next));
  }
  // Rotations alone are found later as well.
  return products;
}

}  // namespace qsim
