// Cheaper forms for groups of steps: controlled flips out of turns around a diagonal, dense matrices on pairs of wires.
#include "plan/sweep_elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>

#include "base/bits.h"
#include "plan/basis_change.h"

namespace qsim {
namespace {

constexpr double kNoise = 1e-14;
constexpr std::size_t kMaxFlips = 3;  // more than these are better off as one merged diagonal
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

Matrix2 matrix2(const Element& element) {
  return {element.matrix[0], element.matrix[1], element.matrix[2], element.matrix[3]};
}

bool is_single_turn(const Element& element) {
  return element.kind == Element::Kind::kMatrix && element.targets.size() == 1 && element.control_mask == 0;
}

double turn_cost(const Matrix2& m, const CostTable& cost) {
  if (is_diagonal(m)) return 0;  // joins the next merged diagonal
  const bool real = is_real(m);
  const double size = std::abs(m[0]);
  const bool even = std::ranges::all_of(m, [&](const Complex& e) { return std::abs(std::abs(e) - size) < 1e-15; });
  if (real && even) return cost.butterfly;
  return real ? cost.matrix1_real : cost.matrix1_general;
}

// A diagonal usually shares its pass over the tile with others.
double diagonal_cost(const CostTable& cost) { return 0.5 * cost.phases + cost.phase_term; }

void take_over(Element& into, Element& from) {
  into.gates += from.gates;
  into.turns.insert(into.turns.end(), from.turns.begin(), from.turns.end());
  into.diagonals.insert(into.diagonals.end(), from.diagonals.begin(), from.diagonals.end());
  from.gone = true;
}

// ---- Controlled flips

bool is_exact_flip(const Matrix2& m) {
  return is_flip(m) && std::abs(m[1] - 1.0) <= kNoise && std::abs(m[2] - 1.0) <= kNoise;
}

// exp(i pi) where all bits of a mask are 1: a Z on any of its wires, controlled by the others.
bool is_controlled_z(const Diagonal& diagonal) {
  return diagonal.parity == 0 && diagonal.mask == diagonal.value && std::popcount(diagonal.mask) >= 2 &&
         std::abs(std::abs(diagonal.angle) - std::numbers::pi) <= kNoise;
}

const Matrix2 kZ2{1, 0, 0, -1};

// after diagonals before = flips (after before) or (after before) flips, with the flips Z seen through a turn.
struct FlipPattern {
  std::size_t before = kNowhere;
  std::vector<std::size_t> diagonals;
};

void replace_pattern(std::vector<Element>& elements, const FlipPattern& pattern, std::size_t after, Bit wire,
                     const CostTable& cost) {
  Element& first = elements[pattern.before];
  Element& second = elements[after];
  const Matrix2 a = matrix2(first), b = matrix2(second);
  const bool flips_last = is_exact_flip(product(b, product(kZ2, adjoint(b))));
  const bool flips_first = is_exact_flip(product(adjoint(a), product(kZ2, a)));
  if (!flips_last && !flips_first) return;
  const Matrix2 both = product(b, a);
  const double count = static_cast<double>(pattern.diagonals.size());
  const double now = turn_cost(a, cost) + turn_cost(b, cost) + count * diagonal_cost(cost);
  if (turn_cost(both, cost) + count * cost.flip >= now) return;
  for (const std::size_t d : pattern.diagonals) {
    Element& element = elements[d];
    element.kind = Element::Kind::kFlip;
    element.targets = {wire};
    element.control_mask = element.control_value = element.diagonal.mask & ~bit_mask(wire);
  }
  Element& kept = flips_last ? first : second;
  Element& dropped = flips_last ? second : first;
  kept.matrix.assign(both.begin(), both.end());
  take_over(kept, dropped);
}

// ---- Pairs

// A run of steps on one or two wires.
struct Run {
  std::vector<std::size_t> members;
  Index wires = 0;
  double cost = 0;
};

class PairFuser {
 public:
  PairFuser(std::vector<Element>& elements, const CostTable& cost) : elements_(elements), cost_(cost) {
    run_of_.fill(kNowhere);
  }

