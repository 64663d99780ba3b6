// The dense reference: matrices from exponentials of Pauli products and from gate definitions, loops over all indices.
#include "support/dense.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace qsim::dense {
namespace {

using Real = long double;
using Entries = std::vector<WideAmplitude>;
constexpr Real kPi = 3.14159265358979323846264338327950288L;
const WideAmplitude kI(0, 1);

std::size_t order_of(const Entries& m) {
  std::size_t order = 1;
  while (order * order < m.size()) order *= 2;
  return order;
}

Entries times(const Entries& a, const Entries& b) {
  const std::size_t order = order_of(a);
  Entries c(a.size());
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = 0; k < order; ++k) c[i * order + j] += a[i * order + k] * b[k * order + j];
    }
  }
  return c;
}

Entries scaled(Entries m, WideAmplitude factor) {
  for (WideAmplitude& entry : m) entry *= factor;
  return m;
}

// `high` acts on the higher index bits.
Entries kronecker(const Entries& high, const Entries& low) {
  const std::size_t oh = order_of(high), ol = order_of(low), order = oh * ol;
  Entries c(order * order);
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) c[i * order + j] = high[i / ol * oh + j / ol] * low[i % ol * ol + j % ol];
  }
  return c;
}

Entries adjoint(const Entries& m) {
  const std::size_t order = order_of(m);
  Entries c(m.size());
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) c[i * order + j] = std::conj(m[j * order + i]);
  }
  return c;
}

Entries pauli(unsigned letter) {
  if (letter == 1) return {0, 1, 1, 0};
  if (letter == 2) return {0, -kI, kI, 0};
  if (letter == 3) return {1, 0, 0, -1};
  return {1, 0, 0, 1};
}

// exp(-i angle/2 P) = cos(angle/2) 1 - i sin(angle/2) P, because P P = 1. letters[0] acts on bit 0.
Entries pauli_exponential(std::span<const unsigned> letters, Real angle) {
  Entries p = {1};
  for (const unsigned letter : letters) p = kronecker(pauli(letter), p);
  const std::size_t order = order_of(p);
  Entries result = scaled(p, -kI * std::sin(angle / 2));
  for (std::size_t i = 0; i < order; ++i) result[i * order + i] += std::cos(angle / 2);
  return result;
}
Entries rotation(unsigned letter, Real angle) { return pauli_exponential(std::vector<unsigned>{letter}, angle); }
Entries two_qubit_rotation(unsigned letter, Real angle) {
  return pauli_exponential(std::vector<unsigned>{letter, letter}, angle);
}

WideAmplitude phase_of(Real angle) { return {std::cos(angle), std::sin(angle)}; }

Entries phase_gate(Real angle) { return {1, 0, 0, phase_of(angle)}; }

// U(theta, phi, lambda) = e^{i(phi+lambda)/2} Rz(phi) Ry(theta) Rz(lambda): the OpenQASM 2 paper's product, times the
// phase that makes the upper left entry cos(theta/2).
Entries u_gate(Real theta, Real phi, Real lambda) {
  const Entries product = times(rotation(3, phi), times(rotation(2, theta), rotation(3, lambda)));
  return scaled(product, phase_of((phi + lambda) / 2));
}

Entries hadamard() { return u_gate(kPi / 2, 0, kPi); }

// state <- matrix on `targets` where all `controls` are 1, group of amplitudes by group.
template <typename Vector, typename Matrix>
void apply_entries(Vector& state, const Matrix& matrix, std::span<const Qubit> controls,
                   std::span<const Qubit> targets) {
  const std::size_t order = std::size_t{1} << targets.size();
  std::vector<std::size_t> offset(order, 0);
  for (std::size_t value = 0; value < order; ++value) {
    for (std::size_t j = 0; j < targets.size(); ++j) offset[value] |= (value >> j & 1) << targets[j];
  }
  Vector in(order);
  for (std::size_t index = 0; index < state.size(); ++index) {
    bool first = (index & offset[order - 1]) == 0;
    for (const Qubit control : controls) first = first && (index >> control & 1) == 1;
    if (!first) continue;
    for (std::size_t value = 0; value < order; ++value) in[value] = state[index | offset[value]];
    for (std::size_t row = 0; row < order; ++row) {
      typename Vector::value_type sum = 0;
      for (std::size_t column = 0; column < order; ++column) sum += matrix[row * order + column] * in[column];
      state[index | offset[row]] = sum;
    }
  }
}

