#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include "base/build_info.h"
#include "base/clock.h"
#include "base/file/files.h"
#include "base/file/read_files.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "base/ranks/failure.h"
#include "base/text.h"
#include "batch/gram_document.h"
#include "bench/bench.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/result/json.h"
#include "cli/io/terminal/progress.h"
#include "cli/io/terminal/terminal.h"
#include "cli/io/values.h"
#include "cli/manual/manual.h"
#include "plan/show/show.h"
#include "qsim/error.h"
#include "simulator/late_kernels.h"

namespace qsim::cli {
namespace {

constexpr std::uint64_t kMostKernelBytes = std::uint64_t{256} << 20;

struct Command {
  std::string name, summary;
  CommandFunction run;
};

Output command_help(std::span<const std::string> arguments, Context& context);
Output command_version(std::span<const std::string> arguments, Context& context);
Output command_man(std::span<const std::string> arguments, Context& context);
Output command_completion(std::span<const std::string> arguments, Context& context);

/// Every command; `run` is also what a first argument that is none of these means.
const std::array<Command, 12> kCommands{{
    {"run", "simulate a circuit (the default: qsim FILE)", command_run},
    {"plan", "what a run would do: sweeps, exchanges, memory, time; touches no device", command_plan},
    {"bench", "time circuits and check what they make, over sizes, ranks and start states", command_bench},
    {"gram", "inner products, fidelities and distances between the states of several circuits", command_gram},
    {"draw", "draw a circuit as text, SVG or LaTeX", command_draw},
    {"convert", "write a program in OpenQASM 2 or 3", command_convert},
    {"gen", "write a benchmark circuit as OpenQASM 2.0", command_gen},
    {"info", "this machine: processor, memory, devices, libraries, and what would be used", command_info},
    {"help", "this text, or that of a command: qsim help run", command_help},
    {"version", "version and commit of this build", command_version},
    {"man", "the manual page: qsim man | man -l -", command_man},
    {"completion", "what a shell completes: source <(qsim completion bash)", command_completion},
}};

const Command* find_command(const std::string& name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return c.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

/// The hint for a word that is no command.
std::string meant_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view near = nearest_name(word, names);
  return near.empty() ? "'qsim help' lists the commands" : "did you mean 'qsim " + std::string(near) + "'?";
}

std::string help_text() {
  std::string text = "qsim " + build_info().version +
                     ": simulates quantum circuits, state vector in full\n\n"
                     "Usage: qsim [COMMAND] FILE|- [flags]      (- reads standard input)\n"
                     "       mpirun -n N qsim FILE [flags]      one rank a process\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += "  " + command.name + std::string(12 - command.name.size(), ' ') + command.summary + "\n";
  }
  return text +
         "\nExamples:\n"
         "  qsim circuits/ghz_20.qasm --shots 1000 --seed 7\n"
         "  qsim circuit.qasm --amplitudes top:8 --marginals\n"
         "  qsim circuit.qasm --expectation 'Z0 Z1' --expectation '0.5 X0 + -1 Y2' --json\n"
         "  qsim gen qft -n 20 | qsim - --probabilities 0,1,2\n"
         "  qsim plan circuit.qasm --ranks 8 --device h200\n"
         "  mpirun -n 4 qsim circuit.qasm\n\n"
         "'qsim help COMMAND' lists a command's flags. Exit codes: 0 ok, 1 internal, 2 usage, 3 circuit invalid,\n"
         "4 unsupported, 5 does not fit, 6 device, 7 launch or communication, 8 verification, 9 file.\n";
}

std::string version_text() {
  const BuildInfo& build = build_info();
  return "qsim " + build.version + (build.commit.empty() ? "" : " (" + build.commit + ")");
}

Output command_help(std::span<const std::string> arguments, Context& context) {
  if (arguments.empty() || arguments[0].compare(0, 1, "-") == 0) {
    Flags("qsim help", "The commands, or the flags of one.", "Example:\n  qsim help run\n").parse(arguments);
    return {help_text(), "", 0, {}, true};
  }
  if (arguments.size() > 1) throw UsageError("'qsim help' explains one command", "qsim help " + arguments[0]);
  const Command* const command = find_command(arguments[0]);
  if (command == nullptr) {
    throw UsageError("'" + escape_text(arguments[0], 60) + "' is no command", meant_command(arguments[0]));
  }
  if (command->run == command_help) return {help_text(), "", 0, {}, true};
  const std::vector<std::string> help{"--help"};
  return command->run(help, context);
}

Output command_version(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim version", "Version and commit of this build.", "Example:\n  qsim version --json\n");
  bool json = false;
  flags.flag("--json", json, "one JSON document (qsim.version/1)");
  context.together([&] { flags.parse(arguments); });
  return {json ? version_document(build_info()) : version_text() + "\n", ""};
}

/// A first word that can only have been meant as a command is not taken for a circuit: 'qsim runn x.qasm'.
void refuse_unknown_command(const std::vector<std::string>& arguments, Context& context) {
  const std::string& word = arguments[0];
  if (word.empty() || word[0] == '-' || word.find_first_of("./") != std::string::npos) return;
  context.together([&] {
    if (is_regular_file(word)) return;
    const bool word_follows = arguments.size() > 1 && (arguments[1] == "-" || arguments[1].compare(0, 1, "-") != 0);
    if (!word_follows) return;
    throw UsageError("'" + escape_text(word, 60) + "' is no command, and there is no circuit file of that name",
                     meant_command(word));
  });
}

/// Every command explains itself: its --help is what the manual is made of.
ProgramManual program_manual(Context& context) {
  ProgramManual program{build_info().version, help_text(), {}};
  for (const Command& command : kCommands) {
    try {
      command.run(std::vector<std::string>{"--help"}, context);
    } catch (const TextRequested& help) {
      program.commands.push_back({command.name, command.summary, help.manual});
    }
  }
  return program;
}

Output command_man(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim man", "Prints the manual page in the language of man(7).", "Example:\n  qsim man | man -l -\n");
  std::string output;
  flags.text("--output", output, "FILE", "write it there instead of to standard output", Role::kOutputStream);
  context.together([&] {
    flags.parse(arguments);
    context.require_outputs(flags);
  });
  return {man_page(program_manual(context)), output};
}

Output command_completion(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim completion", "Prints what makes a shell complete commands, flags and files.",
              "Examples:\n"
              "  source <(qsim completion bash)\n"
              "  qsim completion zsh --output ~/.zfunc/_qsim\n"
              "  qsim completion fish --output ~/.config/fish/completions/qsim.fish\n");
  std::string shell, output;
  Shell kind{};
  flags.positional("shell", shell, "bash, zsh or fish");
  flags.text("--output", output, "FILE", "write it there instead of to standard output", Role::kOutputStream);
  context.together([&] {
    flags.parse(arguments);
    if (shell.empty()) throw UsageError("no shell", "qsim completion bash, zsh or fish");
    kind = choice_of<Shell>(shell);
    context.require_outputs(flags);
  });
  return {completion_script(kind, program_manual(context)), output};
}

