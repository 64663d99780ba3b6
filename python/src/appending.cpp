// What appends to a circuit, beside the methods of its gates.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common.h"

namespace qsim::python {
namespace {

/// Appends through `append`; on an error the circuit is as it was.
template <typename Append>
void whole(Circuit& circuit, const Append& append) {
  require_open(circuit);
  const std::size_t before = circuit.operations().size();
  try {
    append();
  } catch (...) {
    circuit.truncate(before);
    throw;
  }
}

// ---- Appending

const GateSpelling& spelling_of(const std::string& name) {
  static const std::map<std::string, GateSpelling, std::less<>> kAll = [] {
    std::map<std::string, GateSpelling, std::less<>> all;
    for (const GateSpelling& one : gate_spellings()) all.emplace(one.name, one);
    return all;
  }();
  const auto found = kAll.find(name);
  if (found == kAll.end()) throw CircuitError("there is no gate \"" + name + "\"");
  return found->second;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "(";
  for (const std::size_t size : shape) text += std::to_string(size) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  return (shape.size() == 1 ? text.substr(0, text.size() - 1) : text) + ")";
}

/// Rows of `columns` numbers; a list of numbers is one row, or a column where there is one column.
template <typename T>
std::size_t rows_of(const Array<T>& array, std::size_t columns, const std::string& what) {
  const auto& shape = array.shape;
  if (shape.size() == 2 && shape[1] == columns) return shape[0];
  if (shape.size() == 1 && columns == 1) return shape[0];
  if (shape.size() == 1 && shape[0] == columns) return 1;
  if (shape.empty() && columns == 1) return 1;
  throw UsageError(what + ": an array of shape (m, " + std::to_string(columns) + ") expected, " + shape_text(shape) +
                   " found");
}

void append_many(Circuit& circuit, const std::string& name, nb::handle qubits, nb::handle angles, nb::handle more) {
  const GateSpelling& gate = spelling_of(name);
  const auto operands = static_cast<std::size_t>(gate.controls + gate.targets);
  const auto per_gate = static_cast<std::size_t>(gate.angles);
  const Array<std::int64_t> places = integers(qubits, "qubits");
  const std::size_t count = rows_of(places, operands, "qubits of " + name);
  Array<double> numbers;
  if (!angles.is_none()) numbers = reals(angles, "angles");
  const bool same = per_gate > 0 && numbers.values.size() == per_gate;  // for all gates
  if (per_gate == 0 ? !numbers.values.empty() : !same && rows_of(numbers, per_gate, "angles of " + name) != count) {
    throw UsageError(name + " takes " + std::to_string(per_gate) + " angles: " + std::to_string(count) +
                     " sets of them, or one, expected");
  }
  const std::vector<ControlQubit> controls = to_controls(more);
  const auto own_controls = static_cast<std::size_t>(gate.controls);
  whole(circuit, [&] {
    std::vector<Qubit> row(operands);
    std::vector<ControlQubit> all;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < operands; ++j) row[j] = to_qubit(places.values[i * operands + j]);
      const std::span<const Qubit> own(row.data(), own_controls),
          targets(row.data() + own_controls, operands - own_controls);
      const auto turn =
          per_gate == 0 ? std::span<const double>() : numbers.values.subspan(same ? 0 : i * per_gate, per_gate);
      if (controls.empty()) {
        circuit.add_gate(gate.gate, own, targets, turn);
        continue;
      }
      all.assign(own.begin(), own.end());
      all.insert(all.end(), controls.begin(), controls.end());
      circuit.apply(gate.gate, all, targets, std::vector<Angle>(turn.begin(), turn.end()));
    }
  });
}

void controlled(Circuit& circuit, nb::handle object, const std::function<void(std::span<const Qubit>)>& append) {
  const std::vector<ControlQubit> controls = to_controls(object);
  require_open(circuit);
  circuit.between_flips(controls, append);
}

void add_unitary(Circuit& circuit, nb::handle matrix, nb::handle targets, nb::handle controls, bool check) {
  const std::vector<Qubit> on = to_qubits(targets, "targets");
  const Array<Complex> entries = complexes(matrix, "matrix");
  const std::size_t order = on.size() < 32 ? std::size_t{1} << on.size() : 0;
  if (entries.shape != std::vector<std::size_t>{order, order}) {
    throw UsageError("matrix: an array of shape (2**t, 2**t) for t = " + std::to_string(on.size()) +
                     " targets expected, " + shape_text(entries.shape) + " found");
  }
  controlled(circuit, controls,
             [&](std::span<const Qubit> qubits) { circuit.add_unitary(entries.values, qubits, on, check); });
}

