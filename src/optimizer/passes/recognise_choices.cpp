// Matrices on a qubit with X gates or other controlled matrices between them that have it for their target: what a
// matrix that other qubits choose is written as, in state preparation above all. For each value of the other qubits
// the product is e^{i phase} Rz(left) Ry(turn) Rz(right); each of the four angles, as a function of the value, is a
// sum over parities (its Walsh transform), and a turn about X takes Ry to Rz.
#include <cmath>
#include <cstddef>
#include <numbers>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "optimizer/diagonal_term.h"
#include "optimizer/operations.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr unsigned kMostControls = 8;
constexpr double kWorthwhile = 2;  // times as heavy as what it becomes, since each diagonal is one of many terms

/// Operations on one target, as far as they are a run.
struct Run {
  Index controls = 0;
  std::vector<std::uint32_t> members;
  std::size_t turns = 0;  // members that are neither flips nor phases
  double weight = 0;      // of the members
};

using Angles = std::vector<long double>;  // by the value of the controls, lowest first; or by the parity

/// From values to the amounts of (-1)^{bits of both} that they are the sum of.
void transform(Angles& angles) {
  for (std::size_t bit = 1; bit < angles.size(); bit *= 2) {
    for (std::size_t i = 0; i < angles.size(); ++i) {
      if ((i & bit) != 0) continue;
      const long double a = angles[i], b = angles[i | bit];
      angles[i] = (a + b) / 2;
      angles[i | bit] = (a - b) / 2;
    }
  }
}

/// And back.
void sum_up(Angles& angles) {
  transform(angles);
  for (long double& angle : angles) angle *= static_cast<long double>(angles.size());
}

/// The four angles by parity.
struct Choice {
  Qubit target = 0;
  Index controls = 0;
  Angles right, turn, left, phase;
  std::vector<std::uint32_t> members;
};

class ChoiceRecogniser {
 public:
  ChoiceRecogniser(const Circuit& circuit, Rewritten& result)
      : circuit_(circuit), result_(result), runs_(circuit.qubits()), used_(circuit.qubits(), 0) {}

