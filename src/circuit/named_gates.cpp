// The gates by their names.
#include <array>
#include <initializer_list>
#include <span>

#include "qsim/circuit.h"

namespace qsim {
namespace {

using Qubits = std::initializer_list<Qubit>;
using Angles = std::initializer_list<Angle>;

Circuit& put(Circuit& to, Gate gate, Qubits controls, Qubits targets) {
  return to.add_gate(gate, {controls.begin(), controls.size()}, {targets.begin(), targets.size()});
}

Circuit& put(Circuit& to, Gate gate, std::span<const Angle> angles, std::initializer_list<ControlQubit> controls,
             Qubits targets) {
  return to.apply(gate, {controls.begin(), controls.size()}, {targets.begin(), targets.size()}, angles);
}

Circuit& turn(Circuit& to, Gate gate, const Angle& angle, Qubits targets,
              std::initializer_list<ControlQubit> controls = {}) {
  return put(to, gate, {&angle, 1}, controls, targets);
}

Circuit& turn(Circuit& to, Gate gate, Angles angles, Qubits targets,
              std::initializer_list<ControlQubit> controls = {}) {
  return put(to, gate, {angles.begin(), angles.size()}, controls, targets);
}

}  // namespace

Circuit& Circuit::id(Qubit q) { return put(*this, Gate::kId, {}, {q}); }
Circuit& Circuit::x(Qubit q) { return put(*this, Gate::kX, {}, {q}); }
Circuit& Circuit::y(Qubit q) { return put(*this, Gate::kY, {}, {q}); }
Circuit& Circuit::z(Qubit q) { return put(*this, Gate::kZ, {}, {q}); }
Circuit& Circuit::h(Qubit q) { return put(*this, Gate::kH, {}, {q}); }
Circuit& Circuit::s(Qubit q) { return put(*this, Gate::kS, {}, {q}); }
Circuit& Circuit::sdg(Qubit q) { return put(*this, Gate::kSdg, {}, {q}); }
Circuit& Circuit::t(Qubit q) { return put(*this, Gate::kT, {}, {q}); }
Circuit& Circuit::tdg(Qubit q) { return put(*this, Gate::kTdg, {}, {q}); }
Circuit& Circuit::sx(Qubit q) { return put(*this, Gate::kSx, {}, {q}); }
Circuit& Circuit::sxdg(Qubit q) { return put(*this, Gate::kSxdg, {}, {q}); }
Circuit& Circuit::swap(Qubit a, Qubit b) { return put(*this, Gate::kSwap, {}, {a, b}); }
Circuit& Circuit::iswap(Qubit a, Qubit b) { return put(*this, Gate::kIswap, {}, {a, b}); }
Circuit& Circuit::dcx(Qubit a, Qubit b) { return put(*this, Gate::kDcx, {}, {a, b}); }
Circuit& Circuit::dcxdg(Qubit a, Qubit b) { return put(*this, Gate::kDcxdg, {}, {a, b}); }
Circuit& Circuit::ecr(Qubit a, Qubit b) { return put(*this, Gate::kEcr, {}, {a, b}); }
Circuit& Circuit::rccx(Qubit a, Qubit b, Qubit q) { return put(*this, Gate::kRccx, {}, {a, b, q}); }
Circuit& Circuit::rc3x(Qubit a, Qubit b, Qubit c, Qubit q) { return put(*this, Gate::kRc3x, {}, {a, b, c, q}); }
Circuit& Circuit::rc3xdg(Qubit a, Qubit b, Qubit c, Qubit q) { return put(*this, Gate::kRc3xdg, {}, {a, b, c, q}); }
Circuit& Circuit::rx(Angle angle, Qubit q) { return turn(*this, Gate::kRx, angle, {q}); }
Circuit& Circuit::ry(Angle angle, Qubit q) { return turn(*this, Gate::kRy, angle, {q}); }
Circuit& Circuit::rz(Angle angle, Qubit q) { return turn(*this, Gate::kRz, angle, {q}); }
Circuit& Circuit::p(Angle angle, Qubit q) { return turn(*this, Gate::kPhase, angle, {q}); }
Circuit& Circuit::u0(Angle angle, Qubit q) { return turn(*this, Gate::kU0, angle, {q}); }
Circuit& Circuit::u2(Angle phi, Angle lambda, Qubit q) { return turn(*this, Gate::kU2, {phi, lambda}, {q}); }
Circuit& Circuit::r(Angle theta, Angle phi, Qubit q) { return turn(*this, Gate::kR, {theta, phi}, {q}); }
Circuit& Circuit::u(Angle theta, Angle phi, Angle lambda, Qubit q) {
  return turn(*this, Gate::kU, {theta, phi, lambda}, {q});
}
Circuit& Circuit::cu3(Angle theta, Angle phi, Angle lambda, Qubit c, Qubit q) {
  return turn(*this, Gate::kU, {theta, phi, lambda}, {q}, {c});
}
Circuit& Circuit::uphase(Angle theta, Angle phi, Angle lambda, Angle gamma, Qubit q) {
  return turn(*this, Gate::kUPhase, {theta, phi, lambda, gamma}, {q});
}
Circuit& Circuit::cu(Angle theta, Angle phi, Angle lambda, Angle gamma, Qubit c, Qubit q) {
  return turn(*this, Gate::kUPhase, {theta, phi, lambda, gamma}, {q}, {c});
}
Circuit& Circuit::rxx(Angle angle, Qubit a, Qubit b) { return turn(*this, Gate::kRxx, angle, {a, b}); }
Circuit& Circuit::ryy(Angle angle, Qubit a, Qubit b) { return turn(*this, Gate::kRyy, angle, {a, b}); }
Circuit& Circuit::rzz(Angle angle, Qubit a, Qubit b) { return turn(*this, Gate::kRzz, angle, {a, b}); }
Circuit& Circuit::rzx(Angle angle, Qubit a, Qubit b) { return turn(*this, Gate::kRzx, angle, {a, b}); }
Circuit& Circuit::xx_minus_yy(Angle theta, Angle beta, Qubit a, Qubit b) {
  return turn(*this, Gate::kXxMinusYy, {theta, beta}, {a, b});
}
Circuit& Circuit::xx_plus_yy(Angle theta, Angle beta, Qubit a, Qubit b) {
  return turn(*this, Gate::kXxPlusYy, {theta, beta}, {a, b});
}
Circuit& Circuit::cx(Qubit c, Qubit q) { return put(*this, Gate::kX, {c}, {q}); }
Circuit& Circuit::cy(Qubit c, Qubit q) { return put(*this, Gate::kY, {c}, {q}); }
Circuit& Circuit::cz(Qubit c, Qubit q) { return put(*this, Gate::kZ, {c}, {q}); }
Circuit& Circuit::ch(Qubit c, Qubit q) { return put(*this, Gate::kH, {c}, {q}); }
Circuit& Circuit::cs(Qubit c, Qubit q) { return put(*this, Gate::kS, {c}, {q}); }
Circuit& Circuit::csdg(Qubit c, Qubit q) { return put(*this, Gate::kSdg, {c}, {q}); }
Circuit& Circuit::csx(Qubit c, Qubit q) { return put(*this, Gate::kSx, {c}, {q}); }
Circuit& Circuit::ccx(Qubit c, Qubit d, Qubit q) { return put(*this, Gate::kX, {c, d}, {q}); }
Circuit& Circuit::ccz(Qubit c, Qubit d, Qubit q) { return put(*this, Gate::kZ, {c, d}, {q}); }
Circuit& Circuit::c3x(Qubit c, Qubit d, Qubit e, Qubit q) { return put(*this, Gate::kX, {c, d, e}, {q}); }
Circuit& Circuit::c3sx(Qubit c, Qubit d, Qubit e, Qubit q) { return put(*this, Gate::kSx, {c, d, e}, {q}); }
Circuit& Circuit::c4x(Qubit c, Qubit d, Qubit e, Qubit f, Qubit q) { return put(*this, Gate::kX, {c, d, e, f}, {q}); }
Circuit& Circuit::crx(Angle angle, Qubit c, Qubit q) { return turn(*this, Gate::kRx, angle, {q}, {c}); }
Circuit& Circuit::cry(Angle angle, Qubit c, Qubit q) { return turn(*this, Gate::kRy, angle, {q}, {c}); }
Circuit& Circuit::crz(Angle angle, Qubit c, Qubit q) { return turn(*this, Gate::kRz, angle, {q}, {c}); }
Circuit& Circuit::cp(Angle angle, Qubit c, Qubit q) { return turn(*this, Gate::kPhase, angle, {q}, {c}); }
Circuit& Circuit::cswap(Qubit c, Qubit a, Qubit b) { return put(*this, Gate::kSwap, {c}, {a, b}); }

}  // namespace qsim
