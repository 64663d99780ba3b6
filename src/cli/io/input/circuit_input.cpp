#include "cli/io/input/circuit_input.h"

#include <array>
#include <cstdio>

#include "base/file/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/io/flags.h"
#include "cli/io/input/matrix_file.h"
#include "cli/io/input/parameters.h"
#include "plan/cost/pool_layout.h"
#include "qsim/qasm.h"

namespace qsim::cli {
namespace {

constexpr std::uint64_t kMaxInputBytes = std::uint64_t{256} << 20;

std::string hex16(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

/// parse_qasm_file, with a hint where the name looks like a mistyped command.
QasmProgram parse_file(const std::string& file, std::uint64_t& hash, const QasmOptions& options) {
  try {
    return parse_qasm_file(file, &hash, options);
  } catch (const FileError& error) {
    if (file.find_first_of("./") != std::string::npos) throw;
    throw Error(error.what(), ExitCode::kFile, "'" + file + "' is no command either: qsim --help lists them");
  }
}

// Of --param NAME=VALUE (each) and --params FILE.json (empty: none).
Parameters parameters_of(const std::vector<std::string>& given, const std::string& file) {
  Parameters parameters;
  if (!file.empty()) parameters = read_parameters(file);
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      throw UsageError("--param '" + escape_text(text, 60) + "' is not NAME=VALUE");
    }
    const auto [at, fresh] = parameters.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (!fresh) throw UsageError("parameter '" + escape_text(at->first, 60) + "' has two values");
  }
  return parameters;
}

}  // namespace

void CircuitFlags::add_to(Flags& flags) {
  flags.list("--param", values_, "NAME=VALUE", "value of an input variable of OpenQASM 3; repeatable");
  flags.text("--params", value_file_, "FILE.json", "values of input variables", Role::kInput);
  add_unitary_to(flags);
}

void CircuitFlags::add_unitary_to(Flags& flags) {
  flags.list("--unitary", matrices_, "NAME=FILE.npy", "matrix of an opaque gate; repeatable");
}

CircuitArguments CircuitFlags::read() const { return {parameters_of(values_, value_file_), unitaries_of(matrices_)}; }

CircuitInput read_circuit(const std::string& file, Context& context, const CircuitArguments& arguments) {
  context.partial.circuit.file = file;
  CircuitInput input;
  std::string text;
  if (file == "-") {
    context.together([&] {
      if (context.root()) text = read_standard_input(kMaxInputBytes);
    });
    context.broadcast(text);
  }
  context.together([&] {
    std::uint64_t hash = 0;
    QasmProgram program;
    QasmOptions options;
    options.parameters = arguments.parameters;
    options.unitaries = arguments.unitaries;
    options.shared_unitaries = arguments.shared;
    if (file == "-") {
      options.file = "<stdin>";
      program = parse_qasm(text, options);
      hash = xxh3(text);
    } else {
      program = parse_file(file, hash, options);
    }
    for (const std::string& path : context.outputs) {
      for (const std::string& read : program.includes) {
        if (!is_same_file(path, read)) continue;
        context.outputs_refused = true;  // the failure's document would overwrite it as well
        throw UsageError("'" + path + "' is to be written, and the circuit includes it");
      }
    }
    input.circuit = std::move(program.circuit);
    input.notes = std::move(program.notes);
    input.unitaries = std::move(program.unitaries);
    input.summary = summarize(input.circuit);
    input.summary.file = file;
    input.summary.xxh3 = hex16(hash);
    input.summary.language = program.language;
    context.partial.circuit = input.summary;
  });
  return input;
}

void check_size(const Circuit& circuit, Precision precision, std::uint32_t rank_bits, const Machine& machine) {
  const std::string qubits = std::to_string(circuit.qubits());
  if (circuit.qubits() > kMaxQubits) {
    const bool in_double = precision == Precision::kDouble;
    throw CapacityError(
        qubits + " qubits in " + std::string(name_of(precision)) + " need 2^" +
            std::to_string(circuit.qubits() + (in_double ? 4 : 3)) + " bytes, and an index names at most 2^" +
            std::to_string(kMaxQubits) +
            " amplitudes; largest that fits here: " + std::to_string(largest_qubits(machine, precision, rank_bits)),
        UINT64_MAX, machine.memory_bytes_per_rank);
  }
  if (rank_bits > circuit.qubits()) {
    throw UsageError(std::to_string(1ull << rank_bits) + " ranks are more than the " +
                         std::to_string(1ull << circuit.qubits()) + " amplitudes of " + qubits + " qubits",
                     "at most " + std::to_string(1ull << circuit.qubits()) + " ranks can share them");
  }
}

}  // namespace qsim::cli
