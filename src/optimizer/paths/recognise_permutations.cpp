// Hadamard gates with phases between them that together only permute basis states and give them phases: what gates with
// several controls are written as, with ancillas that are computed and taken back, with relative phases, or as ladders
// of small controlled rotations. A sum over paths that is left without variables is the proof, and says which flips and
// phases they are.
//
// Sums run along the circuit from several gates at once. Where one is closed the gates since its beginning may be
// replaced; the cheapest way from the first gate to the last is taken.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "circuit/gate_table.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/paths/flips.h"
#include "optimizer/paths/path_steps.h"
#include "optimizer/paths/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::size_t kMostSums = 4;          // that run at once
constexpr std::uint32_t kPiece = 1 << 14;     // operations that are brought into an order at a time
constexpr std::uint64_t kFewSteps = 300'000;  // products that may be looked at without finding anything

bool turns_alone(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kH && op.controls == 0; }

/// Of what a permutation is made of but its flips.
double weight_of(const PhasedPermutation& permutation) {
  double sum = weight::kRealTurn * count_bits(permutation.turned);
  for (const auto& [product, turns] : permutation.phases) {
    if (product != 0) sum += weight::diagonal(count_bits(product));
  }
  return sum;
}

double weight_of(const std::vector<Flip>& flips) {
  double sum = 0;
  for (const Flip& flip : flips) sum += flip.controls == 0 ? weight::kFlip : weight::kControlledFlip;
  return sum;
}

/// What gates between two places of the order become.
struct Replacement {
  std::size_t first = 0;            // place of the first gate
  std::vector<std::uint32_t> kept;  // operations that stay as they are, before it
  PhasedPermutation permutation;
  std::vector<Flip> flips;
};

/// A sum from some place of the order on.
struct Running {
  std::size_t first = 0, closed_at = 0;
  PathSum sum;
  Index touched = 0;
  std::vector<std::uint32_t> kept;  // of qubits that were not touched then
  double kept_weight = 0;
  bool ended = false;
};

class PermutationRecogniser {
 public:
  PermutationRecogniser(const Circuit& circuit, bool from_zero)
      : circuit_(circuit), zeros_(from_zero ? low_mask(circuit.qubits()) : 0) {}

  bool run(Rewritten& result) {
    if (circuit_.qubits() > 64 || !is_promising()) return false;
    find();
    if (!found_) return false;
    build(result);
    return true;
  }

 private:
  struct Placed {
    Index qubits = 0, changed = 0;
    std::size_t first_step = 0, steps = 0;  // none: no sum goes on over it
    bool turns = false;
    double weight = 0;
  };
  struct Way {
    double weight = 0;
    std::int64_t replacement = -1;  // by which one comes here; -1: from the place before
  };

  /// Whether anywhere a phase that no Clifford circuit has stands between two Hadamard gates.
  bool is_promising() {
    std::vector<bool> open(circuit_.qubits(), false), fine(circuit_.qubits(), false);
    for (const Operation& op : circuit_.operations()) {
      if (op.kind == OpKind::kGate && op.gate == Gate::kX) continue;
      if (skipped(op)) continue;
      if (is_fine(op)) {
        for_each_qubit(circuit_, op, [&](Qubit q) { fine[q] = open[q]; });
      } else if (op.kind != OpKind::kGate || !gate_info(op.gate).diagonal) {
        const bool sees_through = turns(op);
        for (const Qubit q : circuit_.targets(op)) {
          if (sees_through && (fine[q] || op.controls != 0)) return true;
          open[q] = sees_through;
          fine[q] = false;
        }
      }
    }
    return false;
  }

  bool is_fine(const Operation& op) const {
    if (op.kind == OpKind::kPauliRotation) {
      const auto letters = circuit_.letters(op);
      return std::ranges::all_of(letters, [](std::uint32_t l) { return l == 3; }) && is_part(op);
    }
    if (op.kind != OpKind::kGate) return false;
    switch (op.gate) {
      case Gate::kT:
      case Gate::kTdg:
        return true;
      case Gate::kS:
      case Gate::kSdg:
        return op.controls != 0;
      case Gate::kRz:
      case Gate::kPhase:
      case Gate::kRzz:
        return is_part(op);
      default:
        return false;
    }
  }
  bool is_part(const Operation& op) const { return !is_open(circuit_, op) && is_part_of_turn(circuit_.params(op)[0]); }

