// Sessions, programs and states. Calls run without the interpreter's lock; Ctrl-C ends them between two sweeps.
#include "session.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace qsim::python {

Core::Core(const Target& target, Verify verify, nb::object progress, bool mpi)
    : pid_(getpid()), progress_(std::move(progress)) {
  Target wanted = target;
  if (mpi) {
    wanted.communicator = mpi_communicator();
  }
  threaded_ = !mpi && target.ranks > 1;
  SessionOptions options;
  options.verify = verify;
  options.progress = [this](const Progress& how_far) { tell(how_far); };
  const nb::gil_scoped_release release;
  session_.emplace(wanted, options);
}

Core::~Core() {
  // In a child process the session's threads do not exist: what is left of it here is not touched.
  if (session_ && pid_ != getpid()) static_cast<void>(new Session(std::move(*session_)));
}

void Core::tell(const Progress& progress) {
  if (stop_) throw UsageError("the run was interrupted");
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (!progress_.is_none()) progress_(progress.fraction, progress.remaining_seconds);
}

Session& Core::session() {
  if (closed_) throw UsageError("this session is closed");
  if (pid_ != getpid()) {
    throw UsageError("this session was opened before the process forked: it stays with process " + std::to_string(pid_),
                     "open a session in each process");
  }
  return *session_;
}

void Core::require(const State* reading) {
  session();
  if (views_ == 0 || (reading != nullptr && reading == viewed_)) return;
  throw UsageError("arrays share memory with a state of this session, which this would overwrite",
                   "delete them, or make them with to_numpy(copy=True)");
}

