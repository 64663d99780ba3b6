// Pauli sums from text, mappings, pairs and bit masks.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common.h"

namespace qsim::python {
namespace {

double coefficient_of(nb::handle object) {
  if (PyComplex_Check(object.ptr())) {
    if (PyComplex_ImagAsDouble(object.ptr()) != 0) throw UsageError("a coefficient is not real");
    return PyComplex_RealAsDouble(object.ptr());
  }
  return nb::cast<double>(nb::float_(object));
}

void add_term(PauliSum& sum, nb::handle text, nb::handle coefficient, std::uint32_t qubits) {
  const double factor = coefficient_of(coefficient);
  for (PauliTerm term : parse_pauli_sum(nb::cast<std::string>(text), qubits).terms) {
    term.coefficient *= factor;
    sum.terms.push_back(term);
  }
}

PauliSum from_masks(nb::handle x, nb::handle z, nb::handle coefficients) {
  const Array<std::uint64_t> xs = words(x, "x"), zs = words(z, "z");
  const Array<double> factors = reals(coefficients, "coefficients");
  if (xs.values.size() != zs.values.size() || xs.values.size() != factors.values.size()) {
    throw UsageError("x, z and coefficients: arrays of one length expected");
  }
  PauliSum sum;
  for (std::size_t i = 0; i < xs.values.size(); ++i) {
    sum.terms.push_back({factors.values[i], {xs.values[i], zs.values[i]}});
  }
  return sum;
}

}  // namespace

PauliSum to_sum(nb::handle object, std::uint32_t qubits) {
  if (nb::isinstance<PauliSum>(object)) return nb::cast<PauliSum>(object);
  if (PyUnicode_Check(object.ptr())) return parse_pauli_sum(nb::cast<std::string>(object), qubits);
  PauliSum sum;
  if (PyDict_Check(object.ptr())) {
    for (const auto& [text, coefficient] : nb::borrow<nb::dict>(object)) add_term(sum, text, coefficient, qubits);
    return sum;
  }
  for (const nb::handle pair : nb::iter(object)) {
    const nb::tuple both(nb::borrow(pair));
    if (both.size() != 2)
      throw nb::type_error("an observable is text, {text: coefficient} or pairs (text, coefficient)");
    add_term(sum, both[0], both[1], qubits);
  }
  return sum;
}

void add_observables(nb::module_& module) {
  nb::class_<PauliSum>(module, "PauliSum", "A sum of products of Pauli letters with real coefficients.")
      .def(
          "__init__",
          [](PauliSum* self, nb::handle terms, std::uint32_t qubits) { new (self) PauliSum(to_sum(terms, qubits)); },
          nb::arg("terms"), nb::arg("num_qubits"),
          "`terms`: text 'Z0 Z1 + 0.5 X2', {'Z0 Z1': 1, 'X2': 0.5} or pairs of these; dense strings ('IZZ') have qubit "
          "0 right-most. UsageError for other letters and qubits, and for coefficients that are not real.")
      .def_static("from_masks", from_masks, nb::arg("x"), nb::arg("z"), nb::arg("coefficients"),
                  "From arrays of shape (m,): bit q of x is set where qubit q has X or Y, of z where it has Z or Y. "
                  "UsageError for arrays of several lengths, TypeError for other numbers.")
      .def("__len__", [](const PauliSum& self) { return self.terms.size(); })
      .def_prop_ro(
          "terms",
          [](const PauliSum& self) {
            nb::list terms;
            for (const PauliTerm& term : self.terms)
              terms.append(nb::make_tuple(pauli_text(term.pauli), term.coefficient));
            return terms;
          },
          "[(text, coefficient)], such as ('Z0 X3', 0.5).")
      .def("__repr__",
           [](const PauliSum& self) { return "<PauliSum of " + std::to_string(self.terms.size()) + " terms>"; });
}

}  // namespace qsim::python
