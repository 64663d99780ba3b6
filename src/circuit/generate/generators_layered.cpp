// Circuits made of layers: random, quantum volume, supremacy, Trotter steps, QAOA.
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "circuit/gate_table.h"
#include "circuit/generate/generators.h"

namespace qsim::generator {
namespace {

using std::numbers::pi;

std::vector<Qubit> shuffled_qubits(std::uint32_t qubits, PhiloxSequence& draws) {
  std::vector<Qubit> order(qubits);
  std::iota(order.begin(), order.end(), Qubit{0});
  for (std::uint32_t i = qubits; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

void add_u(Circuit& circuit, double theta, double phi, double lambda, Qubit target) {
  const std::array<double, 3> angles = {theta, phi, lambda};
  circuit.add_gate(Gate::kU, {}, {&target, 1}, angles);
}

void hadamard_all(Circuit& circuit) {
  for (Qubit q = 0; q < circuit.qubits(); ++q) circuit.h(q);
}

void add_pair(Circuit& circuit, Gate gate, double angle, Qubit a, Qubit b) {
  const std::array<Qubit, 2> targets = {a, b};
  circuit.add_gate(gate, {}, targets, {&angle, 1});
}

// Bonds of a chain, the even ones first so that each half can run at once; `ring` closes it.
std::vector<std::pair<Qubit, Qubit>> chain_bonds(std::uint32_t qubits, bool ring) {
  std::vector<std::pair<Qubit, Qubit>> bonds;
  for (Qubit first : {Qubit{0}, Qubit{1}}) {
    for (Qubit q = first; q + 1 < qubits; q += 2) bonds.emplace_back(q, q + 1);
  }
  if (ring && qubits > 2) bonds.emplace_back(qubits - 1, 0);
  return bonds;
}

}  // namespace

Circuit make_random(const GeneratorOptions& options) {
  static constexpr std::array<Gate, 9> kGates = {Gate::kX, Gate::kY,  Gate::kZ,  Gate::kH, Gate::kS,
                                                 Gate::kT, Gate::kRx, Gate::kRy, Gate::kRz};
  Circuit circuit(options.qubits);
  PhiloxSequence draws(options.seed);
  for (std::uint32_t layer = 0; layer < options.depth; ++layer) {
    for (Qubit q = 0; q < options.qubits; ++q) {
      const Gate gate = kGates[draws.below(kGates.size())];
      if (gate_info(gate).params == 1) {
        rotate(circuit, gate, draws.uniform(0, 2 * pi), q);
      } else {
        circuit.add_gate(gate, {}, {&q, 1});
      }
    }
    const std::vector<Qubit> order = shuffled_qubits(options.qubits, draws);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      circuit.add_gate(draws.below(2) == 0 ? Gate::kX : Gate::kZ, {&order[i], 1}, {&order[i + 1], 1});
    }
  }
  return circuit;
}

Circuit make_qv(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  PhiloxSequence draws(options.seed);
  const auto generic_u = [&](Qubit q) {
    const double theta = draws.uniform(0, pi), phi = draws.uniform(-pi, pi);
    add_u(circuit, theta, phi, draws.uniform(-pi, pi), q);
  };
  for (std::uint32_t layer = 0; layer < options.depth; ++layer) {
    const std::vector<Qubit> order = shuffled_qubits(options.qubits, draws);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      // Three cx with free single-qubit gates around them reach every two-qubit gate.
      for (int step = 0; step < 4; ++step) {
        generic_u(order[i]);
        generic_u(order[i + 1]);
        if (step < 3) circuit.cx(order[i], order[i + 1]);
      }
    }
  }
  return circuit;
}

// Grid circuits of Boixo et al., "Characterizing quantum supremacy in near-term devices": eight alternating cz
// patterns; a qubit that rests after a cz gets t the first time, later one of t, sqrt(x), sqrt(y) that differs from its
// last.
Circuit make_supremacy(const GeneratorOptions& options) {
  const std::uint32_t qubits = options.qubits;
  const auto rows = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(qubits)));
  const std::uint32_t columns = (qubits + rows - 1) / rows;
  Circuit circuit(qubits);
  PhiloxSequence draws(options.seed);
  hadamard_all(circuit);
  std::vector<int> last_gate(qubits, -1);  // 0 t, 1 sqrt(x), 2 sqrt(y)
  std::vector<bool> had_cz(qubits, true);
  for (std::uint32_t layer = 0; layer < options.depth; ++layer) {
    const bool horizontal = layer % 2 == 0;
    const std::uint32_t pattern = layer / 2 % 4;
    std::vector<std::pair<Qubit, Qubit>> pairs;
    std::vector<bool> has_cz(qubits, false);
    for (Qubit q = 0; q < qubits; ++q) {
      const std::uint32_t row = q / columns, column = q % columns;
      const Qubit other = horizontal ? q + 1 : q + columns;
      if (other >= qubits || (horizontal && column + 1 == columns)) continue;
      const std::uint32_t along = horizontal ? column : row, across = horizontal ? row : column;
      if ((along + 2 * (across % 2)) % 4 != pattern) continue;
      pairs.emplace_back(q, other);
      has_cz[q] = has_cz[other] = true;
    }
    for (Qubit q = 0; q < qubits; ++q) {
      if (has_cz[q] || !had_cz[q]) continue;
      const int last = last_gate[q];
      last_gate[q] = last < 0 ? 0 : (last + 1 + static_cast<int>(draws.below(2))) % 3;
      if (last_gate[q] == 0) add_u(circuit, 0, 0, pi / 4, q);
      if (last_gate[q] == 1) add_u(circuit, pi / 2, -pi / 2, pi / 2, q);
      if (last_gate[q] == 2) add_u(circuit, pi / 2, 0, 0, q);
    }
    for (const auto& [a, b] : pairs) circuit.add_gate(Gate::kZ, {&a, 1}, {&b, 1});
    had_cz = has_cz;
  }
  hadamard_all(circuit);
  return circuit;
}

