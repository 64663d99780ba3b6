// Circuits as values: read as operations, compared, written and read as text and bytes.
#include "qsim/circuit.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "common.h"

namespace qsim::python {
namespace {

nb::object helper(const char* module, const char* name) { return nb::module_::import_(module).attr(name); }

// ---- Reading

nb::object operation(const Circuit& circuit, const Operation& op) {
  const Step step = step_of(circuit, op);
  std::string name, base;
  switch (step.kind) {
    case OpKind::kGate:
      name = gate_spelling(step.gate, static_cast<int>(step.controls.size()));
      base = gate_spelling(step.gate, 0);
      if (name.empty()) name = base;
      break;
    case OpKind::kUnitary:
      name = "unitary";
      break;
    case OpKind::kPauliRotation:
      name = "pauli_rotation";
      break;
    case OpKind::kMeasure:
      name = "measure";
      break;
    case OpKind::kReset:
      name = "reset";
      break;
    case OpKind::kBarrier:
      name = "barrier";
      break;
  }
  nb::list angles;
  for (const Angle& angle : step.angles) {
    angle.terms.empty() ? angles.append(angle.constant) : angles.append(nb::cast(angle));
  }
  nb::object clbit = nb::none(), condition = nb::none(), matrix = nb::none();
  if (step.kind == OpKind::kMeasure) clbit = nb::int_(step.clbit);
  if (op.condition >= 0) {
    const Condition& of = circuit.conditions()[static_cast<std::size_t>(op.condition)];
    nb::object value = nb::int_(of.value);
    for (std::size_t i = 0; i < of.high.size(); ++i) {
      value = value | (nb::int_(of.high[i]) << nb::int_(64 * (i + 1)));
    }
    condition = helper("qsim_hpc._operation", "Condition")(of.creg, value, of.negated);
  }
  if (step.kind == OpKind::kUnitary) {
    const std::size_t order = std::size_t{1} << step.targets.size();
    matrix = to_numpy(step.matrix, {order, order});
  }
  return helper("qsim_hpc._operation", "Operation")(name, nb::tuple(nb::cast(step.targets)),
                                                    nb::tuple(nb::cast(step.controls)), nb::tuple(angles), clbit,
                                                    condition, matrix, step.letters, base.empty() ? name : base);
}

nb::object operation_at(const Circuit& circuit, std::int64_t index) {
  require_open(circuit);
  const auto size = static_cast<std::int64_t>(circuit.operations().size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) throw nb::index_error("the circuit has no operation of this number");
  return operation(circuit, circuit.operations()[static_cast<std::size_t>(index)]);
}

bool equal(const Circuit& a, const Circuit& b) {
  const auto by_text = [](const Circuit& one) { return one.control() != nullptr || one.finish() != nullptr; };
  if (by_text(a) != by_text(b)) return false;
  if (by_text(a)) return write_qasm(a, QasmVersion::k3) == write_qasm(b, QasmVersion::k3);
  return a.operations().size() == b.operations().size() && circuit_bytes(a) == circuit_bytes(b);
}

nb::object reduce(nb::handle self) {
  const Circuit& circuit = nb::cast<const Circuit&>(self);
  if (circuit.control() != nullptr || circuit.finish() != nullptr) {
    return nb::make_tuple(helper("qsim_hpc._operation", "from_qasm"),
                          nb::make_tuple(write_qasm(circuit, QasmVersion::k3)));
  }
  const std::string bytes = circuit_bytes(circuit);
  return nb::make_tuple(helper("qsim_hpc._operation", "from_bytes"),
                        nb::make_tuple(nb::bytes(bytes.data(), bytes.size())));
}

// ---- Whole circuits

QasmProgram read_program(nb::handle source, const std::map<std::string, std::string>& parameters) {
  QasmOptions options;
  options.parameters = parameters;
  std::string text;
  bool is_file = true;
  if (PyUnicode_Check(source.ptr())) {
    text = nb::cast<std::string>(source);
    is_file = text.find_first_of(";\n{") == std::string::npos;
  } else {
    text = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(source));
  }
  const nb::gil_scoped_release release;
  return is_file ? parse_qasm_file(text, nullptr, options) : parse_qasm(text, options);
}

Circuit from_qasm(nb::handle source, const nb::dict& parameters) {
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : parameters) {
    std::string text = nb::cast<std::string>(nb::str(value));
    if (PyBool_Check(value.ptr())) text = value.ptr() == Py_True ? "true" : "false";
    values[nb::cast<std::string>(name)] = text;
  }
  QasmProgram program = read_program(source, values);
  const nb::object warning = helper("qsim_hpc.errors", "QasmWarning");
  for (const std::string& note : program.notes) {
    if (PyErr_WarnEx(warning.ptr(), note.c_str(), 1) != 0) throw nb::python_error();
  }
  return std::move(program.circuit);
}

