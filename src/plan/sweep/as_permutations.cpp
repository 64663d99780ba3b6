#include "plan/sweep/as_permutations.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/bit_products.h"
#include "base/numbers/matrix2.h"
#include "base/numbers/rounding.h"
#include "optimizer/sums/path_sum.h"
#include "plan/sixteenths.h"

namespace qsim {
namespace {

constexpr std::uint32_t kHalfTurn = 8;  // in sixteenths

bool is_hadamard(const Lowered& lowered, const LoweredOp& op) {
  if (op.form != Form::kMatrix || op.target_count != 1 || op.control_mask != 0 || op.open != 0) return false;
  return std::ranges::equal(lowered.matrix(op), kHadamard2, [](Complex a, Complex b) { return is_tiny(a - b); });
}

/// Of flips and phases.
void push(LoweredOp op, Lowered& result) {
  set_basis_masks(op, {}, result.terms(op));
  result.ops.push_back(op);
}

class HadamardPairs {
 public:
  explicit HadamardPairs(const Lowered& lowered)
      : lowered_(lowered), open_(lowered.qubits), turned_(lowered.ops.size(), 0), gone_(lowered.ops.size(), false) {}

  std::optional<Lowered> run() {
    bool found = false;
    for (std::uint32_t i = 0; i < lowered_.ops.size(); ++i) found = visit(i) || found;
    if (!found) return {};
    return rewritten();
  }

 private:
  /// A Hadamard gate and the operations on its wire since then.
  struct Pair {
    bool begun = false;
    std::uint32_t first = 0;
    std::vector<std::uint32_t> between;
  };

  bool visit(std::uint32_t i) {
    const LoweredOp& op = lowered_.ops[i];
    if (is_hadamard(lowered_, op)) {
      Pair& pair = open_[op.targets[0]];
      const bool closes = pair.begun;
      if (closes) close(op.targets[0], i);
      pair = {!closes, i, {}};
      return closes;
    }
    for_each_bit(op.support, [&](unsigned wire) {
      Pair& pair = open_[wire];
      if (!pair.begun) return;
      if (turns(op, wire)) {
        pair.between.push_back(i);
      } else {
        pair.begun = false;
      }
    });
    return false;
  }

  /// Whether between two Hadamard gates of `wire` the operation is flips and phases still.
  bool turns(const LoweredOp& op, unsigned wire) const {
    if (test_bit(op.control_mask, wire)) return false;
    if (op.form == Form::kFlip) return true;  // of the wire
    if (op.form != Form::kPhases) return false;
    for (const PhaseTerm& term : lowered_.terms(op)) {
      if (!test_bit(term.mask, wire)) continue;
      const bool product = !term.parity || term.mask == bit_mask(wire);
      if (!product || term.open != 0 || sixteenths_of(term.angle) != kHalfTurn) return false;
    }
    return true;
  }

  /// What is turned for one wire is no half turn for another any more.
  void close(unsigned wire, std::uint32_t second) {
    Pair& pair = open_[wire];
    gone_[pair.first] = gone_[second] = true;
    for (const std::uint32_t i : pair.between) {
      turned_[i] |= bit_mask(wire);
      for_each_bit(lowered_.ops[i].support & ~bit_mask(wire), [&](unsigned other) { open_[other].begun = false; });
    }
  }

  Lowered rewritten() {
    Lowered result = lowered_;
    result.ops.clear();
    for (std::uint32_t i = 0; i < lowered_.ops.size(); ++i) {
      const LoweredOp& op = lowered_.ops[i];
      if (gone_[i]) {
        result.remove(op, "recognised as flips");
      } else if (turned_[i] == 0) {
        result.ops.push_back(op);
      } else if (op.form == Form::kFlip) {
        push_half_turn(op, result);
      } else {
        push_flips(op, turned_[i], result);
      }
    }
    return result;
  }

