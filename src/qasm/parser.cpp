// The program: header, statements one by one, recovery after errors, registers, includes.
#include "qasm/parser.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "base/file/source_lines.h"
#include "qasm/text/expansion.h"

namespace qsim::qasm {
namespace {

// Words that begin a statement of OpenQASM 3 and nothing in OpenQASM 2.
constexpr std::string_view kNewerWords[] = {
    "angle",  "array",  "bit",    "bool",          "box",    "break",    "cal",     "complex", "const",  "continue",
    "ctrl",   "def",    "defcal", "defcalgrammar", "delay",  "duration", "else",    "end",     "extern", "float",
    "for",    "gphase", "input",  "int",           "inv",    "let",      "negctrl", "nop",     "output", "pow",
    "pragma", "qubit",  "return", "stretch",       "switch", "uint",     "while"};

bool begins_statement(TokenKind kind) { return kind >= TokenKind::kOpenQasm && kind <= TokenKind::kIf; }

}  // namespace

Parser::Parser(const Source& program, const QasmOptions& options)
    : options_(options), files_(options.include_root, program.text.size()), source_(&program) {}

void Parser::run() {
  if (source_->text.size() > kMaxSourceBytes) {
    report({0, "the program is larger than 256 MiB", "", ExitCode::kUnsupported, true});
    return;
  }
  if (const std::size_t nul = source_->text.find('\0'); nul != std::string_view::npos) {
    report({static_cast<std::uint32_t>(nul), "NUL byte: this is not a text file",
            "OpenQASM is read as UTF-8 or ASCII text", ExitCode::kCircuit, true});
    return;
  }
  TokenStream stream(*source_);
  stream_ = &stream;
  statements();
  if (!anything_read_ && diagnostics_.empty()) {
    report({0, "the file holds no program", "an OpenQASM program begins with 'OPENQASM 2.0;'"});
  }
  stream_ = nullptr;
}

void Parser::statements() {
  bool first = true;
  while (!stop_) {
    // Bytes before `start` are taken in whatever happens: no error is met for ever.
    const std::uint32_t start = stream_->token().offset + stream_->token().length;
    try {
      if (first) {
        first = false;
        stream_->advance();
        if (stream_->kind() == TokenKind::kOpenQasm) {
          anything_read_ = true;
          header();
        }
        continue;
      }
      if (stream_->kind() == TokenKind::kEnd) return;
      // A library alone is no program.
      anything_read_ = anything_read_ || stream_->kind() != TokenKind::kInclude;
      if (stream_->kind() == TokenKind::kBad) stream_->fail_bad();
      statement();
    } catch (const Failure& failure) {
      if (!declaring_.empty()) poisoned_.insert(declaring_);
      report(failure);
      recover(start);
    } catch (const CircuitError& error) {
      report({stream_->token().offset, error.what(), ""});
    }
    declaring_ = {};
    in_body_ = false;
    condition_.reset();
  }
}

void Parser::report(const Failure& failure) {
  if (failure.silent) return;
  diagnostics_.push_back(make_diagnostic(*source_, failure));
  stop_ = stop_ || failure.fatal;
  if (static_cast<int>(diagnostics_.size()) >= std::max(options_.max_errors, 1)) {
    stopped_early_ = !stop_;
    stop_ = true;
  }
}

// Skips to where a statement may begin: behind ';' or a body's '}', or at a word that begins one.
void Parser::recover(std::uint32_t start) {
  bool in_body = in_body_;
  while (!stop_ && stream_->kind() != TokenKind::kEnd) {
    const TokenKind kind = stream_->kind();
    const bool ends = kind == TokenKind::kRightBrace || (kind == TokenKind::kSemicolon && !in_body);
    if (begins_statement(kind) && !in_body && stream_->token().offset >= start) return;
    if (kind == TokenKind::kLeftBrace) in_body = true;
    stream_->skip();
    if (ends) return;
  }
}

// A gate, a measurement or a reset: what a condition may stand before.
bool Parser::operation() {
  switch (stream_->kind()) {
    case TokenKind::kIdentifier:
    case TokenKind::kBuiltinU:
    case TokenKind::kBuiltinCx:
      gate_call();
      return true;
    case TokenKind::kMeasure:
      measure();
      return true;
    case TokenKind::kReset:
      reset();
      return true;
    default:
      return false;
  }
}

void Parser::statement() {
  SourceLines::set(circuit_, source_->include_line != 0 ? source_->include_line : stream_->token().line);
  if (operation()) return;
  switch (stream_->kind()) {
    case TokenKind::kBarrier:
      return barrier();
    case TokenKind::kIf:
      return if_statement();
    case TokenKind::kQreg:
      return declare_register(true);
    case TokenKind::kCreg:
      return declare_register(false);
    case TokenKind::kGate:
      return gate_definition();
    case TokenKind::kOpaque:
      return opaque_declaration();
    case TokenKind::kInclude:
      return include();
    case TokenKind::kSemicolon:
      return stream_->advance();
    case TokenKind::kOpenQasm: {
      const Failure failure{stream_->token().offset, "the version statement must come first", ""};
      stream_->advance();
      throw failure;
    }
    default:
      stream_->fail_expected("a statement");
  }
}

// Checked before a statement takes effect; stepped over after it, so that what follows cannot undo the statement.
void Parser::check_semicolon(const char* after) const {
  if (stream_->kind() != TokenKind::kSemicolon) stream_->fail_expected("';' after " + std::string(after));
}

void Parser::header() {
  stream_->advance();
  const Token version = stream_->token();
  const std::string_view text = stream_->text();
  if (version.kind != TokenKind::kReal && version.kind != TokenKind::kInteger) {
    stream_->fail_expected("a version number such as 2.0");
  }
  if (text != "2.0" && text != "2") {
    throw Failure{version.offset, "unsupported version " + quoted(text, 20), "this reads OPENQASM 2.0, 3.0 and 3.1",
                  ExitCode::kCircuit, true};
  }
  has_header_ = true;
  stream_->advance();
  check_semicolon("the version");
  stream_->advance();
}

// An unknown word that OpenQASM 3 begins statements with.
void Parser::hint_language(const Failure& failure, std::string_view word) {
  if (std::ranges::count(kNewerWords, word) == 0) return;
  const char* const what = has_header_ ? "the program says OPENQASM 2.0" : "begin the program with OPENQASM 3.0;";
  throw Failure{failure.offset, failure.message, quoted(word) + " is OpenQASM 3; " + what};
}

void Parser::check_new_name(const Token& name) const {
  const std::string_view text = stream_->text(name);
  const GateEntry* gate = gates_.find(text);
  if (registers_.contains(text) || (gate != nullptr && !gate->replaceable)) {
    throw Failure{name.offset, quoted(text) + " is already declared", ""};
  }
}

/// Whether the matrix that was given for an opaque gate can be what it does.
void Parser::check_unitary(const Token& name, const Matrix& matrix, std::uint32_t parameters,
                           std::uint32_t qubits) const {
  const auto refuse = [&](const std::string& what) {
    throw Failure{name.offset, "the matrix given for " + quoted(stream_->text(name)) + " " + what, ""};
  };
  if (parameters > 0) refuse("cannot depend on angles, and the gate has angles");
  if (qubits > 15 || matrix.size() != std::size_t{1} << (2 * qubits)) {
    refuse("has " + std::to_string(matrix.size()) + " entries, which is not 4^" + std::to_string(qubits));
  }
  Circuit scratch(qubits);
  std::vector<Qubit> all(qubits);
  std::iota(all.begin(), all.end(), Qubit{0});
  try {
    scratch.add_unitary(matrix, {}, all);
  } catch (const Error& error) {
    refuse(std::string("is refused: ") + error.what());
  }
}

std::uint64_t Parser::integer(const Token& token) const {
  const std::string_view text = stream_->text(token);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Failure{token.offset, "integer " + quoted(text, 40) + " is too large", ""};
  }
  return value;
}