nb::list registers(const std::vector<Register>& all) {
  nb::list list;
  for (const Register& one : all) list.append(nb::make_tuple(one.name, one.size));
  return list;
}

// ---- Drawings

constexpr std::size_t kMostDrawn = 1000;  // operations and wires that print() and notebooks draw

std::size_t default_width(DrawingStyle style) {
  if (style == DrawingStyle::kSvg) return 1000;
  if (style == DrawingStyle::kLatex) return 16;
  return nb::cast<std::size_t>(helper("shutil", "get_terminal_size")().attr("columns"));
}

nb::object drawing(const Circuit& circuit, const std::string& name, std::optional<std::size_t> width) {
  const auto style = choice_of<DrawingStyle>(name);
  const std::string text = draw(circuit, style, width ? *width : default_width(style));
  return helper("qsim_hpc._draw", style == DrawingStyle::kSvg ? "Svg" : "Drawing")(text);
}

/// What print() and notebooks show; nothing where a drawing would be too large to look at.
std::optional<nb::object> shown_drawing(const Circuit& circuit, const std::string& style) {
  if (circuit.operations().size() > kMostDrawn || circuit.qubits() + circuit.clbits() > kMostDrawn) return std::nullopt;
  try {
    return drawing(circuit, style, {});
  } catch (const UnsupportedError&) {
    return std::nullopt;
  }
}