  /// H X H = Z, under the same controls; those that are to be 1 are of the product.
  static void push_half_turn(LoweredOp op, Lowered& result) {
    const Index product = op.target_mask() | op.control_value;
    op.control_mask &= ~op.control_value;
    op.control_value = 0;
    op.form = Form::kPhases;
    op.target_count = 0;
    op.data_begin = static_cast<std::uint32_t>(result.phases.size());
    op.data_count = 1;
    result.phases.push_back({product, false, OpenAngle{std::numbers::pi, 0}});
    push(op, result);
  }

  /// Terms with a wire of `wires` are flips of it; no term has two.
  void push_flips(const LoweredOp& op, Index wires, Lowered& result) const {
    LoweredOp rest = op;
    rest.data_begin = static_cast<std::uint32_t>(result.phases.size());
    rest.data_count = 0;
    for (const PhaseTerm& term : lowered_.terms(op)) {
      if ((term.mask & wires) != 0) continue;
      result.phases.push_back(term);
      ++rest.data_count;
    }
    std::uint32_t gates = op.gates;
    if (rest.data_count > 0) {
      push(rest, result);
      gates = 0;
    }
    for (const PhaseTerm& term : lowered_.terms(op)) {
      const Index wire = term.mask & wires;
      if (wire == 0) continue;
      LoweredOp flip = op;
      flip.form = Form::kFlip;
      flip.act_on(wire);
      flip.data_begin = flip.data_count = 0;
      // A term that is under its own controls asks them once; where they are to be 0 it is never met.
      const Index others = term.mask & ~wire;
      if (!op.may_meet(others)) continue;
      flip.control_mask |= others;
      flip.control_value |= others;
      flip.gates = std::exchange(gates, 0);
      push(flip, result);
    }
    if (gates > 0) result.remove(op, "control never met");
  }

  const Lowered& lowered_;
  std::vector<Pair> open_;     // by wire
  std::vector<Index> turned_;  // by operation: the wires whose Hadamard gates are around it
  std::vector<bool> gone_;
};

/// An angle that was taken from rounded numbers, in sixteenths of a turn.
std::optional<std::uint32_t> rounded_sixteenths(double angle) {
  return sixteenths_of(angle_of_turns(rounded_turns(turns_of(angle))));
}

/// Matrices on one wire that are phases around a Hadamard gate or beside a flip, as these.
class MatrixSplitter {
 public:
  explicit MatrixSplitter(const Lowered& lowered) : lowered_(lowered), result_(lowered) {}

  /// Whether there was one.
  bool run() {
    result_.ops.clear();
    bool found = false;
    for (const LoweredOp& op : lowered_.ops) {
      const bool splits = op.form == Form::kMatrix && op.target_count == 1 && op.open == 0 && split(op);
      if (!splits) result_.ops.push_back(op);
      found = found || splits;
    }
    return found;
  }
  Lowered& result() { return result_; }

 private:
  bool split(const LoweredOp& op) {
    const auto m = lowered_.matrix(op);
    if (is_tiny(m[0]) && is_tiny(m[3])) {
      LoweredOp flip = op;
      flip.form = Form::kFlip;
      flip.data_begin = flip.data_count = 0;
      return put({}, flip, std::arg(m[2]), rounded_sixteenths(std::arg(m[1] * std::conj(m[2]))));
    }
    if (op.control_mask != 0 || is_hadamard(lowered_, op)) return false;
    // A rotation by half a turn is H diag(1, -1).
    const std::optional<RotationAngles> parts = rotation_angles({m[0], m[1], m[2], m[3]});
    if (!parts || !is_tiny(parts->cosine - kHadamard2[0]) || !is_tiny(parts->sine - kHadamard2[0])) return false;
    LoweredOp hadamard = op;
    hadamard.data_begin = static_cast<std::uint32_t>(result_.matrices.size());
    if (!put(rounded_sixteenths(parts->left), hadamard, parts->around,
             rounded_sixteenths(parts->right + std::numbers::pi)))
      return false;
    result_.matrices.insert(result_.matrices.end(), kHadamard2.begin(), kHadamard2.end());
    return true;
  }

