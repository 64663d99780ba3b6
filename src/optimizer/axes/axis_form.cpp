#include "optimizer/axes/axis_form.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/bits.h"
#include "circuit/unitary_power.h"
#include "optimizer/axes/pair_interaction.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/letters.h"

namespace qsim {
namespace {

// Of the turns of a pair: of those that are none or a quarter, and of other simple parts, which are off by what finding
// them takes; nothing carries on what is dropped of many.
constexpr double kTurnRounding = 2 * kRounding, kPartRounding = 0.5 * kRounding;

/// To rounding: the inverse of what is moved on is its adjoint.
bool is_unitary(const Matrix2& matrix) {
  const Matrix2 square = product(adjoint(matrix), matrix);
  for (unsigned i = 0; i < 4; ++i) {
    if (!(std::abs(square[i] - kIdentity2[i]) <= 4 * kRounding)) return false;  // nor is NaN
  }
  return true;
}

/// A product of many gates without their drift: Newton's step towards the nearest unitary, M (3 - M' M) / 2.
Matrix nearest_unitary(const Matrix& m) {
  Matrix made(16);
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      Complex sum = 1.5 * m[4 * i + j];
      for (unsigned k = 0; k < 4; ++k) {
        Complex dot = 0;
        for (unsigned l = 0; l < 4; ++l) dot += std::conj(m[4 * l + k]) * m[4 * l + j];
        sum -= 0.5 * m[4 * i + k] * dot;
      }
      made[4 * i + j] = sum;
    }
  }
  return made;
}

class AxisFormer {
 public:
  explicit AxisFormer(const Circuit& circuit)
      : circuit_(circuit),
        pending_(circuit.qubits(), kIdentity2),
        gates_(circuit.qubits(), 0),
        last_(circuit.qubits(), 0),
        block_of_(circuit.qubits(), kNone),
        waiting_(circuit.qubits()),
        as_(circuit.qubits(), 0) {
    form_.step_of.assign(circuit.operations().size(), AxisForm::kAfter);
    for (Qubit q = 0; q < circuit.qubits(); ++q) form_.wire_of.push_back(q);
  }