Output dispatch(const std::vector<std::string>& arguments, Context& context) {
  if (arguments.empty()) throw UsageError("no circuit file", "qsim FILE simulates it; qsim --help shows the rest");
  if (arguments[0] == "--version") return command_version(std::span(arguments).subspan(1), context);
  if (arguments[0] == kFinishKernels) {  // of the program itself, and in no list
    finish_kernels(read_standard_input(kMostKernelBytes));
    return {};
  }
  if (arguments[0] == "--help" || arguments[0] == "-h") return {help_text(), "", 0, {}, true};
  if (const Command* const command = find_command(arguments[0])) {
    return command->run(std::span(arguments).subspan(1), context);
  }
  refuse_unknown_command(arguments, context);
  return command_run(arguments, context);
}

Failure failure_in_flags() {
  Failure failure = current_failure();
  // What shows lines of somebody's file is left as it is, but for our hints.
  const auto translate = [](std::string& text, const std::string& hint) {
    const std::size_t at = hint.empty() ? std::string::npos : text.find(hint);
    if (at != std::string::npos) text.replace(at, hint.size(), in_flags(hint));
  };
  for (Diagnostic& one : failure.diagnostics) {
    translate(failure.message, one.hint);
    translate(one.text, one.hint);
    one.hint = in_flags(one.hint);
  }
  if (failure.line == 0) {
    failure.message = in_flags(std::move(failure.message));
  } else {
    translate(failure.message, failure.hint);
  }
  failure.hint = in_flags(std::move(failure.hint));
  return failure;
}

