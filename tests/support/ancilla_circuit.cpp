#include "support/ancilla_circuit.h"

#include <algorithm>
#include <initializer_list>
#include <numbers>

namespace qsim::test {

void append_toffoli(Circuit& circuit, Qubit a, Qubit b, Qubit t) {
  circuit.h(t).cx(b, t).tdg(t).cx(a, t).t(t).cx(b, t).tdg(t).cx(a, t).t(b).t(t).h(t);
  circuit.cx(a, b).t(a).tdg(b).cx(a, b);
}

void append_margolus(Circuit& circuit, Qubit a, Qubit b, Qubit t) {
  circuit.h(t).t(t).cx(b, t).tdg(t).cx(a, t).t(t).cx(b, t).tdg(t).h(t);
}

void append_chain(Circuit& circuit, unsigned controls, AppendToffoli outer, AppendToffoli inner) {
  const Qubit target = 2 * controls - 2;
  outer(circuit, 0, 1, controls);
  for (Qubit c = 2; c + 1 < controls; ++c) outer(circuit, c, controls + c - 2, controls + c - 1);
  inner(circuit, controls - 1, 2 * controls - 3, target);
  for (Qubit c = controls - 2; c >= 2; --c) outer(circuit, c, controls + c - 2, controls + c - 1);
  outer(circuit, 0, 1, controls);
}

Circuit busy_ancillas(const AncillaCircuitOptions& options, std::mt19937_64& random) {
  const std::uint32_t qubits = options.qubits;
  const auto pick = [&](std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); };
  const Qubit ancillas = qubits / 2;  // from there on
  Circuit circuit(qubits);
  const Parameter parameters[] = {Parameter{"a"}, Parameter{"b"}};
  for (Qubit q = 0; q < ancillas; ++q) {
    if (pick(3) != 0) circuit.ry(0.1 + 0.3 * q, q);
  }
  const auto other = [&](std::initializer_list<Qubit> taken, std::uint32_t first) {
    Qubit q = 0;
    do {
      q = first + pick(qubits - first);
    } while (std::ranges::find(taken, q) != taken.end());
    return q;
  };
  for (unsigned piece = 0; piece < options.pieces; ++piece) {
    const Qubit a = other({}, 0), b = other({a}, 0), t = other({a, b}, pick(4) == 0 ? 0 : ancillas);
    const Qubit u = other({a, b, t}, 0);
    const bool relative = pick(2) == 0, native = pick(3) == 0;
    const auto pair = [&] {
      native ? void(circuit.ccx(a, b, t)) : (relative ? append_margolus : append_toffoli)(circuit, a, b, t);
    };
    switch (pick(6)) {
      case 0:
        append_toffoli(circuit, a, b, t);
        break;
      case 1:
        circuit.h(a).t(a).cx(a, b);
        break;
      case 2:
        circuit.x(t).ry(0.7, u).crx(std::numbers::pi / 4, a, b);
        break;
      default:
        pair();
        if (pick(2) == 0) append_toffoli(circuit, t, a, u);
        circuit.cx(t, u).cp(std::numbers::pi / 4, t, u);
        if (pick(3) == 0) circuit.h(u);
        if (pick(5) != 0) pair();
    }
    if (!options.open) continue;
    switch (pick(3)) {
      case 0:
        circuit.cp(0.5 * parameters[pick(2)], a, t);
        break;
      case 1:
        circuit.ry(parameters[pick(2)], u);
        break;
      default:
        circuit.rz(parameters[pick(2)] + 0.2, t).crx(parameters[pick(2)], a, b);
    }
  }
  return circuit;
}

}  // namespace qsim::test
