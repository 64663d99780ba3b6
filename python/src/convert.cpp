// From Python's numbers and sequences to the library's operands.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common.h"

namespace qsim::python {
namespace {

template <typename T>
Array<T> array_of(nb::handle object, const char* what, const char* kinds, const char* dtype) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array = numpy.attr("asarray")(object);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  const bool empty = nb::cast<std::size_t>(array.attr("size")) == 0;
  if (!empty && std::strchr(kinds, kind[0]) == nullptr) {
    const nb::object type = array.attr("dtype");
    const std::string found = nb::str(nb::handle(type)).c_str();
    throw nb::type_error((std::string(what) + ": " + dtype + " expected, " + found + " found").c_str());
  }
  array = numpy.attr("ascontiguousarray")(array, dtype);
  const auto view = nb::cast<nb::ndarray<nb::ro, const T, nb::c_contig, nb::device::cpu>>(array);
  Array<T> result{array, {view.data(), view.size()}, {}};
  for (std::size_t i = 0; i < view.ndim(); ++i) result.shape.push_back(view.shape(i));
  return result;
}

bool is_number(nb::handle object) {
  return PyIndex_Check(object.ptr()) || PyFloat_Check(object.ptr()) ||
         (nb::hasattr(object, "__float__") && !nb::hasattr(object, "__len__"));
}

}  // namespace

bool truth(nb::handle object) {
  const int value = PyObject_IsTrue(object.ptr());
  if (value < 0) throw nb::python_error();
  return value == 1;
}

Array<std::int64_t> integers(nb::handle object, const char* what) {
  return array_of<std::int64_t>(object, what, "iu", "int64");
}
Array<std::uint64_t> words(nb::handle object, const char* what) {
  const Array<std::int64_t> checked = integers(object, what);
  for (const std::int64_t value : checked.values) {
    if (value < 0) throw UsageError(std::string(what) + ": " + std::to_string(value) + " is negative");
  }
  return array_of<std::uint64_t>(checked.owner, what, "iu", "uint64");
}
Array<double> reals(nb::handle object, const char* what) { return array_of<double>(object, what, "iuf", "float64"); }
Array<Complex> complexes(nb::handle object, const char* what) {
  return array_of<Complex>(object, what, "iufc", "complex128");
}

std::vector<Qubit> to_qubits(nb::handle object, const char* what) {
  std::vector<Qubit> qubits;
  if (PyIndex_Check(object.ptr())) {
    qubits.push_back(to_qubit(nb::cast<std::int64_t>(object)));
    return qubits;
  }
  for (const nb::handle one : nb::iter(object)) {
    const nb::object number = nb::steal(PyNumber_Index(one.ptr()));
    if (!number.is_valid()) {
      PyErr_Clear();
      throw nb::type_error((std::string(what) + " are integers").c_str());
    }
    qubits.push_back(to_qubit(nb::cast<std::int64_t>(number)));
  }
  return qubits;
}

std::vector<ControlQubit> to_controls(nb::handle object) {
  std::vector<ControlQubit> controls;
  if (object.is_none()) return controls;
  if (PyDict_Check(object.ptr())) {
    for (const auto& [qubit, value] : nb::borrow<nb::dict>(object)) {
      controls.emplace_back(to_qubit(nb::cast<std::int64_t>(qubit)), truth(value));
    }
    return controls;
  }
  for (const Qubit qubit : to_qubits(object, "controls")) controls.emplace_back(qubit);
  return controls;
}

Angle to_angle(nb::handle object) {
  if (nb::isinstance<Angle>(object)) return nb::cast<Angle>(object);
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

std::vector<Angle> to_angles(nb::handle object) {
  if (object.is_none()) return {};
  if (nb::isinstance<Angle>(object) || is_number(object)) return {to_angle(object)};
  std::vector<Angle> angles;
  for (const nb::handle value : nb::iter(object)) angles.push_back(to_angle(value));
  return angles;
}

std::vector<double> to_values(const Circuit& circuit, nb::handle object) {
  std::vector<double> values;
  if (PyDict_Check(object.ptr())) {
    const auto& names = circuit.parameters();
    values.assign(names.size(), std::nan(""));
    std::vector<bool> given(names.size());
    for (const auto& [key, value] : nb::borrow<nb::dict>(object)) {
      std::string name;
      if (nb::isinstance<Angle>(key)) {
        const Angle angle = nb::cast<Angle>(key);
        if (angle.terms.size() == 1 && angle.terms[0].second == 1 && angle.constant == 0) name = angle.terms[0].first;
      } else {
        name = nb::cast<std::string>(key);
      }
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) throw UsageError("the circuit has no parameter \"" + name + "\"");
      const auto place = static_cast<std::size_t>(found - names.begin());
      values[place] = nb::cast<double>(nb::float_(value));
      given[place] = true;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!given[i]) throw UsageError("there is no value for parameter \"" + names[i] + "\"");
    }
  } else if (!object.is_none()) {
    const Array<double> array = reals(object, "params");
    if (array.shape.size() > 1) {
      throw UsageError("params: one set of values expected, an array of " + std::to_string(array.shape.size()) +
                       " dimensions found");
    }
    values.assign(array.values.begin(), array.values.end());
  }
  circuit.require_values(values);
  return values;
}

std::string bits_text(const std::vector<Register>& registers, std::span<const std::uint64_t> bits) {
  std::size_t end = 0;
  for (const Register& one : registers) end += one.size;
  std::string text;
  for (auto one = registers.rbegin(); one != registers.rend(); ++one) {
    if (!text.empty() && one->size > 0) text += ' ';
    for (std::uint32_t i = 0; i < one->size; ++i) {
      --end;
      text += (bits[end / 64] >> end % 64 & 1) != 0 ? '1' : '0';
    }
  }
  return text;
}

}  // namespace qsim::python
