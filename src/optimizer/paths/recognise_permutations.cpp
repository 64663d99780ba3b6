// Hadamard gates with phases between them that together only permute basis states and give them phases: what gates with
// several controls are written as, with ancillas that are computed and taken back, with relative phases, or as ladders
// of small controlled rotations. A sum over paths that is left without variables is the proof, and says which flips and
// phases they are.
//
// Sums run along the circuit from several gates at once. Where one is closed the gates since its beginning may be
// replaced; the cheapest way from the first gate to the last is taken.
#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/threads/thread_team.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/paths/cheapest_way.h"
#include "optimizer/paths/flips.h"
#include "optimizer/paths/path_steps.h"
#include "optimizer/paths/turn_order.h"
#include "optimizer/sums/path_sum.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr std::uint32_t kPiece = 1 << 14;  // operations that are brought into an order at a time
constexpr std::uint64_t kGivenBack = 64;   // of them for each gate of what is found
constexpr std::size_t kMostLookedAtAgain = 20'000, kMostWithNames = 100'000;  // operations

/// Which sums run at once. More see more, mostly, but not all, and run out of steps sooner.
struct Sums {
  std::size_t most = 0;
  std::size_t patience = 0;       // gates, for each that runs, after which another one begins although none was closed
  bool even = false;              // which one is given up: the least missed, or the newest that is open
  bool names = false;             // for long polynomials
  std::uint64_t steps = 300'000;  // products that may be looked at without finding anything
  std::uint64_t steps_each = 0;   // or so many for each operation, where that is more
};
constexpr Sums kFew{4, 48}, kMany{8, 12, true};
constexpr Sums kFewNamed{4, 48, false, true, 600'000, 256}, kManyNamed{8, 12, true, true, 600'000, 256};

/// How many sums ended, and how many because of what a qubit held.
struct Ends {
  std::size_t all = 0, too_long = 0;
};

bool turns_alone(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kH && op.controls == 0; }

/// A sum from some place of the order on.
struct Running {
  std::size_t first = 0, closed_at = 0;
  std::size_t looked_at = 0;
  PathSum sum;
  Index touched = 0;
  std::vector<std::uint32_t> kept{};  // of qubits that were not touched then
  double kept_weight = 0;
  bool kept_on = false;                     // it begins where one that became too large was of use
  std::int64_t after = kNoReplacement;      // as of a replacement
  std::int64_t gained_by = kNoReplacement;  // where it was closed last for less than the gates weigh
  bool ended = false;

  bool is_closed(std::size_t at) const { return closed_at == at; }
  /// Where another one has to be given up.
  bool is_kept(std::size_t at) const { return is_closed(at) || kept_on; }
};

class PermutationRecogniser {
 public:
  PermutationRecogniser(const Circuit& circuit, bool from_zero, const Sums& sums)
      : circuit_(circuit),
        sums_(sums),
        most_steps_(std::max<std::uint64_t>(sums.steps, sums.steps_each * circuit.operations().size())),
        zeros_(from_zero ? low_mask(circuit.qubits()) : 0) {}

  bool run(Rewritten& result) {
    if (circuit_.qubits() > 64 || !is_promising(circuit_)) return false;
    find();
    if (!way_.has_replacements()) return false;
    build(result);
    return true;
  }
  const Ends& ends() const { return ends_; }

 private:
  struct Placed {
    Index qubits = 0, changed = 0;
    std::size_t first_step = 0, steps = 0;  // none: no sum goes on over it
    bool turns = false;
    double weight = 0;
  };

