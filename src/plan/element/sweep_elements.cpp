// Cheaper forms for single steps and their neighbours: controlled flips out of turns around a diagonal, real rotations
// between phases.
#include "plan/element/sweep_elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/numbers/phase.h"
#include "plan/lower/basis_change.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

constexpr std::size_t kMaxFlips = 3;  // more than these are better off as one merged diagonal
constexpr std::size_t kNoElement = std::numeric_limits<std::size_t>::max();

// A diagonal usually shares its trip over the tile with others.
double diagonal_cost(const FormCosts& cost) { return 0.5 * cost.phases + cost.phase_term; }

// ---- Controlled flips

bool is_exact_flip(const Matrix2& m) { return is_tiny(m[0]) && is_tiny(m[3]) && is_one(m[1]) && is_one(m[2]); }

// exp(i pi) where all bits of a mask are 1: a Z on any of its wires, controlled by the others.
bool is_controlled_z(const Diagonal& diagonal) {
  return diagonal.open == 0 && diagonal.parity == 0 && diagonal.mask == diagonal.value &&
         popcount(diagonal.mask) >= 2 && std::abs(std::abs(diagonal.angle) - std::numbers::pi) <= kRounding;
}

// after diagonals before = flips (after before) or (after before) flips, with the flips Z seen through a turn.
struct FlipPattern {
  std::size_t before = kNoElement;
  std::vector<std::size_t> diagonals;
};

std::vector<OpenFactor> factors_of_both(const Element& first, const Element& second) {
  std::vector<OpenFactor> factors;
  for (const Element* element : {&first, &second}) {
    if (element->is_open()) {
      factors.insert(factors.end(), element->factors.begin(), element->factors.end());
    } else {
      factors.push_back({0, true, matrix2(*element)});
    }
  }
  return factors;
}

void replace_pattern(std::vector<Element>& elements, const FlipPattern& pattern, std::size_t after, Bit wire,
                     const FormCosts& cost) {
  Element& first = elements[pattern.before];
  Element& second = elements[after];
  const Matrix2 a = matrix2(first), b = matrix2(second);
  const Matrix2& z = kLetterMatrices[2];
  const bool flips_last = is_exact_flip(unitary_product(b, product(z, adjoint(b))));
  const bool flips_first = is_exact_flip(unitary_product(adjoint(a), product(z, a)));
  if (!flips_last && !flips_first) return;
  const Matrix2 both = unitary_product(b, a);
  const double count = static_cast<double>(pattern.diagonals.size());
  const double now = turn_cost(a, cost) + turn_cost(b, cost) + count * diagonal_cost(cost);
  if (turn_cost(both, cost) + count * cost.flip >= now) return;
  for (const std::size_t d : pattern.diagonals) {
    Element& element = elements[d];
    element.form = Form::kFlip;
    element.act_on(bit_mask(wire));
    element.control_mask = element.control_value = element.diagonal.mask & ~bit_mask(wire);
  }
  Element& kept = flips_last ? first : second;
  Element& dropped = flips_last ? second : first;
  if (first.is_open() || second.is_open()) kept.factors = factors_of_both(first, second);
  kept.matrix.assign(both.begin(), both.end());
  take_over(kept, dropped);
}

// ---- Controlled matrices

/// b phases a, the phases those of the wire of both: e^{i base} diag(1, e^{i delta}), as one condition on other wires
/// does not hold (0) or holds (1).
struct ChosenPhases {
  Index condition = 0;  // all of these wires are 1
  std::array<double, 2> base{}, delta{};

  /// False where the diagonal depends on another condition.
  bool add(const Diagonal& diagonal, Index wire) {
    const Index others = diagonal.wires() & ~wire;
    if (others != 0 && condition != 0 && condition != others) return false;
    if (others != 0) condition = others;
    if (diagonal.mask == 0) return add_parity(diagonal.angle, others);
    if (diagonal.parity != 0 && diagonal.parity != wire) return false;
    const bool at_one = diagonal.parity != 0 || (diagonal.value & wire) != 0;
    if (others == 0) {
      add_phase(0, at_one, diagonal.angle);
      add_phase(1, at_one, diagonal.angle);
      return true;
    }
    const Index value = diagonal.value & others;
    if (value != others && !std::has_single_bit(others)) return false;
    add_phase(value == others ? 1 : 0, at_one, diagonal.angle);
    return true;
  }

