#include "cli/app.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "base/build_info.h"
#include "base/file/files.h"
#include "cli/io/flags.h"
#include "cli/io/json.h"
#include "qsim/bench.h"
#include "qsim/error.h"
#include "qsim/plan.h"

namespace qsim::cli {
namespace {

struct Command {
  std::string name, summary;
  CommandFunction run;
};

/// Every command; `run` is also what a first argument that is none of these means.
const std::array<Command, 6> kCommands{{
    {"run", "simulate a circuit (the default: qsim FILE)", command_run},
    {"plan", "what a run would do: sweeps, exchanges, memory, time; touches no device", command_plan},
    {"bench", "time circuits and check what they make, over sizes, ranks and start states", command_bench},
    {"gram", "inner products, fidelities and distances between the states of several circuits", command_gram},
    {"gen", "write a benchmark circuit as OpenQASM 2.0", command_gen},
    {"info", "this machine: processor, memory, devices, libraries, and what would be used", command_info},
}};

std::string help_text() {
  std::string text = "qsim " + build_info().version +
                     ": simulates quantum circuits, state vector in full\n\n"
                     "Usage: qsim [COMMAND] FILE|- [flags]      (- reads standard input)\n"
                     "       mpirun -n N qsim FILE [flags]      one rank a process\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += "  " + command.name + std::string(7 - command.name.size(), ' ') + command.summary + "\n";
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
  return "qsim " + build.version + (build.commit.empty() ? "" : " (" + build.commit + ")") + "\n";
}

Output dispatch(const std::vector<std::string>& arguments, Context& context) {
  if (arguments.empty()) throw UsageError("no circuit file", "qsim FILE simulates it; qsim --help shows the rest");
  if (arguments[0] == "--version") return {version_text(), ""};
  if (arguments[0] == "--help" || arguments[0] == "-h") return {help_text(), ""};
  for (const Command& command : kCommands) {
    if (arguments[0] == command.name) return command.run(std::span(arguments).subspan(1), context);
  }
  return command_run(arguments, context);
}

/// The rank that the launcher's environment gives this process, for when MPI cannot be asked; 0 without one.
int environment_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
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
    print_failure(current_failure());
    return static_cast<int>(error.code());
  }
}

/// Prints the failure on rank 0, as text and, where asked for, as the JSON document. Returns the exit code.
int report(const Failure& failure, Context& context) {
  if (!context.root()) return static_cast<int>(failure.code);
  print_failure(failure);
  if (context.json && context.failure_document != nullptr) {
    context.partial.error = failure;
    deliver({context.failure_document(context.partial), context.output_file}, context);
  }
  return static_cast<int>(failure.code);
}

/// Runs the command and delivers what it made; the exit code of this rank.
int run_in(Context& context, const std::vector<std::string>& arguments) {
  try {
    const Output output = dispatch(arguments, context);
    return context.root() ? deliver(output, context) : 0;
  } catch (const TextRequested& request) {
    return context.root() ? deliver({request.text, ""}, context) : 0;
  } catch (const AgreedFailure& agreed) {
    return report(agreed.failure, context);
  } catch (const Error&) {
    // simulate() throws these alike on every rank.
    return report(current_failure(), context);
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    if (context.launched()) {
      context.communicator()->abort(static_cast<int>(failure.code), "qsim: error: " + failure.message);
    }
    return report(failure, context);
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
  if (output_file.empty()) streams_.require_stdout();
  try {
    flags.require_writable_outputs();
  } catch (const FileError&) {
    failure_document = nullptr;  // it has nowhere to go either
    throw;
  }
}

void Context::broadcast(std::string& data) {
  if (!launched()) return;
  std::uint64_t size = data.size();
  communicator_->broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  data.resize(size);
  if (size != 0) communicator_->broadcast(std::as_writable_bytes(std::span(data)), 0);
}

void Context::together(const std::function<void()>& work) {
  Failure failure;
  failure.code = ExitCode::kOk;
  try {
    work();
  } catch (const TextRequested&) {
    throw;  // --help: the same on every rank
  } catch (const std::exception&) {
    failure = current_failure();
  }
  if (!launched()) {
    if (failure.code != ExitCode::kOk) throw AgreedFailure{failure};
    return;
  }
  // A rank without a failure has code 0, so the largest key is the worst code's, at its lowest rank.
  const auto size = static_cast<std::int64_t>(communicator_->size());
  std::array<std::int64_t, 1> key{static_cast<std::int64_t>(failure.code) * size + (size - 1 - communicator_->rank())};
  communicator_->max(key);
  failure.code = static_cast<ExitCode>(key[0] / size);
  if (failure.code == ExitCode::kOk) return;
  const int owner = static_cast<int>(size - 1 - key[0] % size);
  failure.rank = owner;
  for (std::string* text : {&failure.message, &failure.hint, &failure.file}) {
    std::array<std::uint64_t, 3> head{text->size(), failure.line, failure.column};
    communicator_->broadcast(std::as_writable_bytes(std::span(head)), owner);
    text->resize(head[0]);
    if (head[0] != 0) communicator_->broadcast(std::as_writable_bytes(std::span(*text)), owner);
    failure.line = static_cast<std::uint32_t>(head[1]);
    failure.column = static_cast<std::uint32_t>(head[2]);
  }
  throw AgreedFailure{failure};
}

Failure current_failure() {
  Failure failure;
  try {
    throw;
  } catch (const Error& error) {
    failure.code = error.code();
    failure.message = error.what();
    failure.hint = error.hint();
    if (const auto* source = dynamic_cast<const SourceError*>(&error)) {
      failure.file = source->where().file;
      failure.line = source->where().line;
      failure.column = source->where().column;
    }
    if (const auto* communication = dynamic_cast<const CommunicatorError*>(&error)) {
      failure.rank = std::max(communication->rank(), 0);
    }
  } catch (const std::bad_alloc&) {
    failure.code = ExitCode::kCapacity;
    failure.message = "out of host memory";
    failure.hint = "fewer qubits, --precision single or more ranks need less";
  } catch (const std::exception& error) {
    failure.message = std::string("internal error: ") + error.what();
  }
  return failure;
}

int run_command_line(const std::vector<std::string>& arguments) {
  const Streams streams;
  // Read ahead of the flags, so that even a wrong flag is reported in the form that was asked for.
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  std::unique_ptr<Context> context;
  try {
    context = std::make_unique<Context>(streams);
  } catch (const std::exception&) {
    const Failure failure = current_failure();
    if (environment_rank() != 0) return static_cast<int>(failure.code);
    print_failure(failure);
    try {
      if (json) streams.write_stdout(early_failure_document(arguments, failure));
    } catch (const FileError&) {
      print_failure(current_failure());  // the first failure's code stands
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
