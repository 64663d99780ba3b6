// Angles that may be open: numbers plus multiples of parameters.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "common.h"

namespace qsim::python {
namespace {

std::map<std::string, double> factors(const Angle& angle) {
  std::map<std::string, double> sum;
  for (const auto& [name, factor] : angle.terms) sum[name] += factor;
  std::erase_if(sum, [](const auto& one) { return one.second == 0; });
  return sum;
}

std::string number(double value) { return nb::cast<std::string>(nb::repr(nb::float_(value))); }

std::string text(const Angle& angle) {
  std::string sum;
  for (const auto& [name, factor] : factors(angle)) {
    if (!sum.empty()) sum += factor < 0 ? " - " : " + ";
    const double shown = sum.empty() ? factor : std::abs(factor);
    if (shown == -1) sum += "-";
    if (std::abs(shown) != 1) sum += number(shown) + "*";
    sum += name;
  }
  if (sum.empty()) return number(angle.constant);
  if (angle.constant != 0) sum += (angle.constant < 0 ? " - " : " + ") + number(std::abs(angle.constant));
  return sum;
}

}  // namespace

void add_angles(nb::module_& module) {
  nb::class_<Angle>(
      module, "Angle",
      "An angle in radians: a number plus multiples of parameters, as ``2 * Parameter('a') + 0.5``. Gates "
      "take it wherever they take a number.")
      .def(nb::init<double>(), nb::arg("radians"))
      .def("__init__",
           [](Angle* self, double constant, const std::vector<std::pair<std::string, double>>& terms) {
             new (self) Angle(constant);
             self->terms = terms;
           })
      .def_prop_ro(
          "constant", [](const Angle& self) { return self.constant; }, "The number, in radians.")
      .def_prop_ro("terms", factors, "Factors of the parameters, by name.")
      .def(
          "bind",
          [](const Angle& self, const std::map<std::string, double>& values) {
            double sum = self.constant;
            for (const auto& [name, factor] : factors(self)) {
              const auto found = values.find(name);
              if (found == values.end()) throw UsageError("there is no value for parameter \"" + name + "\"");
              sum += factor * found->second;
            }
            return sum;
          },
          nb::arg("values"), "The angle in radians, with `values` put in by name. UsageError where one is missing.")
      .def("__add__", [](const Angle& a, const AnyAngle& b) { return a + b.value; })
      .def("__radd__", [](const Angle& a, const AnyAngle& b) { return b.value + a; })
      .def("__sub__", [](const Angle& a, const AnyAngle& b) { return a - b.value; })
      .def("__rsub__", [](const Angle& a, const AnyAngle& b) { return b.value - a; })
      .def("__neg__", [](const Angle& a) { return -a; })
      .def("__pos__", [](const Angle& a) { return a; })
      .def("__mul__", [](const Angle& a, double factor) { return factor * a; })
      .def("__rmul__", [](const Angle& a, double factor) { return factor * a; })
      .def("__truediv__",
           [](const Angle& a, double divisor) {
             if (divisor == 0) {
               PyErr_SetString(PyExc_ZeroDivisionError, "an angle divided by zero");
               throw nb::python_error();
             }
             return 1 / divisor * a;
           })
      .def(
          "__eq__",
          [](const Angle& a, nb::handle other) {
            AnyAngle b;
            return nb::try_cast(other, b) && a.constant == b.value.constant && factors(a) == factors(b.value);
          },
          nb::arg("other").none())
      .def("__hash__", [](const Angle& a) { return nb::hash(nb::str(text(a).c_str())); })
      .def("__repr__", text)
      .def("__reduce__", [](nb::handle self) {
        const Angle& angle = nb::cast<const Angle&>(self);
        return nb::make_tuple(self.type(), nb::make_tuple(angle.constant, nb::cast(angle.terms)));
      });
  module.def(
      "Parameter",
      [](const std::string& name) {
        if (name.empty()) throw UsageError("a parameter needs a name");
        return Angle(Parameter{name});
      },
      nb::arg("name"),
      "An angle that a circuit leaves open, by its name. Equal names are the same parameter; it is in "
      "radians. UsageError for an empty name.");
}

}  // namespace qsim::python