  std::optional<AxisForm> run() {
    for (std::uint32_t i = 0; i < circuit_.operations().size(); ++i) {
      if (!skipped(circuit_.operations()[i]) && !visit(i)) return std::nullopt;
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) {
      if (!close(q)) return std::nullopt;
    }
    for (Qubit wire = 0; wire < circuit_.qubits(); ++wire) split_last(wire);
    form_.after = std::move(pending_);
    for (Qubit wire = 0; wire < circuit_.qubits(); ++wire) form_.rounding.push_back(rounding(wire));
    return std::move(form_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Operations on one pair of qubits with nothing else on either between them.
  struct Block {
    std::array<Qubit, 2> qubits{};
    std::vector<std::uint32_t> members;
  };

  bool visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    if (op.condition >= 0 || is_open(circuit_, op) || op.controls + op.targets > 2) return false;
    if (op.controls + op.targets == 0) {  // a phase
      if (circuit_.qubits() == 0) return false;
      pending_[0] = scaled(pending_[0], circuit_.matrix(op)[0]);
      return true;
    }
    if (op.controls + op.targets == 1) {
      const auto matrix = single_qubit_matrix(circuit_, op);
      if (!matrix || !is_unitary(*matrix)) return false;
      const Qubit q = circuit_.targets(op)[0];
      if (block_of_[q] != kNone) {
        blocks_[block_of_[q]].members.push_back(i);
      } else {
        const Qubit wire = form_.wire_of[q];
        then(wire, *matrix);
        waiting_[wire].push_back(i);
      }
      return true;
    }
    std::array<Qubit, 2> pair{};
    std::size_t at = 0;
    for_each_qubit(circuit_, op, [&](Qubit q) { pair[at++] = q; });
    if (block_of_[pair[0]] == kNone || block_of_[pair[0]] != block_of_[pair[1]]) {
      if (!close(pair[0]) || !close(pair[1])) return false;
      block_of_[pair[0]] = block_of_[pair[1]] = blocks_.size();
      blocks_.push_back({pair, {}});
    }
    blocks_[block_of_[pair[0]]].members.push_back(i);
    return true;
  }

  void then(Qubit wire, const Matrix2& matrix) {
    pending_[wire] = unitary_product(matrix, pending_[wire]);
    ++gates_[wire];
  }

  bool close(Qubit q) {
    const std::size_t number = std::exchange(block_of_[q], kNone);
    if (number == kNone) return true;
    const Block block = std::exchange(blocks_[number], {});
    block_of_[block.qubits[0]] = block_of_[block.qubits[1]] = kNone;
    as_[block.qubits[0]] = 0;
    as_[block.qubits[1]] = 1;
    Circuit small(2);
    int pairs = 0, control = -1;
    for (const std::uint32_t i : block.members) {
      const Operation& op = circuit_.operations()[i];
      append_renamed(small, circuit_, op, as_);
      if (op.controls + op.targets < 2) continue;
      of_ = i;
      control = ++pairs == 1 && is_cx(op) ? static_cast<int>(as_[circuit_.controls(op)[0]]) : -1;
    }
    constexpr std::array<Qubit, 2> kBoth{0, 1};
    const Matrix product = circuit_matrix(small, kBoth);
    std::optional<PairInteraction> interaction = named_interaction(small, product);
    if (!interaction) {
      const Matrix unitary = nearest_unitary(product);
      interaction = pair_interaction(unitary);
      if (!interaction || !recomposes(unitary, product, static_cast<double>(4 + block.members.size()))) return false;
    }
    const std::array<Qubit, 2> wires{form_.wire_of[block.qubits[0]], form_.wire_of[block.qubits[1]]};
    for (const Qubit wire : wires) gates_[wire] += static_cast<std::uint32_t>(block.members.size());
    control_ = control;
    const std::size_t steps = form_.steps.size();
    meet(block.qubits, wires, *interaction);
    std::vector<std::uint32_t>& first = waiting_[wires[0]];
    first.insert(first.end(), block.members.begin(), block.members.end());
    // They are counted on the last step of their pair that is no rotation.
    std::size_t at = form_.steps.size();
    while (at > steps && form_.steps[at - 1].kind == AxisStep::Kind::kRotation) --at;
    if (at == steps) return true;
    for (const Qubit wire : wires) {
      for (const std::uint32_t i : std::exchange(waiting_[wire], {})) {
        form_.step_of[i] = static_cast<std::uint32_t>(at - 1);
      }
    }
    return true;
  }

  /// What products of so many gates may be off.
  double rounding(Qubit wire) const { return kRounding * (1 + 2 * std::sqrt(static_cast<double>(gates_[wire]))); }

  void meet(const std::array<Qubit, 2>& qubits, const std::array<Qubit, 2>& wires, const PairInteraction& of) {
    std::array<double, 3> turns = of.angles;
    for (double& turn : turns) {
      if (std::abs(turn) <= kTurnRounding) turn = 0;
      if (std::abs(std::abs(turn) - kQuarterPi) <= kTurnRounding) turn = std::copysign(kQuarterPi, turn);
      turn = simple_angle(turn, kPartRounding);
    }
    std::array<Matrix2, 2> after = of.after, here{kIdentity2, kIdentity2};
    const bool exchanged = without_exchange(turns, here);
    const auto some = std::ranges::count_if(turns, [](double turn) { return turn != 0; });
    largest_ = std::max({std::abs(turns[0]), std::abs(turns[1]), std::abs(turns[2])});
    for (unsigned i = 0; i < 2; ++i) then(wires[i], of.before[i]);
    if (some == 1) {
      const auto lone =
          static_cast<unsigned>(std::ranges::find_if(turns, [](double t) { return t != 0; }) - turns.begin());
      for (const Qubit wire : wires) align(wire, lone + 1);
      step(wires, lone + 1, turns[lone], false);
    } else if (some > 1) {
      several(wires, turns, here);
    }
    if (exchanged) {
      std::swap(form_.wire_of[qubits[0]], form_.wire_of[qubits[1]]);
      std::swap(after[0], after[1]);
    }
    for (unsigned i = 0; i < 2; ++i) then(wires[i], product(after[i], here[i]));
  }

  /// Where that leaves fewer turns a SWAP gate is taken off them, for which wires are named anew: it is three quarter
  /// turns. `here`: gates before it.
  static bool without_exchange(std::array<double, 3>& turns, std::array<Matrix2, 2>& here) {
    const auto some = [](const std::array<double, 3>& of) { return 3 - std::ranges::count(of, 0.0); };
    std::array<double, 3> fewer = turns;
    std::array<Matrix2, 2> beside{scaled(kIdentity2, Complex(std::cos(kQuarterPi), std::sin(kQuarterPi))), kIdentity2};
    for (unsigned i = 0; i < 3; ++i) {
      fewer[i] -= kQuarterPi;
      if (fewer[i] > -kQuarterPi) continue;
      fewer[i] += 2 * kQuarterPi;  // exp(-i pi/2 PP) = -i PP
      for (Matrix2& gate : beside) gate = product(gate, kLetterMatrices[i]);
      beside[0] = scaled(beside[0], -kImaginary);
    }
    if (some(fewer) >= some(turns)) return false;
    turns = fewer;
    here = beside;
    return true;
  }

  void several(const std::array<Qubit, 2>& wires, std::array<double, 3>& turns, std::array<Matrix2, 2>& after) {
    const auto equal = [&](unsigned a, unsigned b) {
      return std::abs(std::abs(turns[a]) - std::abs(turns[b])) <= kTurnRounding;
    };
    const auto [p, q] = wires;
    if (equal(0, 1) && equal(1, 2)) {
      // All turns of one sign: about that letter which is alone in its sign, the first qubit is turned by half.
      for (unsigned odd = 0; odd < 3; ++odd) {
        const unsigned b = (odd + 1) % 3, c = (odd + 2) % 3;
        if ((turns[odd] < 0) == (turns[b] < 0) || (turns[odd] < 0) == (turns[c] < 0)) continue;
        then(p, kLetterMatrices[odd]);
        after[0] = product(after[0], kLetterMatrices[odd]);
        turns[b] = -turns[b];
        turns[c] = -turns[c];
        break;
      }
      // Then both may be turned alike: so that the first one's axes are the letters.
      const Matrix2 back = adjoint(pending_[p]), there = pending_[p];
      for (const Qubit wire : wires) then(wire, back);
      for (Matrix2& gate : after) gate = product(gate, there);
    } else {
      for (unsigned z = 0; z < 3; ++z) {
        const unsigned x = (z + 1) % 3, y = (z + 2) % 3;
        if (turns[x] == 0 || !equal(x, y)) continue;
        for (const Qubit wire : wires) align(wire, z + 1);
        const unsigned letter = nearest_letter(image(p, z + 1)).letter;
        const Axis from = image(p, x + 1), other = image(p, y + 1);
        if (sighted(from)) break;
        // Both may be turned alike about the third letter, or against each other: so that the first one's axes are
        // letters.
        const unsigned row = letter % 3;  // an axis that is not the letter's
        const double angle = half_turn_less(std::atan2(from[row], other[row]));
        const bool alike = (turns[x] < 0) == (turns[y] < 0);
        const std::array<double, 2> angles{angle, alike ? angle : -angle};
        for (unsigned i = 0; i < 2; ++i) {
          then(wires[i], letter_rotation(z + 1, angles[i]));
          after[i] = product(after[i], letter_rotation(z + 1, -angles[i]));
        }
        break;
      }
    }
    for (const Qubit wire : {q, p}) align_all(wire);
    for (unsigned i = 0; i < 3; ++i) {
      if (turns[i] != 0) step(wires, i + 1, turns[i], true);
    }
    last_[p] = last_[q] = 0;
  }

  /// What the letter is before what is pending on the wire: F^-1 P F.
  Axis image(Qubit wire, unsigned letter) const { return axis_behind(adjoint(pending_[wire]), letter); }

  /// The letter that an axis is but for what the turns about it cannot show.
  std::optional<SignedLetter> sighted(const Axis& axis) const {
    const unsigned most = largest_of(axis);
    const double off = axis_rounding();
    for (unsigned i = 0; i < 3; ++i) {
      if (i != most && std::abs(axis[i]) > off) return std::nullopt;
    }
    return nearest_letter(axis);
  }
  /// What an axis may be off: the smaller the turns about it the less they tell of it.
  double axis_rounding() const { return std::min(1e-3, seen_ + 2 * kRounding / std::max(largest_, kRounding)); }

  void rotate(Qubit wire, unsigned letter, double angle) {
    angle = simple_angle(angle, rounding(wire));
    if (angle == 0) return;
    form_.steps.push_back({AxisStep::Kind::kRotation, false, {wire, wire}, {letter, letter}, angle, -1, of_});
    pending_[wire] = unitary_product(pending_[wire], letter_rotation(letter, -angle));
  }

  /// Rotates the wire, if need be, until `letter` is a letter before what is pending.
  SignedLetter align(Qubit wire, unsigned letter) {
    seen_ = rounding(wire);
    const Axis axis = image(wire, letter);
    std::optional<SignedLetter> seen = sighted(axis);
    if (!seen) {
      // About which letter one rotation is enough, if about any.
      const double off = axis_rounding();
      unsigned about = 0;
      for (unsigned i = 1; i <= 3; ++i) {
        if (std::abs(axis[i - 1]) <= off) about = i;
      }
      const unsigned wanted = last_[wire];
      if (about == 0) {
        const unsigned pole = wanted != 0 ? wanted : 3;
        rotate(wire, pole, half_turn_less(-std::atan2(axis[(pole + 1) % 3], axis[pole % 3])));
        about = (pole + 1) % 3 + 1;
        rotate_onto(wire, image(wire, letter), about, pole);
      } else {
        rotate_onto(wire, axis, about, wanted);
      }
      seen = nearest_letter(image(wire, letter));
    }
    last_[wire] = seen->letter;
    return *seen;
  }

  static double half_turn_less(double angle) {
    angle = std::remainder(angle, kPi);
    return angle <= -kPi / 2 ? angle + kPi : angle;
  }

  /// About `about`, until the axis is along `wanted` or, where that is not at right angles to it, the nearer other
  /// letter.
  void rotate_onto(Qubit wire, const Axis& axis, unsigned about, unsigned wanted) {
    const unsigned i = about % 3 + 1, j = i % 3 + 1;
    if (wanted != i && wanted != j) wanted = std::abs(axis[i - 1]) >= std::abs(axis[j - 1]) ? i : j;
    const double at = std::atan2(axis[j - 1], axis[i - 1]);
    rotate(wire, about, half_turn_less((wanted == i ? 0 : kPi / 2) - at));
  }

  void align_all(Qubit wire) {
    seen_ = rounding(wire);
    for (unsigned letter = 1; letter <= 3; ++letter) {
      if (sighted(image(wire, letter))) continue;
      align(wire, 3);
      if (sighted(image(wire, 1))) return;
      last_[wire] = 0;
      align(wire, 1);
      return;
    }
  }

  /// exp(i angle PP), where P is a letter on either wire by now.
  void step(const std::array<Qubit, 2>& wires, unsigned letter, double angle, bool beside_others) {
    AxisStep made{AxisStep::Kind::kTurn, beside_others, wires, {}, angle, -1, of_};
    for (unsigned i = 0; i < 2; ++i) {
      const SignedLetter seen = nearest_letter(image(wires[i], letter));
      made.letters[i] = seen.letter;
      made.angle *= seen.sign;
    }
    if (std::abs(angle) == kQuarterPi) {
      // exp(i pi/4 PQ) = exp(-i pi/4) exp(i pi/4 P) exp(i pi/4 Q) (1 + P + Q - PQ) / 2
      made.kind = AxisStep::Kind::kFlip;
      made.control = control_;
      for (unsigned i = 0; i < 2; ++i) {
        pending_[wires[i]] = unitary_product(pending_[wires[i]], letter_rotation(made.letters[i], -2 * made.angle));
      }
      pending_[wires[0]] = scaled(pending_[wires[0]], Complex(std::cos(made.angle), -std::sin(made.angle)));
    }
    form_.steps.push_back(made);
  }

  /// What is pending at the end as one of the 24 Clifford gates behind one rotation, where it is that.
  void split_last(Qubit wire) {
    std::optional<std::pair<unsigned, double>> best;
    for (const Matrix2& gate : clifford_matrices()) {
      const AxisAngle rest = axis_angle(product(adjoint(gate), pending_[wire]));
      const Axis& sines = rest.sines;
      const unsigned most = largest_of(sines);
      const double off = rounding(wire);
      if (std::abs(sines[most]) <= off) return;  // a Clifford gate
      if (std::abs(sines[(most + 1) % 3]) > off || std::abs(sines[(most + 2) % 3]) > off) continue;
      const double angle = simple_angle(2 * std::atan2(sines[most], rest.cosine), off);
      if (std::abs(angle) > kQuarterPi + off) continue;
      if (!best || most + 1 == last_[wire]) best = {most + 1, angle};
    }
    if (best) rotate(wire, best->first, best->second);
  }

  static const std::vector<Matrix2>& clifford_matrices() {
    static const std::vector<Matrix2> kAll = [] {
      std::vector<Matrix2> all{kIdentity2};
      const Matrix2 phase{1, 0, 0, kImaginary};
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (const Matrix2& gate : {kHadamard2, phase}) {
          const Matrix2 next = product(gate, all[i]);
          const bool known = std::ranges::any_of(all, [&](const Matrix2& each) {
            const Matrix2 between = product(adjoint(each), next);
            return std::abs(between[0] + between[3]) > 1.9;
          });
          if (!known) all.push_back(next);
        }
      }
      return all;
    }();
    return kAll;
  }