  void run() {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const Element& element = elements_[i];
      if (element.gone) continue;
      if (element.kind == Element::Kind::kGroupEnd) {
        close(~Index{0});
      } else {
        visit(i);
      }
    }
    close(~Index{0});
  }

 private:
  void visit(std::size_t i) {
    const Element& element = elements_[i];
    const Index wires = element.wires();
    if (std::popcount(wires) > 2 || (wires & ~turning_wires(i)) != 0) return close(wires);
    // One run holds all its wires, or runs of one wire each join, or the old ones end here.
    const Index reach = reach_of(wires) | wires;
    if (std::popcount(reach) > 2) close(wires);
    std::size_t run = kNowhere;
    for (Index rest = wires; rest != 0; rest &= rest - 1) {
      const std::size_t found = run_of_[static_cast<std::size_t>(std::countr_zero(rest))];
      if (found == kNowhere || found == run) continue;
      run = run == kNowhere ? found : join(run, found);
    }
    if (run == kNowhere) {
      run = runs_.size();
      runs_.emplace_back();
    }
    runs_[run].members.push_back(i);
    runs_[run].wires |= wires;
    runs_[run].cost += element_cost(element);
    for (Index rest = wires; rest != 0; rest &= rest - 1)
      run_of_[static_cast<std::size_t>(std::countr_zero(rest))] = run;
  }

  // Wires that may be targets of a dense matrix: those with a turn in this register group. A diagonal on others ends
  // the runs that it touches.
  Index turning_wires(std::size_t i) {
    if (i < group_end_) return group_wires_;
    group_wires_ = 0;
    for (group_end_ = i; group_end_ < elements_.size(); ++group_end_) {
      const Element& element = elements_[group_end_];
      if (element.kind == Element::Kind::kGroupEnd) break;
      if (!element.gone) group_wires_ |= element.target_mask();
    }
    return group_wires_;
  }

  Index reach_of(Index wires) const {
    Index reach = 0;
    for (; wires != 0; wires &= wires - 1) {
      const std::size_t run = run_of_[static_cast<std::size_t>(std::countr_zero(wires))];
      if (run != kNowhere) reach |= runs_[run].wires;
    }
    return reach;
  }

  std::size_t join(std::size_t a, std::size_t b) {
    auto& members = runs_[a].members;
    members.insert(members.end(), runs_[b].members.begin(), runs_[b].members.end());
    std::sort(members.begin(), members.end());
    runs_[a].wires |= runs_[b].wires;
    runs_[a].cost += runs_[b].cost;
    for (std::size_t& run : run_of_) run = run == b ? a : run;
    runs_[b] = {};
    return a;
  }

  double element_cost(const Element& element) const {
    switch (element.kind) {
      case Element::Kind::kMatrix:
        if (element.targets.size() > 1) return cost_.matrix_dense[element.targets.size()];
        return element.control_mask != 0 ? cost_.matrix1_general : turn_cost(matrix2(element), cost_);
      case Element::Kind::kFlip:
        return cost_.flip;
      case Element::Kind::kDiagonal:
        return std::has_single_bit(element.wires()) ? cost_.phase_term : diagonal_cost(cost_);
      case Element::Kind::kGroupEnd:
        return 0;
    }
    return 0;
  }