void print_failure(const Failure& failure) {
  const bool has_place = failure.message.find(": error: ") != std::string::npos;
  print_error((has_place ? "" : "qsim: error: ") + failure.message);
  if (!failure.hint.empty()) print_error("hint: " + failure.hint);
}

/// `output` as a terminal shows it best: in its width, and in colours where they are wanted.
TextSource for_terminal(const Output& output, std::size_t columns) {
  const TextSource source = output.source ? output.source : [&output](const TextSink& sink) { sink(output.text); };
  return [source, columns](const TextSink& sink) {
    const bool colours = wants_colour(STDOUT_FILENO);
    std::string rest;
    source([&](std::string_view part) {
      rest += part;
      std::size_t begin = 0;
      for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
        const std::string line = fit_line(rest.substr(begin, end - begin), columns);
        sink((colours ? paint_line(line) : line) + "\n");
        begin = end + 1;
      }
      rest.erase(0, begin);
    });
    sink(rest);
  };
}

/// Writes `output` and returns the exit code; a failed write is a failure of its own.
int deliver(const Output& output, const Context& context) {
  set_phase(Phase::kWriting);
  try {
    for (const FurtherFile& one : output.further) write_file(one.path, one.text);
    // A launcher gives its ranks terminals of their own, which nobody sees.
    const bool seen = output.prose && output.file.empty() && !context.launched();
    const std::size_t columns = seen ? terminal_columns(STDOUT_FILENO) : 0;
    if (columns > 0) {
      context.streams().write_stdout(for_terminal(output, columns));
    } else if (output.source) {
      output.file.empty() ? context.streams().write_stdout(output.source) : write_file_of(output.file, output.source);
    } else if (output.file.empty()) {
      context.streams().write_stdout(output.text);
    } else {
      write_file(output.file, output.text);
    }
    return output.exit_code;
  } catch (const FileError& error) {
    print_failure(failure_in_flags());
    return static_cast<int>(error.code());
  }
}

/// The JSON form of a failure from before the command could say which its own is.
std::string early_failure_document(const std::vector<std::string>& arguments, const Failure& failure) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "plan") return plan_error_json({}, failure);
  if (command == "gram") return gram_error_json(failure);
  if (command == "bench") {
    BenchReport report;
    report.error = failure;
    return bench_json(report);
  }
  Result result;
  result.error = failure;
  return result_document(result);
}

/// Prints the failure on rank 0, as text and, where asked for, as the JSON document. Returns the exit code.
int report(const Failure& failure, Context& context, const std::vector<std::string>& arguments) {
  if (!context.root()) return static_cast<int>(failure.code);
  print_failure(failure);
  if (!context.json) return static_cast<int>(failure.code);
  if (!context.output_file.empty()) {
    if (context.outputs_refused) return static_cast<int>(failure.code);
    // What the run would have read is not known when it fails: a file that is there may be one that a circuit includes.
    if (!may_take_failure(context.output_file)) {
      print_error("hint: '" + context.output_file +
                  "' is left as it is: a failure's document replaces documents alone");
      return static_cast<int>(failure.code);
    }
  }
  if (context.failure_document != nullptr) {
    context.partial.error = failure;
    deliver({context.failure_document(context.partial), context.output_file}, context);
  } else {
    deliver({early_failure_document(arguments, failure), ""}, context);
  }
  return static_cast<int>(failure.code);
}

