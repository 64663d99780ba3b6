// Statements one by one: parsed, checked, lowered, forgotten.
#include "qasm3/reader.h"

#include <algorithm>

namespace qsim::qasm3 {
namespace {

using qasm::quoted;

LoweringLimits limits_of(const QasmOptions& options) {
  LoweringLimits limits;
  limits.operations = options.max_operations;
  limits.while_iterations = std::min(limits.while_iterations, options.max_operations);
  return limits;
}

// Bits may be given without quotes.
std::string input_text(const std::string& given, const Type& type) {
  const bool bits = type.kind == TypeKind::kBits && !given.empty();
  return bits && given.find_first_not_of("01_") == std::string::npos ? '"' + given + '"' : given;
}

}  // namespace

Reader::Reader(const Source& program, const QasmOptions& options)
    : options_(options),
      program_(&program),
      files_(options.include_root, program.text.size()),
      checker_(model_),
      lowering_(model_, checker_, limits_of(options)) {
  checker_.report = [this](const Failure& failure) { report(failure); };
  lowering_.input = [this](const Symbol& symbol, std::uint32_t at) { return input_value(symbol, at); };
}

void Reader::run() {
  if (program_->text.size() > qasm::kMaxSourceBytes) {
    model_.sources.add(*program_);
    return report({0, "the program is larger than 256 MiB", "", ExitCode::kUnsupported, true});
  }
  read(*program_);
  // A value that was not given is said where the program is right otherwise.
  if (diagnostics_.empty()) {
    for (const Failure& missing : missing_) report(missing);
  }
  if (!anything_read_ && diagnostics_.empty()) {
    report({0, "the file holds no program", "an OpenQASM program begins with 'OPENQASM 3.0;'"});
  }
  if (diagnostics_.empty()) finish();
}

// Branches that ended on the way meet here, which may be more than fits.
void Reader::finish() {
  try {
    flow_ = lowering_.finish();
  } catch (const Failure& failure) {
    report(failure);
  }
}

void Reader::read(const Source& source) {
  const std::uint32_t outer = std::exchange(first_, model_.sources.add(source));
  if (const std::size_t nul = source.text.find('\0'); nul != std::string_view::npos) {
    report({first_ + static_cast<std::uint32_t>(nul), "NUL byte: this is not a text file",
            "OpenQASM is read as UTF-8 or ASCII text", ExitCode::kCircuit, true});
  }
  Parser parser(source.text, first_, model_.names, model_.tree);
  bool begun = false;
  while (!stop_) {
    const std::uint32_t mark = parser.mark();
    try {
      if (!begun) {
        begun = true;
        parser.begin();
        version(parser, source);
        continue;
      }
      if (parser.at_end()) break;
      anything_read_ = true;
      statement(parser, source);
    } catch (const Failure& failure) {
      Failure placed = failure;
      placed.offset += first_;
      report(placed);
      parser.recover(mark);
    }
  }
  first_ = outer;
}

void Reader::version(Parser& parser, const Source& source) {
  const std::string_view text = parser.version();
  if (text.empty()) return;
  anything_read_ = true;
  const auto at = static_cast<std::uint32_t>(text.data() - source.text.data());
  if (text != "3" && text != "3.0" && text != "3.1") {
    throw Failure{at, "version " + quoted(text, 20) + " is not known", "this reads OPENQASM 2.0, 3.0 and 3.1",
                  text.starts_with("3") ? ExitCode::kUnsupported : ExitCode::kCircuit, true};
  }
  // A program may be empty, but where not even a comment follows the rest of the file is missing.
  const std::size_t end = source.text.find(';', at) + 1;
  if (&source == program_ && source.text.find_first_not_of(" \t\r\n", end) == std::string_view::npos) {
    throw Failure{at, "the file ends behind its version line", "declare qubits: qubit[2] q;"};
  }
}

// Parses a statement, whose Failures have offsets in this text, then checks and lowers it.
void Reader::statement(Parser& parser, const Source& source) {
  const NodeId begin = model_.tree.size();
  const std::size_t symbols = model_.symbols.size(), constants = model_.constants.size();
  const NodeId id = parser.statement();
  if (id == 0) return;
  const Node node = model_.tree[id];
  try {
    if (node.kind == NodeKind::kInclude) return include(node, source);
    if (checker_.check(id) && diagnostics_.empty() && missing_.empty()) lowering_.run(id, source.include_line);
  } catch (const Failure& failure) {
    report(failure);
  } catch (const CircuitError& error) {
    report({node.at, error.what(), ""});
  } catch (const ArithmeticFault& fault) {
    report({node.at, fault.what(), ""});
  }
  const bool defines = node.kind == NodeKind::kGate || node.kind == NodeKind::kSubroutine;
  const bool declares = node.kind == NodeKind::kDeclare || node.kind == NodeKind::kAlias ||
                        node.kind == NodeKind::kExtern || node.kind == NodeKind::kCalibration;
  if (defines) return;
  model_.tree.truncate(begin);
  model_.notes.resize(begin);
  if (declares) return;
  model_.symbols.resize(symbols);
  model_.constants.resize(constants);
}

void Reader::include(const Node& node, const Source& source) {
  const std::string_view quotes = model_.text(node);
  const std::string_view name = quotes.substr(1, quotes.size() - 2);
  if (name == "stdgates.inc") return checker_.add_standard_gates(node.at);
  if (name == "qelib1.inc") {
    throw Failure{node.at, "'qelib1.inc' is the library of OpenQASM 2.0", "OpenQASM 3 has include \"stdgates.inc\";"};
  }
  Source& included = includes_.emplace_back();
  try {
    files_.add(included, source, name, {node.at - first_, node.line});
  } catch (Failure& failure) {
    failure.offset += first_;
    throw;
  }
  read(included);
}

NodeId Reader::input_value(const Symbol& symbol, std::uint32_t at) {
  const std::string name(model_.names.text(symbol.name));
  const auto given = options_.parameters.find(name);
  if (given == options_.parameters.end()) {
    missing_.push_back({at, "input " + quoted(name) + " has no value", "give it one: `parameters` " + name + "=VALUE"});
    throw Failure{at, "", "", ExitCode::kCircuit, false, true};
  }
  used_parameters_.insert(name);
  Source& source = values_.emplace_back();
  source.name = "the value of " + name;
  source.text = value_texts_.emplace_back(input_text(given->second, symbol.type));
  Parser parser(source.text, model_.sources.add(source), model_.names, model_.tree);
  try {
    parser.begin();
    const NodeId value = parser.lone_value();
    checker_.check_input(value, symbol.type);
    return value;
  } catch (const Failure& failure) {
    throw Failure{at, "the value " + quoted(given->second, 40) + " of input " + quoted(name) + ": " + failure.message,
                  ""};
  }
}

void Reader::report(const Failure& failure) {
  if (failure.silent) return;
  const auto [source, offset] = model_.sources.find(failure.offset);
  Failure local = failure;
  local.offset = offset;
  diagnostics_.push_back(qasm::make_diagnostic(*source, local));
  stop_ = stop_ || failure.fatal;
  if (static_cast<int>(diagnostics_.size()) >= std::max(options_.max_errors, 1)) {
    stopped_early_ = !stop_;
    stop_ = true;
  }
}

std::vector<std::string> Reader::notes() const {
  static constexpr const char* kTexts[] = {
      "durations, delays and boxes have no effect on a state",
      "pragmas are read over",
      "calibrations are read over",
      "external functions are declared, but cannot be called",
      "the quotient of two integers is an integer: write 1.0/2 for a half",
      "a controlled U has the phase e^(i theta/2) of the language; other tools leave it out"};
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Remark::kCount); ++i) {
    if (model_.remark_lines[i] == 0) continue;
    notes.push_back(qasm::printable(program_->name) + ':' + std::to_string(model_.remark_lines[i]) + ": " + kTexts[i]);
  }
  return notes;
}

std::vector<std::string> Reader::unused_parameters() const {
  std::vector<std::string> unused;
  for (const auto& [name, value] : options_.parameters) {
    if (!used_parameters_.contains(name)) unused.push_back(name);
  }
  return unused;
}

}  // namespace qsim::qasm3