void Core::wait(std::future<void>& work) {
  for (;;) {
    {
      const nb::gil_scoped_release release;
      if (work.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    nb::python_error interrupt;
    stop_ = true;
    {
      const nb::gil_scoped_release release;
      work.wait();
    }
    stop_ = false;
    throw interrupt;
  }
  work.get();
}

void Core::close() {
  if (calls_ > 0) throw UsageError("this session is in use: a call is under way");
  closed_ = true;
  if (session_ && pid_ == getpid()) session_.reset();
}

void Core::hold(const State* state) {
  viewed_ = state;
  ++views_;
}
void Core::let_go() { --views_; }

namespace {

// ---- Sessions

std::shared_ptr<Core> open(const std::string& backend, int ranks, const std::string& precision, int threads,
                           std::uint64_t max_memory, std::vector<int> gpu_ids, const std::string& exchange,
                           std::uint32_t states, const std::string& jit, const std::string& verify, nb::object progress,
                           bool mpi) {
  Target target;
  target.backend = choice_of<BackendKind>(backend);
  target.ranks = ranks;
  target.precision = choice_of<Precision>(precision);
  target.threads = threads;
  target.max_memory = max_memory;
  target.gpu_ids = std::move(gpu_ids);
  target.exchange = choice_of<ExchangeKind>(exchange);
  target.states = states;
  target.jit = choice_of<Jit>(jit);
  return std::make_shared<Core>(target, choice_of<Verify>(verify), std::move(progress), mpi);
}

PyState run(const std::shared_ptr<Core>& core, const Program& program, nb::handle values) {
  const std::vector<double> numbers = to_values(program.circuit(), values);
  core->require(nullptr);
  Session& session = core->session();
  std::optional<State> state;
  core->call([&] { state.emplace(session.run(program, numbers)); });
  return {core, std::make_shared<State>(std::move(*state))};
}

Program compile(const std::shared_ptr<Core>& core, const Circuit& circuit) { return core->session().compile(circuit); }

nb::object answers(const std::shared_ptr<Core>& core, const Program& program, std::uint64_t shots,
                   std::optional<std::uint64_t> seed, bool distribution, bool marginals,
                   const std::vector<std::vector<Qubit>>& probabilities, const std::vector<PauliSum>& observables,
                   nb::handle values, std::uint64_t max_iterations) {
  const std::vector<double> numbers = to_values(program.circuit(), values);
  core->require(nullptr);
  Session& session = core->session();
  ProgramAnswers found;
  core->call([&] {
    found = session.answer(program, {shots, seed, distribution, marginals, probabilities, observables, max_iterations},
                           numbers);
  });
  const std::vector<Register> registers = program.circuit().shown_cregs();
  nb::dict result, counts, exact;
  const auto list = [&](const auto& outcomes, nb::dict& to) {
    for (const auto& [bits, value] : outcomes) to[nb::str(bits_text(registers, bits).c_str())] = value;
  };
  list(found.counts, counts);
  list(found.distribution, exact);
  result["counts"] = shots > 0 ? nb::object(counts) : nb::none();
  result["seed"] = shots > 0 ? nb::object(nb::int_(found.seed)) : nb::none();
  result["distribution"] = distribution ? nb::object(exact) : nb::none();
  result["marginals"] = marginals ? nb::object(to_numpy(std::move(found.marginals))) : nb::none();
  nb::list tables;
  for (auto& table : found.probabilities) tables.append(to_numpy(std::move(table)));
  result["probabilities"] = tables;
  result["expectations"] = observables.empty() ? nb::none() : nb::object(to_numpy(std::move(found.expectations)));
  result["branches"] = found.branches;
  nb::list shown;
  for (const Register& one : registers) shown.append(nb::make_tuple(one.name, one.size));
  result["cregs"] = shown;
  return result;
}

void add_program(nb::module_& module) {
  nb::class_<Program>(module, "Program", "A circuit that is planned for a session's target; runs any number of times.")
      .def_prop_ro("num_qubits", &Program::qubits)
      .def_prop_ro(
          "circuit", [](const Program& self) { return self.circuit(); }, "A copy of its circuit.")
      .def_prop_ro(
          "parameters", [](const Program& self) { return nb::tuple(nb::cast(self.circuit().parameters())); },
          "Names of the open parameters, in the order in which values are given.")
      .def_prop_ro("dynamic", &Program::dynamic,
                   "Measures, resets or branches before its end: Session.answer() runs it.")
      .def(
          "work",
          [](const Program& self, nb::handle values) {
            const ProgramWork work = self.work(to_values(self.circuit(), values));
            nb::dict facts;
            facts["sweeps"] = work.sweeps;
            facts["exchanges"] = work.exchanges;
            facts["bytes_swept"] = work.bytes_swept;
            facts["bytes_exchanged"] = work.bytes_exchanged;
            facts["memory_bytes"] = work.memory_bytes;
            facts["seconds"] = work.seconds;
            return facts;
          },
          nb::arg("params") = nb::none(),
          "What a run from |0...0> does, a rank: {sweeps, exchanges, bytes_swept, bytes_exchanged, memory_bytes, "
          "seconds}, the "
          "last one predicted. UsageError for values that do not fit the parameters.")
      .def(
          "draw",
          [](const Program& self, nb::handle values, std::size_t width) {
            const std::string svg = self.timetable(to_values(self.circuit(), values), width);
            return nb::module_::import_("qsim_hpc._draw").attr("Svg")(svg);
          },
          nb::arg("params") = nb::none(), nb::arg("width") = 1000,
          "Its timetable from |0...0> as SVG: a row for each rank, sweeps and exchanges as long as predicted; `width` "
          "in "
          "pixels. UsageError for values that do not fit the parameters.")
      .def("__repr__", [](const Program& self) {
        return "<Program of " + std::to_string(self.qubits()) + " qubits" + (self.dynamic() ? ", dynamic" : "") + ">";
      });
}

}  // namespace

void add_sessions(nb::module_& module) {
  add_program(module);
  add_states(module);
  nb::class_<Core>(
      module, "Session",
      "Devices that are opened once: programs run there, and states stay there. One thread uses it at a time; "
      "others get UsageError, and so does a process that forked after it was opened. A with-statement closes "
      "it.")
      .def(
          nb::new_(&open), nb::arg("backend") = "auto", nb::kw_only(), nb::arg("ranks") = 1,
          nb::arg("precision") = "double", nb::arg("threads") = 0, nb::arg("max_memory") = 0,
          nb::arg("gpu_ids") = std::vector<int>(), nb::arg("exchange") = "auto", nb::arg("states") = 2,
          nb::arg("jit") = "auto", nb::arg("verify") = "norm", nb::arg("progress") = nb::none(), nb::arg("mpi") = false,
          "`backend`: 'auto', 'cpu' or 'cuda'. `ranks`: devices that share a state, a power of two. `precision`: "
          "'double' "
          "or 'single'. `threads`: of a rank on CPUs, 0 for all cores. `max_memory`: bytes a rank, 0 for the device's. "
          "`progress(fraction, remaining_seconds)`: called at most ten times a second; what it raises ends the run. "
          "`mpi`: this process is a rank of the launcher's job, and every rank makes the same calls. "
          "UsageError for a target that makes no sense, DeviceError, CommunicatorError.")
      .def("compile", compile, nb::arg("circuit"),
           "Plans a circuit for this session: a Program. CapacityError, a MemoryError, where its state does not fit.")
      .def("run", run, nb::arg("program"), nb::arg("params") = nb::none(),
           "The State that a program makes of |0...0>; terminal measurements are left out. `params`: radians, by name "
           "or in "
           "the order of `parameters`. UsageError for other values, UnsupportedError for a dynamic program, "
           "CapacityError, VerificationError.")
      .def(
          "run",
          [](const std::shared_ptr<Core>& self, const Circuit& circuit, nb::handle values) {
            return run(self, compile(self, circuit), values);
          },
          nb::arg("circuit"), nb::arg("params") = nb::none(), "The same for a circuit, which is compiled first.")
      .def(
          "state",
          [](const std::shared_ptr<Core>& self, std::uint32_t qubits) {
            self->require(nullptr);
            Session& session = self->session();
            std::optional<State> state;
            self->call([&] { state.emplace(session.state(qubits)); });
            return PyState{self, std::make_shared<State>(std::move(*state))};
          },
          nb::arg("num_qubits"), "A new State, |0...0>. CapacityError, a MemoryError, where it does not fit.")
      .def(
          "_answer",
          [](const std::shared_ptr<Core>& self, const Program& program, std::uint64_t shots,
             std::optional<std::uint64_t> seed, bool distribution, bool marginals, nb::handle probabilities,
             nb::handle observables, nb::handle values, std::uint64_t max_iterations) {
            std::vector<std::vector<Qubit>> lists;
            for (const nb::handle one : nb::iter(probabilities)) lists.push_back(to_qubits(one, "qubits"));
            std::vector<PauliSum> sums;
            for (const nb::handle one : nb::iter(observables)) sums.push_back(to_sum(one, program.qubits()));
            return answers(self, program, shots, seed, distribution, marginals, lists, sums, values, max_iterations);
          },
          nb::arg("program"), nb::arg("shots"), nb::arg("seed").none(), nb::arg("distribution"), nb::arg("marginals"),
          nb::arg("probabilities"), nb::arg("observables"), nb::arg("params").none(),
          nb::arg("max_iterations") = Questions().max_iterations)
      .def("close", &Core::close,
           "Ends it: its states cannot be used any more, and their memory is free when they are gone. UsageError "
           "while another thread's call is under way.")
      .def_prop_ro("closed", &Core::closed, "Whether close() was called.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](Core& self, const nb::args&) { self.close(); })
      .def_prop_ro(
          "backend", [](Core& self) { return std::string(name_of(self.session().target().backend)); },
          "'cpu' or 'cuda'.")
      .def_prop_ro(
          "precision", [](Core& self) { return std::string(name_of(self.session().target().precision)); },
          "'double' or 'single': of its states' amplitudes, complex128 or complex64.")
      .def_prop_ro(
          "ranks", [](Core& self) { return self.session().ranks(); }, "How many devices share its states.")
      .def_prop_ro(
          "rank", [](Core& self) { return self.session().rank(); },
          "Which of them this process is; 0 where they are its threads.")
      .def_prop_ro(
          "reason", [](Core& self) { return self.session().reason(); }, "Why this backend was chosen.")
      .def_prop_ro(
          "memory_bytes", [](Core& self) { return self.session().memory_bytes(); },
          "What each rank may use of its device's memory.")
      .def("__repr__", [](Core& self) {
        if (self.closed()) return std::string("<Session, closed>");
        const Target& target = self.session().target();
        const int ranks = self.session().ranks();
        return "<Session on " + std::string(name_of(target.backend)) + ", " + std::to_string(ranks) + " rank" +
               (ranks > 1 ? "s, " : ", ") + std::string(name_of(target.precision)) + " precision>";
      });
}

}  // namespace qsim::python
