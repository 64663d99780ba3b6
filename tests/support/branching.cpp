// States are not normalised: a branch's weight is its state's norm.
#include "support/branching.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "document/result.h"
#include "simulator/simulator.h"
#include "support/dense.h"
#include "support/tolerance.h"

namespace qsim::branching {
namespace {

constexpr long double kNegligible = 1e-30L;

struct Shot {
  std::uint64_t number = 0, drawn = 0;
};

void apply(State& state, const Circuit& circuit, const Operation& op) {
  const std::vector<dense::Amplitude> matrix =
      op.kind == OpKind::kGate ? dense::gate_matrix(op.gate, circuit.params(op)) : dense::operation_matrix(circuit, op);
  const auto targets = circuit.targets(op);
  const std::size_t order = std::size_t{1} << targets.size();
  std::size_t controls = 0, moved = 0;
  for (const Qubit qubit : circuit.controls(op)) controls |= std::size_t{1} << qubit;
  for (const Qubit qubit : targets) moved |= std::size_t{1} << qubit;
  std::vector<std::size_t> offsets(order, 0);
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t j = 0; j < targets.size(); ++j) offsets[row] |= (row >> j & 1) << targets[j];
  }
  State before(order);
  for (std::size_t base = 0; base < state.size(); ++base) {
    if ((base & moved) != 0 || (base & controls) != controls) continue;
    for (std::size_t row = 0; row < order; ++row) before[row] = state[base | offsets[row]];
    for (std::size_t row = 0; row < order; ++row) {
      Amplitude sum = 0;
      for (std::size_t column = 0; column < order; ++column) {
        sum += Amplitude(matrix[row * order + column]) * before[column];
      }
      state[base | offsets[row]] = sum;
    }
  }
}

/// From the definition: an unconditional measurement whose qubit and bit no later operation uses.
bool is_terminal(const Circuit& circuit, std::size_t place) {
  const auto& operations = circuit.operations();
  const Operation& measure = operations[place];
  if (measure.kind != OpKind::kMeasure || measure.condition >= 0) return false;
  const Qubit qubit = circuit.targets(measure)[0];
  const Clbit bit = circuit.clbit(measure);
  for (std::size_t i = place + 1; i < operations.size(); ++i) {
    const Operation& op = operations[i];
    if (op.kind == OpKind::kBarrier) continue;
    const auto names = [&](std::span<const Qubit> list) {
      return std::find(list.begin(), list.end(), qubit) != list.end();
    };
    if (names(circuit.targets(op)) || names(circuit.controls(op))) return false;
    if (op.kind == OpKind::kMeasure && circuit.clbit(op) == bit) return false;
    if (op.condition < 0) continue;
    const Register& read = circuit.cregs()[circuit.conditions()[static_cast<std::size_t>(op.condition)].creg];
    if (bit >= read.first && bit < read.first + read.size) return false;
  }
  return true;
}

/// By operation: whether it resets a qubit that nothing has acted on. From |0...0> such resets do nothing.
std::vector<bool> find_idle_resets(const Circuit& circuit) {
  std::vector<bool> touched(circuit.qubits(), false), idle;
  for (const Operation& op : circuit.operations()) {
    idle.push_back(op.kind == OpKind::kReset && !touched[circuit.targets(op)[0]]);
    if (idle.back() || op.kind == OpKind::kBarrier) continue;
    for (const Qubit qubit : circuit.targets(op)) touched[qubit] = true;
    for (const Qubit qubit : circuit.controls(op)) touched[qubit] = true;
  }
  return idle;
}

class Walk {
 public:
  Walk(const Circuit& circuit, const State& start, const Questions& questions)
      : circuit_(circuit), questions_(questions) {
    idle_.resize(circuit.operations().size());
    if (start[0] == Amplitude(1)) idle_ = find_idle_resets(circuit);
    for (std::size_t i = 0; i < circuit.operations().size(); ++i) {
      if (!is_terminal(circuit, i)) continue;
      const Operation& op = circuit.operations()[i];
      terminal_.push_back(i);
      read_.emplace_back(circuit.targets(op)[0], circuit.clbit(op));
    }
    answers_.marginals.resize(circuit.qubits());
    for (const auto& list : questions.probabilities) answers_.probabilities.emplace_back(std::size_t{1} << list.size());
    answers_.paulis.resize(questions.paulis.size());
  }

  void follow(std::size_t place, State state, std::vector<bool> bits, std::vector<Shot> shots) {
    for (; place < circuit_.operations().size(); ++place) {
      const Operation& op = circuit_.operations()[place];
      const bool skipped = op.kind == OpKind::kBarrier || idle_[place] || (op.condition >= 0 && !holds(op, bits)) ||
                           std::find(terminal_.begin(), terminal_.end(), place) != terminal_.end();
      if (skipped) continue;
      if (op.kind != OpKind::kMeasure && op.kind != OpKind::kReset) {
        apply(state, circuit_, op);
        continue;
      }
      const long double all = weight(state);
      long double below = 0;
      for (const bool one : {false, true}) {
        State part = project(state, circuit_.targets(op)[0], one, op.kind == OpKind::kReset);
        const long double from = below;
        below += weight(part);
        if (weight(part) < kNegligible) continue;
        std::vector<bool> written = bits;
        if (op.kind == OpKind::kMeasure) written[circuit_.clbit(op)] = one;
        std::vector<Shot> taken;
        for (const Shot& shot : shots) {
          const long double drawn = draw(shot, all);
          if (drawn >= from && (one || drawn < below)) taken.push_back({shot.number, shot.drawn + 1});
        }
        follow(place + 1, std::move(part), std::move(written), std::move(taken));
      }
      return;
    }
    read(state, bits);
    sample(state, bits, shots);
  }

