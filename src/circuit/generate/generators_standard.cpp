// Textbook circuits: GHZ, Fourier transforms, W state, Bernstein-Vazirani.
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "circuit/generate/generators.h"

namespace qsim::generator {
namespace {

using std::numbers::pi;

void append_ghz(Circuit& circuit) {
  circuit.h(0);
  for (Qubit q = 0; q + 1 < circuit.qubits(); ++q) circuit.cx(q, q + 1);
}

// From the top qubit down; without the swaps the output's qubits are in reversed order.
void append_qft(Circuit& circuit) {
  for (Qubit target = circuit.qubits(); target-- > 0;) {
    circuit.h(target);
    for (Qubit control = target; control-- > 0;) circuit.cp(halved(pi, target - control), control, target);
  }
}

void append_reversal(Circuit& circuit) {
  for (Qubit q = 0; q < circuit.qubits() / 2; ++q) circuit.swap(q, circuit.qubits() - 1 - q);
}

}  // namespace

Circuit make_ghz(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  append_ghz(circuit);
  return circuit;
}

Circuit make_qft_noswap(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  append_qft(circuit);
  return circuit;
}

Circuit make_qft(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  append_qft(circuit);
  append_reversal(circuit);
  return circuit;
}

Circuit make_iqft(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  for (Qubit q = 1; q < options.qubits; q += 2) circuit.x(q);
  const Circuit inverse = make_qft(options).inverse();
  for (const Operation& op : inverse.operations()) circuit.append(inverse, op);
  return circuit;
}

Circuit make_ghz_qft(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  append_ghz(circuit);
  append_qft(circuit);
  append_reversal(circuit);
  return circuit;
}

// The single excitation starts on qubit 0; each step leaves 1/(qubits still to come) of its weight behind.
Circuit make_wstate(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  circuit.x(0);
  for (Qubit q = 0; q + 1 < options.qubits; ++q) {
    rotate(circuit, Gate::kRy, 2 * std::acos(std::sqrt(1.0 / (options.qubits - q))), q, q + 1);
    circuit.cx(q + 1, q);
  }
  return circuit;
}

Circuit make_bv(const GeneratorOptions& options) {
  const Qubit ancilla = options.qubits - 1;
  Circuit circuit(options.qubits, ancilla);
  PhiloxSequence draws(options.seed);
  circuit.x(ancilla);
  for (Qubit q = 0; q < options.qubits; ++q) circuit.h(q);
  for (Qubit q = 0; q < ancilla; ++q) {
    // The last bit is always 1, so that no seed gives the empty oracle.
    if (draws.below(2) == 1 || q + 1 == ancilla) circuit.cx(q, ancilla);
  }
  for (Qubit q = 0; q < ancilla; ++q) circuit.h(q);
  for (Qubit q = 0; q < ancilla; ++q) circuit.add_measure(q, q);
  return circuit;
}

}  // namespace qsim::generator