void add_pauli(Circuit& circuit, const Angle& angle, const std::string& letters, nb::handle targets,
               nb::handle controls) {
  std::string on_letters = letters;
  std::vector<Qubit> on;
  if (targets.is_none()) {
    const PauliSum sum = parse_pauli_sum(letters, circuit.qubits());
    if (sum.terms.size() != 1 || sum.terms[0].coefficient != 1) {
      throw UsageError("a rotation is about one Pauli string without a coefficient");
    }
    on_letters.clear();
    for (Qubit qubit = 0; qubit < circuit.qubits() && qubit < 64; ++qubit) {
      const bool x = (sum.terms[0].pauli.x >> qubit & 1) != 0, z = (sum.terms[0].pauli.z >> qubit & 1) != 0;
      if (!x && !z) continue;
      on_letters += x ? (z ? 'Y' : 'X') : 'Z';
      on.push_back(qubit);
    }
  } else {
    on = to_qubits(targets, "targets");
  }
  controlled(circuit, controls,
             [&](std::span<const Qubit> qubits) { circuit.add_pauli_rotation(angle, on_letters, on, qubits); });
}

void measure(Circuit& circuit, nb::handle qubits, nb::handle clbits) {
  const std::vector<Qubit> from = to_qubits(qubits, "qubits"), to = to_qubits(clbits, "clbits");
  if (from.size() != to.size()) {
    throw UsageError(std::to_string(from.size()) + " qubits measured into " + std::to_string(to.size()) +
                     " classical bits");
  }
  whole(circuit, [&] {
    for (std::size_t i = 0; i < from.size(); ++i) circuit.add_measure(from[i], to[i]);
  });
}

void measure_all(Circuit& circuit) {
  require_open(circuit);
  const Clbit first = circuit.clbits();
  circuit.add_creg("meas", circuit.qubits());
  for (Qubit qubit = 0; qubit < circuit.qubits(); ++qubit) circuit.add_measure(qubit, first + qubit);
}

// ---- Conditions

std::uint32_t register_of(const Circuit& circuit, nb::handle object) {
  if (PyUnicode_Check(object.ptr())) {
    const auto name = nb::cast<std::string>(object);
    for (std::size_t i = 0; i < circuit.cregs().size(); ++i) {
      if (circuit.cregs()[i].name == name) return static_cast<std::uint32_t>(i);
    }
    throw CircuitError("there is no classical register \"" + name + "\"");
  }
  return nb::cast<std::uint32_t>(object);
}

/// A with-statement whose operations depend on classical bits.
class Scope {
 public:
  Scope(nb::object owner, Condition condition) : owner_(std::move(owner)), condition_(std::move(condition)) {}
  void enter() {
    if (scope_) throw UsageError("this condition's scope is already open");
    Circuit& circuit = nb::cast<Circuit&>(owner_);
    require_open(circuit);
    scope_ = circuit.when(condition_);
  }
  void exit() { scope_.reset(); }

 private:
  nb::object owner_;
  Condition condition_;
  Circuit::When scope_;
};

Condition condition_of(const Circuit& circuit, nb::handle creg, const nb::int_& value, bool negated) {
  Condition condition;
  condition.creg = register_of(circuit, creg);
  condition.negated = negated;
  nb::object rest = value;
  if (nb::cast<bool>(rest.attr("__lt__")(0))) throw CircuitError("a register is never negative");
  const nb::object mask = nb::int_(~std::uint64_t{0});
  condition.value = nb::cast<std::uint64_t>(rest & mask);
  for (rest = rest >> nb::int_(64); !rest.equal(nb::int_(0)); rest = rest >> nb::int_(64)) {
    condition.high.push_back(nb::cast<std::uint64_t>(rest & mask));
  }
  return condition;
}

// ---- Whole circuits

