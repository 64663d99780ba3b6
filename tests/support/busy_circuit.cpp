// Written out with a generator of its own, so that the circuits stay what they are.
#include "support/busy_circuit.h"

#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include "support/random_circuit.h"

namespace qsim::test {

Matrix phased_swap(double angle) {
  const Complex phase = std::polar(1.0, angle);
  return {1, 0, 0, 0, 0, 0, phase, 0, 0, phase, 0, 0, 0, 0, 0, 1};
}

Matrix controlled(const Matrix& matrix, int bit) {
  Matrix result(16);
  const std::size_t control = std::size_t{1} << bit, target = 3 - control;
  for (std::size_t i = 0; i < 4; ++i) {
    if ((i & control) == 0) {
      result[5 * i] = 1;
    } else {
      for (const std::size_t j : {control, control | target})
        result[4 * i + j] = matrix[2 * static_cast<std::size_t>((i & target) != 0) + ((j & target) != 0 ? 1 : 0)];
    }
  }
  return result;
}

Circuit busy_circuit(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
  const std::uint32_t qubits = 2 + pick(4);
  Circuit circuit(qubits);
  for (int i = 0; i < 40; ++i) {
    const Qubit a = pick(qubits), b = (a + 1 + pick(qubits - 1)) % qubits;
    const double angle = 0.1 + 0.01 * pick(300);
    switch (pick(18)) {
      case 0:
        circuit.add_gate(Gate::kRz, {}, std::span(&b, 1), std::span(&angle, 1));
        break;
      case 1:
        circuit.add_gate(Gate::kT, {}, std::span(&b, 1));
        break;
      case 2:
        circuit.h(b);
        break;
      case 3:
        circuit.cp(angle, a, b);
        break;
      case 4:
        circuit.add_pauli_rotation(angle, "ZZ", std::vector<Qubit>{a, b});
        break;
      case 5:
        circuit.cx(a, b);
        circuit.add_gate(Gate::kPhase, {}, std::span(&b, 1), std::span(&angle, 1));
        circuit.cx(a, b);
        break;
      case 6:
        circuit.add_gate(Gate::kS, {}, std::span(&a, 1));
        circuit.add_gate(Gate::kSdg, {}, std::span(&a, 1));
        break;
      case 7:
        circuit.swap(a, b);
        break;
      case 8:
        circuit.add_unitary(phased_swap(angle), {}, std::vector<Qubit>{a, b});
        break;
      case 9:
        circuit.add_unitary(controlled(random_unitary(1, seed + static_cast<unsigned>(i)), i % 2), {},
                            std::vector<Qubit>{a, b});
        break;
      case 10:
        circuit.add_gate(Gate::kU, {}, std::span(&b, 1), std::vector<double>{angle, 2 * angle, 1 - angle});
        break;
      case 11:
        circuit.add_gate(Gate::kRzz, {}, std::vector<Qubit>{a, b}, std::span(&angle, 1));
        break;
      case 12:
        circuit.add_gate(Gate::kRy, {}, std::span(&a, 1), std::span(&angle, 1));
        break;
      case 13:  // a rotation that other qubits choose
        for (int part = 0; part < 4; ++part) {
          circuit.ry(angle + part, b);
          circuit.cx(part % 2 == 0 ? a : (b + qubits - 1) % qubits, b);
          if (part == 2 && angle > 2) circuit.x(b);
        }
        break;
      case 14: {  // a Toffoli gate, or one up to phases
        const Qubit c = (b + 1) % qubits;
        if (c == a) break;
        const double t = angle < 1.5 ? 0.25 * std::numbers::pi : angle;
        circuit.h(b).cx(c, b).p(-t, b).cx(a, b).p(t, b).cx(c, b).p(-t, b).cx(a, b).p(t, b).h(b);
        if (angle < 2.5) circuit.p(t, c).cx(a, c).p(t, a).p(-t, c).cx(a, c);
        break;
      }
      default:
        circuit.cx(a, b);
    }
  }
  return circuit;
}

}  // namespace qsim::test
