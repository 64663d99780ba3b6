// `qsim gram`: the states that several circuits prepare, compared with each other.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "batch/gram_document.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
#include "cli/io/values.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

const char kFooter[] =
    "All circuits have the same number of qubits; measurements at the end are left out.\n"
    "Examples:\n"
    "  qsim gram a.qasm b.qasm c.qasm\n"
    "  qsim gram a.qasm b.qasm --unitary oracle=oracle.npy\n"
    "  qsim gram states/*.qasm --json --output gram.json\n";

struct GramFlags {
  std::vector<std::string> files;
  std::string backend = "auto", precision = "double", threads, max_memory, output;
  bool json = false;
};

Target options_of(const Flags& flags, const GramFlags& typed) {
  Target options;
  options.backend = choice_of<BackendKind>(typed.backend);
  options.precision = choice_of<Precision>(typed.precision);
  if (flags.given("--threads")) {
    options.threads = parse_threads(typed.threads);
    if (typed.backend == "cuda") throw UsageError("--threads would have no effect: the GPU computes");
  }
  if (flags.given("--max-memory")) options.max_memory = parse_bytes("--max-memory", typed.max_memory);
  return options;
}

/// Each circuit takes the matrices that it has opaque gates for. UsageError where a matrix is for none of them.
std::vector<Circuit> read_all(const std::vector<std::string>& files, Context& context,
                              const CircuitArguments& arguments) {
  std::vector<Circuit> circuits;
  std::set<std::string> used;
  for (const std::string& file : files) {
    CircuitInput input = read_circuit(file, context, arguments);
    used.insert(input.unitaries.begin(), input.unitaries.end());
    circuits.push_back(std::move(input.circuit));
  }
  for (const auto& [name, matrix] : arguments.unitaries) {
    if (!used.contains(name)) {
      throw UsageError("--unitary: the matrix of '" + escape_text(name, 60) +
                       "' would have no effect: no circuit declares an opaque gate of that name");
    }
  }
  return circuits;
}

}  // namespace

Output command_gram(std::span<const std::string> arguments, Context& context) {
  context.failure_document = [](const Result& partial) { return gram_error_json(partial.error.value_or(Failure{})); };
  Flags flags("qsim gram", "Inner products, fidelities and distances between the states that circuits prepare.",
              kFooter);
  GramFlags typed;
  CircuitFlags circuit_flags;
  CircuitArguments arguments_of_circuits;
  Target options;
  context.together([&] {
    flags.positionals("files", typed.files, "OpenQASM 2.0 circuits, at least two", Role::kInput);
    flags.choice("--backend", typed.backend, {"auto", "cpu", "cuda"}, "what computes");
    flags.choice("--precision", typed.precision, names_of<Precision>(), "of the states");
    flags.text("--threads", typed.threads, "N", "CPU threads (default: the affinity mask)");
    flags.text("--max-memory", typed.max_memory, "SIZE", "most memory for all states together");
    circuit_flags.add_unitary_to(flags);
    flags.flag("--json", typed.json, "one JSON document (qsim.gram/1)");
    flags.text("--output", typed.output, "FILE", "write the result there instead of to standard output",
               Role::kOutputStream);
    flags.parse(arguments);
    context.json = typed.json;
    context.output_file = typed.output;
    context.partial.environment = environment();
    if (context.launched() && context.communicator()->size() > 1) {
      throw UsageError("qsim gram runs on one rank", "start it without the launcher");
    }
    if (typed.files.size() < 2) throw UsageError("at least two circuits are needed", "qsim gram A.qasm B.qasm ...");
    if (std::count(typed.files.begin(), typed.files.end(), "-") > 1) {
      throw UsageError("standard input can be read once");
    }
    options = options_of(flags, typed);
    context.require_outputs(flags);
    arguments_of_circuits = circuit_flags.read();
    arguments_of_circuits.shared = true;
  });
  const std::vector<Circuit> circuits = read_all(typed.files, context, arguments_of_circuits);
  const GramResult result = gram(circuits, options);
  return {typed.json ? gram_json(result, typed.files) : escape_lines(gram_text(result, typed.files)),
          typed.output,
          0,
          {},
          !typed.json};
}

}  // namespace qsim::cli