void compose(Circuit& circuit, const Circuit& other, nb::handle qubits, nb::handle clbits) {
  require_open(other);
  std::vector<Qubit> to_bit, to_clbit;
  for (Qubit qubit = 0; qubit < other.qubits(); ++qubit) to_bit.push_back(qubit);
  for (Clbit bit = 0; bit < other.clbits(); ++bit) to_clbit.push_back(bit);
  const auto replace = [](std::vector<Qubit>& map, nb::handle object, const char* what) {
    if (object.is_none()) return;
    std::vector<Qubit> given = to_qubits(object, what);
    if (given.size() != map.size()) {
      throw UsageError(std::to_string(given.size()) + " " + what + " for a circuit of " + std::to_string(map.size()));
    }
    map = std::move(given);
  };
  replace(to_bit, qubits, "qubits");
  replace(to_clbit, clbits, "clbits");
  const Circuit source = other;  // which may be the same one
  whole(circuit, [&] {
    for (const Operation& op : source.operations()) {
      Step step = step_of(source, op);
      for (Qubit& qubit : step.controls) qubit = to_bit[qubit];
      for (Qubit& qubit : step.targets) qubit = to_bit[qubit];
      if (step.kind == OpKind::kMeasure) step.clbit = to_clbit[step.clbit];
      if (op.condition < 0) {
        add_step(circuit, step);
        continue;
      }
      const Condition& condition = source.conditions()[static_cast<std::size_t>(op.condition)];
      const Register& creg = source.cregs()[condition.creg];
      const bool here = condition.creg < circuit.cregs().size() && circuit.cregs()[condition.creg].size == creg.size;
      bool moved = !here || circuit.cregs()[condition.creg].first != creg.first;
      for (Clbit bit = creg.first; bit < creg.first + creg.size; ++bit) moved = moved || to_clbit[bit] != bit;
      if (moved) throw UnsupportedError("a condition's register lies elsewhere in the circuit that is composed to");
      const auto scope = circuit.when(condition);
      add_step(circuit, step);
    }
  });
}

using Self = nb::pointer_and_handle<Circuit>;

}  // namespace

