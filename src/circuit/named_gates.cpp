// The gates by their names.
#include <array>
#include <initializer_list>
#include <span>

#include "qsim/circuit.h"

namespace qsim {
namespace {

Circuit& one(Circuit& to, Gate gate, Qubit target, std::span<const Qubit> controls = {}) {
  return to.add_gate(gate, controls, {&target, 1});
}

Circuit& turn(Circuit& to, Gate gate, const Angle& angle, Qubit target,
              std::initializer_list<ControlQubit> controls = {}) {
  return to.apply(gate, {controls.begin(), controls.size()}, {&target, 1}, {&angle, 1});
}

Circuit& pair(Circuit& to, Gate gate, std::span<const Angle> angles, Qubit a, Qubit b,
              std::initializer_list<ControlQubit> controls = {}) {
  return to.apply(gate, {controls.begin(), controls.size()}, std::array<Qubit, 2>{a, b}, angles);
}

}  // namespace

Circuit& Circuit::id(Qubit q) { return one(*this, Gate::kId, q); }
Circuit& Circuit::x(Qubit q) { return one(*this, Gate::kX, q); }
Circuit& Circuit::y(Qubit q) { return one(*this, Gate::kY, q); }
Circuit& Circuit::z(Qubit q) { return one(*this, Gate::kZ, q); }
Circuit& Circuit::h(Qubit q) { return one(*this, Gate::kH, q); }
Circuit& Circuit::s(Qubit q) { return one(*this, Gate::kS, q); }
Circuit& Circuit::sdg(Qubit q) { return one(*this, Gate::kSdg, q); }
Circuit& Circuit::t(Qubit q) { return one(*this, Gate::kT, q); }
Circuit& Circuit::tdg(Qubit q) { return one(*this, Gate::kTdg, q); }
Circuit& Circuit::sx(Qubit q) { return one(*this, Gate::kSx, q); }
Circuit& Circuit::sxdg(Qubit q) { return one(*this, Gate::kSxdg, q); }
Circuit& Circuit::cx(Qubit control, Qubit q) { return one(*this, Gate::kX, q, {&control, 1}); }
Circuit& Circuit::cy(Qubit control, Qubit q) { return one(*this, Gate::kY, q, {&control, 1}); }
Circuit& Circuit::cz(Qubit control, Qubit q) { return one(*this, Gate::kZ, q, {&control, 1}); }
Circuit& Circuit::ch(Qubit control, Qubit q) { return one(*this, Gate::kH, q, {&control, 1}); }
Circuit& Circuit::csx(Qubit control, Qubit q) { return one(*this, Gate::kSx, q, {&control, 1}); }
Circuit& Circuit::ccx(Qubit control, Qubit other, Qubit q) {
  return one(*this, Gate::kX, q, std::array<Qubit, 2>{control, other});
}
Circuit& Circuit::rx(Angle angle, Qubit q) { return turn(*this, Gate::kRx, angle, q); }
Circuit& Circuit::ry(Angle angle, Qubit q) { return turn(*this, Gate::kRy, angle, q); }
Circuit& Circuit::rz(Angle angle, Qubit q) { return turn(*this, Gate::kRz, angle, q); }
Circuit& Circuit::p(Angle angle, Qubit q) { return turn(*this, Gate::kPhase, angle, q); }
Circuit& Circuit::crx(Angle angle, Qubit control, Qubit q) { return turn(*this, Gate::kRx, angle, q, {control}); }
Circuit& Circuit::cry(Angle angle, Qubit control, Qubit q) { return turn(*this, Gate::kRy, angle, q, {control}); }
Circuit& Circuit::crz(Angle angle, Qubit control, Qubit q) { return turn(*this, Gate::kRz, angle, q, {control}); }
Circuit& Circuit::cp(Angle angle, Qubit control, Qubit q) { return turn(*this, Gate::kPhase, angle, q, {control}); }
Circuit& Circuit::u2(Angle phi, Angle lambda, Qubit q) {
  return apply(Gate::kU2, {}, {&q, 1}, std::array<Angle, 2>{phi, lambda});
}
Circuit& Circuit::u(Angle theta, Angle phi, Angle lambda, Qubit q) {
  return apply(Gate::kU, {}, {&q, 1}, std::array<Angle, 3>{theta, phi, lambda});
}
Circuit& Circuit::swap(Qubit a, Qubit b) { return pair(*this, Gate::kSwap, {}, a, b); }
Circuit& Circuit::cswap(Qubit control, Qubit a, Qubit b) { return pair(*this, Gate::kSwap, {}, a, b, {control}); }
Circuit& Circuit::rxx(Angle angle, Qubit a, Qubit b) { return pair(*this, Gate::kRxx, {&angle, 1}, a, b); }
Circuit& Circuit::ryy(Angle angle, Qubit a, Qubit b) { return pair(*this, Gate::kRyy, {&angle, 1}, a, b); }
Circuit& Circuit::rzz(Angle angle, Qubit a, Qubit b) { return pair(*this, Gate::kRzz, {&angle, 1}, a, b); }

}  // namespace qsim