// Matrix of a sequence of phase gates, hadamards and cx on the last of `qubits` bits; the definition of rccx and rc3x.
struct Step {
  char kind;   // 'h' or 'p' on the last bit, 'c': cx from bit `control`
  Real angle;  // 'p'
  unsigned control;
};
Entries sequence_matrix(unsigned qubits, const std::vector<Step>& steps) {
  const std::size_t order = std::size_t{1} << qubits;
  const Qubit last = qubits - 1;
  Entries matrix(order * order);
  for (std::size_t column = 0; column < order; ++column) {
    WideState state(order);
    state[column] = 1;
    for (const Step& step : steps) {
      if (step.kind == 'h') apply_entries(state, hadamard(), {}, {&last, 1});
      if (step.kind == 'p') apply_entries(state, phase_gate(step.angle), {}, {&last, 1});
      const Qubit control = step.control;
      if (step.kind == 'c') apply_entries(state, pauli(1), {&control, 1}, {&last, 1});
    }
    for (std::size_t row = 0; row < order; ++row) matrix[row * order + column] = state[row];
  }
  return matrix;
}

Entries rccx() {
  const Real t = kPi / 4;
  return sequence_matrix(3, {{'h', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 1},
                             {'p', -t, 0},
                             {'c', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 1},
                             {'p', -t, 0},
                             {'h', 0, 0}});
}

Entries rc3x() {
  const Real t = kPi / 4;
  return sequence_matrix(4, {{'h', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 2},
                             {'p', -t, 0},
                             {'h', 0, 0},
                             {'c', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 1},
                             {'p', -t, 0},
                             {'c', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 1},
                             {'p', -t, 0},
                             {'h', 0, 0},
                             {'p', t, 0},
                             {'c', 0, 2},
                             {'p', -t, 0},
                             {'h', 0, 0}});
}

// A square root of X: half of the turn that rx makes, with the phase that makes its square X and not -iX.
Entries root_x() { return scaled(rotation(1, kPi / 2), phase_of(kPi / 4)); }

Entries cx_matrix(bool from_low) {
  return from_low ? Entries{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}
                  : Entries{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0};
}

// (pauli(a) on the first qubit, pauli(b) on the second) as exp(-i angle/2 ...).
Entries pair_rotation(unsigned a, unsigned b, Real angle) {
  return pauli_exponential(std::vector<unsigned>{a, b}, angle);
}

// rz(-+beta) on the first qubit behind exp(-i theta/2 (XX +- YY)/2) behind its inverse: XX and YY commute.
Entries xx_yy(Real theta, Real beta, int sign) {
  const Entries turn = times(pair_rotation(1, 1, theta / 2), pair_rotation(2, 2, sign * theta / 2));
  const auto phase_on_first = [](Real angle) { return kronecker(pauli(0), rotation(3, angle)); };
  return times(phase_on_first(-sign * beta), times(turn, phase_on_first(sign * beta)));
}

// exp(i pi/4 XX) exp(i pi/4 YY), XX and YY commute.
Entries iswap() { return times(pair_rotation(1, 1, -kPi / 2), pair_rotation(2, 2, -kPi / 2)); }

// The echo of its name: rzx by a quarter, x on the first qubit, rzx by a quarter back.
Entries ecr() {
  const Entries x_on_first = kronecker(pauli(0), pauli(1));
  return times(pair_rotation(3, 1, -kPi / 4), times(x_on_first, pair_rotation(3, 1, kPi / 4)));
}