  /// `middle` between phases of its wire at 1, with one of all of it.
  bool put(std::optional<std::uint32_t> after, const LoweredOp& middle, double whole,
           std::optional<std::uint32_t> before) {
    const bool hadamard = middle.form == Form::kMatrix;
    const std::optional<std::uint32_t> part = rounded_sixteenths(whole);
    if (!before || (hadamard && !after) || (middle.control_mask != 0 && !part)) return false;
    push_phases(middle,
                {{0, part ? angle_of_sixteenths(*part) : whole}, {middle.target_mask(), angle_of_sixteenths(*before)}});
    result_.ops.push_back(middle);
    if (hadamard) {
      result_.ops.back().z_mask = result_.ops.back().x_mask = result_.ops.back().y_mask = 0;
    } else {
      set_basis_masks(result_.ops.back(), {}, {});
    }
    if (hadamard) push_phases(middle, {{middle.target_mask(), angle_of_sixteenths(*after)}});
    return true;
  }

  /// Under the controls of `like`, whose gates they do not count.
  void push_phases(LoweredOp like, std::initializer_list<std::pair<Index, double>> terms) {
    like.form = Form::kPhases;
    like.target_count = 0;
    like.gates = 0;
    like.data_begin = static_cast<std::uint32_t>(result_.phases.size());
    for (const auto& [mask, angle] : terms) {
      if (angle != 0) result_.phases.push_back({mask, false, OpenAngle{angle, 0}});
    }
    like.data_count = static_cast<std::uint32_t>(result_.phases.size()) - like.data_begin;
    if (like.data_count > 0) push(like, result_);
  }

  const Lowered& lowered_;
  Lowered result_;
};

/// Phases put off until something does not commute with them, as products, each once. `through_flips`: half and quarter
/// turns are put off behind flips with few controls as well, as what they are there.
class PhaseGatherer {
 public:
  PhaseGatherer(const Lowered& lowered, bool through_flips)
      : through_flips_(through_flips), lowered_(lowered), result_(lowered) {}

  Lowered run() {
    result_.ops.clear();
    for (const LoweredOp& op : lowered_.ops) {
      if (gather(op)) continue;
      if (!carry(op)) put_down(op.support & ~op.z_mask);
      result_.ops.push_back(op);
    }
    put_down(~Index{0});
    return std::move(result_);
  }

 private:
  struct Waiting {
    Index mask = 0;
    std::uint64_t turns = 0;  // whole sixteenths of one, but where the product is of no wire
    LoweredOp like;           // that it came with: what it counts
  };
  static constexpr int kMostExpanded = 4;  // wires of a parity
  static constexpr int kMostCarried = 6;   // wires of what goes behind a flip
  static constexpr std::size_t kMostWaiting = 256;

  bool gather(const LoweredOp& op) {
    if (op.form != Form::kPhases || op.control_value != op.control_mask || !may_permute(op, lowered_.terms(op)))
      return false;
    const auto is_wide = [&](const PhaseTerm& term) {
      return term.parity && (popcount(term.mask) > kMostExpanded || op.control_mask != 0);
    };
    if (std::ranges::any_of(lowered_.terms(op), is_wide)) return false;
    LoweredOp like = op;
    for (const PhaseTerm& term : lowered_.terms(op)) {
      const std::uint64_t turns = turns_of(term.angle);
      if (!term.parity) {
        add(term.mask | op.control_mask, turns, like);
        continue;
      }
      for_each_product_of_parity(term.mask, [&](Index ones, std::int64_t weight) {
        add(ones, turns * static_cast<std::uint64_t>(weight), like);
      });
    }
    if (like.gates != 0) result_.remove(like, kReason);
    return true;
  }