void Parser::declare_register(bool quantum) {
  stream_->advance();
  const Token name = stream_->expect(TokenKind::kIdentifier, "the register's name");
  const std::string_view text = stream_->text(name);
  check_new_name(name);
  declaring_ = text;
  stream_->expect(TokenKind::kLeftBracket, "'[' and the register's size");
  const Token count = stream_->expect(TokenKind::kInteger, "the register's size");
  const std::uint64_t size = integer(count);
  stream_->expect(TokenKind::kRightBracket, "']'");
  check_semicolon("the declaration");
  declaring_ = {};

  std::uint64_t& total = quantum ? qubits_ : clbits_;
  if (saturating_add(total, size) > kMaxDeclared) {
    poisoned_.insert(text);
    if (quantum) throw too_many_qubits(name.offset);
    throw Failure{name.offset, "more than " + std::to_string(kMaxDeclared) + " classical bits in all", "",
                  ExitCode::kCapacity};
  }
  const auto first = static_cast<std::uint32_t>(total);
  const auto width = static_cast<std::uint32_t>(size);
  const std::string owned(text);
  const std::uint32_t index = quantum ? circuit_.add_qreg(owned, width) : circuit_.add_creg(owned, width);
  total += size;
  registers_.emplace(text, RegisterEntry{quantum, index, first, width});
  stream_->advance();
}

void Parser::include() {
  const Token keyword = stream_->token();
  stream_->advance();
  const Token file = stream_->expect(TokenKind::kString, "a file name in quotes");
  const std::string_view quotes = stream_->text(file);
  const std::string_view name = quotes.substr(1, quotes.size() - 2);
  check_semicolon("the file name");
  if (name == "qelib1.inc") {
    library_include(file);
  } else if (name == "stdgates.inc") {
    throw Failure{file.offset, "'stdgates.inc' is the library of OpenQASM 3, and this is OpenQASM 2.0",
                  "OpenQASM 2.0 has include \"qelib1.inc\";", ExitCode::kUnsupported};
  } else {
    read_include(keyword, name);
  }
  stream_->advance();
}

void Parser::library_include(const Token& at) {
  const std::string_view clash = gates_.add_library();
  if (!clash.empty()) {
    throw Failure{at.offset, "qelib1.inc defines " + quoted(clash) + ", which the program has already defined", ""};
  }
}

// Read once however often it is included: memory is in proportion to what there is to read.
void Parser::read_include(const Token& at, std::string_view name) {
  Source& source = includes_.emplace_back();
  files_.add(source, *source_, name, {at.offset, at.line});
  TokenStream inner(source);
  const Source* outer_source = std::exchange(source_, &source);
  TokenStream* outer = std::exchange(stream_, &inner);
  statements();
  stream_ = outer;
  source_ = outer_source;
}

}  // namespace qsim::qasm
