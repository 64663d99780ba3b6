// Turns about XX, YY and ZZ of one pair of qubits, however they are written: between Hadamard gates and CX gates, as
// rotations about Y between CX gates, as gates of the table. Together they turn 01 and 10 into each other, and 00 and
// 11: between two CX gates that is one controlled rotation, beside a phase.
//
// Gates on a pair with nothing else between them are Clifford gates and turns about products of Pauli matrices. With
// the Clifford gates moved behind the turns what is left are turns about such products; two or three that commute, each
// of both qubits, are XX, YY and ZZ but for Clifford gates on either qubit.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/numbers/rounding.h"
#include "circuit/unitary_power.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/pair_turns.h"
#include "optimizer/pairs/pauli_pair.h"
#include "optimizer/weights.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

const PauliPair kZz = pauli_pair(3, 3);

// Of what Clifford gates behind the turns weigh: the next turns of the qubit often take them in.
constexpr double kTakenUp = 0.5;

/// Which of the three turns becomes the one about ZZ, and the gates on each qubit that make it that.
struct Frame {
  std::array<double, 3> angles{};  // about XX, YY, ZZ then
  std::array<const CliffordGate*, 2> before{}, after{};
  bool equal = false;  // the first two angles
  double weight = 0;
};

bool are_equal(double a, double b) { return std::abs(a - b) <= kRounding * std::max(1.0, std::abs(a)); }

/// The cheapest of those that fit, beside `before`, the gate that is there already.
const CliffordGate* cheapest(const CliffordGate& before, const auto& fits) {
  const CliffordGate* best = nullptr;
  double least = 0;
  for (const CliffordGate& gate : clifford_gates()) {
    if (!fits(gate)) continue;
    const double weight = product(gate, before).weight;
    if (best == nullptr || weight < least) {
      best = &gate;
      least = weight;
    }
  }
  return best;
}

/// Whether `gate` makes letters[i] X, letters[j] Y and the third one Z.
bool turns_to(const CliffordGate& gate, const std::array<unsigned, 3>& letters) {
  for (unsigned i = 0; i < 3; ++i) {
    if (gate.before[i].letter != letters[i]) return false;
  }
  return true;
}

/// What is behind the turns of `turned` on one qubit, and before that `frame` taken back.
const CliffordGate* taken_back(const Turned& turned, unsigned qubit, const CliffordGate& frame) {
  return cheapest(CliffordGate::identity(), [&](const CliffordGate& gate) {
    for (unsigned letter = 1; letter <= 3; ++letter) {
      const PauliPair was = turned.behind.before(qubit == 0 ? pauli_pair(letter, 0) : pauli_pair(0, letter));
      const CliffordGate::Image image = frame.after(letter_of(was, qubit));
      if (gate.before[letter - 1] != CliffordGate::Image{image.letter, image.sign * sign_of(was)}) return false;
    }
    return true;
  });
}

