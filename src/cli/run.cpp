// `qsim run`: a circuit file to counts, probabilities, amplitudes or expectation values.
#include <cstdio>
#include <memory>

#include "base/bits.h"
#include "base/clock.h"
#include "base/file/files.h"
#include "base/philox.h"
#include "base/ranks/communicator.h"
#include "base/text.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
#include "cli/io/output.h"
#include "cli/io/result/json.h"
#include "cli/io/result/report.h"
#include "cli/io/terminal/progress.h"
#include "cli/io/values.h"
#include "cli/page/run_page.h"
#include "document/outcomes.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/pauli.h"
#include "qsim/picture.h"
#include "qsim/target.h"
#include "simulator/late_kernels.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

/// The flags as they were typed.
struct RunFlags {
  std::string file, backend = "auto", precision = "double", shots, seed, threads, gpus, gpu_ids, ranks, from = "zero";
  bool counts = false, distribution = false, marginals = false;
  std::vector<std::string> probabilities, expectation;
  CircuitFlags circuit;
  std::string max_iterations;
  std::string amplitudes, statevector;
  std::string exchange = "auto", max_memory, pool, verify = "norm", jit = "auto", kernel_cache, profile, histogram,
              report, output;
  bool reproducible = false, oversubscribe_gpus = false, json = false, quiet = false, verbose = false;
};

const char kRunExamples[] =
    "Bit order: qubit 0 is the first declared and the least significant; the right-most character is bit 0.\n"
    "Examples:\n"
    "  qsim bell.qasm --shots 1000 --seed 7\n"
    "  qsim bell.qasm --amplitudes top:4\n"
    "  qsim bell.qasm --probabilities 1,0 --probabilities 0\n"
    "  qsim ising.qasm --expectation 'Z0 Z1' --expectation hamiltonian.txt --json --output result.json\n"
    "  qsim big.qasm --ranks 4 --threads 2 --statevector state.npy\n";

void declare(Flags& flags, RunFlags& typed) {
  flags.positional("file", typed.file, "OpenQASM 2 or 3 circuit, or - for standard input", Role::kInput);
  typed.circuit.add_to(flags);
  flags.group("Results");
  flags.text("-s,--shots", typed.shots, "N", "samples to draw (default 1024 if the circuit measures)");
  flags.text("--seed", typed.seed, "S", "seed of the samples and of --from random");
  flags.flag("--counts", typed.counts, "how often each bit string was drawn (the default when it measures)");
  flags.flag("--distribution", typed.distribution, "exact distribution of the classical bits");
  flags.flag("--marginals", typed.marginals, "probability that each qubit is 1");
  flags.list("--probabilities", typed.probabilities, "QUBITS", "of these qubits together, first = lowest; repeatable");
  flags.text("--amplitudes", typed.amplitudes, "LIST|top:K",
             "amplitudes at decimal indices or full-width bit strings, or the K most probable");
  flags.list("--expectation", typed.expectation, "PAULIS|FILE",
             "of a Pauli sum, as 'Z0 X3', or a file, also of OpenFermion or Qiskit; repeatable", Role::kInput);
  flags.text("--statevector", typed.statevector, "FILE.npy", "write the whole state", Role::kOutput);
  flags.group("Where and how");
  flags.choice("--backend", typed.backend, {"auto", "cpu", "cuda"}, "what computes");
  flags.choice("--precision", typed.precision, names_of<Precision>(), "of the state");
  flags.text("--threads", typed.threads, "N", "CPU threads a rank (default: the affinity mask)");
  flags.text("--ranks", typed.ranks, "N", "ranks in this process, on the CPU");
  flags.text("--gpus", typed.gpus, "N", "how many GPUs");
  flags.text("--gpu-ids", typed.gpu_ids, "LIST", "which GPUs");
  flags.flag("--oversubscribe-gpus", typed.oversubscribe_gpus, "under MPI, ranks may share a GPU (for tests)");
  flags.choice("--exchange", typed.exchange, names_of<ExchangeKind>(), "how ranks trade amplitudes");
  flags.choice("--from", typed.from, {"zero", "random"}, "start state");
  flags.text("--max-iterations", typed.max_iterations, "N",
             "most iterations of loops that measure, in one branch (default 1048576)");
  flags.text("--max-memory", typed.max_memory, "SIZE", "most memory a rank may use");
  flags.text("--pool", typed.pool, "SHARE%", "share of GPU memory to take");
  flags.choice("--jit", typed.jit, names_of<Jit>(), "kernels compiled for the circuit");
  flags.text("--kernel-cache", typed.kernel_cache, "DIR|off", "where compiled kernels are kept (default: the user's)");
  flags.choice("--verify", typed.verify, {"off", "norm", "full"}, "checks while running");
  flags.flag("--reproducible", typed.reproducible, "the same arithmetic whatever the number of ranks");
  flags.group("Output");
  flags.flag("--json", typed.json, "one JSON document (qsim.result/1)");
  flags.flag("-q,--quiet", typed.quiet, "results alone: no header above them, no progress");
  flags.flag("-v,--verbose", typed.verbose, "a longer header: version, threads, memory, work, every warning");
  flags.text("--output", typed.output, "FILE", "write the result there instead of to standard output",
             Role::kOutputStream);
  flags.text("--histogram", typed.histogram, "FILE.svg", "bars of the counts, or of the --distribution",
             Role::kOutputStream);
  flags.text("--report", typed.report, "FILE.html", "a page with circuit, results, plan, time line, sweeps and memory",
             Role::kOutputStream);
  flags.text("--profile", typed.profile, "FILE.json|.svg", "time line of the run", Role::kOutputStream);
}

