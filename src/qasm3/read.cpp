// Circuit text of either version: which one it is, and what callers get.
#include "qasm3/read.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "base/file/files.h"
#include "qasm/parser.h"
#include "qasm/text/files.h"
#include "qasm3/reader.h"

namespace qsim {
namespace {

using qasm3::Name;

// Words that begin statements in both versions.
bool is_shared_word(Name word) {
  switch (word) {
    case qasm3::kWordInclude:
    case qasm3::kWordGate:
    case qasm3::kWordBarrier:
    case qasm3::kWordMeasure:
    case qasm3::kWordReset:
    case qasm3::kWordQreg:
    case qasm3::kWordCreg:
    case qasm3::kWordIf:
      return true;
    default:
      return false;
  }
}

// Without a version line: version 3 where a statement begins with a word that only version 3 has, or stdgates.inc or
// physical qubits are named. A word that the text defines as a gate is none.
bool looks_like_version_3(qasm3::Lexer& lexer, qasm3::Token token) {
  using Kind = qasm3::TokenKind;
  std::unordered_set<Name> gates;
  bool begins = true;
  for (; token.kind != Kind::kEnd; token = lexer.next()) {
    const bool word = token.kind == Kind::kWord;
    if (token.kind == Kind::kPhysical) return true;
    const bool identifier = token.kind == Kind::kIdentifier;
    if (identifier &&
        std::ranges::any_of(lexer.view(token), [](char c) { return static_cast<unsigned char>(c) > 0x7f; })) {
      return true;
    }
    if (begins && token.kind == Kind::kAt) return true;
    if (begins && word && !is_shared_word(token.name) && !gates.contains(token.name)) return true;
    if (begins && token.kind == Kind::kIdentifier && lexer.view(token) == "opaque") return false;
    if (begins && word && (token.name == qasm3::kWordGate || token.name == qasm3::kWordInclude)) {
      const bool gate = token.name == qasm3::kWordGate;
      token = lexer.next();
      if (gate) gates.insert(token.name);
      if (!gate && token.kind == Kind::kString) {
        const std::string_view name = lexer.view(token).substr(1, token.length - 2);
        if (name == "stdgates.inc" || name == "qelib1.inc") return name == "stdgates.inc";
      }
    }
    begins = token.kind == Kind::kSemicolon || token.kind == Kind::kLeftBrace || token.kind == Kind::kRightBrace;
  }
  return false;
}

bool is_version_3(std::string_view text) {
  qasm3::Names names;
  qasm3::Lexer lexer(text, names);
  const qasm3::Token first = lexer.next();
  // Version 2 has no comments between /* and */, and no letters outside of ASCII in names.
  const bool newer = text.substr(0, first.offset).find("/*") != std::string_view::npos;
  if (first.kind != qasm3::TokenKind::kWord || first.name != qasm3::kWordOpenQasm) {
    return newer || looks_like_version_3(lexer, first);
  }
  return lexer.view(lexer.next()).starts_with('3');
}

std::string join(const std::vector<Diagnostic>& diagnostics, bool more) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += (text.empty() ? "" : "\n") + diagnostic.text;
    if (!diagnostic.hint.empty() && diagnostics.size() > 1) text += "\n  hint: " + diagnostic.hint;
  }
  if (more) text += "\nstopped after " + std::to_string(diagnostics.size()) + " errors";
  return text;
}

[[noreturn]] void throw_errors(const std::vector<Diagnostic>& diagnostics, bool more) {
  // What is invalid outweighs what is merely not supported or too large.
  const Diagnostic* first = &diagnostics.front();
  for (const ExitCode code : {ExitCode::kCircuit, ExitCode::kUnsupported}) {
    const auto found = std::ranges::find(diagnostics, code, &Diagnostic::code);
    if (found == diagnostics.end()) continue;
    first = &*found;
    break;
  }
  const std::string text = join(diagnostics, more);
  if (first->code == ExitCode::kUnsupported) {
    const bool shown = first->hint.empty() || diagnostics.size() > 1;
    throw UnsupportedError(shown ? text : text + "\n  hint: " + first->hint, first->where);
  }
  if (first->code == ExitCode::kCapacity) {
    throw CapacityError(text, std::numeric_limits<std::uint64_t>::max(), 0);
  }
  throw ParseError(text, first->where, diagnostics.size() > 1 ? std::string() : first->hint);
}

[[noreturn]] void throw_unused(const std::string& name) {
  throw UsageError("parameter '" + name + "' would have no effect: the program has no such input");
}

Flow read_flow(const qasm::Source& source, const QasmOptions& options, QasmProgram& program) {
  qasm3::Reader reader(source, options);
  reader.run();
  if (!reader.diagnostics().empty()) throw_errors(reader.diagnostics(), reader.stopped_early());
  for (const std::string& name : reader.unused_parameters()) throw_unused(name);
  program.notes = reader.notes();
  program.includes = reader.included_files();
  Flow flow = reader.take_flow();
  tidy(flow);
  return flow;
}

QasmProgram parse_version_3(const qasm::Source& source, const QasmOptions& options) {
  QasmProgram program;
  program.language = "OPENQASM 3";
  Flow flow = read_flow(source, options, program);
  std::optional<Circuit> circuit = straight_circuit(flow);
  program.circuit = circuit ? std::move(*circuit) : controlled_circuit(std::move(flow));
  return program;
}

}  // namespace

QasmProgram parse_qasm(std::string_view text, const QasmOptions& options) {
  const qasm::Source source = qasm::make_source(text, options);
  if (is_version_3(source.text)) return parse_version_3(source, options);
  qasm::Parser parser(source, options);
  parser.run();
  if (!parser.diagnostics().empty()) throw_errors(parser.diagnostics(), parser.stopped_early());
  if (!options.parameters.empty()) throw_unused(options.parameters.begin()->first);
  return {parser.take_circuit(), "OPENQASM 2.0", parser.included_files(), {}};
}

Flow parse_flow(std::string_view text, const QasmOptions& options) {
  QasmProgram program;
  return read_flow(qasm::make_source(text, options), options, program);
}

std::vector<Diagnostic> check_qasm(std::string_view text, const QasmOptions& options) {
  const qasm::Source source = qasm::make_source(text, options);
  if (is_version_3(source.text)) {
    qasm3::Reader reader(source, options);
    reader.run();
    return reader.diagnostics();
  }
  qasm::Parser parser(source, options);
  parser.run();
  return parser.diagnostics();
}

QasmProgram parse_qasm_file(const std::string& path, std::uint64_t* xxh3, QasmOptions options) {
  const std::string text =
      path == "-" ? read_standard_input(qasm::kMaxSourceBytes) : read_file(path, qasm::kMaxSourceBytes);
  if (xxh3 != nullptr) *xxh3 = XXH3_64bits(text.data(), text.size());
  options.file = path == "-" ? "<stdin>" : path;
  return parse_qasm(text, options);
}

}  // namespace qsim