/// `beside`: what is before the turns on either qubit.
std::optional<Frame> best_frame(const Turned& turned, const std::array<const CliffordGate*, 2>& beside) {
  std::array<std::array<unsigned, 3>, 2> letters{};  // by qubit and turn
  std::array<double, 3> angles{};
  for (unsigned i = 0; i < 3; ++i) {
    if (i < turned.turns.size()) {
      angles[i] = turned.turns[i].angle;
      for (unsigned q = 0; q < 2; ++q) letters[q][i] = letter_of(turned.turns[i].axis, q);
    } else {
      for (unsigned q = 0; q < 2; ++q) letters[q][2] = 6 - letters[q][0] - letters[q][1];
    }
  }
  // One that is diagonal as it is stands better alone beside an unequal one.
  const bool diagonal_beside_one =
      turned.turns.size() == 2 &&
      std::ranges::any_of(turned.turns, [](const Turned::Turn& turn) { return turn.axis == kZz; });
  std::optional<Frame> best;
  std::array<unsigned, 3> order{0, 1, 2};
  do {
    const double first = angles[order[0]], second = angles[order[1]], third = angles[order[2]];
    if (std::abs(first) <= kRounding || std::abs(second) <= kRounding) continue;
    std::array<std::array<unsigned, 3>, 2> as{};
    for (unsigned q = 0; q < 2; ++q) {
      for (unsigned i = 0; i < 3; ++i) as[q][i] = letters[q][order[i]];
    }
    const bool equal = are_equal(std::abs(first), std::abs(second));
    if (!equal && diagonal_beside_one) continue;
    const int wanted = (first < 0) == (second < 0) ? 1 : -1;  // product of all signs, for equal angles about XX and YY
    // By the sign that the gate on the first qubit gives one angle and not the other.
    for (const int sign : {1, -1}) {
      const auto fits = [&](unsigned q, int product) {
        return cheapest(*beside[q], [&](const CliffordGate& gate) {
          return turns_to(gate, as[q]) && gate.before[0].sign * gate.before[1].sign == product;
        });
      };
      Frame frame;
      frame.equal = equal;
      frame.before = {fits(0, sign), fits(1, equal ? sign * wanted : sign)};
      if (frame.before[0] == nullptr || frame.before[1] == nullptr) continue;
      for (unsigned i = 0; i < 3; ++i) {
        frame.angles[i] = frame.before[0]->before[i].sign * frame.before[1]->before[i].sign * angles[order[i]];
      }
      frame.weight = equal ? 0 : weight::kGeneral;
      if (std::abs(third) > kRounding) frame.weight += weight::diagonal(2);
      for (unsigned q = 0; q < 2; ++q) {
        frame.after[q] = taken_back(turned, q, *frame.before[q]);
        if (frame.after[q] == nullptr) return std::nullopt;
        frame.weight += product(*frame.before[q], *beside[q]).weight + kTakenUp * frame.after[q]->weight;
      }
      if (!best || frame.weight < best->weight) best = frame;
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

void append(Circuit& circuit, const Frame& frame, Qubit a, Qubit b) {
  const auto put = [&](const CliffordGate& gate, Qubit q) {
    for (const Gate each : gate.gates) circuit.add_gate(each, {}, {&q, 1});
  };
  put(*frame.before[0], a);
  put(*frame.before[1], b);
  circuit.cx(a, b);
  if (!frame.equal) circuit.rx(frame.angles[0] - frame.angles[1], a);
  circuit.crx(2 * frame.angles[1], b, a);
  circuit.cx(a, b);
  if (std::abs(frame.angles[2]) > kRounding) circuit.rzz(frame.angles[2], a, b);
  put(*frame.after[0], a);
  put(*frame.after[1], b);
}

constexpr std::array<Qubit, 2> kPair{0, 1};

/// The phase by which two circuits on a pair differ, where that is all but rounding.
std::optional<double> phase_between(const Circuit& from, const Circuit& to) {
  const Matrix left = circuit_matrix(from, kPair), right = circuit_matrix(to, kPair);
  Complex sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) sum += std::conj(left[i]) * right[i];
  const double phase = std::arg(sum);
  const Complex factor = std::polar(1.0, phase);
  const double tolerance = kRounding * static_cast<double>(8 + to.operations().size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!(std::abs(left[i] * factor - right[i]) <= tolerance)) return std::nullopt;
  }
  return std::abs(phase) <= kRounding ? 0 : phase;
}

class ExchangeRecogniser {
 public:
  explicit ExchangeRecogniser(const Circuit& circuit)
      : circuit_(circuit),
        run_of_(circuit.qubits(), kNone),
        tail_(circuit.qubits()),
        held_(circuit.operations().size(), false),
        taken_by_(circuit.operations().size(), kNone) {}

  bool run(Rewritten& result) {
    const auto size = static_cast<std::uint32_t>(circuit_.operations().size());
    for (std::uint32_t i = 0; i < size; ++i) {
      if (!skipped(circuit_.operations()[i])) visit(i);
    }
    for (Qubit q = 0; q < circuit_.qubits(); ++q) end_run_of(q);
    if (made_.empty()) return false;
    build(result);
    return true;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  struct Run {
    Qubit a = 0, b = 0;
    std::vector<std::uint32_t> members;
    Turned turned;
    std::uint32_t last = 0;      // before which nothing else is on either qubit
    bool goes_on_alone = false;  // on one of the qubits only
    std::size_t closed = 0;      // members up to where Clifford gates were local last
    Turned at_closed;
  };
  struct Made {
    Qubit a = 0, b = 0;
    std::vector<std::uint32_t> members;
    std::uint32_t at = 0;  // the member that it stands for in the order
    Turned turned;
    Circuit before, after;  // on a pair: the members, and what they become
  };

  void visit(std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    const auto qubits = op.controls + op.targets;
    if (qubits == 1) {
      const Qubit q = circuit_.targets(op)[0];
      if (run_of_[q] != kNone && !absorb(runs_[run_of_[q]], i)) end_run_of(q);
      if (is_clifford(op)) {
        tail_[q].push_back(i);
      } else {
        tail_[q].clear();
      }
      return;
    }
    std::array<Qubit, 2> pair{};
    if (qubits == 2) {
      std::size_t at = 0;
      for_each_qubit(circuit_, op, [&](Qubit q) { pair[at++] = q; });
      if (run_of_[pair[0]] != kNone && run_of_[pair[0]] == run_of_[pair[1]] && absorb(runs_[run_of_[pair[0]]], i)) {
        for (const Qubit q : pair) tail_[q].clear();
        return;
      }
    }
    for_each_qubit(circuit_, op, [&](Qubit q) { end_run_of(q); });
    if (qubits == 2) begin(pair[0], pair[1], i);
    for_each_qubit(circuit_, op, [&](Qubit q) { tail_[q].clear(); });
  }

  bool is_clifford(const Operation& op) const {
    constexpr std::array<unsigned, 1> kFirst{0};
    const auto steps = steps_of(circuit_, op, kFirst);
    if (!steps) return false;
    Turned alone;
    return std::ranges::all_of(*steps, [&](const PairStep& step) { return alone.add(step); });
  }

  void begin(Qubit a, Qubit b, std::uint32_t i) {
    Run run{a, b, {}, {}, 0, false, 0, {}};
    std::vector<std::uint32_t> before;
    for (const Qubit q : {a, b}) {
      for (const std::uint32_t each : tail_[q]) {
        if (!held_[each]) before.push_back(each);
      }
    }
    std::ranges::sort(before);
    for (const std::uint32_t each : before) absorb(run, each);
    if (!absorb(run, i)) return;
    run_of_[a] = run_of_[b] = runs_.size();
    runs_.push_back(std::move(run));
  }

  bool absorb(Run& run, std::uint32_t i) {
    const Operation& op = circuit_.operations()[i];
    std::array<unsigned, 2> qubits{};
    std::size_t count = 0;
    for_each_qubit(circuit_, op, [&](Qubit q) { qubits[count++] = q == run.a ? 0 : 1; });
    const auto steps = steps_of(circuit_, op, std::span(qubits).first(count));
    if (!steps) return false;
    Turned turned = run.turned;
    for (const PairStep& step : *steps) {
      if (!turned.add(step)) return false;
    }
    run.turned = std::move(turned);
    run.members.push_back(i);
    if (!run.goes_on_alone) run.last = i;
    if (run.turned.turns.size() >= 2 && run.turned.behind.is_local()) {
      for (; run.closed < run.members.size(); ++run.closed) held_[run.members[run.closed]] = true;
      run.at_closed = run.turned;
    }
    return true;
  }

  /// Clifford gates on the other qubit still belong to it.
  void end_run_of(Qubit q) {
    const std::size_t number = std::exchange(run_of_[q], kNone);
    if (number == kNone) return;
    Run& run = runs_[number];
    run.goes_on_alone = true;
    if (run_of_[q == run.a ? run.b : run.a] == number) return;
    if (run.closed != 0 && !replace(run)) {
      for (std::size_t i = 0; i < run.closed; ++i) held_[run.members[i]] = false;
    }
    run = {};
  }

  bool replace(Run& run) {
    run.members.resize(run.closed);
    Made made{run.a, run.b, {}, std::min(run.last, run.members.back()), run.at_closed, Circuit(2), Circuit(2)};
    std::vector<Qubit> as(circuit_.qubits(), 0);
    as[run.b] = 1;
    for (const std::uint32_t i : run.members) append_renamed(made.before, circuit_, circuit_.operations()[i], as);
    std::optional<Circuit> after = written(made, {&CliffordGate::identity(), &CliffordGate::identity()}).first;
    if (!after || circuit_cost(*after) >= circuit_cost(made.before) - 1e-9) return false;
    made.after = *std::move(after);
    for (const std::uint32_t i : run.members) taken_by_[i] = made_.size();
    made.members = std::move(run.members);
    made_.push_back(std::move(made));
    return true;
  }

  /// What it becomes beside those gates, and the gates that it ends with.
  std::pair<std::optional<Circuit>, std::array<const CliffordGate*, 2>> written(
      const Made& made, const std::array<const CliffordGate*, 2>& beside) {
    const std::optional<Frame> frame = best_frame(made.turned, beside);
    if (!frame) return {};
    Circuit after(2);
    append(after, *frame, 0, 1);
    const std::optional<double> phase = phase_between(after, made.before);
    if (!phase) {
      ++refused_;
      return {};
    }
    if (*phase != 0) after.add_pauli_rotation(-2 * *phase, "", {});
    return {std::move(after), frame->after};
  }

  /// Frames are chosen beside what those before them left on their qubits.
  void build(Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    std::vector<const CliffordGate*> left(circuit_.qubits(), &CliffordGate::identity());
    for (std::uint32_t i = 0; i < taken_by_.size(); ++i) {
      const Operation& op = circuit_.operations()[i];
      if (skipped(op)) continue;
      if (taken_by_[i] == kNone) {
        rewriter.copy(i);
        const bool phase = op.controls + op.targets == 1 && support_of(circuit_, op).is_diagonal();
        for_each_qubit(circuit_, op, [&](Qubit q) {
          if (!phase) left[q] = &CliffordGate::identity();
        });
        continue;
      }
      Made& made = made_[taken_by_[i]];
      if (i != made.at) continue;
      auto [after, ends] = written(made, {left[made.a], left[made.b]});
      if (after) made.after = *std::move(after);
      left[made.a] = after ? ends[0] : &CliffordGate::identity();
      left[made.b] = after ? ends[1] : &CliffordGate::identity();
      Circuit& out = rewriter.append_for(i);
      const std::array<Qubit, 2> as{made.a, made.b};
      for (const Operation& each : made.after.operations()) append_renamed(out, made.after, each, as);
      for (const std::uint32_t member : made.members) rewriter.count_on(member, rewriter.last());
    }
    result.refused = refused_;
  }

  const Circuit& circuit_;
  std::vector<Run> runs_;
  std::vector<std::size_t> run_of_;               // by qubit
  std::vector<std::vector<std::uint32_t>> tail_;  // by qubit: Clifford gates on it alone since all others
  std::vector<bool> held_;                        // by operation: of a run that may be replaced
  std::vector<std::size_t> taken_by_;             // by operation, a place in made_
  std::vector<Made> made_;
  std::uint64_t refused_ = 0;
};

}  // namespace

bool recognise_exchanges(const Circuit& circuit, Rewritten& result) { return ExchangeRecogniser(circuit).run(result); }

}  // namespace qsim