  bool run() {
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (!skipped(operations[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) close(q);
    if (taken_.empty()) return false;
    build();
    return true;
  }

 private:
  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const Support support = support_of(circuit_, op);
    const Index turned = support.all & ~support.diagonal;
    // A qubit that turns is no longer what has chosen so far.
    for_each_bit(turned, [&](unsigned c) { for_each_bit(Index{used_[c]}, [&](unsigned q) { close(q); }); });
    const bool joins = op.targets == 1 && !is_open(circuit_, op) && (op.controls == 0 || !support.is_diagonal()) &&
                       join(i, circuit_.targets(op)[0]);
    const Index joined = joins ? bit_mask(circuit_.targets(op)[0]) : 0;
    for_each_bit(support.all & ~joined, [&](unsigned q) { close(q); });
  }

  bool join(std::uint32_t i, Qubit target) {
    const Operation& op = circuit_.operations()[i];
    Index controls = 0;
    for (const Qubit c : circuit_.controls(op)) controls |= bit_mask(c);
    if (count_bits(controls) > kMostControls) return false;
    if (count_bits(runs_[target].controls | controls) > kMostControls) close(target);
    Run& run = runs_[target];
    const Matrix2 matrix = matrix_of(i);
    const bool phases = is_diagonal(matrix), flip = is_flip(matrix);
    run.turns += phases || flip ? 0 : 1;
    run.weight += phases ? weight::kPhase : flip ? weight::flip(controls != 0) : weight::kGeneral;
    run.controls |= controls;
    run.members.push_back(i);
    for_each_bit(controls, [&](unsigned c) { used_[c] |= bit_mask(target); });
    return true;
  }

  void close(Qubit q) {
    Run& run = runs_[q];
    if (run.members.empty()) return;
    for_each_bit(run.controls, [&](unsigned c) { used_[c] &= ~bit_mask(q); });
    if (worthwhile(run)) {
      if (auto choice = choice_of(q, run)) {
        for (const std::uint32_t i : run.members) choice_at_[i] = taken_.size();
        taken_.push_back(std::move(*choice));
      } else {
        ++result_.refused;
      }
    }
    run = {};
  }

  static bool worthwhile(const Run& run) {
    const unsigned controls = count_bits(run.controls);
    if (controls < 2 || run.turns < 4 || (std::size_t{1} << controls) > 2 * run.turns) return false;
    return run.weight >= kWorthwhile * (2 * weight::kGeneral + 3 * weight::diagonal(controls + 1));
  }

  std::optional<Choice> choice_of(Qubit target, const Run& run) const {
    const std::vector<Matrix2> products = products_of(run);
    const std::size_t values = products.size();
    Choice choice{target, run.controls, Angles(values), Angles(values), Angles(values), Angles(values), run.members};
    for (std::size_t v = 0; v < values; ++v) {
      const std::optional<RotationAngles> parts = rotation_angles(products[v]);
      if (!parts) return std::nullopt;
      choice.right[v] = parts->right;
      choice.left[v] = parts->left;
      choice.turn[v] = 2 * std::atan2(parts->sine, parts->cosine);
      choice.phase[v] = parts->around + 0.5L * (choice.left[v] + choice.right[v]);
    }
    for (Angles* angles : {&choice.right, &choice.turn, &choice.left, &choice.phase}) {
      transform(*angles);
      const long double dust = kRounding / static_cast<long double>(values);
      for (long double& angle : *angles) angle = std::abs(angle) <= dust ? 0 : static_cast<double>(angle);
    }
    if (!is_made_of(products, choice)) return std::nullopt;
    return choice;
  }

  /// What the members do for each value of the controls.
  std::vector<Matrix2> products_of(const Run& run) const {
    std::vector<Matrix2> products(std::size_t{1} << count_bits(run.controls), kIdentity2);
    const std::vector<Qubit> controls = qubits_of(run.controls);
    for (const std::uint32_t i : run.members) {
      std::size_t needed = 0;
      for (const Qubit c : circuit_.controls(circuit_.operations()[i])) {
        for (std::size_t j = 0; j < controls.size(); ++j) needed |= std::size_t{controls[j] == c} << j;
      }
      const Matrix2 matrix = matrix_of(i);
      for (std::size_t v = 0; v < products.size(); ++v) {
        if ((v & needed) == needed) products[v] = unitary_product(matrix, products[v]);
      }
    }
    return products;
  }

  static bool is_made_of(const std::vector<Matrix2>& products, Choice choice) {
    for (Angles* angles : {&choice.right, &choice.turn, &choice.left, &choice.phase}) sum_up(*angles);
    const auto turned = [](long double angle) { return std::polar(1.0, static_cast<double>(angle)); };
    for (std::size_t v = 0; v < products.size(); ++v) {
      const double c = static_cast<double>(std::cos(choice.turn[v] / 2));
      const double s = static_cast<double>(std::sin(choice.turn[v] / 2));
      const long double left = choice.left[v] / 2, right = choice.right[v] / 2, phase = choice.phase[v];
      const Matrix2 made{c * turned(phase - left - right), -s * turned(phase - left + right),
                         s * turned(phase + left - right), c * turned(phase + left + right)};
      if (!recomposes(made, products[v])) return false;
    }
    return true;
  }

  Matrix2 matrix_of(std::uint32_t i) const {
    const Operation& op = circuit_.operations()[i];
    if (op.kind == OpKind::kGate && op.gate == Gate::kX) return kFlip2;
    const Matrix m = circuit_.matrix(op);
    return {m[0], m[1], m[2], m[3]};
  }

  void build() {
    Rewriter rewriter(circuit_, result_);
    const auto& operations = circuit_.operations();
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      if (skipped(operations[i])) continue;
      const auto found = choice_at_.find(i);
      if (found == choice_at_.end()) {
        rewriter.copy(i);
      } else if (const Choice& choice = taken_[found->second]; i == choice.members.back()) {
        append_choice(choice, rewriter.append_for(i));
        for (const std::uint32_t member : choice.members) rewriter.count_here(member);
      }
    }
  }

  /// Rotations of the target about Z, and phases without it, by the parities of the controls.
  static void append_choice(const Choice& choice, Circuit& out) {
    const std::vector<Qubit> controls = qubits_of(choice.controls);
    const auto parities = [&](const Angles& angles, Index target, double factor) {
      for (std::size_t p = target == 0 ? 1 : 0; p < angles.size(); ++p) {
        if (angles[p] == 0) continue;
        DiagonalTerm term{0, target, factor * static_cast<double>(angles[p])};
        for (std::size_t j = 0; j < controls.size(); ++j) term.parity |= (p >> j & 1) != 0 ? bit_mask(controls[j]) : 0;
        append(out, term);
      }
    };
    const Index target = bit_mask(choice.target);
    parities(choice.right, target, 1);
    out.rx(0.5 * std::numbers::pi, choice.target);
    parities(choice.turn, target, 1);
    out.rx(-0.5 * std::numbers::pi, choice.target);
    parities(choice.phase, 0, -2);
    // What no control chooses of the phase: a phase of the target, and half of it back as a rotation.
    Angles left = choice.left;
    const auto alone = 2 * static_cast<double>(choice.phase[0]);
    left[0] -= alone;
    parities(left, target, 1);
    if (alone != 0) append(out, {target, 0, alone});
  }

  const Circuit& circuit_;
  Rewritten& result_;
  std::vector<Run> runs_;    // by qubit
  std::vector<Index> used_;  // by qubit: those in whose runs it has controlled something
  std::vector<Choice> taken_;
  std::unordered_map<std::uint32_t, std::size_t> choice_at_;  // by operation: of those that are taken
};

}  // namespace

bool recognise_choices(const Circuit& circuit, Rewritten& result) { return ChoiceRecogniser(circuit, result).run(); }

}  // namespace qsim
