#include "support/pair_circuits.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace qsim::test {
namespace {

constexpr double kPi = std::numbers::pi;

}  // namespace

void any_gate(Circuit& circuit, Random& random, Qubit q) {
  circuit.u(random.within(-3, 3), random.within(-3, 3), random.within(-3, 3), q);
}

void pairs_of_every_class(Circuit& circuit, Random& random, Qubit a, Qubit b) {
  const double t = random.within(-2, 2);
  const auto sign = [&] { return random.below(2) == 0 ? 1.0 : -1.0; };
  switch (random.below(12)) {
    case 0:
      circuit.cx(a, b);
      break;
    case 1:
      circuit.cx(a, b).cx(b, a);
      break;
    case 2:
      circuit.swap(a, b);
      break;
    case 3:
      circuit.iswap(a, b);
      break;
    case 4:
      circuit.rxx(t, a, b).ryy(sign() * t, a, b);
      break;
    case 5:
      circuit.rxx(sign() * t, a, b).ryy(sign() * t, a, b).rzz(t, a, b);
      break;
    case 6:
      circuit.rxx(t, a, b).ryy(random.within(-2, 2), a, b).rzz(random.within(-2, 2), a, b);
      break;
    case 7:
      circuit.swap(a, b).cz(a, b).rzz(t, a, b);
      break;
    case 8:
      circuit.cp(t, a, b);
      break;
    case 9:
      circuit.cz(a, b).rzz(kPi / 2 * random.below(4), a, b);
      break;
    case 10:
      circuit.cx(a, b).rxx(t, a, b);
      break;
    default:
      circuit.cu3(t, random.within(-3, 3), random.within(-3, 3), a, b);
  }
  if (random.below(2) == 0) {
    circuit.rz(kPi / 4 * random.below(8), a).h(b);
  } else if (random.below(3) == 0) {
    any_gate(circuit, random, a);
    any_gate(circuit, random, b);
  }
}

void beside_special(Circuit& circuit, Random& random, Qubit a, Qubit b) {
  const auto off = [&] {
    constexpr std::array<double, 8> kOff{0, 1e-16, -1e-15, 3e-15, 1e-14, 1e-12, 1e-9, -1e-6};
    return kOff[random.below(8)];
  };
  circuit.rz(kPi / 4 * random.below(8) + off(), a).ry(kPi / 2 * random.below(4) + off(), b);
  switch (random.below(4)) {
    case 0:
      circuit.rzz(kPi / 2 + off(), a, b);
      break;
    case 1:
      circuit.rxx(kPi / 2 + off(), a, b).ryy(kPi / 2 + off(), a, b).rzz(kPi / 2 + off(), a, b);
      break;
    case 2:
      circuit.rxx(0.7 + off(), a, b).ryy(0.7, a, b);
      break;
    default:
      circuit.cx(a, b).rx(off(), b).cx(a, b);
  }
}

Circuit spread(const Circuit& circuit, Random& random) {
  Circuit out(circuit.qubits());
  std::vector<Matrix> run(circuit.qubits(), Matrix{1, 0, 0, 1});
  const auto then = [&](Qubit q, const Matrix& next) {
    const Matrix& m = run[q];
    run[q] = {next[0] * m[0] + next[1] * m[2], next[0] * m[1] + next[1] * m[3], next[2] * m[0] + next[3] * m[2],
              next[2] * m[1] + next[3] * m[3]};
  };
  const auto turn = [](double angle, bool about_x) {
    Circuit one(1);
    about_x ? one.rx(angle, 0) : one.rz(angle, 0);
    return one.matrix(one.operations()[0]);
  };
  const auto flush = [&](Qubit q) { out.add_unitary(std::exchange(run[q], {1, 0, 0, 1}), {}, {&q, 1}, false); };
  for (const Operation& op : circuit.operations()) {
    const Qubit target = circuit.targets(op)[0];
    if (op.controls == 0) {
      then(target, circuit.matrix(op));
      continue;
    }
    const Qubit control = circuit.controls(op)[0];
    const double a = random.within(-3, 3), b = random.within(-3, 3);
    then(control, turn(a, false));
    then(target, turn(b, true));
    flush(control);
    flush(target);
    out.cx(control, target);
    then(control, turn(-a, false));
    then(target, turn(-b, true));
  }
  for (Qubit q = 0; q < circuit.qubits(); ++q) flush(q);
  return out;
}

Rewritten on_own_wires(Rewritten rewritten) {
  std::vector<Qubit> wire_of = std::exchange(rewritten.wire_of, {});
  for (Qubit q = 0; q < wire_of.size(); ++q) {
    while (wire_of[q] != q) {
      const auto other = static_cast<Qubit>(std::ranges::find(wire_of, q) - wire_of.begin());
      rewritten.circuit.swap(q, wire_of[q]);
      wire_of[other] = std::exchange(wire_of[q], q);
    }
  }
  return rewritten;
}

}  // namespace qsim::test