  // Ends all runs that touch `wires`.
  void close(Index wires) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      Run& run = runs_[r];
      if ((run.wires & wires) == 0) continue;
      if (std::popcount(run.wires) == 2 && run.members.size() > 1 && run.cost > cost_.matrix_dense[2]) fuse(run);
      for (std::size_t& of : run_of_) of = of == r ? kNowhere : of;
      run = {};
    }
    if (wires == ~Index{0}) runs_.clear();
  }

  // The members act on no other wire, and nothing else between them acts on theirs: the last one's place will do.
  void fuse(const Run& run) {
    const auto low = static_cast<Bit>(std::countr_zero(run.wires));
    const auto high = static_cast<Bit>(std::countr_zero(run.wires & (run.wires - 1)));
    std::vector<Complex> total(16);
    for (std::size_t j = 0; j < 4; ++j) total[5 * j] = 1;
    for (const std::size_t member : run.members) multiply(total, elements_[member], low, high);
    Element dense;
    dense.targets = {low, high};
    dense.matrix = std::move(total);
    for (const std::size_t member : run.members) take_over(dense, elements_[member]);
    elements_[run.members.back()] = std::move(dense);
  }

  // total <- element total, over the wires (low, high).
  static void multiply(std::vector<Complex>& total, const Element& element, Bit low, Bit high) {
    std::array<Complex, 16> step{};
    const auto spread = [&](std::size_t value) {
      return (value & 1 ? bit_mask(low) : 0) | (value & 2 ? bit_mask(high) : 0);
    };
    for (std::size_t column = 0; column < 4; ++column) {
      const Index index = spread(column);
      if (element.kind == Element::Kind::kDiagonal) {
        const Diagonal& d = element.diagonal;
        const bool acts = (index & d.mask) == d.value && (d.parity == 0 || odd_parity(index & d.parity));
        step[5 * column] = acts ? std::polar(1.0, d.angle) : Complex(1);
        continue;
      }
      if ((index & element.control_mask) != element.control_value) {
        step[5 * column] = 1;
        continue;
      }
      for (std::size_t row = 0; row < 4; ++row) {
        const Index to = spread(row);
        if (((to ^ index) & ~element.target_mask()) != 0) continue;
        step[4 * row + column] = entry(element, to, index);
      }
    }
    std::vector<Complex> result(16);
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t column = 0; column < 4; ++column)
        for (std::size_t k = 0; k < 4; ++k) result[4 * row + column] += step[4 * row + k] * total[4 * k + column];
    total = std::move(result);
  }

  static Complex entry(const Element& element, Index to, Index from) {
    std::size_t row = 0, column = 0;
    for (std::size_t j = 0; j < element.targets.size(); ++j) {
      row |= static_cast<std::size_t>(to >> element.targets[j] & 1) << j;
      column |= static_cast<std::size_t>(from >> element.targets[j] & 1) << j;
    }
    if (element.kind == Element::Kind::kFlip) return row != column ? Complex(1) : Complex(0);
    return element.matrix[(row << element.targets.size()) + column];
  }

  std::vector<Element>& elements_;
  const CostTable& cost_;
  std::vector<Run> runs_;
  std::array<std::size_t, kMaxQubits + 2> run_of_{};
  Index group_wires_ = 0;
  std::size_t group_end_ = 0;
};

// ---- Splitting

Element phase_element(Index wire, double angle) {
  Element element;
  element.kind = Element::Kind::kDiagonal;
  element.diagonal.mask = element.diagonal.value = wire;
  element.diagonal.angle = angle;
  return element;
}

// For each element: the diagonal that touches its wire right before it, if any, and whether one right after it must run
// in this sweep because another step on the wire follows.
struct Neighbours {
  std::vector<std::size_t> before;
  std::vector<bool> after;
};