  const Circuit& circuit_;
  AxisForm form_;
  std::vector<Matrix2> pending_;       // by wire: what comes behind all steps
  std::vector<std::uint32_t> gates_;   // by wire: how many there were
  std::vector<unsigned> last_;         // by wire: the letter of the last step; 0: of none
  std::vector<std::size_t> block_of_;  // by qubit
  std::vector<Block> blocks_;
  std::vector<std::vector<std::uint32_t>> waiting_;  // by wire: operations that no step stands for yet
  std::vector<Qubit> as_;                            // by qubit: which of a pair
  std::uint32_t of_ = 0;
  int control_ = -1;
  double largest_ = 1, seen_ = kRounding;  // of the turns at hand; what their axes may be off
};

/// Rotations where they can first be: behind the last step of their wire that does not commute with them.
void move_rotations_forward(AxisForm& form) {
  // By wire: the steps since its letter changed last, and the rotation among them.
  struct Segment {
    unsigned letter = 0;
    std::pair<std::uint32_t, std::uint32_t> before{0, 0};  // key of the last step before it
    std::pair<std::uint32_t, std::uint32_t> last{0, 0};
    std::size_t rotation = ~std::size_t{0};
  };
  struct Keyed {
    std::pair<std::uint32_t, std::uint32_t> key;
    std::uint32_t place;
  };
  std::vector<Segment> segments(form.after.size());
  std::vector<Keyed> order;
  const auto visit = [&](Qubit wire, unsigned letter) -> Segment& {
    Segment& segment = segments[wire];
    if (segment.letter != letter) segment = {letter, segment.last, segment.last, ~std::size_t{0}};
    return segment;
  };
  for (std::uint32_t i = 0; i < form.steps.size(); ++i) {
    AxisStep& step = form.steps[i];
    if (step.kind != AxisStep::Kind::kRotation) {
      for (unsigned k = 0; k < 2; ++k) visit(step.wires[k], step.letters[k]).last = {i + 1, 0};
      order.push_back({{i + 1, 0}, i});
      continue;
    }
    Segment& segment = visit(step.wires[0], step.letters[0]);
    if (segment.rotation != ~std::size_t{0}) {
      AxisStep& first = form.steps[segment.rotation];
      first.angle = simple_angle(first.angle + step.angle, kPartRounding);
      continue;
    }
    segment.rotation = i;
    const std::pair<std::uint32_t, std::uint32_t> key{segment.before.first, segment.before.second + 1};
    if (segment.last == segment.before) segment.last = key;
    order.push_back({key, i});
  }
  std::ranges::stable_sort(order, {}, &Keyed::key);
  std::vector<AxisStep> steps;
  std::vector<std::uint32_t> place(form.steps.size(), AxisForm::kAfter);
  for (const Keyed& each : order) {
    const AxisStep& step = form.steps[each.place];
    if (step.kind == AxisStep::Kind::kRotation && step.angle == 0) continue;
    place[each.place] = static_cast<std::uint32_t>(steps.size());
    steps.push_back(step);
  }
  form.steps = std::move(steps);
  for (std::uint32_t& step : form.step_of) {
    if (step != AxisForm::kAfter) step = place[step];
  }
}

}  // namespace

double simple_angle(double angle, double rounding) {
  // The finer parts, which ladders of phases have, are so far apart that few other angles are near one.
  constexpr std::array<double, 2> kParts{kPi / 16, kPi / (Index{1} << 31)};
  angle = std::remainder(angle, 2 * kPi);
  for (const double part : kParts) {
    const double whole = std::round(angle / part) * part;
    if (std::abs(angle - whole) <= rounding) return whole;
  }
  return angle;
}

std::optional<AxisForm> axis_form(const Circuit& circuit) {
  std::optional<AxisForm> form = AxisFormer(circuit).run();
  if (form) move_rotations_forward(*form);
  return form;
}

}  // namespace qsim
