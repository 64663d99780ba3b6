// `qsim draw`: a circuit as text, SVG or LaTeX.
#include <unistd.h>

#include "cli/io/context.h"
#include "cli/io/flags.h"
#include "cli/io/input/circuit_input.h"
#include "cli/io/terminal/terminal.h"
#include "cli/io/values.h"
#include "qsim/picture.h"

namespace qsim::cli {
namespace {

const char kDrawExamples[] =
    "Filled dots are controls on 1, open ones on 0; M measures into the bit of the register below; =3 is a condition.\n"
    "Frames hold what runs under a condition (if, else) or again and again (while, loop).\n"
    "Examples:\n"
    "  qsim draw circuit.qasm\n"
    "  qsim draw circuit.qasm --format svg --output circuit.svg\n"
    "  qsim draw circuit.qasm --format latex --width 12 > circuit.tex\n";

/// In the unit of the format, where it is not given.
std::size_t default_width(DrawingStyle style, const Context& context, bool to_file) {
  switch (style) {
    case DrawingStyle::kText:
    case DrawingStyle::kAscii: {
      const std::size_t columns = to_file || context.launched() ? 0 : terminal_columns(STDOUT_FILENO);
      return columns > 0 ? columns : 120;
    }
    case DrawingStyle::kSvg:
      return 1000;
    case DrawingStyle::kLatex:
      return 16;
  }
  throw Error("unknown style of drawing " + std::to_string(static_cast<int>(style)));
}

}  // namespace

Output command_draw(std::span<const std::string> arguments, Context& context) {
  Flags flags("qsim draw", "Draws a circuit as text, SVG or LaTeX (package quantikz).", kDrawExamples);
  std::string file, format = "text", width, output;
  CircuitFlags circuit_flags;
  flags.positional("file", file, "OpenQASM 2 or 3 circuit, or - for standard input", Role::kInput);
  flags.choice("--format", format, names_of<DrawingStyle>(), "of the drawing (default text)");
  flags.text("--width", width, "N",
             "of a line: characters of text (default: the terminal's, else 120), pixels of SVG (1000), operations side "
             "by side of LaTeX (16); 0: one line");
  circuit_flags.add_to(flags);
  flags.text("--output", output, "FILE", "write the drawing there instead of to standard output", Role::kOutputStream);
  DrawingStyle style{};
  std::size_t columns = 0;
  CircuitArguments circuit_arguments;
  context.together([&] {
    flags.parse(arguments);
    context.output_file = output;
    if (file.empty()) throw UsageError("no circuit file", "qsim draw FILE, or - for standard input");
    style = choice_of<DrawingStyle>(format);
    columns = flags.given("--width") ? parse_unsigned("--width", width, 1'000'000)
                                     : default_width(style, context, !output.empty());
    context.require_outputs(flags);
    circuit_arguments = circuit_flags.read();
  });
  const CircuitInput input = read_circuit(file, context, circuit_arguments);
  std::string text;
  context.together([&] {
    if (!context.root()) return;
    text = draw(input.circuit, style, columns);
    if (!text.empty() && text.back() != '\n') text += '\n';
  });
  return {text, output};
}

}  // namespace qsim::cli
