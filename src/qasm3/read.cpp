// Circuit text of either version: which one it is, and what callers get.
#include "qasm3/read.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <unordered_set>

#include "base/file/files.h"
#include "base/text.h"
#include "qasm/parser.h"
#include "qasm/text/files.h"
#include "qasm3/reader.h"

namespace qsim {
namespace {

using qasm3::Name;
using Kind = qasm3::TokenKind;

bool is_one_of(auto what, std::span<const decltype(what)> all) { return std::ranges::find(all, what) != all.end(); }

// Words that begin statements in both versions.
bool is_shared_word(Name word) {
  constexpr Name kShared[] = {qasm3::kWordInclude, qasm3::kWordGate, qasm3::kWordBarrier, qasm3::kWordMeasure,
                              qasm3::kWordReset,   qasm3::kWordQreg, qasm3::kWordCreg,    qasm3::kWordIf};
  return is_one_of(word, kShared);
}

// Tokens that version 2 has nowhere.
bool is_new_token(const qasm3::Token& token) {
  constexpr Kind kNew[] = {Kind::kPhysical,     Kind::kAt,    Kind::kConcat,    Kind::kAssign,
                           Kind::kAssignBinary, Kind::kColon, Kind::kImaginary, Kind::kTime};
  constexpr Operator kShared[] = {Operator::kAdd,    Operator::kSubtract, Operator::kMultiply,
                                  Operator::kDivide, Operator::kBitXor,   Operator::kEqual};
  return token.kind == Kind::kOperator ? !is_one_of(token.op, kShared) : is_one_of(token.kind, kNew);
}

// The tokens of a program without a version line, from its first statement on.
class Statements {
 public:
  Statements(qasm3::Lexer& lexer, const qasm3::Token& first) : lexer_(lexer), token_(first) {}

  // Version 3 where a statement begins as none of version 2 does, where a token is new, or where stdgates.inc is
  // included. A word that the text defines as a gate begins none.
  bool are_of_version_3() {
    bool begins = true;
    while (token_.kind != Kind::kEnd) {
      if (is_new_token(token_) || has_new_letter()) return true;
      if (begins) {
        if (lexer_.view(token_) == "opaque") return false;
        if (const std::optional<bool> newer = first_words()) return *newer;
      }
      begins = token_.kind == Kind::kSemicolon || token_.kind == Kind::kLeftBrace || token_.kind == Kind::kRightBrace;
      token_ = lexer_.next();
    }
    return false;
  }

 private:
  bool has_new_letter() const {
    return token_.kind == Kind::kIdentifier &&
           std::ranges::any_of(lexer_.view(token_), [](char c) { return static_cast<unsigned char>(c) > 0x7f; });
  }

  // What the words that a statement begins with say of the version, where they do.
  std::optional<bool> first_words() {
    if (token_.kind == Kind::kOperator || token_.kind == Kind::kLeftParen) return true;
    if (token_.kind == Kind::kIdentifier) {
      token_ = lexer_.next();
      return token_.kind == Kind::kOperator || is_new_token(token_) ? std::optional(true) : std::nullopt;
    }
    if (token_.kind != Kind::kWord) return std::nullopt;
    if (!is_shared_word(token_.name)) return gates_.contains(token_.name) ? std::nullopt : std::optional(true);
    if (token_.name == qasm3::kWordIf) return is_new_condition() ? std::optional(true) : std::nullopt;
    if (token_.name == qasm3::kWordGate) {
      token_ = lexer_.next();
      gates_.insert(token_.name);
    } else if (token_.name == qasm3::kWordInclude) {
      token_ = lexer_.next();
      if (token_.kind != Kind::kString) return std::nullopt;
      const std::string_view name = lexer_.view(token_).substr(1, token_.length - 2);
      if (name == "stdgates.inc" || name == "qelib1.inc") return name == "stdgates.inc";
    }
    return std::nullopt;
  }

  // Version 2 has the form if (NAME == NUMBER) and no blocks.
  bool is_new_condition() {
    for (const Kind kind : {Kind::kLeftParen, Kind::kIdentifier, Kind::kOperator, Kind::kInteger, Kind::kRightParen}) {
      token_ = lexer_.next();
      if (token_.kind == Kind::kBad || token_.kind == Kind::kEnd) return false;
      if (token_.kind != kind || is_new_token(token_)) return true;
    }
    token_ = lexer_.next();
    return token_.kind == Kind::kLeftBrace;
  }

  qasm3::Lexer& lexer_;
  qasm3::Token token_;
  std::unordered_set<Name> gates_;
};

bool is_version_3(std::string_view text) {
  qasm3::Names names;
  qasm3::Lexer lexer(text, names);
  const qasm3::Token first = lexer.next();
  // Version 2 has no comments between /* and */, and no letters outside of ASCII in names.
  const bool newer = text.substr(0, first.offset).find("/*") != std::string_view::npos;
  if (first.kind != qasm3::TokenKind::kWord || first.name != qasm3::kWordOpenQasm) {
    return newer || Statements(lexer, first).are_of_version_3();
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
    UnsupportedError error(shown ? text : text + "\n  hint: " + first->hint, first->where);
    error.list(diagnostics);
    throw error;
  }
  if (first->code == ExitCode::kCapacity) {
    throw CapacityError(text, std::numeric_limits<std::uint64_t>::max(), 0);
  }
  ParseError error(text, first->where, diagnostics.size() > 1 ? std::string() : first->hint);
  error.list(diagnostics);
  throw error;
}

[[noreturn]] void throw_unused(const std::string& name) {
  throw UsageError("parameter '" + name + "' would have no effect: the program has no such input");
}

[[noreturn]] void throw_no_opaque(const std::string& name) {
  throw UsageError("the matrix of '" + escape_text(name, 60) +
                   "' would have no effect: the program declares no opaque gate of that name");
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
  if (is_version_3(source.text)) {
    if (!options.unitaries.empty() && !options.shared_unitaries) throw_no_opaque(options.unitaries.begin()->first);
    return parse_version_3(source, options);
  }
  qasm::Parser parser(source, options);
  parser.run();
  if (!parser.diagnostics().empty()) throw_errors(parser.diagnostics(), parser.stopped_early());
  if (!options.parameters.empty()) throw_unused(options.parameters.begin()->first);
  for (const auto& [name, matrix] : options.unitaries) {
    if (!options.shared_unitaries && !parser.used_unitaries().contains(name)) throw_no_opaque(name);
  }
  const auto& used = parser.used_unitaries();
  return {parser.take_circuit(), "OPENQASM 2.0", parser.included_files(), {}, {used.begin(), used.end()}};
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