Neighbours diagonals_beside(const std::vector<Element>& elements) {
  Neighbours result{std::vector<std::size_t>(elements.size(), kNowhere), std::vector<bool>(elements.size(), false)};
  std::array<std::size_t, kMaxQubits + 2> last;  // step that changed a wire last
  last.fill(kNowhere);
  std::array<std::size_t, kMaxQubits + 2> touched;  // diagonal since then
  touched.fill(kNowhere);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.gone || element.kind == Element::Kind::kGroupEnd) continue;
    if (element.kind == Element::Kind::kDiagonal) {
      for (Index rest = element.wires(); rest != 0; rest &= rest - 1)
        touched[static_cast<std::size_t>(std::countr_zero(rest))] = i;
      continue;
    }
    for (const Bit wire : element.targets) {
      if (touched[wire] != kNowhere) {
        result.before[i] = touched[wire];
        if (last[wire] != kNowhere) result.after[last[wire]] = true;
      }
      last[wire] = i;
      touched[wire] = kNowhere;
    }
  }
  return result;
}

}  // namespace

void split_steps(std::vector<Element>& elements, const CostTable& cost) {
  const Neighbours beside = diagonals_beside(elements);
  std::vector<std::vector<Element>> extra(elements.size());  // what follows each element now
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Element& element = elements[i];
    if (element.gone || !is_single_turn(element)) continue;
    const Matrix2 matrix = matrix2(element);
    if (is_diagonal(matrix) || is_flip(matrix)) continue;
    const Split parts = split(matrix);
    const bool fits = (parts.left == 0 || beside.after[i]) && (parts.right == 0 || beside.before[i] != kNowhere);
    const double terms = cost.phase_term * ((parts.left != 0) + (parts.right != 0));
    if (!fits || turn_cost(parts.rotation, cost) + terms >= turn_cost(matrix, cost)) continue;
    const Index wire = element.target_mask();
    element.matrix.assign(parts.rotation.begin(), parts.rotation.end());
    if (parts.right != 0) extra[beside.before[i]].push_back(phase_element(wire, parts.right));
    if (parts.left != 0) extra[i].push_back(phase_element(wire, parts.left));
    if (parts.phase != 0) extra[i].push_back(phase_element(0, parts.phase));
  }
  std::vector<Element> result;
  result.reserve(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    result.push_back(std::move(elements[i]));
    std::ranges::move(extra[i], std::back_inserter(result));
  }
  elements = std::move(result);
}

Index Element::target_mask() const {
  Index mask = 0;
  for (const Bit target : targets) mask |= bit_mask(target);
  return mask;
}

Index Element::wires() const { return kind == Kind::kDiagonal ? diagonal.wires() : target_mask() | control_mask; }

void recombine_flips(std::vector<Element>& elements, const CostTable& cost) {
  // By wire: its last turn and the controlled Zs since, where nothing else has acted on it.
  std::array<FlipPattern, kMaxQubits + 2> open;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].kind == Element::Kind::kGroupEnd) continue;
    const Index wires = elements[i].wires();
    if (is_single_turn(elements[i])) {
      const Bit wire = elements[i].targets[0];
      FlipPattern& pattern = open[wire];
      if (pattern.before != kNowhere && !pattern.diagonals.empty()) replace_pattern(elements, pattern, i, wire, cost);
      // A flip's wires are no longer what their patterns say.
      for (const std::size_t d : pattern.diagonals) {
        if (elements[d].kind != Element::Kind::kFlip) continue;
        for (Index rest = elements[d].control_mask; rest != 0; rest &= rest - 1)
          open[static_cast<std::size_t>(std::countr_zero(rest))] = {};
      }
      pattern = {};
      if (!elements[i].gone) pattern.before = i;
      continue;
    }
    const bool controlled_z = elements[i].kind == Element::Kind::kDiagonal && is_controlled_z(elements[i].diagonal);
    for (Index rest = wires; rest != 0; rest &= rest - 1) {
      FlipPattern& pattern = open[static_cast<std::size_t>(std::countr_zero(rest))];
      if (controlled_z && pattern.before != kNowhere && pattern.diagonals.size() < kMaxFlips) {
        pattern.diagonals.push_back(i);
      } else {
        pattern = {};
      }
    }
  }
}

void fuse_pairs(std::vector<Element>& elements, const CostTable& cost) { PairFuser(elements, cost).run(); }

}  // namespace qsim
