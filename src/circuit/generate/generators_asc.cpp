// The ASC20-21 QuEST challenge's circuits that are given by a rule. Their Fourier transforms use crz, not cp.
#include <cstdint>
#include <numbers>

#include "circuit/generate/generators.h"

namespace qsim::generator {
namespace {

using std::numbers::pi;
constexpr std::uint32_t kPartnerDistance = 17;  // fixed by the challenge, whatever the number of qubits

/// pi / 2^distance as the challenge's programs compute it, and so as its published outputs have it: their power of two
/// is a 32-bit integer, negative at distance 31 and 1 again at 32.
double challenge_angle(std::uint32_t distance) {
  return pi / static_cast<std::int32_t>(std::uint32_t{1} << distance % 32);
}

void append_crz_qft(Circuit& circuit, Qubit qubits) {
  for (Qubit b = 0; b < qubits; ++b) {
    for (Qubit a = 0; a < b; ++a) rotate(circuit, Gate::kRz, challenge_angle(b - a), a, b);
    circuit.h(b);
  }
}

void append_crz_inverse_qft(Circuit& circuit, Qubit qubits) {
  for (Qubit b = qubits; b-- > 0;) {
    circuit.h(b);
    for (Qubit a = b; a-- > 0;) rotate(circuit, Gate::kRz, -challenge_angle(b - a), a, b);
  }
}

}  // namespace

Circuit make_asc_ghz_qft(const GeneratorOptions& options) {
  Circuit circuit(options.qubits);
  circuit.h(0);
  for (Qubit q = 0; q + 1 < options.qubits; ++q) circuit.cx(q, q + 1);
  append_crz_qft(circuit, options.qubits - 1);
  return circuit;
}

Circuit make_inv_qft(const GeneratorOptions& options) {
  const std::uint32_t n = options.qubits;
  Circuit circuit(n);
  for (Qubit q = 0; q < n; ++q) circuit.h(q);
  for (Qubit q = 0; q < n; ++q) {
    const Qubit partner = (q + kPartnerDistance) % n;
    rotate(circuit, Gate::kRx, pi / (q + 1), q, partner);
    rotate(circuit, Gate::kRy, pi / (q + 1), q, partner);
  }
  append_crz_inverse_qft(circuit, n);
  return circuit;
}

Circuit make_qft_inv_qft(const GeneratorOptions& options) {
  Circuit circuit = make_inv_qft(options);
  append_crz_qft(circuit, options.qubits);
  append_crz_inverse_qft(circuit, options.qubits);
  return circuit;
}

Circuit make_shor(const GeneratorOptions& options) {
  const std::uint32_t n = options.qubits, half = (n - 1) / 2;
  Circuit circuit(n);
  for (Qubit q = 0; q < half; ++q) circuit.h(q);
  for (Qubit q = 0; q < n; ++q) {
    rotate(circuit, Gate::kRx, challenge_angle(q), q, (q + half) % n);
    rotate(circuit, Gate::kRy, challenge_angle(q), q, (q + half) % n);
  }
  for (Qubit q = 0; q < half; ++q) circuit.cx(q, q + half);
  append_crz_inverse_qft(circuit, half);
  for (Qubit q = 0; q < half / 2; ++q) circuit.swap(q, half - 1 - q);
  return circuit;
}

}  // namespace qsim::generator