  /// Takes what waits behind a flip: its target was x before where it is x xor c now, which is x + c - 2 x c. False
  /// where something cannot go.
  bool carry(const LoweredOp& op) {
    const bool is_small =
        op.form == Form::kFlip && op.control_value == op.control_mask && popcount(op.control_mask) < 3;
    if (!through_flips_ || !is_small || waiting_.size() > kMostWaiting) return false;
    const Index target = op.target_mask();
    const auto stays = [&](const Waiting& waiting) {
      const bool grows = waiting.turns << 2 != 0 || popcount(waiting.mask | op.control_mask) > kMostCarried;
      return (waiting.mask & target) != 0 && waiting.turns != 0 && grows;
    };
    if (std::ranges::any_of(waiting_, stays)) return false;
    std::vector<std::pair<Index, std::uint64_t>> more;
    for (const Waiting& waiting : waiting_) {
      if ((waiting.mask & target) == 0 || waiting.turns == 0) continue;
      more.emplace_back((waiting.mask & ~target) | op.control_mask, waiting.turns);
      more.emplace_back(waiting.mask | op.control_mask, -(2 * waiting.turns));
    }
    LoweredOp like;  // counts nothing
    for (const auto& [mask, turns] : more) add(mask, turns, like);
    return true;
  }

  /// `like` counts no gates afterwards.
  void add(Index mask, std::uint64_t turns, LoweredOp& like) {
    const auto [at, is_new] = place_.try_emplace(mask, waiting_.size());
    if (is_new) waiting_.push_back({mask, 0, {}});
    Waiting& waiting = waiting_[at->second];
    waiting.turns += turns;
    if (waiting.like.gates == 0) {
      waiting.like = like;
      like.gates = 0;
    }
  }

  /// Those with one of these wires.
  void put_down(Index wires) {
    const bool all = wires == ~Index{0};
    const std::size_t before = waiting_.size();
    std::erase_if(waiting_, [&](Waiting& waiting) {
      if (!all && (waiting.mask & wires) == 0) return false;
      LoweredOp op = waiting.like;
      if (waiting.turns == 0) {
        result_.remove(op, kReason);
        return true;
      }
      op.form = Form::kPhases;
      op.control_mask = op.control_value = 0;
      op.data_begin = static_cast<std::uint32_t>(result_.phases.size());
      op.data_count = 1;
      result_.phases.push_back({waiting.mask, false, OpenAngle{angle_of_turns(waiting.turns), 0}});
      push(op, result_);
      return true;
    });
    if (waiting_.size() == before) return;
    place_.clear();
    for (std::size_t i = 0; i < waiting_.size(); ++i) place_[waiting_[i].mask] = i;
  }

  static constexpr const char* kReason = "diagonals";
  const bool through_flips_;
  const Lowered& lowered_;
  Lowered result_;
  std::vector<Waiting> waiting_;
  std::unordered_map<Index, std::size_t> place_;
};

/// Rounds of gathering phases and closing pairs, until there is no pair; whether there was one.
bool close_pairs(Lowered& lowered, bool through_flips) {
  // What one pair was around may be what another one has to be around.
  constexpr int kRounds = 8;
  bool found = false;
  for (int round = 0; round < kRounds; ++round) {
    lowered = PhaseGatherer(lowered, through_flips).run();
    std::optional<Lowered> next = HadamardPairs(lowered).run();
    if (!next) break;
    lowered = *std::move(next);
    found = true;
  }
  return found;
}

}  // namespace

std::optional<Lowered> as_permutations(const Lowered& lowered) {
  constexpr std::size_t kMostOperations = 20'000;
  if (lowered.ops.size() > kMostOperations) return {};
  MatrixSplitter splitter(lowered);
  bool found = splitter.run();
  Lowered result = std::move(splitter.result());
  found = close_pairs(result, false) || found;
  const auto is_one = [&](const LoweredOp& op) { return is_hadamard(result, op); };
  if (std::ranges::count_if(result.ops, is_one) > 1) {
    Lowered further = result;
    if (close_pairs(further, true)) {
      result = std::move(further);
      found = true;
    }
  }
  if (!found) return {};
  return result;
}

}  // namespace qsim