[[noreturn]] void no_effect(const std::string& flag, const std::string& why, const std::string& hint = "") {
  throw UsageError(flag + " would have no effect: " + why, hint);
}

/// Flags that contradict each other or the launcher, before any file is read.
void check_flags(const Flags& flags, const RunFlags& typed, const Context& context) {
  if (typed.file.empty()) throw UsageError("no circuit file", "qsim run FILE, or - for standard input");
  if (context.launched()) {
    flags.leave_to_launcher({"--ranks", "--gpus", "--gpu-ids"});
    check_rank_count(static_cast<std::uint64_t>(context.communicator()->size()), "ranks");
  }
  if (typed.quiet && typed.verbose) throw UsageError("--quiet and --verbose contradict each other");
  if (typed.verbose && typed.json) no_effect("--verbose", "the JSON document has everything");
  if (typed.oversubscribe_gpus && !context.launched()) {
    no_effect("--oversubscribe-gpus", "there is no MPI launcher",
              "ranks of this process share the GPUs named twice in --gpu-ids");
  }
  const bool gpus = flags.given("--gpus") || flags.given("--gpu-ids");
  if (flags.given("--gpus") && flags.given("--gpu-ids")) no_effect("--gpus", "--gpu-ids says how many as well");
  if (flags.given("--ranks") && gpus) no_effect("--ranks", "with --gpus there is one rank a GPU");
  if (flags.given("--ranks") && typed.backend == "cuda") {
    no_effect("--ranks", "it counts ranks on the CPU", "--gpus N says how many GPUs");
  }
  if (typed.backend == "cpu") {
    for (const char* flag : {"--gpus", "--gpu-ids", "--oversubscribe-gpus", "--pool", "--jit", "--kernel-cache"}) {
      if (flags.given(flag)) no_effect(flag, "--backend cpu uses no GPU");
    }
  }
  if (flags.given("--threads") && (typed.backend == "cuda" || gpus)) {
    no_effect("--threads", "it counts CPU threads, and the GPU computes");
  }
}