Circuit make_ising(const GeneratorOptions& options) {
  constexpr double kBondAngle = 0.2, kFieldAngle = 0.14;  // 2 J dt, 2 h dt with J = 1, h = 0.7, dt = 0.1
  Circuit circuit(options.qubits);
  hadamard_all(circuit);
  const auto bonds = chain_bonds(options.qubits, true);
  for (std::uint32_t step = 0; step < options.depth; ++step) {
    for (const auto& [a, b] : bonds) {
      circuit.cx(a, b);
      rotate(circuit, Gate::kRz, kBondAngle, b);
      circuit.cx(a, b);
    }
    for (Qubit q = 0; q < options.qubits; ++q) rotate(circuit, Gate::kRx, kFieldAngle, q);
  }
  return circuit;
}

Circuit make_heisenberg(const GeneratorOptions& options) {
  constexpr double kBondAngle = 0.2, kFieldAngle = 0.1;
  Circuit circuit(options.qubits);
  // Neel state: anything but a product of equal spins, which the bonds would leave alone.
  for (Qubit q = 1; q < options.qubits; q += 2) circuit.x(q);
  const auto bonds = chain_bonds(options.qubits, false);
  for (std::uint32_t step = 0; step < options.depth; ++step) {
    for (const auto& [a, b] : bonds) {
      for (const Gate gate : {Gate::kRxx, Gate::kRyy, Gate::kRzz}) add_pair(circuit, gate, kBondAngle, a, b);
    }
    for (Qubit q = 0; q < options.qubits; ++q) rotate(circuit, Gate::kRz, kFieldAngle, q);
  }
  return circuit;
}

Circuit make_qaoa(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  PhiloxSequence draws(options.seed);
  auto edges = chain_bonds(options.qubits, true);
  const std::vector<Qubit> order = shuffled_qubits(options.qubits, draws);
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) edges.emplace_back(order[i], order[i + 1]);
  hadamard_all(circuit);
  for (std::uint32_t layer = 0; layer < options.depth; ++layer) {
    // Linear annealing schedule: the problem grows while the mixer fades.
    const double progress = (layer + 0.5) / options.depth;
    for (const auto& [a, b] : edges) add_pair(circuit, Gate::kRzz, 0.8 * progress, a, b);
    for (Qubit q = 0; q < options.qubits; ++q) rotate(circuit, Gate::kRx, 1.6 * (1 - progress), q);
  }
  return circuit;
}

}  // namespace qsim::generator