  Answers take() { return std::move(answers_); }

 private:
  bool holds(const Operation& op, const std::vector<bool>& bits) const {
    const Condition& condition = circuit_.conditions()[static_cast<std::size_t>(op.condition)];
    const Register& creg = circuit_.cregs()[condition.creg];
    std::uint64_t value = 0;
    for (std::uint32_t bit = creg.size; bit-- > 0;) value = 2 * value + (bits[creg.first + bit] ? 1 : 0);
    return (value == condition.value) != condition.negated;
  }

  /// A place in [0, all).
  long double draw(const Shot& shot, long double all) const {
    return std::ldexp(static_cast<long double>(questions_.word(shot.number, shot.drawn)), -64) * all;
  }

  static long double weight(const State& state) {
    long double sum = 0;
    for (const Amplitude& a : state) sum += std::norm(a);
    return sum;
  }

  static State project(const State& state, Qubit qubit, bool one, bool reset) {
    State part(state.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
      if ((i >> qubit & 1) != (one ? 1u : 0u)) continue;
      part[reset ? i & ~(std::size_t{1} << qubit) : i] = state[i];
    }
    return part;
  }

  std::string text(const std::vector<bool>& bits) const {
    std::string result;
    for (const Register& creg : circuit_.cregs()) {
      std::string part;
      for (std::uint32_t bit = 0; bit < creg.size; ++bit) part.insert(part.begin(), bits[creg.first + bit] ? '1' : '0');
      result.insert(0, result.empty() || part.empty() ? part : part + " ");
    }
    return result;
  }

  void read(const State& state, const std::vector<bool>& bits) {
    ++answers_.branches;
    answers_.state = state;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const auto p = static_cast<double>(std::norm(state[i]));
      for (std::size_t qubit = 0; qubit < answers_.marginals.size(); ++qubit) {
        if (i >> qubit & 1) answers_.marginals[qubit] += p;
      }
      for (std::size_t k = 0; k < questions_.probabilities.size(); ++k) {
        const auto& list = questions_.probabilities[k];
        std::size_t value = 0;
        for (std::size_t j = 0; j < list.size(); ++j) value |= (i >> list[j] & 1) << j;
        answers_.probabilities[k][value] += p;
      }
      if (p == 0) continue;
      std::vector<bool> written = bits;
      for (const auto& [qubit, bit] : read_) written[bit] = (i >> qubit & 1) != 0;
      answers_.distribution[text(written)] += p;
    }
    for (std::size_t k = 0; k < questions_.paulis.size(); ++k) {
      answers_.paulis[k] += expectation(state, questions_.paulis[k]);
    }
  }

  /// One draw decides all terminal measurements.
  void sample(const State& state, const std::vector<bool>& bits, const std::vector<Shot>& shots) {
    const long double all = weight(state);
    for (const Shot& shot : shots) {
      const long double drawn = draw(shot, all);
      std::size_t index = 0;
      for (long double end = std::norm(state[0]); drawn >= end && index + 1 < state.size();) {
        end += std::norm(state[++index]);
      }
      std::vector<bool> written = bits;
      for (const auto& [qubit, bit] : read_) written[bit] = (index >> qubit & 1) != 0;
      ++answers_.counts[text(written)];
    }
  }

  static double expectation(const State& state, const PauliString& pauli) {
    long double sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      Amplitude factor = 1;  // <i ^ x| P |i>
      for (unsigned qubit = 0; (std::size_t{1} << qubit) < state.size(); ++qubit) {
        const bool x = pauli.x >> qubit & 1, z = pauli.z >> qubit & 1, one = i >> qubit & 1;
        if (x && z) factor *= Amplitude(0, one ? -1 : 1);
        if (!x && z && one) factor = -factor;
      }
      sum += (std::conj(state[i ^ pauli.x]) * factor * state[i]).real();
    }
    return static_cast<double>(sum);
  }

  const Circuit& circuit_;
  const Questions& questions_;
  std::vector<bool> idle_;  // nor do they draw
  std::vector<std::size_t> terminal_;
  std::vector<std::pair<Qubit, Clbit>> read_;
  Answers answers_;
};

}  // namespace

State zero_state(unsigned qubits) {
  State state(std::size_t{1} << qubits);
  state[0] = 1;
  return state;
}

State random_start(std::uint32_t qubits, std::uint64_t seed, Precision precision) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.start = Start::kRandom;
  options.start_seed = seed;
  options.precision = precision;
  options.amplitude_indices.resize(std::size_t{1} << qubits);
  std::iota(options.amplitude_indices.begin(), options.amplitude_indices.end(), Index{0});
  State state;
  const Result result = simulate(Circuit(qubits), options);
  for (const AmplitudeEntry& entry : result.results.amplitudes.value()) state.emplace_back(entry.value);
  return state;
}

Allowance::Allowance(const Circuit& circuit, Precision precision, const Answers& wanted)
    : amplitude(test::tolerance(precision, std::max<std::uint64_t>(4, circuit.depth()))),
      terms(static_cast<double>(wanted.branches << circuit.qubits())),
      left_out((precision == Precision::kSingle ? 0x1p-42 : 0x1p-60) * terms) {}

double Allowance::of(double probability) const {
  return 2 * amplitude * std::sqrt(terms * probability) + terms * amplitude * amplitude + left_out + 1e-15;
}

Answers walk(const Circuit& circuit, const State& start, const Questions& questions) {
  Walk walk(circuit, start, questions);
  std::vector<Shot> shots;
  for (std::uint64_t number = 0; number < questions.shots; ++number) shots.push_back({number, 0});
  walk.follow(0, start, std::vector<bool>(circuit.clbits(), false), std::move(shots));
  return walk.take();
}

}  // namespace qsim::branching