/// Ranks of another program or with other arguments would wait for each other in different places.
void require_same_command(Communicator& communicator, const std::vector<std::string>& arguments) {
  std::vector<Fact> facts{{"program", version_text()}};
  for (const std::string& argument : arguments) {
    facts.push_back({"argument " + std::to_string(facts.size()), argument});
  }
  require_same(communicator, facts);
}

/// Runs the command and delivers what it made; the exit code of this rank.
int run_in(Context& context, const std::vector<std::string>& arguments) {
  try {
    if (context.launched()) require_same_command(*context.communicator(), arguments);
    const Output output = dispatch(arguments, context);
    return context.root() ? deliver(output, context) : 0;
  } catch (const TextRequested& request) {
    return context.root() ? deliver({request.text, "", 0, {}, true}, context) : 0;
  } catch (const AgreedFailure& agreed) {
    return report(agreed.failure, context, arguments);
  } catch (const Error&) {
    // simulate() throws these alike on every rank.
    return report(failure_in_flags(), context, arguments);
  } catch (const std::exception&) {
    const Failure failure = failure_in_flags();
    if (context.launched()) {
      context.communicator()->abort(static_cast<int>(failure.code), "qsim: error: " + failure.message);
    }
    return report(failure, context, arguments);
  }
}

}  // namespace

Context::Context(const Streams& streams) : streams_(streams) {
  if (!launched_by_mpi()) return;
  const Clock::time_point begin = Clock::now();
  communicator_ = make_mpi_communicator();
  start_seconds_ = seconds_since(begin);
  if (communicator_ == nullptr) {
    throw CommunicatorError("started by an MPI launcher, but this qsim was built without MPI", -1,
                            "build with -DQSIM_MPI=ON, or start it without the launcher");
  }
}

void Context::require_outputs(const Flags& flags) {
  outputs = flags.outputs();
  if (!root()) return;
  if (output_file.empty()) streams_.require_stdout(outputs);
  try {
    flags.require_writable_outputs();
  } catch (const FileError&) {
    outputs_refused = true;
    throw;
  }
}

void Context::broadcast(std::string& data) {
  if (launched()) broadcast_text(*communicator_, data, 0);
}

void Context::together(const std::function<void()>& work) {
  Failure failure;
  failure.code = ExitCode::kOk;
  try {
    work();
  } catch (const TextRequested&) {
    throw;  // --help: the same on every rank
  } catch (const std::exception&) {
    failure = failure_in_flags();
  }
  if (launched()) failure = worst_failure(*communicator_, failure);
  if (failure.code != ExitCode::kOk) throw AgreedFailure{failure};
}

int run_command_line(const std::vector<std::string>& arguments, bool whole_process) {
  const Streams streams;
  const InputGuard inputs;
  // Read ahead of the flags, so that even a wrong flag is reported in the form that was asked for.
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  std::unique_ptr<Context> context;
  try {
    context = std::make_unique<Context>(streams);
  } catch (const std::exception&) {
    const Failure failure = failure_in_flags();
    // Ranks that met have agreed, and the first one speaks. One that met nobody may be alone, whatever its environment
    // says: it must not end without a word.
    const bool met = failure.code != ExitCode::kCommunication;
    if (met && launched_rank() != 0) {
      // A launcher ends all ranks when one has failed: not before the first one has spoken.
      std::this_thread::sleep_for(std::chrono::seconds(1));
      return static_cast<int>(failure.code);
    }
    print_failure(failure);
    try {
      if (json) streams.write_stdout(early_failure_document(arguments, failure));
    } catch (const FileError&) {
      print_failure(failure_in_flags());  // the first failure's code stands
    }
    return static_cast<int>(failure.code);
  }
  context->json = json;
  set_phase(context->root() ? Phase::kBefore : Phase::kSilent);
  remove_files_on_signals();
  context->may_leave_kernels = whole_process && !context->launched();
  int code = run_in(*context, arguments);
  if (context->launched()) {
    context->communicator()->broadcast(std::as_writable_bytes(std::span(&code, 1)), 0);
  }
  if (context->may_leave_kernels) {
    if (hand_over_kernels()) ::_exit(code);
    end_compilers();
  }
  return code;
}

}  // namespace qsim::cli
