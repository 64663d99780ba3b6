#include "plan/element/split_steps.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/bits.h"

namespace qsim {
namespace {

constexpr std::size_t kNoDiagonal = std::numeric_limits<std::size_t>::max();

// For each element: the diagonal that touches its wire right before it, if any, and whether one right after it must run
// in this sweep because another step on the wire follows.
struct Neighbours {
  std::vector<std::size_t> before;
  std::vector<bool> after;
};

Neighbours diagonals_beside(const std::vector<Element>& elements) {
  Neighbours result{std::vector<std::size_t>(elements.size(), kNoDiagonal), std::vector<bool>(elements.size(), false)};
  std::array<std::size_t, kMaxQubits + 2> last;  // step that changed a wire last
  last.fill(kNoDiagonal);
  std::array<std::size_t, kMaxQubits + 2> touched;  // diagonal since then
  touched.fill(kNoDiagonal);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.gone || element.ends_group) continue;
    if (element.form == Form::kPhases) {
      for (Index rest = element.wires(); rest != 0; rest &= rest - 1)
        touched[static_cast<std::size_t>(std::countr_zero(rest))] = i;
      continue;
    }
    for_each_bit(element.target_mask(), [&](unsigned wire) {
      if (touched[wire] != kNoDiagonal) {
        result.before[i] = touched[wire];
        if (last[wire] != kNoDiagonal) result.after[last[wire]] = true;
      }
      last[wire] = i;
      touched[wire] = kNoDiagonal;
    });
  }
  return result;
}

// A turn that is cheaper as a rotation between phases.
struct TurnSplit {
  std::size_t turn = 0;
  std::size_t before = kNoDiagonal;  // the diagonal that takes the phase on the right
  RotationAngles parts;
};

std::vector<TurnSplit> worthwhile_splits(const std::vector<Element>& elements, const FormCosts& cost, TurnParts& known,
                                         std::uint64_t& refused) {
  const Neighbours beside = diagonals_beside(elements);
  std::vector<TurnSplit> splits;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].gone || elements[i].is_open() || !is_single_turn(elements[i])) continue;
    const Matrix2 matrix = matrix2(elements[i]);
    if (is_diagonal(matrix) || is_flip(matrix)) continue;
    const std::optional<RotationAngles>& parts = known.of(i, matrix);
    if (!parts) {
      ++refused;
      continue;
    }
    const bool fits = (parts->left == 0 || beside.after[i]) && (parts->right == 0 || beside.before[i] != kNoDiagonal);
    const double terms = cost.phase_term * ((parts->left != 0) + (parts->right != 0));
    if (!fits || turn_cost(parts->rotation(), cost) + terms >= turn_cost(matrix, cost)) continue;
    splits.push_back({i, beside.before[i], *parts});
  }
  return splits;
}

// Adds up what steps cost in the order in which they run.
class StepsCost {
 public:
  StepsCost(const FormCosts& cost, int register_bits) : cost_(cost), register_bits_(register_bits) {}

  void add(const Element& element) {
    if (element.gone || element.ends_group || element.wires() == 0) return;
    if (acts_diagonally(element)) {
      return add_diagonal(element.wires(), 1 << std::min(4, popcount(element.diagonal.mask & ~element.diagonal.value)));
    }
    add_matrix(element.target_mask(), element_cost(element, cost_));
  }
  void add_diagonal(Index wires, int terms) {
    terms_ += terms;
    waiting_ |= wires;
  }
  void add_matrix(Index targets, double step) {
    if ((waiting_ & targets) != 0) merge();
    if (popcount(held_ | targets) > register_bits_) {
      total_ += cost_.regroup;
      held_ = 0;
    }
    held_ |= targets;
    total_ += step;
  }
  double total() {
    merge();
    return total_;
  }

 private:
  void merge() {
    if (terms_ > 0) total_ += cost_.phases + cost_.phase_term * terms_;
    terms_ = 0;
    waiting_ = 0;
  }

  const FormCosts& cost_;
  int register_bits_;
  double total_ = 0;
  Index held_ = 0, waiting_ = 0;  // wires in registers; wires of diagonals that wait to be merged
  int terms_ = 0;
};

}  // namespace

std::uint64_t split_steps(std::vector<Element>& elements, const FormCosts& cost) {
  std::uint64_t refused = 0;
  TurnParts known(elements.size());
  std::vector<Insertion> phases;
  for (const auto& [turn, before, parts] : worthwhile_splits(elements, cost, known, refused)) {
    Element& element = elements[turn];
    const Index wire = element.target_mask();
    const Matrix2 rotation = parts.rotation();
    element.matrix.assign(rotation.begin(), rotation.end());
    if (parts.right != 0) phases.emplace_back(before, phase_element(wire, parts.right));
    if (parts.left != 0) phases.emplace_back(turn, phase_element(wire, parts.left));
    if (parts.around != 0) phases.emplace_back(turn, phase_element(0, parts.around));
  }
  insert(elements, phases);
  return refused;
}

double steps_cost(const std::vector<Element>& elements, const CostTable& cost, int register_bits) {
  const auto by = [&](const FormCosts& costs) {
    StepsCost sum(costs, register_bits);
    for (const Element& element : elements) sum.add(element);
    return sum.total();
  };
  return cost.lanes ? std::min(by(cost), by(*cost.lanes)) : by(cost);
}

double cost_when_split(const std::vector<Element>& elements, const FormCosts& cost, int register_bits,
                       TurnParts& parts) {
  std::uint64_t refused = 0;
  const std::vector<TurnSplit> splits = worthwhile_splits(elements, cost, parts, refused);
  std::vector<Index> right(elements.size(), 0);  // wires of phases that run after a diagonal
  for (const TurnSplit& each : splits)
    if (each.parts.right != 0) right[each.before] |= elements[each.turn].target_mask();
  StepsCost sum(cost, register_bits);
  auto next = splits.begin();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (next != splits.end() && next->turn == i) {
      const Index wire = elements[i].target_mask();
      sum.add_matrix(wire, turn_cost(next->parts.rotation(), cost));
      if (next->parts.left != 0) sum.add_diagonal(wire, 1);
      ++next;
    } else {
      sum.add(elements[i]);
    }
    if (right[i] != 0) sum.add_diagonal(right[i], popcount(right[i]));
  }
  return sum.total();
}

}  // namespace qsim