Entries wide_gate_matrix(Gate gate, std::span<const double> p) {
  switch (gate) {
    case Gate::kId:
      return pauli(0);
    case Gate::kU0:
      return pauli(0);
    case Gate::kX:
      return pauli(1);
    case Gate::kY:
      return pauli(2);
    case Gate::kZ:
      return pauli(3);
    case Gate::kH:
      return hadamard();
    case Gate::kS:
      return phase_gate(kPi / 2);
    case Gate::kSdg:
      return phase_gate(-kPi / 2);
    case Gate::kT:
      return phase_gate(kPi / 4);
    case Gate::kTdg:
      return phase_gate(-kPi / 4);
    case Gate::kSx:
      return root_x();
    case Gate::kSxdg:
      return adjoint(root_x());
    case Gate::kRx:
      return rotation(1, p[0]);
    case Gate::kRy:
      return rotation(2, p[0]);
    case Gate::kRz:
      return rotation(3, p[0]);
    case Gate::kPhase:
      return phase_gate(p[0]);
    case Gate::kU2:
      return u_gate(kPi / 2, p[0], p[1]);
    case Gate::kU:
      return u_gate(p[0], p[1], p[2]);
    case Gate::kUPhase:
      return scaled(u_gate(p[0], p[1], p[2]), phase_of(p[3]));
    case Gate::kSwap:
      return {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    case Gate::kRxx:
      return two_qubit_rotation(1, p[0]);
    case Gate::kRyy:
      return two_qubit_rotation(2, p[0]);
    case Gate::kRzz:
      return two_qubit_rotation(3, p[0]);
    case Gate::kRccx:
      return rccx();
    case Gate::kRc3x:
      return rc3x();
    case Gate::kRc3xdg:
      return adjoint(rc3x());
    case Gate::kR:
      return times(rotation(3, p[1]), times(rotation(1, p[0]), rotation(3, -p[1])));
    case Gate::kDcx:
      return times(cx_matrix(false), cx_matrix(true));
    case Gate::kDcxdg:
      return times(cx_matrix(true), cx_matrix(false));
    case Gate::kIswap:
      return iswap();
    case Gate::kEcr:
      return ecr();
    case Gate::kRzx:
      return pair_rotation(3, 1, p[0]);
    case Gate::kXxMinusYy:
      return xx_yy(p[0], p[1], -1);
    case Gate::kXxPlusYy:
      return xx_yy(p[0], p[1], 1);
  }
  throw std::invalid_argument("the dense reference does not know this gate");
}

Entries wide_operation_matrix(const Circuit& circuit, const Operation& op) {
  const auto values = circuit.params(op);
  if (op.kind == OpKind::kGate) return wide_gate_matrix(op.gate, values);
  if (op.kind == OpKind::kPauliRotation) {
    const auto letters = circuit.letters(op);
    return pauli_exponential(std::vector<unsigned>(letters.begin(), letters.end()), values[0]);
  }
  if (op.kind != OpKind::kUnitary) throw std::invalid_argument("not a unitary operation");
  Entries matrix;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) matrix.emplace_back(values[i], values[i + 1]);
  return matrix;
}

std::vector<Amplitude> narrow(const Entries& entries) {
  std::vector<Amplitude> result;
  for (const WideAmplitude& entry : entries) result.emplace_back(entry);
  return result;
}

// Every unitary operation of the circuit.
template <typename Vector, typename Apply>
Vector run_all(const Circuit& circuit, Vector state, const Apply& apply_one) {
  for (const Operation& op : circuit.operations()) {
    if (op.condition >= 0 || op.kind == OpKind::kReset) throw std::invalid_argument("the circuit has a reset or an if");
    if (op.kind == OpKind::kBarrier || op.kind == OpKind::kMeasure) continue;
    apply_one(state, op);
  }
  return state;
}

}  // namespace

std::vector<Amplitude> gate_matrix(Gate gate, std::span<const double> params) {
  return narrow(wide_gate_matrix(gate, params));
}

std::vector<Amplitude> operation_matrix(const Circuit& circuit, const Operation& op) {
  return narrow(wide_operation_matrix(circuit, op));
}

State run_wide(const Circuit& circuit, const State& start) {
  return narrow(run_all(circuit, WideState(start.begin(), start.end()), [&](WideState& state, const Operation& op) {
    apply_entries(state, wide_operation_matrix(circuit, op), circuit.controls(op), circuit.targets(op));
  }));
}

void apply_matrix(State& state, std::span<const Amplitude> matrix, std::span<const Qubit> controls,
                  std::span<const Qubit> targets) {
  apply_entries(state, matrix, controls, targets);
}

void apply(State& state, const Circuit& circuit, const Operation& op) {
  apply_matrix(state, operation_matrix(circuit, op), circuit.controls(op), circuit.targets(op));
}