void add_appending(nb::module_& module, nb::class_<Circuit>& circuit) {
  nb::class_<Scope>(module, "ConditionScope", "What Circuit.when() gives to a with-statement.")
      .def("__enter__", [](Scope& self) { self.enter(); })
      .def("__exit__", [](Scope& self, const nb::args&) { self.exit(); });
  circuit
      .def(
          "append",
          [](Self self, const std::string& name, nb::handle qubits, nb::handle angles, nb::handle controls) {
            append_many(*self.p, name, qubits, angles, controls);
            return Chain(self.h);
          },
          nb::arg("name"), nb::arg("qubits"), nb::arg("angles") = nb::none(), nb::kw_only(),
          nb::arg("controls") = nb::none(),
          "Appends many gates called `name` at once. `qubits`: integers of shape (m, k), k the gate's controls and "
          "then "
          "its targets; (m,) where k is 1. `angles`: radians of shape (m, a), (m,) where a is 1, or one set for all. "
          "All are appended or, with a CircuitError (qubits, names) or a TypeError (other numbers), none. Returns the "
          "circuit.")
      .def(
          "apply",
          [](Self self, const std::string& name, nb::handle qubits, nb::handle angles, nb::handle more) {
            const GateSpelling& gate = spelling_of(name);
            const std::vector<Qubit> on = to_qubits(qubits, "qubits");
            const auto own = static_cast<std::size_t>(gate.controls);
            if (on.size() < own)
              throw CircuitError(name + " has " + std::to_string(own) + " controls, and " + std::to_string(on.size()) +
                                 " qubits were given");
            std::vector<ControlQubit> controls(on.begin(), on.begin() + gate.controls);
            for (const ControlQubit& one : to_controls(more)) controls.push_back(one);
            require_open(*self.p);
            self.p->apply(gate.gate, controls, std::span(on).subspan(own), to_angles(angles));
            return Chain(self.h);
          },
          nb::arg("name"), nb::arg("qubits"), nb::arg("angles") = nb::none(), nb::kw_only(),
          nb::arg("controls") = nb::none(),
          "Appends the gate called `name`: controls, then targets; angles in radians, which may be open. CircuitError "
          "for "
          "other names, numbers of qubits or angles.")
      .def(
          "unitary",
          [](Self self, nb::handle matrix, nb::handle targets, nb::handle controls, bool check) {
            add_unitary(*self.p, matrix, targets, controls, check);
            return Chain(self.h);
          },
          nb::arg("matrix"), nb::arg("targets"), nb::kw_only(), nb::arg("controls") = nb::none(),
          nb::arg("check") = true,
          "A matrix of shape (2**t, 2**t) on t targets; bit j of an index is targets[j]. It is checked to be unitary "
          "to "
          "1e-10 unless `check` is false: CircuitError.")
      .def(
          "pauli_rotation",
          [](Self self, const AnyAngle& angle, const std::string& letters, nb::handle targets, nb::handle controls) {
            add_pauli(*self.p, angle.value, letters, targets, controls);
            return Chain(self.h);
          },
          nb::arg("angle"), nb::arg("letters"), nb::arg("targets") = nb::none(), nb::kw_only(),
          nb::arg("controls") = nb::none(),
          "exp(-i angle/2 P), the angle in radians. With `targets`, letters[j] in 'XYZ' acts on targets[j]; without, "
          "`letters` is a Pauli "
          "string: 'X0 Z3', or dense with qubit 0 right-most. CircuitError for other letters and qubits.")
      .def(
          "measure",
          [](Self self, nb::handle qubits, nb::handle clbits) {
            measure(*self.p, qubits, clbits);
            return Chain(self.h);
          },
          nb::arg("qubit"), nb::arg("clbit"),
          "Measures a qubit into a classical bit, or several into as many. CircuitError for those that "
          "do not exist.")
      .def(
          "measure_all",
          [](Self self) {
            measure_all(*self.p);
            return Chain(self.h);
          },
          "Adds a classical register 'meas' of a bit a qubit, and measures every qubit q into its bit q.")
      .def(
          "reset",
          [](Self self, nb::handle qubits) {
            const std::vector<Qubit> on = to_qubits(qubits, "qubits");
            whole(*self.p, [&] {
              for (const Qubit qubit : on) self.p->add_reset(qubit);
            });
            return Chain(self.h);
          },
          nb::arg("qubit"), "Brings a qubit, or several, to 0. CircuitError for those that do not exist.")
      .def(
          "barrier",
          [](Self self, const nb::args& qubits) {
            std::vector<Qubit> on = to_qubits(qubits, "qubits");
            for (Qubit qubit = 0; on.empty() && qubits.size() == 0 && qubit < self.p->qubits();) {
              for (; qubit < self.p->qubits(); ++qubit) on.push_back(qubit);
            }
            require_open(*self.p);
            self.p->add_barrier(on);
            return Chain(self.h);
          },
          nb::arg("qubits"),
          "Nothing moves over it; without qubits, of all of them. CircuitError for those that do not exist.")
      .def(
          "when",
          [](Self self, nb::handle creg, const nb::int_& value, bool negated) {
            return Scope(nb::borrow(self.h), condition_of(*self.p, creg, value, negated));
          },
          nb::arg("register"), nb::arg("value"), nb::arg("negated") = false,
          "``with circuit.when('c', 3):`` what is appended runs only where the classical register (its name or number) "
          "equals `value`; with `negated`, where it differs. CircuitError for a register that does not exist.")
      .def(
          "compose",
          [](Self self, const Circuit& other, nb::handle qubits, nb::handle clbits) {
            compose(*self.p, other, qubits, clbits);
            return Chain(self.h);
          },
          nb::arg("other"), nb::arg("qubits") = nb::none(), nb::arg("clbits") = nb::none(),
          "Appends the operations of `other`: its qubit i is qubits[i] here, its classical bit i clbits[i]; the same "
          "numbers without them. CircuitError where those do not exist, UnsupportedError for a condition on a register "
          "that "
          "lies elsewhere here.")
      .def(
          "add_qreg",
          [](Self self, const std::string& name, std::uint32_t size) {
            self.p->add_qreg(name, size);
            return Chain(self.h);
          },
          nb::arg("name"), nb::arg("size"),
          "Adds a register of qubits, behind those there are. CircuitError for a name that is taken.")
      .def(
          "add_creg",
          [](Self self, const std::string& name, std::uint32_t size) {
            self.p->add_creg(name, size);
            return Chain(self.h);
          },
          nb::arg("name"), nb::arg("size"),
          "Adds a register of classical bits, behind those there are. CircuitError for a name that is taken.");
}

}  // namespace qsim::python