  Matrix2 between(const Matrix2& a, const Matrix2& b, std::size_t holds) const {
    return unitary_product(b, product({phase_by(base[holds]), 0, 0, phase_by(base[holds] + delta[holds])}, a));
  }

 private:
  bool add_parity(double angle, Index others) {
    if (popcount(others) > 1) return false;
    add_phase(0, true, angle);
    add_phase(1, others == 0, angle);
    return true;
  }

  void add_phase(std::size_t holds, bool at_one, double angle) {
    delta[holds] += at_one ? angle : -angle;
    if (!at_one) base[holds] += angle;
  }
};

// A turn of a wire, and the diagonals on it since.
struct ChoicePattern {
  std::size_t before = kNoElement;
  std::vector<std::size_t> diagonals;
  std::optional<std::uint64_t> changes;  // of the other wires of the diagonals, when the first of those was met
};

Matrix2 without_dust(Matrix2 matrix) {
  drop_dust(matrix);
  return matrix;
}

double controlled_cost(const Matrix2& matrix, const FormCosts& cost) {
  return cost.controlled(real_entries(matrix), turn_cost(matrix, cost));
}

// A controlled matrix as phases around one: under the control e^{i phase}, without it diag(1, e^{i right}) before and
// its inverse after, and e^{i joint} where the control and the target are 1.
struct Phased {
  Matrix2 matrix;
  double phase = 0, right = 0, joint = 0;
  double cost = 0;

  Matrix2 product() const {
    const Matrix2 inner = qsim::product(matrix, {1, 0, 0, phase_by(right)});
    return scaled(qsim::product({1, 0, 0, phase_by(joint - right)}, inner), phase_by(phase));
  }
};
Phased taken_apart(const Matrix2& unitary, const FormCosts& cost) {
  Phased best{without_dust(unitary)};
  best.cost = controlled_cost(best.matrix, cost);
  const auto offer = [&](Phased other) {
    other.cost = controlled_cost(other.matrix, cost) + (other.phase != 0 ? diagonal_cost(cost) : 0) +
                 (other.right != 0 ? diagonal_cost(cost) : 0) + (other.joint != 0 ? diagonal_cost(cost) : 0);
    if (other.cost < best.cost) best = other;
  };
  const double phase = special_phase(unitary);
  offer({without_dust(scaled(unitary, phase_by(-phase))), phase});
  if (const std::optional<RotationAngles> parts = rotation_angles(unitary)) {
    const double joint = wrap_angle(parts->left + parts->right);
    offer({parts->rotation(), parts->around, parts->right, std::abs(joint) <= kRounding ? 0 : joint});
  }
  return best;
}

// The turn before stays for where the condition does not hold; the last diagonal's place is the controlled matrix's.
struct Replacement {
  Matrix2 without;
  Phased other;
  Index condition = 0;
  bool refused = false;  // the parts are not what they are of
};

std::optional<Replacement> replacement_of(const std::vector<Element>& elements, const ChoicePattern& pattern,
                                          std::size_t after, Bit wire, const FormCosts& cost) {
  ChosenPhases chosen;
  for (const std::size_t d : pattern.diagonals) {
    if (!chosen.add(elements[d].diagonal, bit_mask(wire))) return std::nullopt;
  }
  if (chosen.condition == 0) return std::nullopt;
  const Matrix2 a = matrix2(elements[pattern.before]), b = matrix2(elements[after]);
  const Matrix2 without = without_dust(chosen.between(a, b, 0)), with = chosen.between(a, b, 1);
  const Phased other = taken_apart(unitary_product(with, adjoint(without)), cost);
  if (is_diagonal(other.matrix)) return std::nullopt;
  const double now =
      turn_cost(a, cost) + turn_cost(b, cost) + diagonal_cost(cost) * static_cast<double>(pattern.diagonals.size());
  if (turn_cost(without, cost) + other.cost >= now) return std::nullopt;
  return Replacement{without, other, chosen.condition, !recomposes(product(other.product(), without), with)};
}

