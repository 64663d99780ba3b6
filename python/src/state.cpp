// States: questions, arrays that share their memory, and setting them.
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "session.h"

namespace qsim::python {
namespace {

// ---- Arrays of a state

/// Of a state whose memory `view` keeps.
StateMemory memory_of(const View& view) {
  StateMemory memory;
  view.core->call([&] { memory = view.state->memory(); });
  if (memory.data == nullptr) throw UnsupportedError("this backend has no amplitudes");
  return memory;
}

template <typename T>
NumpyArray copied(PyState& self) {
  std::vector<T> values;
  try {
    const View view(self.core, self.state);
    const StateMemory memory = memory_of(view);
    if (memory.gpu < 0) {
      values.resize(memory.amplitudes);
      std::memcpy(values.data(), memory.data, memory.amplitudes * sizeof(T));
      return to_numpy(std::move(values));
    }
  } catch (const UnsupportedError&) {  // ranks share it
  }
  const Index size = Index{1} << self.state->qubits(), piece = std::min(size, Index{1} << 20);
  values.resize(size);
  self.core->call([&] {
    for (Index first = 0; first < size; first += piece) {
      const std::vector<Complex> part = self.state->amplitudes(first, piece);
      for (Index i = 0; i < piece; ++i) values[first + i] = static_cast<T>(part[i]);
    }
  });
  return to_numpy(std::move(values));
}

bool is_double(const PyState& self) { return self.core->session().target().precision == Precision::kDouble; }

nb::capsule owner(std::unique_ptr<View> view) {
  return nb::capsule(view.release(), [](void* held) noexcept { delete static_cast<View*>(held); });
}

template <typename T>
nb::object shared(std::unique_ptr<View> view, const StateMemory& memory) {
  const std::size_t size = memory.amplitudes;
  const T* const data = static_cast<const T*>(memory.data);
  if (memory.gpu < 0) return nb::cast(nb::ndarray<nb::numpy, const T>(data, 1, &size, owner(std::move(view))));
  return nb::cast(nb::ndarray<nb::array_api, const T>(data, 1, &size, owner(std::move(view)), nullptr, nb::dtype<T>(),
                                                      nb::device::cuda::value, memory.gpu));
}

/// An array that shares the state's memory: numpy's, or for a GPU one that knows DLPack.
nb::object exported(PyState& self) {
  auto view = std::make_unique<View>(self.core, self.state);
  const StateMemory memory = memory_of(*view);
  return memory.precision == Precision::kDouble ? shared<Complex>(std::move(view), memory)
                                                : shared<std::complex<float>>(std::move(view), memory);
}

nb::object shared_array(PyState& self) {
  if (self.core->session().target().backend == BackendKind::kCuda) {
    throw UnsupportedError("the state lies on a GPU: numpy needs a copy; CuPy and DLPack do not");
  }
  return exported(self);
}

NumpyArray array_of(PyState& self, nb::handle copy) {
  if (!copy.is_none() && !truth(copy)) return nb::borrow<NumpyArray>(shared_array(self));
  return is_double(self) ? copied<Complex>(self) : copied<std::complex<float>>(self);
}

nb::dict cuda_interface(PyState& self) {
  if (self.core->session().target().backend != BackendKind::kCuda) {
    PyErr_SetString(PyExc_AttributeError, "the state lies in the memory of the host");
    throw nb::python_error();
  }
  // The protocol does not say when the reader is done, so that it stays for as long as this object.
  if (!self.exported) self.exported = std::make_shared<View>(self.core, self.state);
  const StateMemory memory = memory_of(*self.exported);
  nb::dict facts;
  facts["shape"] = nb::make_tuple(memory.amplitudes);
  facts["typestr"] = memory.precision == Precision::kDouble ? "<c16" : "<c8";
  facts["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(memory.data), true);
  facts["version"] = 3;
  return facts;
}

/// Calls `ask(state)` without the lock and gives its answer.
template <typename Ask>
auto asked(PyState& self, const Ask& ask) {
  self.core->require(self.state.get());
  std::invoke_result_t<Ask, State&> answer{};
  self.core->call([&] { answer = ask(*self.state); });
  return answer;
}

/// Calls `change(state)`, which nothing may share memory with.
template <typename Change>
void changed(PyState& self, const Change& change) {
  self.core->require(nullptr);
  self.core->call([&] { change(*self.state); });
}

nb::typed<nb::tuple, NumpyArray, NumpyArray> sample_words(PyState& self, std::uint64_t shots,
                                                          std::optional<std::uint64_t> seed) {
  const auto drawn = asked(self, [&](State& state) { return state.sample(shots, seed); });
  std::vector<std::uint64_t> indices, times;
  for (const auto& [index, count] : drawn) {
    indices.push_back(index);
    times.push_back(count);
  }
  return nb::make_tuple(to_numpy(std::move(indices)), to_numpy(std::move(times)));
}

nb::dict sample_counts(PyState& self, std::uint64_t shots, std::optional<std::uint64_t> seed) {
  const auto drawn = asked(self, [&](State& state) { return state.sample(shots, seed); });
  const std::vector<Register> all{{"q", 0, self.state->qubits()}};
  nb::dict counts;
  for (const auto& [index, count] : drawn) counts[nb::str(bits_text(all, {&index, 1}).c_str())] = count;
  return counts;
}

NumpyArray amplitudes(PyState& self, nb::handle indices) {
  const Array<std::uint64_t> wanted = words(indices, "indices");
  return to_numpy(asked(self, [&](State& state) { return state.amplitudes(wanted.values); }), wanted.shape);
}

double expectation(PyState& self, nb::handle observable) {
  const PauliSum sum = to_sum(observable, self.state->qubits());
  return asked(self, [&](State& state) { return state.expectation(sum); });
}

NumpyArray expectations(PyState& self, nb::handle observables) {
  std::vector<PauliSum> sums;
  std::vector<PauliString> strings;
  for (const nb::handle one : nb::iter(observables)) sums.push_back(to_sum(one, self.state->qubits()));
  for (const PauliSum& sum : sums) {
    for (const PauliTerm& term : sum.terms) strings.push_back(term.pauli);
  }
  const std::vector<double> found = asked(self, [&](State& state) { return state.expectations(strings); });
  std::vector<double> values;
  std::size_t next = 0;
  for (const PauliSum& sum : sums) {
    double total = 0;
    for (const PauliTerm& term : sum.terms) total += term.coefficient * found[next++];
    values.push_back(total);
  }
  return to_numpy(std::move(values));
}

nb::list top(PyState& self, std::size_t count) {
  nb::list entries;
  for (const AmplitudeEntry& one : asked(self, [&](State& state) { return state.top(count); })) {
    entries.append(nb::make_tuple(one.index, one.value, one.probability));
  }
  return entries;
}

void set_product(PyState& self, nb::handle pairs) {
  const Array<Complex> array = complexes(pairs, "pairs");
  if (array.shape != std::vector<std::size_t>{self.state->qubits(), 2}) {
    throw UsageError("pairs: an array of shape (" + std::to_string(self.state->qubits()) + ", 2) expected");
  }
  std::vector<std::array<Complex, 2>> of_qubits;
  for (std::size_t i = 0; i < array.values.size(); i += 2) of_qubits.push_back({array.values[i], array.values[i + 1]});
  changed(self, [&](State& state) { state.set_product(of_qubits); });
}

}  // namespace

void add_states(nb::module_& module) {
  nb::class_<PyState>(
      module, "State",
      "A state of a session: programs run on it, and questions are asked of it, in any order. Qubit q is "
      "bit q of an index. A state that a failed or interrupted run has left has no value: UsageError "
      "until it is set again.")
      .def_prop_ro(
          "num_qubits", [](PyState& self) { return self.state->qubits(); }, "Number of qubits.")
      .def("__len__", [](PyState& self) { return std::size_t{1} << self.state->qubits(); })
      .def(
          "copy",
          [](PyState& self) {
            self.core->require(nullptr);
            std::optional<State> other;
            self.core->call([&] { other.emplace(self.state->copy()); });
            return PyState{self.core, std::make_shared<State>(std::move(*other))};
          },
          "An equal state of the same session.")
      .def(
          "run",
          [](PyState& self, const Program& program, nb::handle values) {
            const std::vector<double> numbers = to_values(program.circuit(), values);
            changed(self, [&](State& state) { state.run(program, numbers); });
          },
          nb::arg("program"), nb::arg("params") = nb::none(),
          "Runs a program of the session on this state. `params`: radians, by name or in the order of `parameters`. "
          "UsageError for other values or qubits, UnsupportedError for a dynamic one.")
      .def(
          "run",
          [](PyState& self, const Circuit& circuit, nb::handle values) {
            const Program program = self.core->session().compile(circuit);
            const std::vector<double> numbers = to_values(circuit, values);
            changed(self, [&](State& state) { state.run(program, numbers); });
          },
          nb::arg("circuit"), nb::arg("params") = nb::none(), "A circuit likewise, which is compiled first.")
      .def(
          "set_basis",
          [](PyState& self, std::uint64_t index) { changed(self, [&](State& state) { state.set(index); }); },
          nb::arg("index") = 0, "Makes it the basis state `index`, 0 .. 2**n - 1, else UsageError.")
      .def(
          "set_amplitudes",
          [](PyState& self, nb::handle amplitudes) {
            const Array<Complex> values = complexes(amplitudes, "amplitudes");
            if (values.shape.size() != 1) throw UsageError("amplitudes: an array of one dimension expected");
            changed(self, [&](State& state) { state.set(values.values); });
          },
          nb::arg("amplitudes"),
          "Takes complex numbers of shape (2**n,), by index, whose squares add up to 1 to single precision, else "
          "UsageError; they are not scaled. TypeError for other numbers.")
      .def("set_product", set_product, nb::arg("pairs"),
           "Takes complex numbers of shape (n, 2): the amplitudes of 0 and 1 of every qubit, each pair normalised, "
           "else UsageError.")
      .def(
          "set_random",
          [](PyState& self, std::uint64_t seed) { changed(self, [&](State& state) { state.set_random(seed); }); },
          nb::arg("seed"),
          "Gaussian amplitudes, normalised; the same for a seed on any target. TypeError for a seed that is no "
          "integer.")
      .def(
          "load",
          [](PyState& self, nb::handle path) {
            const auto name = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(path));
            changed(self, [&](State& state) { state.load(name); });
          },
          nb::arg("path"),
          "Reads what save() wrote: a .npy file of shape (2**n,). FileError, an OSError, where it cannot.")
      .def(
          "save",
          [](PyState& self, nb::handle path) {
            const auto name = nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(path));
            self.core->require(self.state.get());
            self.core->call([&] { self.state->save(name); });
          },
          nb::arg("path"),
          "Writes a .npy file of shape (2**n,), complex64 or complex128, by index. FileError, an OSError, where it "
          "cannot.")
      .def(
          "norm", [](PyState& self) { return asked(self, [](State& state) { return state.norm(); }); },
          "Sum of the probabilities.")
      .def(
          "marginals",
          [](PyState& self) { return to_numpy(asked(self, [](State& state) { return state.marginals(); })); },
          "Shape (n,): the probability that qubit q is 1.")
      .def(
          "probabilities",
          [](PyState& self, nb::handle qubits) {
            std::vector<Qubit> list;
            if (qubits.is_none()) {
              for (Qubit qubit = 0; qubit < self.state->qubits(); ++qubit) list.push_back(qubit);
            } else {
              list = to_qubits(qubits, "qubits");
            }
            return to_numpy(asked(self, [&](State& state) { return state.probabilities(list); }));
          },
          nb::arg("qubits") = nb::none(),
          "Shape (2**k,): at v the probability that qubits[j] equals bit j of v; all qubits where there are none; at "
          "most 26. UsageError for more, for qubits that do not exist and for one that is named twice.")
      .def("amplitudes", amplitudes, nb::arg("indices"),
           "Complex numbers of the shape of `indices`. UsageError for one that is not 0 .. 2**n - 1, TypeError for "
           "others than "
           "integers.")
      .def(
          "top", top, nb::arg("count"),
          "[(index, amplitude, probability)] of the `count` most probable basis states; of equal ones the lowest index "
          "first. CapacityError, a MemoryError, for more than fit.")
      .def("expectation", expectation, nb::arg("observable"),
           "Expectation value of a Pauli sum: 'Z0 Z1 + 0.5 X2', {'Z0 Z1': 1, 'X2': 0.5}, or a PauliSum. "
           "UsageError for other letters and qubits, and for coefficients that are not real.")
      .def("expectations", expectations, nb::arg("observables"),
           "Shape (m,): expectation values of m Pauli sums, each as expectation() has it. UsageError likewise.")
      .def(
          "inner_product",
          [](PyState& self, PyState& other) {
            if (self.core != other.core) throw UsageError("states of two sessions have no inner product here");
            self.core->require(nullptr);
            Complex product;
            self.core->call([&] { product = self.state->inner_product(*other.state); });
            return product;
          },
          nb::arg("other"), "<other|this>, of states of one session and one number of qubits, else UsageError.")
      .def("sample", sample_words, nb::arg("shots"), nb::arg("seed") = nb::none(),
           "Measures all qubits `shots` times: two arrays, the indices seen, rising, and how often each was. The same "
           "for a seed on any target; without one it is drawn. Both of shape (outcomes,), uint64. CapacityError for "
           "more "
           "shots than memory holds, TypeError for what is no number of shots.")
      .def("sample_counts", sample_counts, nb::arg("shots"), nb::arg("seed") = nb::none(),
           "The same as {bits: times}; qubit 0 is right-most. CapacityError and TypeError likewise.")
      .def(
          "to_numpy", array_of, nb::kw_only(), nb::arg("copy") = true,
          "Shape (2**n,), complex128 or complex64 as the session's precision: the amplitudes by index. With copy=False "
          "it "
          "shares the state's memory (CPUs, one rank) and is read-only; while such an array lives, the session answers "
          "questions about this state and refuses all else. UnsupportedError where nothing can be shared.")
      .def(
          "__array__",
          [](PyState& self, nb::handle dtype, nb::handle copy) {
            const nb::object array = array_of(self, copy);
            if (dtype.is_none()) return array;
            if (!copy.is_none() && !truth(copy) && !array.attr("dtype").equal(dtype)) {
              throw nb::value_error("another dtype needs a copy");
            }
            return nb::object(array.attr("astype")(dtype, nb::arg("copy") = false));
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__",
           [](PyState& self, const nb::kwargs& options) {
             if (options.contains("copy") && truth(nb::object(options["copy"]))) {
               nb::dict rest;
               for (const auto& [key, value] : options) {
                 if (!key.equal(nb::str("copy"))) rest[key] = value;
               }
               return nb::object(array_of(self, nb::none()).attr("__dlpack__")(**rest));
             }
             return nb::object(exported(self).attr("__dlpack__")(**options));
           })
      .def("__dlpack_device__",
           [](PyState& self) {
             const StateMemory memory = memory_of(View(self.core, self.state));
             return memory.gpu < 0 ? nb::make_tuple(1, 0) : nb::make_tuple(2, memory.gpu);
           })
      .def_prop_ro("__cuda_array_interface__", cuda_interface)
      .def("__repr__", [](PyState& self) { return "<State of " + std::to_string(self.state->qubits()) + " qubits>"; });
}

}  // namespace qsim::python