void add_reading(nb::class_<Circuit>& circuit) {
  circuit.def_prop_ro("num_qubits", &Circuit::qubits, "Number of qubits.")
      .def_prop_ro("num_clbits", &Circuit::clbits, "Number of classical bits.")
      .def_prop_ro(
          "qregs", [](const Circuit& self) { return registers(self.qregs()); },
          "[(name, size)] of the registers of qubits, the first declared first.")
      .def_prop_ro(
          "cregs", [](const Circuit& self) { return registers(self.cregs()); },
          "[(name, size)] of the registers of classical bits, the first declared first.")
      .def_prop_ro(
          "parameters", [](const Circuit& self) { return nb::tuple(nb::cast(self.parameters())); },
          "Names of the open parameters, in the order of their first use.")
      .def_prop_ro(
          "has_control_flow", [](const Circuit& self) { return self.control() != nullptr; },
          "Read from a program whose measurements decide what runs: it can be run, drawn and written, not looked into.")
      .def_prop_ro("measures", &Circuit::measures, "Whether something is measured.")
      .def_prop_ro(
          "dynamic", [](const Circuit& self) { return !self.measurements_are_terminal(); },
          "Whether it measures, resets or branches before its end, so that it has no single final state.")
      .def("depth", &Circuit::depth, "Longest chain of operations that share a qubit or a classical bit.")
      .def("__len__",
           [](const Circuit& self) {
             require_open(self);
             return self.operations().size();
           })
      .def("__bool__", [](const Circuit&) { return true; })
      .def("__getitem__", operation_at, nb::arg("index"))
      .def("__iter__", [](nb::handle self) { return helper("qsim_hpc._operation", "iterate")(self); })
      .def(
          "__eq__",
          [](const Circuit& self, nb::handle other) {
            return nb::isinstance<Circuit>(other) && equal(self, nb::cast<const Circuit&>(other));
          },
          nb::arg("other").none())
      .def("__reduce__", [](nb::handle self) { return reduce(self); })
      .def_static("_from_bytes",
                  [](const nb::bytes& bytes) { return circuit_from_bytes(std::string(bytes.c_str(), bytes.size())); })
      .def(
          "copy", [](const Circuit& self) { return self; }, "An equal circuit.")
      .def("__copy__", [](const Circuit& self) { return self; })
      .def(
          "__deepcopy__", [](const Circuit& self, nb::handle) { return self; }, nb::arg("memo"))
      .def("inverse", &Circuit::inverse, "The inverse circuit; UnsupportedError where something is measured or reset.")
      .def(
          "bind", [](const Circuit& self, nb::handle values) { return self.bind(to_values(self, values)); },
          nb::arg("values"),
          "The circuit with values put in: by name, {name: radians}, or in the order of `parameters`. UsageError for "
          "other names, "
          "too few values and numbers that are not finite.")
      .def_static(
          "from_qasm", from_qasm, nb::arg("source"), nb::arg("parameters") = nb::dict(),
          "Reads OpenQASM 2 or 3: text, or the path of a file (a path object, or text without ';' and line ends). "
          "`parameters`: values of `input` variables by name. ParseError with file, line and column, FileError.")
      .def(
          "to_qasm",
          [](const Circuit& self, int version) {
            if (version != 2 && version != 3)
              throw UsageError("OpenQASM has versions 2 and 3, not " + std::to_string(version));
            return write_qasm(self, version == 2 ? QasmVersion::k2 : QasmVersion::k3);
          },
          nb::arg("version") = 3,
          "OpenQASM 2 or 3 that reads back to a circuit which does the same, up to a global phase. UsageError for "
          "other "
          "versions, UnsupportedError for what version 2 has no words for.")
      .def(
          "draw",
          [](const Circuit& self, const std::string& style, std::optional<std::size_t> width) {
            return drawing(self, style, width);
          },
          nb::arg("style") = "text", nb::arg("width") = nb::none(),
          "A drawing, which shows itself. `style`: 'text', 'ascii', 'svg' or 'latex' (package quantikz). `width` of a "
          "line: characters of text (None: the terminal's), pixels of SVG (None: 1000), operations side by side of "
          "LaTeX (None: 16); 0 for one line. UsageError for other styles.")
      .def("_repr_html_",
           [](nb::handle self) {
             const std::optional<nb::object> shown = shown_drawing(nb::cast<const Circuit&>(self), "svg");
             if (shown) return nb::str(*shown);
             return nb::str(nb::str("<code>{}</code>").attr("format")(helper("html", "escape")(nb::repr(self))));
           })
      .def("__str__",
           [](nb::handle self) {
             const std::optional<nb::object> shown = shown_drawing(nb::cast<const Circuit&>(self), "text");
             return shown ? nb::str(*shown) : nb::repr(self);
           })
      .def("__repr__", [](const Circuit& self) {
        return "<Circuit of " + std::to_string(self.qubits()) + " qubits, " + std::to_string(self.clbits()) +
               " classical bits, " + std::to_string(self.operation_count()) + " operations>";
      });
}

}  // namespace

void require_open(const Circuit& circuit) {
  if (circuit.control() == nullptr) return;
  throw UnsupportedError(
      "the circuit is a program whose measurements decide what runs: it can be run and written as "
      "text, but neither changed nor looked into");
}

void add_circuits(nb::module_& module) {
  nb::class_<Circuit> circuit(
      module, "Circuit",
      "Operations on qubits and classical bits. Qubit q is bit q of an index. Every method that appends returns the "
      "circuit; angles are radians, numbers or Angles. There is a method for every gate of `gates()`. "
      "CircuitError, a ValueError, for qubits that do not exist or are named twice.");
  circuit.def(
      "__init__",
      [](Circuit* self, std::int64_t qubits, std::int64_t clbits) {
        new (self) Circuit(to_qubit(qubits), to_qubit(clbits));
      },
      nb::arg("num_qubits") = 0, nb::arg("num_clbits") = 0,
      "A register 'q' of qubits and a register 'c' of classical bits; either may be left out. CircuitError for "
      "numbers that make no register.");
  add_appending(module, circuit);
  add_reading(circuit);
  add_gates(circuit);
  module.def(
      "gates",
      [] {
        nb::list all;
        for (const GateSpelling& one : gate_spellings()) {
          all.append(nb::make_tuple(std::string(one.name), one.controls, one.targets, one.angles));
        }
        return all;
      },
      "[(name, controls, targets, angles)] of every gate.");
}

}  // namespace qsim::python