/// The number of thread ranks asked for (1 without --ranks, and under a launcher).
int typed_ranks(const Flags& flags, const RunFlags& typed) {
  if (!flags.given("--ranks")) return 1;
  const std::uint64_t ranks = parse_unsigned("--ranks", typed.ranks, kMostThreadRanks);
  check_rank_count(ranks, "ranks");
  return static_cast<int>(ranks);
}

/// Everything that can be said without the circuit.
RunOptions options_of(const Flags& flags, const RunFlags& typed, const Context& context) {
  RunOptions options;
  options.communicator = context.communicator();
  options.ranks = typed_ranks(flags, typed);
  options.backend = choice_of<BackendKind>(typed.backend);
  options.precision = choice_of<Precision>(typed.precision);
  if (flags.given("--shots")) options.shots = parse_unsigned("--shots", typed.shots);
  if (flags.given("--seed")) options.seed = parse_unsigned("--seed", typed.seed);
  if (flags.given("--threads")) options.threads = parse_threads(typed.threads);
  if (flags.given("--gpus")) {
    const std::uint64_t gpus = parse_unsigned("--gpus", typed.gpus, 1024);
    check_rank_count(gpus, "GPUs");
    for (std::uint64_t gpu = 0; gpu < gpus; ++gpu) options.gpu_ids.push_back(static_cast<int>(gpu));
  }
  if (flags.given("--gpu-ids")) options.gpu_ids = parse_gpu_ids(typed.gpu_ids);
  if (!options.gpu_ids.empty()) options.backend = BackendKind::kCuda;
  options.start = typed.from == "zero" ? Start::kZero : Start::kRandom;
  options.exchange = choice_of<ExchangeKind>(typed.exchange);
  if (flags.given("--max-iterations")) {
    options.max_iterations = parse_unsigned("--max-iterations", typed.max_iterations, 1'000'000'000);
  }
  if (flags.given("--max-memory")) options.max_memory = parse_bytes("--max-memory", typed.max_memory);
  if (flags.given("--pool")) options.pool_share = parse_share("--pool", typed.pool);
  options.verify = choice_of<Verify>(typed.verify);
  options.jit = choice_of<Jit>(typed.jit);
  options.kernel_cache = typed.kernel_cache;
  if (flags.given("--kernel-cache") && typed.jit == "off") {
    throw UsageError("--kernel-cache would have no effect: --jit off compiles nothing");
  }
  options.reproducible = typed.reproducible;
  options.oversubscribe_gpus = typed.oversubscribe_gpus;
  options.marginals = typed.marginals;
  options.distribution = typed.distribution;
  options.statevector_path = typed.statevector;
  options.profile_path = typed.profile;
  options.pictures = !typed.report.empty();
  return options;
}

PauliSum pauli_sum_of(const std::string& text, std::uint32_t qubits) {
  const bool names_a_file = text.find('/') != std::string::npos || text.find(".txt") != std::string::npos ||
                            text.find(".pauli") != std::string::npos || text.find(".json") != std::string::npos;
  PauliSum sum = names_a_file || is_regular_file(text) ? read_pauli_file(text, qubits) : parse_pauli_sum(text, qubits);
  sum.name = text;
  return sum;
}

void add_amplitudes(RunOptions& options, const std::string& text, std::uint32_t qubits) {
  options.amplitudes_requested = true;
  if (text.compare(0, 4, "top:") == 0) {
    options.top = parse_unsigned("--amplitudes top:K", text.substr(4), 1ull << 26);
    if (options.top == 0) throw UsageError("--amplitudes top:0 would list nothing");
    return;
  }
  options.amplitude_indices = parse_basis_states("--amplitudes", text, qubits);
}

/// What needs the circuit: read-outs, and flags that have no effect on this one.
void add_circuit_options(const Flags& flags, const RunFlags& typed, const Circuit& circuit, RunOptions& options) {
  const bool measuring = circuit.measures();
  const bool samples = measuring && options.shots.value_or(1) != 0;
  if (!measuring && options.shots.value_or(0) != 0) no_effect("--shots", "the circuit measures nothing");
  if (typed.counts && !samples) {
    no_effect("--counts", measuring ? "--shots 0 draws nothing" : "the circuit measures nothing");
  }
  if (flags.given("--seed") && !samples && options.start == Start::kZero && circuit.measurements_are_terminal()) {
    no_effect("--seed", "nothing is drawn at random in this run");
  }
  if (flags.given("--max-iterations") && !has_loops(circuit)) {
    no_effect("--max-iterations", "no measurement decides how often anything runs");
  }
  if (typed.distribution && circuit.clbits() == 0 && !has_variables(circuit))
    no_effect("--distribution", "the circuit has no classical bits");
  if (!typed.histogram.empty() && !samples && !typed.distribution) {
    no_effect("--histogram", "there are no counts", "with --distribution it shows the exact distribution");
  }
  for (const std::string& text : typed.probabilities) {
    options.probabilities.push_back(parse_qubits("--probabilities", text, circuit.qubits()));
  }
  if (flags.given("--amplitudes")) add_amplitudes(options, typed.amplitudes, circuit.qubits());
  for (const std::string& text : typed.expectation) {
    options.expectation.push_back(pauli_sum_of(text, circuit.qubits()));
  }
  const bool asked = options.marginals || options.distribution || options.amplitudes_requested ||
                     !options.probabilities.empty() || !options.expectation.empty() ||
                     !options.statevector_path.empty();
  // A person who asked for nothing in particular wants to see the likeliest outcomes; a program gets what it named.
  if (!typed.json && !asked && !samples && circuit.measurements_are_terminal()) {
    options.amplitudes_requested = true;
    options.top = 8;
  }
}

/// The start state and the samples of a run have one seed, so that naming it repeats both. Collective.
void settle_start_seed(RunOptions& options, Context& context) {
  if (options.start != Start::kRandom) return;
  if (!options.seed) {
    std::string text = std::to_string(draw_seed());
    context.broadcast(text);
    options.seed = parse_unsigned("--seed", text);
  }
  options.start_seed = *options.seed;
}

/// Settles where to run outside a launcher, and on how many ranks.
void choose(const Flags& flags, const Circuit& circuit, RunOptions& options) {
  if (flags.given("--ranks") && options.backend == BackendKind::kAuto) options.backend = BackendKind::kCpu;
  const BackendChoice choice = choose_backend(circuit, options);
  if (choice.backend == BackendKind::kCpu) {
    for (const char* flag : {"--pool", "--jit", "--kernel-cache"}) {
      if (flags.given(flag)) no_effect(flag, "it runs on the CPU (" + choice.reason + ")");
    }
  } else if (choice.backend == BackendKind::kCuda) {
    if (flags.given("--threads")) no_effect("--threads", "it runs on a GPU (" + choice.reason + ")");
    if (options.gpu_ids.empty() && choice.gpus > 0) options.ranks = choice.gpus;
    if (!options.gpu_ids.empty()) options.ranks = static_cast<int>(options.gpu_ids.size());
  }
}

/// The bars of what a person asked for: of the exact distribution, or of the counts.
std::string histogram_of(const RunFlags& typed, const Result& result) {
  std::vector<Bar> bars;
  HistogramOptions options;
  options.title = result.circuit.file == "-" ? "standard input" : result.circuit.file;
  const auto add = [&](const auto& outcomes) {
    if (!outcomes) return;
    for (const auto& [words, value] : *outcomes) {
      bars.push_back({bits_text(words, result.circuit.cregs), static_cast<double>(value)});
    }
  };
  if (typed.distribution) {
    add(result.results.distribution);
    options.unit = "probability (right-most character is bit 0)";
  } else {
    add(result.results.counts);
    options.unit = "of " + std::to_string(result.run.shots) + " shots (right-most character is bit 0)";
  }
  return draw_histogram(bars, options);
}

}  // namespace