void replace(std::vector<Element>& elements, const ChoicePattern& pattern, std::size_t after, Bit wire,
             const Replacement& by, std::vector<Insertion>& insertions) {
  // Where the condition's wires are still what they were.
  std::size_t place = kNoElement;
  for (const std::size_t d : pattern.diagonals) place = (elements[d].wires() & by.condition) != 0 ? d : place;
  Element& last = elements[place];
  last.form = Form::kMatrix;
  last.act_on(bit_mask(wire));
  last.control_mask = last.control_value = by.condition;
  last.matrix.assign(by.other.matrix.begin(), by.other.matrix.end());
  for (const std::size_t d : pattern.diagonals) {
    if (d != place) take_over(last, elements[d]);
  }
  elements[pattern.before].matrix.assign(by.without.begin(), by.without.end());
  take_over(elements[pattern.before], elements[after]);
  const Index target = bit_mask(wire);
  if (by.other.right != 0) {
    insertions.emplace_back(place - 1, phase_element(target, by.other.right));
    insertions.emplace_back(place, phase_element(target, -by.other.right));
  }
  if (by.other.joint != 0) insertions.emplace_back(place, phase_element(by.condition | target, by.other.joint));
  if (by.other.phase != 0) insertions.emplace_back(place, phase_element(by.condition, by.other.phase));
}

}  // namespace

std::vector<Element> recombine_controls(const std::vector<Element>& given, const FormCosts& cost,
                                        std::uint64_t& refused) {
  constexpr std::size_t kMostPhases = 8;
  std::vector<Element> changed;  // a copy once something changes
  if (cost.controlled_entry == 0) return changed;
  std::array<ChoicePattern, kMaxQubits + 2> open;
  std::array<std::uint64_t, kMaxQubits + 2> changes{};  // by wire
  std::vector<Insertion> insertions;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::vector<Element>& elements = changed.empty() ? given : changed;
    const Element& element = elements[i];
    if (element.gone || element.ends_group) continue;
    const Index wires = element.wires();
    if (element.is_open()) {
      for_each_bit(element.target_mask(), [&](unsigned w) { ++changes[w]; });
      for_each_bit(wires, [&](unsigned w) { open[w] = {}; });
      continue;
    }
    if (is_single_turn(element)) {
      const Bit wire = element.targets[0];
      const ChoicePattern pattern = std::exchange(open[wire], {i, {}, {}});
      ++changes[wire];
      if (pattern.diagonals.empty()) continue;
      const std::optional<Replacement> by = replacement_of(elements, pattern, i, wire, cost);
      if (!by) continue;
      if (by->refused) {
        ++refused;
        continue;
      }
      if (changed.empty()) changed = given;
      replace(changed, pattern, i, wire, *by, insertions);
      open[wire] = {};
      for_each_bit(by->condition, [&](unsigned w) { open[w] = {}; });  // a control is no phase of its wire's turns
      continue;
    }
    if (element.form != Form::kPhases) {
      for_each_bit(element.target_mask(), [&](unsigned w) { ++changes[w]; });
      for_each_bit(wires, [&](unsigned w) { open[w] = {}; });
      continue;
    }
    for_each_bit(wires, [&](unsigned w) {
      ChoicePattern& pattern = open[w];
      std::uint64_t now = 0;
      for_each_bit(wires & ~bit_mask(w), [&](unsigned other) { now += changes[other]; });
      const bool alone = std::has_single_bit(wires);
      if (pattern.before == kNoElement || pattern.diagonals.size() >= kMostPhases ||
          (!alone && pattern.changes.value_or(now) != now)) {
        pattern = {};
        return;
      }
      if (!alone) pattern.changes = now;
      pattern.diagonals.push_back(i);
    });
  }
  if (!changed.empty()) insert(changed, insertions);
  return changed;
}

Matrix2 matrix2(const Element& element) {
  return {element.matrix[0], element.matrix[1], element.matrix[2], element.matrix[3]};
}

