// The module qsim_hpc._core.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common.h"

namespace qsim::python {
namespace {

nb::dict batch(const Circuit& circuit, nb::handle values, std::uint32_t shots, std::uint64_t seed, bool marginals,
               bool states, const std::string& backend, int threads, const std::string& precision,
               const std::vector<int>& gpu_ids) {
  const Array<double> numbers = reals(values, "values");
  const std::size_t parameters = circuit.parameters().size();
  if (numbers.shape.size() != 2 || numbers.shape[1] != parameters) {
    throw UsageError("values: an array of shape (m, " + std::to_string(parameters) + ") expected");
  }
  BatchOptions options;
  options.target.backend = choice_of<BackendKind>(backend);
  options.target.threads = threads;
  options.target.precision = choice_of<Precision>(precision);
  options.target.gpu_ids = gpu_ids;
  options.marginals = marginals;
  options.shots = shots;
  options.seed = seed;
  options.states = states;
  options.progress = [](const Progress&) {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  BatchResult result;
  {
    const nb::gil_scoped_release release;
    result = run_batch(circuit, numbers.values, options, numbers.shape[0]);
  }
  nb::dict answers;
  const std::size_t count = result.evaluations;
  if (marginals) answers["marginals"] = to_numpy(std::move(result.marginals), {count, circuit.qubits()});
  if (shots > 0) answers["outcomes"] = to_numpy(std::move(result.outcomes), {count, shots});
  if (states) answers["states"] = to_numpy(std::move(result.states), {count, std::size_t{1} << circuit.qubits()});
  return answers;
}

}  // namespace
}  // namespace qsim::python

NB_MODULE(_core, module) {
  using namespace qsim::python;
  // What globals still hold when the interpreter ends is no mistake of the program's.
  nanobind::set_leak_warnings(false);
  module.attr("VERSION") = QSIM_VERSION;
  add_errors(module);
  add_angles(module);
  add_circuits(module);
  add_observables(module);
  add_sessions(module);
  add_pictures(module);
  module.def(
      "info",
      [] {
        std::vector<std::pair<std::string, std::string>> facts;
        {
          const nb::gil_scoped_release release;
          facts = qsim::machine_facts();
        }
        nb::dict named;
        for (const auto& [name, text] : facts) named[nb::str(name.c_str())] = text;
        return named;
      },
      nb::sig("def info() -> dict[str, str]"),
      "This build and this machine as {name: text}: version, processor, memory, MPI, CUDA, which GPUs there are or why "
      "none, and the files of the CUDA libraries that are opened on first use. Starts the driver where there is one.");
  module.def("too_small_for_a_gpu", &qsim::too_small_for_a_gpu, nb::arg("circuit"),
             "Whether cores are done with it before a GPU's driver has started, 0.3 s.");
  module.def(
      "run_batch", batch, nb::arg("circuit"), nb::arg("values"), nb::kw_only(), nb::arg("shots") = 0,
      nb::arg("seed") = 1, nb::arg("marginals") = true, nb::arg("states") = false, nb::arg("backend") = "auto",
      nb::arg("threads") = 0, nb::arg("precision") = "double", nb::arg("gpu_ids") = std::vector<int>(),
      "Many evaluations of one circuit of at most 20 qubits from |0...0> on one device, with `values` of shape "
      "(m, parameters). A dictionary of arrays: 'marginals' (m, n), the probability that qubit q is 1; 'outcomes' "
      "(m, shots), indices; 'states' (m, 2**n). Measurements at the end are left out. "
      "Values are radians. Ctrl-C ends it: KeyboardInterrupt. UsageError for values of another shape, UnsupportedError "
      "for circuits that are not of this kind, DeviceError.");
}
