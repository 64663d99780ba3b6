// `qsim gen`: writes a benchmark circuit as OpenQASM 2.0.
#include "circuit/generate/families.h"
#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/values.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"

namespace qsim::cli {
namespace {

std::string footer() {
  std::string text = "Circuits:\n";
  for (const GeneratorInfo& info : generators()) {
    const std::string name(info.name);
    text += "  " + name + std::string(name.size() < 18 ? 18 - name.size() : 1, ' ') + std::string(info.summary) + "\n";
  }
  return text + "Examples:\n  qsim gen ghz -n 20 > ghz_20.qasm\n  qsim gen random -n 12 --depth 10 --seed 3 | qsim -\n";
}

}  // namespace

Output command_gen(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim gen", "Writes a benchmark circuit as OpenQASM 2.0.", footer());
  std::string name, qubits, depth, seed, output;
  flags.positional("name", name, "the circuit's family, as listed below");
  flags.text("-n,--qubits", qubits, "N", "number of qubits");
  flags.text("--depth", depth, "D", "layers or steps (default: the family's own)");
  flags.text("--seed", seed, "S", "of families drawn at random (default 1)");
  flags.text("--output", output, "FILE", "write the circuit there instead of to standard output", Role::kOutputStream);
  std::string text;
  context.together([&] {
    flags.parse(arguments);
    context.output_file = output;
    context.require_outputs(flags);
    if (name.empty()) throw UsageError("no circuit family", "'qsim gen --help' lists them");
    if (qubits.empty()) throw UsageError("no number of qubits", "qsim gen " + name + " -n 20");
    GeneratorOptions options;
    options.qubits = static_cast<std::uint32_t>(parse_unsigned("-n", qubits, 100'000));
    if (!depth.empty()) {
      options.depth = static_cast<std::uint32_t>(parse_unsigned("--depth", depth, 100'000'000));
      if (options.depth == 0) throw UsageError("--depth: at least 1 layer is needed");
    }
    if (!seed.empty()) options.seed = parse_unsigned("--seed", seed);
    for (const GeneratorInfo& info : generators()) {
      if (info.name == name && !info.seeded && !seed.empty()) {
        throw UsageError("--seed would have no effect: " + name + " is not drawn at random");
      }
    }
    const Circuit circuit = generate(name, options);
    if (context.root()) text = write_qasm(circuit);
  });
  return {text, output};
}

}  // namespace qsim::cli