Output command_run(std::span<const std::string> arguments, Context& context) {
  const Clock::time_point begin = Clock::now();
  context.failure_document = result_document;
  context.partial.environment = environment();
  Flags flags("qsim run", "Simulates a circuit and prints what was measured.", kRunExamples);
  RunFlags typed;
  declare(flags, typed);
  RunOptions options;
  CircuitArguments circuit_arguments;
  context.together([&] {
    flags.parse(arguments);
    context.json = typed.json;
    context.output_file = typed.output;
    check_flags(flags, typed, context);
    options = options_of(flags, typed, context);
    context.require_outputs(flags);
    circuit_arguments = typed.circuit.read();
  });
  const CircuitInput input = read_circuit(typed.file, context, circuit_arguments);
  const double parse_seconds = seconds_since(begin);
  std::unique_ptr<const ProgramAhead> ahead;
  context.together([&] {
    add_circuit_options(flags, typed, input.circuit, options);
    if (!context.launched()) ahead = plan_ahead(input.circuit, options);
    check_size(input.circuit, options.precision, log2_exact(static_cast<Index>(rank_count(options))),
               this_machine(options));
    if (!context.launched()) choose(flags, input.circuit, options);
    if (typed.exchange != "auto" && rank_count(options) == 1) {
      no_effect("--exchange", "there is one rank, so nothing is exchanged");
    }
  });
  settle_start_seed(options, context);
  const double start_seconds =
      context.start_seconds() + seconds_since(begin) - parse_seconds;  // devices were looked for

  if (context.may_leave_kernels) keep_compilers();
  std::optional<ProgressLine> line;
  line.emplace(context.root() && !typed.quiet && stderr_is_terminal(context.launched()));
  options.progress = [&line](const Progress& progress) { line->report(progress); };
  Result result = simulate(input.circuit, options, ahead.get());
  line.reset();
  for (std::string& warning : result.warnings) warning = in_flags(std::move(warning));
  result.run.reason = in_flags(std::move(result.run.reason));
  result.warnings.insert(result.warnings.begin(), input.notes.begin(), input.notes.end());
  result.circuit = input.summary;
  result.time.start += start_seconds;
  result.time.parse = parse_seconds;
  result.time.total = context.start_seconds() + seconds_since(begin);
  if (!context.root()) return {};
  result.run.seed_given = flags.given("--seed");
  if (options.start == Start::kRandom) {
    result.run.reason += "; from the random state of seed " + std::to_string(options.start_seed);
  }
  if (!flags.given("--amplitudes") && result.results.amplitudes) {
    std::erase_if(*result.results.amplitudes, [](const AmplitudeEntry& entry) { return entry.probability < 1e-14; });
  }
  if (typed.quiet && !typed.json) {
    for (const std::string& warning : result.warnings) print_error("warning: " + warning);
  }
  const auto answers = std::make_shared<const Result>(std::move(result));
  Output output{"", typed.output, 0, [answers](const TextSink& sink) { write_result_document(*answers, sink); }};
  if (!typed.histogram.empty()) output.further.push_back({typed.histogram, histogram_of(typed, *answers)});
  if (!typed.report.empty()) {
    const bool bars = typed.distribution || (answers->results.counts && answers->results.counts->size() > 0);
    const std::string histogram = bars ? histogram_of(typed, *answers) : "";
    output.further.push_back({typed.report, run_page(input.circuit, *answers, histogram)});
  }
  if (typed.json) return output;
  ReportScope scope;
  scope.header = !typed.quiet;
  scope.details = typed.verbose;
  scope.all = !typed.output.empty();
  scope.counts = typed.counts;
  scope.amplitudes = flags.given("--amplitudes");
  scope.variables = typed.counts || typed.distribution;
  output.source = [answers, scope](const TextSink& sink) { write_result_report(*answers, scope, sink); };
  output.prose = true;
  return output;
}

}  // namespace qsim::cli
