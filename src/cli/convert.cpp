// `qsim convert`: writes a program in OpenQASM 2 or 3.
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
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
  std::string file, version = "3", output;
  CircuitFlags circuit_flags;
  flags.positional("file", file, "OpenQASM 2 or 3 circuit, or - for standard input", Role::kInput);
  flags.choice("--to", version, {"2", "3"}, "version to write (default 3)");
  circuit_flags.add_to(flags);
  flags.text("--output", output, "FILE", "write the program there instead of to standard output", Role::kOutputStream);
  CircuitArguments circuit_arguments;
  context.together([&] {
    flags.parse(arguments);
    context.output_file = output;
    if (file.empty()) throw UsageError("no circuit file", "qsim convert FILE, or - for standard input");
    context.require_outputs(flags);
    circuit_arguments = circuit_flags.read();
  });
  const CircuitInput input = read_circuit(file, context, circuit_arguments);
  std::string text;
  context.together([&] {
    if (!context.root()) return;
    text = write_qasm(input.circuit, version == "2" ? QasmVersion::k2 : QasmVersion::k3);
  });
  return {text, output};
}

}  // namespace qsim::cli