  /// Whether it is made of steps, with Hadamard gates among them.
  bool turns(const Operation& op) const {
    if (op.kind != OpKind::kGate) return false;
    switch (op.gate) {
      case Gate::kH:
        return op.controls == 0;
      case Gate::kSx:
      case Gate::kSxdg:
        return true;
      case Gate::kRx:
      case Gate::kRy:
      case Gate::kU:
        return is_part(op);
      case Gate::kU2:
        return !is_open(circuit_, op);
      default:
        return false;
    }
  }

  Placed read(const Operation& op) {
    Placed gate;
    const Reach reach = reach_of(circuit_, op);
    gate.qubits = reach.all;
    Index controls = 0;
    for (const Qubit c : circuit_.controls(op)) controls |= bit_mask(c);
    if ((controls & zeros_) == 0) gate.changed = reach.all & ~reach.diagonal;
    gate.first_step = steps_.size();
    append_steps(circuit_, op, steps_);
    gate.steps = steps_.size() - gate.first_step;
    gate.turns = std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(gate.first_step), steps_.end(),
                             [](const PathStep& step) { return step.kind == PathStep::Kind::kTurn; });
    if (reach.is_diagonal()) {
      gate.weight = reach.all == 0 ? 0 : weight::diagonal(count_bits(reach.all));
    } else if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
      gate.weight = op.controls == 0 ? weight::kFlip : weight::kControlledFlip;
    } else {
      gate.weight = turns_alone(op) ? weight::kRealTurn : op.targets * weight::kGeneral;
    }
    return gate;
  }

  /// The operations, each gate that turns one qubit as early as what it needs lets it be, all else as late as that.
  std::vector<std::uint32_t> pulled(std::uint32_t first, std::uint32_t end) const {
    const auto& operations = circuit_.operations();
    std::vector<std::uint32_t> before, begin{0};  // by operation: the one before it on each of its qubits
    std::vector<std::uint32_t> last(circuit_.qubits(), kNoPlace), order, pending, needed;
    std::vector<bool> placed(end - first, false);
    const auto pull = [&](std::uint32_t root) {
      pending.push_back(root);
      placed[root] = true;
      while (!pending.empty()) {
        const std::uint32_t i = pending.back();
        pending.pop_back();
        needed.push_back(first + i);
        for (std::uint32_t j = begin[i]; j < begin[i + 1]; ++j) {
          if (before[j] == kNoPlace || placed[before[j]]) continue;
          placed[before[j]] = true;
          pending.push_back(before[j]);
        }
      }
      std::ranges::sort(needed);
      order.insert(order.end(), needed.begin(), needed.end());
      needed.clear();
    };
    for (std::uint32_t i = 0; i < end - first; ++i) {
      const Operation& op = operations[first + i];
      if (skipped(op)) {
        placed[i] = true;
      } else {
        for_each_qubit(circuit_, op, [&](Qubit q) { before.push_back(std::exchange(last[q], i)); });
      }
      begin.push_back(static_cast<std::uint32_t>(before.size()));
      if (op.controls + op.targets == 1 && !skipped(op) && turns(op)) pull(i);
    }
    for (std::uint32_t i = 0; i < end - first; ++i) {
      if (!placed[i]) pull(i);
    }
    return order;
  }

  /// Gates of one qubit wait until another gate needs it, so that pairs of Hadamard gates are close; but not what goes
  /// into a sum, nor a Hadamard gate that ends a pair.
  void find() {
    std::vector<std::vector<std::uint32_t>> waiting(circuit_.qubits());
    const auto flush = [&](Qubit q) {
      for (const std::uint32_t i : std::exchange(waiting[q], {})) place(i);
    };
    ways_.emplace_back();
    const auto size = static_cast<std::uint32_t>(circuit_.operations().size());
    while (seen_ < size && spent_ <= kFewSteps) {
      const std::uint32_t first = std::exchange(seen_, std::min(size, seen_ + kPiece));
      for (const std::uint32_t i : pulled(first, seen_)) {
        const Operation& op = circuit_.operations()[i];
        const bool alone = op.controls == 0 && op.targets == 1;
        if (alone && (!waiting[circuit_.targets(op)[0]].empty() || !goes_on_now(op))) {
          waiting[circuit_.targets(op)[0]].push_back(i);
        } else {
          for_each_qubit(circuit_, op, flush);
          place(i);
        }
      }
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) flush(q);
    note_closed();
    for (std::size_t at = gates_.size(); at > 0;) {
      const std::int64_t replacement = ways_[at].replacement;
      found_ = found_ || replacement >= 0;
      at = replacement < 0 ? at - 1 : replacements_[static_cast<std::size_t>(replacement)].first;
    }
  }

  /// Of an operation on one qubit.
  bool goes_on_now(const Operation& op) const {
    const Qubit q = circuit_.targets(op)[0];
    const bool flips = op.kind == OpKind::kGate && op.gate == Gate::kX;
    const bool stays = flips || reach_of(circuit_, op).is_diagonal();
    return std::ranges::any_of(running_, [&](const Running& running) {
      return test_bit(running.touched, q) && (stays || (turns(op) && running.sum.turn_ends(q)));
    });
  }

  /// The next gate of the order.
  void place(std::uint32_t i) {
    const std::size_t at = gates_.size();
    order_.push_back(i);
    gates_.push_back(read(circuit_.operations()[i]));
    const Placed& gate = gates_.back();
    const bool begins = gate.turns || (gate.steps != 0 && (gate.changed & zeros_) != 0);
    if (begins || gate.steps == 0) note_closed();
    if (begins && spent_ <= kFewSteps) begin(at);
    if (spent_ > kFewSteps) running_.clear();
    ways_.push_back({ways_[at].weight + gate.weight, -1});
    for (Running& running : running_) {
      const std::uint64_t before = running.sum.work();
      running.ended = !go_on(running, at);
      spent_ += 1 + running.sum.work() - before;
    }
    std::erase_if(running_, [](const Running& running) { return running.ended; });
    zeros_ &= ~gate.changed;
    for (const Running& running : running_) zeros_ |= running.sum.zeros();
    if (gate.turns) note_closed();
  }

  /// A new sum before the gate, where one is closed or none has begun for long.
  void begin(std::size_t at) {
    constexpr std::size_t kPatience = 48;
    const auto closed = [&](const Running& running) { return running.closed_at == at; };
    if (!running_.empty() && std::ranges::none_of(running_, closed) &&
        at - running_.back().first < kPatience * running_.size()) {
      return;
    }
    if (running_.size() == kMostSums) {
      const auto open = std::find_if_not(running_.rbegin(), running_.rend() - 1, closed);
      running_.erase(open == running_.rend() - 1 ? running_.begin() + 1 : open.base() - 1);
    }
    running_.push_back({at, at, PathSum(circuit_.qubits(), zeros_), 0, {}, 0, false});
  }

  /// False where the sum ends before the gate.
  bool go_on(Running& running, std::size_t at) {
    const Placed& gate = gates_[at];
    const Index before = running.touched & gate.qubits;
    if (before == 0 && at != running.first && (gate.steps == 0 || !gate.turns)) {
      running.kept.push_back(order_[at]);
      running.sum.forget_zeros(gate.changed);
      running.kept_weight += gate.weight;
      return true;
    }
    if (gate.steps == 0) return false;
    running.touched |= gate.qubits;
    for (std::size_t s = gate.first_step; s < gate.first_step + gate.steps; ++s) {
      if (!append_to(running.sum, steps_[s])) return false;
    }
    const std::size_t width = count_bits(running.touched);
    constexpr std::size_t kLongest = 96;  // and four gates a pair of qubits
    return running.sum.variables() <= 3 * width + 8 && at - running.closed_at <= kLongest + 4 * width * width;
  }

  /// Sums that are closed after the gates so far.
  void note_closed() {
    const std::size_t at = ways_.size() - 1;
    for (Running& running : running_) {
      if (running.first == at) continue;
      std::optional<PhasedPermutation> permutation = running.sum.permutation();
      if (!permutation) continue;
      running.closed_at = at;
      const double start = ways_[running.first].weight + running.kept_weight + weight_of(*permutation);
      if (!running.sum.saw_through() || start >= ways_[at].weight) continue;
      std::optional<std::vector<Flip>> flips = flips_of(permutation->values, permutation->zeros);
      spent_ += permutation->phases.size();
      if (!flips) continue;
      const double weight = start + weight_of(*flips);
      if (weight >= ways_[at].weight - 1e-9) continue;
      ways_[at] = {weight, static_cast<std::int64_t>(replacements_.size())};
      replacements_.push_back({running.first, running.kept, std::move(*permutation), std::move(*flips)});
      spent_ -= std::min<std::uint64_t>(spent_, 64 * (at - running.first));
    }
  }

  void build(Rewritten& result) const {
    std::vector<std::pair<std::size_t, std::size_t>> taken;  // replacement, place after its last gate
    for (std::size_t at = gates_.size(); at > 0;) {
      const std::int64_t replacement = ways_[at].replacement;
      if (replacement >= 0) taken.emplace_back(static_cast<std::size_t>(replacement), at);
      at = replacement < 0 ? at - 1 : replacements_[static_cast<std::size_t>(replacement)].first;
    }
    Rewriter rewriter(circuit_, result);
    std::size_t at = 0;
    for (auto next = taken.rbegin(); next != taken.rend(); ++next) {
      const Replacement& replacement = replacements_[next->first];
      for (; at < replacement.first; ++at) rewriter.copy(order_[at]);
      append(rewriter, result, replacement, next->second);
      at = next->second;
    }
    for (; at < order_.size(); ++at) rewriter.copy(order_[at]);
    for (std::uint32_t i = seen_; i < circuit_.operations().size(); ++i) {
      if (!skipped(circuit_.operations()[i])) rewriter.copy(i);
    }
  }

  void append(Rewriter& rewriter, Rewritten& result, const Replacement& replacement, std::size_t end) const {
    const auto members = std::span(order_).subspan(replacement.first, end - replacement.first);
    for (const std::uint32_t i : replacement.kept) rewriter.copy(i);
    Circuit& out = rewriter.append_for(members.front());
    const std::size_t before = out.operations().size();
    for_each_bit(replacement.permutation.turned, [&](unsigned q) { out.h(q); });
    for (const auto& [product, turns] : replacement.permutation.phases) {
      const double angle = angle_of_turns(turns);
      if (product == 0) {
        out.add_pauli_rotation(-2 * angle, "", {});
      } else {
        qsim::append(out, {product, 0, angle});
      }
    }
    for (const Flip& flip : replacement.flips) {
      out.add_gate(Gate::kX, qubits_of(flip.controls), {&flip.target, 1});
    }
    const bool empty = out.operations().size() == before;
    for (const std::uint32_t i : members) {
      if (result.place[i] != kNoPlace) continue;
      if (empty) {
        rewriter.remove(i, "recognised as permutations");
      } else {
        rewriter.count_on(i, static_cast<std::uint32_t>(before));
      }
    }
  }

  const Circuit& circuit_;
  Index zeros_;             // qubits that are 0 before the next gate, however one comes there
  std::uint32_t seen_ = 0;  // operations that were looked at
  std::vector<std::uint32_t> order_;
  std::vector<Placed> gates_;  // in that order
  std::vector<PathStep> steps_;
  std::vector<Way> ways_;  // by place of the order
  std::vector<Replacement> replacements_;
  std::vector<Running> running_;
  std::uint64_t spent_ = 0;
  bool found_ = false;
};

}  // namespace

bool recognise_permutations(const Circuit& circuit, Rewritten& result) {
  return PermutationRecogniser(circuit, false).run(result);
}

bool recognise_permutations_from_zero(const Circuit& circuit, Rewritten& result) {
  return PermutationRecogniser(circuit, true).run(result);
}

}  // namespace qsim
