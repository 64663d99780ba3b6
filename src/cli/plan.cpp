// `qsim plan`: what a run would do, without touching a device.
#include "plan/plan.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "base/ranks/failure.h"
#include "base/text.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
#include "cli/io/values.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/program/forecast.h"
#include "plan/program/planned_circuit.h"
#include "plan/show/show.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "session/program_impl.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

struct PlanFlags {
  std::string file, ranks, tile, device, precision = "double", from = "zero", known_zeros = "on", max_memory, svg,
                                         output;
  CircuitFlags circuit;
  bool trace = false, compare_ranks = false, json = false;
};

const char kPlanExamples[] =
    "Examples:\n"
    "  qsim plan circuit.qasm\n"
    "  qsim plan circuit.qasm --device h200 --ranks 8 --json\n"
    "  qsim plan circuit.qasm --device h200 --compare-ranks\n"
    "  qsim plan circuit.qasm --device h200 --ranks 4 --svg plan.svg\n"
    "  qsim plan circuit.qasm --tile 12 --from random --trace\n";

void declare(Flags& flags, PlanFlags& typed) {
  flags.positional("file", typed.file, "OpenQASM 2 or 3 circuit, or - for standard input", Role::kInput);
  typed.circuit.add_to(flags);
  flags.text("--ranks", typed.ranks, "N", "how many ranks (devices) share the state (default 1)");
  flags.text("--device", typed.device, "NAME",
             "h200, h100, a100, cpu or a file: whose costs and memory (default: what a run would use here)",
             Role::kInput);
  flags.text("--tile", typed.tile, "K", "active bits of a sweep, fixed; then the fewest sweeps come first");
  flags.choice("--precision", typed.precision, names_of<Precision>(), "of the state");
  flags.choice("--from", typed.from, {"zero", "random"}, "start state");
  flags.choice("--known-zeros", typed.known_zeros, {"on", "off"}, "skip amplitudes that are still zero");
  flags.text("--max-memory", typed.max_memory, "SIZE", "memory of a rank, instead of the device's");
  flags.flag("--compare-ranks", typed.compare_ranks, "what 1, 2, 4 and 8 ranks would take as well");
  flags.flag("--trace", typed.trace, "where each operation of the circuit went");
  flags.flag("--json", typed.json, "one JSON document (qsim.plan/1)");
  flags.text("--svg", typed.svg, "FILE.svg", "write a picture of the timetable there as well", Role::kOutputStream);
  flags.text("--output", typed.output, "FILE", "write the plan there instead of to standard output",
             Role::kOutputStream);
}

PlanOptions options_of(const Flags& flags, const PlanFlags& typed) {
  PlanOptions options;
  if (flags.given("--ranks")) {
    const std::uint64_t ranks = parse_unsigned("--ranks", typed.ranks, 1ull << 40);
    check_rank_count(ranks, "ranks");
    options.rank_bits = static_cast<std::uint32_t>(std::countr_zero(ranks));
  }
  if (flags.given("--tile")) {
    options.tile_bits = static_cast<std::uint32_t>(parse_unsigned("--tile", typed.tile, 62));
    if (*options.tile_bits == 0) throw UsageError("--tile: a sweep needs at least 1 active bit");
  }
  options.precision = choice_of<Precision>(typed.precision);
  options.start = typed.from == "zero" ? Start::kZero : Start::kRandom;
  options.known_zeros = typed.known_zeros == "on";
  if (flags.given("--known-zeros") && options.start == Start::kRandom) {
    throw UsageError("--known-zeros would have no effect: a random start state has none");
  }
  options.trace = typed.trace;
  return options;
}

/// The machine that was named, with the memory that was given.
struct Wanted {
  std::optional<Machine> machine;
  std::optional<std::uint64_t> memory_bytes;

  explicit Wanted(const PlanFlags& typed) {
    if (!typed.device.empty()) machine = find_machine(typed.device);
    if (!typed.max_memory.empty()) memory_bytes = parse_bytes("--max-memory", typed.max_memory);
  }
  /// Else the one that a run of the circuit would choose here.
  Machine for_circuit(const Circuit& circuit, const PlanOptions& options) const {
    Target target;
    target.precision = options.precision;
    if (!machine) target.backend = choose_backend(circuit, target, options).backend;
    Machine found = machine ? *machine : this_machine(target);
    if (memory_bytes) found.memory_bytes_per_rank = *memory_bytes;
    return found;
  }
};

