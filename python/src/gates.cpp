// One method of Circuit for every name of the gate table.
#include <array>
#include <string>
#include <utility>

#include "common.h"

namespace qsim::python {
namespace {

template <std::size_t>
using AngleNumber = double;
template <std::size_t>
using AngleValue = const AnyAngle&;
template <std::size_t>
using QubitNumber = std::int64_t;

using Names = std::array<const char*, 5>;

Names angle_names(const GateSpelling& gate) {
  if (gate.angles == 1) return {"angle"};
  if (gate.angles == 2) return {"phi", "lam"};
  return {"theta", "phi", "lam", "gamma"};
}

Names qubit_names(const GateSpelling& gate) {
  static constexpr Names kControls{"control1", "control2", "control3", "control4"};
  static constexpr Names kTargets{"qubit1", "qubit2", "qubit3", "qubit4"};
  Names names{};
  std::size_t next = 0;
  for (int i = 0; i < gate.controls; ++i) {
    names[next++] = gate.controls == 1 ? "control" : kControls[static_cast<std::size_t>(i)];
  }
  for (int i = 0; i < gate.targets; ++i) {
    names[next++] = gate.targets == 1 ? "qubit" : kTargets[static_cast<std::size_t>(i)];
  }
  return names;
}

std::string doc_of(const GateSpelling& gate) {
  std::string doc = gate.controls == 0 ? "Gate " : "Controlled gate ";
  doc += gate.name;
  if (gate.angles > 0) doc += "; angles in radians";
  return doc + ". Returns the circuit. `controls`: further qubits that must be 1, or {qubit: value}.";
}

void apply(Circuit& circuit, const GateSpelling& gate, std::span<const Qubit> qubits, std::span<const double> angles,
           nb::handle more) {
  require_open(circuit);
  const auto controls = qubits.first(static_cast<std::size_t>(gate.controls));
  const auto targets = qubits.subspan(static_cast<std::size_t>(gate.controls));
  if (more.is_none()) {
    circuit.add_gate(gate.gate, controls, targets, angles);
    return;
  }
  std::vector<ControlQubit> all(controls.begin(), controls.end());
  for (const ControlQubit& one : to_controls(more)) all.push_back(one);
  circuit.apply(gate.gate, all, targets, std::vector<Angle>(angles.begin(), angles.end()));
}

void apply(Circuit& circuit, const GateSpelling& gate, std::span<const Qubit> qubits, std::span<const Angle> angles,
           nb::handle more) {
  require_open(circuit);
  const auto controls = qubits.first(static_cast<std::size_t>(gate.controls));
  std::vector<ControlQubit> all(controls.begin(), controls.end());
  for (const ControlQubit& one : to_controls(more)) all.push_back(one);
  circuit.apply(gate.gate, all, qubits.subspan(static_cast<std::size_t>(gate.controls)), angles);
}

template <std::size_t... A, std::size_t... Q>
void define(nb::class_<Circuit>& circuit, const GateSpelling& gate, std::index_sequence<A...>,
            std::index_sequence<Q...>) {
  const Names angles = angle_names(gate), qubits = qubit_names(gate);
  const std::string name(gate.name), doc = doc_of(gate);
  circuit.def(
      name.c_str(),
      [gate](nb::pointer_and_handle<Circuit> self, AngleNumber<A>... angle, QubitNumber<Q>... qubit,
             nb::handle controls) {
        apply(*self.p, gate, std::array<Qubit, sizeof...(Q)>{to_qubit(qubit)...},
              std::span<const double>(std::array<double, sizeof...(A)>{angle...}), controls);
        return Chain(self.h);
      },
      nb::arg(angles[A])..., nb::arg(qubits[Q])..., nb::kw_only(), nb::arg("controls") = nb::none(), doc.c_str());
  if constexpr (sizeof...(A) > 0) {
    circuit.def(
        name.c_str(),
        [gate](nb::pointer_and_handle<Circuit> self, AngleValue<A>... angle, QubitNumber<Q>... qubit,
               nb::handle controls) {
          apply(*self.p, gate, std::array<Qubit, sizeof...(Q)>{to_qubit(qubit)...},
                std::span<const Angle>(std::array<Angle, sizeof...(A)>{angle.value...}), controls);
          return Chain(self.h);
        },
        nb::arg(angles[A])..., nb::arg(qubits[Q])..., nb::kw_only(), nb::arg("controls") = nb::none());
  }
}

template <std::size_t A>
void define_for_angles(nb::class_<Circuit>& circuit, const GateSpelling& gate) {
  constexpr auto kAngles = std::make_index_sequence<A>();
  switch (gate.controls + gate.targets) {
    case 1:
      return define(circuit, gate, kAngles, std::make_index_sequence<1>());
    case 2:
      return define(circuit, gate, kAngles, std::make_index_sequence<2>());
    case 3:
      return define(circuit, gate, kAngles, std::make_index_sequence<3>());
    case 4:
      return define(circuit, gate, kAngles, std::make_index_sequence<4>());
    case 5:
      return define(circuit, gate, kAngles, std::make_index_sequence<5>());
  }
  throw Error("a gate of the table has more qubits than a method takes");
}

}  // namespace

void add_gates(nb::class_<Circuit>& circuit) {
  for (const GateSpelling& gate : gate_spellings()) {
    switch (gate.angles) {
      case 0:
        define_for_angles<0>(circuit, gate);
        break;
      case 1:
        define_for_angles<1>(circuit, gate);
        break;
      case 2:
        define_for_angles<2>(circuit, gate);
        break;
      case 3:
        define_for_angles<3>(circuit, gate);
        break;
      case 4:
        define_for_angles<4>(circuit, gate);
        break;
      default:
        throw Error("a gate of the table has more angles than a method takes");
    }
  }
}

}  // namespace qsim::python