bool is_single_turn(const Element& element) {
  return element.form == Form::kMatrix && element.target_count == 1 && element.control_mask == 0;
}

double turn_cost(const Matrix2& m, const FormCosts& cost) {
  if (is_diagonal(m)) return 0;  // joins the next merged diagonal
  return of_turn(cost, kind_of(m));
}

Element phase_element(Index wire, double angle) {
  Element element;
  element.form = Form::kPhases;
  element.diagonal.mask = element.diagonal.value = wire;
  element.diagonal.angle = angle;
  return element;
}

void insert(std::vector<Element>& elements, std::vector<Insertion>& insertions) {
  if (insertions.empty()) return;
  std::ranges::stable_sort(insertions, {}, &Insertion::first);
  std::vector<Element> result;
  result.reserve(elements.size() + insertions.size());
  auto next = insertions.begin();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    result.push_back(std::move(elements[i]));
    for (; next != insertions.end() && next->first == i; ++next) result.push_back(std::move(next->second));
  }
  elements = std::move(result);
}

bool is_diagonal_step(const Element& element) {
  return is_single_turn(element) && !element.is_open() && is_diagonal(matrix2(element));
}

bool acts_diagonally(const Element& element) { return element.form == Form::kPhases || is_diagonal_step(element); }

double element_cost(const Element& element, const FormCosts& cost) {
  if (element.ends_group) return 0;
  switch (element.form) {
    case Form::kMatrix:
      if (element.target_count == 2) return cost.pair(element.entries);
      if (element.target_count > 1) return cost.matrix_dense[element.target_count];
      return element.control_mask == 0 ? turn_cost(matrix2(element), cost) : controlled_cost(matrix2(element), cost);
    case Form::kFlip:
      return cost.flip;
    case Form::kPhases:
      return std::has_single_bit(element.wires()) ? cost.phase_term : diagonal_cost(cost);
  }
  return 0;
}

void take_over(Element& into, Element& from) {
  into.gates += from.gates;
  add_sources(into, from);
  from.gone = true;
}

void add_sources(Element& into, const Element& from) {
  into.turns.insert(into.turns.end(), from.turns.begin(), from.turns.end());
  into.diagonals.insert(into.diagonals.end(), from.diagonals.begin(), from.diagonals.end());
}

std::vector<Element> without_sources(const std::vector<Element>& elements) {
  std::vector<Element> result;
  result.reserve(elements.size());
  for (const BareElement& element : elements) result.push_back({element, {}, {}});
  return result;
}

Index BareElement::wires() const { return form == Form::kPhases ? diagonal.wires() : target_mask() | control_mask; }

void recombine_flips(std::vector<Element>& elements, const FormCosts& cost) {
  // By wire: its last turn and the controlled Zs since, where nothing else has acted on it.
  std::array<FlipPattern, kMaxQubits + 2> open;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].ends_group) continue;
    const Index wires = elements[i].wires();
    if (is_single_turn(elements[i])) {
      const Bit wire = elements[i].targets[0];
      FlipPattern& pattern = open[wire];
      if (pattern.before != kNoElement && !pattern.diagonals.empty()) replace_pattern(elements, pattern, i, wire, cost);
      // A flip's wires are no longer what their patterns say.
      for (const std::size_t d : pattern.diagonals) {
        if (elements[d].form != Form::kFlip) continue;
        for (Index rest = elements[d].control_mask; rest != 0; rest &= rest - 1)
          open[static_cast<std::size_t>(std::countr_zero(rest))] = {};
      }
      pattern = {};
      if (!elements[i].gone) pattern.before = i;
      continue;
    }
    const bool controlled_z = elements[i].form == Form::kPhases && is_controlled_z(elements[i].diagonal);
    for (Index rest = wires; rest != 0; rest &= rest - 1) {
      FlipPattern& pattern = open[static_cast<std::size_t>(std::countr_zero(rest))];
      if (controlled_z && pattern.before != kNoElement && pattern.diagonals.size() < kMaxFlips) {
        pattern.diagonals.push_back(i);
      } else {
        pattern = {};
      }
    }
  }
}

}  // namespace qsim
