// `qsim convert`: writes a program in OpenQASM 2 or 3.
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
#include "cli/io/input/matrix_file.h"
#include "qsim/qasm.h"

namespace qsim::cli {
namespace {

const char kConvertExamples[] =
    "What no measurement decides is evaluated: loops are unrolled, subroutines inlined, inputs set.\n"
    "Examples:\n"
    "  qsim convert circuit.qasm --to 3 > circuit3.qasm\n"
    "  qsim convert adder.qasm --to 2 --param n=4\n";

}  // namespace

Output command_convert(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim convert", "Writes a program in OpenQASM 2 or 3.", kConvertExamples);
  std::string file, version = "3", parameter_file, output;
  std::vector<std::string> given, matrices;
  flags.positional("file", file, "OpenQASM 2 or 3 circuit, or - for standard input", Role::kInput);
  flags.choice("--to", version, {"2", "3"}, "version to write (default 3)");
  flags.list("--param", given, "NAME=VALUE", "value of an input variable of OpenQASM 3; repeatable");
  flags.text("--params", parameter_file, "FILE.json", "values of input variables", Role::kInput);
  flags.list("--unitary", matrices, "NAME=FILE.npy", "matrix of an opaque gate; repeatable");
  flags.text("--output", output, "FILE", "write the program there instead of to standard output", Role::kOutputStream);
  Parameters parameters;
  std::map<std::string, Matrix> unitaries;
  context.together([&] {
    flags.parse(arguments);
    context.output_file = output;
    if (file.empty()) throw UsageError("no circuit file", "qsim convert FILE, or - for standard input");
    context.require_outputs(flags);
    parameters = parameters_of(given, parameter_file);
    unitaries = unitaries_of(matrices);
  });
  const CircuitInput input = read_circuit(file, context, parameters, unitaries);
  std::string text;
  context.together([&] {
    if (!context.root()) return;
    text = write_qasm(input.circuit, version == "2" ? QasmVersion::k2 : QasmVersion::k3);
  });
  return {text, output};
}

}  // namespace qsim::cli
