// What the rooms of the module share: conversions from Python, errors, and how a call waits without the lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "qsim/qsim.h"

namespace qsim::python {

namespace nb = nanobind;

// -- rooms of the module, in the order in which they are registered
void add_errors(nb::module_& module);
void add_angles(nb::module_& module);
void add_circuits(nb::module_& module);
void add_gates(nb::class_<Circuit>& circuit);
void add_appending(nb::module_& module, nb::class_<Circuit>& circuit);
void add_observables(nb::module_& module);
void add_states(nb::module_& module);
void add_sessions(nb::module_& module);
void add_pictures(nb::module_& module);

/// The circuit itself, which methods that append return.
using Chain = nb::typed<nb::handle, Circuit>;

// -- arrays: whatever numpy.asarray() takes, with TypeError where the numbers are of another kind
template <typename T>
struct Array {
  nb::object owner;
  std::span<const T> values;  // row-major
  std::vector<std::size_t> shape;
};
Array<std::int64_t> integers(nb::handle object, const char* what);
Array<std::uint64_t> words(nb::handle object, const char* what);  // UsageError for negative ones
Array<double> reals(nb::handle object, const char* what);
Array<Complex> complexes(nb::handle object, const char* what);

/// What stubs call a numpy array.
inline bool is_numpy(PyObject*) { return true; }
class NumpyArray : public nb::object {
  NB_OBJECT_DEFAULT(NumpyArray, nb::object, "numpy.ndarray", is_numpy)
};
/// A numpy array that owns `values`.
template <typename T>
NumpyArray to_numpy(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* held = new std::vector<T>(std::move(values));
  const nb::capsule owner(held, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  return nb::borrow<NumpyArray>(nb::cast(nb::ndarray<nb::numpy, T>(held->data(), shape.size(), shape.data(), owner)));
}
template <typename T>
NumpyArray to_numpy(std::vector<T> values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

// -- operands
/// As `if` in Python has it.
bool truth(nb::handle object);
/// CircuitError for what is no number of a qubit.
inline Qubit to_qubit(std::int64_t number) {
  if (number < 0 || number > 0xffffffff) throw CircuitError("qubit " + std::to_string(number) + " does not exist");
  return static_cast<Qubit>(number);
}
/// None, a number, numbers, or {number: value}.
std::vector<ControlQubit> to_controls(nb::handle object);
std::vector<Qubit> to_qubits(nb::handle object, const char* what);
/// A number or an Angle, as an argument.
struct AnyAngle {
  Angle value = 0;
};
Angle to_angle(nb::handle object);
/// Numbers, Angles, or a sequence of both.
std::vector<Angle> to_angles(nb::handle object);
/// By position, or {name or Angle: value}; None where there are none. UsageError as Circuit::require_values().
std::vector<double> to_values(const Circuit& circuit, nb::handle object);
/// Text, {text: coefficient}, pairs of both, or a PauliSum.
PauliSum to_sum(nb::handle object, std::uint32_t qubits);

/// UnsupportedError for a circuit whose operations are the blocks of a program with classical control.
void require_open(const Circuit& circuit);

// -- operations as values
struct Step {
  OpKind kind = OpKind::kGate;
  Gate gate = Gate::kId;
  std::vector<Qubit> controls, targets;
  std::string letters;
  Clbit clbit = 0;
  std::vector<Angle> angles;
  std::vector<Complex> matrix;
};
Step step_of(const Circuit& circuit, const Operation& op);
void add_step(Circuit& circuit, const Step& step);
/// All of a circuit but for source lines; circuits that are equal have equal bytes. UnsupportedError for one with
/// classical control, which only its program text holds.
std::string circuit_bytes(const Circuit& circuit);
Circuit circuit_from_bytes(const std::string& bytes);

/// "10 011": the last register first, its highest bit first.
std::string bits_text(const std::vector<Register>& registers, std::span<const std::uint64_t> bits);

}  // namespace qsim::python

template <>
struct nanobind::detail::type_caster<qsim::python::AnyAngle> {
  NB_TYPE_CASTER(qsim::python::AnyAngle, const_name("float | qsim_hpc._core.Angle"))
  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (isinstance<qsim::Angle>(source)) {
      value.value = *inst_ptr<qsim::Angle>(source);
      return true;
    }
    const double number = PyFloat_AsDouble(source.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    value.value = number;
    return true;
  }
};
