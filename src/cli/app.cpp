#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "base/build_info.h"
#include "base/file/files.h"
#include "base/file/read_files.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "base/ranks/failure.h"
#include "bench/bench.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/json.h"
#include "cli/io/values.h"
#include "cli/manual/manual.h"
#include "plan/show/show.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

struct Command {
  std::string name, summary;
  CommandFunction run;
};

Output command_man(std::span<const std::string> arguments, Context& context);
Output command_completion(std::span<const std::string> arguments, Context& context);

/// Every command; `run` is also what a first argument that is none of these means.
const std::array<Command, 9> kCommands{{
    {"run", "simulate a circuit (the default: qsim FILE)", command_run},
    {"plan", "what a run would do: sweeps, exchanges, memory, time; touches no device", command_plan},
    {"bench", "time circuits and check what they make, over sizes, ranks and start states", command_bench},
    {"gram", "inner products, fidelities and distances between the states of several circuits", command_gram},
    {"convert", "write a program in OpenQASM 2 or 3", command_convert},
    {"gen", "write a benchmark circuit as OpenQASM 2.0", command_gen},
    {"info", "this machine: processor, memory, devices, libraries, and what would be used", command_info},
    {"man", "the manual page: qsim man | man -l -", command_man},
    {"completion", "what a shell completes: source <(qsim completion bash)", command_completion},
}};

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
         "'qsim COMMAND --help' lists a command's flags. Exit codes: 0 ok, 1 internal, 2 usage, 3 circuit invalid,\n"
         "4 unsupported, 5 does not fit, 6 device, 7 launch or communication, 8 verification, 9 file.\n";
}

std::string version_text() {
  const BuildInfo& build = build_info();
  return "qsim " + build.version + (build.commit.empty() ? "" : " (" + build.commit + ")");
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
  if (arguments[0] == "--version") return {version_text() + "\n", ""};
  if (arguments[0] == "--help" || arguments[0] == "-h") return {help_text(), ""};
  for (const Command& command : kCommands) {
    if (arguments[0] == command.name) return command.run(std::span(arguments).subspan(1), context);
  }
  return command_run(arguments, context);
}

Failure failure_in_flags() {
  Failure failure = current_failure();
  if (failure.line != 0) return failure;  // it shows a line of somebody's file
  failure.message = in_flags(std::move(failure.message));
  failure.hint = in_flags(std::move(failure.hint));
  return failure;
}

void print_failure(const Failure& failure) {
  const bool has_place = failure.message.find(": error: ") != std::string::npos;
  print_error((has_place ? "" : "qsim: error: ") + failure.message);
  if (!failure.hint.empty()) print_error("hint: " + failure.hint);
}

/// Writes `output` and returns the exit code; a failed write is a failure of its own.
int deliver(const Output& output, const Context& context) {
  try {
    if (output.source) {
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
    return context.root() ? deliver({request.text, ""}, context) : 0;
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
  const auto begin = std::chrono::steady_clock::now();
  communicator_ = make_mpi_communicator();
  start_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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

int run_command_line(const std::vector<std::string>& arguments) {
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
  remove_files_on_signals();
  int code = run_in(*context, arguments);
  if (context->launched()) {
    context->communicator()->broadcast(std::as_writable_bytes(std::span(&code, 1)), 0);
  }
  return code;
}

}  // namespace qsim::cli