State zero_state(unsigned qubits) {
  State state(std::size_t{1} << qubits);
  state[0] = 1;
  return state;
}

State random_state(unsigned qubits, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  State state(std::size_t{1} << qubits);
  double total = 0;
  for (Amplitude& amplitude : state) {
    const double re = normal(generator), im = normal(generator);
    amplitude = {re, im};
    total += re * re + im * im;
  }
  for (Amplitude& amplitude : state) amplitude /= std::sqrt(total);
  return state;
}

State run(const Circuit& circuit, State start) {
  return run_all(circuit, std::move(start), [&](State& state, const Operation& op) { apply(state, circuit, op); });
}

State run(const Circuit& circuit) { return run(circuit, zero_state(circuit.qubits())); }

namespace {

// One branch: an unnormalised state whose squared norm is the branch's probability.
void follow(const Circuit& circuit, std::size_t position, State state, std::uint64_t bits,
            std::map<std::uint64_t, double>& outcomes) {
  constexpr double kNegligible = 1e-14;
  for (; position < circuit.operations().size(); ++position) {
    const Operation& op = circuit.operations()[position];
    if (op.kind == OpKind::kBarrier) continue;
    if (op.condition >= 0) {
      const Condition& condition = circuit.conditions()[static_cast<std::size_t>(op.condition)];
      const Register& creg = circuit.cregs()[condition.creg];
      std::uint64_t value = 0;
      for (std::uint32_t i = 0; i < creg.size; ++i) value |= (bits >> (creg.first + i) & 1) << i;
      if ((value == condition.value) == condition.negated) continue;
    }
    if (op.kind != OpKind::kMeasure && op.kind != OpKind::kReset) {
      apply(state, circuit, op);
      continue;
    }
    const Qubit qubit = circuit.targets(op)[0];
    for (std::size_t outcome = 0; outcome < 2; ++outcome) {
      State branch(state.size());
      for (std::size_t index = 0; index < state.size(); ++index) {
        if ((index >> qubit & 1) != outcome) continue;
        const std::size_t place = op.kind == OpKind::kReset ? index & ~(std::size_t{1} << qubit) : index;
        branch[place] = state[index];
      }
      if (norm(branch) < kNegligible) continue;
      std::uint64_t branch_bits = bits;
      if (op.kind == OpKind::kMeasure) {
        const std::uint64_t bit = std::uint64_t{1} << circuit.clbit(op);
        branch_bits = outcome == 1 ? bits | bit : bits & ~bit;
      }
      follow(circuit, position + 1, std::move(branch), branch_bits, outcomes);
    }
    return;
  }
  outcomes[bits] += norm(state);
}

}  // namespace

std::map<std::uint64_t, double> distribution(const Circuit& circuit) {
  std::map<std::uint64_t, double> outcomes;
  follow(circuit, 0, zero_state(circuit.qubits()), 0, outcomes);
  return outcomes;
}

double norm(const State& state) {
  double total = 0;
  for (const Amplitude& amplitude : state) total += std::norm(amplitude);
  return total;
}

double max_difference(const State& a, const State& b) {
  if (a.size() != b.size()) throw std::invalid_argument("states of different sizes");
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= worst)) worst = std::isfinite(difference) ? difference : 1e300;
  }
  return worst;
}

double max_difference_up_to_phase(const State& a, const State& b) {
  Amplitude overlap = 0;
  for (std::size_t i = 0; i < a.size(); ++i) overlap += std::conj(b[i]) * a[i];
  const Amplitude factor = std::abs(overlap) > 0 ? overlap / std::abs(overlap) : Amplitude(1);
  State turned = b;
  for (Amplitude& amplitude : turned) amplitude *= factor;
  return max_difference(a, turned);
}

std::vector<Amplitude> circuit_matrix(const Circuit& circuit) {
  const std::size_t order = std::size_t{1} << circuit.qubits();
  std::vector<Amplitude> matrix(order * order);
  for (std::size_t column = 0; column < order; ++column) {
    State state(order);
    state[column] = 1;
    state = run(circuit, std::move(state));
    for (std::size_t row = 0; row < order; ++row) matrix[row * order + column] = state[row];
  }
  return matrix;
}

}  // namespace qsim::dense
