// The program: header, statements one by one, recovery after errors, registers, includes.
#include "qasm/parser.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/file/files.h"

namespace qsim::qasm {
namespace {

// Words that begin a statement of OpenQASM 3 and nothing in OpenQASM 2.
constexpr std::string_view kNewerWords[] = {
    "angle",  "array",  "bit",    "bool",          "box",    "break",    "cal",     "complex", "const",  "continue",
    "ctrl",   "def",    "defcal", "defcalgrammar", "delay",  "duration", "else",    "end",     "extern", "float",
    "for",    "gphase", "input",  "int",           "inv",    "let",      "negctrl", "nop",     "output", "pow",
    "pragma", "qubit",  "return", "stretch",       "switch", "uint",     "while"};

bool begins_statement(TokenKind kind) { return kind >= TokenKind::kOpenQasm && kind <= TokenKind::kIf; }

constexpr std::uint64_t kMaxBits = std::uint64_t{1} << 20;  // far beyond any state, and still small to keep track of

/// Where the first comment of the form that only OpenQASM 3 has begins, and what follows the leading comments.
struct Opening {
  std::size_t block_comment = std::string_view::npos;
  std::string_view rest;
};
Opening opening_of(std::string_view text) {
  Opening opening;
  std::size_t at = 0;
  while (true) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    opening.rest = text.substr(at);
    if (opening.rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (const std::size_t end = text.find("*/", at + 2);
               opening.rest.starts_with("/*") && end != std::string_view::npos) {
      opening.block_comment = std::min(opening.block_comment, at);
      at = end + 2;
    } else {
      return opening;
    }
  }
}

Failure newer_language(std::uint32_t offset, const std::string& why) {
  return {offset, "this looks like OpenQASM 3 (" + why + "), which is not supported yet",
          "programs in OpenQASM 2.0 are", ExitCode::kUnsupported, true};
}

/// Whether a UTF-8 sequence of several bytes begins there: a letter in a name of OpenQASM 3.
bool is_wide_character(std::string_view text, std::size_t offset) {
  if (offset + 1 >= text.size()) return false;
  const auto lead = static_cast<unsigned char>(text[offset]), next = static_cast<unsigned char>(text[offset + 1]);
  return lead >= 0xc3 && lead < 0xf5 && (next & 0xc0) == 0x80;
}

}  // namespace

Parser::Parser(const Source& program, const QasmOptions& options) : options_(options), source_(&program) {}

void Parser::run() {
  if (source_->text.size() > kMaxSourceBytes) {
    report({0, "the program is larger than 256 MiB", "", ExitCode::kUnsupported, true});
    return;
  }
  bytes_read_ = source_->text.size();
  if (const std::size_t nul = source_->text.find('\0'); nul != std::string_view::npos) {
    report({static_cast<std::uint32_t>(nul), "NUL byte: this is not a text file",
            "OpenQASM is read as UTF-8 or ASCII text", ExitCode::kCircuit, true});
    return;
  }
  // OpenQASM 2.0 has no comments of this form, so a program without its header is one of OpenQASM 3.
  const Opening opening = opening_of(source_->text);
  if (opening.block_comment != std::string_view::npos && !opening.rest.starts_with("OPENQASM 2")) {
    report(newer_language(static_cast<std::uint32_t>(opening.block_comment), "a comment between /* and */"));
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

std::vector<std::string> Parser::included_files() const {
  std::vector<std::string> paths;
  for (const auto& [path, text] : included_texts_) paths.push_back(path);
  return paths;
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
    circuit_.clear_condition();
  }
}

void Parser::report(const Failure& failure) {
  if (failure.silent) return;
  if (!has_header_ && failure.code == ExitCode::kCircuit && is_wide_character(source_->text, failure.offset)) {
    report(newer_language(failure.offset, "a letter outside of ASCII"));
    return;
  }
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

void Parser::statement() {
  circuit_.set_line(source_->include_line != 0 ? source_->include_line : stream_->token().line);
  switch (stream_->kind()) {
    case TokenKind::kIdentifier:
    case TokenKind::kBuiltinU:
    case TokenKind::kBuiltinCx:
      return gate_call();
    case TokenKind::kMeasure:
      return measure();
    case TokenKind::kReset:
      return reset();
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
  if (text == "3" || (text.starts_with("3.") && text.find_first_not_of("0123456789", 2) == std::string_view::npos)) {
    throw Failure{version.offset, "OpenQASM " + std::string(text.substr(0, 20)) + " is not supported yet",
                  "programs in OpenQASM 2.0 are", ExitCode::kUnsupported, true};
  }
  if (text != "2.0" && text != "2") {
    throw Failure{version.offset, "unsupported version " + quoted(text, 20), "this reads OPENQASM 2.0",
                  ExitCode::kCircuit, true};
  }
  has_header_ = true;
  stream_->advance();
  check_semicolon("the version");
  stream_->advance();
}

// An unknown word that OpenQASM 3 begins statements with: a program without a header is then taken for OpenQASM 3.
void Parser::require_language(const Failure& failure, std::string_view word) {
  if (std::ranges::count(kNewerWords, word) == 0) return;
  if (has_header_) {
    throw Failure{failure.offset, failure.message, quoted(word) + " is OpenQASM 3; the program says OPENQASM 2.0"};
  }
  throw newer_language(failure.offset, quoted(word));
}

void Parser::check_new_name(const Token& name) const {
  const std::string_view text = stream_->text(name);
  const GateEntry* gate = gates_.find(text);
  if (registers_.contains(text) || (gate != nullptr && !gate->replaceable)) {
    throw Failure{name.offset, quoted(text) + " is already declared", ""};
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
  if (saturating_add(total, size) > kMaxBits) {
    poisoned_.insert(text);
    throw Failure{name.offset,
                  "more than " + std::to_string(kMaxBits) + (quantum ? " qubits" : " classical bits") + " in all" +
                      (quantum ? ": no machine holds such a state, at most " + std::to_string(kMaxQubits) +
                                     " qubits can be addressed"
                               : ""),
                  "", ExitCode::kCapacity};
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
    throw Failure{file.offset, "'stdgates.inc' is the library of OpenQASM 3, which is not supported yet",
                  "OpenQASM 2.0 has include \"qelib1.inc\";", ExitCode::kUnsupported, !has_header_};
  } else if (include_depth_ >= kMaxIncludes) {
    throw Failure{file.offset, "includes nested deeper than " + std::to_string(kMaxIncludes) + " files", ""};
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
std::string_view Parser::included_text(const std::string& path) {
  const std::uint64_t left = kMaxSourceBytes - bytes_read_;
  const auto known = included_texts_.find(path);
  if (known == included_texts_.end()) {
    return included_texts_.emplace(path, read_file(path, left, Links::kRefuse)).first->second;
  }
  if (known->second.size() > left) throw FileError("the program and its includes are larger than 256 MiB");
  return known->second;
}

void Parser::read_include(const Token& at, std::string_view name) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    throw Failure{at.offset, "include " + quoted(name, 80) + ": " + why, ""};
  };
  if (name.empty() || name.find('\0') != std::string_view::npos) refuse("not a file name");
  if (source_->folder.empty()) refuse("the program is not a file, so there is no folder to look in");
  std::error_code error;
  const fs::path root = fs::canonical(options_.include_root.empty() ? source_->folder : options_.include_root, error);
  if (error) refuse("the folder " + quoted(options_.include_root, 80) + " cannot be read");
  const fs::path path = fs::canonical(fs::path(source_->folder) / fs::path(std::string(name)), error);
  if (error) refuse("no such file beside the including one");
  const auto [root_end, unused] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  if (root_end != root.end()) refuse("outside of the folder that includes may come from");
  if (!fs::is_regular_file(path, error) || error) refuse("not a regular file");
  for (const Source* open = source_; open != nullptr; open = open->includer) {
    if (open->path == path.string()) refuse("the file includes itself");
  }
  if (includes_.size() >= kMaxIncludeStatements) {
    refuse("more than " + std::to_string(kMaxIncludeStatements) + " includes in all");
  }
  Source& source = includes_.emplace_back();
  try {
    source.text = included_text(path.string());
  } catch (const Error& problem) {
    refuse(problem.what());
  }
  bytes_read_ += source.text.size();
  if (source.text.starts_with("\xEF\xBB\xBF")) source.text.remove_prefix(3);
  source.name = (fs::path(source_->name).parent_path() / fs::path(std::string(name))).string();
  source.folder = path.parent_path().string();
  source.path = path.string();
  source.includer = source_;
  source.include_line = source_->include_line != 0 ? source_->include_line : at.line;

  TokenStream inner(source);
  const Source* outer_source = std::exchange(source_, &source);
  TokenStream* outer = std::exchange(stream_, &inner);
  ++include_depth_;
  statements();
  --include_depth_;
  stream_ = outer;
  source_ = outer_source;
}

}  // namespace qsim::qasm

namespace qsim {
namespace {

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

qasm::Source make_source(std::string_view text, const QasmOptions& options) {
  qasm::Source source;
  source.name = options.file;
  source.text = text;
  if (source.text.starts_with("\xEF\xBB\xBF")) source.text.remove_prefix(3);
  if (!options.file.starts_with('<')) {
    const std::filesystem::path path(options.file);
    source.folder = path.has_parent_path() ? path.parent_path().string() : ".";
    std::error_code error;
    const std::filesystem::path canonical = std::filesystem::canonical(path, error);
    if (!error) source.path = canonical.string();
  } else {
    source.folder = options.include_root;
  }
  return source;
}

}  // namespace

QasmProgram parse_qasm(std::string_view text, const QasmOptions& options) {
  const qasm::Source source = make_source(text, options);
  qasm::Parser parser(source, options);
  parser.run();
  if (!parser.diagnostics().empty()) throw_errors(parser.diagnostics(), parser.stopped_early());
  return {parser.take_circuit(), "OPENQASM 2.0", parser.included_files()};
}

std::vector<Diagnostic> check_qasm(std::string_view text, const QasmOptions& options) {
  const qasm::Source source = make_source(text, options);
  qasm::Parser parser(source, options);
  parser.run();
  return parser.diagnostics();
}

QasmProgram parse_qasm_file(const std::string& path, std::uint64_t* xxh3) {
  const std::string text =
      path == "-" ? read_standard_input(qasm::kMaxSourceBytes) : read_file(path, qasm::kMaxSourceBytes);
  if (xxh3 != nullptr) *xxh3 = XXH3_64bits(text.data(), text.size());
  QasmOptions options;
  options.file = path == "-" ? "<stdin>" : path;
  return parse_qasm(text, options);
}

}  // namespace qsim