/// What is said of a circuit that measures, resets or branches before its end.
std::string dynamic_text(const PlanFlags& typed, const CircuitInput& input, Program::Impl& program,
                         const std::vector<std::string>& warnings, std::string& svg) {
  const auto refuse = [](const char* flag) {
    throw UnsupportedError(std::string(flag) + ": the circuit measures, resets or branches before its end");
  };
  if (typed.trace) refuse("--trace");
  if (typed.compare_ranks) refuse("--compare-ranks");
  const auto [circuit, planned] = program.whole({}, Program::Impl::Use::kLook);
  if (!typed.svg.empty()) svg = program_svg(*planned, program.machine);
  if (typed.json) return program_json(*planned, *circuit, program.machine, input.summary, warnings);
  std::string text = program_text(*planned, *circuit, program.machine);
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return escape_lines(text);
}

/// Whether a run would look for fewer GPUs that are faster.
bool may_take_fewer(const Circuit& circuit, const Machine& machine, const PlanOptions& options) {
  return machine.kind == BackendKind::kCuda && options.rank_bits > 0 &&
         circuit.operation_count() <= kMostForecastOperations;
}

/// The document of a plan that could not be made.
std::string failed_plan(const Result& partial) {
  return plan_error_json(partial.circuit, partial.error.value_or(Failure{}), partial.warnings);
}

}  // namespace

Output command_plan(std::span<const std::string> arguments, Context& context) {
  context.failure_document = failed_plan;
  Flags flags("qsim plan", "Shows what a run would do: sweeps, exchanges, memory and time. Touches no device.",
              kPlanExamples);
  PlanFlags typed;
  declare(flags, typed);
  PlanOptions options;
  std::optional<Wanted> wanted;
  CircuitArguments circuit_arguments;
  context.together([&] {
    flags.parse(arguments);
    context.json = typed.json;
    context.output_file = typed.output;
    if (typed.file.empty()) throw UsageError("no circuit file", "qsim plan FILE, or - for standard input");
    options = options_of(flags, typed);
    context.require_outputs(flags);
    wanted.emplace(typed);
    circuit_arguments = typed.circuit.read();
  });
  const CircuitInput input = read_circuit(typed.file, context, circuit_arguments);
  std::string text, svg;
  context.together([&] {
    const Machine machine = wanted->for_circuit(input.circuit, options);
    check_size(input.circuit, options.precision, options.rank_bits, machine);
    std::vector<std::string> warnings = input.notes;
    Program::Impl program(borrowed(input.circuit), machine, options);
    if (program.dynamic) {
      text = dynamic_text(typed, input, program, warnings, svg);
      return;
    }
    if (typed.trace && program.circuit.get() != &input.circuit) {
      throw UnsupportedError("--trace: the circuit resets qubits that are 0");
    }
    const Plan& plan = *program.plan({}, nullptr, Program::Impl::Use::kLook).plan;
    if (pool_layout(plan, machine).total_bytes() == UINT64_MAX) {
      warnings.emplace_back("byte counts that pass 2^64 - 1 are shown as 2^64 - 1");
    }
    if (!typed.svg.empty()) svg = plan_svg(plan, machine);
    std::vector<RanksForecast> forecasts;
    const std::uint32_t compared = typed.compare_ranks ? 3 : 0;
    const std::uint32_t fewer = may_take_fewer(input.circuit, machine, options) ? options.rank_bits : 0;
    if (typed.compare_ranks || fewer > 0) {
      forecasts = forecast_ranks(input.circuit, machine, options, 0, std::max(compared, fewer));
    }
    if (fewer > 0) {
      std::string note = fewer_ranks_note(std::span(forecasts).first(fewer + 1));
      if (!note.empty()) warnings.push_back("a run takes fewer ranks: " + std::move(note));
    }
    forecasts.resize(typed.compare_ranks ? std::min<std::size_t>(forecasts.size(), compared + 1) : 0);
    text =
        typed.json ? plan_json(plan, machine, input.summary, warnings, forecasts) : plan_text(plan, machine, forecasts);
    if (typed.json) return;
    for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
    text = escape_lines(text);
  });
  Output made{text, typed.output, 0, {}, !typed.json};
  if (!typed.svg.empty()) made.further.push_back({typed.svg, svg});
  return made;
}

}  // namespace qsim::cli