  Placed read(const Operation& op) {
    Placed gate;
    const Support support = support_of(circuit_, op);
    gate.qubits = support.all;
    Index controls = 0;
    for (const Qubit c : circuit_.controls(op)) controls |= bit_mask(c);
    if ((controls & zeros_) == 0) gate.changed = support.all & ~support.diagonal;
    gate.first_step = steps_.size();
    append_steps(circuit_, op, steps_);
    gate.steps = steps_.size() - gate.first_step;
    gate.turns = std::any_of(steps_.begin() + static_cast<std::ptrdiff_t>(gate.first_step), steps_.end(),
                             [](const PathStep& step) { return step.kind == PathStep::Kind::kTurn; });
    if (support.is_diagonal()) {
      gate.weight = support.all == 0 ? 0 : weight::diagonal(count_bits(support.all));
    } else if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
      gate.weight = weight::flip(op.controls != 0);
    } else {
      gate.weight = turns_alone(op) ? weight::kRealTurn : op.targets * weight::kGeneral;
    }
    return gate;
  }

  /// Gates of one qubit wait until another gate needs it, so that pairs of Hadamard gates are close; but not what goes
  /// into a sum, nor a Hadamard gate that ends a pair.
  void find() {
    std::vector<std::vector<std::uint32_t>> waiting(circuit_.qubits());
    const auto flush = [&](Qubit q) {
      for (const std::uint32_t i : std::exchange(waiting[q], {})) place(i);
    };
    const auto size = static_cast<std::uint32_t>(circuit_.operations().size());
    while (seen_ < size && spent_ <= most_steps_) {
      const std::uint32_t first = std::exchange(seen_, std::min(size, seen_ + kPiece));
      for (const std::uint32_t i : turns_early(circuit_, first, seen_)) {
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
    for (Running& running : running_) {
      while (begin_again(running) && catch_up(running, gates_.size() - 1)) note_closed(running, gates_.size());
    }
    if (way_.has_replacements()) way_.find();
  }

  /// Of an operation on one qubit.
  bool goes_on_now(const Operation& op) const {
    const Qubit q = circuit_.targets(op)[0];
    const bool flips = op.kind == OpKind::kGate && op.gate == Gate::kX;
    const bool stays = flips || support_of(circuit_, op).is_diagonal();
    return std::ranges::any_of(running_, [&](const Running& running) {
      return test_bit(running.touched, q) && (stays || (turns(circuit_, op) && running.sum.turn_ends(q)));
    });
  }

  /// The next gate of the order.
  void place(std::uint32_t i) {
    const std::size_t at = gates_.size();
    order_.push_back(i);
    gates_.push_back(read(circuit_.operations()[i]));
    zeros_before_.push_back(zeros_);
    began_again_.push_back(false);
    const Placed& gate = gates_.back();
    if (begins(at) || gate.steps == 0) note_closed();
    if (begins(at) && spent_ <= most_steps_) begin(at);
    if (spent_ > most_steps_) running_.clear();
    way_.append_gate(gate.weight);
    for (Running& running : running_) {
      running.ended = !spend_on(running, at);
      while (running.ended && begin_again(running)) running.ended = !catch_up(running, at);
    }
    std::erase_if(running_, [](const Running& running) { return running.ended; });
    if (sums_.even) running_.sort([](const Running& a, const Running& b) { return a.first < b.first; });
    zeros_ &= ~gate.changed;
    for (const Running& running : running_) zeros_ |= running.sum.zeros();
    if (gate.turns) note_closed();
  }

  bool begins(std::size_t at) const {
    const Placed& gate = gates_[at];
    return gate.turns || (gate.steps != 0 && (gate.changed & zeros_before_[at]) != 0);
  }

  bool spend_on(Running& running, std::size_t at) {
    const std::uint64_t before = running.sum.work();
    const bool goes_on = go_on(running, at);
    spent_ += 1 + running.sum.work() - before;
    if (goes_on) return true;
    ++ends_.all;
    ends_.too_long += running.sum.is_too_long() ? 1 : 0;
    return false;
  }

  Running sum_from(std::size_t at) { return {at, at, at, PathSum(circuit_.qubits(), zeros_before_[at], sums_.names)}; }

  /// A sum that has become too large was of use up to somewhere: what comes next often begins there. Hadamard gates at
  /// the end of what was found are its first ones then, which were taken away with the same gates before; not of sums
  /// without names, which see more without them.
  bool begin_again(Running& running) {
    const std::int64_t gained_by = running.gained_by;
    if (gained_by == kNoReplacement) return false;
    const std::size_t from = way_[gained_by].end;
    if (from == gates_.size() || began_again_[from] || spent_ > most_steps_) return false;
    began_again_[from] = true;
    const auto there = std::ranges::find(running_, from, &Running::first);
    if (there != running_.end()) {
      there->kept_on = true;
      return false;
    }
    running = sum_from(from);
    running.kept_on = true;
    if (!sums_.names) return true;
    for (const PhasedPermutation::Turn& turn : way_[gained_by].permutation.turned_after) {
      running.after = gained_by;
      running.touched |= bit_mask(turn.qubit);
      running.sum.forget_zeros(bit_mask(turn.qubit));  // before that gate
      if (!running.sum.turn(turn.qubit) || !running.sum.phase(bit_mask(turn.qubit), 0, turn.phase)) return false;
    }
    return true;
  }

  /// The gates up to this one, with it. False where the sum ends before.
  bool catch_up(Running& running, std::size_t last) {
    for (std::size_t at = running.first; at <= last; ++at) {
      if (at != running.first && (begins(at) || gates_[at].steps == 0)) note_closed(running, at);
      if (!spend_on(running, at)) return false;
      if (gates_[at].turns && at != last) note_closed(running, at + 1);
    }
    return true;
  }

  /// A new sum before the gate, where one is closed or none has begun for long.
  void begin(std::size_t at) {
    const auto is_closed = [&](const Running& running) { return running.is_closed(at); };
    if (!running_.empty() && std::ranges::none_of(running_, is_closed) &&
        at - running_.back().first < sums_.patience * running_.size()) {
      return;
    }
    if (running_.size() == sums_.most) running_.erase(sums_.even ? least_missed(at) : newest_open(at));
    running_.push_back(sum_from(at));
  }

  std::list<Running>::iterator newest_open(std::size_t at) {
    const auto second = std::next(running_.begin());
    const auto is_kept = [&](const Running& running) { return running.is_kept(at); };
    const auto open = std::find_if_not(running_.rbegin(), std::make_reverse_iterator(second), is_kept);
    return open.base() == second ? second : std::prev(open.base());
  }

  /// The sum without which those that are left begin most evenly, on a logarithmic scale of how long ago; none that is
  /// closed, where there is another, nor the first.
  std::list<Running>::iterator least_missed(std::size_t at) {
    const auto second = std::next(running_.begin());
    auto least = second;
    double least_gap = std::numeric_limits<double>::infinity();
    for (auto sum = second; sum != running_.end(); ++sum) {
      if (sum->is_kept(at)) continue;
      const auto next = std::next(sum);
      const std::size_t until = next == running_.end() ? at : next->first;
      const double gap = static_cast<double>(until - std::prev(sum)->first) / static_cast<double>(at - sum->first + 1);
      if (gap >= least_gap) continue;
      least_gap = gap;
      least = sum;
    }
    return least;
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
    for (Running& running : running_) note_closed(running, way_.end());
  }

  void note_closed(Running& running, std::size_t at) {
    if (running.first == at || std::exchange(running.looked_at, at) == at) return;
    const std::uint64_t before = running.sum.work();
    std::optional<PhasedPermutation> permutation = running.sum.permutation();
    if (permutation) {
      running.closed_at = at;
    } else if (running.sum.saw_through()) {
      permutation = running.sum.permutation_before_turns();
    }
    spent_ += running.sum.work() - before;
    if (!permutation) return;
    double least_flips = 0;
    const double own = running.kept_weight + weight_of(*permutation, least_flips);
    const double start = way_.weight_before(running.first, running.after);
    if (!running.sum.saw_through() || start + own + least_flips >= way_.weight(at)) return;
    std::optional<std::vector<Flip>> flips = flips_of(permutation->values, permutation->zeros);
    spent_ += permutation->phases.size();
    if (!flips) return;
    const double weight = own + weight_of(*flips);
    if (!CheapestWay::is_less(start + weight, way_.weight(at))) return;
    running.closed_at = at;
    running.gained_by =
        way_.add({running.first, at, weight, running.kept, std::move(*permutation), std::move(*flips), running.after});
    // In a long circuit only for what no sum has given back for.
    const std::size_t from = at > kPiece ? std::max(running.first, gained_until_) : running.first;
    gained_until_ = std::max(gained_until_, at);
    spent_ -= std::min<std::uint64_t>(spent_, kGivenBack * (at - std::min(at, from)));
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    std::size_t at = 0;
    for (const auto& [r, turns_after] : way_.taken()) {
      const Replacement& replacement = way_[r];
      for (; at < replacement.first; ++at) rewriter.copy(order_[at]);
      append(rewriter, result, replacement, turns_after);
      at = replacement.end;
    }
    for (; at < order_.size(); ++at) rewriter.copy(order_[at]);
    for (std::uint32_t i = seen_; i < circuit_.operations().size(); ++i) {
      if (!skipped(circuit_.operations()[i])) rewriter.copy(i);
    }
  }

  void append(Rewriter& rewriter, Rewritten& result, const Replacement& replacement, bool turns_after) const {
    const auto members = std::span(order_).subspan(replacement.first, replacement.end - replacement.first);
    for (const std::uint32_t i : replacement.kept) rewriter.copy(i);
    Circuit& out = rewriter.append_for(members.front());
    const std::size_t before = out.operations().size();
    for (const auto& [product, turns] : replacement.permutation.phases_before) {
      qsim::append(out, {product, 0, angle_of_turns(turns)});
    }
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
    for (const PhasedPermutation::Turn& turn : replacement.permutation.turned_after) {
      if (!turns_after) break;
      out.h(turn.qubit);
      if (turn.phase != 0) qsim::append(out, {bit_mask(turn.qubit), 0, angle_of_turns(turn.phase)});
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
  const Sums sums_;
  const std::uint64_t most_steps_;
  Index zeros_;             // qubits that are 0 before the next gate, however one comes there
  std::uint32_t seen_ = 0;  // operations that were looked at
  std::vector<std::uint32_t> order_;
  std::vector<Placed> gates_;        // in that order
  std::vector<Index> zeros_before_;  // by place
  std::vector<bool> began_again_;    // by place: whether a sum did
  std::vector<PathStep> steps_;
  CheapestWay way_;  // of that order
  std::list<Running> running_;
  std::uint64_t spent_ = 0;
  std::size_t gained_until_ = 0;  // the place
  Ends ends_;
};

/// Sums see further over the flips that others became. Each look is at three quarters of the operations of the one
/// before at most. `ends`: of the first look.
bool look(const Circuit& circuit, bool from_zero, const Sums& sums, Rewritten& result, Ends& ends) {
  bool changed = false;
  for (std::size_t before = 0;;) {
    const Circuit& now = changed ? result.circuit : circuit;
    const std::size_t operations = now.operations().size();
    if (changed && 4 * operations > 3 * before) return true;
    Rewritten next;
    PermutationRecogniser recogniser(now, from_zero, sums);
    const bool found = recogniser.run(next);
    if (before == 0) ends = recogniser.ends();
    before = operations;
    if (!found) return changed;
    chain(result, changed, std::move(next));
  }
}

/// In several ways, while turns are left. With names for long polynomials where many sums ended for those and much is
/// left, and only what is much lighter then, since sums without names see more of what is short.
void recognise(const Circuit& circuit, bool from_zero, std::vector<Rewritten>& found) {
  constexpr double kMuch = 0.9, kLeft = 0.1;  // parts of a weight
  struct Way {
    Sums sums;
    bool wanted = true;
    Rewritten result{};
    Ends ends{};
  };
  double least = std::numeric_limits<double>::infinity();
  bool goes_on = true;
  const auto look_for = [&](Way& way) {
    way.wanted = way.wanted && look(circuit, from_zero, way.sums, way.result, way.ends);
  };
  const auto take = [&](Way& way) {
    if (!goes_on || !way.wanted) return false;
    const double weight = circuit_cost(way.result.circuit);
    if (way.sums.names && weight > kMuch * least) return false;
    least = std::min(least, weight);
    goes_on = is_promising(way.result.circuit);
    found.push_back(std::move(way.result));
    return true;
  };
  Way first{kFew};
  look_for(first);
  if (!take(first) || !goes_on) return;
  const std::size_t operations = circuit.operations().size();
  const bool are_long = 4 * first.ends.too_long >= std::max<std::size_t>(first.ends.all, 1);
  const bool is_much = least >= kLeft * circuit_cost(circuit);
  const bool again = operations <= kMostLookedAtAgain;
  std::array<Way, 2> others{
      {{kMany, again}, {kFewNamed, !from_zero && are_long && is_much && operations <= kMostWithNames}}};
  ThreadTeam(std::min(affinity_threads(), others[1].wanted ? 2 : 1)).run(others.size(), [&](std::uint64_t k, int) {
    look_for(others[k]);
  });
  take(others[0]);
  if (!take(others[1]) || !again) return;
  Way last{kManyNamed};
  look_for(last);
  take(last);
}

}  // namespace

std::vector<Rewritten> recognise_permutations(const Circuit& circuit, bool from_zero) {
  std::vector<Rewritten> found;
  if (from_zero) recognise(circuit, true, found);
  // Where turns are left, sums that do not know the zeros may end elsewhere and see more.
  const auto is_left = [](const Rewritten& of) { return is_promising(of.circuit); };
  if (std::ranges::all_of(found, is_left)) recognise(circuit, false, found);
  return found;
}

}  // namespace qsim
